# SPDX-License-Identifier: GPL-2.0-or-later
"""A TCP relay for any number of connections that holds back what the server sends: most of the time for a moment, so that
arrivals jitter by as much. It reads on meanwhile, so the server does not notice."""
import queue
import socket
import threading
import time

HOLD_S, EVERY_S = 0.8, 1.2


class Jitter(threading.Thread):
    def __init__(self, port):
        super().__init__(daemon=True)
        self.target = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.jitters = True
        self.all = []
        self.start()

    def run(self):
        try:
            while True:
                near, _ = self.listener.accept()
                far = socket.create_connection(("127.0.0.1", self.target))
                self.all += [near, far]
                waiting = queue.Queue(4096)
                for what in (lambda n=near, f=far: self.copy(n, f.sendall), lambda f=far, w=waiting: self.copy(f, w.put),
                             lambda n=near, w=waiting: self.release(w, n)):
                    threading.Thread(target=what, daemon=True).start()
        except OSError:
            pass  # stopped

    def copy(self, source, put):
        try:
            while data := source.recv(1 << 16):
                put(data)
        except OSError:
            pass
        self.end(source)

    def release(self, waiting, to):
        try:
            while to.fileno() >= 0:
                try:
                    data = waiting.get(timeout=1)
                except queue.Empty:
                    continue
                while self.jitters and time.monotonic() % EVERY_S < HOLD_S:
                    time.sleep(0.01)
                to.sendall(data)
        except OSError:
            pass

    @staticmethod
    def end(s):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def stop(self):
        for s in (self.listener, *self.all):
            self.end(s)
            s.close()
        self.join(10)
