# SPDX-License-Identifier: GPL-2.0-or-later
"""weir-send --push to servers that are not ours: ffmpeg -rtsp_flags listen, and GStreamer's with RECORD."""
import os
import re
import socket
import subprocess
import unittest

import lib
from record_server import RecordServer

FRAMES = 30
LEAST = 3  # of 60 that a busy machine encodes of 2 s
HERE = os.path.dirname(os.path.abspath(__file__))


def have_server():
    probe = "import gi; gi.require_version('GstRtspServer', '1.0'); from gi.repository import Gst, GstRtspServer; " \
            "Gst.init(None); assert all(map(Gst.ElementFactory.find, ('rtph264depay', 'rtpopusdepay', 'h264parse')))"
    return subprocess.run(["/usr/bin/python3", "-c", probe], stderr=subprocess.DEVNULL, timeout=60).returncode == 0


class Push(lib.Case):
    def push(self, url, *args, **options):
        return self.sender("--push", url, "--verbose", *args, **options)

    def says(self, p, pattern, seconds=10):
        return lib.until(lambda: re.search(pattern, p.stderr) or (not p.running() and "ended"), f"'{pattern}' of {p}", seconds)


class ToFfmpeg(Push):
    def listen(self, address, *args, seconds=2):
        """Starts ffmpeg as a server. Its port must be chosen before: one of an address of our own."""
        lib.need("ffmpeg", "ffprobe")
        self.url = f"rtsp://{address}:8554/live"
        self.film = self.path("film.mkv")
        return self.start(["ffmpeg", "-v", "verbose", "-nostdin", "-y", *args, "-rtsp_flags", "listen", "-i", self.url,
                           "-t", str(seconds), "-c", "copy", self.film])

    def recorded(self):
        """Returns {codec: number of packets} of the film, and the errors of decoding it."""
        out = subprocess.run(["ffprobe", "-v", "error", "-count_packets", "-show_entries", "stream=codec_name,nb_read_packets",
                              "-of", "csv=p=0", self.film], stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout
        errors = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", self.film, "-map", "0:v", "-f", "null", "-"],
                                stderr=subprocess.PIPE, text=True, check=True, timeout=60).stderr
        return {line.split(",")[0]: int(line.split(",")[1]) for line in out.split()}, errors

    def records(self, name, *args, audio="opus"):
        server = self.listen(lib.own_address(), *args)
        p = self.push(self.url, "--push-transport", name, "--push-audio", audio)
        self.says(p, "push: .* records over")
        self.assertEqual(server.wait(30), 0, str(server))
        streams, errors = self.recorded()
        self.assertGreater(streams["h264"], LEAST, str(server))
        self.assertGreater(streams[audio], 10, str(server))
        self.assertEqual(errors, "")
        return p

    def loudness(self):
        """Returns the mean volume of the film's audio in dB; decodes all of it without an error."""
        out = subprocess.run(["ffmpeg", "-nostdin", "-xerror", "-i", self.film, "-map", "0:a", "-af", "volumedetect", "-f",
                              "null", "-"], stderr=subprocess.PIPE, text=True, check=True, timeout=60).stderr
        return float(re.search("mean_volume: (.*) dB", out).group(1))

    def test_aac(self):
        """The sound as AAC, for servers without Opus: it decodes, as loud as that in Opus."""
        volumes = {}
        for audio in "opus", "aac":
            p = self.records("minbuf", audio=audio)
            self.stop_cleanly(p)  # else it could take the next server, which serves one
            volumes[audio] = self.loudness()
        self.assertGreater(volumes["opus"], -60)
        self.assertAlmostEqual(volumes["aac"], volumes["opus"], delta=3)

    def test_aac_over_udp(self):
        self.records("udp", "-rtsp_transport", "udp", audio="aac")

    def test_tcp(self):
        p = self.records("minbuf,udp")
        self.assertIn("records over minbuf", p.stderr)
        self.says(p, "next attempt in 1 s")  # ffmpeg has ended
        self.stop_cleanly(p)

    def test_plain_tcp(self):
        self.records("tcp")

    def test_udp(self):
        self.records("udp", "-rtsp_transport", "udp")

    def test_it_connects_again(self):
        """The push waits for a server that is not there yet, and comes back to one that begins anew."""
        address = lib.own_address()
        p = self.push(f"rtsp://{address}:8554/live")
        self.says(p, "no server answers there; next attempt in 2 s")
        for times in 1, 2:
            server = self.listen(address)
            lib.until(lambda: len(re.findall("records over minbuf", p.stderr)) >= times, f"the push, {times} times", 60)
            self.assertEqual(server.wait(30), 0, str(server))
            self.assertGreater(self.recorded()[0]["h264"], LEAST)

    def test_viewers_are_served(self):
        """A viewer watches while the stream is pushed, from the same encoders, and after the server has gone."""
        server = self.listen(lib.own_address())
        p = self.push(self.url)
        self.says(p, "records over minbuf")
        viewer = self.player(p.url)
        viewer.wait_shown(20)
        self.assertEqual(server.wait(30), 0, str(server))
        shown = len(viewer.shown())
        viewer.wait_shown(shown + 20)
        self.assertEqual(self.recorded()[1], "")

    @lib.long
    def test_a_film_with_b_frames(self):
        """Its own H.264 would pass, and its prepared file be used, but ffmpeg cannot record what comes out of order."""
        film = self.path("b.mkv")
        lib.film_of(film, "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25", "-t", "8", "-c:v", "libx264", "-preset",
                    "veryfast", "-bf", "3", "-b_strategy", "0", "-g", "50")
        for is_prepared in False, True:
            with self.subTest(prepared=is_prepared):
                if is_prepared:
                    subprocess.run([lib.SEND, "--prepare", "--level", "160x90@25:100", film], check=True, capture_output=True,
                                   timeout=60 * lib.PATIENCE)
                server = self.listen(lib.own_address())
                p = self.push(self.url, source=film)
                self.assertIn("its video is encoded again: --push requests", p.stderr)
                self.assertEqual(server.wait(30), 0, str(server))
                self.assertGreater(self.recorded()[0]["h264"], LEAST)
                self.stop_cleanly(p)
        with self.subTest("a camera"):
            os.remove(film + ".weir.mkv")
            camera = self.sender("--loop", source=film)
            server = self.listen(lib.own_address())
            p = self.push(self.url, source=camera.url + "?level=2")  # its own video, however slow the machine is
            self.assertIn("weir-send encodes its pictures: it sends B frames", p.stderr)
            self.assertEqual(server.wait(30), 0, str(server))
            self.assertGreater(self.recorded()[0]["h264"], LEAST)
            self.stop_cleanly(p)

    def test_a_prepared_film(self):
        """No encoder stands behind it whose rate could follow the network."""
        film = self.clip(seconds=2, size="320x180")
        subprocess.run([lib.SEND, "--prepare", "--level", "160x90@25:100", film], check=True, capture_output=True,
                       timeout=60 * lib.PATIENCE)
        p = self.start([lib.SEND, "--listen", "127.0.0.1:0", "--push", "rtsp://127.0.0.1:9/a", film + ".weir.mkv"])
        self.assertEqual(p.wait(20), 1, str(p))
        self.assertIn("--push conflicts with a prepared file", p.stderr)

    def test_the_media_ends(self):
        """At the end of a file the server gets TEARDOWN, and weir-send goes on."""
        clip = self.clip(seconds=3, size="320x240")
        server = self.listen(lib.own_address(), seconds=100)
        p = self.push(self.url, source=clip)
        self.says(p, "push: the media has ended", 20)
        self.assertEqual(server.wait(30), 0, str(server))
        self.assertGreater(self.recorded()[0]["h264"], LEAST)
        self.assertTrue(p.running())


@unittest.skipUnless(have_server(), "GStreamer's RTSP server for Python, or an element of it, is not installed")
class ToGstreamer(Push):
    def serve(self, *args):
        self.server_process = self.start(["/usr/bin/python3", os.path.join(HERE, "gst_server.py"), *args])
        found = lib.until(lambda: re.search(r"port (\d+)", self.server_process.stdout) or not self.server_process.running(),
                          "the server")
        self.assertNotEqual(found, True, str(self.server_process))
        return f"rtsp://127.0.0.1:{found.group(1)}/live"

    def got(self, medium):
        return len(re.findall(f"(?m)^{medium} ", self.server_process.stdout))

    def asked(self, what):
        return self.server_process.stdout.count(f"asked {what}\n")

    def test_transports(self):
        url = self.serve("--record", "opus")
        for times, name in enumerate(("minbuf", "tcp", "udp"), 1):
            with self.subTest(name):
                before = self.got("video"), self.got("audio")
                p = self.push(url, "--push-transport", name)
                lib.until(lambda: self.got("video") > before[0] + FRAMES and self.got("audio") > before[1] + 30,
                          f"media over {name} at {self.server_process}\n{p}", 20)
                self.stop_cleanly(p)
                lib.until(lambda: self.asked("teardown") == times, "TEARDOWN")

    def test_aac(self):
        """A server whose pipeline takes AAC only."""
        p = self.push(self.serve("--record", "aac"), "--push-audio", "aac")
        lib.until(lambda: self.got("video") > FRAMES and self.got("audio") > 30,
                  f"media at {self.server_process}\n{p}", 20)
        self.assertIn("audio in AAC", p.stderr)

    def test_encrypted(self):
        """To rtsps://: a wrong pin stops it; a key that is seen for the first time is stored."""
        state = self.path("state")
        self.sender("--state-dir", state).stop()  # makes a key and a certificate
        with open(self.path("both.pem"), "w") as both:
            for name in "tls-key.pem", "tls-cert.pem":
                with open(os.path.join(state, name)) as f:
                    both.write(f.read())
        url = self.serve("--record", "opus", "--tls", self.path("both.pem")).replace("rtsp://", "rtsps://")
        env = {"XDG_STATE_HOME": self.path("home")}
        p = self.push(f"{url}?pin=sha256:{'0' * 64}", env=env)
        self.says(p, "push: .*the URL's pin is")
        self.assertEqual(self.asked("announce"), 0)
        self.stop_cleanly(p)
        p = self.push(url, env=env)
        lib.until(lambda: self.got("video") > FRAMES and self.got("audio") > 30,
                  f"media at {self.server_process}\n{p}", 20)
        self.assertTrue(os.path.exists(self.path("home/weir/known_hosts")))
        self.stop_cleanly(p)

    def test_udp_after_a_refusal_of_tcp(self):
        p = self.push(self.serve("--record", "opus", "--udp"))
        lib.until(lambda: self.got("video") > FRAMES, f"media at {self.server_process}\n{p}", 20)
        self.assertIn("not minbuf: the server does not support it", p.stderr)
        self.assertIn("records over udp", p.stderr)

    def test_levels(self):
        """--push-level gives the size of a level; no other one is sent."""
        url = self.serve("--record", "opus")
        p = self.push(url, "--push-level", "1")
        lib.until(lambda: self.got("video") > FRAMES // 2, f"media at {self.server_process}", 20)
        p.stop()
        bad = self.start([lib.SEND, "--listen", "127.0.0.1:0", "--push", url, "--push-level", "31", lib.SOURCE])
        self.assertEqual(bad.wait(), 1, str(bad))
        self.assertRegex(bad.stderr, r"--push-level expects 0 to \d")

    def test_digest_and_basic(self):
        """The password is sent as the server asks for it, and appears in no message; it may be in a file."""
        for args in (), ("--basic",):
            with self.subTest(args):
                url = self.serve("--record", "opus", "--user", "joe:pa@ss", *args)
                line = self.path("url")
                with open(line, "w") as f:
                    f.write(url.replace("//", "//joe:pa%40ss@") + "\n")
                p = self.push("@" + line)
                lib.until(lambda: self.got("video") > 5, f"media at {self.server_process}\n{p}", 20)
                with open(f"/proc/{p.pid}/cmdline") as f:
                    self.assertNotIn("ss@", f.read())
                p.stop()
                self.assertNotRegex(p.stderr, "pa@ss|pa%40ss")
                wrong = self.push(url.replace("//", "//joe:wr0ng@"))
                self.says(wrong, "push: the server refuses ANNOUNCE: 401 .*wrong user name or password.*not tried again")
                self.assertNotIn("wr0ng", wrong.stderr)
                self.see(wrong.url)
                wrong.stop()
                without = self.push(url)
                self.says(without, "401 .*requires rtsp://USER:PASSWORD@.*not tried again")
                without.stop()

    def test_refusals(self):
        """A path that is not there may come; a server that only plays never takes a stream."""
        url = self.serve("--record", "opus")
        p = self.push(url + "/other")
        self.says(p, r"push: the server refuses ANNOUNCE: 404 Not Found \(no such path\); next attempt in 1 s")
        p.stop()
        p = self.push(self.serve())
        self.says(p, r"push: the server refuses ANNOUNCE: 405 .*it takes no streams\); not tried again")


class Audio(Push):
    @unittest.skipIf(lib.SLOW > 1, "sanitizers want to be loaded first themselves")
    def test_without_an_encoder_of_aac(self):
        """A push that needs AAC ends, once, and says why; viewers are served."""
        server = RecordServer(lib.own_address(), lambda *_: True)
        self.addCleanup(server.stop)
        server.ready.wait(10)
        p = self.push(server.url, "--push-audio", "aac", env={"LD_PRELOAD": self.preloaded("no_aac")})
        self.says(p, r"push: the audio would have to be AAC, but .*not tried again, viewers are still served")
        self.see(p.url, "--no-picture")
        self.assertNotIn("next attempt", p.stderr)
        self.assertEqual(p.stderr.count("not tried again"), 1)


class Repair(Push):
    def test_nack_over_udp(self):
        """Each 20th packet counts as lost and is requested, until one comes again: the same bytes."""
        lost, again = {}, []

        def on_packet(server, is_rtcp, data, now):
            seq = int.from_bytes(data[2:4], "big")
            if is_rtcp or again:
                return True
            if seq in lost:
                again.append((lost[seq], data))
            elif seq % 20 == 0:
                lost[seq] = data
                server.nack(seq)
                return False
            return True

        server = RecordServer(lib.own_address(), on_packet)
        self.addCleanup(server.stop)
        server.ready.wait(10)
        p = self.push(server.url, "--push-transport", "udp")
        self.says(p, "records over udp")
        lib.until(lambda: again, f"a packet to come again, of {len(lost)} that were requested of {p}", 30)
        self.assertEqual(again[0][1], again[0][0])
        self.stop_cleanly(p)


class Options(lib.Case):
    def test_what_conflicts(self):
        url = "rtsp://127.0.0.1/live"
        for args, text in (
                (("--push", "http://a/b"), "expects rtsp://"),
                (("--push", "rtsp://joe:pass@host"), "expects rtsp://"),
                (("--push", "@" + self.path("none")), "cannot read a URL"),
                (("--push", url, "--push-transport", "scream"), "no transport of plain RTP"),
                (("--push", url, "--push-transport", ""), "expects a list"),
                (("--push-transport", "tcp"), "--push-transport requires --push"),
                (("--push", url, "--push-audio", "opus,mp3"), "expects opus, aac or both"),
                (("--push-audio", "aac"), "--push-audio requires --push"),
                (("--push-level", "1"), "--push-level requires --push"),
                (("--push", url, "synthetic:greedy"), "conflicts with a synthetic source")):
            p = self.start([lib.SEND, *args])
            self.assertEqual(p.wait(), 2, str(p))
            self.assertIn(text, p.stderr)
            self.assertNotIn("joe:pass", p.stderr)
        os.mkdir(self.path("films"))
        p = self.start([lib.SEND, "--listen", "127.0.0.1:0", "--push", url, self.path("films")])
        self.assertEqual(p.wait(), 1, str(p))
        self.assertIn("--push conflicts with a folder", p.stderr)

    def test_a_name_that_does_not_exist(self):
        p = lib.Sender(self.folder, "--push", "rtsp://joe:sekret@does.not.exist.invalid/live", lib.SOURCE)
        self.processes.append(p)
        lib.until(lambda: "cannot find the host does.not.exist.invalid" in p.stderr, str(p), 30)
        self.assertNotIn("sekret", p.stderr)
        self.stop_cleanly(p)


if __name__ == "__main__":
    socket.setdefaulttimeout(60)
    lib.main()
