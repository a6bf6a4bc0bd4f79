// SPDX-License-Identifier: GPL-2.0-or-later
// The page: what the viewer sees and presses. worker.js plays.
import { Element, has_element } from "./element.js";
import { draw_cues } from "./cues.js";
import { plain_text } from "./films.js";
import { set_icon } from "./icons.js";
import { show_list } from "./list.js";
import { close_menu, toggle_menu } from "./menu.js";
import { Preview } from "./preview.js";
import { away_text, badge_text, clock_text, fps_text, level_text, ms_text, only_path, own_path, path_text, problem_text, rate_text, reason_text,
  track_text } from "./text.js";

const $ = id => document.getElementById(id);
const query = new URLSearchParams(location.search);
const key = query.get("key");
const suffix = key ? `?key=${encodeURIComponent(key)}` : "";
const RETRY = [1000, 2000, 4000, 8000];
const IDLE = 2500; // ms until the bar hides
const NOTICE = 2000; // ms that a message is shown

const where = { host: location.host, path: location.pathname, secure_url: `https://${location.host}${location.pathname}${location.search}` };

const native = "VideoDecoder" in globalThis;

let worker = null;
let element = null; // without WebCodecs
let stream = null; // {live, duration, levels, audio, title}
let state = { playing: false, paused: false, ended: false };
let attempts = 0;
let retry = 0;
let seeking = false;
let trail = []; // latencies of the last minute, one every half second
let subtitles = null; // the track that is shown, 0: none; null: the viewer has not chosen
let pace = 1; // of a film
let preview = null;
let audio_track = 0; // that the viewer has chosen; 0: not
let sound = null; // {context, gain, node}
globalThis.weir_sound = () => sound; // for tests
const weir = globalThis.weir = { stats: null, state: null, problem: null }; // for scripts and tests: what is shown now

// ---- One viewing

function start() {
  clearTimeout(retry);
  worker?.terminate();
  element?.close();
  const mine = element = native ? null : new Element(m => mine === element && worker?.postMessage(m), detail => show_problem({ what: "element", detail }));
  const picture = element?.video ?? document.createElement("canvas");
  const offscreen = native ? picture.transferControlToOffscreen() : undefined;
  const pictures = [...$("picture").children];
  weir.previous = attempts ? pictures[0] ?? null : null; // the last picture stays until the next one
  for (const p of pictures) if (p !== weir.previous) p.remove();
  $("picture").append(picture);
  $("title").textContent = plain_text(location.pathname.split("/").pop()) || "Weir";
  const left_at = attempts && stream && !stream.live ? weir.stats?.position : undefined; // of a film
  const opened = globalThis.weir_first ?? weir_open(location.pathname,
    { level: Number($("level").value || (query.get("level") ?? -1)), start: left_at ?? (Number(query.get("start") ?? 0) || 0), audio_track });
  if (pace !== 1) opened.worker.postMessage({ type: "pace", pace });
  globalThis.weir_first = null;
  worker = opened.worker;
  worker.onmessage = e => HANDLERS[e.data.type]?.(e.data);
  // Without a message the script did not load: the server is not there. With one, it threw.
  worker.onerror = e => show_problem(e.message ? { what: "script", detail: e.message } : { what: "connect" });
  worker.postMessage({ type: "canvas", canvas: offscreen }, offscreen ? [offscreen] : []);
  document.body.classList.add("starting");
  for (const e of opened.early) (e.type === "message" ? opened.worker.onmessage : opened.worker.onerror)(e);
}

const HANDLERS = {
  described(m) {
    stream = m;
    const name = plain_text(location.pathname.split("/").pop() || m.title);
    $("title").textContent = name;
    document.title = `${name} – Weir`;
    $("time").hidden = $("seek").hidden = m.live;
    $("seek").max = m.live ? 1 : m.duration;
    $("pace").hidden = m.live;
    preview.set_duration(m.live ? 0 : m.duration);
    $("mute").hidden = $("volume").hidden = !m.audio;
    $("silent").hidden = !m.silent;
    $("silent").href = where.secure_url;
    show_levels(m.levels);
    $("records").hidden = !m.recorded;
    $("subtitles").hidden = !m.subtitles.length;
    $("tracks").hidden = m.audio_tracks.length < 2;
    set_subtitles(Math.min(subtitles ?? m.subtitles_shown, m.subtitles.length));
    if (sound) connect_sound();
    if (document.hidden) worker.postMessage({ type: "hidden", hidden: true }); // with sound it goes on
  },
  size(m) {
    $("stage").style.setProperty("--ratio", `${m.width} / ${m.height}`);
    $("stage").style.setProperty("--wide", m.width / m.height);
    weir.previous?.remove();
    weir.previous = null;
  },
  state(m) {
    state = weir.state = m;
    element?.set_paused(m.paused);
    if (m.playing) {
      attempts = 0;
      hide_problem();
    }
    document.body.classList.toggle("starting", m.buffering && !m.paused);
    document.body.classList.toggle("paused", m.paused || m.ended);
    const name = m.ended ? "replay" : m.paused ? "play" : "pause";
    set_icon($("play"), name);
    $("play").setAttribute("aria-label", { replay: "Play again", play: "Play", pause: "Pause" }[name]);
    set_icon($("big"), name === "pause" ? "play" : name);
    $("big").hidden = name === "pause";
    wake();
  },
  stats(m) {
    weir.stats = m;
    weir.behind = element?.behind ?? 0;
    document.body.classList.toggle("starting", !m.away && (m.waits || (m.number < 0 && !state.paused)));
    if (stream?.live) show_live(m);
    else show_position(m.position);
    $("latency").textContent = stream?.live && $("badge").textContent === "live" && !$("badge").hidden && m.p50 !== null ? `Latency ${ms_text(m.p50)}` : "";
    trail.push(state.playing ? m.p50 : null);
    if (trail.length > 120) trail.shift();
    if (!$("panel").hidden) show_panel(m);
  },
  async problem(m) {
    const mine = worker;
    if (m.what === "connect" && await answers()) m = { ...m, what: "origin" };
    if (mine === worker) show_problem(m); // else another attempt has begun meanwhile
  },
  list(m) {
    open_list(m.films.filter(film => own_path(film.path)));
  },
  cues: m => draw_cues($("cues"), m.cues),
  report(m) {
    if (!m.report) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(m.report, null, 1)], { type: "application/json" }));
    link.download = `weir-${new Date().toISOString().slice(0, 19).replace(/:/g, "")}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    weir.report = m.report;
  },
  track: m => element?.track(m),
  fragment: m => element?.fragment(m),
  clock: m => element?.clock(m.at, m.pace),
};

// The WebSocket was refused: by the server, if that answers otherwise.
async function answers() {
  try {
    return (await fetch("/.weir/text.js", { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(3000) })).ok;
  } catch {
    return false;
  }
}

function show_problem(problem) {
  weir.problem = problem;
  $("badge").hidden = true;
  close_menu();
  show_away(null);
  const only = only_path(problem.detail);
  if (problem.login || (problem.status === 403 && has_login()))
    return void import("./login.js").then(m => m.show_login(problem.detail, { had_key: !!key, status: problem.status }));
  if (problem.status === 404 && location.pathname === "/" && only) return open_list([{ path: only, seconds: NaN, sizes: "" }]);
  const told = problem_text(problem, where);
  $("sentence").textContent = told.sentence;
  $("detail").textContent = told.detail;
  $("way").hidden = !told.way && !told.again;
  $("way").textContent = told.way?.text ?? "Try now";
  $("way").href = told.way ? told.way.href + (told.way.href.startsWith("/") ? suffix : "") : location.href;
  $("problem").hidden = false;
  $("big").hidden = true;
  document.body.classList.remove("starting");
  document.body.classList.add("failed");
  if (told.again) retry = setTimeout(start, RETRY[Math.min(attempts++, RETRY.length - 1)]);
}

function hide_problem() {
  weir.problem = null;
  $("problem").hidden = true;
  document.body.classList.remove("failed");
}

function show_levels(levels) {
  const chosen = $("level").value;
  const options = levels.map((level, i) => new Option(level_text(level), i)).reverse();
  $("level").replaceChildren(new Option("Auto", -1), ...options);
  $("level").value = chosen || (query.has("level") ? query.get("level") : -1);
  if (!$("level").value) $("level").value = -1;
  $("level").hidden = levels.length < 2;
}

function show_position(position) {
  if (!seeking) $("seek").value = position;
  const at = seeking ? Number($("seek").value) : position;
  $("seek").style.setProperty("--part", `${100 * at / (stream?.duration || 1)}%`);
  $("time").textContent = `${clock_text(at)} / ${clock_text(stream?.duration ?? 0)}`;
}

// A user has logged in here (login.js).
function has_login() {
  try {
    return !!localStorage.getItem("weir.user");
  } catch {
    return false;
  }
}

// ---- Live media

// The badge, the sentence while nothing comes, and the past that the server keeps.
function show_live(m) {
  show_away(m.away);
  const badge = badge_text({ paused: state.paused, behind: m.behind });
  $("badge").textContent = badge;
  $("badge").classList.toggle("behind", badge !== "live");
  $("badge").hidden = !badge || !!m.away || m.number < 0 || !!weir.problem;
  $("seek").hidden = !m.kept;
  if (!m.kept || seeking) return;
  $("seek").min = -m.kept;
  $("seek").max = 0;
  $("seek").value = -m.behind;
  $("seek").style.setProperty("--part", `${100 * (1 - Math.min(1, m.behind / m.kept))}%`);
}

function show_away(away) {
  if (!away && !document.body.classList.contains("away")) return;
  document.body.classList.toggle("away", !!away);
  $("notice").hidden = !away;
  if (away) $("notice").textContent = away_text(away, where.host);
  clearTimeout(noticed);
}

function to_present() {
  if (stream?.live && $("badge").classList.contains("behind")) seek_to(0);
}

// A message that goes by itself.
let noticed = 0;
function notice(text) {
  if (document.body.classList.contains("away")) return;
  $("notice").textContent = text;
  $("notice").hidden = false;
  clearTimeout(noticed);
  noticed = setTimeout(() => { $("notice").hidden = true; }, NOTICE);
}

// ---- Tracks

function set_subtitles(track) {
  weir.subtitles = track;
  worker.postMessage({ type: "subtitles", track });
  $("subtitles").setAttribute("aria-pressed", track > 0);
}

function choose_subtitles(track) {
  subtitles = track;
  set_subtitles(track);
  notice(track ? `Subtitles: ${track_text(stream.subtitles[track - 1], track)}` : "Subtitles off");
}

function next_subtitles() {
  if (!stream) return;
  const count = stream.subtitles.length;
  if (count) choose_subtitles((weir.subtitles + 1) % (count + 1));
  else notice("This stream has no text subtitles");
}

function choose_track(track) {
  audio_track = weir.audio_track = track;
  worker.postMessage({ type: "audio_track", track });
  notice(`Audio: ${track_text(stream.audio_tracks[track - 1], track)}`);
}

function next_track() {
  if (!stream) return;
  const count = stream.audio_tracks.length;
  if (count > 1) choose_track((audio_track || 1) % count + 1);
  else notice(stream.audio ? "This stream has one audio track" : "This stream has no audio");
}

function items_of(names) {
  return names.map((name, i) => ({ text: track_text(name, i + 1), value: i + 1 }));
}

function subtitles_menu() {
  if (!stream?.subtitles.length) return next_subtitles();
  toggle_menu({ box: $("menu"), opener: $("subtitles"), title: "Subtitles", current: weir.subtitles, choose: choose_subtitles,
    items: [{ text: "off", value: 0 }, ...items_of(stream.subtitles)] });
}

function tracks_menu() {
  if (!stream || stream.audio_tracks.length < 2) return next_track();
  toggle_menu({ box: $("menu"), opener: $("tracks"), title: "Audio", current: audio_track || 1, choose: choose_track,
    items: items_of(stream.audio_tracks) });
}

// ---- Speed

const PACES = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2];

function choose_pace(value) {
  pace = weir.pace = value;
  worker.postMessage({ type: "pace", pace });
  $("pace").textContent = `${pace}×`;
  notice(`Speed ${pace}×`);
}

function step_pace(by) {
  if (!stream) return;
  if (stream.live) return notice("Live media plays at its own speed");
  choose_pace(PACES[Math.min(Math.max(PACES.indexOf(pace) + by, 0), PACES.length - 1)]);
}

function pace_menu() {
  toggle_menu({ box: $("menu"), opener: $("pace"), title: "Speed", current: pace, choose: choose_pace,
    items: PACES.map(value => ({ text: `${value}×`, value })) });
}

// ---- Statistics

function show_panel(m) {
  const level = stream.levels[m.level];
  const rows = {
    Picture: `${m.width}×${m.height}, ${fps_text(m.fps)}`,
    Level: m.level < 0 ? "–" : `${m.level} of ${stream.levels.length - 1}${level ? `, ${rate_text(level.rate)}` : ""}`,
    ...(stream.live ? { "Capture to screen": `${ms_text(m.p50)}, 95 %: ${ms_text(m.p95)}`,
      "Clock error": `at most ${ms_text(m.clock_error)}`, "Wait for jitter": ms_text(m.wait) }
      : { Buffered: `${m.buffered.toFixed(1)}${m.choice ? ` of ${m.choice.target}` : ""} s` }),
    ...(m.choice ? { Path: path_text(m.choice), Reason: reason_text(m.choice.reason, m.level === stream.levels.length - 1) } : {}),
    Decoder: `${ms_text(m.decoder)}${m.in_decoder > 1 ? `, ${m.in_decoder} inside` : ""}`,
    ...(m.slow ? { Sender: "its machine is too slow: fewer frames, smaller pictures" } : {}),
    Received: rate_text(m.rate),
    "Round trip": ms_text(m.rtt),
    Frames: [`${m.counts.shown} shown`, ...[[m.counts.lost, "lost"], [m.counts.late + m.counts.display, "late"],
      [m.counts.undecodable, "undecodable"]].filter(([n]) => n).map(([n, what]) => `${n} ${what}`)].join(", "),
    Freezes: m.freezes ? `${m.freezes}, longest ${m.longest.toFixed(1)} s` : "none",
    "First picture": ms_text(m.first_ms),
    ...(m.speaker ? { Audio: `${m.speaker.error_ms >= 0 ? "+" : "−"}${ms_text(Math.abs(m.speaker.error_ms))} to the picture, ${m.speaker.underruns} gaps` } : {}),
  };
  $("figures").replaceChildren(...Object.entries(rows).flatMap(([name, value]) => {
    const dt = document.createElement("dt"), dd = document.createElement("dd");
    dt.textContent = name;
    dd.textContent = value;
    return [dt, dd];
  }));
  show_graph();
}

function show_graph() {
  const canvas = $("graph"), g = canvas.getContext("2d");
  canvas.hidden = !stream.live;
  const [wide, high] = [canvas.clientWidth, canvas.clientHeight].map(v => Math.round(v * devicePixelRatio));
  if (!wide || !high) return;
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  const known = trail.filter(v => v !== null);
  const top = Math.max(50, ...known) * 1.15;
  g.clearRect(0, 0, wide, high);
  g.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  g.fillStyle = "#9aa4b0";
  g.fillText(`Last minute, up to ${Math.round(top)} ms`, 0, 11 * devicePixelRatio);
  g.strokeStyle = "#6d9bff";
  g.lineWidth = 1.5 * devicePixelRatio;
  g.beginPath();
  trail.forEach((v, i) => {
    if (v === null) return;
    const x = wide * (1 - (trail.length - 1 - i) / 119), y = high - 2 - (high - 4) * v / top;
    if (i && trail[i - 1] !== null) g.lineTo(x, y);
    else g.moveTo(x, y);
  });
  g.stroke();
}

function toggle_panel() {
  $("panel").hidden = !$("panel").hidden;
  $("info").setAttribute("aria-pressed", !$("panel").hidden);
  if (!$("panel").hidden && weir.stats) show_panel(weir.stats);
}

// ---- Sound: off until the viewer turns it on, as browsers require.

const AUDIBLE = 0.5; // the volume that a press on a speaker at 0 turns on

async function toggle_sound() {
  const silent = !sound?.on || Number($("volume").value) === 0;
  if (silent && Number($("volume").value) === 0) $("volume").value = AUDIBLE;
  if (!sound) {
    try {
      const context = new AudioContext({ sampleRate: 48000, latencyHint: "interactive" });
      sound = { context, gain: context.createGain(), on: true };
      sound.gain.connect(context.destination);
      await context.audioWorklet.addModule("/.weir/speaker.js");
      sound.node = new AudioWorkletNode(context, "weir-speaker", { numberOfInputs: 0, outputChannelCount: [2],
        processorOptions: { offset: offset_of(context) } });
      sound.node.connect(sound.gain);
      connect_sound();
      const { port } = sound.node;
      setInterval(() => port.postMessage({ type: "offset", offset: offset_of(context) }), 1000);
    } catch (error) {
      console.warn("no audio:", error);
      sound?.context.close();
      sound = null;
    }
  } else {
    sound.on = silent;
    if (sound.on) {
      await sound.context.resume();
      connect_sound();
    } else {
      worker.postMessage({ type: "speaker", port: null });
    }
  }
  show_sound();
}

// Milliseconds since 1970 at which the sample of currentTime 0 was heard.
function offset_of(context) {
  const { contextTime, performanceTime } = context.getOutputTimestamp();
  return performance.timeOrigin + (performanceTime ? performanceTime - contextTime * 1000
    : performance.now() - context.currentTime * 1000 + (context.outputLatency ?? 0) * 1000);
}

function connect_sound() {
  if (!sound?.node || !sound.on) return;
  const channel = new MessageChannel();
  sound.node.port.postMessage({ type: "port", port: channel.port2 }, [channel.port2]);
  worker.postMessage({ type: "speaker", port: channel.port1 }, [channel.port1]);
}

function show_sound() {
  const on = !!sound?.on && Number($("volume").value) > 0;
  set_icon($("mute"), on ? "sound" : "muted");
  $("mute").setAttribute("aria-label", on ? "Mute" : "Unmute");
  weir.gain = on ? Number($("volume").value) ** 2 : 0;
  if (sound) sound.gain.gain.value = weir.gain;
  $("volume").style.setProperty("--part", `${on ? 100 * Number($("volume").value) : 0}%`);
}

function set_volume(v) {
  $("volume").value = Math.min(1, Math.max(0, v));
  if (!sound?.on && v > 0) toggle_sound();
  else show_sound();
}

// ---- What the viewer does

function toggle_play() {
  if (!stream || !$("problem").hidden) return;
  if (state.ended && stream.live) start();
  else if (state.ended) seek_to(0);
  else worker.postMessage({ type: state.paused ? "play" : "pause" });
}

function seek_to(seconds) {
  if (!stream) return;
  worker.postMessage({ type: "seek", seconds: stream.live ? seconds : Math.min(Math.max(0, seconds), Math.max(0, stream.duration - 0.1)) });
}

function toggle_full() {
  if (document.fullscreenElement) document.exitFullscreen();
  else $("stage").requestFullscreen?.().catch(() => {});
}

function step_level(by) {
  if (!stream?.levels.length) return;
  const now = Number($("level").value), top = stream.levels.length - 1;
  const next = now < 0 ? (by < 0 ? top - 1 : -1) : now + by;
  $("level").value = next > top ? -1 : Math.max(0, next);
  $("level").dispatchEvent(new Event("change"));
}

function step(by) {
  if (!stream) return;
  if (stream.live && !weir.stats?.kept) notice("The server keeps no past of this stream");
  else worker.postMessage({ type: "step", by });
}

function volume_by(by) {
  if (stream?.audio) set_volume(Number($("volume").value) + by);
}

async function toggle_records() {
  if (!stream?.recorded) return;
  const { toggle_recordings } = await import("./recordings.js");
  const play = behind => {
    seek_to(-behind);
    if (innerWidth <= 600) toggle_records(); // it covers the picture
  };
  toggle_recordings($("recordings"), { path: location.pathname, key, play: weir.stats?.kept ? play : null, close: toggle_records });
}

function toggle_help() {
  $("help").hidden = !$("help").hidden;
}

function close_top() {
  if (close_menu()) return;
  if (!$("help").hidden) toggle_help();
  else if (!$("recordings").hidden) toggle_records();
  else if (!$("panel").hidden) toggle_panel();
}

const KEYS = [ // keys, what they do, how the help names the keys and that; without a name: not in the help
  [" k", toggle_play, "space, k", "play or pause"],
  [["ArrowLeft"], () => step(-5), "left, right", "5 s back or on"],
  [["ArrowRight"], () => step(5)],
  ["j", () => step(-10), "j, l", "10 s back or on"],
  ["l", () => step(10)],
  [["End"], to_present, "End", "to the present, in live media"],
  [["ArrowUp"], () => volume_by(0.1), "up, down", "volume"],
  [["ArrowDown"], () => volume_by(-0.1)],
  ["m", toggle_sound, "m", "sound on or off"],
  ["c", next_subtitles, "c", "next subtitles, or none"],
  ["a", tracks_menu, "a", "choose an audio track"],
  ["#", next_track, "#", "next audio track"],
  [">", () => step_pace(1), ">, <", "a film faster or slower"],
  ["<", () => step_pace(-1)],
  ["+", () => step_level(1), "+, -", "a higher or lower level"],
  ["-", () => step_level(-1)],
  ["f", toggle_full, "f", "full screen"],
  ["r", toggle_records, "r", "recordings"],
  ["i", toggle_panel, "i", "statistics"],
  ["?", toggle_help, "?", "these keys"],
  [["Escape"], close_top, "Esc", "close"],
];
const ACTIONS = new Map(KEYS.flatMap(([keys, action]) => [...keys].map(k => [k, action])));

let idle = 0;
function wake() {
  document.body.classList.remove("idle");
  clearTimeout(idle);
  idle = setTimeout(() => document.body.classList.toggle("idle", state.playing && !$("bar").contains(document.activeElement)), IDLE);
}

function listen() {
  $("play").onclick = $("big").onclick = toggle_play;
  $("mute").onclick = toggle_sound;
  $("full").onclick = toggle_full;
  $("info").onclick = $("close").onclick = toggle_panel;
  $("badge").onclick = to_present;
  $("pace").onclick = pace_menu;
  $("subtitles").onclick = subtitles_menu;
  $("tracks").onclick = tracks_menu;
  $("records").onclick = toggle_records;
  $("show_help").onclick = $("close_help").onclick = toggle_help;
  $("keys").replaceChildren(...KEYS.filter(k => k[2]).flatMap(([, , keys, what]) => [["dt", keys], ["dd", what]].map(([tag, text]) => {
    const e = document.createElement(tag);
    e.textContent = text;
    return e;
  })));
  $("save").onclick = () => worker.postMessage({ type: "report" });
  $("volume").oninput = () => set_volume(Number($("volume").value));
  $("level").onchange = () => {
    worker.postMessage({ type: "level", level: Number($("level").value) });
    $("level").blur();
  };
  $("seek").oninput = () => {
    seeking = true;
    if (stream?.live) notice(badge_text({ paused: false, behind: -Number($("seek").value) }));
    else show_position(0);
  };
  $("seek").onchange = () => {
    seek_to(Number($("seek").value));
    seeking = false;
    $("seek").blur();
  };
  $("way").onclick = e => {
    if ($("way").textContent !== "Try now") return;
    e.preventDefault();
    start();
  };
  $("picture").onclick = () => close_menu() || toggle_play();
  $("picture").ondblclick = toggle_full;
  document.onkeydown = e => {
    if (!worker || e.ctrlKey || e.altKey || e.metaKey || ["SELECT", "INPUT"].includes(e.target.tagName) && e.target.type !== "range") return;
    if (e.target.tagName === "BUTTON" && e.key === " ") return;
    if (e.target.type === "range" && e.key.startsWith("Arrow")) return;
    const action = ACTIONS.get(e.key);
    if (!action) return;
    e.preventDefault();
    action();
    wake();
  };
  for (const event of ["pointermove", "pointerdown", "focusin"]) document.addEventListener(event, wake);
  document.onfullscreenchange = () => set_icon($("full"), document.fullscreenElement ? "window" : "full");
  document.onvisibilitychange = () => worker?.postMessage({ type: "hidden", hidden: document.hidden });
  addEventListener("pagehide", () => worker?.postMessage({ type: "close" }));
  addEventListener("pageshow", e => { // by the browser's Back: the page as it was, but its worker has closed
    if (e.persisted && worker) start();
  });
}

// ---- The list

function open_list(films) {
  worker?.terminate();
  worker = null;
  $("player").hidden = true;
  $("list").hidden = false;
  $("home").hidden = true;
  document.body.classList.remove("starting");
  document.body.classList.add("listing");
  $("title").textContent = location.host;
  document.title = `${location.host} – Weir`;
  weir.list = films;
  show_list($("list"), films, { key, suffix });
}

// ---- Start

function can_play() {
  return "OffscreenCanvas" in globalThis && (native || has_element);
}

for (const [id, icon] of Object.entries({ play: "pause", big: "play", mute: "muted", full: "full", info: "info", close: "close", close_help: "close",
  subtitles: "subtitles", tracks: "tracks", records: "records", show_help: "keys", home: "home" }))
  set_icon($(id), icon);
if (query.has("embed")) document.body.classList.add("embed");
if (query.get("controls") === "no") document.body.classList.add("bare");
$("home").href = `/${suffix}`;
preview = new Preview($("preview"), $("seek"), second => `${location.pathname}.jpg?small&t=${second}${key ? `&key=${encodeURIComponent(key)}` : ""}`);
listen();
show_sound();
if (has_login()) import("./login.js").then(m => m.show_leave());
if (can_play() || location.pathname === "/") start();
else {
  weir_first.worker.terminate();
  show_problem({ what: isSecureContext ? "decoder" : "insecure", detail: "" });
}
