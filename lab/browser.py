# SPDX-License-Identifier: GPL-2.0-or-later
"""A browser without a window, controlled over a pipe (the Chrome DevTools Protocol)."""
import base64
import fcntl
import json
import os
import re
import select
import subprocess
import time


class Browser:
    """One page. Every call has a deadline; `said` lists the page's console output, including errors."""

    def __init__(self, folder, seconds, *flags, prefix=()):
        self.seconds = seconds
        self.said = []
        self.unread = b""
        self.number = 0
        theirs_in, self.out = os.pipe()
        self.back, theirs_out = os.pipe()
        # It reads from file 3 and writes to file 4, numbers that may be taken on this side, or free: pass_fds would require
        # them to be open here.
        reads, writes = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (theirs_in, theirs_out))
        self.popen = subprocess.Popen(
            [*prefix, "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             f"--user-data-dir={folder}", *flags, "about:blank"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=lambda: (os.dup2(reads, 3), os.dup2(writes, 4)))
        for fd in theirs_in, theirs_out, reads, writes:
            os.close(fd)
        self.session = {}
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self.session = {"sessionId": self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]}
            for domain in "Page", "Runtime", "Log":
                self.call(f"{domain}.enable")
        except BaseException:  # Ctrl-C, too
            self.close()
            raise

    def close(self):
        os.close(self.out)
        self.popen.terminate()
        try:
            self.popen.wait(10)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
        os.close(self.back)

    def message(self, deadline):
        while b"\0" not in self.unread:
            if not select.select([self.back], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.back, 1 << 20)
            if not piece:
                raise EOFError("the browser has ended")
            self.unread += piece
        text, self.unread = self.unread.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        deadline = time.monotonic() + self.seconds
        os.write(self.out, json.dumps({"id": self.number, "method": method, "params": params, **self.session}).encode() + b"\0")
        while True:
            answer = self.message(deadline)
            if answer.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                self.said.append(answer["params"])
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, url):
        self.call("Page.navigate", url=url)

    def value(self, expression):
        """Returns what an expression is on the page; while the page is replaced by another one, on that one."""
        deadline = time.monotonic() + self.seconds
        while True:
            try:
                return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")
            except RuntimeError as error:
                if not re.search("navigated|context", str(error)) or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def resolved(self, expression):
        """Returns what a promise resolves to."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description"))
        return answer["result"].get("value")

    def look(self, width, height, dark):
        """Sets the window's size, and whether it prefers the dark colour scheme."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def screenshot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]))
