# SPDX-License-Identifier: GPL-2.0-or-later
"""What clients publish to weir-send by RTSP (ANNOUNCE, RECORD): ffmpeg, weir-send --push, and clients that lie. Pictures are
told apart by their numbers."""
import socket
import time

import lib
import numbered
import rtsp
from test_access import PASSWORD, Access

TCP = "RTP/AVP/TCP;unicast;interleaved=0-1;mode=record"
SDP = ["v=0", "o=- 0 0 IN IP4 127.0.0.1", "s=x", "c=IN IP4 127.0.0.1", "t=0 0", "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000",
       "a=fmtp:96 packetization-mode=1", "a=control:streamid=0"]


def sdp(*lines):
    return "\r\n".join([*(lines or SDP), ""])


class Publish(Access):
    def offer(self, *paths, **options):
        """weir-send with the paths of --publish."""
        args = [a for path in paths[:-1] for a in ("--publish", path)]
        return self.sender("--state-dir", self.state, *args, "--publish", source=paths[-1], **options)

    def film(self, name="film.mkv", count=1000):
        return numbered.film(self.path(name), count, count // numbered.FPS)

    def ffmpeg(self, film, url, transport="tcp", *args):
        """Publishes a film at its pace; its sound in the codec of `args`."""
        return self.start(["ffmpeg", "-v", "error", "-nostdin", "-re", "-i", film, "-c:v", "copy", *(args or ("-an",)), "-f",
                           "rtsp", "-rtsp_transport", transport, url])

    def listing(self, server):
        with rtsp.Client(server.port) as client:
            body = client.request("DESCRIBE", f"rtsp://127.0.0.1:{server.port}/").body
        return {line.split("\t")[0]: line.split("\t")[1] for line in body.splitlines()}

    def becomes(self, server, path, state):
        lib.until(lambda: self.listing(server).get(path) == state, f"{path} is {state}", 60)

    def describe_status(self, server, path):
        with rtsp.Client(server.port) as client:
            return client.request("DESCRIBE", f"rtsp://127.0.0.1:{server.port}{path}")

    def client(self, server, path="/cam"):
        client = rtsp.Client(server.port)
        self.addCleanup(client.close)
        client.url = f"rtsp://127.0.0.1:{server.port}{path}"
        return client

    def announce(self, client, text=None, kind="application/sdp"):
        return client.request("ANNOUNCE", None, {"Content-Type": kind}, sdp() if text is None else text)

    def records(self, client):
        """Publishes without media."""
        self.assertEqual(self.announce(client).status, 200)
        self.assertEqual(client.request("SETUP", client.url + "/streamid=0", {"Transport": TCP}).status, 200)
        return client.request("RECORD", None, {"Range": "npt=0.000-"})


class Ffmpeg(Publish):
    def check(self, transport, *audio):
        film = self.film()
        server = self.offer("/cam")
        url = f"rtsp://127.0.0.1:{server.port}/cam"
        away = self.describe_status(server, "/cam")
        self.assertEqual((away.status, "no client publishes" in away.body), (404, True), away)
        self.assertEqual(self.listing(server), {"/cam": "away"})
        publisher = self.ffmpeg(film, url, transport, *audio)
        self.becomes(server, "/cam", "live")
        path = self.path("recorded.mkv")
        player = self.player(url, "--record", path, "--latency", "500", "--transport", "tcp")
        player.wait_shown(100, 90)
        self.interrupt(player)
        shown = [n for _, n in numbered.numbers(path)]
        self.assertNotIn(-1, shown)
        self.assertEqual(shown, sorted(set(shown)))
        if transport == "tcp":
            dropped = player.report()["causes"]["by_root"]["sender"]
            self.assertLessEqual(shown[-1] - shown[0] + 1 - len(shown), dropped, str(player))
        if audio:
            self.assertGreater(len(numbered.beeps(path)), 1)
        publisher.stop()
        self.becomes(server, "/cam", "away")
        self.assertEqual(self.describe_status(server, "/cam").status, 404)
        self.stop_cleanly(server)

    def test_tcp(self):
        self.check("tcp", "-c:a", "copy")  # AAC

    def test_udp(self):
        self.check("udp", "-c:a", "libopus")

    def test_g711(self):
        self.check("tcp", "-c:a", "pcm_mulaw", "-ar", "8000", "-ac", "1")

    def test_ffprobe(self):
        lib.need("ffprobe")
        server = self.offer("/cam")
        url = f"rtsp://127.0.0.1:{server.port}/cam"
        self.ffmpeg(self.film(), url)
        self.becomes(server, "/cam", "live")
        out = numbered.run("ffprobe", "-v", "error", "-rtsp_transport", "tcp", "-show_entries", "stream=codec_name,width", "-of",
                           "csv=p=0", url)
        self.assertEqual(out.decode().split(), ["h264,192"])

    def test_end_of_the_media(self):
        """TEARDOWN ends the viewers' media, without a fault."""
        server = self.offer("/cam")
        url = f"rtsp://127.0.0.1:{server.port}/cam"
        publisher = self.ffmpeg(self.film(count=300), url)
        self.becomes(server, "/cam", "live")
        player = self.player(url)
        player.wait_shown(1, 60)
        self.assertEqual(publisher.wait(60), 0, str(publisher))
        self.assertEqual(player.wait(60), 0, str(player))

    def test_killed_often(self):
        """Each path is free again at once, and viewers find the next client's pictures."""
        film = self.film(count=250)
        server = self.offer("/cam", "/cams/*")
        for i in range(20):
            path = "/cam" if i % 2 else "/cams/a"
            publisher = self.ffmpeg(film, f"rtsp://127.0.0.1:{server.port}{path}", "udp" if i % 4 > 1 else "tcp")
            self.becomes(server, path, "live")
            if i % 5 == 4:
                self.see(f"rtsp://127.0.0.1:{server.port}{path}", frames=5)
            publisher.signal(9)
            publisher.wait()
            self.becomes(server, path, "away" if i % 2 else None)
        self.assertEqual(self.listing(server), {"/cam": "away"})
        self.stop_cleanly(server)


class Weir(Publish):
    def test_push(self):
        server = self.offer("/cams/*")
        self.assertEqual(self.listing(server), {})
        for transport in "tcp", "udp":
            url = f"rtsp://127.0.0.1:{server.port}/cams/{transport}"
            pusher = self.sender("--push", url, "--push-transport", transport, source="test:320x180@25")
            self.becomes(server, f"/cams/{transport}", "live")
            self.see(url, frames=30)
            self.stop_cleanly(pusher)
            self.becomes(server, f"/cams/{transport}", None)
        self.stop_cleanly(server)

    def test_other_sources_go_on(self):
        """A client that sends too much, then one without media, next to a source that is watched."""
        server = self.sender("--state-dir", self.state, "--publish", "/cam", source="pic=test:320x180@25")
        player = self.player(f"rtsp://127.0.0.1:{server.port}/pic")
        player.wait_shown(1, 60)
        client = self.client(server)
        self.assertEqual(self.records(client).status, 200)
        packet = b"$\0\0\x10\x80\x60\0\0\0\0\0\0\0\0\0\1\x41\0\0\0"
        try:
            for _ in range(1000):
                client.send(packet * 1000)
        except OSError:
            pass
        lib.until(lambda: "more than 30000 packets a second" in server.stderr, "the limit", 60)
        self.becomes(server, "/cam", "away")
        shown = len(player.shown())
        player.wait_shown(shown + 25, 60)
        self.interrupt(player)


class TakeOver(Publish):
    """--take-over: a second client replaces the first."""

    def take_over(self):
        return self.sender("--state-dir", self.state, "--take-over", "--publish", "/cam", "--publish", source="/cams/*")

    def test_viewers_go_on(self):
        server = self.take_over()
        film, url = self.film(count=3000), f"rtsp://127.0.0.1:{server.port}/cam"
        first = self.ffmpeg(film, url)
        self.becomes(server, "/cam", "live")
        viewer = self.player(url, "--no-reconnect", "--no-picture")
        viewer.wait_shown(10)
        for i, transport in enumerate(("udp", "tcp"), 1):
            second = self.ffmpeg(film, url, transport)
            first.wait(60)
            lib.until(lambda: server.stderr.count("another client publishes to the path now") >= 2 * i, "the reason", 60)
            viewer.wait_shown(len(viewer.shown()) + 20)
            first = second
        self.assertTrue(viewer.running())
        self.assertEqual(self.listing(server)["/cam"], "live")
        self.stop_cleanly(server)

    def test_in_turn(self):
        """The first goes on until the second sends, and gets the reason then. One that only announces replaces no other."""
        server = self.take_over()
        for path in "/cam", "/cams/a":
            first, second, third = (self.client(server, path) for _ in range(3))
            self.assertEqual(self.records(first).status, 200)
            self.assertEqual(self.announce(second).status, 200)
            self.assertEqual(self.announce(third).status, 200)
            third.close()
            self.assertEqual(first.request("GET_PARAMETER").status, 200)
            second.request("SETUP", second.url + "/streamid=0", {"Transport": TCP})
            self.assertEqual(second.request("RECORD").status, 200)
            self.assertIn(b"another client publishes to the path now", self.rest(first))
            second.close()
            again = self.client(server, path)
            lib.until(lambda: self.announce(again).status == 200, "a free path")
            again.close()
        lib.until(lambda: "/cams/a" not in self.listing(server), "no path")
        self.stop_cleanly(server)

    def rest(self, client):
        got = b""
        try:
            while data := client.socket.recv(65536):
                got += data
        except OSError:
            pass
        return got

    def test_often(self):
        """Many clients in turn, none of which sends a picture: the last one has the path."""
        server = self.take_over()
        before = self.client(server)
        self.assertEqual(self.records(before).status, 200)
        for _ in range(100):
            after = self.client(server)
            self.assertEqual(self.records(after).status, 200)
            before.close()
            before = after
        self.assertEqual(before.request("GET_PARAMETER").status, 200)
        self.assertEqual(before.request("TEARDOWN").status, 200)
        self.becomes(server, "/cam", "away")
        self.stop_cleanly(server)

    def test_without_paths(self):
        p = self.start([lib.SEND, "--take-over", "test:"])
        self.assertEqual(p.wait(), 2)
        self.assertIn("--take-over requires --publish PATH", p.stderr)


class Rights(Publish):
    def serve_to(self, *lines):
        return self.serve("--publish", source="/cam", lines=lines)

    def test_passwords(self):
        server = self.serve_to("allow = anna /cam publish", "allow = * /cam watch")
        film, at = self.film(), f"127.0.0.1:{server.port}/cam"
        for user in "", "anna:wrong@":
            publisher = self.ffmpeg(film, f"rtsp://{user}{at}")
            self.assertNotEqual(publisher.wait(60), 0)
            self.assertIn("401", publisher.stderr)
        self.ffmpeg(film, f"rtsp://anna:{PASSWORD.replace(' ', '%20')}@{at}")
        lib.until(lambda: self.describe_status(server, "/cam").status == 200, "the stream", 60)
        self.see(f"rtsp://{at}", frames=5)

    def test_a_viewer_may_not_publish(self):
        server = self.serve_to("allow = anna /cam watch")
        publisher = self.ffmpeg(self.film(), f"rtsp://anna:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{server.port}/cam")
        self.assertNotEqual(publisher.wait(60), 0)
        self.assertIn("403", publisher.stderr)

    def test_keys(self):
        server = self.serve_to()
        watch, publish = self.invite("/cam"), self.invite("publish:/cam")
        client = self.client(server)
        client.url += f"?key={watch}"
        self.assertEqual(self.announce(client).status, 401)
        self.ffmpeg(self.film(), f"rtsp://127.0.0.1:{server.port}/cam?key={publish}")
        lib.until(lambda: self.describe_status(server, f"/cam?key={watch}").status == 200, "the stream", 60)
        self.assertEqual(self.describe_status(server, f"/cam?key={publish}").status, 401)
        self.stop_cleanly(server)
        self.assertNotIn(publish, server.stderr)


class Raw(Publish):
    def test_second_client(self):
        server = self.offer("/cam")
        first, second = self.client(server), self.client(server)
        self.assertEqual(self.records(first).status, 200)
        answer = self.announce(second)
        self.assertEqual((answer.status, "already" in answer.body), (503, True), answer)
        self.assertEqual(first.request("GET_PARAMETER").status, 200)
        self.assertEqual(first.request("TEARDOWN").status, 200)
        self.assertEqual(self.announce(second).status, 200)
        second.close()
        third = self.client(server)
        lib.until(lambda: self.announce(third).status == 200, "a free path")

    def test_states(self):
        server = self.offer("/cam", "/cams/*")
        client = self.client(server)
        self.assertIn("ANNOUNCE", client.request("OPTIONS").headers["public"])
        self.assertEqual(client.request("RECORD").status, 455)
        self.assertEqual(self.announce(client).status, 200)
        for method in "ANNOUNCE", "DESCRIBE", "PLAY", "PAUSE", "RECORD", "TEARDOWN", "SET_PARAMETER":
            self.assertEqual(client.request(method).status, 455, method)
        for transport in "RTP/AVP;multicast", "RTP/SAVP;unicast;client_port=5000-5001", "RTP/AVP;unicast":
            self.assertEqual(client.request("SETUP", client.url + "/streamid=0", {"Transport": transport}).status, 461, transport)
        answer = client.request("SETUP", client.url + "/streamid=0", {"Transport": TCP})
        self.assertEqual(answer.headers["transport"].replace(" ", "").split(";mode=")[1], "record")
        self.assertEqual(client.request("SETUP", client.url + "/streamid=1", {"Transport": TCP}).status, 461)  # its channels
        self.assertEqual(client.request("RECORD", None, {"Session": "1"}).status, 454)
        answer = client.request("RECORD")
        self.assertEqual((answer.status, answer.headers["session"]), (200, client.session))
        self.assertEqual(client.request("RECORD").status, 200)
        self.assertEqual(client.request("SETUP", client.url + "/streamid=1", {"Transport": TCP}).status, 455)
        self.assertEqual(client.request("TEARDOWN").status, 200)
        client.session = None
        self.assertEqual(self.announce(client).status, 200)  # again, over the same connection

    def test_paths(self):
        server = self.offer("/cam", "/cams/*")
        for path, status in (("/cam", 200), ("/cams/a", 200), ("/cams/*", 404), ("/cams", 404), ("/cams/a/b", 404), ("/", 404),
                             ("/other", 404), ("/cams/..%2fx", 404), ("/cams/a%20b", 404), ("/cams/" + "n" * 33, 404)):
            self.assertEqual(self.announce(self.client(server, path)).status, status, path)
        only = self.sender(source="test:320x180@25")
        self.assertEqual(self.announce(self.client(only, "/live")).status, 501)

    def test_descriptions(self):
        """Each is refused with a reason, and keeps no path."""
        server = self.offer("/cam")
        rows = [("", 415, "application/sdp"),
                ("hello\r\n", 400, "malformed"),
                (sdp(*SDP[:5], "m=audio 0 RTP/AVP 0", "a=control:a"), 415, "no video"),
                (sdp(*SDP[:5], "m=video 0 RTP/AVP 96", "a=rtpmap:96 MP4V-ES/90000", "a=control:a"), 415, "libx264"),
                (sdp(*SDP[:6], "a=rtpmap:96 H264/0", "a=control:a"), 415, "no video"),
                (sdp(*SDP, *["m=application 0 RTP/AVP 98"] * 4), 413, "more than 4 media"),
                (sdp(*SDP, *["a=x"] * 6000), 413, "bytes")]
        for text, status, reason in rows:
            answer = self.announce(self.client(server), text)
            self.assertEqual((answer.status, reason in answer.body), (status, True), f"{text[:200]}\n{answer}")
        answer = self.announce(self.client(server), sdp(), "text/plain")
        self.assertEqual(answer.status, 415)
        large = self.client(server)
        large.send(large.format("ANNOUNCE", None, {"Content-Type": "application/sdp", "Content-Length": 10 ** 9}))
        self.assertEqual(large.response().status, 413)
        self.assertEqual(self.announce(self.client(server)).status, 200)

    def test_no_media(self):
        """A client that sends no picture loses the path and its connection, and viewers that wait get an answer."""
        server = self.offer("/cam")
        client = self.client(server)
        self.assertEqual(self.records(client).status, 200)
        self.assertEqual(self.describe_status(server, "/cam").status, 404)
        self.assertTrue(client.closed(60))
        self.becomes(server, "/cam", "away")

    def test_no_record(self):
        server = self.offer("/cam")
        client = self.client(server)
        self.assertEqual(self.announce(client).status, 200)
        begun = time.monotonic()
        while time.monotonic() - begun < 60 * lib.PATIENCE:  # it keeps the connection alive
            try:
                client.request("OPTIONS")
            except (rtsp.Closed, OSError, AttributeError):
                break
            time.sleep(0.2)
        lib.until(lambda: "no RECORD came" in server.stderr, "the end", 60)
        self.assertEqual(self.announce(self.client(server)).status, 200)

    def test_datagrams_of_others(self):
        """Only datagrams of the client's address count."""
        server = self.offer("/cam")
        client = self.client(server)
        self.assertEqual(self.announce(client).status, 200)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            ours.bind(("127.0.0.1", 0))
            other.bind(("127.0.0.2", 0))
            port = ours.getsockname()[1]
            answer = client.request("SETUP", client.url + "/streamid=0", {"Transport": f"RTP/AVP;unicast;client_port={port}-{port}"})
            to = int(answer.headers["transport"].split("server_port=")[1].split("-")[0])
            self.assertEqual(client.request("RECORD").status, 200)
            for _ in range(35000):
                other.sendto(b"\x80\x60\0\0\0\0\0\0\0\0\0\1\x41", ("127.0.0.1", to))
            self.assertEqual(client.request("GET_PARAMETER").status, 200)
        self.assertNotIn("more than 30000", server.stderr)


if __name__ == "__main__":
    lib.main()
