# SPDX-License-Identifier: BSD-3-Clause
"""Which problems are measured: cells, the standard grids, and random draws from the serving range.

A cell's n and nrhs are those of the tuned tables: for trsm the order of the triangle and the other
extent of B, for gemm the order of a square C and k, for syrk the order of C and k.
"""

import math
from typing import NamedTuple

TYPES = "sdcz"

# Every spelling of the candidate tables in src/<op>.c. factor_bench --known says which of them a
# library has on a device.
FAMILIES = {
    "potrf": ("tiny", "cta", "lpanel:panel=8", "lpanel:panel=16", "ltile:width=32",
              "ltile:width=64", "wide", "blocked", "vendor", "vendor:single"),
    "potrs": ("fused", "stream", "tiny", "tile", "blocked", "vendor"),
    "posv": ("tiny", "rolled", "blocked"),
    "trsm": ("strips", "tile", "tiled", "vendor"),
    "gemm": ("register", "tiled", "vendor"),
    "syrk": ("register", "tiled", "vendor"),
}
OPERATIONS = tuple(FAMILIES)


class Cell(NamedTuple):
    op: str
    type: str
    uplo: str
    form: str
    n: int
    nrhs: int
    batch: int

    def __str__(self):
        words = [self.op, self.type] + [w for w in (self.uplo, self.form) if w != "-"]
        words.append(f"n={self.n}")
        if self.op != "potrf":
            words.append(f"nrhs={self.nrhs}")
        return " ".join(words) + f" batch={self.batch}"


def sensible_arms(arms, cell):
    """One item after the other is hopeless where there are many."""
    return tuple(arm for arm in arms if arm != "vendor:single" or cell.batch <= 512)


def is_complex(type_):
    return type_ in "cz"


def size_of(type_):
    return {"s": 4, "d": 8, "c": 8, "z": 16}[type_]


def uplos(op):
    return ("-",) if op == "gemm" else ("lower", "upper")


def forms(op, type_):
    """The forms that can differ in speed: T and C are one and the same for a real type."""
    transposes = "NTC" if is_complex(type_) else "NT"
    if op == "trsm":
        return tuple(side + trans for side in "LR" for trans in transposes)
    if op == "gemm":
        return tuple(a + b for a in transposes for b in transposes)
    if op == "syrk":
        return ("N", "C") if is_complex(type_) else ("N", "T")
    return ("-",)


def twin_forms(op, type_, form):
    """The forms that stand for the same computation as `form`, itself among them."""
    if op not in ("trsm", "gemm", "syrk") or is_complex(type_):
        return (form,)
    found = [""]
    for position, letter in enumerate(form):
        is_side = op == "trsm" and position == 0
        letters = "TC" if letter == "T" and not is_side else letter
        found = [start + last for start in found for last in letters]
    return tuple(found)


def operations(cell):
    """Real operations of one item, to leading order."""
    n, k = cell.n, cell.nrhs
    count = {
        "potrf": n**3 / 3,
        "potrs": 2 * n * n * k,
        "posv": n**3 / 3 + 2 * n * n * k,
        "trsm": n * n * k,
        "gemm": 2 * n * n * k,
        "syrk": n * n * k,
    }[cell.op]
    return count * (4 if is_complex(cell.type) else 1)


def elements(cell):
    """Stored elements of one item."""
    n, k = cell.n, cell.nrhs
    return {
        "potrf": n * n,
        "potrs": n * n + n * k,
        "posv": n * n + n * k,
        "trsm": n * n + n * k,
        "gemm": n * n + 2 * n * k,
        "syrk": n * n + n * k,
    }[cell.op]


# ---- how many items fill a device ----------------------------------------------------------------

# Orders up to the first number: the batch that keeps an H200 busy (the baseline's batches).
GPU_LADDER = ((16, 65536), (32, 32768), (64, 16384), (128, 8192), (256, 4096), (512, 1024),
              (1024, 256))


def filling_batch(device, n):
    """The batch at which more items no longer make an item cheaper, roughly."""
    if device == "host":
        work = max(n**3 / 3, 100 * n)
        return 1 << max(3, min(12, round(math.log2(1.5e7 / work))))
    for limit, batch in GPU_LADDER:
        if n <= limit:
            return batch
    return 32


# ---- grids ---------------------------------------------------------------------------------------

STANDARD_ORDERS = (1, 2, 3, 4, 5, 8, 9, 12, 16, 17, 24, 32, 33, 48, 64, 65, 96, 128, 129, 192, 256,
                   257, 384, 512, 513, 1024, 2048)
STANDARD_WIDTHS = {"potrf": (1,), "potrs": (1, 4, 32), "posv": (1, 4, 32), "trsm": (1, 8, 64),
                   "gemm": (8, 32, 128), "syrk": (8, 32, 128)}

# Coarse, because tune refines where the winner changes.
TUNE_ORDERS = {
    "potrf": (2, 4, 8, 12, 16, 24, 32, 33, 48, 64, 96, 128, 192, 256, 384, 512, 1024),
    "potrs": (4, 8, 16, 32, 33, 64, 128, 256, 512),
    "posv": (4, 8, 16, 32, 33, 64, 128, 256, 512),
    "trsm": (8, 16, 32, 64, 128, 256, 512),
    "gemm": (8, 16, 32, 64, 128, 256, 512),
    "syrk": (8, 16, 32, 64, 128, 256, 512),
}
TUNE_WIDTHS = {"potrf": (1,), "potrs": (1, 4, 32), "posv": (1, 4, 32), "trsm": (1, 8, 64),
               "gemm": (8, 32, 128), "syrk": (8, 32, 128)}
QUICK_ORDERS = {
    "potrf": (4, 8, 16, 24, 32, 48, 64, 128, 256),
    "potrs": (4, 16, 64, 192),
    "posv": (32,),
    "trsm": (4, 24, 128),
    "gemm": (4, 24, 128),
    "syrk": (4, 24, 128),
}
QUICK_WIDTHS = {"potrf": (1,), "potrs": (1, 8, 64), "posv": (1,), "trsm": (1, 8, 64),
                "gemm": (1, 8, 64), "syrk": (1, 8, 64)}


def product(op, types, uplo_list, orders, widths, batches):
    """All cells of these sizes; batches is a function of the order."""
    return [Cell(op, type_, uplo, form, n, nrhs, batch)
            for type_ in types
            for uplo in uplo_list
            for form in forms(op, type_)
            for n in orders
            for nrhs in widths
            for batch in batches(n)]


def standard_grid(op, device, types, uplo_list):
    """Half, once and twice the batch that fills the device."""
    def batches(n):
        nominal = filling_batch(device, n)
        return (nominal // 2, nominal, 2 * nominal)

    return product(op, types, uplo_list, STANDARD_ORDERS, STANDARD_WIDTHS[op], batches)


def nominal_grid(op, device, types, uplo_list):
    """The batch that fills the device, alone."""
    return product(op, types, uplo_list, STANDARD_ORDERS, STANDARD_WIDTHS[op],
                   lambda n: (filling_batch(device, n),))


def tune_grid(op, device, types, uplo_list):
    """From a single item to a full device."""
    def batches(n):
        full = filling_batch(device, n)
        return tuple(sorted({batch for batch in (1, 16, 256, 4096) if batch < full} | {full}))

    return product(op, types, uplo_list, TUNE_ORDERS[op], TUNE_WIDTHS[op], batches)


def quick_grid(op, device, types, uplo_list):
    """Few items, some and a full device. The small batches are the same for all orders: the nearest
    row is found by batch and order together, and a row of another order must not be nearer."""
    def batches(n):
        full = filling_batch(device, n)
        return tuple(sorted({batch for batch in (4, 64) if batch < full} | {full}))

    return product(op, types, uplo_list, QUICK_ORDERS[op], QUICK_WIDTHS[op], batches)


GRIDS = {"standard": standard_grid, "nominal": nominal_grid, "tune": tune_grid,
         "quick": quick_grid}


# ---- random draws --------------------------------------------------------------------------------

# What one call may cost: operations and bytes.
MOST_OPERATIONS = {"host": 2e8, "gpu": 1e12}
MOST_BYTES = {"host": 5e8, "gpu": 1.6e10}
LARGEST_ORDER = {"host": 384, "gpu": 1024}


def log_uniform(random, least, most):
    return round(math.exp(random.uniform(math.log(least), math.log(most))))


def draw(random, op, device, types):
    """A problem of the serving range: any order and batch, log-uniform, that a call can carry."""
    place = "host" if device == "host" else "gpu"
    while True:
        type_ = random.choice(types)
        form = random.choice([twin for form in forms(op, type_)
                              for twin in twin_forms(op, type_, form)])
        n = log_uniform(random, 1, LARGEST_ORDER[place])
        nrhs = 1 if op == "potrf" or random.random() < 0.3 else log_uniform(random, 1, 64)
        batch = log_uniform(random, 1, 4 * filling_batch(device, n))
        cell = Cell(op, type_, random.choice(uplos(op)), form, n, nrhs, batch)
        if (operations(cell) * batch <= MOST_OPERATIONS[place]
                and 2 * elements(cell) * size_of(type_) * batch <= MOST_BYTES[place]):
            return cell
