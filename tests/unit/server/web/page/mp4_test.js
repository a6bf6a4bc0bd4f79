// SPDX-License-Identifier: GPL-2.0-or-later
import test from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LEAD, Timeline, fragment, h264_sample, h264_track, init_segment, sps_size, units_of } from "../../../../../server/web/page/mp4.js";

const bytes = (...b) => Uint8Array.from(b);
const ffmpeg = spawnSync("ffmpeg", ["-version"]).status === 0 ? {} : { skip: "ffmpeg is not installed" };

function run(program, ...args) {
  const p = spawnSync(program, ["-v", "error", ...args], { encoding: "utf8", maxBuffer: 1 << 26 });
  assert.equal(p.status, 0, p.stderr);
  assert.equal(p.stderr, "");
  return p.stdout;
}

test("the units of a picture", () => {
  assert.deepEqual(units_of(bytes(0, 0, 0, 1, 0x67, 1, 0, 0, 1, 0x68, 0, 0, 0, 1, 0x65, 5, 6)).map(u => [...u]),
    [[0x67, 1], [0x68], [0x65, 5, 6]]);
  assert.deepEqual(units_of(bytes(1, 2, 3)), []);
  assert.deepEqual(units_of(bytes(0, 0, 1)), []);
  assert.deepEqual([...h264_sample(bytes(0, 0, 0, 1, 9, 16, 0, 0, 0, 1, 0x67, 1, 0, 0, 1, 0x65, 7, 8))], [0, 0, 0, 3, 0x65, 7, 8]);
});

test("parameter sets that cannot be read", () => {
  assert.equal(h264_track(bytes(0, 0, 1, 0x65, 1)), null);
  assert.equal(h264_track(bytes(0, 0, 1, 0x67, 66, 0, 30, 0, 0, 1, 0x68, 1)), null);
  assert.equal(sps_size(bytes(0x67)), null);
  assert.equal(sps_size(new Uint8Array(100)), null);
});

test("times: decoding never goes back, nor after showing", () => {
  const t = new Timeline();
  const got = [0, 12000, 6000, 3000, 9000, 24000].map(ticks => t.next(ticks, true));
  assert.deepEqual(got.map(p => p.decoded), [0, 12000, 12001, 12002, 12003, 24000]);
  assert.deepEqual(got.map(p => p.shown - LEAD), [0, 12000, 6000, 3000, 9000, 24000]);
  assert.deepEqual(got.map(p => p.number), [1, 2, 3, 4, 5, 6]);
  assert.equal(new Timeline().next(3000, false).decoded, LEAD + 3000);
});

// Pictures of ffmpeg's encoder with delimiters, in decoding order, and when each is shown.
function pictures(folder, ...args) {
  run("ffmpeg", "-f", "lavfi", "-i", "testsrc2=s=322x182:r=25:d=2", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-x264-params",
    "keyint=20", ...args, "-video_track_timescale", "90000", join(folder, "in.mp4"));
  run("ffmpeg", "-i", join(folder, "in.mp4"), "-c", "copy", "-bsf:v", "h264_mp4toannexb,h264_metadata=aud=insert", "-f", "h264", join(folder, "in.264"));
  const times = JSON.parse(run("ffprobe", "-show_packets", "-of", "json", join(folder, "in.mp4"))).packets.map(p => p.pts);
  const all = new Uint8Array(readFileSync(join(folder, "in.264")));
  const starts = [];
  for (let i = 0; i + 4 < all.length; i++) if (!all[i] && !all[i + 1] && !all[i + 2] && all[i + 3] === 1 && (all[i + 4] & 31) === 9) starts.push(i);
  assert.equal(starts.length, times.length);
  return starts.map((s, i) => ({ data: all.subarray(s, starts[i + 1]), ticks: times[i] }));
}

for (const [name, reorders, args] of [["of the live encoder", false, ["-tune", "zerolatency", "-profile:v", "baseline"]],
  ["with B frames", true, ["-bf", "3", "-b_strategy", "0"]]])
  test(`ffprobe reads pictures ${name}, and ffmpeg decodes the same`, ffmpeg, () => {
    const folder = mkdtempSync(join(tmpdir(), "weir-mp4-"));
    try {
      const coded = pictures(folder, ...args);
      const track = h264_track(coded[0].data);
      assert.deepEqual([track.width, track.height], [322, 182]);
      assert.match(track.codec, /^avc1\.(42c0|6400)[0-9a-f]{2}$/);
      const timeline = new Timeline();
      const file = [init_segment(track)];
      const shown = [];
      for (const { data, ticks } of coded) {
        const key = units_of(data).some(u => (u[0] & 31) === 5);
        const time = timeline.next(ticks, reorders);
        shown.push(time.shown);
        file.push(fragment({ ...time, key, sample: h264_sample(data) }));
      }
      writeFileSync(join(folder, "out.mp4"), Buffer.concat(file));
      const packets = JSON.parse(run("ffprobe", "-show_packets", "-show_streams", "-of", "json", join(folder, "out.mp4")));
      assert.deepEqual([packets.streams[0].codec_name, packets.streams[0].width, packets.streams[0].height], ["h264", 322, 182]);
      assert.deepEqual(packets.packets.map(p => p.pts), shown);
      assert.ok(packets.packets.every((p, i) => p.dts <= p.pts && (i === 0 || p.dts > packets.packets[i - 1].dts)));
      assert.equal(packets.packets[20].flags[0], "K");
      const md5 = path => run("ffmpeg", "-i", path, "-vsync", "passthrough", "-f", "framemd5", "-").split("\n").filter(l => l && l[0] !== "#")
        .map(l => l.split(",").at(-1).trim());
      assert.deepEqual(md5(join(folder, "out.mp4")), md5(join(folder, "in.264")));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
