# SPDX-License-Identifier: GPL-2.0-or-later
"""The network of the tests of mtp-raw, and the boxes that may stand in it.

    client - weir-link - router (masquerade, stateful firewall) - weir-link - server

The router drops UDP, admits new TCP connections to given ports only, and drops what its connection tracking calls
invalid. The server has no route to the client's network. Invalid packets are counted where they come through, where they
end up when they are not translated back (the router's own input), and in the connection tracking's statistics.
"""
import itertools
import json
import os
import subprocess
import sys
import tempfile
import unittest

import lib

sys.path.insert(0, lib.ROOT)

NUMBERS = itertools.count(1)  # for namespaces: those of a test go away at its end only
UNKNOWN = "Could not process rule"  # nft: the kernel has no such thing

RULES = """
table inet fw {
    counter c_inv {}
    counter c_inv_in {}
    counter c_udp {}
    chain f_forward { type filter hook forward priority 0; policy drop;
        ct state invalid counter name c_inv drop
        meta l4proto udp counter name c_udp drop
        ct state established,related accept
        iifname "{inside}" oifname "{outside}" tcp dport {ports} ct state new tcp flags & (fin|syn|rst|ack) == syn accept
    }
    chain f_input { type filter hook input priority 0;
        meta l4proto != ipv6-icmp ct state invalid counter name c_inv_in drop
    }
}
table ip nat {
    chain post { type nat hook postrouting priority srcnat;
        oifname "{outside}" masquerade
    }
}
table ip6 nat {
    chain post { type nat hook postrouting priority srcnat;
        oifname "{outside}" masquerade
    }
}
"""

# At the router, before its tracking: all reserved bits are cleared, as pf's scrub does. At the server: each segment
# leaves with one set, as the paper's mark would be.
CLEARED = """
table inet scrub {
    counter c_cleared {}
    chain pre { type filter hook prerouting priority -310;
        tcp reserved != 0 counter name c_cleared tcp reserved set 0
    }
}
"""
MARKED = """
table inet marked {
    chain out { type filter hook output priority 0;
        tcp sport {port} tcp reserved set 8
    }
}
"""
# Does anything come with a reserved bit?
WITNESS = """
table inet witness {
    counter c_reserved {}
    chain in { type filter hook input priority 0;
        tcp reserved != 0 counter name c_reserved
    }
}
"""

# The router answers SYNs itself, and asks the server once the client has answered: a cookie for a sequence number.
SYN_PROXY = """
table inet guard {
    counter c_syn {}
    chain pre { type filter hook prerouting priority raw;
        iifname "{inside}" tcp dport {port} tcp flags & (fin|syn|rst|ack) == syn counter name c_syn notrack
    }
    chain forward { type filter hook forward priority -1;
        iifname "{inside}" tcp dport {port} ct state { invalid, untracked } synproxy mss 1360 wscale 7 timestamp sack-perm
    }
}
"""

# A TCP of the router's own takes the client's connections to the port; it goes on by itself (a program of the test's).
# On its way there, one of `every` packets from the server is lost.
REDIRECT = """
table ip proxy {
    counter c_hole {}
    chain pre { type nat hook prerouting priority dstnat;
        iifname "{inside}" tcp dport {port} redirect to :{proxy}
    }
    chain lossy { type filter hook prerouting priority -310;
        iifname "{outside}" tcp sport {port} numgen inc mod {every} {last} counter name c_hole drop
    }
}
"""

# Errors, to see that they are noticed: one segment of fifty leaves with a wrong checksum; the router sees a small window
# where the server sees a large one.
WRONG_SUMS = """
table inet wrong {
    chain out { type filter hook output priority 0;
        tcp sport {port} tcp flags & syn == 0 numgen inc mod 50 0 @th,128,16 set 0x5eed
    }
}
"""
SMALL_WINDOW = """
table inet wrong {
    chain out { type filter hook output priority 0;
        tcp dport {port} tcp window set {window}
    }
}
"""
LARGE_WINDOW = """
table inet wrong {
    chain in { type filter hook prerouting priority 0;
        tcp dport {port} tcp window set 8192
    }
}
"""


def set_up(isolate):
    """For setUpModule: skips the module if the network cannot be created. isolate: lab/isolate.py."""
    lib.need("unshare", "nsenter", "nft")
    if not os.path.exists("/dev/net/tun"):
        raise unittest.SkipTest("there is no /dev/net/tun")
    if not isolate.isolated():
        raise unittest.SkipTest("namespaces are not allowed here")


class Network:
    """The three hosts. below_wrap: a box between router and server (renumber.py) makes the sequence numbers of port
    `renumber` wrap after so many bytes."""

    def __init__(self, case, loss, delay="5ms", ports="443", v6=False, renumber=None, below_wrap=0, with_sack=True):
        from lab.net import World
        self.folder = tempfile.mkdtemp(prefix="net-", dir=case.folder)
        sysctls = {"net/ipv6/conf/all/forwarding": "1"}
        self.world = world = World(self.folder, lib.BUILD, f"w{next(NUMBERS)}", sysctls)
        case.addCleanup(world.__exit__, None, None, None)
        for name in ("client", "router", "server"):
            world.add(name)
        text = f"delay={delay}" + (f",loss={loss}" if loss else "")
        six = [("--addr-a", f"fd00:{n}::1/64", "--addr-b", f"fd00:{n}::2/64") for n in (1, 2)]
        self.client, self.inside = world.link("inside", "client", "router", text, text, *six[0])
        world.route("client", "default", self.inside)
        if renumber:
            self.add_box(case, text, renumber, below_wrap, with_sack)
        else:
            _, self.server = world.link("outside", "router", "server", text, text, *six[1])
        if v6:
            self.run("client", "ip", "route", "add", "default", "via", "fd00:1::2")
            self.server = "[fd00:2::2]"
        # Probes that the tracking would forgive are what is tested against.
        for key, value in {"tcp_be_liberal": "0", "checksum": "1", "tcp_loose": "0"}.items():
            self.run("router", "sh", "-c", f"echo {value} > /proc/sys/net/netfilter/nf_conntrack_{key}")
        self.rules("router", RULES, ports=ports)

    def add_box(self, case, text, port, below_wrap, with_sack):
        from renumber import Renumber
        world = self.world
        world.add("box")
        outside, box = world.link("outside", "router", "box", text, text)
        near, self.server = world.subnet()
        names = world.names["box"], world.names["server"]
        self.box = Renumber(*names, (near, self.server), port, below_wrap, with_sack)
        case.addCleanup(self.box.stop)
        world.route("router", self.server, box)
        world.route("server", outside, near)

    def command(self, at, *argv):
        return ["nsenter", f"--net=/run/netns/{self.world.names[at]}", *argv]

    def run(self, at, *argv):
        return subprocess.run(self.command(at, *argv), check=True, capture_output=True, text=True).stdout

    def rules(self, at, text, **words):
        """Loads nft rules; skips the test if the kernel does not support them."""
        words = {"inside": "weir1-b", "outside": "weir2-a", **words}
        for word, value in words.items():
            text = text.replace("{" + word + "}", str(value))
        done = subprocess.run(self.command(at, "nft", "-f", "-"), input=text, text=True, capture_output=True)
        if UNKNOWN in done.stderr:
            raise unittest.SkipTest(f"nft cannot load the rules here: {done.stderr.strip()}")
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    def counters(self, at="router"):
        text = self.run(at, "nft", "-j", "list", "counters")
        found = {c["counter"]["name"]: c["counter"]["packets"] for c in json.loads(text)["nftables"] if "counter" in c}
        return {**found, "stat": self.statistic(at, "nf_conntrack", "invalid")}

    def statistic(self, at, table, name):
        """Returns the sum of a column of /proc/net/stat over all processors."""
        lines = self.run(at, "cat", f"/proc/net/stat/{table}").splitlines()
        column = lines[0].split().index(name)
        return sum(int(line.split()[column], 16) for line in lines[1:])

    def invalid(self):
        """In forwarding, in the router's input, in the tracking's own count."""
        c = self.counters()
        return c["c_inv"], c["c_inv_in"], c["stat"]
