#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of examples/als_movielens on ratings made of known factors: against alternating least
squares in Python, step by step, and against the noise that was put in."""

import math

import example
from example import random_normal, random_uniform


def make_ratings(users, items, rank, share, noise):
    """user, item, rating of some pairs, in a fixed order; every user and item has its bias."""
    rows = []
    for u in range(users):
        for i in range(items):
            draw = u * items + i
            if random_uniform(11, draw) < share:
                value = 3.0 + 0.5 * random_normal(12, u) + 0.5 * random_normal(13, i)
                value += sum(random_normal(14, rank * u + k) * random_normal(15, rank * i + k)
                             for k in range(rank))
                rows.append((1000 - u, 7 * i, value + noise * random_normal(16, draw)))
    return rows


class Reference:
    """The program's model, from a list of (user, item, rating)."""

    def __init__(self, rows, share, seed, rank, penalty):
        names = [sorted({row[side] for row in rows}) for side in (0, 1)]
        numbers = [{name: number for number, name in enumerate(side)} for side in names]
        parts = ([], [])
        for index, (user, item, value) in enumerate(rows):
            held = random_uniform(seed, index) < share
            parts[held].append((numbers[0][user], numbers[1][item], value))
        self.seen, self.held = parts
        self.rank, self.penalty = rank, penalty
        values = [value for _, _, value in self.seen]
        self.mean, self.low, self.high = sum(values) / len(values), min(values), max(values)
        self.bias = [[0.0] * len(side) for side in names]
        self.factor = [[[0.0] * rank for _ in names[0]],
                       [[0.1 * random_normal(seed + 1, i * rank + k) for k in range(rank)]
                        for i in range(len(names[1]))]]
        for turn in range(40):
            self.fit_bias(1 - turn % 2)

    def of(self, side):
        """The ratings of each user (or item): the other's number and the value."""
        lists = [[] for _ in self.bias[side]]
        for row in self.seen:
            lists[row[side]].append((row[1 - side], row[2]))
        return lists

    def fit_bias(self, side):
        for e, ratings in enumerate(self.of(side)):
            left = sum(value - self.mean - self.bias[1 - side][other] for other, value in ratings)
            self.bias[side][e] = left / (5.0 + len(ratings))

    def update(self, side):
        for e, ratings in enumerate(self.of(side)):
            weight = self.penalty * max(len(ratings), 1)
            matrix = [[weight * (j == k) for j in range(self.rank)] for k in range(self.rank)]
            rhs = [0.0] * self.rank
            for other, value in ratings:
                y = self.factor[1 - side][other]
                left = value - self.mean - self.bias[side][e] - self.bias[1 - side][other]
                for j in range(self.rank):
                    rhs[j] += left * y[j]
                    for k in range(self.rank):
                        matrix[j][k] += y[j] * y[k]
            self.factor[side][e] = example.solve(example.cholesky(matrix), rhs)

    def error(self, rows, biases=True, factors=True):
        squares = 0.0
        for user, item, value in rows:
            guess = self.mean
            if biases:
                guess += self.bias[0][user] + self.bias[1][item]
            if factors:
                guess += sum(map(float.__mul__, self.factor[0][user], self.factor[1][item]))
            squares += (value - min(max(guess, self.low), self.high)) ** 2
        return math.sqrt(squares / len(rows))


class AlsTest(example.ExampleTest):
    def write(self, rows):
        with open(self.path("ratings.csv"), "w", encoding="utf-8") as file:
            file.write("item,rating,user,time\n")
            for user, item, value in rows:
                file.write(f"{item},{value!r},{user},0\n")

    def errors(self, output, label):
        for line in output.splitlines():
            if line.startswith(label):
                return [float(word) for word in line[len(label):].split()]
        self.fail(f"no '{label}' in\n{output}")
        return None

    def fit(self, *options, **environment):
        return self.run_program("--device", "host", "--ratings", self.path("ratings.csv"),
                                "--curve", self.path("curve.csv"), *options, **environment)[0]

    def check(self, rows, rank, sweeps, penalty=0.05, **environment):
        self.write(rows)
        output = self.fit("--rank", rank, "--sweeps", sweeps, "--penalty", penalty,
                          "--holdout", 0.2, "--seed", 5, **environment)
        model = Reference(rows, 0.2, 5, rank, penalty)
        self.assertIn(f"\nused            {len(model.seen)} to learn from, {len(model.held)} held",
                      output)
        for label, parts in (("mean  ", {"biases": False, "factors": False}),
                             ("mean and biases", {"factors": False})):
            for got, part in zip(self.errors(output, label), (model.seen, model.held)):
                self.assertLess(abs(got - model.error(part, **parts)), 1e-6, label)
        curve = self.read_csv("curve.csv")
        self.assertEqual(len(curve), sweeps + 1)
        for row in curve[1:]:
            model.update(0)
            model.update(1)
            self.assertLess(abs(float(row["learnt"]) - model.error(model.seen)), 1e-7)
            self.assertLess(abs(float(row["held_out"]) - model.error(model.held)), 1e-7)
        last = self.errors(output, f"{rank:3} factors, {sweeps:3} sweeps")
        self.assertLess(abs(last[1] - model.error(model.held)), 1e-6)

    def test_every_sweep_is_the_reference_s(self):
        self.check(make_ratings(17, 11, 2, 0.6, 0.3), 3, 5)
        self.check(make_ratings(9, 14, 1, 0.5, 0.3), 1, 3, OMP_NUM_THREADS="1")
        self.check(make_ratings(5, 40, 2, 0.15, 0.1), 6, 2, OMP_NUM_THREADS="3")
        self.check(make_ratings(12, 12, 1, 0.6, 1.0), 2, 4, penalty=1e-4) # beyond the range

    def test_known_factors_are_found(self):
        self.write(make_ratings(250, 60, 2, 0.5, 0.1))
        # Two were put in, and two more take what the shrunken biases leave. The systems of 96 are
        # more than one chunk.
        for rank, penalty, bound in ((4, 0.01, 0.13), (96, 0.03, 0.2)):
            output = self.fit("--rank", rank, "--penalty", penalty, "--sweeps", 20)
            self.assertGreater(self.errors(output, "mean and biases")[1], 1.3)
            self.assertLess(self.errors(output, f"{rank:3} factors,  20 sweeps")[1], bound)

    def test_what_cannot_be_used_is_refused_in_a_sentence(self):
        file = self.path("ratings.csv")
        for text, sentence in (("", "has no column 'user' in its first line"),
                               ("user,rating\n1,2\n", "has no column 'item' in its first line"),
                               ("user,item,rating\n", "has no ratings"),
                               ("user,item,rating\n1,2,3\n1,x,3\n",
                                "has no user, item and rating in row 2"),
                               ("user,item,rating\n1,2\n",
                                "has no user, item and rating in row 1")):
            with open(file, "w", encoding="utf-8") as out:
                out.write(text)
            self.assert_says(f"'{file}' {sentence}", "--ratings", file)
        self.assert_says(f"cannot open '{file}x'", "--ratings", f"{file}x")
        self.assert_says("--rank was '129', expected a number from 1 to 128", "--rank", 129)


if __name__ == "__main__":
    example.main()
