#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""examples/mpi_kriging does what vecchia_kriging does, whatever the number of processes: the same
table, map and predictions, byte for byte. test_mpi_kriging.py MPI_KRIGING MPIRUN VECCHIA_KRIGING"""

import itertools
import math
import sys

import example
from example import random_uniform

MPIRUN, ALONE = sys.argv[2:4]
del sys.argv[2:4]


class MpiKrigingTest(example.ExampleTest):
    def write(self, count, twins=False):
        """Hills with noise; twins: airports so near each other that blocks are singular."""
        with open(self.path("airports.csv"), "w", encoding="ascii") as file:
            file.write("icao,latitude_deg,longitude_deg,elevation_m\n")
            for i in range(count):
                u = [random_uniform(1, 3 * i + k) for k in range(3)]
                latitude, longitude = 43 + 6 * u[0], 5 + 10 * u[1]
                if twins:
                    latitude, longitude = 10 + i % 10 * 1e-9, 20 + i * 1e-8
                height = 800 + 300 * math.sin(1.3 * latitude) * math.cos(0.9 * longitude)
                file.write(f"T{i},{latitude:.9f},{longitude:.9f},{height + 80 * u[2]:.2f}\n")

    def run_with(self, processes, *options, status=0):
        """Everything that does not tell of time and place; processes: 0 for the program alone."""
        self.program = [ALONE]
        if processes > 0:
            self.program = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "--timeout",
                            "100", "-n", str(processes),
                            sys.argv[1]]
        output, errors = self.run_program(
            "--device", "host", "--grid", "36x18", "--data", self.path("airports.csv"), "--output",
            self.path("map.png"), "--predictions", self.path("predictions.csv"), *options,
            status=status, OMP_NUM_THREADS="1")
        if status != 0:
            return output, errors
        lines = output.splitlines()
        if processes > 0:
            self.assertEqual(lines.pop(0), f"processes      {processes}")
        table = list(itertools.takewhile(lambda line: not line.startswith("time "), lines))
        files = []
        for name in ("map.png", "predictions.csv"):
            with open(self.path(name), "rb") as file:
                files.append(file.read())
        return table, errors.replace("mpi_kriging:", "vecchia_kriging:"), files

    def check(self, processes, *options):
        want = self.run_with(0, *options)
        self.assertGreater(len(want[0]), 15)
        for count in processes:
            self.assertEqual(self.run_with(count, *options), want, count)
        return want

    def test_any_number_of_processes_does_the_same(self):
        self.write(400)
        self.check((1, 2, 3), "--smoothness", 0.5)

    def test_more_batches_than_processes(self):
        self.write(2500)
        self.check((2,), "--neighbours", 64, "--smoothness", 0.5, "--evaluations", 2)

    def test_more_processes_than_work(self):
        self.write(30)
        self.check((3,), "--smoothness", 1.5)

    def test_what_failed_is_counted_once(self):
        self.write(60, twins=True)
        errors = self.check((2,), "--nugget", 0, "--smoothness", 2.5)[1]
        self.assertRegex(errors, "met [1-9][0-9]* blocks that were not positive definite")

    def test_a_failure_ends_all(self):
        output, errors = self.run_with(2, "--neighbours", 0, status=2)
        self.assertEqual(errors.count("mpi_kriging: --neighbours was '0', expected"), 1, errors)
        self.assertIn("cannot open", self.run_with(2, "--data", "/none", status=2)[1])


if __name__ == "__main__":
    example.main()
