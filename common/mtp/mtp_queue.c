// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/mtp/mtp_queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"

void mtp_queue_init(struct mtp_queue *q, const struct mtp_queue_config *config)
{
    *q = (struct mtp_queue){.config = *config};
    if (q->config.bytes == 0)
        q->config.bytes = MTP_QUEUE_BYTES;
}

void mtp_queue_destroy(struct mtp_queue *q)
{
    while (q->front) {
        struct mtp_packet *p = q->front;
        q->front = p->next;
        free(p);
    }
    *q = (struct mtp_queue){0};
}

static struct mtp_packet *take(struct mtp_queue *q)
{
    struct mtp_packet *p = q->front;
    q->front = p->next;
    if (!q->front)
        q->back = NULL;
    q->packets--;
    q->bytes -= p->len;
    p->next = NULL;
    return p;
}

static void drop(struct mtp_queue *q, struct mtp_packet *p)
{
    q->dropped++;
    q->dropped_bytes += p->len;
    if (q->config.lost)
        q->config.lost(q->config.owner, p);
    free(p);
}

static void append(struct mtp_queue *q, struct mtp_packet *p)
{
    if (q->back)
        q->back->next = p;
    else
        q->front = p;
    q->back = p;
    q->packets++;
    q->bytes += p->len;
}

static void drop_frame(struct mtp_queue *q, int64_t frame)
{
    struct mtp_packet *p = q->front;
    q->front = q->back = NULL;
    q->packets = q->bytes = 0;
    while (p) {
        struct mtp_packet *next = p->next;
        p->next = NULL;
        if (p->frame == frame)
            drop(q, p);
        else
            append(q, p);
        p = next;
    }
}

static void drop_front(struct mtp_queue *q)
{
    if (!q->config.whole_frames) {
        drop(q, take(q));
        return;
    }
    q->has_doomed = true;
    q->doomed = q->front->frame;
    drop_frame(q, q->doomed);
}

static void drop_stale(struct mtp_queue *q, usec_t now)
{
    while (q->config.wait > 0 && q->front && now - q->front->written_at > q->config.wait)
        drop_front(q);
}

static bool fits(const struct mtp_queue *q, uint16_t len, const struct tcp_snapshot *net)
{
    if (q->packets == 0)
        return true;
    if (q->bytes + len > q->config.bytes)
        return false;
    if (!q->config.dynamic)
        return true;
    struct tcp_snapshot with = *net; // a packet takes a whole slot, however short it is
    uint64_t unsent = (uint64_t)q->packets * net->mss;
    with.notsent_bytes = unsent < UINT32_MAX ? (uint32_t)unsent : UINT32_MAX;
    return minbuf_admits(&q->config.minbuf, &with);
}

bool mtp_queue_has_room(struct mtp_queue *q, uint16_t len, const struct tcp_snapshot *net,
                        usec_t now)
{
    drop_stale(q, now);
    return fits(q, len, net);
}

int mtp_queue_push(struct mtp_queue *q, const uint8_t *data, uint16_t len, int64_t frame, bool ctrl,
                   const struct tcp_snapshot *net, usec_t now)
{
    assert(net || !q->config.dynamic);
    bool room = mtp_queue_has_room(q, len, net, now);
    if (!room && q->config.block)
        return ERR_AGAIN;
    struct mtp_packet *p = malloc(sizeof(*p) + len);
    if (!p)
        return ERR_NO_MEMORY;
    *p = (struct mtp_packet){
        .number = -1, .frame = frame, .written_at = now, .ctrl = ctrl, .len = len};
    if (len > 0)
        memcpy(p->bytes, data, len);
    while (!fits(q, len, net))
        drop_front(q);
    if (q->has_doomed && q->doomed == frame) {
        drop(q, p);
        return 0;
    }
    append(q, p);
    return 0;
}

struct mtp_packet *mtp_queue_pop(struct mtp_queue *q, usec_t now)
{
    drop_stale(q, now);
    while (q->front) {
        struct mtp_packet *p = take(q);
        if (!q->config.leaves || q->config.leaves(q->config.owner, p))
            return p;
        drop(q, p);
    }
    return NULL;
}
