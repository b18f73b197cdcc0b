# SPDX-License-Identifier: BSD-3-Clause
"""From ledgers to tuned tables."""

import os
import re
import sys

import ledger
import shapes
import tables


def split_name(path, ending):
    """(operation, device) of a ledger's or a table's path."""
    match = re.fullmatch(r"([a-z]+)\.([a-z0-9_]+)\." + ending, os.path.basename(path))
    if not match or match[1] not in shapes.OPERATIONS:
        raise ledger.LedgerError(f"{path}: expected a name like potrf.sm_90.{ending}")
    return match[1], match[2]


def rank(families):
    """Spellings from the fastest to the slowest."""
    return tuple(sorted(families, key=lambda family: families[family]["ms"]))


def rows_of(measurements):
    """One row for each key, from the last measurement that tells which family is the fastest. Twins
    of a form share it, unless they were measured themselves."""
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
                             rank(measurement.families()), f"ledger:{measurement.line}")
            (own if form == cell.form else twins)[row.key()] = row
    left = sum(cell[1:] not in own for cell in unclear)
    if left:
        print(f"{left} problems have no row: unsteady times hide which family is the fastest",
              file=sys.stderr)
    return sorted({**twins, **own}.values(),
                  key=lambda row: (shapes.TYPES.index(row.type), *row.key()[1:]))


def comments(measurements, op, device):
    lines = [f"{op} on {device}: families from the fastest to the slowest; the source is a line of",
             f"ledger/{op}.{device}.jsonl. Columns: see README.md"]
    setups = {m.setup["id"]: m.setup for m in measurements}
    for setup in setups.values():
        libraries = ", ".join(" ".join(pair) for pair in setup.get("libraries", {}).items())
        lines.append(f"{setup.get('model', '?')}; {libraries or 'no vendor library'}; "
                     f"{setup.get('date', '?')}; revision {setup.get('revision', '?')}")
    return lines


def write_table(path, folder):
    """The table of one ledger, written to `folder`; its rows."""
    op, device = split_name(path, "jsonl")
    measurements = ledger.read(path)
    for measurement in measurements:
        if (measurement.cell.op, measurement.setup.get("device")) != (op, device):
            raise ledger.LedgerError(f"{path}:{measurement.line}: not of {op} on {device}")
    rows = rows_of(measurements)
    if not rows:
        raise ledger.LedgerError(f"{path}: nothing in it makes a row")
    os.makedirs(folder, exist_ok=True)
    tables.write(os.path.join(folder, f"{op}.{device}.txt"), rows,
                 comments(measurements, op, device))
    return rows
