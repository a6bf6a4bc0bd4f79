# SPDX-License-Identifier: GPL-2.0-or-later
"""A Varnish cache with packaging/varnish/varnish.vcl, on a port and in a folder of its own."""
import json
import os
import re
import subprocess
import tempfile

import lib

VCL = os.path.join(lib.ROOT, "packaging", "varnish", "varnish.vcl")


def origin_of(sender):
    """Returns HOST:PORT of the HTTP server of a weir-send that was started with --http."""
    return lib.until(lambda: re.search(r" at http://([^/]+)/", sender.stderr), "the HTTP server").group(1)


class Varnish(lib.Process):
    """varnishd in front of the origin HOST:PORT; it has started when the constructor returns."""

    def __init__(self, folder, origin, *args, port=0, address="127.0.0.1"):
        self.work = tempfile.mkdtemp(prefix="varnish-", dir=folder)
        host, _, origin_port = origin.rpartition(":")
        with open(VCL) as f:
            text = f.read()
        text = re.sub(r'\.host = "[^"]*"', f'.host = "{host}"', text, count=1)
        text = re.sub(r'\.port = "[^"]*"', f'.port = "{origin_port}"', text, count=1)
        vcl = os.path.join(self.work, "test.vcl")
        with open(vcl, "w") as f:
            f.write(text)
        super().__init__(["varnishd", "-F", "-j", "none", "-n", self.work, "-f", vcl, "-a", f"{address}:{port}",
                          "-s", "malloc,256m", *args], folder)
        self.address, self.port = address, port or lib.until(self.listens_on, "varnishd", 30)
        lib.until(lambda: self.listens_on() or not self.running(), "varnishd", 30)
        if not self.running():
            raise AssertionError(f"varnishd did not start: {self}")
        self.at = f"{address}:{self.port}"
        self.base = f"http://{self.at}"

    def listens_on(self):
        """The port; None until the cache serves."""
        if not self.running():
            raise AssertionError(f"varnishd did not start: {self}")
        done = subprocess.run(["varnishadm", "-n", self.work, "debug.listen_address"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, timeout=30 * lib.PATIENCE)
        found = re.search(r"^a0 \S+ (\d+)$", done.stdout, re.M)
        return found and int(found.group(1))

    def child(self):
        """The process that serves; its parent starts another when it dies."""
        with open(f"/proc/{self.pid}/task/{self.pid}/children") as f:
            pids = f.read().split()
        return int(pids[0]) if pids else None

    def counters(self):
        """{name: value} of varnishstat."""
        done = subprocess.run(["varnishstat", "-n", self.work, "-j"], stdout=subprocess.PIPE, check=True, text=True,
                              timeout=30 * lib.PATIENCE)
        figures = json.loads(done.stdout)
        return {name: entry["value"] for name, entry in figures.get("counters", figures).items() if isinstance(entry, dict)}
