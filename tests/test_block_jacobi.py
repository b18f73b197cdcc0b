#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of examples/block_jacobi against finite elements and conjugate gradients in Python,
written with strain matrices and dense algebra."""

import itertools
import math

import example
from example import random_uniform

CORNERS = list(itertools.product((0, 1), repeat=3))
POISSON = 0.3


class Ground:
    """Stiffness matrix, displacement and blocks of the program's ground."""

    def __init__(self, width, layers, patch, flatness, contrast):
        self.width, self.layers, self.flatness, self.contrast = width, layers, flatness, contrast
        grid = itertools.product(range(width), range(width), range(1, layers + 1))
        self.nodes = sorted(grid, key=lambda n: (n[1] // patch, n[0] // patch, n))
        self.number = {node: index for index, node in enumerate(self.nodes)}
        size = 3 * len(self.nodes)
        self.order = 3 * patch * patch * layers
        self.matrix = [[0.0] * size for _ in range(size)]
        for i, j, k in itertools.product(range(width - 1), range(width - 1), range(layers)):
            self.add_element(i, j, k)

    def add_element(self, i, j, k):
        modulus = self.contrast ** random_uniform(1, (k * self.width + j) * self.width + i)
        shear = modulus / (2.0 + 2.0 * POISSON)
        lame = modulus * POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON))
        corners = [(i + a, j + b, k + c) for a, b, c in CORNERS]
        for point in itertools.product((0.5 - 0.5 / math.sqrt(3.0), 0.5 + 0.5 / math.sqrt(3.0)),
                                       repeat=3):
            columns = [] # of the strain matrix: xx, yy, zz, xy, yz, zx
            for corner in CORNERS:
                x, y, z = slopes(corner, point)
                x, y = x / self.flatness, y / self.flatness
                columns += [(x, 0, 0, y, 0, z), (0, y, 0, x, z, 0), (0, 0, z, 0, y, x)]
            rows = [3 * self.number[c] + d if c[2] else -1 for c in corners for d in range(3)]
            for row, strain in zip(rows, columns):
                trace = lame * sum(strain[:3])
                stress = [trace + 2.0 * shear * s for s in strain[:3]]
                stress += [shear * s for s in strain[3:]]
                for column, other in zip(rows, columns):
                    if row >= 0 and column >= 0:
                        self.matrix[row][column] += self.flatness ** 2 / 8.0 * sum(
                            s * t for s, t in zip(stress, other))

    def displacement(self):
        wave = 2.0 * math.pi / (self.width - 1)
        result = []
        for i, j, level in self.nodes:
            result += [level / self.layers * math.sin(wave * i),
                       level / self.layers * math.cos(wave * j),
                       level / self.layers * math.sin(wave * (i + j))]
        return result

    def preconditioner(self, order):
        """Block Jacobi with blocks of this order: 0 for none."""
        if order == 0:
            return list
        factors = [example.cholesky([row[first:first + order]
                                     for row in self.matrix[first:first + order]])
                   for first in range(0, len(self.matrix), order)]
        return lambda r: [z for index, factor in enumerate(factors)
                          for z in example.solve(factor, r[index * order:(index + 1) * order])]


def slopes(corner, point):
    """Gradient of a corner's shape function on the unit cube."""
    shape = [p if c else 1.0 - p for c, p in zip(corner, point)]
    sign = [1.0 if c else -1.0 for c in corner]
    return [sign[0] * shape[1] * shape[2], shape[0] * sign[1] * shape[2],
            shape[0] * shape[1] * sign[2]]


def multiply(matrix, x):
    return [sum(map(float.__mul__, row, x)) for row in matrix]


def dot(x, y):
    return sum(map(float.__mul__, x, y))


def residuals(matrix, b, precondition, tolerance):
    """Of conjugate gradients, relative, from the start to convergence."""
    r, p, rho = list(b), None, 0.0
    history = [1.0]
    while history[-1] > tolerance:
        z = precondition(r)
        before, rho = rho, dot(r, z)
        p = z if p is None else [a + rho / before * c for a, c in zip(z, p)]
        q = multiply(matrix, p)
        alpha = rho / dot(p, q)
        r = [a - alpha * c for a, c in zip(r, q)]
        history.append(math.sqrt(dot(r, r) / dot(b, b)))
    return history


class BlockJacobiTest(example.ExampleTest):
    def test_the_reference_stores_the_energy_of_a_uniform_strain(self):
        ground = Ground(3, 2, 1, 2.0, 1.0)
        a = (0.3, -0.2, 0.5)
        x = [node[2] * slope for node in ground.nodes for slope in a]
        shear = 1.0 / (2.0 + 2.0 * POISSON)
        lame = POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON))
        exact = 4.0 * 4.0 * 2.0 * ((lame + 2.0 * shear) * a[2] ** 2
                                   + shear * (a[0] ** 2 + a[1] ** 2))
        self.assert_close(dot(x, multiply(ground.matrix, x)), exact, 1e-12)

    def check(self, width, layers, patch, flatness, contrast, **environment):
        ground = Ground(width, layers, patch, flatness, contrast)
        output = self.run_program(
            "--device", "host", "--width", width, "--layers", layers, "--patch", patch,
            "--flatness", flatness, "--contrast", contrast, "--history",
            self.path("history.csv"), **environment)[0]
        b = multiply(ground.matrix, ground.displacement())
        self.assert_close(self.number(output, "energy"), 0.5 * dot(b, ground.displacement()), 1e-10)
        rows = self.read_csv("history.csv")
        for name, order in (("none", 0), ("point Jacobi", 1), ("block Jacobi", ground.order)):
            want = residuals(ground.matrix, b, ground.preconditioner(order), 1e-8)
            got = [float(row["residual"]) for row in rows if row["preconditioner"] == name]
            for one, other in zip(got[:10], want[:10]):
                self.assert_close(one, other, 1e-5)
            self.assertLessEqual(abs(len(got) - len(want)), 1 + len(want) // 50, name)
            line = next(line for line in output.splitlines() if line.startswith(name))
            words = line[len(name):].split()
            self.assertEqual(int(words[0]), len(got) - 1)
            self.assertLess(float(words[4]), 1e-5, line)

    def test_one_column_a_block(self):
        self.check(3, 3, 1, 4.0, 1000.0)

    def test_several_columns_a_block(self):
        self.check(4, 2, 2, 10.0, 100.0, OMP_NUM_THREADS="3")

    def test_one_block_is_a_direct_solver(self):
        output = self.run_program("--device", "host", "--width", 4, "--layers", 2, "--patch", 4)[0]
        self.assertRegex(output, r"\nblock Jacobi    1 ")

    def test_what_does_not_converge_says_so(self):
        output = self.run_program("--device", "host", "--width", 4, "--iterations", 3, status=1)[0]
        self.assertRegex(output, r"\nnone +3 .*, not converged\n")

    def test_what_cannot_be_used_is_refused_in_a_sentence(self):
        self.assert_says("a width of 5 is no multiple of patch 2", "--width", 5)
        self.assert_says("a block would have 1536 unknowns, at most 1024", "--width", 8,
                         "--patch", 8, "--layers", 8)
        self.assert_says("--contrast was '0.5', expected a number from 1 to", "--contrast", 0.5)
        self.assert_says("cannot write '", "--history", self.path("none/history.csv"))


if __name__ == "__main__":
    example.main()
