# SPDX-License-Identifier: GPL-2.0-or-later
"""GStreamer's playbin3 without a window, as programs use it: writes the luma of the pictures to a file. It begins to play
with 3 s of media: dashdemux2 by itself wants 30 s, which of live media come as slowly as they are played.

    gst_player.py URI FILE"""
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402


def main():
    uri, path = sys.argv[1:]
    Gst.init(None)
    player = Gst.ElementFactory.make("playbin3")
    player.set_property("uri", uri)
    player.set_property("audio-sink", Gst.ElementFactory.make("fakesink"))
    player.set_property("video-sink", Gst.parse_bin_from_description(
        f"videoconvert ! video/x-raw,format=GRAY8 ! filesink location={path}", True))

    def on_element(_, element):
        if element.get_factory().get_name() in ("dashdemux2", "hlsdemux2"):
            print("uses", element.get_factory().get_name(), flush=True)
            element.set_property("max-buffering-time", 3 * Gst.SECOND)
    player.connect("element-setup", on_element)
    loop = GLib.MainLoop()

    def on_message(_, message):
        if message.type == Gst.MessageType.ERROR:
            sys.exit(str(message.parse_error()))
        if message.type == Gst.MessageType.EOS:
            loop.quit()
        if message.type == Gst.MessageType.BUFFERING:
            print("buffered", message.parse_buffering(), flush=True)
            player.set_state(Gst.State.PLAYING if message.parse_buffering() == 100 else Gst.State.PAUSED)
    bus = player.get_bus()
    bus.add_signal_watch()
    bus.connect("message", on_message)
    player.set_state(Gst.State.PAUSED)
    loop.run()


if __name__ == "__main__":
    main()
