# SPDX-License-Identifier: GPL-2.0-or-later
"""Other programs that experiments compare with, where Weir does not contain them: `./run lab peers` installs them.

Chrome's WebRTC engine (PyPI's wrtc) goes into a virtual environment of its own, which nothing else uses. ffmpeg, for SRT and
RTSP, and chromium are packages of the system: only their presence is reported. Whatever is missing is left out of the
experiments.
"""
import functools
import os
import shutil
import subprocess
import sys

WRTC = ("wrtc==0.1.0", "typing_extensions")
PATIENCE = 600  # seconds for an installation
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def folder():
    """Returns the folder of what `peers` installs: of a clone its build folder, else the user's cache."""
    if os.path.isfile(os.path.join(ROOT, "run")):
        return os.path.join(ROOT, "build", "peers")
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "weir-lab", "peers")


@functools.lru_cache
def wrtc_python():
    """Returns a Python that has wrtc - that of the virtual environment, or this one - or None."""
    for python in (os.path.join(folder(), "wrtc", "bin", "python"), sys.executable):
        if os.access(python, os.X_OK) and _run([python, "-c", "import webrtc"]).returncode == 0:
            return python
    return None


def _run(argv):
    return subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False)


def _last_line(done):
    return ((done.stderr or done.stdout).strip().splitlines() or ["no message"])[-1]


def install_wrtc():
    """Returns an error, or None."""
    where = os.path.join(folder(), "wrtc")
    why = "no Python can make a virtual environment"
    for python in dict.fromkeys((sys.executable, shutil.which("python3") or sys.executable)):
        made = _run([python, "-m", "venv", "--clear", where])
        if made.returncode == 0:
            break
        why = _last_line(made)
    else:
        return f"{why} (Debian: apt-get install python3-venv)"
    done = _run([os.path.join(where, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", "--no-deps", *WRTC])
    if done.returncode != 0:
        return _last_line(done)
    wrtc_python.cache_clear()
    return None if wrtc_python() else "wrtc was installed, but does not load on this machine"


def install():
    """Installs what is missing and prints what there is. Returns the exit code."""
    code = 0
    if wrtc_python():
        print(f"wrtc (googcc, screamv2): {wrtc_python()}")
    else:
        error = install_wrtc()
        code |= error is not None
        print(f"wrtc (googcc, screamv2): {error}; these contenders will be left out" if error else
              f"wrtc (googcc, screamv2): installed into {os.path.join(folder(), 'wrtc')}")
    ffmpeg = shutil.which("ffmpeg")
    print(f"ffmpeg (srt-MS, rtsp-tcp, rtsp-udp): {ffmpeg or 'missing (Debian: apt-get install ffmpeg)'}")
    browser = shutil.which("chromium")
    print(f"chromium (chromium, if named): {browser or 'missing (Debian: apt-get install chromium)'}")
    return code
