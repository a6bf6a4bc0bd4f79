// SPDX-License-Identifier: GPL-2.0-or-later
// MTP in TCP segments: the slots are sent over a separate connection (mtp_raw.h), which the viewer
// opens. RTCP stays on the RTSP connection, so that firewalls need not pass another port.
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "common/transport/interleaved.h"
#include "common/transport/mtp_raw.h"
#include "common/transport/mtp_raw_receiver.h"
#include "common/transport/mtp_send_core.h"

enum { MAX_PACKET = MTP_RAW_RECORD - MTP_RECORD_HEAD };

struct mtp_raw_transport {
    struct mtp_send_core core;
    struct mtp_raw_link *link;  // owned
    struct interleaved control; // for RTCP
    bool ended;                 // by the viewer
    uint8_t record[MTP_RAW_RECORD];
};

static struct mtp_raw_transport *of(struct media_transport *t)
{
    return (struct mtp_raw_transport *)t;
}

// ---- The carrier

static bool carrier_is_open(const struct mtp_send_core *core)
{
    return mtp_raw_link_is_open(((const struct mtp_raw_transport *)core)->link);
}

static uint8_t *carrier_buffer(struct mtp_send_core *core)
{
    return ((struct mtp_raw_transport *)core)->record;
}

static void carrier_put(struct mtp_send_core *core, int64_t slot, size_t len, usec_t now)
{
    struct mtp_raw_transport *m = (struct mtp_raw_transport *)core;
    mtp_raw_link_send(m->link, slot, m->record, len, core->flow.ect, core->flow.cwr, now);
}

static void carrier_flush(struct mtp_send_core *core)
{
    mtp_raw_link_flush(((struct mtp_raw_transport *)core)->link);
}

static const struct mtp_carrier carrier = {.is_open = carrier_is_open,
                                           .buffer = carrier_buffer,
                                           .put = carrier_put,
                                           .flush = carrier_flush,
                                           .adapts = true};

// ---- The link

static void on_open(void *ctx, int64_t window, usec_t now)
{
    struct mtp_raw_transport *m = ctx;
    mtp_flow_set_window(&m->core.flow, window);
    if (mtp_raw_link_has_ecn(m->link))
        (void)mtp_flow_use_ecn(&m->core.flow);
    mtp_send_core_resume(&m->core, now);
}

static void on_ack(void *ctx, const struct mtp_ack *ack, usec_t now)
{
    struct mtp_raw_transport *m = ctx;
    mtp_send_core_ack(&m->core, ack, now);
}

// The session receives the error when it sends.
static void on_end(void *ctx, usec_t now)
{
    struct mtp_raw_transport *m = ctx;
    m->ended = true;
    m->core.on_room(m->core.ctx, now);
}

static const struct mtp_raw_link_ops link_ops = {
    .on_open = on_open, .on_ack = on_ack, .on_end = on_end};

// ---- The transport

static bool raw_room(struct media_transport *t, usec_t now)
{
    return of(t)->ended || mtp_send_core_room(t, now);
}

static int raw_send(struct media_transport *t, enum media_track track, const struct media_packet *p,
                    usec_t now)
{
    return of(t)->ended ? ERR_CLOSED : mtp_send_core_send(t, track, p, now);
}

static int raw_send_rtcp(struct transport *t, enum media_track track, const uint8_t *data,
                         size_t len, usec_t now)
{
    memcpy(of(&t->media)->control.base.tracks, t->tracks, sizeof(t->tracks));
    return interleaved_send_rtcp(&of(&t->media)->control.base, track, data, len, now);
}

static void raw_info(struct media_transport *t, struct transport_info *out, usec_t now)
{
    mtp_send_core_info(t, out, now);
    out->acks_ignored = mtp_raw_link_strangers(of(t)->link);
}

static void raw_free(struct transport *t)
{
    struct mtp_raw_transport *m = of(&t->media);
    mtp_raw_link_close(m->link, clock_now());
    interleaved_destroy(&m->control);
    mtp_send_core_destroy(&m->core);
    free(m);
}

static const struct transport_ops raw_ops = {
    .media.room = raw_room,
    .media.send = raw_send,
    .media.flush = mtp_send_core_flush,
    .send_rtcp = raw_send_rtcp,
    .media.on_media_rate = mtp_send_core_on_media_rate,
    .media.info = raw_info,
    .free = raw_free,
};

static struct transport *mtp_raw_create(const struct transport_kind *kind, const char *params,
                                        const struct transport_path *path, usec_t now)
{
    (void)kind;
    struct mtp_raw_transport *m = path->raw ? calloc(1, sizeof(*m)) : NULL;
    if (!m)
        return NULL;
    m->core.base.ops = &raw_ops;
    if (mtp_send_core_init(&m->core, &carrier, params, path, MAX_PACKET, now) != 0)
        goto free_transport;
    m->link = mtp_raw_link_new(path->raw, path->token, &link_ops, m);
    if (!m->link)
        goto destroy_core;
    interleaved_init(&m->control, path);
    return &m->core.base;

destroy_core:
    mtp_send_core_destroy(&m->core);
free_transport:
    free(m);
    return NULL;
}

const struct transport_kind transport_mtp_raw = {
    .name = "mtp-raw",
    .help = "mtp, with its parameters, in TCP segments, for networks that block UDP; requires "
            "CAP_NET_RAW at both ends",
    .needs_raw = true,
    .holds_back = true,
    .measures = true,
    .check = mtp_send_core_check,
    .create = mtp_raw_create,
    .receive = mtp_raw_receive,
};
