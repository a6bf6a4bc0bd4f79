// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/mtp/mtp_probe.h"

#include "common/wire/mtp_header.h"

static const usec_t PATIENCE = 500 * USEC_PER_MSEC;
static const usec_t MARGIN =
    50 * USEC_PER_MSEC; // time for four segments on a slow link, plus jitter

static const struct {
    int slot;
    uint8_t flags;
} flight[] = {{0, 0}, {2, 0}, {3, MTP_R}, {0, 0}, {4, MTP_R}};

enum { FLIGHT = sizeof(flight) / sizeof(flight[0]) };

void mtp_probe_init(struct mtp_probe *p)
{
    *p = (struct mtp_probe){.until = USEC_NEVER};
}

bool mtp_probe_pull(struct mtp_probe *p, struct mtp_out *out, usec_t now)
{
    if (p->sent == FLIGHT)
        return false;
    if (p->sent == 0) {
        p->began_at = now;
        p->until = now + PATIENCE;
    }
    int slot = flight[p->sent].slot;
    *out =
        (struct mtp_out){.slot = slot, .number = slot, .flags = flight[p->sent].flags, .time = now};
    p->sent++;
    return true;
}

static bool reports_beyond_hole(const struct mtp_ack *ack)
{
    for (int i = 0; i < ack->count; i++)
        if (ack->ranges[i].begin > MTP_PROBE_HOLE && ack->ranges[i].begin < ack->ranges[i].end &&
            ack->ranges[i].end <= MTP_PROBE_SLOTS)
            return true;
    return false;
}

bool mtp_probe_ack(struct mtp_probe *p, const struct mtp_ack *ack, usec_t now)
{
    if (p->sent == 0 || ack->cum < 0 || ack->cum > MTP_PROBE_SLOTS || ack->count < 0 ||
        ack->count > MTP_ACK_RANGES)
        return false;
    if (ack->cum == 0 && ack->count == 0) // the handshake's acknowledgement
        return false;
    if (!p->rtt)
        p->rtt = usec_max(now - p->began_at, 1);
    if (ack->cum > p->ack.cum || (ack->cum == p->ack.cum && ack->count >= p->ack.count))
        p->ack = *ack;
    p->until = usec_min(p->began_at + PATIENCE, now + p->rtt / 2 + MARGIN);
    return mtp_probe_result(p) == MTP_PROBE_OVER;
}

usec_t mtp_probe_next_timeout(const struct mtp_probe *p)
{
    return p->until;
}

enum mtp_probe_answer mtp_probe_result(const struct mtp_probe *p)
{
    if (p->ack.cum > MTP_PROBE_HOLE)
        return MTP_PROBE_OVER;
    if (reports_beyond_hole(&p->ack))
        return MTP_PROBE_BEYOND;
    return p->ack.cum == MTP_PROBE_HOLE ? MTP_PROBE_UP_TO : MTP_PROBE_NOTHING;
}
