# SPDX-License-Identifier: GPL-2.0-or-later
"""An RTSP server that is not ours: GStreamer's. Prints its port, and what its clients ask. With --record it takes a stream
in place of giving one, and prints a line of each frame and audio packet: the medium, its time and its bytes.

    gst_server.py [--record opus|aac|video] [--basic] [--udp] [--path PATH] [--encoder ARGS] [--pay ARGS] [--video h264|h265|jpeg] [--audio opus|aac|pcma|pcmu|l16|g726|aal2|g722] [--user NAME:PASSWORD] [--timeout SECONDS] [--port N] [--tls PEM] [--file MKV]"""
import argparse
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import Gio, GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402

SOUNDS = {"opus": "opusenc ! rtpopuspay", "aac": "avenc_aac ! rtpmp4gpay", "pcma": "alawenc ! rtppcmapay",
          "pcmu": "mulawenc ! rtppcmupay", "g722": "avenc_g722 ! rtpg722pay", "l16": "audio/x-raw,rate=16000,channels=1 ! rtpL16pay",
          "g726": "avenc_g726 ! rtpg726pay force-aal2=false", "aal2": "avenc_g726 ! rtpg726pay force-aal2=true"}

DEPAYLOADERS = {"opus": "rtpopusdepay", "aac": "rtpmp4gdepay"}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--path", default="/live")
    p.add_argument("--encoder", default="tune=zerolatency bframes=0")
    p.add_argument("--pay", default="")
    p.add_argument("--video", choices=("h264", "h265", "jpeg"), default="h264")
    p.add_argument("--audio", choices=SOUNDS)
    p.add_argument("--audio-type", type=int, default=97)
    p.add_argument("--user")
    p.add_argument("--tls")
    p.add_argument("--basic", action="store_true")
    p.add_argument("--udp", action="store_true")
    p.add_argument("--record", choices=("opus", "aac", "video"))
    p.add_argument("--timeout", type=int, default=60)
    p.add_argument("--rate", default="25/1")
    p.add_argument("--file")
    a = p.parse_args()
    Gst.init(None)
    server = GstRtspServer.RTSPServer.new()
    server.set_address("127.0.0.1")
    server.set_service("0")
    factory = GstRtspServer.RTSPMediaFactory.new()
    videos = {"h264": f"x264enc speed-preset=ultrafast bitrate=400 key-int-max=25 {a.encoder} ! rtph264pay name=pay0 pt=96",
              "h265": "x265enc speed-preset=ultrafast tune=zerolatency bitrate=400 key-int-max=25 ! "
                      "h265parse config-interval=-1 ! rtph265pay name=pay0 pt=96",
              "jpeg": "jpegenc ! rtpjpegpay name=pay0 pt=26"}
    launch = (f"( videotestsrc is-live=true pattern=ball ! video/x-raw,format=I420,width=320,height=240,framerate={a.rate} ! "
              f"{videos[a.video]} {a.pay} ")
    if a.audio:
        launch += f"audiotestsrc is-live=true ! audioconvert ! audioresample ! {SOUNDS[a.audio]} name=pay1 pt={a.audio_type} "
    if a.file:
        launch = (f"( filesrc location={a.file} ! matroskademux name=d d.video_0 ! queue ! h264parse ! rtph264pay name=pay0 pt=96 "
                  f"d.audio_0 ! queue ! opusdec ! opusenc ! rtpopuspay name=pay1 pt={a.audio_type} ")
    if a.record:
        launch = "( rtph264depay name=depay0 ! h264parse ! video/x-h264,stream-format=byte-stream,alignment=au ! " \
                 "fakesink name=video signal-handoffs=true sync=false async=false "
        if a.record != "video":
            launch += f"{DEPAYLOADERS[a.record]} name=depay1 ! fakesink name=audio signal-handoffs=true sync=false async=false "
        factory.set_transport_mode(GstRtspServer.RTSPTransportMode.RECORD)
        factory.set_latency(50)

        def on_media(_, media):
            for name in "video", "audio":
                sink = media.get_element().get_by_name(name)
                if sink:
                    sink.connect("handoff", lambda _, b, __, n=name: print(n, b.pts, b.get_size(), flush=True))
        factory.connect("media-configure", on_media)
    factory.set_launch(launch + ")")
    factory.set_shared(not a.record)
    if a.udp:
        factory.set_protocols(GstRtsp.RTSPLowerTrans.UDP)
    if a.user or a.tls:
        auth = GstRtspServer.RTSPAuth.new()
        token = GstRtspServer.RTSPToken.new()
        token.set_string("media.factory.role", "viewer")
        if a.tls:
            auth.set_tls_certificate(Gio.TlsCertificate.new_from_file(a.tls))
        if a.user:
            name, password = a.user.split(":")
            auth.set_supported_methods(GstRtsp.RTSPAuthMethod.BASIC if a.basic else GstRtsp.RTSPAuthMethod.DIGEST)
            if a.basic:
                auth.add_basic(GstRtspServer.RTSPAuth.make_basic(name, password), token)
            else:
                auth.add_digest(name, password, token)
        else:
            auth.set_default_token(token)
        server.set_auth(auth)
        factory.add_role_from_structure(Gst.Structure.from_string(
            "viewer, media.factory.access=(boolean)true, media.factory.construct=(boolean)true;")[0])
    server.get_mount_points().add_factory(a.path, factory)

    def on_client(_, client):
        def on_session(_, session):
            session.set_timeout(a.timeout)
        client.connect("new-session", on_session)
        client.connect("closed", lambda _: print("closed", flush=True))
        for name in "options", "describe", "setup", "play", "get-parameter", "set-parameter", "teardown", "announce", "record":
            client.connect(name + "-request", lambda _, __, n=name: print("asked", n, flush=True))
    server.connect("client-connected", on_client)
    if not server.attach(None):
        sys.exit("cannot listen")
    print("port", server.get_bound_port(), flush=True)
    GLib.timeout_add_seconds(1, lambda: server.get_session_pool().cleanup() + 1)
    GLib.timeout_add_seconds(120, lambda: sys.exit(3))
    GLib.MainLoop().run()


if __name__ == "__main__":
    main()
