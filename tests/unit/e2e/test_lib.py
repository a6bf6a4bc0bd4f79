# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/e2e/lib.py: when a wait gives up, and what a test that fails prints of its programs."""
import io
import os
import signal
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "e2e"))
import lib  # noqa: E402


class Machine:
    """A clock, and what a test's programs wait for, second after second."""

    def __init__(self, *seconds):
        self.now, self.seconds = 0, seconds
        self.waits, self.disk = {}, False

    def clock(self):
        return self.now

    def held_up(self):
        return dict(self.waits), self.disk

    def ends_after(self, seconds):
        """Returns the seconds after which a deadline of this many is over. The threads of each second wait as `seconds` says,
        and go on as in the last one."""
        deadline = lib.Deadline(seconds / lib.PATIENCE_AT_WORK, self.clock, self.held_up)
        while not deadline.over():
            second = self.seconds[min(self.now, len(self.seconds) - 1)]
            self.disk = second == "disk"
            for thread, wait in {} if self.disk else second.items():
                self.waits[thread] = self.waits.get(thread, 0) + wait
            self.now += 1
        return self.now


class Events(unittest.TestCase):
    def test_a_trace_that_grows(self):
        """Each whole line once, whenever one looks; and those of a player that has begun again alone."""
        p = lib.Player.__new__(lib.Player)
        p.base, p.read, p.parsed = os.path.join(self.enterContext(lib.tempfile.TemporaryDirectory()), "play"), 0, []
        self.assertEqual(p.events(), [])

        def wrote(text, mode="a"):
            with open(p.base + ".jsonl", mode) as f:
                f.write(text)
            return [e["event"] for e in p.events()]

        self.assertEqual(wrote('{"event": "a"}\n{"eve'), ["a"])
        self.assertEqual(wrote('nt": "b", "t": 1}\n'), ["a", "b"])
        self.assertEqual(wrote(""), ["a", "b"])
        self.assertEqual(p.events("b"), [{"event": "b", "t": 1}])
        self.assertEqual(wrote('{"event": "c"}\n', "w"), ["c"])


class Deadlines(unittest.TestCase):
    def test_what_counts(self):
        for name, seconds, ends in (
                ("all sleep", [{}], 10),
                ("one works", [{"a": 0}], 10),
                ("one waits for a processor, half of the time", [{"a": 0.5}], 20),
                ("two wait at the same time", [{"a": 0.5, "b": 0.5}], 20),
                ("one waits, and then the other", [{"a": 0.5, "b": 0}, {"a": 0, "b": 0.5}], 20),
                ("one waits for three seconds, then all sleep", [{"a": 1}] * 3 + [{}], 13),
                ("one waits for its disk for three seconds", ["disk"] * 3 + [{}], 13),
                ("one waits without end", [{"a": 1}], 200),
                ("the kernel counts a long wait when it is over", [{}, {}, {"a": 3}, {}], 11)):
            with self.subTest(name):
                self.assertEqual(Machine(*seconds).ends_after(10), ends)

    def test_this_machine(self):
        """The kernel counts for threads of this process and of those below it."""
        p = lib.Process(["sh", "-c", "sleep 60 & wait"], self.enterContext(lib.tempfile.TemporaryDirectory()))
        self.addCleanup(p.stop)
        waits, _ = lib.until(lambda: len((found := lib.held_up())[0]) >= 3 and found, "three threads")
        self.assertIn(str(p.pid), waits)
        self.assertIn(str(os.getpid()), waits)

    def test_in_vain(self):
        with self.assertRaisesRegex(AssertionError, r"waited \d+ s in vain for nothing"):
            lib.until(lambda: False, "nothing", 0.2)


class Broken(lib.Case):
    """Tests that fail, and one that does not."""

    def shell(self, script):
        p = self.start(["sh", "-c", script])
        lib.until(lambda: "ready" in p.stdout or not p.running(), "the shell")
        return p

    def test_fails(self):
        self.shell("for i in $(seq 40); do echo line $i >&2; done; echo ready; exit 3").wait()
        p = self.shell("echo ready; kill -SEGV $$")
        self.assertEqual(p.wait(), -signal.SIGSEGV)
        self.shell("echo ready; exec sleep 60")
        self.assertEqual(1, 2)

    def test_fails_in_part(self):
        self.shell("echo ready; echo first >&2; exec sleep 60")
        with self.subTest("of two"):
            self.assertEqual(1, 2)

    def test_errs(self):
        self.shell("echo ready; echo erred >&2; exit 5").wait()
        raise KeyError("not found")

    def test_complains(self):
        self.shell("echo ready; echo file.c:1: runtime error: overflow >&2").wait()

    def test_passes(self):
        self.shell("echo ready; echo nothing of this >&2")


class Failures(unittest.TestCase):
    def run_it(self, name):
        out = io.StringIO()
        result = lib.runner(stream=out).run(Broken(name))
        return result.wasSuccessful(), out.getvalue()

    def test_every_program(self):
        well, out = self.run_it("test_fails")
        self.assertFalse(well)
        self.assertIn("AssertionError: 1 != 2", out)
        lines = "".join(f"        line {i}\n" for i in range(11, 41))
        self.assertIn(f"    exit code 3\n    the last lines of its stderr:\n{lines}    the last lines of its stdout:\n        ready\n", out)
        self.assertNotIn("line 10\n", out)
        self.assertIn("--- sh -c 'echo ready; kill -SEGV $$'\n    ended by SIGSEGV\n", out)
        self.assertIn("--- sh -c 'echo ready; exec sleep 60'\n    running\n", out)

    def test_whatever_failed(self):
        for name, what, state, line in (("test_fails_in_part", "1 != 2", "running", "first"),
                                        ("test_errs", "KeyError", "exit code 5", "erred"),
                                        ("test_complains", "AssertionError", "exit code 0", "file.c:1: runtime error: overflow")):
            with self.subTest(name):
                well, out = self.run_it(name)
                self.assertFalse(well)
                self.assertIn(what, out)
                self.assertIn(f"    {state}\n    the last lines of its stderr:\n        {line}\n", out)

    def test_only_a_failure(self):
        well, out = self.run_it("test_passes")
        self.assertTrue(well, out)
        self.assertNotIn("nothing of this", out)

    def test_only_its_own(self):
        """Programs of earlier tests are not shown."""
        self.run_it("test_errs")
        self.assertNotIn("erred", self.run_it("test_fails")[1])


def load_tests(loader, _tests, _pattern):
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in (Deadlines, Failures))


if __name__ == "__main__":
    unittest.main()
