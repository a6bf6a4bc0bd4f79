# SPDX-License-Identifier: GPL-2.0-or-later
"""The third set of experiments that the paper plans (section 3.1) and does not print: what MIN_BUF costs, on a network
that is faster than the sender's CPU.

A veth pair without limit or delay; the sender has core 0, the receiver, which discards what comes, core 1. A veth hands
a packet over in the sender's time, so the kernel's part of receiving loads the sender's core, too. With "tso" the kernel
hands over segments of up to 64 KB as to a network card of today; without, single packets, as in 2002.
"""
import json
import os
import shutil
import sys

from lab import live
from lab.experiment import ROOT, Cell
from lab.experiments.minbuf_report import GIGABIT
from lab.run import Failed, program

SECONDS = 4


def cells(contenders):
    return [Cell(GIGABIT + suffix, {"tso": bool(suffix)}, True, tuple(contenders)) for suffix in ("", "-tso")]


def core_seconds(core):
    """Returns how long a core of the machine has been busy, interrupts included."""
    with open("/proc/stat", encoding="ascii") as f:
        fields = next(line for line in f if line.startswith(f"cpu{core} ")).split()[1:]
    user, nice, system, _idle, _iowait, irq, softirq = map(int, fields[:7])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def waits(pid):
    """Returns how often a process has waited for an event."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(next(line for line in f if line.startswith("voluntary_ctxt_switches")).split()[1])


def one(context):
    """Makes one run."""
    if os.cpu_count() < 2:
        raise Failed("the sender needs a core of its own: two cores are required")
    pin = shutil.which("taskset") or "/usr/bin/taskset"
    with context.world() as world:
        for name in ("s", "r"):
            world.add(name)
        address, _ = world.veth("s", "r", offload=context.cell.params["tso"])
        sender = world.start("s", [pin, "-c", "0", program(context.build, "weir-send"), "--insecure", "--listen",
                                   f"{address}:{live.RTSP_PORT}", "synthetic:greedy"], "send")
        url = sender.wait_line(r" at (rtsp://\S+)").group(1)
        process = world.start("r", [pin, "-c", "1", sys.executable, os.path.join(ROOT, "lab", "drain.py"), url,
                                    context.contender, str(SECONDS)], "drain")
        process.wait_line("begun")
        before = core_seconds(0), waits(sender.pid)
        if process.wait(SECONDS + 30) != 0:
            raise process.failed(f"ended with {process.code}")
        busy, waited = core_seconds(0) - before[0], waits(sender.pid) - before[1]
        got = json.loads(process.text().strip().splitlines()[-1])["bytes_ps"]
        sender.stop()
    gbit = got * SECONDS * 8 / 1e9
    return {"gigabit_bps": got * 8, "core_busy": busy / SECONDS, "core_s_per_gbit": busy / gbit,
            "waits_per_mbyte": waited / (got * SECONDS / 1e6)}
