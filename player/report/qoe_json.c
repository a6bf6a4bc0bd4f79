// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/report/qoe_json.h"

#include <stdlib.h>
#include <time.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/program/whole_file.h"
#include "player/report/json_value.h"

// An object under construction. A value that could not be made marks the object, and all objects
// that contain it, as failed.
struct object {
    json_t *json; // owned
    bool failed;
};

static struct object object_new(void)
{
    struct object o = {json_object(), false};
    o.failed = !o.json;
    return o;
}

static void put(struct object *o, const char *key, json_t *value) // takes `value` over
{
    if (json_object_set_new(o->json, key, value) != 0)
        o->failed = true;
}

static void put_object(struct object *o, const char *key, struct object child)
{
    o->failed |= child.failed;
    put(o, key, child.json);
}

static void put_figure(struct object *o, const char *key, double value, int decimals)
{
    put(o, key, json_figure(value, decimals));
}

static void put_seconds(struct object *o, const char *key, double value)
{
    put_figure(o, key, value, 3);
}

static void put_ms(struct object *o, const char *key, double value)
{
    put_figure(o, key, value, 2);
}

static void put_count(struct object *o, const char *key, double value)
{
    put_figure(o, key, value, 0);
}

static void put_fraction(struct object *o, const char *key, double value)
{
    put_figure(o, key, value, 6);
}

static json_t *started_at(usec_t wall)
{
    time_t seconds = (time_t)(wall / USEC_PER_SEC);
    struct tm tm;
    char date[32];
    char text[64];
    if (!gmtime_r(&seconds, &tm) || !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm))
        return json_null();
    snprintf(text, sizeof(text), "%s.%03dZ", date, (int)(wall % USEC_PER_SEC / USEC_PER_MSEC));
    return json_string(text);
}

static json_t *transports(const struct qoe_json *r, bool *failed)
{
    json_t *list = json_array();
    for (int i = 0; i < r->session.transport_count; i++) {
        const struct qoe_carried *t = &r->session.transports[i];
        struct object one = object_new();
        put(&one, "transport", json_text(t->name));
        put(&one, "why", json_text(t->why[0] ? t->why : NULL));
        put_seconds(&one, "from", t->from);
        put_seconds(&one, "to", t->to);
        *failed |= one.failed | (json_array_append_new(list, one.json) != 0);
    }
    return list;
}

static struct object session(const struct qoe_json *r)
{
    struct object o = object_new();
    put(&o, "url", json_text(r->session.url));
    put(&o, "transport", json_text(r->session.transport[0] ? r->session.transport : NULL));
    put(&o, "transport_why", json_text(r->session.why[0] ? r->session.why : NULL));
    put(&o, "transports", transports(r, &o.failed));
    put(&o, "source", json_text(r->session.source[0] ? r->session.source : NULL));
    put(&o, "via", json_text(r->session.via[0] ? r->session.via : NULL));
    put(&o, "started_at", started_at(r->session.started_wall));
    put_seconds(&o, "duration", r->session.duration);
    put_count(&o, "reconnects", r->session.reconnects);
    return o;
}

static struct object startup(const struct qoe_json *r)
{
    struct object o = object_new();
    put_seconds(&o, "connect", r->startup.connect);
    put_seconds(&o, "initial_buffering", r->startup.initial_buffering);
    put_seconds(&o, "time_to_first_frame", r->startup.time_to_first_frame);
    return o;
}

static struct object playback(const struct qoe_json *r)
{
    struct object o = object_new();
    put_seconds(&o, "media", r->playback.media);
    put_seconds(&o, "wall", r->playback.wall);
    put_count(&o, "frames_received", r->playback.frames_received);
    put_count(&o, "frames_played", r->playback.frames_played);
    put_count(&o, "frames_lost", r->playback.frames_lost);
    put_count(&o, "frames_late", r->playback.frames_late);
    put_count(&o, "frames_undecodable", r->playback.frames_undecodable);
    struct object speed = object_new();
    put_figure(&speed, "mean", r->playback.speed.mean, 4);
    put_figure(&speed, "min", r->playback.speed.min, 4);
    put_figure(&speed, "max", r->playback.speed.max, 4);
    put_object(&o, "speed", speed);
    put_count(&o, "skips", r->playback.skips);
    put_count(&o, "frames_skipped", r->playback.frames_skipped);
    put_count(&o, "frames_skipped_by_sender", r->playback.frames_skipped_by_sender);
    put_figure(&o, "frame_rate", r->playback.frame_rate, 3);
    put_figure(&o, "encoded_frame_rate", r->playback.encoded_frame_rate, 3);
    return o;
}

static struct object rebuffering(const struct qoe_json *r)
{
    struct object o = object_new();
    put_count(&o, "count", r->rebuffering.count);
    put_seconds(&o, "total", r->rebuffering.total);
    put_fraction(&o, "ratio", r->rebuffering.ratio);
    struct object by_cause = object_new();
    for (int c = 0; c < STALL_CAUSES; c++) {
        struct object sum = object_new();
        put_count(&sum, "count", r->rebuffering.by_cause[c].count);
        put_seconds(&sum, "total", r->rebuffering.by_cause[c].total);
        put_object(&by_cause, stall_cause_text(c), sum);
    }
    put_object(&o, "by_cause", by_cause);
    json_t *events = json_array();
    for (int i = 0; i < r->rebuffering.listed; i++) {
        struct object entry = object_new();
        put_seconds(&entry, "at", r->rebuffering.events[i].at);
        put_seconds(&entry, "duration", r->rebuffering.events[i].duration);
        put(&entry, "cause", json_string(stall_cause_text(r->rebuffering.events[i].cause)));
        o.failed |= entry.failed | (json_array_append_new(events, entry.json) != 0);
    }
    put(&o, "events", events);
    return o;
}

static struct object freezes(const struct qoe_json *r)
{
    struct object o = object_new();
    put_count(&o, "count", r->freezes.count);
    put_seconds(&o, "total", r->freezes.total);
    put_fraction(&o, "ratio", r->freezes.ratio);
    put_seconds(&o, "longest", r->freezes.longest);
    struct object by_cause = object_new();
    for (int c = 0; c < FREEZE_CAUSES; c++) {
        struct object sum = object_new();
        put_count(&sum, "count", r->freezes.by_cause[c].count);
        put_seconds(&sum, "total", r->freezes.by_cause[c].total);
        put_object(&by_cause, freeze_cause_text(c), sum);
    }
    put_object(&o, "by_cause", by_cause);
    json_t *events = json_array();
    for (int i = 0; i < r->freezes.listed; i++) {
        struct object entry = object_new();
        put_seconds(&entry, "at", r->freezes.events[i].at);
        put_seconds(&entry, "duration", r->freezes.events[i].duration);
        put(&entry, "cause", json_string(freeze_cause_text(r->freezes.events[i].cause)));
        o.failed |= entry.failed | (json_array_append_new(events, entry.json) != 0);
    }
    put(&o, "events", events);
    return o;
}

static void put_causes(struct object *o, const struct qoe_json *r)
{
    if (!isfinite(r->causes.expected)) {
        put(o, "causes", json_null());
        return;
    }
    struct object by_cause = object_new();
    struct object by_root = object_new();
    for (int c = 0; c < FRAME_CAUSES; c++) {
        put_count(&by_cause, frame_cause_text(c), r->causes.by_cause[c]);
        if (c != CAUSE_DEPENDENCY)
            put_count(&by_root, frame_cause_text(c), r->causes.by_root[c]);
    }
    struct object causes = object_new();
    put_count(&causes, "expected", r->causes.expected);
    put_count(&causes, "shown", r->causes.shown);
    put_object(&causes, "by_cause", by_cause);
    put_object(&causes, "by_root", by_root);
    put_object(o, "causes", causes);
}

static void put_quantiles(struct object *o, const struct qoe_quantiles *q)
{
    put_ms(o, "mean", q->mean);
    put_ms(o, "p50", q->p50);
    put_ms(o, "p95", q->p95);
    put_ms(o, "p99", q->p99);
    put_ms(o, "max", q->max);
}

static struct object jitter(const struct qoe_json *r)
{
    struct object o = object_new();
    put_quantiles(&o, &r->jitter);
    put_ms(&o, "stddev", r->jitter.stddev);
    return o;
}

static json_t *switches(const struct qoe_json *r, bool *failed)
{
    json_t *list = json_array();
    for (int i = 0; i < r->levels.listed; i++) {
        const struct qoe_switch_entry *e = &r->levels.switches[i];
        struct object entry = object_new();
        put_seconds(&entry, "at", e->at);
        put_count(&entry, "from", e->from < 0 ? NAN : e->from);
        put_count(&entry, "to", e->to);
        put(&entry, "why", json_text(e->why));
        *failed |= entry.failed | (json_array_append_new(list, entry.json) != 0);
    }
    return list;
}

static struct object levels(const struct qoe_json *r)
{
    struct object o = object_new();
    json_t *time_at = json_array();
    json_t *bitrates = json_array();
    for (int l = 0; l < r->levels.count; l++) {
        o.failed |= json_array_append_new(time_at, json_figure(r->levels.time_at[l], 3)) != 0;
        o.failed |= json_array_append_new(bitrates, json_figure(r->levels.bitrates[l], 0)) != 0;
    }
    put(&o, "count", r->levels.count > 0 ? json_integer(r->levels.count) : json_null());
    put_figure(&o, "mean", r->levels.mean, 3);
    put(&o, "time_at", time_at);
    put(&o, "bitrates", bitrates);
    put_count(&o, "switch_count", r->levels.switch_count);
    put(&o, "switches", switches(r, &o.failed));
    return o;
}

// Of streams whose sizes are layers of one picture.
static void put_layers(struct object *o, const struct qoe_json *r)
{
    if (!(r->layers.pictures > 0)) {
        put(o, "layers", json_null());
        return;
    }
    struct object l = object_new();
    put_figure(&l, "mean", r->layers.mean, 3);
    put_count(&l, "changes", r->layers.changes);
    put_count(&l, "goodput_bps", r->layers.goodput);
    put_count(&l, "throughput_bps", r->layers.throughput);
    put_object(o, "layers", l);
}

static struct object latency_of(const struct qoe_quantiles *q)
{
    struct object o = object_new();
    put_quantiles(&o, q);
    return o;
}

static struct object part(const struct qoe_quantiles *q)
{
    struct object o = object_new();
    put_ms(&o, "mean", q->mean);
    put_ms(&o, "p95", q->p95);
    return o;
}

static struct object seeks(const struct qoe_json *r)
{
    struct object o = object_new();
    put_count(&o, "count", r->seeks.count);
    put_object(&o, "wait", latency_of(&r->seeks.wait));
    return o;
}

static struct object channels(const struct qoe_json *r)
{
    struct object o = object_new();
    json_t *list = json_array();
    for (int i = 0; i < r->channels.listed; i++) {
        const struct qoe_channel_entry *e = &r->channels.list[i];
        struct object one = object_new();
        put_count(&one, "channel", e->number);
        put(&one, "url", json_text(e->url));
        put_seconds(&one, "at", e->at);
        put_ms(&one, "wait", e->wait);
        put(&one, "error", json_text(*e->error ? e->error : NULL));
        o.failed |= one.failed | (json_array_append_new(list, one.json) != 0);
    }
    put_count(&o, "count", r->channels.count);
    put_object(&o, "wait", latency_of(&r->channels.wait));
    put(&o, "list", list);
    return o;
}

// The viewer's other controls, by kind.
static struct object controls(const struct qoe_json *r)
{
    static const char *const names[QOE_CONTROLS] = {[QOE_CONTROL_SCALE] = "scale"};
    struct object all = object_new();
    for (int i = 0; i < QOE_CONTROLS; i++) {
        struct object o = object_new();
        put_count(&o, "count", r->controls[i].count);
        put_object(&o, "wait", latency_of(&r->controls[i].wait));
        put_object(&all, names[i], o);
    }
    return all;
}

// The latency target, the share of each part, and the mean that each part has taken.
static void put_budget(struct object *o, const struct qoe_json *r)
{
    if (!r->latency.has_budget) {
        put(o, "budget", json_null());
        return;
    }
    struct object spent = object_new();
    put_ms(&spent, "encoder", r->latency.budget.spent_encoder);
    put_ms(&spent, "transport", r->latency.budget.spent_transport);
    put_ms(&spent, "buffer", r->latency.parts.buffer.mean);
    put_ms(&spent, "decoder", r->latency.parts.decoder.mean);
    put_ms(&spent, "display", r->latency.parts.display.mean);
    struct object budget = object_new();
    put(&budget, "mode", json_text(r->latency.budget.mode));
    put_ms(&budget, "target", r->latency.budget.target);
    put_object(&budget, "targets", latency_of(&r->latency.budget.targets));
    put_ms(&budget, "sender_share", r->latency.budget.sender);
    put_ms(&budget, "buffer_share", r->latency.budget.buffer);
    put_object(&budget, "spent", spent);
    put_object(o, "budget", budget);
}

static struct object latency(const struct qoe_json *r)
{
    const char *clock = r->latency.clock_shared ? "shared" : "estimated";
    struct object protocol = object_new();
    put_quantiles(&protocol, &r->latency.protocol);
    put_fraction(&protocol, "d200", r->latency.d200);
    put_fraction(&protocol, "d500", r->latency.d500);
    put_count(&protocol, "samples", r->latency.samples);
    put(&protocol, "clock", json_text(r->latency.has_clock ? clock : NULL));

    struct object parts = object_new();
    put_object(&parts, "encoder", part(&r->latency.parts.encoder));
    put_object(&parts, "transport", part(&r->latency.parts.transport));
    if (r->session.via[0]) {
        put_object(&parts, "backbone", part(&r->latency.parts.backbone));
        put_object(&parts, "proxy", part(&r->latency.parts.proxy));
        put_object(&parts, "access", part(&r->latency.parts.access));
    }
    put_object(&parts, "buffer", part(&r->latency.parts.buffer));
    put_object(&parts, "decoder", part(&r->latency.parts.decoder));
    put_object(&parts, "display", part(&r->latency.parts.display));

    struct object o = object_new();
    put_object(&o, "protocol", protocol);
    put_object(&o, "frame", latency_of(&r->latency.frame));
    put_object(&o, "display", latency_of(&r->latency.display));
    put_object(&o, "parts", parts);
    put_budget(&o, r);
    put(&o, "clock", json_text(r->latency.has_clock ? clock : NULL));
    put_ms(&o, "offset_error", r->latency.offset_error);
    return o;
}

static struct object network(const struct qoe_json *r)
{
    struct object rtt = object_new();
    put_ms(&rtt, "mean", r->network.rtt_mean);
    put_ms(&rtt, "p95", r->network.rtt_p95);
    struct object o = object_new();
    put_count(&o, "bytes_received", r->network.bytes_received);
    put_count(&o, "throughput", r->network.throughput);
    put_count(&o, "goodput", r->network.goodput);
    put_count(&o, "packets_received", r->network.packets_received);
    put_count(&o, "packets_lost", r->network.packets_lost);
    put_fraction(&o, "loss_rate", r->network.loss_rate);
    put_fraction(&o, "loss_event_rate", r->network.loss_event_rate);
    put_count(&o, "packets_reordered", r->network.packets_reordered);
    put_count(&o, "ecn_marked", r->network.ecn_marked);
    put_count(&o, "second_path_bytes", r->network.second_path_bytes);
    put_object(&o, "rtt", rtt);
    put_count(&o, "capacity_estimate", r->network.capacity_estimate);
    return o;
}

// Of a film whose level the player chose.
static void put_film(struct object *all, const struct qoe_json *r)
{
    if (!(r->film.decisions > 0)) {
        put(all, "film", json_null());
        return;
    }
    struct object o = object_new();
    put(&o, "policy", json_text(r->film.policy));
    put_count(&o, "decisions", r->film.decisions);
    put_count(&o, "level", r->film.level);
    put(&o, "why", json_text(r->film.why));
    put_seconds(&o, "buffer", r->film.buffer);
    put_seconds(&o, "target", r->film.target);
    put_count(&o, "estimate", r->film.estimate);
    put_fraction(&o, "error", r->film.error);
    put_object(all, "film", o);
}

static void put_repair(struct object *all, const struct qoe_json *r)
{
    if (!r->repair.is_known) {
        put(all, "repair", json_null());
        return;
    }
    struct object o = object_new();
    put_count(&o, "resent", r->repair.resent);
    put_count(&o, "duplicated", r->repair.duplicated);
    put_count(&o, "fec_packets", r->repair.fec_packets);
    put_count(&o, "fec_recovered", r->repair.fec_recovered);
    put_count(&o, "invalidations", r->repair.invalidations);
    put_fraction(&o, "overhead", r->repair.overhead);
    put_object(all, "repair", o);
}

static void put_picture(struct object *o, const struct qoe_json *r)
{
    if (r->picture.compared == 0 && r->picture.skipped == 0) {
        put(o, "picture", json_null());
        return;
    }
    struct object picture = object_new();
    put_count(&picture, "compared", r->picture.compared);
    put_count(&picture, "skipped", r->picture.skipped);
    put_figure(&picture, "psnr_y", r->picture.psnr_y, 3);
    put_figure(&picture, "ssim", r->picture.ssim, 5);
    put_object(o, "picture", picture);
}

static struct object cpu(const struct qoe_json *r)
{
    struct object o = object_new();
    put_seconds(&o, "user", r->cpu.user);
    put_seconds(&o, "system", r->cpu.system);
    put_count(&o, "max_rss", r->cpu.max_rss);
    return o;
}

static struct object av_offset(const struct qoe_audio *a)
{
    struct object o = object_new();
    const struct av_offset_figures *f = &a->offset;
    put(&o, "by", json_text(a->by_tone ? "tone" : "timestamps"));
    put_count(&o, "samples", f->samples);
    put_ms(&o, "mean", f->mean);
    put_ms(&o, "min", f->min);
    put_ms(&o, "p5", f->p5);
    put_ms(&o, "p50", f->p50);
    put_ms(&o, "p95", f->p95);
    put_ms(&o, "max", f->max);
    put_ms(&o, "abs_p95", f->abs_p95);
    return o;
}

static void put_audio(struct object *all, const struct qoe_json *r)
{
    if (!r->has_audio) {
        put(all, "audio", json_null());
        return;
    }
    const struct qoe_audio *a = &r->audio;
    struct object o = object_new();
    put_count(&o, "packets", a->packets);
    put_count(&o, "lost", a->lost);
    put_count(&o, "repaired", a->repaired);
    put_count(&o, "late", a->late);
    put_count(&o, "bytes", a->bytes);
    put_seconds(&o, "heard", a->heard);
    put_ms(&o, "concealed_ms", a->concealed);
    put_count(&o, "underruns", a->underruns);
    put_count(&o, "jumps", a->jumps);
    put_count(&o, "spliced", a->spliced);
    put_object(&o, "av_offset", av_offset(a));
    put_object(all, "audio", o);
}

char *qoe_json_json(const struct qoe_json *r)
{
    struct object o = object_new();
    put(&o, "schema", json_string("weir.qoe/1"));
    put(&o, "ended", json_text(r->has_ended ? qoe_ended_text(r->ended) : NULL));
    put(&o, "error", json_text(r->error));
    put_object(&o, "session", session(r));
    put_object(&o, "startup", startup(r));
    put_object(&o, "playback", playback(r));
    put_object(&o, "rebuffering", rebuffering(r));
    put_object(&o, "freezes", freezes(r));
    put_causes(&o, r);
    put_object(&o, "seeks", seeks(r));
    put_object(&o, "channels", channels(r));
    put_object(&o, "controls", controls(r));
    put_object(&o, "jitter", jitter(r));
    put_object(&o, "levels", levels(r));
    put_film(&o, r);
    put_layers(&o, r);
    put_object(&o, "latency", latency(r));
    put_object(&o, "network", network(r));
    put_repair(&o, r);
    put_picture(&o, r);
    put_audio(&o, r);
    put_object(&o, "cpu", cpu(r));
    char *text = o.failed ? NULL : json_dumps(o.json, JSON_INDENT(2) | JSON_VALUE_FLAGS);
    json_decref(o.json);
    size_t len = text ? strlen(text) : 0;
    char *line = text ? realloc(text, len + 2) : NULL;
    if (!line) {
        free(text);
        return NULL;
    }
    memcpy(line + len, "\n", 2);
    return line;
}

int qoe_json_write(const struct qoe_json *r, const char *path)
{
    char *text = qoe_json_json(r);
    if (!text) {
        log_error("cannot write the report %s: out of memory", path);
        return ERR_NO_MEMORY;
    }
    int err = whole_file_write(path, text, strlen(text));
    free(text);
    return err;
}
