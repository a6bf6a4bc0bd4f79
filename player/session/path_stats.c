// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/path_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/windowed_min.h"
#include "common/mtp/mtp_flow.h"

// Requests that keep a session alive come twice a minute.
#define REQUESTS_OF (60 * USEC_PER_SEC)

struct path_stats {
    struct qoe *qoe;
    struct trace *events;
    bool datagram;
    usec_t rtt;
    struct windowed_min of_requests; // the round trips of RTSP requests
    struct transport_info sender;
    usec_t away_since;        // a proxy lost its origin at this time; USEC_NEVER: it has it
    usec_t source_away_since; // the server's source sends nothing; USEC_NEVER: it sends
    char source_why[RTSP_PARAMS_WHY];
};

struct path_stats *path_stats_new(struct qoe *qoe, struct trace *events)
{
    struct path_stats *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->qoe = qoe;
    p->events = events;
    transport_info_clear(&p->sender);
    windowed_min_init(&p->of_requests, REQUESTS_OF);
    p->away_since = p->source_away_since = USEC_NEVER;
    return p;
}

void path_stats_free(struct path_stats *p)
{
    free(p);
}

void path_stats_setup(struct path_stats *p, bool datagram, usec_t rtt, usec_t now)
{
    p->datagram = datagram;
    p->rtt = rtt;
    if (rtt)
        windowed_min_add(&p->of_requests, rtt, now);
}

void path_stats_moved(struct path_stats *p, bool datagram)
{
    p->datagram = datagram;
}

// Returns the sender's variable `name` if it is a number from 0 to `end` - 1, else -1.
static int variable(const struct transport_info *info, const char *name, int end)
{
    for (int i = 0; i < TRANSPORT_VARIABLES && info->variable[i].name[0]; i++) {
        double value = info->variable[i].value;
        if (strcmp(info->variable[i].name, name) == 0 && value >= 0 && value < end)
            return (int)value;
    }
    return -1;
}

static void report_mtp_mode(const struct path_stats *p, const struct transport_info *info,
                            usec_t now)
{
    int from = variable(&p->sender, "mode", MTP_RESEND + 1);
    int to = variable(info, "mode", MTP_RESEND + 1);
    int reason = variable(info, "why", MTP_REASONS);
    if (to < 0 || reason < 0 || (from == to && reason == variable(&p->sender, "why", MTP_REASONS)))
        return;
    // A flow that begins in the mode that its parameters request changes nothing.
    if (from < 0 && reason == MTP_REASON_ASKED)
        return;
    const char *name = mtp_mode_name((enum mtp_mode)to);
    const char *text = mtp_reason_text((enum mtp_reason)reason);
    trace_transport_mode(p->events, from < 0 ? NULL : mtp_mode_name((enum mtp_mode)from), name,
                         text, now);
    log_info("MTP's mode at the sender: %s (%s)", name, text);
}

// NaN: there is no proxy, or an old one.
static void note_origin(struct path_stats *p, double away_s, usec_t now)
{
    bool was_away = p->away_since != USEC_NEVER;
    bool is_away = away_s > 0 && away_s < 1e6;
    if (is_away && !was_away) {
        p->away_since = now - (usec_t)(away_s * USEC_PER_SEC);
        log_warn("the proxy has lost its origin: the media continues when the origin is back, or "
                 "ends");
    } else if (was_away && !is_away) {
        log_info("the proxy has its origin again after %.1f s", usec_to_sec(now - p->away_since));
        p->away_since = USEC_NEVER;
    }
}

static void note_source(struct path_stats *p, const struct rtsp_params *params, usec_t now)
{
    bool was_away = p->source_away_since != USEC_NEVER;
    bool is_away = params->source_away_s < 1e9;
    memcpy(p->source_why, params->source_why, sizeof(p->source_why));
    if (is_away)
        p->source_away_since = now - (usec_t)(params->source_away_s * USEC_PER_SEC);
    if (is_away && !was_away)
        log_warn("the server's source is away%s%s: the media continues when it is back",
                 *p->source_why ? ": " : "", p->source_why);
    else if (was_away && !is_away)
        log_info("the server's source is back after %.1f s",
                 usec_to_sec(now - p->source_away_since));
    if (!is_away)
        p->source_away_since = USEC_NEVER;
}

void path_stats_answer(struct path_stats *p, const struct rtsp_client_answer *a, usec_t now)
{
    report_mtp_mode(p, &a->params.transport, now);
    p->sender = a->params.transport;
    if (!isnan(a->params.skipped))
        qoe_on_sender_skipped(p->qoe, (uint64_t)a->params.skipped);
    note_origin(p, a->params.relay.backbone_away_s, now);
    note_source(p, &a->params, now);
    qoe_on_relay(p->qoe, a->params.relay.backbone_delay_ms, a->params.relay.proxy_delay_ms);
    // One request or its answer may have been lost: TCP sends it again after a second.
    windowed_min_add(&p->of_requests, a->rtt, now);
    p->rtt = isnan(p->sender.rtt_ms) ? windowed_min_read(&p->of_requests)
                                     : (usec_t)(p->sender.rtt_ms * 1e3);
}

void path_stats_second(struct path_stats *p, const struct video_receiver_stats *f,
                       struct qoe_transport *out, usec_t now)
{
    const struct transport_info *sender = &p->sender;
    double rtt = p->rtt ? usec_to_sec(p->rtt) : NAN;
    *out = (struct qoe_transport){
        .rtt = isnan(sender->rtt_ms) ? rtt : sender->rtt_ms / 1e3,
        .rate = f->rate_bps,
        // TCP hides loss from the player by retransmission: take the sender's number.
        .loss = p->datagram ? f->loss : sender->loss,
        .queue = f->queue,
        .cwnd = sender->cwnd_packets};
    qoe_on_transport(p->qoe, out);
    trace_transport(p->events, out, now);
    if (!isnan(sender->allowed_bps))
        trace_controller(p->events, sender, now);
}

usec_t path_stats_rtt(const struct path_stats *p)
{
    return p->rtt;
}

const struct transport_info *path_stats_sender(const struct path_stats *p)
{
    return &p->sender;
}

usec_t path_stats_origin_away(const struct path_stats *p, usec_t now)
{
    return p->away_since == USEC_NEVER ? -1 : usec_max(0, now - p->away_since);
}

usec_t path_stats_source_away(const struct path_stats *p, const char **why, usec_t now)
{
    *why = p->source_why;
    return p->source_away_since == USEC_NEVER ? -1 : usec_max(0, now - p->source_away_since);
}
