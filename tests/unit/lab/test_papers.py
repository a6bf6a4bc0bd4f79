# SPDX-License-Identifier: GPL-2.0-or-later
"""Which contender of each experiment stands for which paper's protocol, and that it runs as that paper describes it."""
import re
import unittest

from lab import experiment, lab
from lab.experiments import arc, arc_report, goddard, goddard_real, goddard_report, layered, mtp_tcp, proxy, psp, tfrc, tfrc_report

# Experiments without an entry hold nothing against a paper.
STANDS = {
    "arc": {"reno": "Reno", "tfrc:selfclock,damp": "TFRC", "arc": "ARC", "arc:report=packet": "ARC"},
    "arc_real": {"reno": "Reno", "tfrc:selfclock,damp": "TFRC", "arc": "ARC", "arc:report=packet": "ARC"},
    "goddard": {"udp": "UDP", "tcp": "TCP Reno", "mtp:paper,queue=65536": "MTP"},
    "goddard_real": {"udp": "UDP", "tcp": "TCP Reno", "mtp:paper,queue=65536": "MTP"},
    "layered": {"tfrc:komssys,rounds": "TFRC of Komssys", "udp": "UDP", "reno": "Reno", "sack": "SACK", "rack": "FACK"},
    "minbuf": {"tcp": "standard TCP", "minbuf:1,0": "MIN_BUF(1,0)", "minbuf:1,3": "MIN_BUF(1,3)", "minbuf:2,0": "MIN_BUF(2,0)"},
    "mtp_tcp": {"mtp": "MTP", "reno:count": "Reno", "reno": "Reno"},
    "proxy": {"komssys": "the proxy of chapter 4", "komssys hosts=2003": "the same", "komssys-blocking": "the same"},
    "psp": {"SPACINGus": "PSA", "psp": "PSP with damping", "psp-plain": "PSP without damping", "beside: TCP": "TCP"},
    "psp_real": {"SPACINGus": "PSA", "psp": "PSP with damping", "psp-plain": "PSP without damping", "beside: TCP": "TCP"},
    "tfrc": {"tfrc:komssys/rounds": "TFRC of Komssys", "layers-komssys": "the same", "udp-bursts": "UDP", "udp": "the same",
             "layers-udp": "the same"},
}


def contenders_of(e):
    return {c for cell in e.cells for c in cell.contenders or e.contenders}


class Stands(unittest.TestCase):
    def test_who_stands_for_whom(self):
        for name in experiment.names():
            with self.subTest(name):
                found = {stand.contender: stand.protocol for stand in experiment.load(name).papers}
                expected = STANDS.get(name, {})
                self.assertEqual(list(found), list(expected))
                for contender, protocol in expected.items():
                    self.assertTrue(found[contender].startswith(protocol), found[contender])

    def test_they_run(self):
        for name in STANDS:
            for quick in (False, True):
                e = experiment.load(name, quick)
                every = contenders_of(e if not quick else experiment.load(name))
                for stand in e.papers:
                    with self.subTest(name, quick=quick, contender=stand.contender):
                        if not stand.contender.startswith("beside: "):
                            pattern = re.escape(stand.contender).replace("SPACING", r"\d+")
                            self.assertTrue(any(re.fullmatch(pattern, c) for c in every))

    def test_printed_values_stand_next_to_them(self):
        """A table or a goal with a paper's value takes no other contender."""
        self.assertEqual({row[1] for row in goddard_report.PUBLISHED}, set(STANDS["goddard"]))
        self.assertEqual(set(goddard_report.PAPERS), set(STANDS["goddard"]))
        self.assertEqual(set(tfrc_report.PUBLISHED_TCP), {"tfrc:komssys/rounds", "udp"})
        for contender in arc_report.ALL + arc_report.SWEEP:
            values = [arc_report.printed(cell, contender, key) for (cell, _), figures in arc_report.PRINTED.items() for key in figures]
            self.assertEqual(any(values), contender in STANDS["arc"], contender)


def keys_of(words, kind):
    """Returns the keys of the first group of this kind among weir-sim's WORDS, as {key: value}."""
    text = next(w for w in words if w.startswith(kind + ":"))
    return dict(part.partition("=")[::2] for part in text.partition(":")[2].split(","))


class AsThePaper(unittest.TestCase):
    def test_mtp_is_a_mode_of_the_tcp_beside_it(self):
        """Chung et al., II: NS's Reno, which acknowledges each packet, with a queue of 64 KB; neither NewReno nor RACK, byte
        counting, RFC 7661, an end of timeouts at 2 s, or ten packets at the start."""
        for cell in goddard.experiment(False, {}).cells:
            words = goddard.words_of(cell, goddard.PAPER_MTP)
            stream, transfers = keys_of(words, "stream"), keys_of(words, "reno")
            self.assertEqual(stream["via"], "mtp:paper/queue=65536")
            self.assertEqual((stream["astcp"], stream["tcp"], stream["delack"], transfers["delack"]), ("1", "reno", "0s", "0s"))
            for keys in (stream, transfers):  # weir-sim's defaults: 1 s, no timestamps, a window of two
                self.assertFalse({"minrto", "ts", "iw"} & set(keys))
            for contender in set(goddard.CONTENDERS) - {goddard.PAPER_MTP}:
                self.assertNotIn("astcp", keys_of(goddard.words_of(cell, contender), "stream"))
        self.assertIn(goddard.PAPER_MTP, goddard_real.CONTENDERS)
        for cell in goddard_real.experiment(False, {}).cells:  # whose twin has the programs' timeouts and ACKs
            self.assertNotIn("astcp", keys_of(goddard.words_of(cell, goddard.PAPER_MTP), "stream"))

    def test_goddards_tcp_has_an_endless_buffer(self):
        self.assertEqual(keys_of(goddard.words_of(goddard.experiment(False, {}).cells[0], "tcp"), "stream")["via"], "tcp")

    def test_mtp_tcp(self):
        self.assertEqual(mtp_tcp.KINDS["mtp"], "mtp:mode=strict")
        for kind in ("reno:count", "reno:ts", "reno"):
            self.assertIn("delack=0s", mtp_tcp.KINDS[kind])

    def test_tfrc_of_the_thesis(self):
        """Its parameters, and its loss events, by the rounds of the sender (3.5)."""
        self.assertEqual(tfrc.stream_words(tfrc_report.KOMSSYS, 8, 80), "datagram:cc=tfrc:komssys/rounds,rate=8mbit,size=1064B,stop=80s")
        self.assertEqual(tfrc.SESSIONS["layers-komssys"], tfrc_report.KOMSSYS)
        self.assertIn("tfrc:komssys,rounds", layered.STREAMS)
        for name in STANDS["proxy"]:
            words = proxy.CONTENDERS[name].proxy
            self.assertEqual(words[words.index("--backbone-transport") + 1], "tfrc:komssys,rounds")
            self.assertEqual(words[words.index("--queue") + 1], "fifo")
        for flavour, (sack, recovery) in {"reno": ("0", None), "sack": ("1", "0"), "rack": ("1", "1")}.items():
            found = layered.FLAVOURS[flavour]
            self.assertEqual((found["net/ipv4/tcp_sack"], found.get("net/ipv4/tcp_recovery")), (sack, recovery))

    def test_tfrc_of_arcs_paper(self):
        self.assertEqual(arc.group("tfrc:selfclock,damp", "n=1"), "datagram:cc=tfrc:selfclock/damp,n=1")
        self.assertEqual(arc.group("arc", "n=1"), "datagram:cc=arc,n=1")

    def test_psp_knows_its_link(self):
        for name in psp.ADAPTIVE:
            self.assertTrue(psp.adaptive(name, 2).startswith(f"datagram:n=2,cc={name}:link=100000000,max=100mbit"))


class Page(unittest.TestCase):
    def test_every_page_says_so(self):
        e = experiment.Experiment("x", "X", [], [], None, lambda rows, page: None, papers=(experiment.Stand("a", "Reno", "SACK"),))
        tables = []

        class Fake:
            heading = text = staticmethod(lambda text: None)
            table = staticmethod(lambda *args: tables.append(args))
            write = staticmethod(lambda: "/x/index.html")
            summary = staticmethod(lambda: None)
            missed = staticmethod(lambda: [])
        self.assertEqual(lab.show(e, [{}], Fake), [])
        self.assertEqual(tables[0][2], [["a", "Reno", "SACK"]])


if __name__ == "__main__":
    unittest.main()
