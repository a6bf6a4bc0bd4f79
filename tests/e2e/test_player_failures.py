# SPDX-License-Identifier: GPL-2.0-or-later
"""What the player does when the server dies, the network stalls, the user leaves, or the stream is broken."""
import os
import random
import re
import signal
import socket
import struct
import subprocess

import lib
from rtsp import FakeServer, Recording, Rtp

SUMMARY = "playback"  # a line of the summary begins so


class Failures(lib.Case):
    def check_end(self, p, code, ended, seconds=30):
        """Checks that exit code, report, last event and summary agree on how the session ended."""
        self.assertEqual(p.wait(seconds), code, str(p))
        r = p.report()
        self.assertEqual((r["schema"], r["ended"]), ("weir.qoe/1", ended), str(p))
        self.assertEqual(p.events()[-1]["event"], "ended")
        self.assertEqual(p.events()[-1]["ended"], ended)
        # Nothing was set up: nothing to sum up, and the error stands alone.
        (self.assertIn if r["session"]["transport"] else self.assertNotIn)(SUMMARY, p.stdout)
        return r


class Ends(Failures):
    def test_server_is_killed(self):
        for transport in "minbuf", "udp":
            with self.subTest(transport):
                server = self.sender()
                p = self.player(server.url, "--transport", transport)
                p.wait_shown(20)
                server.popen.kill()
                r = self.check_end(p, 4, "server-lost")
                self.assertTrue(r["error"])
                self.assertIn(r["error"], p.stderr)
                self.assertGreater(r["playback"]["frames_played"], 0)

    def test_server_is_stopped(self):
        """BYE: buffered frames are still shown, then the session ends normally."""
        for transport in "minbuf", "tcp", "udp":
            with self.subTest(transport):
                server = self.sender()
                p = self.player(server.url, "--transport", transport)
                p.wait_shown(20)
                self.stop_cleanly(server)
                r = self.check_end(p, 0, "end-of-media")
                self.assertIsNone(r["error"])
                self.all_came(r)

    def test_a_film_breaks_off(self):
        """Where the server is stopped, or the file is truncated: that is not the end of the film."""
        film = self.clip("film.mp4", seconds=20, size="128x72")
        server = self.sender(source=film)
        p = self.player(server.url)
        p.wait_shown(50)
        self.stop_cleanly(server)
        self.assertIn("before the end of the film", self.check_end(p, 4, "server-lost")["error"])
        for name in "cut.mkv", "cut.mp4":
            with self.subTest(name):
                whole, cut = self.path("whole-" + name), self.path(name)
                subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", film, "-t", "6", "-c", "copy", "-movflags", "+faststart",
                                whole], check=True, timeout=60 * lib.PATIENCE)
                with open(whole, "rb") as f, open(cut, "wb") as to:
                    to.write(f.read(os.path.getsize(whole) // 2))
                server = self.sender(source=cut)
                p = self.player(server.url)
                r = self.check_end(p, 4, "server-lost", 40)
                self.assertRegex(r["error"], r"the film breaks off at [\d.]+ of 6.0 s: the file is truncated$")
                self.assertIn("the film breaks off at", server.stderr)

    def test_the_user_interrupts(self):
        server = self.sender("--verbose")
        for number, code in (signal.SIGINT, 130), (signal.SIGTERM, 130):
            p = self.player(server.url)
            p.wait_shown(5)
            p.signal(number)
            r = self.check_end(p, code, "interrupted", 5)
            self.all_came(r)
        lib.until(lambda: server.stderr.count("is gone") == 2, "the server to see them leave")

    def test_interrupt_before_the_first_picture(self):
        """A server that accepts and then sends nothing: the user does not have to wait for the timeout."""
        server = FakeServer("", lambda s: None, {"OPTIONS": b"", "DESCRIBE": b""})
        self.addCleanup(server.stop)
        p = self.player(server.url)
        lib.until(lambda: "DESCRIBE" in server.methods, "the player's request")
        p.signal(signal.SIGINT)
        r = self.check_end(p, 130, "interrupted", 5)
        self.assertIsNone(r["startup"]["time_to_first_frame"])

    def test_silent_server(self):
        server = FakeServer("", lambda s: None, {"OPTIONS": b"", "DESCRIBE": b""})
        self.addCleanup(server.stop)
        r = self.check_end(self.player(server.url), 3, "error")
        self.assertIn("does not answer DESCRIBE within 8 s", r["error"])


class Stalls(Failures):
    def test_the_network_stops_for_a_while(self):
        """The picture freezes, the freeze is counted, and playing continues."""
        stalls = []
        for transport in "minbuf", "udp":
            server = self.sender()
            stalls.append((transport, server, self.player(server.url, "--transport", transport)))
        for _, server, p in stalls:
            p.wait_shown(20)
        before = [len(p.events("rebuffer-end")) for _, _, p in stalls]
        for _, server, _ in stalls:
            server.signal(signal.SIGSTOP)
        for (_, _, p), since in zip(stalls, before):
            self.stall_lasts(p, since=since)
        for _, server, _ in stalls:
            server.signal(signal.SIGCONT)
        for transport, server, p in stalls:
            with self.subTest(transport):
                def goes_on(p=p):
                    ends = p.events("rebuffer-end")
                    return not p.running() or ends and any(e["shown"] > ends[-1]["t"] for e in p.shown())
                lib.until(goes_on, "pictures after the stall", 20)
                p.signal(signal.SIGTERM)
                r = self.check_end(p, 130, "interrupted")
                stall = r["rebuffering"]
                self.assertGreaterEqual(stall["count"], 1)
                self.assertEqual(len(stall["events"]), stall["count"])
                self.assertGreater(stall["total"], 1)
                self.assertAlmostEqual(stall["ratio"], stall["total"] / r["playback"]["wall"], delta=0.01)
                begins, ends = p.events("rebuffer-start"), p.events("rebuffer-end")
                self.assertEqual(len(begins), stall["count"])
                self.between(1, len(ends), stall["count"])  # it may stall at the end
                after = [e for e in p.shown() if e["shown"] > ends[-1]["t"]]
                self.assertTrue(after)
                self.assertTrue(server.running())

    def test_the_network_stops_for_good(self):
        """No data for seconds: the server counts as lost, although its connection is open."""
        server = self.sender()
        p = self.player(server.url, "--transport", "udp", "--timeout", "3")
        p.wait_shown(20)
        server.signal(signal.SIGSTOP)
        r = self.check_end(p, 4, "server-lost", 20)
        self.assertTrue(r["error"])

    @lib.long
    def test_a_pause_is_no_silence(self):
        server = self.sender()
        # A busy machine may be silent for some seconds itself.
        p = self.player(server.url, "--timeout", "4", "--no-picture", "--at", "2:pause", "--at", "10:go-on", "--duration", "12")
        self.check_end(p, 0, "duration")


class BrokenStreams(Failures):
    """A server that sends a real stream with faults."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        maker = lib.Case()
        maker.setUp()
        try:
            cls.recording = Recording(maker.sender(source="test:256x144@30").port, 2.5 * lib.SLOW, frames=60)
        finally:
            maker.doCleanups()

    def serve(self, packets, gap=0.004, raw=None, args=()):
        """Starts a player and streams the packets to it; then the server sends BYE."""
        def media(server):
            for data in packets:
                if raw:
                    server.send(raw(data))
                else:
                    server.packet(data)
                if not server.pause(gap):
                    return
            ssrc = Rtp(self.recording.packets[0]).ssrc
            server.packet(struct.pack("!BBHI", 0x80, 201, 1, ssrc) + struct.pack("!BBHI", 0x81, 203, 1, ssrc), 1)
            server.pause(20 * lib.PATIENCE)
        server = FakeServer(self.recording.sdp, media)
        self.addCleanup(server.stop)
        return self.player(server.url, "--transport", "tcp", *args)

    def mutated(self, change):
        """Returns the recording with each packet changed by change(random, its bytes, its fields)."""
        r = random.Random(change.__name__)
        return [change(r, data, Rtp(data)) for data in self.recording.packets]

    def test_broken_packets(self):
        """Whatever the faults of packets, the rest is played to the end."""
        r = random.Random(1)
        good = self.recording.packets

        def truncated(r, data, p):
            return data if r.random() > 0.2 else p.header + p.payload[:r.randrange(len(p.payload) + 1)]

        def flipped(r, data, p):
            payload = bytearray(p.payload)
            for _ in range(r.randrange(4)):
                payload[r.randrange(len(payload))] ^= 1 << r.randrange(8)
            return p.header + bytes(payload)

        def flipped_header(r, data, p):
            header = bytearray(p.header)
            if r.random() < 0.3:
                header[r.randrange(len(header))] ^= 1 << r.randrange(8)
            return bytes(header) + p.payload

        doubled = [p for p in good for _ in range(1 + (r.random() < 0.3))]
        for i in range(0, len(doubled) - 4, 4):
            doubled[i], doubled[i + 3] = doubled[i + 3], doubled[i]

        players = {
            "as recorded": self.serve(good),
            # Fragments without their beginning or end are among these.
            "lost": self.serve([p for i, p in enumerate(good) if i < 8 or r.random() > 0.1]),
            "without the beginning": self.serve(good[3:]),
            "truncated": self.serve(self.mutated(truncated)),
            "flipped bits": self.serve(self.mutated(flipped)),
            "flipped bits of headers": self.serve(self.mutated(flipped_header)),
            "repeated and reordered": self.serve(doubled),
            "garbage in between": self.serve([p for d in good for p in (d, r.randbytes(r.randrange(1500)))], 0.002),
        }
        reports = {}
        for name, p in players.items():
            with self.subTest(name):
                reports[name] = self.check_end(p, 0, "end-of-media", 40)
        whole = reports["as recorded"]
        self.all_came(whole)
        self.assertEqual(whole["network"]["packets_received"], len(good))
        for name in "as recorded", "lost", "repeated and reordered", "garbage in between":
            self.assertGreater(reports[name]["playback"]["frames_played"], 0, name)
        self.assertGreater(reports["lost"]["network"]["packets_lost"], 0)
        self.assertGreater(reports["lost"]["playback"]["frames_lost"], 0)
        self.assertTrue(players["lost"].events("loss"))

    def test_the_server_says_why(self):
        """It ends the session with a request, as after the loss of its own source: what came is shown, then that is the error."""
        text = b"origin: it was lost for 10 s: no server answers"
        teardown = b"TEARDOWN * RTSP/1.0\r\nCSeq: 1\r\nSession: 1\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s" % (
            len(text), text)

        def media(server):
            for data in self.recording.packets:
                server.packet(data)
                if not server.pause(0.004):
                    return
            server.send(teardown)
            server.pause(20 * lib.SLOW)
        server = FakeServer(self.recording.sdp, media)
        self.addCleanup(server.stop)
        p = self.player(server.url, "--transport", "tcp")
        r = self.check_end(p, 4, "server-lost", 40)
        self.assertIn(text.decode(), r["error"])
        self.all_came(r)

    def test_a_pause_behind_the_goodbye(self):
        """All media has arrived, and is not shown yet."""
        p = self.serve(self.recording.packets, 0.001, args=("--buffer", "0.25", "--at", "1.2:pause", "--at", "4.2:go-on"))
        self.check_end(p, 0, "end-of-media")
        shown = [e["shown"] for e in p.shown()]
        self.assertGreater(max(b - a for a, b in zip(shown, shown[1:])), 1.3)

    def test_a_seek_that_is_refused(self):
        """A seek during a pause, which continues: the player requests playing when the viewer resumes."""
        def media(server):
            for data in self.recording.packets:
                server.packet(data)
                if not server.pause(0.01):
                    return
            server.pause(20 * lib.PATIENCE)

        def play(server, head):
            return b"RTSP/1.0 457 No\r\nCSeq: @CSEQ@\r\n\r\n" if "npt=10." in head else None
        file = re.sub(r"a=range:\S+", "a=range:npt=0-60.000", self.recording.sdp)
        server = FakeServer(file, media, {"PLAY": play})
        self.addCleanup(server.stop)
        p = self.player(server.url, "--transport", "tcp", "--at", "0.3:pause", "--at", "0.6:seek=10", "--at", "0.9:go-on")
        lib.until(lambda: server.methods.count("PLAY") == 3 or not p.running(), "PLAY after the refusal")
        p.signal(signal.SIGTERM)
        self.check_end(p, 130, "interrupted")
        self.assertEqual([m for m in server.methods if m in ("PLAY", "PAUSE")], ["PLAY", "PAUSE", "PLAY", "PLAY"])

    def test_sound_before_its_answer(self):
        """Requests are pipelined, so audio datagrams may arrive before the response to their SETUP: they are no third party's."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as rtp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as rtcp:
            for s in rtp, rtcp:
                s.bind(("127.0.0.1", 0))
            ports = [s.getsockname()[1] for s in (rtp, rtcp)]

            def setup(server, head):
                first, second = map(int, re.search(r"client_port=(\d+)-(\d+)", head).groups())
                server.viewer = [("127.0.0.1", port) for port in (first, second)]
                server.transport = f"RTP/AVP/UDP;unicast;client_port={first}-{second};server_port={ports[0]}-{ports[1]}"
                if "trackID=1" in head.split("\r\n")[0]:
                    for seq in range(3):
                        rtp.sendto(struct.pack("!BBHII", 0x80, 98, seq, 960 * seq, 7) + bytes(20), server.viewer[0])
                    server.pause(0.2 * lib.SLOW)

            def media(server):
                for data in self.recording.packets:
                    rtp.sendto(data, server.viewer[0])
                    if not server.pause(0.004):
                        return
                ssrc = Rtp(self.recording.packets[0]).ssrc
                rtcp.sendto(struct.pack("!BBHI", 0x80, 201, 1, ssrc) + struct.pack("!BBHI", 0x81, 203, 1, ssrc), server.viewer[1])
                server.pause(20 * lib.PATIENCE)
            server = FakeServer(self.recording.sdp, media, {"SETUP": setup})
            self.addCleanup(server.stop)
            p = self.player(server.url, "--transport", "udp")
            self.check_end(p, 0, "end-of-media", 40)
        self.assertNotIn("of another stream", p.stderr)

    def test_garbage_on_the_connection(self):
        """Data that is not RTSP ends the session, because the start of the next message is unknown."""
        r = random.Random(8)
        good = self.recording.packets[:60]
        p = self.serve(good + [r.randbytes(5000) for _ in range(50)],
                       raw=lambda d: d if len(d) == 5000 else b"$\0" + struct.pack("!H", len(d)) + d)
        self.assertTrue(self.check_end(p, 4, "server-lost")["error"])

    def test_endless_answer(self):
        answer = b"RTSP/1.0 200 OK\r\nCSeq: @CSEQ@\r\nX: " + b"x" * 100000
        server = FakeServer("", lambda s: None, {"DESCRIBE": answer})
        self.addCleanup(server.stop)
        r = self.check_end(self.player(server.url), 3, "error")
        self.assertIn("a message larger than the limit", r["error"])

    def test_descriptions(self):
        """Damaged SDP is refused or played, without other effects."""
        r = random.Random(9)
        base = self.recording.sdp
        wild = [base.replace("H264", "H265"), base.replace("96", "97"), base.replace("x-weir-level", "x-other"),
                base[:len(base) // 2], base.replace("\r\n", "\n"), "v=0\r\n" * 2000,
                base.replace("30/1", "0/0"), base.replace("layers=2", "layers=99"),
                re.sub(r"(?m)(x-weir-source:test) \d+x\d+", r"\1 32x32", base), base.replace("rtp-hdrext:adu", "x")]
        for _ in range(8):
            text = list(base)
            for _ in range(6):
                text[r.randrange(len(text))] = chr(r.randrange(32, 127))
            wild.append("".join(text))
        servers = []
        for sdp in wild:
            def media(server):
                for data in self.recording.packets[:40]:
                    server.packet(data)
                server.pause(20 * lib.PATIENCE)
            server = FakeServer(sdp, media)
            self.addCleanup(server.stop)
            servers.append((sdp, self.player(server.url, "--transport", "tcp", "--duration", "0.5")))
        for sdp, p in servers:
            with self.subTest(sdp[:400]):
                self.assertIn(p.wait(), (0, 3), str(p))
                p.report()

    def test_nothing_that_can_be_decoded(self):
        """H.264 with damaged slices: after 10 s of media the player ends, and reports why."""
        def broken(i):
            data = self.recording.packets[i % len(self.recording.packets)]
            p = Rtp(data)
            kind = p.payload[0] & 31
            return p.header[:2] + struct.pack("!H", (Rtp(self.recording.packets[0]).seq + i) & 0xFFFF) + \
                struct.pack("!I", (i * 3000) & 0xFFFFFFFF) + p.header[8:] + \
                (p.payload[:2] + bytes(len(p.payload) - 2) if kind in (28, 1, 5) else p.payload[:1] + b"\0")
        def media(server):
            for i in range(10000):
                server.packet(broken(i))
                if not server.pause(0.02):
                    return
        server = FakeServer(self.recording.sdp, media)
        self.addCleanup(server.stop)
        p = self.player(server.url, "--transport", "tcp")
        r = self.check_end(p, 5, "error", 30)
        self.assertIn("decoded", r["error"])


if __name__ == "__main__":
    lib.main()
