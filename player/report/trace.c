// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/report/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "player/report/json_value.h"

struct trace {
    FILE *out; // borrowed
    usec_t start;
    usec_t latest; // time of the last line written
    bool adus;
    bool failed;
};

struct trace *trace_new(FILE *out, bool adus, usec_t start)
{
    struct trace *e = calloc(1, sizeof(*e));
    if (!e)
        return NULL;
    e->out = out;
    e->start = start;
    e->adus = adus;
    // By line, so that a reader can follow the file while the session runs. With a line a packet
    // that would cost a write(2) a packet: buffer fully.
    setvbuf(out, NULL, adus ? _IOFBF : _IOLBF, 1 << 16);
    return e;
}

static void fail(struct trace *e, const char *why)
{
    if (!e->failed)
        log_error("cannot write the events file: %s (it is incomplete from here on)", why);
    e->failed = true;
}

int trace_free(struct trace *e)
{
    if (!e)
        return 0;
    if (fflush(e->out) != 0)
        fail(e, strerror(errno));
    int err = e->failed ? ERR_IO : 0;
    free(e);
    return err;
}

static json_t *seconds(const struct trace *e, usec_t at)
{
    return at == QOE_UNKNOWN ? json_null() : json_figure(usec_to_sec(at - e->start), 6);
}

// Writes one line {"t":, "event":, ...}. `more` (taken over) holds the further members; NULL: none.
// Some of their names come from the server: they must not replace "t" and "event". Lines are in the
// order of their times: an event noticed late on a busy machine, such as a buffer that ran empty
// before the picture reported last, gets the time of the preceding line.
static void write_line(struct trace *e, const char *event, usec_t at, json_t *more)
{
    e->latest = usec_max(e->latest, at);
    json_t *line = json_object();
    bool ok = json_object_set_new(line, "t", seconds(e, e->latest)) == 0 &&
              json_object_set_new(line, "event", json_string(event)) == 0 &&
              (!more || json_object_update_missing(line, more) == 0);
    char *text = ok ? json_dumps(line, JSON_COMPACT | JSON_VALUE_FLAGS) : NULL;
    if (!text)
        fail(e, "out of memory");
    else if (fputs(text, e->out) < 0 || fputc('\n', e->out) == EOF)
        fail(e, strerror(errno));
    free(text);
    json_decref(line);
    json_decref(more);
}

static bool is_on(const struct trace *e)
{
    return e && !e->failed;
}

// "{" key value ... "}" of values that were just made.
static json_t *with(json_t *object, const char *key, json_t *value)
{
    if (!object)
        object = json_object();
    json_object_set_new(object, key, value);
    return object;
}

void trace_connected(struct trace *e, const char *url, const char *transport, const char *why,
                     usec_t now)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "url", json_text(url));
    more = with(more, "transport", json_text(transport));
    write_line(e, "connected", now, with(more, "why", json_text(why && *why ? why : NULL)));
}

void trace_moved(struct trace *e, const char *transport, const char *why, usec_t now)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "transport", json_text(transport));
    write_line(e, "moved", now, with(more, "why", json_text(why)));
}

void trace_reconnect(struct trace *e, const char *why, int tries, usec_t wait, usec_t now)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "why", json_text(why));
    more = with(more, "try", json_integer(tries));
    write_line(e, "reconnect", now, with(more, "in", json_figure(usec_to_sec(wait), 3)));
}

void trace_capacity(struct trace *e, double bps, const char *by, usec_t span, usec_t now)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "capacity", json_figure(bps, 0));
    more = with(more, "by", json_text(by));
    if (span)
        more = with(more, "span", json_figure(usec_to_sec(span), 3));
    write_line(e, "capacity", now, more);
}

void trace_decision(struct trace *e, const struct qoe_decision *d, usec_t now)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "level", json_integer(d->level));
    more = with(more, "why", json_text(d->why));
    more = with(more, "buffer", json_figure(usec_to_sec(d->buffered), 3));
    more = with(more, "estimate", json_figure(d->estimate_bps, 0));
    more = with(more, "error", json_figure(d->error, 3));
    write_line(e, "decision", now, with(more, "speed", json_figure(d->speed, 3)));
}

void trace_mode(struct trace *e, const char *mode, usec_t now)
{
    if (is_on(e))
        write_line(e, "mode", now, with(NULL, "mode", json_string(mode)));
}

void trace_seek(struct trace *e, double seconds, usec_t wait, usec_t now)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "to", json_figure(seconds, 3));
    write_line(e, "seek", now, with(more, "first_frame_ms", json_figure(usec_to_msec(wait), 1)));
}

void trace_control(struct trace *e, const char *action, usec_t now)
{
    if (is_on(e))
        write_line(e, "control", now, with(NULL, "action", json_string(action)));
}

void trace_channel(struct trace *e, int number, const char *url, usec_t now)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "channel", json_integer(number));
    write_line(e, "channel", now, with(more, "url", json_text(url)));
}

void trace_channel_shown(struct trace *e, int number, const struct trace_steps *s, usec_t now)
{
    const struct {
        const char *key;
        usec_t at;
    } steps[] = {{"requested_ms", s->requested}, {"described_ms", s->described},
                 {"played_ms", s->played},       {"packet_ms", s->packet},
                 {"complete_ms", s->complete},   {"decoded_ms", s->decoded},
                 {"first_frame_ms", s->shown}};
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "channel", json_integer(number));
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
        if (steps[i].at)
            more = with(more, steps[i].key, json_figure(usec_to_msec(steps[i].at - s->asked), 1));
    write_line(e, "channel-shown", now, more);
}

void trace_channel_failed(struct trace *e, int number, const char *error, usec_t now)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "channel", json_integer(number));
    write_line(e, "channel-failed", now, with(more, "error", json_text(error)));
}

void trace_resume(struct trace *e, usec_t wait, usec_t now)
{
    if (is_on(e))
        write_line(e, "resume", now,
                   with(NULL, "first_frame_ms", json_figure(usec_to_msec(wait), 1)));
}

void trace_scale(struct trace *e, double scale, double seconds, usec_t wait, usec_t now)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "scale", json_figure(scale, 3));
    more = with(more, "at", json_figure(seconds, 3));
    write_line(e, "scale", now, with(more, "first_frame_ms", json_figure(usec_to_msec(wait), 1)));
}

void trace_level(struct trace *e, const struct qoe_switch *s, usec_t now)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "from", s->from < 0 ? json_null() : json_integer(s->from));
    more = with(more, "to", json_integer(s->to));
    write_line(e, "level", now, with(more, "why", json_text(s->why)));
}

void trace_rebuffer_start(struct trace *e, const struct event_stall *s, usec_t at)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "cause", json_string(stall_cause_text(s->cause)));
    more = with(more, "number", s->number < 0 ? json_null() : json_integer(s->number));
    double silence = s->silence < 0 ? NAN : usec_to_msec(s->silence);
    write_line(e, "rebuffer-start", at, with(more, "silence", json_figure(silence, 0)));
}

void trace_rebuffer_end(struct trace *e, enum stall_cause cause, usec_t stalled, usec_t at)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "duration", json_figure(usec_to_sec(stalled), 6));
    write_line(e, "rebuffer-end", at, with(more, "cause", json_string(stall_cause_text(cause))));
}

void trace_missed(struct trace *e, uint64_t frames, usec_t now)
{
    if (is_on(e) && frames)
        write_line(e, "missed", now, with(NULL, "frames", json_integer((json_int_t)frames)));
}

void trace_freeze(struct trace *e, const struct qoe_freeze_entry *f, usec_t now)
{
    if (!is_on(e) || !f)
        return;
    json_t *more = with(NULL, "at", json_figure(f->at, 6));
    more = with(more, "duration", json_figure(f->duration, 6));
    write_line(e, "freeze", now, with(more, "cause", json_string(freeze_cause_text(f->cause))));
}

void trace_speed(struct trace *e, double speed, usec_t now)
{
    if (is_on(e))
        write_line(e, "speed", now, with(NULL, "speed", json_figure(speed, 4)));
}

void trace_budget(struct trace *e, const struct qoe_budget *b, usec_t now)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "target", json_figure(usec_to_msec(b->target), 1));
    write_line(e, "budget", now,
               with(more, "buffer_share", json_figure(usec_to_msec(b->buffer), 1)));
}

void trace_skip(struct trace *e, usec_t media, usec_t now)
{
    if (is_on(e))
        write_line(e, "skip", now, with(NULL, "media", json_figure(usec_to_sec(media), 6)));
}

void trace_frame(struct trace *e, const struct event_frame *f, usec_t now)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "number", json_integer(f->number));
    more = with(more, "level", f->level < 0 ? json_null() : json_integer(f->level));
    more = with(more, "bytes", f->bytes < 0 ? json_null() : json_integer(f->bytes));
    more = with(more, "arrived", seconds(e, f->arrived));
    const struct not_shown *d = f->dropped;
    if (!d) {
        more = with(more, "captured", seconds(e, f->captured));
        more = with(more, "shown", seconds(e, f->shown));
    } else {
        more = with(more, "dropped", json_string(frame_cause_text(d->cause)));
    }
    if (d && d->cause == CAUSE_DEPENDENCY) {
        more = with(more, "cause", json_string(frame_cause_text(d->root)));
        more = with(more, "needs", json_integer(d->needs));
    }
    write_line(e, "frame", now, more);
}

void trace_skipped(struct trace *e, int64_t from, int64_t to, uint64_t frames, usec_t now)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "from", json_integer(from));
    more = with(more, "to", json_integer(to));
    write_line(e, "skipped", now, with(more, "frames", json_integer((json_int_t)frames)));
}

void trace_layers(struct trace *e, int64_t number, int valid, usec_t now)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "number", json_integer(number));
    write_line(e, "layers", now, with(more, "valid", json_integer(valid)));
}

void trace_picture(struct trace *e, int64_t number, int64_t shown, double ssim, usec_t now)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "number", json_integer(number));
    more = with(more, "shown", json_integer(shown));
    write_line(e, "picture", now, with(more, "ssim", json_figure(ssim, 6)));
}

void trace_loss(struct trace *e, uint64_t packets, uint64_t loss_events, usec_t now)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "packets", json_integer((json_int_t)packets));
    write_line(e, "loss", now, with(more, "loss_events", json_integer((json_int_t)loss_events)));
}

void trace_transport(struct trace *e, const struct qoe_transport *s, usec_t now)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "rtt", json_figure(s->rtt, 6));
    more = with(more, "rate", json_figure(s->rate, 0));
    more = with(more, "loss", json_figure(s->loss, 6));
    more = with(more, "queue", json_figure(s->queue, 6));
    write_line(e, "transport", now, with(more, "cwnd", json_figure(s->cwnd, 2)));
    if (e->adus && fflush(e->out) != 0)
        fail(e, strerror(errno));
}

void trace_controller(struct trace *e, const struct transport_info *info, usec_t now)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "allowed", json_figure(info->allowed_bps, 0));
    for (int i = 0; i < TRANSPORT_VARIABLES && info->variable[i].name[0]; i++)
        more = with(more, info->variable[i].name, json_figure(info->variable[i].value, 8));
    write_line(e, "controller", now, more);
}

void trace_transport_mode(struct trace *e, const char *from, const char *to, const char *why,
                          usec_t now)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "from", from ? json_string(from) : json_null());
    more = with(more, "to", json_string(to));
    write_line(e, "transport-mode", now, with(more, "reason", json_string(why)));
}

enum { TIME_TEXT = 24 }; // the longest: a sign, 13 digits, the point and 6 digits

// Writes seconds with all six decimals, exactly: a double cannot hold them.
static const char *time_text(usec_t t, char out[TIME_TEXT])
{
    if (t == QOE_UNKNOWN)
        return "null";
    uint64_t us = t < 0 ? 0 - (uint64_t)t : (uint64_t)t;
    snprintf(out, TIME_TEXT, "%s%" PRIu64 ".%06" PRIu64, t < 0 ? "-" : "", us / 1000000,
             us % 1000000);
    return out;
}

void trace_adu(struct trace *e, const struct event_adu *a, usec_t now)
{
    if (!is_on(e) || !e->adus)
        return;
    e->latest = usec_max(e->latest, now);
    char text[4][TIME_TEXT];
    // Thousands of these lines are written a second, so they do not go through a JSON object.
    int got = fprintf(e->out,
                      "{\"t\":%s,\"event\":\"adu\",\"number\":%" PRId64
                      ",\"size\":%d,\"captured\":%s,\"written\":%s,\"read\":%s}\n",
                      time_text(now - e->start, text[0]), a->number, a->size_id,
                      time_text(a->captured, text[1]), time_text(a->written, text[2]),
                      time_text(a->read, text[3]));
    if (got < 0)
        fail(e, strerror(errno));
}

void trace_ended(struct trace *e, enum qoe_ended ended, const char *error, usec_t now)
{
    if (!is_on(e))
        return;
    json_t *more = with(NULL, "ended", json_string(qoe_ended_text(ended)));
    write_line(e, "ended", now, with(more, "error", json_text(error)));
}
