# SPDX-License-Identifier: GPL-2.0-or-later
"""What the end-to-end tests share: programs that are started, watched and ended, and their results.

Every wait has a deadline, every process is ended by its id, every file lies in a directory that goes away with the
test. WEIR_BUILD names the build directory; WEIR_TEST_SLOW stretches deadlines under sanitizers.

A test passes on a machine whose other processes take its processors: it waits for what happens, with deadlines that only
a hang reaches, and asserts no latency, rate or share of the processor. Those are in tests/measure.

A test that fails prints each program that it started: its command, its state, and the last lines that it wrote.
"""
import faulthandler
import hashlib
import json
import math
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("WEIR_BUILD", os.path.join(ROOT, "build", "release")))
SLOW = float(os.environ.get("WEIR_TEST_SLOW", "1"))
PATIENCE = 20 * SLOW  # times the seconds that a wait names, where the limit is of the clock on the wall
PATIENCE_AT_WORK = 5 * SLOW  # the same, for a Deadline
HANGS_S = 1500  # a test that takes longer has a wait without a deadline: it ends, and prints where it stands
FILMS = os.path.join(os.path.dirname(BUILD), "films")  # that film_of has made
SEND = os.path.join(BUILD, "weir-send")
PLAY = os.path.join(BUILD, "weir-play")
PROXY = os.path.join(BUILD, "weir-proxy")

# Pictures small enough for any machine to encode, decode and compare.
SOURCE = "test:426x240@30"
FPS = 30

# A sanitizer's word on stderr fails a test, however the program ended.
SANITIZER = re.compile(r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:|Assertion .* failed")


def held_up():
    """Returns the seconds that each thread of this process and of its descendants has waited for a processor since it began,
    and whether one waits for a disk now. Empty where the kernel does not count that."""
    children, waits, disk = {}, {}, False
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as f:
                children.setdefault(f.read().rpartition(")")[2].split()[1], []).append(pid)
        except OSError:
            pass  # it has ended
    family = [str(os.getpid())]
    for pid in family:
        family += children.get(pid, [])
        try:
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/schedstat") as f:
                    waits[thread] = int(f.read().split()[1]) / 1e9
                with open(f"/proc/{pid}/task/{thread}/stat") as f:
                    disk |= f.read().rpartition(")")[2].split()[0] == "D"
        except OSError:
            pass
    return waits, disk


class Deadline:
    """A limit that only a hang reaches. It counts no time in which one of the test's programs waits for a processor, which
    other programs have, or for a disk: so on any machine the programs have the time that a quiet machine would give them."""

    LOOK_S = 1  # how often it looks at the programs
    LEAST = 1 / 20  # of the time that passes counts in any case, so that each wait ends

    def __init__(self, seconds, clock=time.monotonic, held_up=held_up):
        self.clock, self.held_up = clock, held_up
        self.seconds = seconds * PATIENCE_AT_WORK
        self.counted = 0
        self.looked_at, self.waits = clock(), held_up()[0]

    def over(self):
        passed = self.clock() - self.looked_at
        if passed >= self.LOOK_S:
            waits, disk = self.held_up()
            most = passed if disk else max((s - self.waits.get(t, 0) for t, s in waits.items()), default=0)
            self.counted += max(passed - most, passed * self.LEAST)
            self.looked_at, self.waits = self.clock(), waits
        return self.counted >= self.seconds


def processor_seconds():
    """Returns how long this process, and those that it ran and that have ended, were on a processor."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def until(condition, what, seconds=10):
    """Waits until condition() is true and returns its result. Looks take a quarter of a processor at most: the programs need
    it, too."""
    deadline = Deadline(seconds)
    while True:
        begun = processor_seconds()
        result = condition()
        if result:
            return result
        if deadline.over():
            raise AssertionError(f"waited {deadline.seconds:.0f} s in vain for {what}")
        time.sleep(min(max(0.02, 3 * (processor_seconds() - begun)), 0.3))


def stands(value, what, seconds=1):
    """Waits until value() has been the same for this time, and returns it."""
    seen, since = value(), time.monotonic()

    def same():
        nonlocal seen, since
        now = value()
        if now != seen:
            seen, since = now, time.monotonic()
        return time.monotonic() - since >= seconds
    until(same, f"{what} to stand still", 20 + seconds)
    return seen


def never(condition, what, seconds=0.5):
    """Fails if condition() becomes true within this time. No machine is too slow for that: one that is may only see less."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            raise AssertionError(f"saw {what}")
        time.sleep(0.02)


def need(*tools):
    """Skips the test if a tool of packages.txt is not installed."""
    for tool in tools:
        if not shutil.which(tool):
            raise unittest.SkipTest(f"{tool} is not installed")


class Process:
    """A program with its output in files, so that no pipe can fill up and stop it."""

    started = []  # those that the running test started, or that still run; a test that fails prints them

    def __init__(self, argv, folder, env=None):
        self.argv = argv
        fd, self.err_path = tempfile.mkstemp(suffix=".err", dir=folder)
        os.close(fd)
        # Keys and secrets of a test are its own.
        self.env = {**os.environ, "XDG_STATE_HOME": os.path.join(folder, "state-home"), **(env or {})}
        self.begin()
        Process.started.append(self)

    def begin(self):
        with open(self.err_path, "wb") as err, open(self.err_path + ".out", "wb") as out:
            self.popen = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=self.env)
        self.pid = self.popen.pid

    @property
    def stderr(self):
        with open(self.err_path, errors="replace") as f:
            return f.read()

    @property
    def stdout(self):
        with open(self.err_path + ".out", errors="replace") as f:
            return f.read()

    def running(self):
        return self.popen.poll() is None

    def signal(self, number):
        if self.running():
            self.popen.send_signal(number)

    def wait(self, seconds=20):
        """The exit code, as a shell would give it for a program that was not killed."""
        deadline = Deadline(seconds)
        while True:
            try:
                return self.popen.wait(0.5)
            except subprocess.TimeoutExpired:
                if deadline.over():
                    raise AssertionError(f"still running after {deadline.seconds:.0f} s: {self}") from None

    def stop(self):
        if not self.running():
            return
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        try:
            self.wait(10)
        except AssertionError:
            self.popen.kill()
            self.popen.wait()

    def state(self):
        code = self.popen.poll()
        if code is None:
            return "running"
        return f"exit code {code}" if code >= 0 else f"ended by {signal.Signals(-code).name}"

    def described(self, lines=30):
        """Returns the command, the state, and the last lines of what the program wrote."""
        text = f"--- {shlex.join(self.argv)}\n    {self.state()}\n"
        for name in "stderr", "stdout":
            try:
                wrote = getattr(self, name).splitlines()
            except FileNotFoundError:
                wrote = ["(its folder is removed)"]
            if wrote:
                text += f"    the last lines of its {name}:\n" + "".join(f"        {line[:500]}\n" for line in wrote[-lines:])
        return text

    def status_kb(self, field):
        """Returns a value of /proc/PID/status, such as VmRSS."""
        with open(f"/proc/{self.pid}/status") as f:
            return int(re.search(rf"^{field}:\s+(\d+) kB", f.read(), re.M).group(1))

    def cpu_seconds(self):
        with open(f"/proc/{self.pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __str__(self):
        return f"{' '.join(self.argv)}\nexit code {self.popen.poll()}, stderr:\n{self.stderr}"


def listening(listen):
    """Returns the options of a server at this address: off the loopback tests require neither key nor encryption, unless
    they test these."""
    return ["--listen", listen, *([] if re.match(r"127\.|\[::1\]", listen) else ["--insecure"])]


class Sender(Process):
    """weir-send on a free port. It keeps the levels on a busy machine, too, unless `lowers`."""

    def __init__(self, folder, *args, listen="127.0.0.1:0", env=None, prefix=(), lowers=False):
        keeps = [] if lowers else ["--keep-levels"]
        super().__init__([*prefix, SEND, *listening(listen), *keeps, *args], folder, env)
        found = until(lambda: re.search(r" at (rtsp://\S+)", self.stderr) or not self.running(), "the sender", 20)
        if found is True:
            raise AssertionError(f"the sender did not start: {self}")
        self.url = found.group(1)
        self.port = int(re.search(r":(\d+)/", self.url).group(1))

    def levels(self):
        """Returns the announced levels, [(width, height, frames a second, kbit/s)]."""
        return [(int(w), int(h), float(f), int(k)) for w, h, f, k in
                re.findall(r"level +\d+: +(\d+)x(\d+) +([\d.]+) frames/s +(\d+) kbit/s", self.stderr)]


class Proxy(Process):
    """weir-proxy on a free port."""

    def __init__(self, folder, *args, listen="127.0.0.1:0", env=None, prefix=()):
        super().__init__([*prefix, PROXY, *listening(listen), *args], folder, env)
        found = until(lambda: re.search(r" at rtsp://\S+:(\d+)/", self.stderr) or not self.running(), "the proxy", 20)
        if found is True:
            raise AssertionError(f"the proxy did not start: {self}")
        self.port = int(found.group(1))
        self.base = f"rtsp://{listen.rpartition(':')[0]}:{self.port}"


def env_of_window(env=None):
    """Returns the environment of a program with a window: what the display's libraries keep to their end is no leak of ours."""
    options = [os.environ.get("ASAN_OPTIONS"), "detect_leaks=0"]
    return {**(env or {}), "ASAN_OPTIONS": ":".join(filter(None, options))}


class Player(Process):
    """weir-play, headless unless `window`; its report and events are available when it has ended. It requests no lower level
    on a busy machine, unless `lowers`."""

    def __init__(self, folder, url, *args, window=False, env=None, prefix=(), lowers=False):
        self.base = os.path.join(tempfile.mkdtemp(prefix="play-", dir=folder), "play")
        self.tries, self.read, self.parsed = 1, 0, []
        head = [*([] if window else ["--headless"]), *([] if lowers else ["--keep-levels"])]
        env = env_of_window(env) if window else env
        super().__init__([*prefix, PLAY, *head, "--report", self.base + ".json", "--events", self.base + ".jsonl", *args, url],
                         folder, env)

    def report(self):
        with open(self.base + ".json") as f:
            return json.load(f)

    def events(self, name=None):
        """Returns all events of the trace, parsed, without an incomplete last line. Each is parsed once, as tests look often."""
        try:
            with open(self.base + ".jsonl", "rb") as f:
                if f.seek(0, os.SEEK_END) < self.read:  # of the player that has begun again
                    self.read, self.parsed = 0, []
                f.seek(self.read)
                whole = f.read()
        except FileNotFoundError:
            return []
        whole = whole[:whole.rfind(b"\n") + 1]
        self.read += len(whole)
        self.parsed += map(json.loads, whole.splitlines())
        return [e for e in self.parsed if name in (None, e["event"])]

    def shown(self):
        return [e for e in self.events("frame") if e.get("shown") is not None]

    def wait_shown(self, count=1, seconds=15):
        until(lambda: len(self.shown()) >= count or not self.running() and not self.tried_again(), f"{count} shown frames", seconds)
        if not self.running():
            raise AssertionError(f"the player ended: {self}")

    def tried_again(self):
        """Begins again, up to 8 times, if the server did not answer a request within 8 s: a busy machine may hold it up."""
        held_up = re.search(r"the server does not answer \w+ within 8 s", self.stderr)
        if self.popen.returncode != 3 or not held_up or self.tries > 7:
            return False
        self.tries += 1
        self.read, self.parsed = 0, []
        self.begin()
        return True


def film_of(path, *args, data=None):
    """Makes a film by ffmpeg from its arguments alone, and from `data`, its input. Once: another test with the same arguments,
    of whatever build, gets a copy."""
    need("ffmpeg")
    tool, kind = shutil.which("ffmpeg"), os.path.splitext(path)[1]
    key = hashlib.sha256(repr((args, kind, os.stat(tool).st_mtime)).encode() + (data or b"")).hexdigest()
    kept = os.path.join(FILMS, key + kind)
    if not os.path.exists(kept):
        os.makedirs(FILMS, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=FILMS) as folder:
            made = os.path.join(folder, "film" + kind)
            subprocess.run([tool, "-v", "error", *(["-nostdin"] if data is None else []), *args, made], input=data, check=True,
                           timeout=120 * PATIENCE)
            os.replace(made, kept)
    shutil.copyfile(kept, path)
    return path


def make_film(path, seconds, size):
    """Makes a film with a tone."""
    film_of(path, "-f", "lavfi", "-i", f"testsrc2=s={size}:r=30:d={seconds}", "-f", "lavfi", "-i", f"sine=d={seconds}",
            "-c:v", "libx264", "-preset", "ultrafast")


def prepared_film(folder, seconds, size, levels):
    """Makes a film with a tone, and its stored ladder of these levels. Returns the ladder's path."""
    path = os.path.join(folder, "film.mkv")
    make_film(path, seconds, size)
    subprocess.run([SEND, "--prepare", *levels, path], check=True, timeout=120 * PATIENCE, capture_output=True)
    return path + ".weir.mkv"


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="weir-e2e-")
        self.processes = []
        self.dropped_before = datagrams_dropped()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.addCleanup(self.end_processes)

    def end_processes(self):
        for p in reversed(self.processes):
            p.stop()
        for p in self.processes:
            found = SANITIZER.search(p.stderr)
            self.assertFalse(found, f"{found and found.group()} in {p}")

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, argv, env=None):
        p = Process(argv, self.folder, env)
        self.processes.append(p)
        return p

    def rtspsrc(self, url, protocols, *elements, seconds=60):
        """Plays a URL by GStreamer's rtspsrc until the end of stream that the elements give. After that GStreamer 1.22 may
        cancel its own PAUSE, report that as an error, and exit with 1."""
        need("gst-launch-1.0")
        p = self.start(["gst-launch-1.0", "-v", "rtspsrc", f"location={url}", f"protocols={protocols}", *elements])
        self.assertIn(p.wait(seconds), (0, 1), f"{p}\n{p.stdout[-2000:]}")
        self.assertIn('Got EOS from element "pipeline0"', p.stdout, str(p))
        self.assertLessEqual(set(re.findall(r"(gst_\w+) \(\): ", p.stderr)), {"gst_rtspsrc_try_send", "gst_rtspsrc_pause"},
                             str(p))
        return p

    def server(self, *args, **options):
        """Starts a sender whose stats stats() reads."""
        return self.sender("--stats", self.path("stats.jsonl"), *args, **options)

    def stats(self):
        with open(self.path("stats.jsonl")) as f:
            return [json.loads(line) for line in f.read().split("\n")[:-1]]

    def last_transport(self, name=None):
        """Returns the last stats of a transport: of this one, or of any."""
        told = [line["transport"] for line in self.stats() if "transport" in line]
        return [t for t in told if name in (None, t["name"])][-1]

    def sender(self, *args, source=SOURCE, **options):
        p = Sender(self.folder, *args, source, **options)
        self.processes.append(p)
        return p

    def proxy(self, *args, **options):
        p = Proxy(self.folder, *args, **options)
        self.processes.append(p)
        return p

    def player(self, url, *args, **options):
        p = Player(self.folder, url, *args, **options)
        self.processes.append(p)
        return p

    def play(self, url, *args, code=0, seconds=30, **options):
        """Plays to the end and returns the player."""
        p = self.player(url, *args, **options)
        got = p.wait(seconds)
        while code != 3 and p.tried_again():
            got = p.wait(seconds)
        self.assertEqual(got, code, str(p))
        return p

    def see(self, url, *args, frames=1, **options):
        """Plays until so many pictures were shown, and returns the player. On a busy machine a duration, which begins with
        the answer to PLAY, may be over before them."""
        return self.end_after(self.player(url, *args, **options), frames)

    def end_after(self, p, frames=1):
        """Ends the player when it has shown so many pictures, and returns it."""
        p.wait_shown(frames, 60)
        return self.interrupt(p)

    def end_at_step(self, p, step, frames=20):
        """Ends the player when it has shown so many pictures, and two that are `step` pictures of the source apart; checks
        that no two are closer, and returns it. Of how many pictures came in a time, this says nothing: a busy machine skips
        some."""
        def least():
            numbers = [e["number"] for e in p.shown()]
            return min((b - a for a, b in zip(numbers, numbers[1:])), default=math.inf)
        p.wait_shown(frames, 60)
        until(lambda: least() <= step or not p.running(), f"two pictures {step} apart", 60)
        self.interrupt(p)
        self.assertEqual(least(), step)
        return p

    def interrupt(self, p, may_be_over=False):
        """Ends the player, and returns it. `may_be_over`: on a busy machine its film may have ended before."""
        p.signal(signal.SIGINT)
        if not may_be_over or p.wait() != 0 or p.report()["ended"] != "end-of-media":
            self.assertEqual(p.wait(), 130, str(p))
        return p

    def stall_lasts(self, p, seconds=1, since=0, seconds_until=20):
        """Waits until the player is in a stall that began after `since` such events, and was so for some seconds of its own
        clock."""
        until(lambda: len(p.events("rebuffer-start")) > since or not p.running(), "a stall", seconds_until)
        self.assertTrue(p.running(), str(p))
        begun = p.events("rebuffer-start")[since]["t"]
        until(lambda: p.events()[-1]["t"] > begun + seconds or not p.running(), "the stall to last", seconds_until)

    def preloaded(self, name):
        """Returns LD_PRELOAD for one of our libraries, from a path without blanks, because LD_PRELOAD splits at blanks."""
        link = self.path(name + ".so")
        os.symlink(os.path.join(BUILD, f"lib{name}.so"), link)
        return link

    def stop_cleanly(self, p):
        """Checks that a stopped program frees all its memory."""
        p.signal(signal.SIGTERM)
        self.assertEqual(p.wait(), 0, str(p))

    def clip(self, name="clip.mkv", seconds=4, size="640x360", fps=25):
        """Makes a file with moving pictures that are difficult enough to encode for a comparison. Those of a long one come
        again every 10 s."""
        need("ffmpeg")
        path = self.path(name)
        period = path if seconds <= 10 else path + ".period.mkv"
        film_of(period, "-f", "lavfi", "-i", f"testsrc2=s={size}:r={fps}:d={min(seconds, 10)},noise=alls=6:allf=t",
                "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", "-crf", "16")
        if period != path:
            subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-stream_loop", "-1", "-i", period, "-t", str(seconds), "-c",
                            "copy", path], check=True, timeout=60 * PATIENCE)
            os.remove(period)
        return path

    def few_lost(self, report):
        """Checks that a path without losses lost little: what a busy machine holds up seems lost and is sent again, or is too
        late and not sent. A program with sanitizers reads late, too."""
        network = report["network"]
        if not self.kernel_dropped(report):
            self.assertLess(network["packets_lost"], (20 + network["packets_received"] / 10) * SLOW)

    def kernel_dropped(self, report):
        """Returns True if the stream came in datagrams, if only for a time, and the kernel has dropped some since the test
        began, because a busy machine left a program no time to read them."""
        carried = {t["transport"].split(":")[0] for t in report["session"]["transports"]}
        return carried - {"tcp", "minbuf"} and datagrams_dropped() > self.dropped_before

    def between(self, low, value, high, text=""):
        self.assertIsNotNone(value, text)
        self.assertGreaterEqual(value, low, text)
        self.assertLessEqual(value, high, text)

    def all_came(self, report):
        """Checks that the network lost no frame. The encoder may have dropped some if it was too slow."""
        causes = report["causes"]
        if not self.kernel_dropped(report):
            self.assertEqual(causes["by_root"]["network"], 0, str(causes))


def datagrams_dropped():
    """Returns how many datagrams the kernel has dropped because a socket's buffer was full."""
    with open("/proc/net/snmp") as f:
        names, values = [line.split() for line in f if line.startswith("Udp:")]
    return int(values[names.index("RcvbufErrors")])


def own_address():
    """Returns an address of the loopback that no other process uses: its ports stay free after its server has ended."""
    pid = os.getpid()
    return f"127.{100 + pid // 65536 % 100}.{pid // 256 % 256}.{pid % 256}"


def png_size(path):
    with open(path, "rb") as f:
        head = f.read(24)
    if head[:8] != b"\x89PNG\r\n\x1a\n":
        raise AssertionError(f"{path} is not a PNG file")
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def grey_picture(path):
    """Returns (width, height, luma bytes) of a picture file, read by ffmpeg."""
    need("ffmpeg")
    raw = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", path, "-frames:v", "1", "-f", "rawvideo",
                          "-pix_fmt", "gray", "-"], stdout=subprocess.PIPE, check=True, timeout=30 * PATIENCE).stdout
    width, height = png_size(path)
    return width, height, raw


def frame_number(width, height, luma):
    """Returns the frame number in the test picture's strip of black and white cells, -1 if it is not readable: 32 bits
    of Gray code, then a CRC-8 (see media/pattern/pattern_strip.h)."""
    cells = 0
    for i in range(40):
        column, row = i % 20, i // 20
        x = width * (29 + 18 * column) // 400
        y = height * (177 + 10 * row) // 200
        value = luma[y * width + x]
        if 90 < value < 160:
            return -1
        cells = cells << 1 | (value > 127)
    number = cells >> 8
    for shift in (1, 2, 4, 8, 16):
        number ^= number >> shift
    crc = 0xFF
    for byte in number.to_bytes(4, "big"):
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ 7) & 0xFF if crc & 0x80 else crc << 1
    return number if crc == cells & 0xFF else -1


def main_isolated(isolate):
    """Runs main() in namespaces of its own; isolate: lab/isolate.py."""
    if isolate.isolated():
        isolate.prepare()
        main()
    try:
        sys.exit(isolate.enter([sys.executable, *sys.argv]))
    except isolate.NotPossible as why:
        print(f"skipped: {why}")


class Result(unittest.TextTestResult):
    """Prints the programs of a test below what made it fail."""

    def startTest(self, test):
        Process.started = [p for p in Process.started if p.running()]
        self.begun = time.monotonic()
        faulthandler.dump_traceback_later(HANGS_S, exit=True)
        super().startTest(test)

    def addSuccess(self, test):
        self.stream.write(f"{time.monotonic() - self.begun:.1f} s ... ")
        super().addSuccess(test)

    def _exc_info_to_string(self, err, test):  # called when the test fails: its programs may still run
        return super()._exc_info_to_string(err, test) + "".join(p.described() for p in Process.started)


def long(test):
    """Marks a test method or class that takes long: ./run test runs it only with --long."""
    test.is_long = True
    return test


class PartLoader(unittest.TestLoader):
    """Loads every Nth test of a module, from the Ith on: WEIR_TEST_PART is "I/N". WEIR_TEST_LONG is 1 for the tests that take
    long, 0 for the others. Without these, all tests."""

    def __init__(self):
        super().__init__()
        self.next = 0

    def getTestCaseNames(self, case):
        part, parts = map(int, os.environ.get("WEIR_TEST_PART", "1/1").split("/"))
        # What a module imports from another one is tested there.
        names = super().getTestCaseNames(case) if case.__module__ == "__main__" else []
        if (which := os.environ.get("WEIR_TEST_LONG")) is not None:
            names = [n for n in names if getattr(case, "is_long", getattr(getattr(case, n), "is_long", False)) == (which == "1")]
        chosen = [name for i, name in enumerate(names, self.next) if i % parts == part - 1]
        self.next += len(names)
        return chosen


def runner(**options):
    return unittest.TextTestRunner(resultclass=Result, verbosity=2, **options)


def main():
    for program in SEND, PLAY, PROXY:
        if not os.access(program, os.X_OK):
            raise SystemExit(f"{program} is not built; WEIR_BUILD names the build directory")
    unittest.main(testLoader=PartLoader(), testRunner=runner())
