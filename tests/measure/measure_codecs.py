# SPDX-License-Identifier: GPL-2.0-or-later
"""VP9 SVC next to H.264 with the same levels, on the loopback: pictures, bits, the sender's processor time, and how long a
switch to a larger size takes. tests/bench/svc.c compares the encoders alone."""
from figures import SOURCE, Measurement

WATCHED = 2, 5, 8  # the levels of each size's full frame rate
SECONDS = 6
SWITCHES = 5


class Codecs(Measurement):
    def serve(self, codec):
        if codec == "vp9":
            return self.sender("--codec", "vp9", source=SOURCE)
        levels = [arg for width, height, rate, kbps in self.levels for arg in ("--level", f"{width}x{height}@{rate:g}:{kbps}")]
        return self.sender("--temporal-layers", "3", *levels, source=SOURCE)

    def measure_all_levels(self):
        """Viewers of each size at once, over udp; no level adapts."""
        for codec in "vp9", "h264":
            server = self.serve(codec)
            self.levels = server.levels()
            players = [self.player(server.url, "--transport", "udp", "--level", str(level), "--adapt", "none", "--duration",
                                   str(SECONDS)) for level in WATCHED]
            for p in players:
                self.assertEqual(p.wait(40), 0, str(p))
            reports = [p.report() for p in players]
            self.figure(f"{codec}: the sender's processor time a second", server.cpu_seconds() / SECONDS, unit="s")
            rates = [r["network"]["throughput"] / 1e3 for r in reports]
            for level, rate, r in zip(WATCHED, rates, reports):
                self.figure(f"{codec}: level {level}, SSIM", r["picture"]["ssim"], low=0.5)
                self.figure(f"{codec}: level {level}, rate", rate, unit="kbit/s")
                self.figure(f"{codec}: level {level}, viewer's processor time a second",
                            (r["cpu"]["user"] + r["cpu"]["system"]) / SECONDS, unit="s")
            self.figure(f"{codec}: all sizes together", rates[-1] if codec == "vp9" else sum(rates), unit="kbit/s")

    def measure_switches(self):
        self.levels = self.sender("--codec", "vp9", source=SOURCE).levels()
        for codec in "vp9", "h264":
            server = self.serve(codec)
            took = []
            for _ in range(SWITCHES):
                p = self.play(server.url, "--level", "2", "--adapt", "none", "--no-picture", "--at", "1:level=8",
                              "--duration", "2.5")
                took.append(min(e["shown"] for e in p.events("frame") if e.get("shown") and e["level"] == 8) - 1)
            self.figure(f"{codec}: request to the first picture of 4 times the width, mean of {SWITCHES}",
                        1e3 * sum(took) / len(took), unit="ms")
