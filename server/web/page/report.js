// SPDX-License-Identifier: GPL-2.0-or-later
// What a viewing was like: the figures of the panel, and the report `weir.qoe/1` (docs/qoe-report.md). Times are
// milliseconds of performance.now(). Pure.

const RECENT = 5000; // ms that the panel looks back
const FREEZE_MIN = 150; // ms, or three frame intervals
const SAMPLES_MAX = 65536; // a longer viewing keeps every second sample, then every fourth ...

// Keeps samples within a bound.
export class Samples {
  constructor() {
    this.values = [];
    this.every = 1;
    this.count = this.sum = 0;
  }
  add(v) {
    if (!Number.isFinite(v)) return;
    this.sum += v;
    if (this.count++ % this.every) return;
    this.values.push(v);
    if (this.values.length < SAMPLES_MAX) return;
    this.values = this.values.filter((_, i) => i % 2 === 0);
    this.every *= 2;
  }
  json() {
    if (!this.count) return { mean: null, p50: null, p95: null, p99: null, max: null };
    const sorted = [...this.values].sort((a, b) => a - b);
    return { mean: round(this.sum / this.count), p50: round(quantile(sorted, 0.5)), p95: round(quantile(sorted, 0.95)),
      p99: round(quantile(sorted, 0.99)), max: round(sorted.at(-1)) };
  }
}

export function quantile(sorted, part) {
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(part * sorted.length) - 1))] : null;
}
const round = v => Math.round(v * 1000) / 1000;
const seconds = ms => round(ms / 1000);

export class Report {
  constructor(url, now = performance.now()) {
    this.url = url;
    this.began = now;
    this.started_at = new Date().toISOString();
    this.connected_at = this.first_at = this.last_at = this.ended_at = null;
    this.ended = null;
    this.error = null;
    this.total = 0;
    this.recent = []; // {at, kind, ...} of the last RECENT ms
    this.counts = { received: 0, shown: 0, lost: 0, late: 0, undecodable: 0, display: 0 };
    this.latency = new Samples();
    this.frame = new Samples();
    this.freezes = [];
    this.levels = new Map(); // level -> ms
    this.switches = [];
    this.level = null;
    this.seeks = new Samples();
    this.seek_at = null;
    this.media = 0; // ms
    this.decoder_errors = this.audio_packets = 0;
    this.decode_ms = 0;
    this.lateness = 0;
    this.pause = false;
    this.speaker = null;
  }

  #note(entry) {
    this.recent.push(entry);
    while (this.recent[0].at < entry.at - RECENT) this.recent.shift();
  }

  connected(now) {
    this.connected_at = now;
  }
  bytes(n, now) {
    this.total += n;
    this.#note({ at: now, bytes: n });
  }
  lost(n) {
    this.counts.lost += n;
  }
  received() {
    this.counts.received++;
  }
  dropped(why) {
    this.counts[why]++;
  }
  decoded(ms) {
    this.decode_ms += (ms - this.decode_ms) * (this.decode_ms ? 0.1 : 1);
  }
  late(ms) {
    this.lateness += (Math.max(0, ms) - this.lateness) * 0.1;
  }
  // Time without pictures during a pause or after a seek is no freeze.
  paused(paused) {
    this.pause = paused;
    this.last_at = null;
  }
  seek(now) {
    this.seek_at = now;
    this.last_at = null;
  }

  shown(picture, now, latency, fps) {
    this.counts.shown++;
    this.latency.add(latency);
    this.#note({ at: now, shown: true, latency });
    this.first_at ??= now;
    if (this.seek_at !== null) {
      this.seeks.add(now - this.seek_at);
      this.seek_at = null;
    }
    if (this.last_at !== null) {
      const gap = now - this.last_at;
      this.media += Math.min(gap, 1000);
      this.levels.set(this.level, (this.levels.get(this.level) ?? 0) + gap);
      if (gap > Math.max(FREEZE_MIN, 3000 / fps) && this.freezes.length < 10000)
        this.freezes.push({ at: seconds(this.last_at - this.began), duration: seconds(gap), cause: null });
    }
    if (picture.level !== this.level && picture.level >= 0) {
      if (this.switches.length < 1000)
        this.switches.push({ at: seconds(now - this.began), from: this.level, to: picture.level, why: null });
      this.level = picture.level;
    }
    this.last_at = now;
  }

  end(ended, error, now) {
    if (this.ended) return;
    this.ended = ended;
    this.error = error;
    this.ended_at = now;
  }

  stats(now) {
    const recent = this.recent.filter(r => r.at > now - RECENT);
    const span = Math.min(RECENT, now - this.began) / 1000;
    const latencies = recent.filter(r => r.shown && Number.isFinite(r.latency)).map(r => r.latency).sort((a, b) => a - b);
    const shown = recent.filter(r => r.shown);
    const fps = shown.length > 1 ? (shown.length - 1) / (shown.at(-1).at - shown[0].at) * 1000 : 0;
    return {
      rate: recent.reduce((sum, r) => sum + (r.bytes ?? 0), 0) * 8 / span, fps,
      p50: quantile(latencies, 0.5), p95: quantile(latencies, 0.95), counts: { ...this.counts },
      freezes: this.freezes.length, longest: this.freezes.reduce((most, f) => Math.max(most, f.duration), 0),
      decode_ms: this.decode_ms, decoder_errors: this.decoder_errors, speaker: this.speaker,
      first_ms: this.first_at === null ? null : this.first_at - this.began, bytes: this.total,
    };
  }

  json(now, player) {
    const end = this.ended_at ?? now;
    const wall = this.first_at === null ? 0 : end - this.first_at;
    const total = this.freezes.reduce((sum, f) => sum + f.duration, 0);
    const count = player?.sdp?.levels.length ?? 0;
    const per_level = Array.from({ length: count }, (_, i) => seconds(this.levels.get(i) ?? 0));
    const watched = per_level.reduce((a, b) => a + b, 0);
    const known = player && Number.isFinite(player.clock.offset);
    const since = at => at === null ? null : seconds(at - this.began);
    return {
      schema: "weir.qoe/1", ended: this.ended ?? "interrupted", error: this.error,
      session: { url: this.url, transport: "minbuf:auto,20", transport_why: null, source: player?.sdp?.source ?? null,
        started_at: this.started_at, duration: seconds(end - this.began), reconnects: 0, via: null, player: "browser" },
      startup: { connect: since(this.connected_at), initial_buffering: null, time_to_first_frame: since(this.first_at) },
      playback: { media: seconds(this.media), wall: seconds(wall), frames_received: this.counts.received,
        frames_played: this.counts.shown, frames_lost: this.counts.lost, frames_late: this.counts.late + this.counts.display,
        frames_undecodable: this.counts.undecodable, frame_rate: wall ? round(this.counts.shown / wall * 1000) : null },
      rebuffering: null,
      freezes: { count: this.freezes.length, total: round(total), ratio: wall ? round(total / wall * 1000) : null,
        longest: this.freezes.reduce((most, f) => Math.max(most, f.duration), 0), by_cause: null, events: this.freezes },
      causes: null, channels: null, seeks: { count: this.seeks.count, wait: this.seeks.json() }, controls: null, jitter: null,
      levels: { count, mean: watched ? round(per_level.reduce((sum, s, i) => sum + s * i, 0) / watched) : null,
        time_at: per_level, bitrates: player?.sdp?.levels.map(l => l.rate) ?? [],
        switch_count: Math.max(0, this.switches.length - 1), switches: this.switches },
      layers: null,
      latency: { protocol: null, frame: null, display: known ? this.latency.json() : null, parts: null, budget: null,
        clock: known ? "estimated" : null, offset_error: known ? round(player.clock.rtt * 500) : null },
      network: { bytes_received: this.total, throughput: end > this.began ? Math.round(this.total * 8000 / (end - this.began)) : null,
        rtt: null },
      repair: null, picture: null,
      audio: this.audio_packets ? { packets: this.audio_packets, underruns: this.speaker?.underruns ?? null } : null, cpu: null,
    };
  }
}
