# SPDX-License-Identifier: GPL-2.0-or-later
"""A client's numbers reveal neither the numbers of other sessions nor the machine's identity."""
import re

import lib
from rtsp import Client

MASK, STEP = (1 << 64) - 1, 0x9E3779B97F4A7C15
DRAWS = 64


def mix(state):
    """Returns the output of SplitMix64 for a state."""
    z = state
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def unshift(z, by):
    result = z
    for _ in range(64 // by + 1):
        result = z ^ (result >> by)
    return result


def unmix(z):
    """Returns the state of an output: the generator is a permutation."""
    z = unshift(z, 31) * pow(0x94D049BB133111EB, -1, 1 << 64) & MASK
    z = unshift(z, 27) * pow(0xBF58476D1CE4E5B9, -1, 1 << 64) & MASK
    return unshift(z, 30)


class Ids(lib.Case):
    def watch(self, server):
        """Returns the numbers of a session: its id, SSRC and first sequence number."""
        c = Client(server.port)
        self.addCleanup(c.close)
        setup = c.request("SETUP", f"{c.url}/trackID=0", {"Transport": "RTP/AVP/TCP;unicast;interleaved=0-1"})
        play = c.request("PLAY")
        return (int(c.session, 16), int(re.search("ssrc=([0-9A-Fa-f]+)", setup.headers["transport"]).group(1), 16),
                int(re.search(r"seq=(\d+)", play.headers["rtp-info"]).group(1)))

    def test_one_session_tells_nothing_of_the_next(self):
        server = self.sender()
        own = self.watch(server)
        state = unmix(own[0])
        self.assertEqual(mix(state), own[0])
        draws = [mix((state + STEP * k) & MASK) for k in range(-DRAWS, DRAWS) if k]
        guessed = {half & 0xFFFFFFFF for d in draws for half in (d, d >> 32)}
        for _ in range(4):
            session, ssrc, _ = self.watch(server)
            self.assertFalse(session in draws, "the next session's id was computed from its own")
            self.assertFalse(ssrc in guessed, "its SSRC was")

    def describe(self, server):
        with Client(server.port) as c:
            return c.request("DESCRIBE", headers={"Accept": "application/sdp"}).body

    def test_the_description_does_not_name_the_machine(self):
        with open("/proc/sys/kernel/random/boot_id") as f:
            boot = f.read().strip()
        server = self.sender()
        first, second = self.describe(server), self.describe(server)
        for text in first, second:
            self.assertNotIn(boot, text)
            self.assertNotIn(boot.replace("-", ""), text)
        marks = [re.search(r"a=x-weir-clock:(\S+)", text).group(1) for text in (first, second)]
        self.assertRegex(marks[0], r"^[0-9a-f]{16}-[0-9a-f]{16}$")
        self.assertNotEqual(*marks)

    def test_a_player_on_the_machine_knows_all_the_same(self):
        server = self.sender()
        report = self.play(server.url, "--duration", "2").report()
        self.assertEqual(report["latency"]["clock"], "shared")


if __name__ == "__main__":
    lib.main()
