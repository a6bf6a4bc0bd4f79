# SPDX-License-Identifier: GPL-2.0-or-later
"""A user of --access logs in with a browser: the form, its cookie, and those who try to use either."""
import base64
import http.client
import os
import pty
import re
import select
import signal
import socket
import ssl
import subprocess
import urllib.parse

import lib
from lib import until
from web_case import Web

PASSWORD = "see no evil"
HASHED = "$y$j75$abcdefghijklmnop$9mn88KvOLcKLmqtUioimdnMFRITpzA/22CVb1Ua0gh8"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
SOCKET = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
          "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "rtsp.onvif.org"}


class Login(Web):
    def file(self, *lines):
        path = self.path("access")
        with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as f:
            f.write("\n".join([*lines, ""]))
        return path

    def serve(self, *args, lines=(f"user = anna:{HASHED}", "allow = anna /live watch"), source="test:320x180@15"):
        return self.sender("--state-dir", self.path("state"), "--access", self.file(*lines), *args, source=source)

    def request(self, server, method, path, body=None, secure=False, **headers):
        """Returns status, headers and text. Of the arguments' names, _ is -."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        limit = 20 * lib.PATIENCE
        c = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=limit, context=context) if secure \
            else http.client.HTTPConnection("127.0.0.1", server.port, timeout=limit)
        try:
            c.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = c.getresponse()
            return answer.status, answer.headers, "" if answer.status in (101, 200) else answer.read().decode()
        finally:
            c.close()

    def log_in(self, server, user="anna", password=PASSWORD, **more):
        body = urllib.parse.urlencode({"user": user, "password": password})
        return self.request(server, "POST", "/.weir/login", body, **{**FORM, **more})

    def cookie(self, answer):
        self.assertEqual(answer[0], 204, answer[2])
        return answer[1]["Set-Cookie"].split(";")[0]

    def still(self, server, **headers):
        return self.request(server, "HEAD", "/live.jpg", **headers)[0]

    def describe(self, server, cookie, path="/live", **headers):
        """Returns the status of a DESCRIBE in a WebSocket, or of the refusal of the WebSocket."""
        from websocket_frames import Socket
        with Socket(server.port, path, {"Cookie": cookie, **headers}) as s:
            return s.status if s.status != 101 else s.describe()


class Page(Login):
    def type(self, b, user, password):
        b.value(f"user.value = {user!r}; password.value = {password!r}; document.querySelector('#login .button').click()")

    def test_logs_in_and_out(self):
        """Over TLS: a wrong password has a sentence, the right one plays; after the logout the form is back."""
        sender = self.serve()
        b = self.browse("--ignore-certificate-errors")
        b.open(f"https://127.0.0.1:{sender.port}/live")
        until(lambda: b.value("!!document.getElementById('login')"), "the form", 20)
        for width in 1280, 390:
            b.look(width, 800, width == 390)
            self.assertLessEqual(b.value("document.documentElement.scrollWidth"), width)
            self.picture_of(b, f"login-{width}")
        for name, auto in (("user", "username"), ("password", "current-password")):
            self.assertEqual(b.value(f"{name}.autocomplete"), auto)
            self.assertEqual(b.value(f"{name}.labels.length"), 1)
        self.type(b, "anna", "wrong")
        error = until(lambda: b.value("document.getElementById('login-error').innerText"), "the error", 20)
        self.assertIn("Wrong user or password: check both", error)
        self.picture_of(b, "login-wrong")
        self.type(b, "anna", PASSWORD)
        until(lambda: self.shown(b) > 10, "pictures", 30)
        self.assertEqual(b.value("document.cookie"), "")  # no script reads it
        b.look(390, 800, False)
        self.assertLessEqual(b.value("document.documentElement.scrollWidth"), 390)
        self.picture_of(b, "login-plays")
        self.assertEqual(b.resolved("fetch('/live.jpg').then(r => r.status)"), 200)
        self.click(b, "leave")
        until(lambda: b.value("!!document.getElementById('login')"), "the form", 20)
        self.assertEqual(b.resolved("fetch('/live.jpg', {method: 'HEAD'}).then(r => r.status)"), 401)
        self.assertNotIn(PASSWORD, sender.stderr)
        self.stop_cleanly(sender)

    def test_a_wrong_key_and_a_missing_right(self):
        sender = self.serve()
        b = self.browse()
        b.open(f"http://127.0.0.1:{sender.port}/live?key={'A' * 28}")
        until(lambda: "The key is not valid for this path" in (b.value("document.getElementById('login')?.innerText") or ""), "the reason", 20)
        self.type(b, "anna", PASSWORD)
        until(lambda: self.shown(b) > 5, "pictures", 30)
        self.assertEqual(b.value("location.search"), "")
        b.open(f"http://127.0.0.1:{sender.port}/other")
        until(lambda: "no right for this path" in (b.value("document.getElementById('login')?.innerText") or ""), "the reason", 20)
        self.assertEqual(b.value("leave.innerText"), "Log out")


class Attacks(Login):
    def test_cookie(self):
        """What it looks like, with TLS and without, and that each login has another one."""
        server = self.serve()
        plain, other, secure = self.log_in(server), self.log_in(server), self.log_in(server, secure=True)
        self.assertRegex(plain[1]["Set-Cookie"], rf"^weir-{server.port}=[\w-]{{32}}; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict$")
        self.assertRegex(secure[1]["Set-Cookie"], rf"^__Host-weir-{server.port}=[\w-]{{32}}; Path=/; Max-Age=43200; HttpOnly; "
                                                  r"SameSite=Strict; Secure$")
        self.assertNotEqual(plain[1]["Set-Cookie"], other[1]["Set-Cookie"])
        for answer in plain, secure:
            self.assertEqual(answer[1]["Cache-Control"], "no-store")
        # A login ends the one before, whose token another may have put there.
        old = self.cookie(plain)
        new = self.cookie(self.log_in(server, Cookie=old))
        self.assertNotEqual(old, new)
        self.assertEqual((self.still(server, Cookie=old), self.still(server, Cookie=new)), (401, 200))
        forged = f"weir-{server.port}={'A' * 32}"
        for cookie in forged, new + "x", new[:-1], f"{new}; {new}", f"{forged}; {new}", f"weir={new.split('=')[1]}":
            self.assertEqual(self.still(server, Cookie=cookie), 401, cookie)
        self.assertEqual(self.still(server, Cookie=f"a=b; {new}; c"), 200)
        self.assertEqual(self.still(server), 401)
        status, headers, _ = self.request(server, "POST", "/.weir/logout", Cookie=new)
        self.assertEqual((status, headers["Set-Cookie"].split(";")[0]), (204, f"weir-{server.port}="))
        self.assertEqual(self.still(server, Cookie=new), 401)
        self.stop_cleanly(server)
        self.assertNotIn(new.split("=")[1], server.stderr)

    def test_programs(self):
        """HTTP Basic on the same routes, for the picture and for the WebSocket."""
        server = self.serve()
        for password, status in ((PASSWORD, 200), ("no", 401)):
            basic = "Basic " + base64.b64encode(f"anna:{password}".encode()).decode()
            for secure in False, True:
                self.assertEqual(self.still(server, secure=secure, Authorization=basic), status)
            self.assertEqual(self.describe(server, "", Authorization=basic), status)

    def test_rights(self):
        server = self.serve()
        cookie = self.cookie(self.log_in(server))
        self.assertEqual(self.describe(server, cookie), 200)
        self.assertEqual(self.describe(server, cookie, "/other"), 403)
        self.assertEqual(self.describe(server, ""), 401)

    def test_pages_of_others(self):
        """Neither a form nor a WebSocket nor a picture of theirs gets the cookie's rights, also if they may play."""
        server = self.serve("--allow-origin", "https://good.example")
        cookie, host = self.cookie(self.log_in(server)), f"127.0.0.1:{server.port}"
        for foreign in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "https://good.example"},
                        {"Origin": f"http://127.0.0.1:{server.port + 1}"}, {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}):
            for path in "/.weir/login", "/.weir/logout":
                body = urllib.parse.urlencode({"user": "anna", "password": PASSWORD})
                status, _, text = self.request(server, "POST", path, body, **FORM, **foreign, Cookie=cookie)
                self.assertEqual(status, 403, foreign)
                self.assertIn("pages of other servers", text)
            self.assertNotEqual(self.still(server, Cookie=cookie, **foreign), 200, foreign)
            more = {name.replace("_", "-"): value for name, value in foreign.items()}
            self.assertIn(self.describe(server, cookie, **more), (401, 403), foreign)
        self.assertEqual(self.describe(server, cookie, Origin=f"http://{host}"), 200)
        # A page that came without TLS may be an attacker's: it is no page of the server with TLS.
        self.assertEqual(self.log_in(server, secure=True, Origin=f"http://{host}")[0], 403)
        self.assertEqual(self.log_in(server, secure=True, Origin=f"https://{host}")[0], 204)

    def test_forms(self):
        server = self.serve()
        for body, status in (("user=anna", 400), ("user=&password=x", 400), ("user=anna&password=a&password=b", 400), ("", 400),
                             ("user=anna&password=%zz", 400), ("user=anna&password=" + "x" * 400, 400), ("user=anna&password=" + "x" * 3000, 413),
                             ("user=anna&password=%00", 400), ("user=" + "a" * 64 + "&password=x", 400)):
            self.assertEqual(self.request(server, "POST", "/.weir/login", body, **FORM)[0], status, body[:60])
        good = urllib.parse.urlencode({"user": "anna", "password": PASSWORD})
        self.assertEqual(self.request(server, "POST", "/.weir/login", good, Content_Type="text/plain")[0], 415)
        self.assertEqual(self.request(server, "POST", "/.weir/login", good, **FORM, Expect="100-continue")[0], 417)
        for path in "/.weir/login", "/.weir/logout":
            status, headers, _ = self.request(server, "GET", path)
            self.assertEqual((status, headers["Allow"]), (405, "POST"))
        # In pieces, and a request behind the body.
        with socket.create_connection(("127.0.0.1", server.port), timeout=20 * lib.PATIENCE) as s:
            head = f"POST /.weir/login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {FORM['Content-Type']}\r\nContent-Length: {len(good)}\r\n\r\n"
            s.sendall(head.encode())
            s.sendall(good[:9].encode())
            s.sendall(good[9:].encode() + b"HEAD /.weir/login.js HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            got = b"".join(iter(lambda: s.recv(4096), b""))
        self.assertTrue(got.startswith(b"HTTP/1.1 204 ") and b"HTTP/1.1 200 OK" in got, got)
        self.stop_cleanly(server)

    def test_guesses(self):
        """After 20 failures an address waits as in RTSP; those whose turn is too late get 429."""
        server = self.serve()
        cookie = self.cookie(self.log_in(server))
        for _ in range(20):
            status, headers, text = self.log_in(server, password="no")
            self.assertEqual((status, headers["WWW-Authenticate"]), (401, 'Weir-Login realm="weir"'))
            self.assertIn("wrong user or password", text)
        body = urllib.parse.urlencode({"user": "anna", "password": "guess"}).encode()
        request = b"POST /.weir/login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (
            FORM["Content-Type"].encode(), len(body), body)
        sockets = [socket.create_connection(("127.0.0.1", server.port), timeout=20 * lib.PATIENCE) for _ in range(8)]
        for s in sockets:
            self.addCleanup(s.close)
            s.sendall(request)
        answers = [b"".join(iter(lambda s=s: s.recv(4096), b"")) for s in sockets]
        busy = [a for a in answers if a.startswith(b"HTTP/1.1 429 ")]
        self.assertTrue(busy, answers)
        self.assertIn(b"Retry-After: 60\r\n", busy[0])
        self.assertIn(b"try again in a minute", busy[0])
        self.assertEqual(self.still(server, Cookie=cookie), 200)  # who is logged in notices nothing

    def test_a_thousand_logins(self):
        """A user has sixteen at most; memory is bounded."""
        server = self.serve()
        first = self.cookie(self.log_in(server))
        body = urllib.parse.urlencode({"user": "anna", "password": PASSWORD}).encode()
        request = b"POST /.weir/login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s" % (
            FORM["Content-Type"].encode(), len(body), body)
        before, cookies = server.status_kb("VmRSS"), []
        for _ in range(10):
            with socket.create_connection(("127.0.0.1", server.port), timeout=20 * lib.PATIENCE) as s:
                s.sendall(100 * request)
                got = b""
                while got.count(b"HTTP/1.1 204 ") < 100 or not got.endswith(b"\r\n\r\n"):
                    piece = s.recv(65536)
                    self.assertTrue(piece, got[-300:])
                    got += piece
            cookies += [c.decode() for c in re.findall(rb"Set-Cookie: ([^;]+)", got)]
        self.assertEqual(len(set(cookies)), 1000)
        self.assertEqual([self.still(server, Cookie=c) for c in (first, cookies[0], cookies[-17], cookies[-16], cookies[-1])],
                         [401, 401, 401, 200, 200])
        self.assertLess(server.status_kb("VmRSS") - before, 20000)
        self.stop_cleanly(server)

    def test_reload(self):
        """SIGHUP reads the users again: the logins of those that are gone, or have another password, end."""
        bob, carl = (line.split("= ")[1] for line in (self.made("bob"), self.made("carl")))
        rules = ("allow = anna /live watch", "allow = bob /live watch", "allow = carl /live watch")
        config = self.path("config")
        with open(config, "w") as f:
            f.write("[source live]\nsource = test:320x180@15\n")
        path = self.file(f"user = anna:{HASHED}", f"user = {bob}", f"user = {carl}", *rules)
        server = self.start([lib.SEND, "--listen", "127.0.0.1:0", "--state-dir", self.path("state"), "--access", path, "--config", config])
        server.port = int(until(lambda: re.search(r"rtsp://127\.0\.0\.1:(\d+)/", server.stderr), "the sender", 20).group(1))
        cookies = [self.cookie(self.log_in(server, name, password)) for name, password in
                   (("anna", PASSWORD), ("bob", "secret"), ("carl", "secret"))]
        until(lambda: self.still(server, Cookie=cookies[0]) == 200, "the source", 20)
        self.assertEqual([self.still(server, Cookie=c) for c in cookies], [200, 200, 200])
        self.file("nonsense", "user = eve:$y$x$y$z")
        server.signal(signal.SIGHUP)
        until(lambda: "the users and rights stay as they were" in server.stderr, "a refusal of the file")
        self.assertEqual([self.still(server, Cookie=c) for c in cookies], [200, 200, 200])
        other = self.made("bob", "another").split("= ")[1]
        self.file(f"user = {carl}", f"user = {other}", *rules[1:])
        server.signal(signal.SIGHUP)
        until(lambda: self.still(server, Cookie=cookies[0]) == 401, "the end of the login")
        self.assertEqual([self.still(server, Cookie=c) for c in cookies], [401, 401, 200])
        self.assertEqual(self.log_in(server)[0], 401)
        self.assertEqual(self.log_in(server, "bob", "secret")[0], 401)
        self.assertEqual(self.log_in(server, "bob", "another")[0], 204)
        self.stop_cleanly(server)

    def made(self, name, password="secret", *args):
        return subprocess.run([lib.SEND, "--user", name, *args], input=password + "\n", text=True, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20 * lib.PATIENCE).stdout.strip()


class Users(Login):
    def run_at_terminal(self, *typed):
        """Returns what `weir-send --user` shows at a terminal, and its exit code."""
        pid, fd = pty.fork()
        if not pid:
            os.execv(lib.SEND, [lib.SEND, "--user", "dora", "--access", self.path("users")])
        shown = b""

        def more():
            until(lambda: select.select([fd], [], [], 0.05)[0], f"more than {shown}", 20)
            return os.read(fd, 1024)
        try:
            for question, answer in zip((b"password: ", b"again: "), typed):
                while question not in shown:
                    shown += more()
                os.write(fd, answer)
            while piece := more():
                shown += piece
        except OSError:
            pass  # the end of a terminal
        except AssertionError:
            os.kill(pid, signal.SIGKILL)
            raise
        finally:
            os.close(fd)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return shown.decode(), code

    def test_at_a_terminal(self):
        shown, code = self.run_at_terminal(b"one\n", b"other\n")
        self.assertEqual(code, 1)
        self.assertIn("the two passwords differ", shown)
        self.assertFalse(os.path.exists(self.path("users")))
        for _ in range(30):  # whether it comes before or after the program waits
            shown, code = self.run_at_terminal(b"\x03")
            self.assertEqual(code, -signal.SIGINT)
        shown, code = self.run_at_terminal(b"hidden one\n", b"hidden one\n")
        self.assertEqual(code, 0, shown)
        self.assertNotIn("hidden", shown)
        self.assertEqual(os.stat(self.path("users")).st_mode & 0o777, 0o600)
        with open(self.path("users")) as f:
            line = f.read()
        server = self.serve(lines=(line.strip(), "allow = dora / watch"))
        self.assertEqual(self.log_in(server, "dora", "hidden one")[0], 204)
        shown, code = self.run_at_terminal(b"x\n", b"x\n")
        self.assertEqual(code, 1)
        self.assertIn("has a user dora already", shown)


if __name__ == "__main__":
    lib.main()
