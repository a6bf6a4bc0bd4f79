# SPDX-License-Identifier: GPL-2.0-or-later
"""Janus, a WebRTC server, with the configuration and the page of packaging/janus, which docs/many-viewers.md shows."""
import os
import shutil

GIVEN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "packaging", "janus")
LIBRARY = "/usr/lib"  # and then the machine's name
FOLLOWS = 2  # the stream whose rate follows the browser
PORT = 8188
GENERAL = """
general: {{
    plugins_folder = "{folder}/plugins"
    transports_folder = "{folder}/transports"
}}
plugins: {{
    disable = "{plugins}"
}}
transports: {{
    disable = "{transports}"
}}
"""


def missing():
    """Returns what this machine lacks, or None."""
    if not shutil.which("janus"):
        return "janus is not installed"
    return None if os.path.isdir(GIVEN) else f"{GIVEN} is missing"


def modules():
    """Returns Janus' folder, and what of its modules is not needed."""
    folder = next(os.path.dirname(d) for d, _, files in os.walk(LIBRARY) if d.endswith("/janus/plugins") and files)
    return {"folder": folder, **{
        kind: ",".join(sorted(name for name in os.listdir(os.path.join(folder, kind)) if name.endswith(".so") and needed not in name))
        for kind, needed in (("plugins", "streaming"), ("transports", "websockets"))}}


def command(folder, change=lambda text: text):
    """Writes the configuration into a new folder, as `change` changes that of the streams; returns the command line."""
    os.mkdir(folder)
    with open(os.path.join(GIVEN, "janus.plugin.streaming.jcfg"), encoding="utf-8") as f:
        given = change(f.read())
    for name, text in (("janus.jcfg", GENERAL.format(**modules())),
                       ("janus.transport.websockets.jcfg", f"general: {{ ws = true, ws_port = {PORT} }}"),
                       ("janus.plugin.streaming.jcfg", given)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    return ["janus", "-F", folder, "-C", os.path.join(folder, "janus.jcfg"), "-o", "-d", "5"]
