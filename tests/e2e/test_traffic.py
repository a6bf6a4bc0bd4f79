# SPDX-License-Identifier: GPL-2.0-or-later
"""Competing traffic over the loopback: flows of each kind transfer their data at their times, not earlier and not
more. Their throughput depends on the machine (tests/measure/measure_traffic.py)."""
import json
import os
import re
import socket
import time

import lib

TRAFFIC = os.path.join(lib.BUILD, "weir-traffic")


class Traffic(lib.Case):
    host = "127.0.0.1"

    def serve(self):
        p = self.start([TRAFFIC, "serve", "--listen", f"{self.host}:0"])
        found = lib.until(lambda: re.search(r"ready at (\S+):(\d+)\n", p.stderr) or not p.running(), "the server")
        self.assertNotEqual(found, True, str(p))
        self.port = int(found.group(2))
        return p

    def begin(self, *args):
        return self.start([TRAFFIC, "run", "--server", f"{self.host}:{self.port}", "--stats", self.path("stats"),
                           *args])

    def lines(self):
        try:
            with open(self.path("stats")) as f:
                return [json.loads(line) for line in f.read().split("\n")[:-1]]
        except FileNotFoundError:
            return []

    def run_traffic(self, *args):
        """Returns the lines of the seconds, and the last line."""
        p = self.begin(*args)
        self.assertEqual(p.wait(60), 0, str(p))
        *seconds, end = self.lines()
        self.assertEqual(end["event"], "end")
        return seconds, end


class Run(Traffic):
    def test_each_kind(self):
        server = self.serve()
        seconds, end = self.run_traffic(
            "--duration", "3", "elephants:n=2,cc=reno,stop=1", "mice:n=4,bytes=20000,start=1.5",
            "cbr:rate=3mbit,size=1000", "web:n=10,mean=20000,shape=1.5,off=0.1",
            "udp-pareto:n=5,rate=400kbit,on=0.1,off=0.2")
        elephants, mice, cbr, web, pareto = end["specs"]
        self.assertGreater(len(seconds), 0)
        times = [s["t"] for s in seconds] + [end["t"]]
        self.assertEqual(times, sorted(times))
        for k, s in enumerate(seconds, 1):
            self.assertGreaterEqual(s["t"], k)

        self.assertEqual(len(elephants["flows"]), 2)
        self.assertEqual(sum(elephants["flows"]), elephants["bytes"])
        for flow in elephants["flows"]:
            self.assertGreater(flow, 0)
        # Its stop is kept: in the last second there is nothing left of it.
        self.assertEqual((seconds[-1]["specs"][0]["active"], seconds[-1]["specs"][0]["bytes"]), (0, 0))

        self.assertGreater(mice["completed"], 0)
        self.between(mice["completed"] * 20000, mice["bytes"], (mice["completed"] + 4) * 20000)
        if seconds[0]["t"] <= 1.5:
            self.assertEqual(seconds[0]["specs"][1]["bytes"], 0)

        self.between(1, cbr["bytes"], 375e3 * end["t"] + 2000)
        self.assertEqual(seconds[0]["specs"][2]["active"], 1)
        self.between(1, pareto["bytes"], 5 * 50e3 * end["t"] + 5 * 2000)
        self.assertGreater(web["completed"], 0)
        for spec in elephants, mice, cbr, web, pareto:
            self.assertEqual(spec["failed"], 0, spec)
        self.stop_cleanly(server)

    def test_epoch_and_signal(self):
        self.serve()
        begun = time.monotonic()
        p = self.begin("--epoch", f"{begun + 1:.6f}", "cbr:rate=800kbit,start=0.2")
        lib.until(lambda: len(self.lines()) >= 2, "two seconds after the epoch", 30)
        now = time.monotonic()
        self.stop_cleanly(p)
        first, second, *_, end = self.lines()
        self.assertGreaterEqual(first["t"], 1)
        self.between(first["t"], second["t"], now - begun - 1 + 0.001)  # the epoch is the one that was asked for
        # One datagram of 1000 bytes each 10 ms from 0.2 s on.
        self.assertGreater(first["specs"][0]["bytes"], 0)
        self.assertLessEqual(first["specs"][0]["bytes"], 100e3 * (first["t"] - 0.2) + 2000)
        self.assertEqual(end["event"], "end")

    def test_a_seed_gives_the_same_objects(self):
        self.serve()
        # A pause takes 1 s at least: each flow gets one object, if its random beginning comes in time.
        flows = []
        for seed in "7", "7", "8":
            _, end = self.run_traffic("--seed", seed, "--duration", "0.9", "web:n=40,mean=9000,shape=3,off=3")
            flows.append(end["specs"][0]["flows"])
        both = [(a, b) for a, b in zip(flows[0], flows[1]) if a and b]
        self.assertGreater(len(both), 3)
        self.assertTrue(all(a == b for a, b in both), both)
        self.assertNotEqual(flows[1], flows[2])

    def test_no_server(self):
        self.serve()
        self.stop_cleanly(self.processes[-1])
        _, end = self.run_traffic("--duration", "1", "mice:n=2,bytes=100")
        (mice,) = end["specs"]
        self.between(2, mice["failed"], 2 * (10 * end["t"] + 1))  # a try each 100 ms at most, of each
        self.assertEqual((mice["completed"], mice["bytes"]), (0, 0))


class OverIpv6(Traffic):
    host = "[::1]"

    def test_each_kind(self):
        server = self.serve()
        _, end = self.run_traffic("--duration", "1", "elephants:cc=reno", "mice:bytes=20000", "cbr:rate=800kbit,size=500")
        for spec in end["specs"]:
            self.assertGreater(spec["bytes"], 0)
            self.assertEqual(spec["failed"], 0, spec)
        self.stop_cleanly(server)


class Strangers(Traffic):
    def ask(self, line):
        """Returns the server's data, or None after a reset."""
        with socket.create_connection((self.host, self.port), timeout=10 * lib.PATIENCE) as s:
            s.sendall(line)
            got = b""
            try:
                while chunk := s.recv(65536):
                    got += chunk
            except ConnectionResetError:
                return None
            return got

    def test_requests(self):
        server = self.serve()
        self.assertEqual(self.ask(b"GET 3\n"), b"\0\0\0")
        self.assertEqual(len(self.ask(b"GET 300000 reno\n")), 300000)
        for line in b"GET 3 nosuchcc\n", b"GET x\n", b"HEAD /\r\n\r\n", b"GET 3\nGET 3\n", b"G" * 4000:
            self.assertIsNone(self.ask(line), line)
        self.assertTrue(server.running())

    def test_datagrams_come_from_the_listened_address(self):
        self.serve()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.bind((self.host, 0))
            udp.settimeout(10 * lib.PATIENCE)
            with socket.create_connection((self.host, self.port)) as s:
                s.sendall(b"CBR %d 800000 700\n" % udp.getsockname()[1])
                for _ in range(3):
                    data, source = udp.recvfrom(2000)
                    self.assertEqual((len(data), source), (700, (self.host, self.port)))
            udp.settimeout(0.3)  # the connection has ended, and the datagrams with it
            with self.assertRaises(TimeoutError):
                while True:
                    udp.recv(2000)


class WrongUsage(Traffic):
    def fails(self, code, args, *words):
        p = self.start([TRAFFIC, *args])
        self.assertEqual(p.wait(), code, str(p))
        for word in ("weir-traffic: ", *words):
            self.assertIn(word, p.stderr)

    def test_usage(self):
        server = ["run", "--server", "127.0.0.1:9"]
        self.fails(2, [], "serve or run")
        self.fails(2, ["walk"], "walk")
        self.fails(2, ["serve"], "--listen")
        self.fails(2, ["serve", "--listen", "localhost:1"], "ADDR:PORT")
        self.fails(2, ["serve", "--listen", "127.0.0.1:0", "mice"], "mice")
        self.fails(2, ["run", "mice:bytes=1"], "--server")
        self.fails(2, ["run", "--server", "127.0.0.1:0", "mice:bytes=1"], "ADDR:PORT")
        self.fails(2, server, "SPEC")
        self.fails(2, [*server, "--nosuch"], "--nosuch")
        self.fails(2, [*server, "--duration"], "requires a value")
        self.fails(2, [*server, "--duration", "x", "elephants"], "--duration")
        self.fails(2, [*server, "lions:n=1"], "elephants:")
        self.fails(2, [*server, "mice:n=4"], "bytes=")
        self.fails(2, [*server, *["elephants:n=1000"] * 5], "4096")
        self.fails(2, [*server, *["elephants"] * 33], "32")

    def test_what_this_machine_cannot_do(self):
        self.fails(1, ["run", "--server", "127.0.0.1:9", "elephants:cc=nosuchcc"], "nosuchcc", "reno")
        self.fails(1, ["run", "--server", "127.0.0.1:9", "--stats", self.folder, "elephants"], self.folder)
        server = self.serve()
        self.fails(1, ["serve", "--listen", f"127.0.0.1:{self.port}"], "Address already in use")
        self.stop_cleanly(server)


if __name__ == "__main__":
    lib.main()
