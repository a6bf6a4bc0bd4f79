// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "common/base/log.h"
#include "common/congestion/rto.h"
#include "common/net/clock.h"
#include "sender/session/session_state.h"
#include "stream/send/repair_budget.h"

_Static_assert(REPAIR_VIEWERS == STATS_SESSIONS + 1, "a session's number is its account");

// A viewer that shall report packets and has not reported one for so long is not there any more. A
// path that was away for 10 s has had its probe by then, and the probe its answer.
static const usec_t UNHEARD_AFTER = 10 * USEC_PER_SEC + RTO_MOST_LIVE + USEC_PER_SEC;

static bool is_leaned_on(const struct session *s, int64_t number)
{
    const struct size_spec *size = &session_ladder(s)->sizes[s->size_id];
    int64_t index = size_index_of_frame(size->fps, session_ladder(s)->source_fps, number);
    return index >= 0 &&
           session_is_leaned_on(s, s->size_id, layer_temporal_id(index, size->layers));
}

// Packets of live media are missing: they come again, or the encoder does without their frames.
// Viewers may name thousands at once: what is to be known of a frame is looked up once.
static void on_missing(struct session *s, struct rtcp_nack nack, usec_t now)
{
    int64_t last = -1;
    bool wanted = false;
    for (uint32_t named = 1 | (uint32_t)nack.blp << 1; named; named &= named - 1) {
        uint16_t seq = (uint16_t)(nack.pid + __builtin_ctz(named));
        int64_t number = rtp_sender_frame_of(&s->rtp, seq);
        if (number != last)
            wanted = number >= 0 && is_leaned_on(s, number);
        last = number;
        if (!wanted || (s->resend && retransmit_buffer_ask(s->resend, seq, now - s->latency)))
            continue;
        if (s->watching)
            live_feed_repair(s->config.stream->engine, s->size_id, number, s->number);
        wanted = false;
    }
}

static void on_missing_stored(struct session *s, struct rtcp_nack nack, usec_t now)
{
    for (uint32_t named = 1 | (uint32_t)nack.blp << 1; named; named &= named - 1) {
        uint16_t seq = (uint16_t)(nack.pid + __builtin_ctz(named));
        int64_t number = rtp_sender_frame_of(&s->rtp, seq);
        if (number >= 0 && stored_retransmit_take(&s->repairs, number, seq, s->rtp.next_seq))
            stored_feed_repair(s->stored, s->size_id, number, now);
    }
}

static void on_nack(struct session *s, const struct rtcp_item *item, usec_t now)
{
    for (int i = 0; i < item->nack_count; i++) {
        int named = 1 + __builtin_popcount(item->nacks[i].blp);
        if (!feedback_limit_nack(&s->feedback, named, s->rtp.packets))
            continue;
        if (s->stored)
            on_missing_stored(s, item->nacks[i], now);
        else
            on_missing(s, item->nacks[i], now);
    }
    if (s->resend)
        session_pump(s, now);
}

static void on_pli(struct session *s, usec_t now)
{
    if (!feedback_limit_pli(&s->feedback, now))
        return;
    if (s->watching && s->config.stream->engine)
        live_feed_request_key(s->config.stream->engine, s->size_id, s->number, now);
    else if (s->stored)
        stored_feed_repair(s->stored, s->size_id, -1, now);
}

static void on_reports(struct session *s, const struct rtcp_item *item, usec_t now)
{
    for (int i = 0; i < item->report_count; i++) {
        const struct rtcp_report *r = &item->reports[i];
        if (r->ssrc != s->rtp.ssrc || !s->transport->ops->on_report)
            continue;
        struct transport_report report = {.fraction_lost = r->fraction_lost / 256.0,
                                          .rtt = rtp_sender_rtt(&s->rtp, r, clock_wall())};
        s->transport->ops->on_report(s->transport, &report, now);
    }
}

void session_rtcp(struct session *s, const uint8_t *data, size_t len, usec_t now)
{
    struct rtcp_item item;
    size_t at = 0;
    int got;
    while ((got = rtcp_next(data, len, &at, &item)) == 1) {
        bool ours = item.media_ssrc == s->rtp.ssrc;
        if (item.kind == RTCP_IS_RR || item.kind == RTCP_IS_SR)
            on_reports(s, &item, now);
        else if (item.kind == RTCP_IS_NACK && ours && stream_has_pictures(s->config.stream))
            on_nack(s, &item, now);
        else if (item.kind == RTCP_IS_PLI && ours)
            on_pli(s, now);
    }
    if (s->transport->ops->on_rtcp)
        s->transport->ops->on_rtcp(s->transport, data, len, now);
    if (got < 0)
        log_debug("session %s: malformed RTCP was dropped", s->config.id);
}

void session_media(struct session *s, const uint8_t *data, size_t len, usec_t now)
{
    if (s->transport->ops->on_media)
        s->transport->ops->on_media(s->transport, data, len, now);
}

// Ends without a BYE, which would tell of the media's end.
static bool is_unheard(struct session *s, usec_t now)
{
    struct transport_info info;
    session_info(s, &info, now);
    if (usec_min(info.unheard, now - s->begun_at) < UNHEARD_AFTER)
        return false;
    session_stop_playing(s);
    s->config.on_stuck(s->config.ctx, "no report of a received packet came from it for 13 s");
    return true;
}

static bool is_unproved(const struct session *s)
{
    return s->config.address && s->config.address->peer[0].ss_family == AF_UNSPEC;
}

static bool has_nothing_to_send(const struct session *s, usec_t now)
{
    if (session_is_filler(s))
        return !session_is_greedy(s) && now < s->due_at;
    return s->scheduler.count == 0;
}

void session_second(struct session *s, usec_t now)
{
    if (!s->playing || is_unheard(s, now))
        return;
    session_send_report(s, false, now);
    // Nothing to send is no sign of being stuck; but an empty queue is also what is left when
    // nothing could leave and all was dropped.
    if (has_nothing_to_send(s, now) && s->transport->ops->room(s->transport, now))
        s->last_progress = now;
    if (now - s->last_progress <= s->config.stream->viewer_timeout)
        return;
    char why[80];
    snprintf(why, sizeof(why), "%s for %.0f s",
             is_unproved(s) ? "its media port has not shown its token" : "it has not taken a byte",
             usec_to_sec(s->config.stream->viewer_timeout));
    s->config.on_stuck(s->config.ctx, why);
}
