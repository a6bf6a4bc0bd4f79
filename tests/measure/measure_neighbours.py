# SPDX-License-Identifier: GPL-2.0-or-later
"""The loss of picture quality of a viewer without losses, caused by a neighbour that loses packets or floods, on the loopback."""
import statistics

import flooder
import lib
import relay
from figures import Measurement

SECONDS = "12"
ALONE = 3  # runs without a neighbour
LOSS = 0.2


class Neighbours(Measurement):
    alone = None  # PSNR, measured once for all

    def clean(self, neighbour):
        """Returns the PSNR of a viewer over minbuf; neighbour(sender) starts a neighbour and returns a function that ends it."""
        sender = self.sender("--level", "640x360@30:600", source="test:640x360@30")
        viewer = self.player(sender.url, "--transport", "minbuf", "--adapt", "none", "--duration", SECONDS)
        end = neighbour(sender)
        self.assertEqual(viewer.wait(40), 0, str(viewer))
        end()
        sender.stop()
        return viewer.report()["picture"]["psnr_y"]

    def give_up(self, what, neighbour):
        cls = type(self)
        if cls.alone is None:
            cls.alone = statistics.median(self.clean(lambda sender: lambda: None) for _ in range(ALONE))
        self.figure(f"PSNR given up next to {what}", cls.alone - self.clean(neighbour), high=0.5, unit="dB")

    def lossy(self, transport):
        def neighbour(sender):
            r = relay.Relay(sender.port)
            r.loss_down = LOSS
            player = self.player(r.url, "--transport", transport, "--adapt", "none", "--duration", SECONDS)

            def end():
                player.wait(40)
                r.stop()
            return end
        self.give_up(f"{LOSS:.0%} loss, {transport}", neighbour)

    def flooding(self, what, packet):
        self.give_up(what, lambda sender: flooder.Flooder(sender.port, packet).stop)

    def measure_loss_over_udp(self):
        self.lossy("udp")

    def measure_loss_over_psp(self):
        self.lossy("psp")

    def measure_loss_over_tfrc(self):
        self.lossy("tfrc")

    def measure_loss_over_mtp(self):
        self.lossy("mtp")

    def measure_flood_of_pli(self):
        self.flooding("200 PLIs a second", flooder.pli)

    def measure_flood_of_nacks(self):
        self.flooding("200 NACKs a second of the newest packet", flooder.nack_newest)

    def measure_flood_of_large_nacks(self):
        self.flooding("200 NACKs a second of 170 packets", flooder.nack_all)
