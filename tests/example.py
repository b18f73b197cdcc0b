# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the example programs share: test_NAME.py PROGRAM [unittest's options]."""

import csv
import math
import os
import subprocess
import sys
import tempfile
import unittest

MASK = 2**64 - 1


def random_bits(seed, index):
    """As in examples/common/random.h."""
    z = (seed + (index + 1) * 0x9e3779b97f4a7c15) & MASK
    z = ((z ^ (z >> 30)) * 0xbf58476d1ce4e5b9) & MASK
    z = ((z ^ (z >> 27)) * 0x94d049bb133111eb) & MASK
    return z ^ (z >> 31)


def random_uniform(seed, index):
    return ((random_bits(seed, index) >> 11) + 0.5) * 2.0**-53


def random_normal(seed, index):
    return (math.sqrt(-2.0 * math.log(random_uniform(seed, 2 * index)))
            * math.cos(2.0 * math.pi * random_uniform(seed, 2 * index + 1)))


def cholesky(matrix):
    """L of a symmetric positive-definite matrix, a list of rows."""
    lower = [[0.0] * len(matrix) for _ in matrix]
    for i, row in enumerate(matrix):
        for j in range(i + 1):
            rest = row[j] - sum(x * y for x, y in zip(lower[i][:j], lower[j][:j]))
            lower[i][j] = math.sqrt(rest) if i == j else rest / lower[j][j]
    return lower


def solve(lower, rhs):
    """x of L L^T x = rhs."""
    n = len(rhs)
    x = list(rhs)
    for i in range(n):
        x[i] = (x[i] - sum(lower[i][k] * x[k] for k in range(i))) / lower[i][i]
    for i in reversed(range(n)):
        x[i] = (x[i] - sum(lower[k][i] * x[k] for k in range(i + 1, n))) / lower[i][i]
    return x


class ExampleTest(unittest.TestCase):
    program = [sys.argv[1]]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_program(self, *options, status=0, **environment):
        """Output and errors; the exit status must be the one expected."""
        words = [*self.program, *map(str, options)]
        result = subprocess.run(words, text=True, capture_output=True, check=False,
                                env={**os.environ, **environment})
        self.assertEqual(result.returncode, status, f"{words}\n{result.stdout}{result.stderr}")
        return result.stdout, result.stderr

    def assert_says(self, sentence, *options, status=2, **environment):
        """One line on stderr, which begins with this sentence."""
        errors = self.run_program(*options, status=status, **environment)[1]
        name = os.path.basename(self.program[-1])
        self.assertEqual(errors.count("\n"), 1, errors)
        self.assertTrue(errors.startswith(f"{name}: {sentence}"), errors)

    def read_csv(self, name):
        with open(self.path(name), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def number(self, output, label):
        """The number after a label at the beginning of a line."""
        for line in output.splitlines():
            if line.startswith(label):
                return float(line[len(label):].split()[0].rstrip(","))
        self.fail(f"no '{label}' in\n{output}")
        return None

    def assert_close(self, got, want, relative):
        self.assertLessEqual(abs(got - want), relative * abs(want), f"{got} instead of {want}")


def main():
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
