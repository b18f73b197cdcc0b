#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of examples/multi_gpu against Kalman's filter in Python, for every kind of split. The
host stands for any number of devices."""

import math

import example
from example import random_normal, random_uniform


def curve(index, curves, epochs):
    """Times and values, as the program makes them."""
    scale = 30.0 * 10.0 ** ((index + 0.5) / curves)
    times, values, time, walk = [], [], 0.0, 0.0
    for k in range(epochs):
        draw = index * epochs + k
        gap = -10.0 * math.log(random_uniform(1, draw))
        kept = math.exp(-gap / scale) if k else 0.0
        time += gap
        walk = kept * walk + math.sqrt(1.0 - kept * kept) * random_normal(2, draw)
        times.append(time)
        values.append(walk + 0.1 * random_normal(3, draw))
    return times, values


def log_likelihood(times, values, scale):
    mean, variance, total = 0.0, 1.0, 0.0
    for k, value in enumerate(values):
        kept = math.exp(-(times[k] - times[k - 1]) / scale) if k else 0.0
        mean, variance = kept * mean, kept * kept * variance + 1.0 - kept * kept
        spread = variance + 0.01
        total -= 0.5 * (math.log(2.0 * math.pi * spread) + (value - mean) ** 2 / spread)
        mean += variance / spread * (value - mean)
        variance *= 0.01 / spread
    return total


def sum_of_best(curves, epochs, scales):
    grid = [10.0 ** (1.0 + 2.0 * k / (scales - 1)) for k in range(scales)]
    return sum(max(log_likelihood(*curve(c, curves, epochs), scale) for scale in grid)
               for c in range(curves))


class MultiGpuTest(example.ExampleTest):
    def check(self, devices, curves, epochs, scales, **environment):
        """The rows of the times."""
        output = self.run_program("--devices", devices, "--curves", curves, "--epochs", epochs,
                                  "--scales", scales, "--repeats", 1,
                                  "--scaling", self.path("scaling.csv"), **environment)[0]
        found = self.number(output, "log-likelihood at the best scale of each curve, summed")
        self.assert_close(found, sum_of_best(curves, epochs, scales), 1e-10)
        rows = self.read_csv("scaling.csv")
        parts = devices.count(",") + 1
        self.assertEqual([int(row["devices"]) for row in rows],
                         [count for count in range(1, parts + 1) for _ in range(count)])
        for count in range(1, parts + 1):
            systems = [int(row["systems"]) for row in rows if int(row["devices"]) == count]
            self.assertEqual(sum(systems), curves * scales)
        return rows

    def sizes(self, rows, count):
        return [int(row["systems"]) for row in rows if int(row["devices"]) == count]

    def test_one_device(self):
        self.check("host", 11, 9, 4)
        self.check("host", 1, 1, 2)

    def test_parts_that_are_not_equal(self):
        rows = self.check("host,host,host", 11, 9, 4)
        self.assertEqual(self.sizes(rows, 2), [22, 22])
        self.assertEqual(sorted(self.sizes(rows, 3)), [14, 15, 15])
        self.check("host,host", 7, 30, 3, OMP_NUM_THREADS="1")

    def test_parts_by_weight(self):
        rows = self.check("host:3,host", 10, 12, 2)
        self.assertEqual(self.sizes(rows, 2), [15, 5])

    def test_more_devices_than_systems(self):
        rows = self.check("host,host,host,host,host", 1, 5, 2)
        self.assertEqual(sorted(self.sizes(rows, 5)), [0, 0, 0, 1, 1])

    def test_more_than_one_chunk(self):
        self.check("host,host", 60, 100, 8)

    def test_without_a_device_the_host_serves(self):
        output = self.run_program("--curves", 3, "--repeats", 1, OMP_TARGET_OFFLOAD="DISABLED")[0]
        self.assertRegex(output, r"\n1 .*  host: 24, ")

    def test_what_cannot_be_used_is_refused_in_a_sentence(self):
        for wrong in ("", "gpu", "host,", "host:0", "host:x", "-1", "0;1"):
            self.assert_says(f"--devices was '{wrong}', expected all, or", "--devices", wrong)
        self.assert_says("there is no device 98", "--devices", "98")
        self.assert_says("cannot write '", "--scaling", self.path("none/scaling.csv"))


if __name__ == "__main__":
    example.main()
