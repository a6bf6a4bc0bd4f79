// SPDX-License-Identifier: GPL-2.0-or-later
// A lost server, or another transport: the same viewing goes on over a new connection, in the same
// report. What is in the buffer is shown meanwhile. Live media is asked for again by the rule of
// reconnect.h; stored media likewise, but not before all that had come was shown, and from there.
#include <math.h>
#include <stdio.h>

#include "common/base/log.h"
#include "common/transport/mtp_raw_receiver.h"
#include "player/session/player_state.h"

static void connect_anew(struct player *p, usec_t now)
{
    struct outage *o = &p->outage;
    if (p->raw)
        mtp_raw_receiver_abort(p->raw);
    client_free(p->client);
    double position = player_seek_base(p);
    if (!isnan(position))
        p->own.start = (usec_t)(position * 1e6);
    p->client = player_new_client(p, now);
    if (!p->client) {
        player_end(p, QOE_ERROR, EXIT_INTERNAL, "cannot connect again: out of memory", now);
        return;
    }
    o->trying = true;
}

// All that had come was shown, and nothing new is there: the viewer looks at a picture that stands.
static void begin_gap(struct player *p, usec_t now)
{
    struct outage *o = &p->outage;
    if (o->gap)
        return;
    o->gap = o->chosen ? GAP_PAUSE : GAP_STALL;
    if (o->gap == GAP_PAUSE) {
        qoe_on_pause(p->qoe, true, now);
        return;
    }
    struct event_stall e = {.cause = STALL_LOST, .number = -1, .silence = now - o->since};
    o->gap_since = now;
    qoe_on_stall_begin(p->qoe, STALL_LOST, now);
    trace_rebuffer_start(p->events, &e, now);
}

static void end_gap(struct player *p, usec_t now)
{
    struct outage *o = &p->outage;
    bool paused = o->gap == GAP_PAUSE;
    if (!o->gap)
        return;
    o->gap = GAP_NONE;
    if (paused) {
        qoe_on_pause(p->qoe, false, now);
        return;
    }
    qoe_on_stall_end(p->qoe, STALL_LOST, now);
    trace_rebuffer_end(p->events, STALL_LOST, now - o->gap_since, now);
}

// A viewer who looks at a paused picture is not shown another one.
static bool must_wait(const struct player *p)
{
    bool stored = p->sdp.duration >= 0;
    return p->presenter && (presenter_paused(p->presenter) || (stored && !p->outage.gap));
}

void player_on_retry_time(void *ctx, usec_t now)
{
    struct player *p = ctx;
    p->outage.due = must_wait(p);
    if (!p->outage.due && !p->over)
        connect_anew(p, now);
}

static void open_outage(struct player *p, usec_t now)
{
    p->playing = false;
    p->outage.open = true;
    p->outage.since = now;
    if (!p->presenter)
        return;
    if (presenter_mode(p->presenter) == PLAYOUT_ENDED)
        begin_gap(p, now);
    else
        presenter_end(p->presenter, now);
}

bool player_lost(struct player *p, const char *why, usec_t now)
{
    struct outage *o = &p->outage;
    bool refused = o->chosen && o->trying && !o->back;
    if ((!p->own.reconnect && !refused) || !p->playing_since || p->over)
        return false;
    o->trying = false;
    snprintf(o->why, sizeof(o->why), "%s", why);
    if (refused) { // by the server, with this transport: back to the one that played
        player_toast(p, "No %.40s: %.150s", p->own.transports.names[0], why);
        log_warn("%s", p->osd.toast);
        p->own.transports = o->transports;
        o->back = true;
        timer_set(p->retry, now);
        return true;
    }
    bool still = o->gap == GAP_PAUSE;
    if (still)
        end_gap(p, now);
    o->chosen = false;
    if (still) // from here on it is not the viewer's doing
        begin_gap(p, now);
    usec_t next = reconnect_lost(&p->reconnect, now);
    log_warn("%s; connecting again in %.1f s", why, usec_to_sec(next - now));
    trace_reconnect(p->events, why, p->reconnect.tries, next - now, now);
    timer_set(p->retry, next);
    if (!o->open)
        open_outage(p, now);
    return true;
}

void player_change_transport(struct player *p, const char *name, usec_t now)
{
    struct outage *o = &p->outage;
    if (!p->playing || p->over)
        return;
    o->chosen = true;
    o->back = false;
    o->transports = p->own.transports;
    p->own.transports.count = 1;
    p->own.transports.by_default = false;
    snprintf(p->own.transports.names[0], TRANSPORT_MAX_NAME, "%s", name);
    log_info("changing to %s", name);
    open_outage(p, now);
    video_receiver_send_bye(p->input, now);
    if (!client_leave(p->client, now))
        timer_set(p->retry, now);
}

bool player_drained(struct player *p, usec_t now)
{
    if (!p->outage.open)
        return false;
    begin_gap(p, now);
    if (p->outage.due)
        player_on_retry_time(p, now);
    return true;
}

void player_resumed_lost(struct player *p, usec_t now)
{
    if (p->outage.due)
        player_on_retry_time(p, now);
}

// The old media ends here. Frames of it that are still under way have an earlier `session`.
void player_drop_frames(struct player *p, usec_t now)
{
    if (p->presenter) {
        presenter_stop(p->presenter, now);
        begin_gap(p, now);
        render_queue_flush(p->show); // the decoder may wait there
        struct picture *last = presenter_last_shown(p->presenter);
        if (last) {
            picture_unref(p->last_shown);
            p->last_shown = picture_ref(last);
        }
        presenter_free(p->presenter);
        p->presenter = NULL;
    }
    render_queue_flush(p->show);
    p->frames_session++;
    if (p->input)
        video_receiver_tell(p->input);
    video_receiver_free(p->input);
    p->input = NULL;
    player_audio_drop(p);
    player_goddard_close(p);
    p->place = (struct player_place){0};
    p->clock = (struct clock_sync){0};
    transport_info_clear(&p->path);
    p->rtt = 0;
    p->sender_ms = 0;
}

void player_reconnected(struct player *p, usec_t now)
{
    struct outage *o = &p->outage;
    reconnect_playing(&p->reconnect, now);
    o->open = o->trying = false;
    if (!p->presenter)
        end_gap(p, now);
    player_seek_again(p, now);
}

void player_on_started(void *ctx, usec_t now)
{
    struct player *p = ctx;
    end_gap(p, now);
    p->outage.chosen = false;
}
