// SPDX-License-Identifier: GPL-2.0-or-later
// RTP over UDP under any rate controller: the protocol's endpoint (datagram_sender.h) on sockets
// and a timer; at the viewer, reports of each packet (datagram_reports.h).
//
// Bursts. The controller says for each packet when it may leave; a wake-up sends those that are due
// together, in one system call, but never more than WAKE_UP_PACKETS, then the loop's others have
// their turn. A wake-up that comes late thus catches up as far as the controller lets it and no
// further.
//
// A viewer that does not report packets (RFC 8888) gets the controller alone, unanswered: only
// `udp` is given to such.
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/rate_meter.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"
#include "common/protocol/packet_size.h"
#include "common/srtp/srtp_guard.h"
#include "common/transport/datagram_reports.h"
#include "common/transport/packet_parts.h"
#include "common/transport/transport_receiver.h"
#include "common/transport/udp_track.h"

enum {
    WAKE_UP_PACKETS = UDP_SOCKET_BATCH,
    // Max number of reports accepted: one per packet sent, plus this number. More is a flood.
    REPORTS_AHEAD = 256,
    ECT_1 = 1,
    ECT_0 = 2,
};
// Max rate: above that of every supported path, and of the sum of its flows.
static const double MAX_RATE_BPS = 10e9;

struct datagram_transport {
    struct transport base;
    uint32_t ssrc;
    struct controller *controller; // owned, by the endpoint if there is one
    bool fed_back;                 // `endpoint` is there
    struct datagram_sender endpoint;
    int64_t next_number; // without an endpoint
    bool is_sized;       // true: max_packet is the route's
    struct timer *timer; // owned
    usec_t armed;        // must not fire later than the next deadline
    bool waits;          // true after room was refused to the session
    usec_t heard_at; // time of the last useful report, or when the first outstanding packet left
    uint64_t heard_packets; // that had left by then
    int report_credit;
    uint64_t reports_ignored;
    bool told_lies;
    struct rate_meter meter;
    double report_rtt_ms; // from receiver reports, if there is no better source
    double report_loss;
    usec_t wake_up; // time at which `woken` packets left
    int woken;
    int queued; // packets of this wake-up, until the flush
    uint8_t heads[UDP_SOCKET_BATCH][MEDIA_PACKET_MAX_HEAD];
    struct iovec queue[UDP_SOCKET_BATCH][2]; // head and payload, borrowed until the flush
    // Owned; buffers for the encrypted packets of `queue` and, last, for one that leaves alone.
    // NULL: plain RTP.
    uint8_t (*sealed)[PACKET_SIZE_MAX];
    transport_room_fn *on_room;
    void *ctx; // borrowed
};

static struct datagram_transport *of(struct media_transport *t)
{
    return (struct datagram_transport *)t;
}

static bool is_validated(const struct datagram_transport *d)
{
    return udp_track_is_validated(&d->base.tracks[TRACK_VIDEO], 0);
}

// ---- Size

static size_t tag_of(const struct datagram_transport *d)
{
    return d->sealed ? SRTP_TAG_BYTES : 0;
}

// `bytes`: of a packet on the wire.
static void set_size(struct datagram_transport *d, size_t bytes)
{
    d->base.media.max_packet = bytes - tag_of(d);
    d->controller->config.packet_bytes = (uint32_t)bytes;
}

// Without reports nothing would show that the path drops large packets.
static void take_route(struct datagram_transport *d)
{
    d->is_sized = true;
    if (!d->base.kind->large_packets || !d->fed_back)
        return;
    const struct sockaddr *to = d->base.tracks[TRACK_VIDEO].peer[0];
    set_size(d, packet_size_of_route(udp_socket_route_mtu(to), to->sa_family == AF_INET6));
}

static void check_size(struct datagram_transport *d)
{
    size_t bytes = d->base.media.max_packet + tag_of(d);
    if (bytes > PACKET_SIZE_SAFE && packet_size_fails(&d->endpoint.counts, d->endpoint.silent)) {
        log_info("%s: packets of %zu bytes do not arrive; %d from now on", d->base.name, bytes,
                 PACKET_SIZE_SAFE);
        set_size(d, PACKET_SIZE_SAFE);
    }
}

// ---- Time

static usec_t next_send(struct datagram_transport *d, usec_t now)
{
    if (d->wake_up == now && d->woken >= WAKE_UP_PACKETS)
        return now; // runs after the loop's other callbacks
    return d->fed_back ? datagram_sender_next_send(&d->endpoint, now)
                       : d->controller->ops->next_send(d->controller, now);
}

static usec_t next_timeout(const struct datagram_transport *d)
{
    if (d->fed_back)
        return datagram_sender_next_timeout(&d->endpoint);
    const struct controller_ops *ops = d->controller->ops;
    return ops->next_timeout ? ops->next_timeout(d->controller) : USEC_NEVER;
}

// The timer is only moved to earlier times. If the deadline is later, the timer is set again when
// it fires. A retransmission timeout that each packet postpones therefore costs no system call.
static void arm(struct datagram_transport *d, usec_t now)
{
    usec_t when = next_timeout(d);
    if (d->waits && is_validated(d))
        when = usec_min(when, next_send(d, now));
    if (when < d->armed) {
        d->armed = when;
        timer_set(d->timer, when);
    }
}

static void resume(struct datagram_transport *d, usec_t now)
{
    if (d->waits && is_validated(d) && next_send(d, now) <= now) {
        d->waits = false;
        d->on_room(d->ctx, now);
    }
    arm(d, now);
}

static void on_timer(void *ctx, usec_t now)
{
    struct datagram_transport *d = ctx;
    d->armed = USEC_NEVER;
    if (next_timeout(d) <= now) {
        if (d->fed_back)
            datagram_sender_timeout(&d->endpoint, now);
        else
            d->controller->ops->timeout(d->controller, now);
        check_size(d);
    }
    resume(d, now);
}

// ---- Out

static bool may_send(struct datagram_transport *d, usec_t now)
{
    if (!is_validated(d))
        return false;
    if (!d->is_sized)
        take_route(d);
    if (d->wake_up == now && d->woken >= WAKE_UP_PACKETS) {
        d->endpoint.blocked = true; // the transport causes the wait: the application does not pause
        return false;
    }
    return d->fed_back ? datagram_sender_room(&d->endpoint, now)
                       : d->controller->ops->next_send(d->controller, now) <= now;
}

static bool datagram_room(struct media_transport *t, usec_t now)
{
    struct datagram_transport *d = of(t);
    if (may_send(d, now))
        return true;
    d->waits = true;
    arm(d, now);
    return false;
}

static void set_heard(struct datagram_transport *d, usec_t now)
{
    d->heard_at = now;
    d->heard_packets = d->endpoint.counts.packets;
}

static void note_sent(struct datagram_transport *d, uint32_t bytes, usec_t now)
{
    if (d->fed_back) {
        if (d->endpoint.rto_at == USEC_NEVER) // nothing was outstanding
            set_heard(d, now);
        datagram_sender_sent(&d->endpoint, bytes, now);
        d->report_credit += d->report_credit < REPORTS_AHEAD;
    } else {
        struct cc_sent s = {.number = d->next_number++, .bytes = bytes, .backlogged = d->waits};
        d->controller->ops->sent(d->controller, &s, now);
    }
    d->woken = d->wake_up == now ? d->woken + 1 : 1;
    d->wake_up = now;
    d->waits = false;
    rate_meter_add(&d->meter, bytes, now);
}

// The viewer's reports, or their absence, show which packets were lost.
static void datagram_flush(struct media_transport *t, usec_t now)
{
    struct datagram_transport *d = of(t);
    if (!d->queued)
        return;
    udp_track_send(&d->base.tracks[TRACK_VIDEO], d->queue[0], 2, d->queued);
    d->queued = 0;
    arm(d, now);
}

// Encrypts the packet into buffer `index`. Returns its parts; of no bytes: it must not be sent.
static void seal(struct datagram_transport *d, int index, const struct media_packet *p,
                 struct iovec parts[2])
{
    uint8_t *out = d->sealed[index];
    size_t len = p->head_len + p->body_len;
    if (p->head_len)
        memcpy(out, p->head, p->head_len);
    memcpy(out + p->head_len, p->body, p->body_len);
    if (srtp_guard_seal_rtp(d->base.srtp, out, &len, PACKET_SIZE_MAX) != 0)
        len = 0;
    parts[0] = (struct iovec){out, len};
    parts[1] = (struct iovec){out, 0};
}

// For a player that does not support one flow for both tracks.
static int send_beside(struct datagram_transport *d, const struct media_packet *p, usec_t now)
{
    const struct track_path *audio = &d->base.tracks[TRACK_AUDIO];
    struct iovec parts[2] = {transport_head(p), transport_body(p)};
    if (d->sealed)
        seal(d, UDP_SOCKET_BATCH, p, parts);
    size_t len = parts[0].iov_len + parts[1].iov_len;
    if (len)
        (void)udp_socket_send(audio->socket[0], audio->peer[0], parts, 2);
    rate_meter_add(&d->meter, len, now);
    return 0;
}

// Adds the packet to the batch. One that cannot be encrypted counts as sent and is lost.
static void queue_packet(struct datagram_transport *d, const struct media_packet *p)
{
    struct iovec *parts = d->queue[d->queued];
    if (d->sealed) {
        seal(d, d->queued, p, parts);
        d->queued += parts[0].iov_len != 0;
        return;
    }
    if (p->head_len)
        memcpy(d->heads[d->queued], p->head, p->head_len);
    parts[0] = (struct iovec){d->heads[d->queued], p->head_len};
    parts[1] = transport_body(p);
    d->queued++;
}

static int datagram_send(struct media_transport *t, enum media_track track,
                         const struct media_packet *p, usec_t now)
{
    struct datagram_transport *d = of(t);
    if (track == TRACK_AUDIO && d->base.tracks[TRACK_AUDIO].socket[0])
        return send_beside(d, p, now);
    if (!datagram_room(
            t, now)) // a report or a timeout may have removed the room since it was reported
        return ERR_AGAIN;
    size_t len = p->head_len + p->body_len + tag_of(d);
    assert(p->head_len <= MEDIA_PACKET_MAX_HEAD && len <= PACKET_SIZE_MAX);
    queue_packet(d, p);
    note_sent(d, (uint32_t)len, now);
    if (d->queued == UDP_SOCKET_BATCH)
        datagram_flush(t, now);
    return 0;
}

static bool datagram_wish(const struct media_transport *t, struct feedback_wish *out)
{
    const struct datagram_transport *d = (const struct datagram_transport *)t;
    if (d->fed_back)
        *out = datagram_sender_wish(&d->endpoint);
    return d->fed_back;
}

// ---- In

static void on_feedback(struct datagram_transport *d, const struct ccfb *report, usec_t now)
{
    if (d->report_credit == 0) {
        d->reports_ignored++;
        return;
    }
    d->report_credit--;
    const struct datagram_counts *counts = &d->endpoint.counts;
    uint64_t arrived = counts->arrived + counts->late;
    datagram_sender_feedback(&d->endpoint, report, now);
    check_size(d);
    if (counts->arrived + counts->late != arrived)
        set_heard(d, now);
    if (counts->lies && !d->told_lies) {
        d->told_lies = true; // logged once; --stats counts them
        log_warn("a viewer sent impossible feedback: it reports packets that were never sent");
    }
}

static void datagram_on_rtcp(struct transport *t, const uint8_t *data, size_t len, usec_t now)
{
    struct datagram_transport *d = of(&t->media);
    if (!d->fed_back)
        return;
    struct ccfb report;
    size_t at = 0;
    int got;
    while ((got = ccfb_next(data, len, &at, &report)) != 0)
        if (got == 1 && report.media_ssrc == d->ssrc)
            on_feedback(d, &report, now);
    resume(d, now);
}

static void datagram_on_report(struct transport *t, const struct transport_report *r, usec_t now)
{
    (void)now;
    struct datagram_transport *d = of(&t->media);
    double rtt_ms = usec_to_msec(r->rtt);
    d->report_loss = r->fraction_lost;
    if (r->rtt > 0) // smoothed as in RFC 6298
        d->report_rtt_ms =
            isnan(d->report_rtt_ms) ? rtt_ms : d->report_rtt_ms + (rtt_ms - d->report_rtt_ms) / 8;
}

static void datagram_on_media_rate(struct media_transport *t, int bitrate_bps, usec_t now)
{
    struct datagram_transport *d = of(t);
    if (d->controller->ops->media_rate)
        d->controller->ops->media_rate(d->controller, bitrate_bps, now);
    arm(d, now);
}

static void datagram_set_max_rate(struct media_transport *t, double bps, usec_t now)
{
    struct datagram_transport *d = of(t);
    controller_set_max_rate(d->controller, bps > 0 ? fmin(bps, MAX_RATE_BPS) : MAX_RATE_BPS);
    arm(d, now);
}

static void datagram_on_validated(struct transport *t, usec_t now)
{
    resume(of(&t->media), now);
}

// ---- Figures

static void tell_controller(const struct datagram_transport *d, struct transport_info *out,
                            usec_t now)
{
    struct controller_info info = {.loss_events = NAN};
    d->controller->ops->info(d->controller, &info, now);
    out->allowed_bps = info.rate_bps;
    out->loss_events = info.loss_events;
    out->leads = info.leads;
    for (int i = 0; i < TRANSPORT_VARIABLES && info.variable[i].name; i++) {
        struct transport_variable *v = &out->variable[i];
        snprintf(v->name, sizeof(v->name), "%s", info.variable[i].name);
        v->value = info.variable[i].value;
    }
}

static void datagram_info(struct media_transport *t, struct transport_info *out, usec_t now)
{
    struct datagram_transport *d = of(t);
    transport_info_clear(out);
    out->rtt_ms = d->report_rtt_ms;
    out->loss = d->report_loss;
    out->rate_bps = rate_meter_bps(&d->meter, now);
    out->unsent_bytes = 0;
    tell_controller(d, out, now);
    if (!d->fed_back)
        return;
    const struct datagram_counts *counts = &d->endpoint.counts;
    out->is_reported = true;
    out->counts = *counts;
    transport_info_add_datagrams(out, &d->endpoint, d->base.kind->responsive);
    out->reports_ignored = d->reports_ignored;
    if (counts->arrived + counts->lost)
        out->loss = (double)counts->lost / (double)(counts->arrived + counts->lost);
    if (d->endpoint.rto_at == USEC_NEVER)
        return;
    out->unheard = now - d->heard_at;
    out->unheard_packets = counts->packets - d->heard_packets;
}

static bool datagram_fate(struct media_transport *t, bool *lost)
{
    struct datagram_transport *d = of(t);
    return d->fed_back && datagram_sender_fate(&d->endpoint, lost);
}

// ---- Life

static void datagram_free(struct transport *t)
{
    struct datagram_transport *d = of(&t->media);
    timer_free(d->timer);
    if (d->fed_back)
        datagram_sender_destroy(&d->endpoint);
    else
        free(d->controller);
    free(d->sealed);
    free(d);
}

static const struct transport_ops datagram_ops = {
    .media.room = datagram_room,
    .media.send = datagram_send,
    .media.flush = datagram_flush,
    .media.wish = datagram_wish,
    .on_rtcp = datagram_on_rtcp,
    .send_rtcp = udp_track_send_rtcp,
    .on_report = datagram_on_report,
    .media.on_media_rate = datagram_on_media_rate,
    .on_writable = datagram_on_validated,
    .media.info = datagram_info,
    .media.fate = datagram_fate,
    .media.set_max_rate = datagram_set_max_rate,
    .free = datagram_free,
};

static void controller_name(const struct transport_kind *kind, const char *params,
                            char out[CONTROLLER_MAX_NAME + TRANSPORT_MAX_NAME])
{
    snprintf(out, CONTROLLER_MAX_NAME + TRANSPORT_MAX_NAME, "%s%s%s", kind->controller,
             *params ? ":" : "", params);
}

static int datagram_check(const struct transport_kind *kind, const char *params)
{
    char name[CONTROLLER_MAX_NAME + TRANSPORT_MAX_NAME];
    controller_name(kind, params, name);
    return controller_check(name);
}

static struct transport *datagram_create(const struct transport_kind *kind, const char *params,
                                         const struct transport_path *path, usec_t now)
{
    struct datagram_transport *d = calloc(1, sizeof(*d));
    if (!d)
        return NULL;
    *d = (struct datagram_transport){
        .base = {.ops = &datagram_ops, .media.max_packet = PACKET_SIZE_SAFE},
        .ssrc = path->ssrc,
        .armed = USEC_NEVER,
        .report_credit = REPORTS_AHEAD,
        .report_rtt_ms = NAN,
        .report_loss = NAN,
        .wake_up = -1,
        .on_room = path->on_room,
        .ctx = path->ctx,
    };
    if (path->srtp) {
        d->sealed = calloc(UDP_SOCKET_BATCH + 1, sizeof(*d->sealed));
        if (!d->sealed)
            goto free_transport;
        d->base.media.max_packet -= SRTP_TAG_BYTES;
    }
    struct controller_config config = {.packet_bytes = PACKET_SIZE_SAFE,
                                       .max_rate_bps = MAX_RATE_BPS,
                                       .start_bps = path->start_bps,
                                       .start_rtt = path->start_rtt};
    char name[CONTROLLER_MAX_NAME + TRANSPORT_MAX_NAME];
    controller_name(kind, params, name);
    d->controller = controller_new(name, &config, now);
    if (!d->controller)
        goto free_transport;
    struct datagram_sender_config sender = {
        .first_seq = path->first_seq, .goes_on = path->goes_on, .max_rto = RTO_MAX_LIVE};
    if (path->feedback && datagram_sender_init(&d->endpoint, d->controller, &sender, now) != 0)
        goto free_transport; // the endpoint has taken over the controller
    d->fed_back = path->feedback;
    d->timer = timer_new(path->loop, on_timer, d);
    if (!d->timer)
        goto free_controller;
    if (d->fed_back && kind->responsive)
        udp_socket_set_ecn(path->socket[0], d->controller->l4s ? ECT_1 : ECT_0);
    return &d->base;

free_controller:
    datagram_free(&d->base);
    return NULL;
free_transport:
    free(d->sealed);
    free(d);
    return NULL;
}

// ---- The receiving end

struct datagram_receiving {
    struct transport_receiver base;
    struct transport_receiver_path path;
    struct datagram_reports *reports; // owned; NULL: reports were not negotiated
};

static void receiving_datagram(struct transport_receiver *r, const struct datagram *d, usec_t now)
{
    struct datagram_receiving *in = (struct datagram_receiving *)r;
    struct datagram plain = *d;
    plain.data = srtp_guard_open_rtp(in->path.srtp, d->data, &plain.len);
    if (!plain.data) // not reported either: a report must not depend on a forged packet
        return;
    if (in->reports)
        datagram_reports_packet(in->reports, &plain);
    in->path.on_rtp(in->path.ctx, plain.data, plain.len, d->arrived, now);
}

static void receiving_free(struct transport_receiver *r)
{
    datagram_reports_free(((struct datagram_receiving *)r)->reports);
    free(r);
}

static int64_t receiving_marked(const struct transport_receiver *r)
{
    const struct datagram_reports *reports = ((const struct datagram_receiving *)r)->reports;
    return reports ? (int64_t)datagram_reports_marked(reports) : -1;
}

static void receiving_mark(struct transport_receiver *r, int packets)
{
    struct datagram_reports *reports = ((struct datagram_receiving *)r)->reports;
    if (reports)
        datagram_reports_mark(reports, packets);
}

static const struct transport_receiver_ops receiving_ops = {.on_datagram = receiving_datagram,
                                                            .marked = receiving_marked,
                                                            .mark = receiving_mark,
                                                            .free = receiving_free};

static int datagram_receive(const struct transport_receiver_path *path,
                            struct transport_receiver **out, usec_t now)
{
    struct datagram_receiving *in = calloc(1, sizeof(*in));
    if (!in)
        return ERR_NO_MEMORY;
    in->base.ops = &receiving_ops;
    in->path = *path;
    struct datagram_reports_config config = {.loop = path->loop,
                                             .ext = path->ext,
                                             .ssrc = path->ssrc,
                                             .media_ssrc = path->media_ssrc,
                                             .send = path->send_rtcp,
                                             .ctx = path->ctx};
    if (path->reports && !(in->reports = datagram_reports_new(&config, now))) {
        free(in);
        return ERR_NO_MEMORY;
    }
    *out = &in->base;
    return 0;
}

// ---- The rows

// RTP over UDP at the rate that CONTROLLER allows.
#define DATAGRAM(NAME, CONTROLLER, RESPONSIVE, LARGE, HELP)                                        \
    {                                                                                              \
        .name = NAME, .help = HELP, .datagram = true, .plain_rtp = true, .measures = RESPONSIVE,   \
        .reports = true, .responsive = RESPONSIVE, .large_packets = LARGE,                         \
        .controller = CONTROLLER, .check = datagram_check, .create = datagram_create,              \
        .receive = datagram_receive                                                                \
    }

const struct transport_kind transport_udp =
    DATAGRAM("udp", "fixed", false, false,
             "RTP over UDP at the media's rate, without congestion control; udp:rate=BPS");
const struct transport_kind transport_psp = DATAGRAM(
    "psp", "psp", true, true, "UDP, damped packet spacing; psp:initial=,first=,step=,link=");
const struct transport_kind transport_psp_plain =
    DATAGRAM("psp-plain", "psp-plain", true, true, "UDP, packet spacing without damping");
const struct transport_kind transport_tfrc =
    DATAGRAM("tfrc", "tfrc", true, false,
             "UDP, TCP-friendly rate control; tfrc:mean,damp,selfclock or tfrc:komssys,rounds");
const struct transport_kind transport_arc =
    DATAGRAM("arc", "arc", true, true,
             "UDP, adaptive rate control; arc:report=rtt|packet,k=,alpha=,tau=,eq7=");
const struct transport_kind transport_scream =
    DATAGRAM("scream", "scream", true, false,
             "UDP, SCReAMv2 for live media; scream:target=60 (ms),ecn=l4s|classic");
