# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a program isolated: with private mounts, network and process ids that vanish with it.

enter() runs this program again inside `unshare`, as process 1 of a new pid namespace. However it ends, the kernel then
ends every process below it; the network namespaces, links and mounts vanish with the last of them.
/run/netns is a private tmpfs, so namespaces can have plain names without collisions.
"""
import ctypes
import os
import shutil
import signal
import subprocess
import sys

MARK = "WEIR_LAB_ISOLATED"
NETNS_DIR = "/run/netns"
PR_SET_PDEATHSIG = 1


class NotPossible(Exception):
    """The system does not permit this user to create namespaces."""


def isolated():
    return os.environ.get(MARK) == "1"


def die_with_parent():
    """For preexec_fn: the child is killed when its parent dies, even by SIGKILL."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def command(argv):
    """The command line that runs argv isolated."""
    args = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.geteuid() != 0:
        args += ["--user", "--map-root-user"]
    return args + argv


def enter(argv):
    """Runs argv isolated and returns its exit code. The isolated program must call prepare() first."""
    for tool in ("unshare", "nsenter", "ip"):
        if not shutil.which(tool):
            raise NotPossible(f"{tool} is not installed (Debian: util-linux, iproute2)")
    if subprocess.run(command(["true"]), stderr=subprocess.DEVNULL).returncode != 0:
        raise NotPossible("namespaces are not permitted: run as root, or allow unprivileged user namespaces")
    child = subprocess.Popen(command(argv), env={**os.environ, MARK: "1"}, preexec_fn=die_with_parent)

    # unshare ignores SIGTERM while it waits; killing it kills the processes inside (--kill-child). Only the wait below
    # reaps it: a second wait within the handler would block on the lock of the first.
    ended_by = []

    def end(number, _frame):
        ended_by.append(number)
        os.kill(child.pid, signal.SIGKILL)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGHUP, end)
    while True:
        try:
            code = child.wait()
            return 128 + ended_by[0] if ended_by else code if code >= 0 else 128 - code
        except KeyboardInterrupt:
            continue  # the terminal also signalled the isolated program, which cleans up and ends


def prepare():
    """Called in the isolated program: mounts a private, empty /run/netns, and sets the loopback up."""
    target = NETNS_DIR
    if not os.path.isdir(NETNS_DIR):
        try:
            os.mkdir(NETNS_DIR)
        except OSError:
            target = "/run"  # an ordinary user cannot make the folder there: hide all of /run
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "none", target], check=True)
    os.makedirs(NETNS_DIR, exist_ok=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
