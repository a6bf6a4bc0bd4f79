// SPDX-License-Identifier: GPL-2.0-or-later
// Plays the fragments that worker.js makes where there are no WebCodecs, in a <video> by Media Source Extensions. The
// worker says when each time of the media is due; the element follows by its rate. Seeking forward would decode
// everything since the last key frame: it is for what the rate cannot make good.

const BAND = 0.03; // s that the element may be off
const GAIN = 1; // rate per second of error
const SLOW = 0.5, FAST = 2; // rates
const FAR = 4; // s behind after which it begins anew with a key frame
const EVERY = 100; // ms
const BEHIND = 2; // s that are kept
const QUEUE_MAX = 32 << 20; // bytes that wait to be appended
const ERRORS = 3; // in ERRORS_WITHIN ms: the browser cannot play this
const ERRORS_WITHIN = 10000;

const Source = globalThis.ManagedMediaSource ?? globalThis.MediaSource;
export const has_element = !!Source;

// Returns the rate that makes good `error`, seconds that the element is behind.
export function rate_for(error) {
  if (Math.abs(error) < BAND) return 1;
  return Math.min(FAST, Math.max(SLOW, 1 + GAIN * error));
}

export class Element {
  // post: takes messages for the worker. failed: called with the codec that the browser does not play.
  constructor(post, failed) {
    Object.assign(this, { post, failed, at: NaN, pace: 1, paused: false, errors: [], counted: 0, behind: 0 });
    this.video = document.createElement("video");
    Object.assign(this.video, { muted: true, playsInline: true, disableRemotePlayback: true });
    this.video.onerror = () => this.renew();
    this.timer = setInterval(() => this.follow(), EVERY);
    this.watch();
  }

  close() {
    clearInterval(this.timer);
    this.closed = true;
    if (this.url) URL.revokeObjectURL(this.url);
  }

  // A track begins; the first one after the worker began anew is `fresh`, and gets a source of its own.
  track({ codec, init, fresh, begin }) {
    if (!Source.isTypeSupported(codec)) return this.failed(codec);
    if (!fresh) return this.put(init);
    if (this.url) URL.revokeObjectURL(this.url);
    const source = this.source = new Source();
    Object.assign(this, { queue: [init], queued: init.length, buffer: null, keys: [], counted: 0, begin });
    this.url = this.video.src = URL.createObjectURL(source);
    source.onsourceopen = () => {
      if (source !== this.source) return;
      this.buffer = source.addSourceBuffer(codec);
      this.buffer.onupdateend = () => this.append(source);
      this.append(source);
    };
    this.video.currentTime = begin;
    this.follow();
  }

  fragment({ data, key, time, at, pace = 1 }) {
    if (!this.source) return;
    Object.assign(this, { at, pace });
    if (key) this.keys.push(time);
    this.put(data);
  }

  put(data) {
    this.queue.push(data);
    this.queued += data.length;
    if (this.queued > QUEUE_MAX) this.renew();
    else this.append(this.source);
  }

  append(source) {
    if (source !== this.source || !this.buffer || this.buffer.updating || source.readyState !== "open") return;
    try {
      const old = this.keys.findLastIndex(k => k < this.video.currentTime - BEHIND);
      if (old > 0) {
        this.buffer.remove(0, this.keys[old]);
        this.keys.splice(0, old);
      } else if (this.queue.length) {
        const data = this.queue.shift();
        this.queued -= data.length;
        this.buffer.appendBuffer(data);
      }
    } catch {
      this.renew();
    }
  }

  // Something failed: the worker begins anew with a key frame.
  renew() {
    if (!this.source) return;
    const now = performance.now();
    this.errors = [...this.errors.filter(e => e > now - ERRORS_WITHIN), now];
    this.source = this.buffer = null;
    if (this.errors.length > ERRORS) this.failed(this.video.error?.message ?? "");
    else this.post({ type: "renew" });
  }

  set_paused(paused) {
    this.paused = paused;
    this.follow();
  }

  // at: when time 0 is due, in milliseconds since 1970; NaN: media is missing. pace: of playing.
  clock(at, pace = 1) {
    Object.assign(this, { at, pace });
    this.follow();
  }

  follow() {
    const { video } = this;
    if (!this.source || this.paused || !Number.isFinite(this.at)) return void (video.paused || video.pause());
    if (video.paused) video.play().catch(() => {});
    if (!video.readyState) return;
    const error = (performance.timeOrigin + performance.now() - this.at) / 1000 * this.pace - video.currentTime;
    this.behind = error;
    if (error > FAR) return this.renew();
    const rate = this.pace * rate_for(error);
    if (Math.abs(video.playbackRate - rate) > 0.005) video.playbackRate = rate;
  }

  // Tells the worker what is on the screen.
  watch() {
    const next = (now, shown) => {
      if (this.closed) return;
      const time = shown?.mediaTime ?? this.video.currentTime, frames = shown?.presentedFrames ?? this.counted + 1;
      if (this.source && this.video.readyState > 1)
        this.post({ type: "presented", time, count: frames - this.counted, at: performance.timeOrigin + (shown?.expectedDisplayTime ?? now) });
      this.counted = frames;
      this.watch();
    };
    if (this.video.requestVideoFrameCallback) this.video.requestVideoFrameCallback(next);
    else requestAnimationFrame(next);
  }
}
