# SPDX-License-Identifier: GPL-2.0-or-later
"""Other programs that experiments compare with, where Weir does not contain them: `./run lab peers` installs them.

Chrome's WebRTC engine (PyPI's wrtc) goes into a virtual environment of its own, which nothing else uses. Of hls.js, dash.js and
Shaka Player (npm) it keeps one script each, and the licence. ffmpeg, for SRT and RTSP, and chromium are packages of the system:
only their presence is reported. Whatever is missing is left out of the experiments.
"""
import functools
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

WRTC = ("wrtc==0.1.0", "typing_extensions")
PLAYERS = {  # of films over HTTP: the package, its version, and its script
    "hls.js": ("hls.js", "1.7.4", "dist/hls.min.js"),
    "dash.js": ("dashjs", "5.2.1", "dist/modern/umd/dash.all.min.js"),
    "shaka": ("shaka-player", "5.2.12", "dist/shaka-player.compiled.js"),
}
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


def player_path(kind):
    package, version, script = PLAYERS[kind]
    return os.path.join(folder(), f"{package}-{version}", os.path.basename(script))


def player(kind):
    """Returns the script of a player of PLAYERS, or None."""
    path = player_path(kind)
    return path if os.path.isfile(path) else None


def keep(archive, script, where):
    """Keeps a package's SCRIPT and its licence in the folder WHERE: whole, or not at all."""
    new = where + ".new"
    shutil.rmtree(new, ignore_errors=True)
    os.makedirs(new)
    with tarfile.open(archive) as package:
        for member in package.getmembers():
            name = member.name.partition("/")[2]
            if member.isfile() and (name == script or name.upper().startswith("LICENSE")):
                with open(os.path.join(new, os.path.basename(name)), "wb") as f:
                    shutil.copyfileobj(package.extractfile(member), f)
    if not os.path.exists(os.path.join(new, os.path.basename(script))):
        shutil.rmtree(new)
        raise FileNotFoundError(f"the package has no {script}")
    shutil.rmtree(where, ignore_errors=True)
    os.replace(new, where)


def install_player(kind):
    """Returns an error, or None. npm checks that the package is the one of that version that was published."""
    if not shutil.which("npm"):
        return "npm is missing (Debian: apt-get install npm)"
    package, version, script = PLAYERS[kind]
    with tempfile.TemporaryDirectory(prefix="weir-") as there:
        done = _run(["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", there, f"{package}@{version}"])
        if done.returncode != 0:
            return _last_line(done)
        try:
            keep(os.path.join(there, done.stdout.split()[-1]), script, os.path.dirname(player_path(kind)))
        except (OSError, IndexError, tarfile.TarError) as e:
            return str(e)
    return None


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
    for kind, (_, version, _) in PLAYERS.items():
        error = None if player(kind) else install_player(kind)
        code |= error is not None
        print(f"{kind} {version} (abr-real): {f'{error}; it will be left out' if error else player(kind)}")
    ffmpeg = shutil.which("ffmpeg")
    print(f"ffmpeg (srt-MS, rtsp-tcp, rtsp-udp): {ffmpeg or 'missing (Debian: apt-get install ffmpeg)'}")
    browser = shutil.which("chromium")
    print(f"chromium (abr-real; chromium, if named): {browser or 'missing (Debian: apt-get install chromium)'}")
    return code
