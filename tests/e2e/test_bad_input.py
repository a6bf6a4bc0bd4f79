# SPDX-License-Identifier: GPL-2.0-or-later
"""Wrong options and broken files: the exit code gives the kind of error, the message the remedy."""
import os
import socket

import lib


class BadInput(lib.Case):
    def fails(self, argv, code, *words):
        p = self.start(argv)
        self.assertEqual(p.wait(20), code, str(p))
        for word in words:
            self.assertIn(word, p.stderr)
        self.assertLessEqual(len(p.stderr.splitlines()), 4, p.stderr)
        return p

    def send_fails(self, code, args, *words):
        return self.fails([lib.SEND, "--listen", "127.0.0.1:0", *args], code, "weir-send: ", *words)

    def play_fails(self, code, args, *words):
        return self.fails([lib.PLAY, "--headless", *args], code, "weir-play: ", *words)


class Sender(BadInput):
    def test_help_and_version(self):
        for option, word in ("--help", "SOURCE"), ("--version", "weir-send"):
            p = self.start([lib.SEND, option])
            self.assertEqual(p.wait(), 0)
            self.assertIn(word, p.stdout)
            self.assertEqual(p.stderr, "")

    def test_usage(self):
        self.send_fails(2, ["--nosuch"], "--nosuch", "--help")
        self.send_fails(2, ["test:", "test:"], "SOURCE 'test:' has no name")
        self.send_fails(2, ["--level"], "--level", "requires a value")
        for value in "640x360", "640x360@30", "639x360@30:900", "640x360@0:900", "640x360@30:1", "ax360@30:900":
            self.send_fails(2, ["--level", value], value)
        self.send_fails(2, ["--temporal-layers", "4"], "2 or 3")
        for value in "live", "/", "/live/", "/li ve", "/live?x", "/a//b", "/.live", "/a/../live":
            self.send_fails(2, ["--path", value], "/live")
        for value in "nowhere", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000", "::1:8554":
            self.fails([lib.SEND, "--listen", value], 2, "ADDR:PORT")
        for value in ("synthetic:", "synthetic:lazy", "synthetic:greedy:x", "synthetic:greedy:0", "synthetic:greedy:7",
                      "synthetic:greedy:2000001", "synthetic:greedy: 80", "synthetic:greedy:+80", "synthetic:greedy:"):
            self.send_fails(2, [value], "synthetic:greedy")
        self.send_fails(2, ["synthetic:layers:8"], "synthetic:layers:N,BYTES")
        for value in "synthetic:layers:9,1024", "synthetic:layers:8,15":
            self.send_fails(2, [value], "1 to 8 layers of 16 to 16384 bytes")

    def test_level_above_the_source(self):
        self.send_fails(1, ["--level", "640x360@30:900", "test:640x360@15"], "640x360", "15")

    def test_test_pictures(self):
        for name in "test:0x0@30", "test:641x360@30", "test:640x360@0", "test:640x360@1000", "test:abc", "test:640x360":
            with self.subTest(name):
                self.send_fails(2, [name], "expects test:WIDTHxHEIGHT@FPS", "sizes are even")

    def test_files(self):
        self.send_fails(1, [self.path("none.mp4")], "none.mp4", "No such file")
        text = self.path("text.mp4")
        with open(text, "w") as f:
            f.write("This is not a film.\n" * 500)
        self.send_fails(1, [text], "text.mp4", "not a readable video file")
        with open(self.path("empty.mp4"), "wb"):
            pass
        self.send_fails(1, [self.path("empty.mp4")], "empty.mp4")

    def test_names_that_are_no_files(self):
        for name, words in (("camera", "use camera:"), ("screen", "use screen:"), ("test", "use test:"),
                            ("/dev/video4711", "camera:/dev/video4711"), ("ftp://127.0.0.1/live", "such a URL cannot be a source")):
            with self.subTest(name):
                self.send_fails(1, [name], name.partition("//")[0].rstrip(":") + ": ", words)

    def test_what_cannot_be_prepared(self):
        for source in [], ["camera:"], ["synthetic:goddard"]:
            with self.subTest(source):
                self.send_fails(2, ["--prepare", *source], "--prepare requires FILE or FOLDER")
        self.send_fails(1, ["--prepare", self.path("none.mp4")], "none.mp4: No such file")
        self.send_fails(1, ["--prepare", self.path("film.mp4.weir.mkv")], "the file is prepared already")

    def test_audio_alone(self):
        lib.need("ffmpeg")
        sound = self.path("sound.wav")
        lib.film_of(sound, "-f", "lavfi", "-i", "sine=d=1")
        self.send_fails(1, [sound], "sound.wav", "no video")

    def test_broken_film(self):
        """A film with its second half overwritten plays as far as it is readable, and says that it broke off; the server
        continues."""
        clip = self.clip(seconds=3, size="320x180")
        size = os.path.getsize(clip)
        with open(clip, "r+b") as f:
            f.seek(size // 2)
            f.write(os.urandom(size // 2))
        server = self.sender(source=clip)
        p = self.play(server.url, code=4)
        self.assertGreater(p.report()["playback"]["frames_played"], 10)
        self.assertEqual(p.report()["ended"], "server-lost")
        self.stop_cleanly(server)

    def test_port_in_use(self):
        server = self.sender()
        self.fails([lib.SEND, "--listen", f"127.0.0.1:{server.port}", lib.SOURCE], 1, "cannot listen",
                   str(server.port), "in use", "--listen")

    def test_an_address_elsewhere(self):
        for option in "--listen", "--metrics":  # 192.0.2.0/24 is nobody's (RFC 5737)
            self.fails([lib.SEND, "--listen", "127.0.0.1:0", option, "192.0.2.1:8554", lib.SOURCE], 1,
                       f"192.0.2.1:8554: Cannot assign requested address; it is not this machine's: choose another with {option}")

    def test_statistics_cannot_be_written(self):
        self.send_fails(1, ["--stats", self.path("no/such/folder/s.jsonl")], "s.jsonl", "No such file")
        self.send_fails(1, ["--stats", self.folder], self.folder, "Is a directory")

    def test_full_disk_does_not_end_the_stream(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        server = self.sender("--stats", "/dev/full")
        p = self.player(server.url)
        lib.until(lambda: "cannot write stats" in server.stderr, "the error", 20)
        self.end_after(p, len(p.shown()) + 10)
        self.assertEqual(server.stderr.count("cannot write stats"), 1, server.stderr)


class Player(BadInput):
    def test_help_and_version(self):
        for option, word in ("--help", "--transport"), ("--version", "weir-play"):
            p = self.start([lib.PLAY, option])
            self.assertEqual(p.wait(), 0)
            self.assertIn(word, p.stdout)
            self.assertEqual(p.stderr, "")

    def test_usage(self):
        url = "rtsp://127.0.0.1:1/live"
        self.play_fails(2, [], "a URL is required", "rtsp://")
        self.play_fails(2, [url, url], "is a second one")
        self.play_fails(2, ["--nosuch", url], "--nosuch", "--help")
        self.play_fails(2, ["-x", url], "-x")
        self.play_fails(2, ["--transport", "smoke", url], "smoke", "tcp", "minbuf", "udp", "auto")
        self.play_fails(2, ["--transport", "minbuf:9", url], "minbuf")
        self.play_fails(2, ["--transport", "", url], "--transport")
        self.play_fails(2, ["--cc", "no;such", url], "--cc")
        for value in "x", "-1", "61", "nan", "":
            self.play_fails(2, ["--buffer", value, url], "--buffer", "0 to 60")
        for value in "0", "x", "1e99":
            self.play_fails(2, ["--duration", value, url], "--duration")
        for value in "x", "-1", "32":
            self.play_fails(2, ["--level", value, url], "--level", "0 to 31")
        self.play_fails(2, ["--snapshot", "picture.jpg", url], ".png")
        self.play_fails(2, ["--full-screen", url], "--headless")
        self.play_fails(2, ["--no-picture", "--reference", "x", url], "--reference")

    def test_urls(self):
        for url in "live", "ftp://127.0.0.1/live", "rtsp://", "rtsp:///live", "rtsp://127.0.0.1:0/live", \
                "rtsp://127.0.0.1:99999/live", "rtsp://[::1/live", "rtsp://a b/live", "rtsp://127.0.0.1/live?level=x":
            with self.subTest(url):
                self.play_fails(2, [url], "rtsp://[USER:PASSWORD@]HOST")

    def test_results_that_cannot_be_written(self):
        url = "rtsp://127.0.0.1:1/live"
        none = self.path("no/such/folder/file")
        for option, name in ("--report", none), ("--events", none), ("--snapshot", none + ".png"), \
                ("--contact-sheet", none + ".png"), ("--report", self.folder), ("--report", "/dev/full"):
            with self.subTest(option):
                self.play_fails(2, [option, name, url], option, name)
        self.play_fails(2, ["--reference", none, url], none)

    def test_nobody_listens(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
            p = self.player(f"rtsp://127.0.0.1:{port}/live")
            self.assertEqual(p.wait(), 3, str(p))
        self.assertRegex(p.stderr, r"127\.0\.0\.1|refused")
        report = p.report()
        self.assertEqual(report["ended"], "error")
        self.assertTrue(report["error"])
        self.assertIsNone(report["playback"]["wall"])
        self.assertEqual(p.events("ended")[-1]["event"], "ended")

    def test_no_such_host(self):
        # A name that no resolver has to ask anybody for.
        self.play_fails(3, ["rtsp://no..such.host/live"], "cannot find the host", "no..such.host")

    def test_server_refuses(self):
        server = self.sender()
        root = server.url[:-len("/live")]
        self.play_fails(3, [root + "/other"], "404", "/live")
        self.play_fails(3, ["--level", "31", server.url], "level")
        self.play_fails(3, ["--cc", "nosuch", server.url], "461", "nosuch", "cubic")
        self.stop_cleanly(server)

    def test_not_an_rtsp_server(self):
        """A server that closes the connection, and a server of another protocol."""
        for answer in b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x00" * 100:
            with self.subTest(answer), socket.create_server(("127.0.0.1", 0)) as s:
                p = self.player(f"rtsp://127.0.0.1:{s.getsockname()[1]}/live")
                s.settimeout(10 * lib.PATIENCE)
                connection, _ = s.accept()
                connection.recv(1000)
                connection.sendall(answer)
                connection.close()
                self.assertEqual(p.wait(), 3, str(p))
                self.assertEqual(p.report()["ended"], "error")


if __name__ == "__main__":
    lib.main()
