# SPDX-License-Identifier: BSD-3-Clause
"""Tuned tables: reading, writing and the nearest row, by the rules of src/table.c."""

import math
from typing import NamedTuple

from shapes import FAMILIES

COLUMNS = ("type", "uplo", "form", "n", "nrhs", "batch", "families", "source")
ORDER_WEIGHT = 3.0


class TableError(Exception):
    """FILE:LINE: what is wrong."""


class Row(NamedTuple):
    type: str
    uplo: str
    form: str
    n: int
    nrhs: int
    batch: int
    families: tuple
    source: str

    def key(self):
        return self[:6]


def _count(word):
    if word == "-":
        return 1
    if not word.isdigit() or int(word) < 1:
        raise ValueError("n, nrhs and batch must be positive integers or -")
    return int(word)


def parse_row(words, op):
    if len(words) != len(COLUMNS):
        raise ValueError("expected 8 columns: " + " ".join(COLUMNS))
    type_, uplo, form = words[:3]
    if type_ not in ("s", "d", "c", "z"):
        raise ValueError("type must be s, d, c or z")
    if uplo not in ("lower", "upper", "-"):
        raise ValueError("uplo must be lower, upper or -")
    families = tuple(words[6].split(","))
    for family in families:
        if family not in FAMILIES[op]:
            raise ValueError(f"no family of {op} is called '{family}'")
    return Row(type_, uplo, form, *(_count(word) for word in words[3:6]), families, words[7])


def parse(text, op, name):
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        try:
            rows.append(parse_row(words, op))
        except ValueError as error:
            raise TableError(f"{name}:{number}: {error}") from None
    return rows


def read(path, op):
    with open(path, encoding="utf-8") as file:
        return parse(file.read(), op, path)


def write(path, rows, comments):
    lines = [COLUMNS] + [tuple(",".join(part) if isinstance(part, tuple) else str(part)
                               for part in row) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    with open(path, "w", encoding="utf-8") as file:
        for comment in comments:
            file.write(f"# {comment}\n")
        for i, line in enumerate(lines):
            words = "  ".join(word.ljust(width) for word, width in zip(line, widths)).rstrip()
            file.write(("# " if i == 0 else "  ") + words + "\n")


def distance(row, cell):
    return (ORDER_WEIGHT * abs(math.log2(row.n / cell.n)) + abs(math.log2(row.nrhs / cell.nrhs))
            + abs(math.log2(row.batch / cell.batch)))


def nearest(rows, cell):
    """The row that ranks the families for this cell; None if there is none of its kind."""
    alike = [row for row in rows if row[:3] == (cell.type, cell.uplo, cell.form)]
    return min(alike, key=lambda row: distance(row, cell), default=None)
