# SPDX-License-Identifier: GPL-2.0-or-later
"""One end of a WebRTC connection of Chrome's engine (the Python package wrtc), for lab/chrome.py.

    chrome_peer.py receive SIGNAL WIDTH HEIGHT > PICTURES
    chrome_peer.py send SIGNAL WIDTH HEIGHT CLIP HEADER FRAME FPS EPOCH BPS PAUSE RESUME

Offer and answer are files SIGNAL.offer and SIGNAL.answer. The sender's frame n is due at EPOCH + n / FPS on the monotonic
clock; from PAUSE to RESUME, seconds of media, the encoding is inactive. SIGINT ends both.
"""
import asyncio
import json
import os
import signal
import sys
import time

sys.path.pop(0)  # this folder has modules with the names of others

import webrtc  # noqa: E402

CONNECT_S = 10
BUFFERED = 60  # pictures that may wait for the pipe


def put(path, description):
    with open(path + ".new", "w", encoding="utf-8") as f:
        json.dump(description.to_json(), f)
    os.replace(path + ".new", path)


async def get(path):
    """Waits for a description of the other end."""
    deadline = time.monotonic() + CONNECT_S
    while not os.path.exists(path):
        if time.monotonic() > deadline:
            raise SystemExit(f"{path}: nothing came for {CONNECT_S} s")
        await asyncio.sleep(0.01)
    with open(path, encoding="utf-8") as f:
        return webrtc.RTCSessionDescriptionInit.from_json(json.load(f))


async def gathered(pc):
    deadline = time.monotonic() + CONNECT_S
    while pc.ice_gathering_state != "complete":
        if time.monotonic() > deadline:
            raise SystemExit(f"no ICE candidates within {CONNECT_S} s")
        await asyncio.sleep(0.01)


async def send(where, width, height, clip, header, frame, fps, epoch, bps, pause):
    pc = webrtc.RTCPeerConnection()
    generator = webrtc.VideoTrackGenerator()
    generator.track.content_hint = "motion"
    sender = pc.add_track(generator.track)
    await pc.set_local_description(await pc.create_offer())
    await gathered(pc)
    put(where + ".offer", pc.local_description)
    await pc.set_remote_description(await get(where + ".answer"))
    parameters = sender.get_parameters()
    parameters.encodings[0].max_bitrate = bps
    parameters.degradation_preference = "maintain-resolution"
    await sender.set_parameters(parameters)
    writer = generator.writable.get_writer()
    with open(clip, "rb") as f:
        for n in range((os.fstat(f.fileno()).st_size - header) // frame):
            await asyncio.sleep(max(0.0, epoch + n / fps - time.monotonic()))
            paused = pause[0] <= n / fps < pause[1]
            if paused == parameters.encodings[0].active:
                parameters = sender.get_parameters()
                parameters.encodings[0].active = not paused
                await sender.set_parameters(parameters)
            if paused:
                continue
            size = width * height * 3 // 2
            data = os.pread(f.fileno(), size, header + (n + 1) * frame - size)
            init = webrtc.VideoFrameBufferInit(format="I420", coded_width=width, coded_height=height,
                                               timestamp=round(n * 1e6 / fps))
            await writer.write(webrtc.VideoFrame(data, init))
    pc.close()


async def receive(where, width, height):
    pc = webrtc.RTCPeerConnection()
    tracks = asyncio.Queue()
    pc.on("track", lambda event: tracks.put_nowait(event.track))
    await pc.set_remote_description(await get(where + ".offer"))
    await pc.set_local_description(await pc.create_answer())
    await gathered(pc)
    put(where + ".answer", pc.local_description)
    track = await asyncio.wait_for(tracks.get(), CONNECT_S)
    processor = webrtc.MediaStreamTrackProcessor(webrtc.MediaStreamTrackProcessorInit(track, BUFFERED))
    picture = bytearray(width * height * 3 // 2)
    async for frame in processor.readable:
        if (frame.coded_width, frame.coded_height, frame.format) == (width, height, "I420"):
            await frame.copy_to(picture)
            view = memoryview(picture)
            while view:
                view = view[os.write(1, view):]
        else:
            print(f"a picture of {frame.coded_width}x{frame.coded_height}, {frame.format}: left out", file=sys.stderr)
        frame.close()


def main():
    what, where, width, height, *rest = sys.argv[1:]
    for number in signal.SIGINT, signal.SIGTERM:
        signal.signal(number, lambda *_: os._exit(0))
    if what == "receive":
        asyncio.run(receive(where, int(width), int(height)))
    else:
        clip, header, frame, fps, epoch, bps, pause, resume = rest
        asyncio.run(send(where, int(width), int(height), clip, int(header), int(frame), float(fps), float(epoch), int(bps),
                         (float(pause), float(resume))))


if __name__ == "__main__":
    main()
