# SPDX-License-Identifier: GPL-2.0-or-later
"""The CPU time of a session of 300 s in weir-sim."""
import importlib.util
import os
import resource
import tempfile

import lib
from figures import Measurement

spec = importlib.util.spec_from_file_location("sim_goddard", os.path.join(lib.ROOT, "tests", "sim", "test_goddard.py"))
sim = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sim)


class Sim(Measurement):
    def measure_processor(self):
        for via in sim.VIAS:
            with tempfile.TemporaryDirectory() as directory:
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                sim.stream(directory, "a", via)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            self.figure(f"weir-sim, 300 s of {via}: processor", spent, high=1, unit="s")
