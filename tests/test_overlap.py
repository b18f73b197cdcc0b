#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of examples/overlap against a Gaussian process in Python, and its timeline."""

import math

import example
from example import random_uniform

STAGES = ("upload", "assemble", "solve", "predict", "download")
LANES = 2


def covariance(p, q):
    t = 2.0 * math.sqrt(3.0) * math.dist(p, q)
    return (1.0 + t) * math.exp(-t)


def field(cell, x, y):
    return (math.sin(3.0 * x + 2.0 * math.pi * random_uniform(2, 2 * cell))
            + math.cos(3.0 * y + 2.0 * math.pi * random_uniform(2, 2 * cell + 1)))


def expected_error(cells, n):
    """Root mean square over the 4 x 4 targets of all cells."""
    targets = [((i + 0.5) / 4, (j + 0.5) / 4) for j in range(4) for i in range(4)]
    squares = 0.0
    for cell in range(cells):
        places = [(random_uniform(1, 2 * (cell * n + k)), random_uniform(1, 2 * (cell * n + k) + 1))
                  for k in range(n)]
        matrix = [[covariance(p, q) + 1e-6 * (p is q) for q in places] for p in places]
        weights = example.solve(example.cholesky(matrix), [field(cell, *p) for p in places])
        for target in targets:
            value = sum(w * covariance(target, p) for w, p in zip(weights, places))
            squares += (value - field(cell, *target)) ** 2
    return math.sqrt(squares / (len(targets) * cells))


class OverlapTest(example.ExampleTest):
    def check(self, cells, n, chunks, **environment):
        output = self.run_program("--device", "host", "--cells", cells, "--observations", n,
                                  "--chunks", chunks, "--repeats", 2,
                                  "--timeline", self.path("timeline.csv"), **environment)[0]
        self.assertIn("\nresults        equal bit for bit\n", output)
        self.assert_close(self.number(output, "error"), expected_error(cells, n), 1e-7)
        return self.read_csv("timeline.csv")

    def test_predictions_are_those_of_the_gaussian_process(self):
        self.check(23, 7, 5)
        self.check(40, 12, 40, OMP_NUM_THREADS="3")
        self.check(5, 1, 1, OMP_NUM_THREADS="1")

    def test_nothing_overlaps_that_must_not(self):
        rows = self.check(23, 7, 5, OMP_NUM_THREADS="4")
        self.assertEqual(len(rows), 2 * 5 * len(STAGES))
        for way in ("one after the other", "overlapped"):
            chunks = [[], [], [], [], []]
            for row in rows:
                if row["way"] == way:
                    chunks[int(row["chunk"])].append(row)
            for stages in chunks:
                self.assertEqual(tuple(row["stage"] for row in stages), STAGES)
                self.in_turn(stages)
            for lane in range(LANES):
                self.in_turn([row for stages in chunks[lane::LANES] for row in stages[1:4]])
            self.in_turn([stages[0] for stages in chunks])
            self.in_turn([stages[4] for stages in chunks])

    def in_turn(self, rows):
        last = 0.0
        for row in rows:
            begin, end = float(row["begin_ms"]), float(row["end_ms"])
            self.assertLessEqual(last, begin, rows)
            self.assertLessEqual(begin, end, rows)
            last = end

    def test_what_cannot_be_used_is_refused_in_a_sentence(self):
        self.assert_says("unknown option '--cell'", "--cell", 1)
        self.assert_says("--cells needs a value: a number from 1 to 100000000", "--cells")
        self.assert_says("--cells was '0', expected a number from 1 to", "--cells", 0)
        self.assert_says("--observations was '513', expected", "--observations=513")
        self.assert_says("--device was 'gpu', expected auto, host or a", "--device", "gpu")
        self.assert_says("cannot write '", "--timeline", self.path("none/timeline.csv"))
        self.assert_says("create: argument device_num is 99", "--device", 99)


if __name__ == "__main__":
    example.main()
