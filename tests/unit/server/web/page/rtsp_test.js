// SPDX-License-Identifier: GPL-2.0-or-later
import test from "node:test";
import assert from "node:assert/strict";
import { RtspReader, RtspError, rtsp_request, rtsp_parameters, sdp_parse, control_uri } from "../../../../../server/web/page/rtsp.js";

const bytes = text => new TextEncoder().encode(text);
const RESPONSE = "RTSP/1.0 200 OK\r\nCSeq: 3\r\nContent-Length: 5\r\n\r\nhello";

test("items are found at any cut of the stream", () => {
  const stream = new Uint8Array([...bytes(RESPONSE), 0x24, 1, 0, 3, 7, 8, 9, ...bytes("\r\nTEARDOWN * RTSP/1.0\r\nCSeq: 1\r\n\r\n")]);
  for (let step = 1; step <= stream.length; step++) {
    const reader = new RtspReader();
    const items = [];
    for (let at = 0; at < stream.length; at += step) items.push(...reader.push(stream.slice(at, at + step)));
    assert.deepEqual(items.map(i => i.kind), ["response", "media", "request"], `step ${step}`);
    assert.equal(items[0].body, "hello");
    assert.equal(items[0].cseq, 3);
    assert.deepEqual([items[1].channel, ...items[1].data], [1, 7, 8, 9]);
    assert.equal(items[2].method, "TEARDOWN");
  }
});

test("what is not RTSP ends the stream", () => {
  for (const text of ["HTTP/1.1 200 OK\r\n\r\n", "RTSP/1.0 200 OK\r\nContent-Length: -1\r\n\r\n", "RTSP/1.0 2 x\r\n\r\n",
    `RTSP/1.0 200 OK\r\nContent-Length: ${1 << 20}\r\n\r\n`, "x".repeat(20000)])
    assert.throws(() => new RtspReader().push(bytes(text)), RtspError, text.slice(0, 30));
});

test("requests", () => {
  assert.equal(rtsp_request("PLAY", "rtsp://h/live", 4, { Session: "a", Range: "" }),
    "PLAY rtsp://h/live RTSP/1.0\r\nCSeq: 4\r\nSession: a\r\n\r\n");
  assert.equal(rtsp_request("SET_PARAMETER", "rtsp://h/live", 5, {}, "level: 3\r\n"),
    "SET_PARAMETER rtsp://h/live RTSP/1.0\r\nCSeq: 5\r\nContent-Type: text/parameters\r\nContent-Length: 10\r\n\r\nlevel: 3\r\n");
  assert.deepEqual(rtsp_parameters("clock: 17\r\ntransport: rtt_ms=1 a=b:c\r\n"), { clock: "17", transport: "rtt_ms=1 a=b:c" });
});

const SDP = `v=0
s=test
a=control:*
a=range:npt=0-30.5
m=video 0 RTP/AVP 96
a=rtpmap:96 H264/90000
a=fmtp:96 packetization-mode=1;profile-level-id=640015;sprop-parameter-sets=Z2QA,aErw
a=extmap:1 http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time
a=extmap:2 urn:x-weir:rtp-hdrext:adu
a=control:trackID=0
a=x-weir-source:test 426x240@30/1
a=x-weir-size:0 256x144@15/1 layers=2
a=x-weir-size:1 426x240@30/1 layers=2
a=x-weir-level:0 size=0 tid=0 rate=80000
a=x-weir-level:1 size=1 tid=1 rate=320000
m=audio 0 RTP/AVP 98
a=rtpmap:98 opus/48000/2
a=control:trackID=1
`;

test("descriptions", () => {
  const sdp = sdp_parse(SDP.replaceAll("\n", "\r\n"));
  assert.equal(sdp.duration, 30.5);
  assert.deepEqual([sdp.video.codec, sdp.video.type, sdp.video.profile, sdp.video.control, sdp.video.ext],
    ["H264", 96, "640015", "trackID=0", { capture: 1, adu: 2 }]);
  assert.deepEqual([sdp.audio.codec, sdp.audio.rate, sdp.audio.control], ["OPUS", 48000, "trackID=1"]);
  assert.deepEqual(sdp.levels.map(l => [l.width, l.height, l.fps, l.rate]), [[256, 144, 7.5, 80000], [426, 240, 30, 320000]]);
  assert.equal(sdp_parse("v=0\r\na=range:npt=now-\r\n").duration, -1);
  assert.equal(sdp.prepared, false);
  assert.equal(sdp_parse("v=0\r\na=x-weir-origin:5f3a-1\r\n").prepared, true);
  assert.equal(sdp_parse("").video, null);
});

test("the URI of a track", () => {
  assert.equal(control_uri("rtsp://h/live", "trackID=0"), "rtsp://h/live/trackID=0");
  assert.equal(control_uri("rtsp://h/live/", "trackID=0"), "rtsp://h/live/trackID=0");
  assert.equal(control_uri("rtsp://h/live?key=a", "trackID=0"), "rtsp://h/live/trackID=0?key=a");
  assert.equal(control_uri("rtsp://h/live", "rtsp://o/x"), "rtsp://o/x");
  assert.equal(control_uri("rtsp://h/live", "*"), "rtsp://h/live");
});

test("tracks of a film", () => {
  const sdp = sdp_parse("v=0\r\na=x-weir-subtitles:eng\r\na=x-weir-subtitles:\r\na=x-weir-subtitles-shown:2\r\na=x-weir-audio:deu, Kommentar\r\n");
  assert.deepEqual([sdp.subtitles, sdp.subtitles_shown, sdp.audio_tracks], [["eng", ""], 2, ["deu, Kommentar"]]);
  assert.deepEqual([sdp_parse("v=0").subtitles, sdp_parse("v=0").subtitles_shown], [[], 0]);
});
