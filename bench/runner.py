# SPDX-License-Identifier: BSD-3-Clause
"""Runs factor_bench: a group of cells in one process, and cell by cell where that one crashed."""

import csv
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile

from shapes import Cell, FAMILIES, sensible_arms

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

NUMBERS = {"ms": float, "min_ms": float, "rel_sd": float, "wall_ms": float, "repetitions": int,
           "residual": float}


class BenchError(Exception):
    """factor_bench refused its command line, or is not there."""


class CardInUse(Exception):
    """Another process computes on the card."""


def find_factor_bench(build=None):
    candidates = [build] if build else [os.path.join(ROOT, "build")]
    candidates += [os.path.join(folder, "bench") for folder in candidates]
    for folder in candidates:
        path = os.path.join(folder, "factor_bench")
        if os.access(path, os.X_OK):
            return path
    raise BenchError(f"no factor_bench in {' or '.join(candidates)}: build it, or give --build")


def source_revision():
    """The commit, with + where the tree differs from it; BATCHLAS_SOURCE_REVISION where there is no
    repository."""
    given = os.environ.get("BATCHLAS_SOURCE_REVISION")
    if given:
        return given
    try:
        commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"], check=True,
                                capture_output=True, text=True).stdout.strip()
        changed = subprocess.run(["git", "-C", ROOT, "status", "--porcelain", "-uno"], check=True,
                                 capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return commit + ("+" if changed else "")


def nvidia_smi(*query):
    tool = shutil.which("nvidia-smi")
    if not tool:
        return None
    done = subprocess.run([tool, *query, "--format=csv,noheader"], capture_output=True, text=True,
                          check=False)
    return done.stdout.strip().splitlines() if done.returncode == 0 else None


def check_card_is_free():
    """Between our own processes nobody else may compute on the card."""
    users = nvidia_smi("--query-compute-apps=pid,process_name")
    if users:
        raise CardInUse("another process uses the card: " + "; ".join(users))


def parse_row(row):
    """One CSV row as (cell, arm's name, the arm's entry in a ledger, floors)."""
    cell = Cell(row["op"], row["type"], row["uplo"], row["form"], int(row["n"]), int(row["nrhs"]),
                int(row["batch"]))
    arm = {"status": row["status"], "chosen": row["chosen_algo"]}
    for field, number in NUMBERS.items():
        if row[field]:
            arm[field] = number(row[field])
    if row["note"]:
        arm["note"] = row["note"]
    return cell, row["arm"], arm, (float(row["memory_floor_ms"]), float(row["compute_floor_ms"]))


class Result:
    """A measured cell: its arms by name."""

    def __init__(self, cell, arms, floors=(0.0, 0.0)):
        self.cell = cell
        self.arms = arms
        self.memory_floor_ms, self.compute_floor_ms = floors

    def steady(self):
        """The arms that may take part in ratios."""
        return {name: arm for name, arm in self.arms.items() if arm["status"] == "ok"}


class Runner:
    def __init__(self, build=None, device=None, repetitions=7, warm_seconds=0.1, peaks=None,
                 array=False, ld_pad=0, environment=None, progress=None):
        self.path = find_factor_bench(build)
        self.device = device
        self.repetitions = repetitions
        self.warm_seconds = warm_seconds
        self.peaks = peaks
        self.array = array
        self.ld_pad = ld_pad
        self.environment = {**os.environ, **(environment or {})}
        self.progress = progress
        self.description = json.loads(self._ask("--describe"))
        self.is_gpu = self.description["device"] != "host"

    # ---- questions -------------------------------------------------------------------------------

    def _command(self, *words):
        device = ["--device", str(self.device)] if self.device is not None else []
        return [self.path, *device, *words]

    def _ask(self, *words):
        done = subprocess.run(self._command(*words), capture_output=True, text=True, check=False,
                              env=self.environment)
        if done.returncode != 0:
            raise BenchError(f"factor_bench {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def known_families(self, op):
        """The families of the operation that this library has on this device."""
        return self._ask("--op", op, "--known", "--arms", ",".join(FAMILIES[op])).split()

    def setup(self):
        """Everything a reader needs to repeat the measurement."""
        facts = dict(self.description)
        driver = nvidia_smi("--query-gpu=driver_version") if self.is_gpu else None
        if driver:
            facts["driver"] = driver[0]
        facts["date"] = datetime.date.today().isoformat()
        facts["revision"] = source_revision()
        facts["repetitions"] = self.repetitions
        facts["warm_s"] = self.warm_seconds
        return facts

    # ---- measurements ----------------------------------------------------------------------------

    def measure(self, cells, arms, group):
        """Yields a Result for each cell, those of one group and the same sensible arms from one
        process."""
        groups = {}
        for cell in cells:
            sensible = sensible_arms(arms, cell)
            groups.setdefault((cell.op, group(cell), sensible), []).append(cell)
        for (_, _, sensible), members in groups.items():
            yield from self._measure_group(members, sensible)

    def _measure_group(self, cells, arms):
        left = list(cells)
        while left:
            if self.is_gpu:
                check_card_is_free()
            results, crash = self._run(left, arms)
            yield from results
            left = left[len(results):]
            if left and not results:
                # A fresh process came to its end in this very cell.
                yield self._crashed(left.pop(0), arms, crash)

    @staticmethod
    def _crashed(cell, arms, crash):
        print(f"{cell}: {crash}", file=sys.stderr)
        return Result(cell, {arm: {"status": "crashed", "chosen": "", "note": crash}
                             for arm in arms})

    def _run(self, cells, arms):
        """One process: the results of the cells it finished, and how it ended if that was early."""
        with tempfile.TemporaryDirectory() as folder:
            cells_file = os.path.join(folder, "cells")
            rows_file = os.path.join(folder, "rows.csv")
            with open(cells_file, "w", encoding="utf-8") as file:
                for cell in cells:
                    file.write(" ".join(str(word) for word in cell[1:]) + "\n")
            command = self._command(
                "--op", cells[0].op, "--cells", cells_file, "--arms", ",".join(arms), "--reps",
                str(self.repetitions), "--warm-s", str(self.warm_seconds), "--lda-pad",
                str(self.ld_pad), "--csv", rows_file, "--skip-unavailable")
            if self.array:
                command.append("--array")
            if self.peaks:
                command += ["--peaks", self.peaks]
            crash = self._wait(command, len(cells) * (30 + 60 * len(arms)))
            results = self._results(rows_file, arms)
        if [result.cell for result in results] != cells[:len(results)]:
            raise BenchError("factor_bench answered other cells than it was asked")
        return results, crash or "factor_bench stopped before the end"

    def _wait(self, command, seconds):
        """Runs it; how it came to a bad end, or the empty string."""
        out = None if self.progress else subprocess.DEVNULL
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True,
                                   env=self.environment)
        try:
            _, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return f"still running after {seconds} s"
        sys.stderr.write(errors)
        if process.returncode == 2:
            raise BenchError(errors.strip())
        if process.returncode in (0, 1):
            return ""
        return f"factor_bench ended with status {process.returncode}"

    @staticmethod
    def _results(rows_file, arms):
        """Complete cells only: the last may have been cut off."""
        if not os.path.exists(rows_file):
            return []
        with open(rows_file, encoding="utf-8", newline="") as file:
            lines = [line for line in file if line.endswith("\n")]
        rows = [parse_row(row) for row in csv.DictReader(lines)]
        results = []
        for start in range(0, len(rows) - len(arms) + 1, len(arms)):
            part = rows[start:start + len(arms)]
            cell, _, _, floors = part[0]
            results.append(Result(cell, {name: arm for _, name, arm, _ in part}, floors))
        return results
