# SPDX-License-Identifier: BSD-3-Clause
"""Ledgers: what was measured, one JSON object a line, only ever appended to.

A line is a set-up (its "id" names it: device, driver, libraries, date, source revision, protocol)
or a measurement (its "setup" is the id of one above it): one cell with all its arms, timed in turn.
A tuned table's row names the line that measured it.
"""

import hashlib
import json
import os
from typing import NamedTuple

from shapes import Cell, FAMILIES

STATUSES = ("ok", "bad", "wrong", "unavailable", "route", "failed", "memory", "crashed")
TIMED = ("ok", "bad")


class LedgerError(Exception):
    """FILE:LINE: what is wrong."""


class Measurement(NamedTuple):
    line: int
    setup: dict
    cell: Cell
    ld_pad: int
    array: bool
    memory_floor_ms: float
    compute_floor_ms: float
    arms: dict  # by arm: status, chosen, ms, min_ms, rel_sd, wall_ms, repetitions, residual

    def families(self):
        """Right times by the family that ran: the steady ones, and one that wins all the same."""
        return {name: arm for name, arm in self.all_families().items()
                if arm["status"] == "ok" or wins_unsteadily(self.arms, name)}

    def all_families(self):
        """The unsteady ones too."""
        return {name: arm for name, arm in self.arms.items()
                if arm["status"] in TIMED and name == arm["chosen"]}

    def has_clear_winner(self):
        """Whether no unsteady arm but one that wins all the same can be faster than the fastest
        steady one."""
        return has_clear_winner(self.arms)


def wins_unsteadily(arms, name):
    """Whether the arm's times spread, but lie below what any other arm took at its best."""
    arm = arms[name]
    others = [other for key, other in arms.items() if key != name and other["status"] in TIMED]
    return (arm["status"] == "bad" and bool(others)
            and arm["ms"] * (1 + 2 * arm["rel_sd"]) < min(other["min_ms"] for other in others))


def has_clear_winner(arms):
    best = min((arm["ms"] for arm in arms.values() if arm["status"] == "ok"), default=0.0)
    return best > 0 and all(arm["min_ms"] > best or wins_unsteadily(arms, name)
                            for name, arm in arms.items() if arm["status"] == "bad")


def setup_id(setup):
    return hashlib.sha1(json.dumps(setup, sort_keys=True).encode()).hexdigest()[:10]


def encode(measurement):
    return json.dumps(measurement, separators=(",", ":"))


class Ledger:
    """Appends to a file; every measurement is on disk before the next is taken."""

    def __init__(self, path, setup):
        self.path = path
        self.id = setup_id(setup)
        known = os.path.exists(path) and any(m.get("id") == self.id for _, m in objects(path))
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        self.file = open(path, "a", encoding="utf-8")
        if not known:
            self._write({"id": self.id, **setup})

    def _write(self, value):
        self.file.write(encode(value) + "\n")
        self.file.flush()

    def append(self, cell, arms, memory_floor_ms, compute_floor_ms, ld_pad=0, array=False):
        self._write({"setup": self.id, **cell._asdict(), "ld_pad": ld_pad, "array": array,
                     "memory_floor_ms": memory_floor_ms, "compute_floor_ms": compute_floor_ms,
                     "arms": arms})

    def close(self):
        self.file.close()


def objects(path):
    """(line number, object) of every line; an incomplete or damaged one is an error."""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            where = f"{path}:{number}"
            if not line.endswith("\n"):
                raise LedgerError(f"{where}: the line is cut short")
            try:
                value = json.loads(line)
            except ValueError as error:
                raise LedgerError(f"{where}: not a JSON object: {error}") from None
            if not isinstance(value, dict):
                raise LedgerError(f"{where}: not a JSON object")
            yield number, value


def _check_arm(where, name, arm):
    if not isinstance(arm, dict) or arm.get("status") not in STATUSES:
        raise LedgerError(f"{where}: arm {name} has no known status")
    if arm["status"] not in TIMED:
        return
    for field in ("ms", "min_ms", "rel_sd", "wall_ms"):
        if not isinstance(arm.get(field), (int, float)) or not arm[field] >= 0:
            raise LedgerError(f"{where}: arm {name}: {field} is not a time")
    if not arm["ms"] > 0 or not isinstance(arm.get("chosen"), str) or not arm["chosen"]:
        raise LedgerError(f"{where}: arm {name}: ms or chosen is missing")


def _measurement(where, number, value, setups):
    try:
        setup = setups[value["setup"]]
        cell = Cell(value["op"], value["type"], value["uplo"], value["form"], value["n"],
                    value["nrhs"], value["batch"])
        arms = value["arms"]
        floors = (value["memory_floor_ms"], value["compute_floor_ms"])
        pad, array = value["ld_pad"], value["array"]
    except KeyError as error:
        raise LedgerError(f"{where}: {error} is missing or names no line above") from None
    if (cell.op not in FAMILIES or cell.type not in ("s", "d", "c", "z")
            or cell.uplo not in ("lower", "upper", "-")
            or not all(isinstance(size, int) and size >= 1
                       for size in (cell.n, cell.nrhs, cell.batch))):
        raise LedgerError(f"{where}: not a cell: {cell}")
    if not isinstance(arms, dict) or not arms:
        raise LedgerError(f"{where}: no arms")
    for name, arm in arms.items():
        _check_arm(where, name, arm)
    return Measurement(number, setup, cell, pad, array, *floors, arms)


def read(path):
    """All measurements, in order."""
    setups = {}
    found = []
    for number, value in objects(path):
        if "id" in value:
            setups[value["id"]] = value
        else:
            found.append(_measurement(f"{path}:{number}", number, value, setups))
    return found
