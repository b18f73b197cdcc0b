# SPDX-License-Identifier: BSD-3-Clause
"""From ledgers to tuned tables."""

import math
import os
import re
import sys

import ledger
import shapes
import tables

# A choice that costs no more than this is as good as the best: times are no more exact.
TIE = 0.03
# Nor on a GPU than a launch, whose own time varies by this much.
LAUNCH_MS = 0.003
# Of a row, towards which a table is looked at half-way.
NEIGHBOURS = 6


def split_name(path, ending):
    """(operation, device) of a ledger's or a table's path."""
    match = re.fullmatch(r"([a-z]+)\.([a-z0-9_]+)\." + ending, os.path.basename(path))
    if not match or match[1] not in shapes.OPERATIONS:
        raise ledger.LedgerError(f"{path}: expected a name like potrf.sm_90.{ending}")
    return match[1], match[2]


def rank(op, families, resolution=0.0):
    """Spellings from the fastest to the slowest. A tie for the first place goes to the family that
    the candidate table names first: a driver that ran the same kernel did more around it."""
    ranked = sorted(families, key=lambda family: families[family]["ms"])
    best = families[ranked[0]]["ms"]
    bound = max((1 + TIE) * best, best + resolution)
    first = min((family for family in ranked if families[family]["ms"] <= bound),
                key=shapes.FAMILIES[op].index)
    return (first, *(family for family in ranked if family != first))


def ranking(measurement):
    on_host = measurement.setup.get("device") == "host"
    return rank(measurement.cell.op, measurement.families(), 0.0 if on_host else LAUNCH_MS)


def rows_of(measurements):
    """(row, measurement) of each key, from the last measurement that tells which family is the
    fastest. Twins of a form share it, unless they were measured themselves."""
    own, twins, unclear = {}, {}, set()
    for measurement in measurements:
        cell = measurement.cell
        if measurement.array or measurement.ld_pad:
            continue
        if not measurement.has_clear_winner():
            unclear.add(cell)
            continue
        for form in shapes.twin_forms(cell.op, cell.type, cell.form):
            row = tables.Row(cell.type, cell.uplo, form, cell.n, cell.nrhs, cell.batch,
                             ranking(measurement), f"ledger:{measurement.line}")
            (own if form == cell.form else twins)[row.key()] = (row, measurement)
    left = sum(cell[1:] not in own for cell in unclear)
    if left:
        print(f"{left} problems have no row: unsteady times hide which family is the fastest",
              file=sys.stderr)
    return sorted({**twins, **own}.values(),
                  key=lambda pair: (shapes.TYPES.index(pair[0].type), *pair[0].key()[1:]))


def between(members):
    """(problem, the pair of the nearest row) of all rows of one kind, and of the problems half-way
    to each row's neighbours, where a table without this row might go astray."""
    rows = [row for row, _ in members]
    pairs = {pair[0].key(): pair for pair in members}
    problems = set(rows)
    for row in rows:
        others = sorted(rows, key=lambda other: tables.distance(other, row))
        for other in others[1:1 + NEIGHBOURS]:
            problems.add(row._replace(n=middle(row.n, other.n), nrhs=middle(row.nrhs, other.nrhs),
                                      batch=middle(row.batch, other.batch)))
    return [(problem, pairs[tables.nearest(rows, problem).key()])
            for problem in sorted(problems, key=lambda problem: problem.key())]


def middle(a, b):
    return round(math.sqrt(a * b))


def is_served(problem, pair, kept):
    """Whether the nearest of the rows kept chooses well enough by the measurement of this pair."""
    row, measurement = pair
    if row in kept:  # where two are as near, either is right
        return True
    nearest = tables.nearest(kept, problem)
    families = measurement.all_families()  # an unsteady one would be chosen too
    choice = nearest and next((f for f in nearest.families if f in families), None)
    return bool(choice) and families[choice]["ms"] <= (1 + TIE) * families[row.families[0]]["ms"]


def condense(pairs):
    """A subset of the rows that chooses as well for all of them and half-way between them: the
    condensed nearest neighbour (Hart 1968). A look-up walks all rows of a kind, so fewer of them
    make small problems faster."""
    kinds = {}
    for pair in pairs:
        kinds.setdefault(pair[0][:3], []).append(pair)
    kept = []
    for members in kinds.values():
        chosen = []
        problems = between(members)
        while lacking := next((pair[0] for problem, pair in problems
                               if not is_served(problem, pair, chosen)), None):
            chosen.append(lacking)
        kept += sorted(chosen, key=lambda row: row.key())
    return kept


def comments(measurements, op, device):
    lines = [f"{op} on {device}: families from the fastest to the slowest; the source is a line of",
             f"ledger/{op}.{device}.jsonl. Columns: see README.md"]
    setups = {m.setup["id"]: m.setup for m in measurements}
    for setup in setups.values():
        libraries = ", ".join(" ".join(pair) for pair in setup.get("libraries", {}).items())
        lines.append(f"{setup.get('model', '?')}; {libraries or 'no vendor library'}; "
                     f"{setup.get('date', '?')}; revision {setup.get('revision', '?')}")
    return lines


def write_table(path, folder, all_rows=False):
    """The table of one ledger, written to `folder`; its rows."""
    op, device = split_name(path, "jsonl")
    measurements = ledger.read(path)
    for measurement in measurements:
        if (measurement.cell.op, measurement.setup.get("device")) != (op, device):
            raise ledger.LedgerError(f"{path}:{measurement.line}: not of {op} on {device}")
    pairs = rows_of(measurements)
    if not pairs:
        raise ledger.LedgerError(f"{path}: nothing in it makes a row")
    rows = [row for row, _ in pairs] if all_rows else condense(pairs)
    os.makedirs(folder, exist_ok=True)
    tables.write(os.path.join(folder, f"{op}.{device}.txt"), rows,
                 comments(measurements, op, device))
    return rows
