// SPDX-License-Identifier: GPL-2.0-or-later
// What the window is told, from all that the player knows.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "player/session/player_state.h"

void player_toast(struct player *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->osd.toast, sizeof(p->osd.toast), format, args);
    va_end(args);
    p->osd.toasts++;
}

// ---- Figures ----

static void level_text(const struct ladder *ladder, int level, char *out, size_t cap)
{
    const struct level *l = &ladder->levels[level];
    const struct size_spec *size = &ladder->sizes[l->size_id];
    snprintf(out, cap, "%dx%d@%.4g, %.2f Mbit/s", size->width, size->height,
             level_frame_rate(ladder, level), l->bitrate_bps / 1e6);
}

static void sample_path(const struct player *p, struct panel_sample *s)
{
    const struct transport_info *path = &p->path;
    const struct qoe_transport *t = &p->last_second;
    s->value[PANEL_RATE] = t->rate;
    s->value[PANEL_LOSS] = t->loss;
    s->value[PANEL_QUEUE] = t->queue * 1e3;
    s->value[PANEL_RTT] = t->rtt * 1e3;
    s->value[PANEL_CWND] = path->cwnd_packets;
    s->value[PANEL_ALLOWED] = path->allowed_bps;
    for (int i = 0; i < PANEL_VARIABLES && i < TRANSPORT_VARIABLES && path->variable[i].name[0];
         i++) {
        snprintf(s->name[i], PANEL_NAME, "%s", path->variable[i].name);
        s->value[PANEL_VARIABLE + i] = path->variable[i].value;
    }
}

static double recent(struct rolling_mean *r, const struct qoe_quantiles *q, usec_t now)
{
    rolling_mean_add(r, q->count, q->mean * q->count, now);
    return rolling_mean_mean(r);
}

static void sample_report(struct player *p, struct panel_sample *s, usec_t now)
{
    struct qoe_json r;
    struct panel_recent *lately = &p->lately;
    qoe_read(p->qoe, &r, now);
    rolling_mean_add(&lately->shown, r.playback.frames_played, 0, now);
    s->value[PANEL_FRAME_RATE] = rolling_mean_rate(&lately->shown);
    s->value[PANEL_LATENCY] = recent(&lately->display, &r.latency.display, now);
    const struct qoe_quantiles *parts[LATENCY_PARTS] = {
        [PART_ENCODER] = &r.latency.parts.encoder, [PART_TRANSPORT] = &r.latency.parts.transport,
        [PART_BUFFER] = &r.latency.parts.buffer,   [PART_DECODER] = &r.latency.parts.decoder,
        [PART_DISPLAY] = &r.latency.parts.display,
    };
    for (int i = 0; i < LATENCY_PARTS; i++)
        s->part[i] = recent(&lately->part[i], parts[i], now);
    s->expected = r.causes.expected;
    for (int c = 0; c < FRAME_CAUSES && isfinite(s->expected); c++)
        s->not_shown[c] = r.causes.by_root[c];
    s->stalls = r.rebuffering.count;
    s->stalled = r.rebuffering.total;
    s->freezes = r.freezes.count;
    s->frozen = r.freezes.total;
    s->longest_freeze = r.freezes.longest;
    s->reconnects = r.session.reconnects;
}

static void sample(struct player *p, struct panel_sample *s, usec_t now)
{
    panel_sample_clear(s);
    snprintf(s->transport, sizeof(s->transport), "%s", p->transport);
    s->levels = p->sdp.ladder.level_count;
    if (p->presenter) {
        int level = presenter_level_shown(p->presenter);
        s->value[PANEL_BUFFER] = usec_to_sec(presenter_held(p->presenter));
        if (level >= 0 && level < s->levels) {
            s->value[PANEL_LEVEL] = level;
            level_text(&p->sdp.ladder, level, s->level, sizeof(s->level));
        }
    }
    if (!p->outage.open)
        sample_path(p, s);
    sample_report(p, s, now);
}

// ---- What goes on ----

static enum overlay_message_link link_of(const struct player *p)
{
    if (!p->playing_since)
        return LINK_CONNECTING;
    if (!p->outage.open)
        return LINK_PLAYING;
    if (p->outage.chosen)
        return LINK_CHANGING;
    return p->outage.trying ? LINK_TRYING : LINK_LOST;
}

static void take_notice(struct player *p, struct overlay_message *out, usec_t now)
{
    struct overlay_message_facts f = {.link = link_of(p),
                                      .host = p->options->url.host,
                                      .why = p->outage.why,
                                      .other = p->own.transports.names[0],
                                      .tries = p->reconnect.tries,
                                      .next = reconnect_left(&p->reconnect, now),
                                      .described = p->presenter,
                                      .silence = -1};
    if (p->presenter) {
        struct presenter_wait wait = presenter_waiting(p->presenter, now);
        f.paused = presenter_paused(p->presenter);
        f.mode = presenter_mode(p->presenter);
        f.held = presenter_held(p->presenter);
        f.moves = f.mode == PLAYOUT_PLAYING && !p->outage.gap && !f.paused;
        f.goal = wait.goal;
        f.silence = wait.silence;
        f.cause = wait.cause;
    }
    overlay_message_make(&f, out);
}

void player_show_osd(struct player *p, usec_t now)
{
    struct osd_state *o = &p->osd;
    if (p->options->headless)
        return;
    o->samples++;
    o->ladder = p->sdp.ladder;
    o->level = p->presenter ? presenter_level_shown(p->presenter) : -1;
    o->may_choose = p->playing && !p->goddard && p->sdp.ladder.level_count > 0;
    o->raw = p->raw;
    o->duration = p->described ? p->sdp.duration : -1;
    o->position = player_position(p);
    sample(p, &o->panel, now);
    take_notice(p, &o->notice, now);
    p->display->ops->set_osd(p->display, o);
}

void player_show_end(struct player *p, const char *error)
{
    overlay_message_ended(error, &p->osd.notice);
    p->osd.ended = true;
    p->osd.position = NAN;
    p->display->ops->set_osd(p->display, &p->osd);
}
