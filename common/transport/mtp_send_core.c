// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/transport/mtp_send_core.h"

#include <assert.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/mtp/mtp_info.h"
#include "common/net/timer.h"
#include "common/srtp/srtp_guard.h"
#include "common/wire/mtp_record.h"

enum { MAX_PACKET = 1500 }; // of any carrier

static struct mtp_send_core *of(struct media_transport *t)
{
    return (struct mtp_send_core *)t;
}

// The timer is only moved to earlier times. If the deadline is later, the timer is set again when
// it fires. A retransmission timeout that each packet postpones therefore costs no system call.
static void arm(struct mtp_send_core *m, usec_t now)
{
    usec_t when = mtp_flow_next_timeout(&m->flow);
    if (m->waits && m->intake_at > now)
        when = usec_min(when, m->intake_at);
    if (when < m->armed) {
        m->armed = when;
        timer_set(m->timer, when);
    }
}

// Encrypts the RTP packet in a record. Until then the queue may drop it, or change its header. The
// record's own header and token stay readable. Returns the record's length; 0: it must not be sent.
static size_t seal(struct mtp_send_core *m, uint8_t *record, size_t len)
{
    struct mtp_header h;
    if (!m->base.srtp || mtp_header_decode(record, len, &h) != 0 || !h.length ||
        (h.flags & MTP_CTRL))
        return len;
    size_t bytes = h.length;
    if (srtp_guard_seal_rtp(m->base.srtp, record + MTP_RECORD_HEAD, &bytes,
                            m->base.media.max_packet + SRTP_TAG_BYTES) != 0)
        return 0;
    h.length = (uint16_t)bytes;
    mtp_header_encode(&h, record);
    return MTP_RECORD_HEAD + bytes;
}

static bool pull(struct mtp_send_core *m, usec_t now)
{
    int64_t slot;
    if (!m->carrier->is_open(m))
        return false;
    uint8_t *record = m->carrier->buffer(m);
    size_t len = mtp_flow_pull(&m->flow, record, &slot, now);
    if (!len)
        return false;
    len = seal(m, record, len);
    rate_meter_add(&m->meter, len, now);
    if (len) // otherwise it is lost
        m->carrier->put(m, slot, len, now);
    return true;
}

static bool may_take(struct mtp_send_core *m, usec_t now)
{
    return m->carrier->is_open(m) && now >= m->intake_at && mtp_flow_room(&m->flow, now);
}

static void tell_step(struct mtp_send_core *m)
{
    struct mtp_step step;
    if (!mtp_flow_stepped(&m->flow, &step))
        return;
    const char *to = mtp_mode_name(step.to);
    const char *reason = mtp_reason_text(step.reason);
    if (step.to > step.from)
        log_warn("MTP: continuing in mode %s (%s)", to, reason);
    else
        log_info("MTP: continuing in mode %s (%s)", to, reason);
}

// Asks the session before each record; if it has no packet, the record may be empty.
void mtp_send_core_resume(struct mtp_send_core *m, usec_t now)
{
    do {
        if (m->waits && may_take(m, now)) {
            m->waits = false;
            m->on_room(m->ctx, now);
        }
    } while (pull(m, now));
    m->carrier->flush(m);
    arm(m, now);
}

void mtp_send_core_ack(struct mtp_send_core *m, const struct mtp_ack *ack, usec_t now)
{
    mtp_flow_ack(&m->flow, ack, now);
    tell_step(m);
    mtp_send_core_resume(m, now);
}

static void on_timer(void *ctx, usec_t now)
{
    struct mtp_send_core *m = ctx;
    m->armed = USEC_NEVER;
    if (mtp_flow_next_timeout(&m->flow) <= now) {
        mtp_flow_timeout(&m->flow, now);
        tell_step(m);
    }
    mtp_send_core_resume(m, now);
}

bool mtp_send_core_room(struct media_transport *t, usec_t now)
{
    struct mtp_send_core *m = of(t);
    m->waits = !may_take(m, now);
    if (m->waits)
        arm(m, now);
    return !m->waits;
}

// A queue that drops packets instead of refusing them accepts an endless source only at the media's
// rate.
static void pace_intake(struct mtp_send_core *m, size_t len, usec_t now)
{
    if (m->flow.options.drops && m->media_bps > 0)
        m->intake_at = usec_max(m->intake_at, now - USEC_PER_MSEC) +
                       (usec_t)len * 8 * USEC_PER_SEC / m->media_bps;
}

int mtp_send_core_send(struct media_transport *t, enum media_track track,
                       const struct media_packet *p, usec_t now)
{
    (void)track; // one flow carries both
    struct mtp_send_core *m = of(t);
    if (!mtp_send_core_room(
            t,
            now)) // the window or the path may have closed since the room was reported
        return ERR_AGAIN;
    uint8_t packet[MAX_PACKET];
    size_t len = p->head_len + p->body_len;
    assert(len <= sizeof(packet));
    if (p->head_len)
        memcpy(packet, p->head, p->head_len);
    memcpy(packet + p->head_len, p->body, p->body_len);
    if (mtp_flow_push(&m->flow, packet, len, now) != 0)
        return ERR_AGAIN;
    pace_intake(m, len, now);
    pull(m, now);
    return 0;
}

void mtp_send_core_flush(struct media_transport *t, usec_t now)
{
    struct mtp_send_core *m = of(t);
    m->carrier->flush(m);
    arm(m, now);
}

void mtp_send_core_on_media_rate(struct media_transport *t, int bitrate_bps, usec_t now)
{
    (void)now;
    of(t)->media_bps = bitrate_bps;
}

void mtp_send_core_info(struct media_transport *t, struct transport_info *out, usec_t now)
{
    mtp_info_fill(&of(t)->flow, out, now);
    out->rate_bps = rate_meter_bps(&of(t)->meter, now);
}

int mtp_send_core_check(const struct transport_kind *kind, const char *params)
{
    (void)kind;
    struct mtp_options options;
    return mtp_options_parse(params, &options);
}

int mtp_send_core_init(struct mtp_send_core *m, const struct mtp_carrier *carrier,
                       const char *params, const struct transport_path *path, size_t max_packet,
                       usec_t now)
{
    struct mtp_options options;
    assert(max_packet <= MAX_PACKET);
    m->carrier = carrier;
    m->base.media.max_packet = max_packet - srtp_guard_tag(path->srtp);
    m->armed = USEC_NEVER;
    m->on_room = path->on_room;
    m->ctx = path->ctx;
    int err = mtp_options_parse(params, &options);
    if (!err)
        err = mtp_flow_init(&m->flow, &options, path->token, (uint16_t)max_packet, now);
    if (err)
        return err;
    if (carrier->adapts)
        mtp_flow_adapt(&m->flow);
    mtp_flow_tell(&m->flow, &m->base.media);
    m->base.media.drops = options.drops;
    m->timer = timer_new(path->loop, on_timer, m);
    if (m->timer)
        return 0;
    mtp_flow_destroy(&m->flow);
    return ERR_NO_MEMORY;
}

void mtp_send_core_destroy(struct mtp_send_core *m)
{
    timer_free(m->timer);
    mtp_flow_destroy(&m->flow);
}
