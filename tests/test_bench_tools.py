#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The measuring instrument against what must not get past it. Needs no GPU.

FACTOR_BENCH_FAULTS names the folder of a factor_bench that plants faults (bench_faults.c); without
it the cases that run a program are skipped.
"""

import csv
import importlib.machinery
import importlib.util
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BENCH = os.path.join(ROOT, "bench")
sys.path.insert(0, BENCH)
sys.dont_write_bytecode = True

import ledger  # noqa: E402
import runner  # noqa: E402
import shapes  # noqa: E402
import sweep  # noqa: E402
import tables  # noqa: E402
from shapes import Cell  # noqa: E402

FAULTS = os.environ.get("FACTOR_BENCH_FAULTS")
CELL = Cell("potrf", "d", "lower", "-", 16, 1, 64)


def load(path):
    """A program without the ending .py, as a module."""
    name = os.path.basename(path)
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(ROOT, path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def run(path, *words, **environment):
    return subprocess.run([sys.executable, os.path.join(ROOT, path), *words], text=True,
                          capture_output=True, check=False, env={**os.environ, **environment})


def timed(ms, chosen, status="ok", rel_sd=0.01):
    return {"status": status, "chosen": chosen, "ms": ms, "min_ms": ms, "rel_sd": rel_sd,
            "wall_ms": ms, "repetitions": 7, "residual": 0.5}


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()


@unittest.skipUnless(FAULTS, "FACTOR_BENCH_FAULTS is not set")
class Faults(InFolder):
    """factor_bench on the host, with a fault planted beneath it."""

    def bench(self, *words, fault="", **environment):
        rows = self.path("rows.csv")
        peaks = os.path.join(FAULTS, "peaks.txt")
        done = subprocess.run(
            [os.path.join(FAULTS, "factor_bench"), "--op", "potrf", "--type", "d", "--device",
             "host", "--reps", "9", "--warm-s", "0", "--csv", rows, "--peaks", peaks, *words],
            capture_output=True, text=True, check=False,
            env={**os.environ, "BENCH_FAULT": fault, **environment})
        found = []
        if os.path.exists(rows):
            with open(rows, encoding="utf-8", newline="") as file:
                found = list(csv.DictReader(file))
            os.remove(rows)
        return done, found

    def one(self, fault, arms="blocked", n="16"):
        return self.bench("--n", n, "--batch", "64", "--arms", arms, fault=fault)

    def assert_no_time(self, row):
        for field in ("ms", "min_ms", "wall_ms", "gflops", "floor_fraction"):
            self.assertEqual(row[field], "", field)

    def test_a_right_kernel_is_timed(self):
        done, rows = self.one("", "tiny,blocked")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([row["chosen_algo"] for row in rows], ["tiny", "blocked"])
        for row in rows:
            self.assertIn(row["status"], ("ok", "bad"))
            self.assertGreater(float(row["ms"]), 0)
            self.assertLess(float(row["residual"]), 10)

    def test_a_wrong_kernel_has_no_time(self):
        for fault in ("wrong element", "wrong later", "wrong info"):
            with self.subTest(fault):
                done, rows = self.one(fault)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(rows[0]["status"], "wrong")
                self.assert_no_time(rows[0])
                self.assertIn("32", rows[0]["note"])
                self.assertIn("wrong: potrf d lower n=16 batch=64, arm blocked", done.stderr)

    def test_a_slow_repetition_makes_the_row_bad(self):
        done, rows = self.one("slow repetition")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(rows[0]["status"], "bad")
        self.assertGreater(float(rows[0]["rel_sd"]), 0.1)

    def test_a_failing_call_has_no_time(self):
        done, rows = self.one("failing call")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(rows[0]["status"], "failed")
        self.assert_no_time(rows[0])

    def test_a_pin_that_ran_something_else_has_no_time(self):
        done, rows = self.one("other route", "tiny,blocked")
        self.assertEqual(done.returncode, 1)
        self.assertIn("route", [row["status"] for row in rows])
        self.assert_no_time(next(row for row in rows if row["status"] == "route"))

    def test_a_profiled_call_is_checked_and_has_no_time(self):
        done, rows = self.bench("--n", "16", "--batch", "64", "--arms", "tiny,blocked", "--profile")
        self.assertEqual((done.returncode, rows), (0, []), done.stderr)
        self.assertEqual(done.stdout, "".join(
            f"profiled: potrf d lower n=16 batch=64, arm {arm}: {arm}\n"
            for arm in ("tiny", "blocked")))
        for fault, outcome in (("wrong later", "wrong"), ("failing call", "failed"),
                               ("other route", "route")):
            with self.subTest(fault):
                done, _ = self.bench("--n", "16", "--batch", "64", "--arms", "tiny,blocked",
                                     "--profile", fault=fault)
                self.assertEqual(done.returncode, 1)
                found = re.findall(f"{outcome}: potrf d lower n=16 batch=64, arm (\\w+)",
                                   done.stderr)
                self.assertTrue(found, done.stderr)
                for arm in found:
                    self.assertNotIn(f"arm {arm}", done.stdout)

    def test_a_class_of_which_no_family_can_run_is_unavailable(self):
        done, rows = self.bench("--op", "posv", "--n", "16", "--batch", "64", "--nrhs", "1",
                                "--arms", "vendor,blocked")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(rows[0]["status"], "unavailable")
        self.assert_no_time(rows[0])
        self.assertIn(rows[1]["status"], ("ok", "bad"))

    def test_a_pin_that_cannot_run_is_refused_before_anything_is_timed(self):
        done, rows = self.one("", "blocked,tiny", n="16,100")
        self.assertEqual((done.returncode, rows), (2, []))
        self.assertIn("arm tiny cannot run potrf d lower n=100 batch=64", done.stderr)
        done, rows = self.bench("--n", "16,100", "--batch", "64", "--arms", "blocked,tiny",
                                "--skip-unavailable")
        self.assertEqual(done.returncode, 0, done.stderr)
        by_cell = {(row["n"], row["arm"]): row for row in rows}
        self.assertEqual(by_cell["100", "tiny"]["status"], "unavailable")
        self.assert_no_time(by_cell["100", "tiny"])
        self.assertIn(by_cell["16", "tiny"]["status"], ("ok", "bad"))

    def test_an_unknown_or_empty_arm_is_refused(self):
        for arms in ("", "blocked,", "tinny", "blocked,tinny", "tiny:panel=8"):
            with self.subTest(arms):
                done, rows = self.bench("--n", "16", "--batch", "64", "--arms", arms,
                                        "--skip-unavailable")
                self.assertEqual((done.returncode, rows), (2, []))
                self.assertIn("arm", done.stderr)

    def test_a_cell_too_large_is_refused_by_name(self):
        done, rows = self.bench("--n", "1000", "--batch", "100000000", "--arms", "blocked")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(rows[0]["status"], "memory")
        self.assertIn("memory: potrf d lower n=1000 batch=100000000", done.stderr)

    def test_a_table_with_a_bad_row_is_named(self):
        self.write("potrf.host.txt", "# fine\nd lower - 16 1 64 tiny x\nd lower - 16 1 0 tiny x\n")
        done, rows = self.bench("--n", "16", "--batch", "64", "--arms", "auto",
                                BATCHLAS_TUNED_DIR=self.folder)
        self.assertEqual((done.returncode, rows), (2, []))
        self.assertIn("potrf.host.txt:3:", done.stderr)

    def test_the_library_finds_the_row_that_the_tools_find(self):
        source = random.Random(5)
        cells = [Cell("potrf", "d", "lower", "-", source.randint(1, 60), 1, source.randint(1, 300))
                 for _ in range(40)]
        rows = [tables.Row("d", "lower", "-", source.randint(1, 60), 1, source.randint(1, 300),
                           (source.choice(("blocked", "vendor")), "blocked"), "test")
                for _ in range(25)]
        tables.write(self.path("potrf.host.txt"), rows, ["made by a test"])
        lines = self.read("potrf.host.txt").splitlines()
        cells_file = self.write("cells", "".join(" ".join(map(str, cell[1:])) + "\n"
                                                 for cell in cells))
        done, _ = self.bench("--cells", cells_file, "--arms", "auto", "--reps", "1",
                             BATCHLAS_TUNED_DIR=self.folder, BATCHLAS_SELECT_TRACE="1")
        self.assertEqual(done.returncode, 0, done.stderr)
        traced = {(int(n), int(batch)): int(line) for n, batch, line in re.findall(
            r"potrf on host: .* n=(\d+) nrhs=1 batch=(\d+) -> .*line (\d+)\)", done.stderr)}
        for cell in cells:
            words = lines[traced[cell.n, cell.batch] - 1].split()
            found = tables.parse_row(words, "potrf")
            self.assertAlmostEqual(tables.distance(found, cell),
                                   tables.distance(tables.nearest(rows, cell), cell))

    def test_a_crash_loses_one_cell(self):
        tool = runner.Runner(FAULTS, "host", 3, 0.0, os.path.join(FAULTS, "peaks.txt"),
                             environment={"BENCH_FAULT": "crash at n = 7"})
        cells = [CELL._replace(n=n) for n in (5, 7, 9)]
        results = list(tool.measure(cells, ["blocked"], group=lambda cell: 0))
        self.assertEqual([result.cell for result in results], cells)
        self.assertEqual(results[1].arms["blocked"]["status"], "crashed")
        for result in (results[0], results[2]):
            self.assertIn(result.arms["blocked"]["status"], ("ok", "bad"))

    def test_the_grid_goes_on_where_it_stopped(self):
        words = ("--op", "potrf", "--type", "d", "--uplo", "lower", "--arms", "blocked", "--reps",
                 "2", "--warm-s", "0", "--out", self.folder, "--build", FAULTS, "--device", "host")
        first = run("bench/grid", *words, "--n", "2,3")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("6 cells, 0 of them", first.stdout)
        again = run("bench/grid", *words, "--n", "2,3,4")
        self.assertIn("9 cells, 6 of them", again.stdout)
        found = ledger.read(self.path("potrf.host.jsonl"))
        self.assertEqual(len(found), 9)
        self.assertEqual(len({measurement.cell for measurement in found}), 9)


@unittest.skipUnless(FAULTS, "FACTOR_BENCH_FAULTS is not set")
class Costs(InFolder):
    """call_cost on the host, with a fault planted beneath it."""

    def cost(self, *words, fault=""):
        rows = self.path("rows.csv")
        done = subprocess.run(
            [os.path.join(FAULTS, "call_cost"), "--device", "host", "--reps", "60", "--rounds",
             "3", "--calls", "2", "--overlap", "48,4", "--csv", rows, *words],
            capture_output=True, text=True, check=False, env={**os.environ, "BENCH_FAULT": fault})
        found = []
        if os.path.exists(rows):
            with open(rows, encoding="utf-8", newline="") as file:
                found = list(csv.DictReader(file))
        return done, found

    def test_every_call_is_timed(self):
        done, rows = self.cost()
        self.assertEqual(done.returncode, 0, done.stderr)
        names = [(row["op"], row["type"], int(row["n"]), int(row["batch"]), row["measured"])
                 for row in rows]
        expected = [(op, type_, n, batch, measured)
                    for op in ("potrf", "potrs", "posv") for type_ in "sd" for n in (8, 32)
                    for batch in (1, 64) for measured in ("waiting", "enqueue")]
        expected += [("potrf", "d", 48, 4, "one_handle"), ("potrf", "d", 48, 4, "two_handles")]
        self.assertEqual(names, expected)
        for row in rows:
            self.assertGreater(float(row["p5_us"]), 0)
            self.assertLessEqual(float(row["p5_us"]), float(row["median_us"]))
            self.assertLessEqual(float(row["median_us"]), float(row["p95_us"]))
            self.assertEqual((row["calls"], row["repetitions"]),
                             ("4", "3") if "handle" in row["measured"] else ("1", "60"))
        self.assertIn("equal bit for bit", done.stdout)

    def test_a_wrong_call_has_no_time(self):
        """The first one; and the last, of the problem in which the fault begins."""
        for fault in ("wrong element", "wrong much later"):
            with self.subTest(fault):
                done, rows = self.cost(fault=fault)
                self.assertEqual(done.returncode, 1)
                timed_cells = [(row["op"], row["type"], row["n"], row["batch"]) for row in rows]
                for batch, item in (("1", 0), ("64", 32)):
                    self.assertIn(f"wrong: potrf d lower n=8 batch={batch}: 1 items wrong "
                                  f"(first {item})", done.stderr)
                    self.assertNotIn(("potrf", "d", "8", batch), timed_cells)
                os.remove(self.path("rows.csv"))

    def test_results_of_two_handles_that_differ_in_a_bit_are_found(self):
        done, rows = self.cost(fault="another bit")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"potrf d lower n=48 batch=4: \d+ bytes differ")
        self.assertNotIn("two_handles", [row["measured"] for row in rows])

    def test_a_bad_command_line_is_refused(self):
        for words in (("--reps", "0"), ("--reps", "1e3"), ("--overlap", "48"), ("--calls",),
                      ("--overlap", "48,x"), ("--unheard", "1"), ("--device", "-1")):
            with self.subTest(words):
                done, rows = self.cost(*words)
                self.assertEqual((done.returncode, rows), (2, []))
                self.assertIn(words[0], done.stderr)


class Ledgers(InFolder):
    def setUp(self):
        super().setUp()
        self.name = self.path("potrf.host.jsonl")
        book = ledger.Ledger(self.name, {"device": "host", "model": "a test"})
        book.append(CELL, {"tiny": timed(2.0, "tiny"), "vendor": timed(1.0, "vendor")}, 0.1, 0.2)
        book.close()

    def assert_refused(self, line):
        with self.assertRaises(ledger.LedgerError) as caught:
            ledger.read(self.name)
        self.assertIn(f"potrf.host.jsonl:{line}:", str(caught.exception))
        done = run("bench/sweep_to_table", self.name, "--out", self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"potrf.host.jsonl:{line}:", done.stderr)
        self.assertFalse(os.path.exists(self.path("potrf.host.txt")))

    def test_a_whole_ledger_is_read(self):
        found, = ledger.read(self.name)
        self.assertEqual((found.line, found.cell), (2, CELL))
        self.assertEqual(found.setup["model"], "a test")
        self.assertEqual(found.families()["tiny"]["ms"], 2.0)

    def test_a_truncated_line_is_caught(self):
        whole = self.read("potrf.host.jsonl")
        for cut in (1, 2, 30, len(whole.splitlines()[1])):
            self.write("potrf.host.jsonl", whole[:-cut])
            self.assert_refused(2)
        self.write("potrf.host.jsonl", whole[:-20] + "\n" + whole.splitlines()[1] + "\n")
        self.assert_refused(2)

    def test_damaged_measurements_are_caught(self):
        setup, line = self.read("potrf.host.jsonl").splitlines()
        for before, after in (('"ms":2.0', '"ms":-2.0'), ('"ms":2.0', '"ms":"2"'),
                              ('"status":"ok"', '"status":"fine"'), ('"n":16', '"n":0'),
                              ('"type":"d"', '"type":"q"'), ('"op":"potrf"', '"op":"potrg"'),
                              ('"arms":{', '"legs":{'), ('"setup":"', '"setup":"x')):
            with self.subTest(after):
                self.assertIn(before, line)
                self.write("potrf.host.jsonl", f"{setup}\n{line.replace(before, after, 1)}\n")
                self.assert_refused(2)

    def test_a_set_up_is_written_once(self):
        for _ in range(2):
            book = ledger.Ledger(self.name, {"device": "host", "model": "a test"})
            book.append(CELL, {"tiny": timed(1.0, "tiny")}, 0.1, 0.2)
            book.close()
        self.assertEqual(self.read("potrf.host.jsonl").count('"id"'), 1)
        self.assertEqual(len(ledger.read(self.name)), 3)


class Tables(InFolder):
    def test_a_bad_row_is_named(self):
        good = "d lower - 16 1 64 tiny,vendor ledger:2"
        for bad in ("d lower - 16 1 64 tiny", "q lower - 16 1 64 tiny x", "d both - 16 1 64 tiny x",
                    "d lower - 0 1 64 tiny x", "d lower - 16 1 -4 tiny x",
                    "d lower - 16 1 64 tinny x", "d lower - 16 1 64 tiny,,vendor x",
                    "d lower - 16 1 64 tiny vendor x"):
            with self.subTest(bad):
                path = self.write("potrf.host.txt", f"# a comment\n{good}\n{bad}\n")
                with self.assertRaises(tables.TableError) as caught:
                    tables.read(path, "potrf")
                self.assertIn("potrf.host.txt:3:", str(caught.exception))
                self.assertEqual(run("bench/sweep_to_table", "--check", path).returncode, 1)
        path = self.write("potrf.host.txt", good + "\n")
        self.assertEqual(run("bench/sweep_to_table", "--check", path).returncode, 0)

    def test_what_is_written_is_read(self):
        rows = [tables.Row("z", "upper", "-", 3, 1, 5, ("blocked", "lpanel:panel=8"), "ledger:7")]
        tables.write(self.path("potrf.sm_90.txt"), rows, ["first", "second"])
        self.assertEqual(tables.read(self.path("potrf.sm_90.txt"), "potrf"), rows)

    def test_the_shipped_tables_are_sound(self):
        folder = os.path.join(ROOT, "tuned")
        for name in sorted(os.listdir(folder)):
            if name.endswith(".txt"):
                op, device = sweep.split_name(name, "txt")
                rows = tables.read(os.path.join(folder, name), op)
                self.assertTrue(rows, name)
                self.assertEqual(len({row.key() for row in rows}), len(rows), name)
                self.check_sources(folder, op, device, rows)

    def check_sources(self, folder, op, device, rows):
        """Every row is transcribed, or the line it names measured it and ranks it so."""
        path = os.path.join(folder, "ledger", f"{op}.{device}.jsonl")
        lines = ({m.line: m for m in ledger.read(path)} if os.path.exists(path) else {})
        for row in rows:
            if row.source.startswith("transcribed"):
                continue
            measurement = lines[int(row.source.removeprefix("ledger:"))]
            cell = measurement.cell
            self.assertEqual((cell.type, cell.uplo, cell.n, cell.nrhs, cell.batch),
                             (row.type, row.uplo, row.n, row.nrhs, row.batch))
            self.assertIn(row.form, shapes.twin_forms(op, cell.type, cell.form))
            self.assertEqual(sweep.ranking(measurement), row.families)


class Sweeps(InFolder):
    def rows(self, *entries):
        """entries: (cell, arms)."""
        op = entries[0][0].op
        book = ledger.Ledger(self.path(f"{op}.host.jsonl"), {"device": "host", "model": "a test"})
        for cell, arms in entries:
            book.append(cell, arms, 0.1, 0.2)
        book.close()
        sweep.write_table(book.path, self.folder)
        return tables.read(self.path(f"{op}.host.txt"), op)

    def test_the_fastest_ranks_first(self):
        row, = self.rows((CELL, {"tiny": timed(3.0, "tiny"), "blocked": timed(1.0, "blocked"),
                                 "vendor": timed(2.0, "vendor")}))
        self.assertEqual(row.families, ("blocked", "vendor", "tiny"))
        self.assertEqual(row.source, "ledger:2")

    def test_what_is_not_steady_and_right_takes_no_part(self):
        row, = self.rows((CELL, {"tiny": timed(5.0, "tiny", "bad", 0.3),
                                 "cta": {"status": "wrong", "chosen": "cta"},
                                 "blocked": timed(4.0, "blocked"),
                                 "vendor": timed(0.1, "tiny")}))  # ran something else
        self.assertEqual(row.families, ("blocked",))

    def test_an_unsteady_time_that_may_be_the_fastest_makes_no_row(self):
        steady = {"tiny": timed(2.0, "tiny"), "blocked": timed(4.0, "blocked")}
        unclear = {**steady, "tiny": {**timed(5.0, "tiny", "bad", 0.3), "min_ms": 3.0}}
        row, = self.rows((CELL, steady), (CELL, unclear))
        self.assertEqual((row.families, row.source), (("tiny", "blocked"), "ledger:2"))

    def test_an_unsteady_time_below_all_others_counts(self):
        others = {"blocked": timed(4.0, "blocked"), "vendor": timed(9.0, "vendor", "bad", 0.3)}
        row, = self.rows((CELL, {"tiny": timed(2.0, "tiny", "bad", 0.3), **others}))
        self.assertEqual(row.families, ("tiny", "blocked"))

    def test_the_last_measurement_of_a_cell_counts(self):
        row, = self.rows((CELL, {"tiny": timed(1.0, "tiny"), "vendor": timed(2.0, "vendor")}),
                         (CELL, {"tiny": timed(3.0, "tiny"), "vendor": timed(2.0, "vendor")}))
        self.assertEqual((row.families[0], row.source), ("vendor", "ledger:3"))

    def test_transposes_of_real_types_share_a_measurement(self):
        cell = Cell("trsm", "s", "lower", "LT", 32, 8, 64)
        arms = {"tiled": timed(1.0, "tiled")}
        rows = self.rows((cell, arms), (cell._replace(type="c"), arms))
        self.assertEqual([(row.type, row.form) for row in rows],
                         [("s", "LC"), ("s", "LT"), ("c", "LT")])
        self.assertEqual(shapes.twin_forms("gemm", "d", "NT"), ("NT", "NC"))
        self.assertEqual(len(shapes.twin_forms("gemm", "d", "TT")), 4)
        self.assertEqual(shapes.twin_forms("trsm", "d", "RN"), ("RN",))

    def test_rows_that_say_nothing_new_are_left_out(self):
        source = random.Random(11)
        entries = []
        for n in (1, 2, 4, 8, 16, 32, 64, 128):
            for batch in (1, 32, 1024):
                tiny = 1.0 if n < 20 or batch == 1024 else 3.0
                jitter = source.uniform(0.99, 1.01)
                entries.append((CELL._replace(n=n, batch=batch),
                                {"tiny": timed(tiny * jitter, "tiny"),
                                 "vendor": timed(2.0, "vendor")}))
        rows = self.rows(*entries)
        self.assertLess(len(rows), len(entries) / 2)
        for cell, arms in entries:
            choice = tables.nearest(rows, cell).families[0]
            self.assertEqual(choice, min(arms, key=lambda arm: arms[arm]["ms"]), cell)
        run("bench/sweep_to_table", self.path("potrf.host.jsonl"), "--out", self.folder,
            "--all-rows")
        self.assertEqual(len(tables.read(self.path("potrf.host.txt"), "potrf")), len(entries))

    def test_problems_half_way_between_rows_are_looked_at(self):
        few, many = (tables.Row("d", "lower", "-", n, 1, batch, ("tiny",), "ledger:2")
                     for n, batch in ((16, 4), (64, 1024)))
        half_way = few._replace(n=32, batch=64)
        looked_at = dict(sweep.between([(few, None), (many, None)]))
        self.assertEqual(set(looked_at), {few, many, half_way})
        self.assertEqual(looked_at[many], (many, None))

    def test_a_row_is_kept_where_the_nearest_would_choose_an_unsteady_family(self):
        near = {"tiny": timed(1.0, "tiny"), "blocked": timed(2.0, "blocked")}
        here = {"tiny": timed(9.0, "tiny", "bad", 0.3), "blocked": timed(2.0, "blocked")}
        rows = self.rows((CELL, near), (CELL._replace(n=CELL.n + 1), here))
        self.assertEqual([row.families[0] for row in rows], ["tiny", "blocked"])

    def test_other_devices_are_refused(self):
        book = ledger.Ledger(self.path("potrf.sm_90.jsonl"), {"device": "sm_80"})
        book.append(CELL, {"tiny": timed(1.0, "tiny")}, 0.1, 0.2)
        book.close()
        self.assertEqual(run("bench/sweep_to_table", book.path, "--out", self.folder).returncode, 1)


class Cards(InFolder):
    def with_tool(self, text):
        """A stand-in for nvidia-smi that prints this."""
        path = self.write("nvidia-smi", f"#!/bin/sh\nprintf '{text}'\n")
        os.chmod(path, 0o755)
        before = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", before)
        os.environ["PATH"] = self.folder + os.pathsep + before

    def test_another_process_on_the_card_stops_the_grid(self):
        self.with_tool("4242, somebody\\n")
        with self.assertRaises(runner.CardInUse) as caught:
            runner.check_card_is_free()
        self.assertIn("4242", str(caught.exception))

    def test_a_free_card_does_not(self):
        self.with_tool("")
        runner.check_card_is_free()


class Breakdown(InFolder):
    SAMPLE = os.path.join(ROOT, "tests", "bench_ncu.csv")  # of an H200, ncu of CUDA 13.0
    WORDS = ("--op", "potrf", "--type", "d", "--n", "2048", "--batch", "32")

    def setUp(self):
        super().setUp()
        self.tool = load("bench/breakdown")
        with open(self.SAMPLE, encoding="utf-8") as file:
            self.sample = file.read()

    def rows(self, output):
        return [[word.strip() for word in line.strip("|").split("|")]
                for line in output.splitlines() if line.startswith("|")][2:]

    def at_that_time(self):
        """The names that the sample's kernels gave to their template parameters."""
        self.tool.template_parameters = lambda: {
            ("potrf_cta", "factor"): ["T", "panel", "warps", "rows", "blocks", "upper"],
            ("trsm_strips", "solve"): ["T", "own", "warps"],
            ("gemm_register", "multiply"): ["tile"], ("syrk_register", "update"): ["tile"]}

    def test_a_call_is_broken_down(self):
        self.at_that_time()
        launches = self.tool.parse(self.sample, "sample")
        rows = self.rows(self.tool.table(launches))
        self.assertEqual([row[:4] for row in rows], [
            ["leaf", "", "16", "798.6"],
            ["", "potrf_cta factor d panel=8 warps=2 rows=2 blocks=4 lower", "16", "798.6"],
            ["panel solve", "", "45", "1,487.4"],
            ["", "trsm_strips solve d own=2 warps=2", "30", "1,146.2"],
            ["", "gemm_register multiply d tile=1", "7", "165.2"],
            ["", "gemm_register multiply d tile=0", "6", "156.2"],
            ["", "gemm_register multiply d tile=2", "2", "19.8"],
            ["trailing update", "", "15", "2,810.9"],
            ["", "syrk_register update d tile=1", "12", "2,039.7"],
            ["", "syrk_register update d tile=0", "3", "771.3"],
            ["all", "", "76", "5,096.9"]])
        self.assertEqual([row[4] for row in rows if row[0]],
                         ["15.7 %", "29.2 %", "55.2 %", "100.0 %"])

    def test_a_product_belongs_to_the_solve_that_follows(self):
        solve = "_ZN47_GLOBAL__N__dae6a6e1_14_trsm_strips_cu_a035ccbf5solveIdLi2ELi2EEEv"
        leaf = "_ZN45_GLOBAL__N__4920e1f3_12_potrf_cta_cu_791d85346factorIdLi8EEEv"
        move = "_ZN50_GLOBAL__N__ef66c4e4_17_vendor_support_cu_18737f5013make_pointersE9operand_t"
        region = "__omp_offloading_10302_2a91f_batchlas_dtrsm_tiled_l52"
        gemm = "cutlass_80_tensorop_d884gemm_64x64_16x4_nt_align1"
        symbols = (leaf, solve, gemm, gemm, solve, gemm, leaf, gemm, region, gemm, move, "unheard",
                   gemm)
        self.assertEqual(
            self.tool.steps_of([self.tool.Launch(symbol, 1.0) for symbol in symbols]),
            ["leaf", *["panel solve"] * 4, "trailing update", "leaf", *["panel solve"] * 2,
             "trailing update", "others", "others", "trailing update"])
        self.assertEqual(self.tool.readable(region), "OpenMP region in batchlas_dtrsm_tiled")
        self.assertEqual(self.tool.readable(move), "vendor_support make_pointers")

    def test_rates_are_floors_over_times(self):
        done = run("bench/breakdown", *self.WORDS, "--log", self.SAMPLE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("potrf d lower n=2048 batch=32, arm blocked", done.stdout)
        steps = {row[0]: row for row in self.rows(done.stdout) if row[0]}
        self.assertAlmostEqual(float(steps["leaf"][5]), 8e-9 * 32 * 16 * 128 * 129 / 798.6e-6,
                               delta=1)
        update = sum(128 * rest * (rest + 1) for rest in range(128, 2048, 128))
        self.assertAlmostEqual(float(steps["trailing update"][6].replace(",", "")),
                               1e-9 * 32 * update / 2810.9e-6, delta=2)
        other = run("bench/breakdown", *self.WORDS, "--log", self.SAMPLE, "--arm", "ltile:32")
        self.assertTrue(all(row[5:] == ["", ""] for row in self.rows(other.stdout)))

    def test_floors_are_those_of_the_loops(self):
        for type_, size, weight in (("s", 4, 1), ("d", 8, 1), ("c", 8, 4), ("z", 16, 4)):
            for n, nb in ((5, 8), (8, 8), (21, 8), (24, 8)):
                cell = CELL._replace(type=type_, n=n, batch=3)
                moved = dict.fromkeys(self.tool.STEPS, 0)
                operations = dict.fromkeys(self.tool.STEPS, 0)
                for j in range(0, n, nb):
                    end = min(j + nb, n)
                    triangle = sum(1 for c in range(j, end) for r in range(c, end))
                    panel = sum(1 for c in range(j, end) for r in range(end, n))
                    rest = sum(1 for c in range(end, n) for r in range(c, n))
                    moved["leaf"] += 2 * triangle
                    operations["leaf"] += (end - j) ** 3 / 3
                    moved["panel solve"] += 2 * panel + (triangle if panel else 0)
                    operations["panel solve"] += sum(2 * (c - j) + 1 for r in range(end, n)
                                                     for c in range(j, end))
                    moved["trailing update"] += panel + 2 * rest
                    operations["trailing update"] += 2 * rest * (end - j)
                found = self.tool.floors(cell, nb)
                for step in self.tool.STEPS:
                    self.assertEqual(found[step][0], 3 * size * moved[step], (step, n))
                    self.assertAlmostEqual(found[step][1], 3 * weight * operations[step], 6)

    def test_every_kernel_of_the_sources_has_named_parameters(self):
        found = self.tool.template_parameters()
        kernels = 0
        for name in os.listdir(os.path.join(ROOT, "cuda_kernels")):
            if name.endswith(".cu"):
                with open(os.path.join(ROOT, "cuda_kernels", name), encoding="utf-8") as file:
                    kernels += len(re.findall(r"^template .*\n__global__", file.read(), re.M))
        self.assertEqual(len(found), kernels)
        self.assertEqual(found["trsm_strips", "solve"], ["T", "own", "warps"])

    def test_names(self):
        names = ("_ZN47_GLOBAL__N__dae6a6e1_14_trsm_strips_cu_a035ccbf5solveI{}Li1ELi2EEEv"
                 "NS_16strips_argumentsE", "trsm_strips solve {} own=1 warps=2")
        complex_ = "N15batchlas_device10complex_ofI{}EE"
        for mangled, letter in (("f", "s"), ("d", "d"), (complex_.format("f"), "c"),
                                (complex_.format("d"), "z")):
            self.assertEqual(self.tool.readable(names[0].format(mangled)), names[1].format(letter))
        self.assertEqual(self.tool.readable(
            "_ZN46_GLOBAL__N__7bf151f2_13_potrf_tiny_cu_27ca2a236factorIN15batchlas_device10"
            "complex_ofIdEENS1_11tiny_bucketIS3_NS_5tableIS3_EELi6EEELb1EEEvNS_14tiny_argumentsE"),
            "potrf_tiny factor z bucket=6 upper")
        self.assertEqual(self.tool.readable(names[0].format("dLi3E")),  # of another tree
                         "trsm_strips solve d 3 1 2")

    def test_what_is_not_understood_is_an_error(self):
        row = self.sample.splitlines()[-1]
        for log in ("", "==ERROR== No kernels were profiled.\n",
                    self.sample.replace(row, re.sub('"[0-9,]*"$', '"n/a"', row)),
                    self.sample.replace(row, row.replace('"ns"', '"cycle"')),
                    self.sample.replace(row, row.replace("gpu__time_duration.sum", "other")),
                    self.sample.replace(row, row[:60])):
            done = run("bench/breakdown", *self.WORDS, "--log", self.write("log", log))
            self.assertEqual((done.returncode, done.stdout), (2, ""), log[-200:])

    def with_profiler(self, status):
        """Stand-ins for ncu, which copies the sample into its log, and for factor_bench."""
        ncu = self.write("ncu", f"""#!/bin/sh
echo "$@" > {self.path("words")}
while [ "$1" != --log-file ]; do shift; done
cp {self.SAMPLE} "$2"
echo 'no permission' >&2
exit {status}
""")
        for path in (ncu, self.write("factor_bench", "")):
            os.chmod(path, 0o755)
        return run("bench/breakdown", *self.WORDS, "--type", "d,z", "--ncu", ncu, "--build",
                   self.folder, "--keep", self.path("kept"))

    def test_only_the_call_is_profiled(self):
        done = self.with_profiler(0)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("potrf z lower n=2048", done.stdout)
        words = self.read("words")
        for expected in ("--profile-from-start off", "--cache-control none", "--clock-control none",
                         "factor_bench --profile --op potrf --type z --uplo lower --n 2048",
                         "--batch 32 --arms blocked"):
            self.assertIn(expected, words)
        self.assertEqual(self.read("kept/potrf_d_lower_2048_32_blocked.csv"), self.sample)

    def test_a_profiler_that_fails_is_told(self):
        done = self.with_profiler(1)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("no permission", done.stderr)


class Tools(InFolder):
    LOG = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'tiny' for 'sm_90'
ptxas info    : Function properties for tiny
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers
ptxas info    : Compile time = 0.896 ms
"""

    def probe(self, log, exceptions=""):
        return run("bench/register_probe", "--log", self.write("log", log), "--exceptions",
                   self.write("exceptions", exceptions))

    def test_register_probe_fails_on_frames_and_spills(self):
        self.assertEqual(self.probe(self.LOG).returncode, 0)
        for before, after in (("0 bytes stack", "8 bytes stack"),
                              ("0 bytes spill stores", "4 bytes spill stores"),
                              ("0 bytes spill loads", "4 bytes spill loads")):
            log = self.LOG.replace(before, after)
            done = self.probe(log)
            self.assertEqual(done.returncode, 1)
            self.assertIn("NOT RESIDENT", done.stdout)
            self.assertEqual(self.probe(log, "tiny  known, and not worth it\n").returncode, 0)

    def test_register_probe_fails_on_what_it_does_not_understand(self):
        for log in ("", self.LOG + "ptxas warning : something new\n",
                    self.LOG.replace("Used 32 registers", "Uses 32 registers"),
                    "\n".join(self.LOG.splitlines()[:3]),
                    "\n".join(self.LOG.splitlines()[:4])):
            self.assertEqual(self.probe(log).returncode, 2)
        self.assertEqual(self.probe(self.LOG, "tiny no reason\n").returncode, 2)

    def test_register_probe_fails_on_an_idle_exception(self):
        self.assertEqual(self.probe(self.LOG, "tiny  was once\n").returncode, 1)

    def test_route_diff(self):
        head = "op,type,uplo,n,nrhs,batch,chosen_algo\n"
        before = self.write("before", head + "potrf,s,lower,8,1,4,tiny\n" * 2)
        same = self.write("same", head + "potrf,s,lower,8,1,4,tiny\n" + head)
        other = self.write("other", head + "potrf,s,lower,8,1,4,vendor\n")
        more = self.write("more", head + "potrf,s,lower,8,1,4,tiny\npotrf,s,lower,9,1,4,tiny\n")
        cut = self.write("cut", head + "potrf,s,lower,8,1\n")
        self.assertEqual(run("bench/route_diff", before, same).returncode, 0)
        done = run("bench/route_diff", before, other)
        self.assertEqual(done.returncode, 1)
        self.assertIn("tiny -> vendor", done.stdout)
        self.assertEqual(run("bench/route_diff", before, more).returncode, 1)
        self.assertEqual(run("bench/route_diff", before, cut).returncode, 2)

    def test_baseline_counts_what_is_close(self):
        reference = self.write("reference.csv", "# a comment\ntype,n,batch,potrf_lower_ms\n"
                               "d,16,64,1.0\nd,17,64,1.0\nd,18,64,1.0\n")
        book = ledger.Ledger(self.path("potrf.host.jsonl"), {"device": "host"})
        for n, arm in ((16, timed(1.09, "vendor")), (17, timed(0.89, "vendor")),
                       (18, timed(1.0, "vendor", "bad", 0.2)), (19, timed(1.0, "vendor"))):
            book.append(CELL._replace(n=n), {"vendor": arm}, 0.1, 0.2)
        book.close()
        done = run("bench/baseline", reference, book.path, "--at-least", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("lower: 1 of 3 within 10 %", done.stdout)
        done = run("bench/baseline", reference, book.path, "--at-least", "2")
        self.assertEqual(done.returncode, 1)

    def test_regret_counts_what_is_steady(self):
        regret = load("bench/regret")
        arms = {"auto": timed(3.0, "tiny"), "tiny": timed(2.9, "tiny"),
                "vendor": timed(2.0, "vendor"), "cta": {"status": "unavailable", "chosen": ""}}
        ratio, choice, best = regret.compare(runner.Result(CELL, arms))
        self.assertEqual((ratio, choice, best), (1.5, "tiny", "vendor"))
        for arm in ("auto", "vendor"):
            unsteady = {**arms, arm: timed(2.0, arm, "bad", 0.4)}
            self.assertIsNone(regret.compare(runner.Result(CELL, unsteady)))
        values = [1.0] * 90 + [2.0] * 9 + [3.0]
        self.assertEqual(regret.percentile(values, 0.5), 1.0)
        self.assertEqual(regret.percentile(values, 0.95), 2.0)
        self.assertEqual(regret.percentile(values, 1.0), 3.0)

    def test_regret_draws_the_same_unseen_problems(self):
        draws = [[shapes.draw(random.Random(3), op, device, "sz") for op in shapes.OPERATIONS]
                 for device in ("host", "sm_90", "host")]
        self.assertEqual(draws[0], draws[2])
        for cell in draws[0] + draws[1]:
            self.assertIn(cell.form, {twin for form in shapes.forms(cell.op, cell.type)
                                      for twin in shapes.twin_forms(cell.op, cell.type, form)})

    def test_tune_refines_where_the_winner_changes(self):
        tune = load("scripts/tune")
        fast = {16: "tiny", 64: "tiny", 256: "vendor", 300: "blocked"}
        results = {}
        for n, family in fast.items():
            cell = CELL._replace(n=n, batch=4096 // n)
            arms = {name: timed(1.0 if name == family else 2.0, name)
                    for name in ("tiny", "vendor", "blocked")}
            results[cell] = runner.Result(cell, arms)
        self.assertEqual(tune.between(results), [CELL._replace(n=128, batch=32)])
        old = [tables.Row("d", "lower", "-", 20, 1, 4, ("cta", "blocked"), "transcribed")]
        self.assertEqual(tune.previous_choice(old, results[CELL._replace(batch=256)]), "blocked")

    def test_every_family_of_the_library_is_measured(self):
        for op, families in shapes.FAMILIES.items():
            with open(os.path.join(ROOT, "src", f"{op}.c"), encoding="utf-8") as file:
                rows = set(re.findall(r'^ *\{"([^"]+)", *ON_', file.read(), re.MULTILINE))
            self.assertEqual(rows, set(families), op)

    def test_the_standard_grid_has_the_neighbours_of_powers_of_two(self):
        cells = shapes.standard_grid("potrf", "sm_90", "s", ("lower", "upper"))
        orders = {cell.n for cell in cells}
        for n in (8, 16, 32, 64, 128, 256, 512):
            self.assertLessEqual({n, n + 1}, orders)
        for n in orders:
            batches = sorted({cell.batch for cell in cells if cell.n == n})
            self.assertEqual(batches, [batches[0], 2 * batches[0], 4 * batches[0]])


if __name__ == "__main__":
    unittest.main()
