// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/queue_drops.h"

#include <stdlib.h>

#include "common/base/seq.h"

struct queue_drops {
    int64_t left;                   // extended number of the newest packet that left, copies aside
    uint32_t timestamp;             // of that packet
    bool cut;                       // a packet of its frame was dropped
    bool has_left;                  // true once a packet has left
    int64_t count;                  // packets dropped so far
    int64_t at[QUEUE_DROPS_MEMORY]; // their extended numbers, ascending; the k-th at k % MEMORY
};

struct queue_drops *queue_drops_new(uint16_t first)
{
    struct queue_drops *q = calloc(1, sizeof(*q));
    if (q)
        q->left = (int64_t)first - 1 + 65536; // above 0, whatever `first` is
    return q;
}

void queue_drops_free(struct queue_drops *q)
{
    free(q);
}

static int64_t *nth(struct queue_drops *q, int64_t k)
{
    return &q->at[k % QUEUE_DROPS_MEMORY];
}

static int64_t nth_of(const struct queue_drops *q, int64_t k)
{
    return q->at[k % QUEUE_DROPS_MEMORY];
}

static int64_t oldest(const struct queue_drops *q)
{
    return q->count > QUEUE_DROPS_MEMORY ? q->count - QUEUE_DROPS_MEMORY : 0;
}

// Returns the extended number of the newest packet that left or was dropped. Packets come close
// behind it even if nothing has left for longer than the 16 bits last.
static int64_t newest(const struct queue_drops *q)
{
    int64_t dropped = q->count > 0 ? nth_of(q, q->count - 1) : q->left;
    return dropped > q->left ? dropped : q->left;
}

// Returns the number of packets dropped before the packet `number`; those forgotten count.
static int64_t before(const struct queue_drops *q, int64_t number)
{
    int64_t k = q->count;
    while (k > oldest(q) && nth_of(q, k - 1) > number)
        k--;
    return k;
}

bool queue_drops_leaves(struct queue_drops *q, uint16_t seq, uint32_t timestamp, uint16_t *wire)
{
    int64_t number = seq16_extend(newest(q), seq);
    int64_t dropped = before(q, number);
    if (number > q->left) {
        if (q->cut && q->has_left && timestamp == q->timestamp)
            return false;
        q->left = number;
        q->timestamp = timestamp;
        q->cut = false;
        q->has_left = true;
    } else if (dropped > 0 && dropped == oldest(q)) {
        return false; // a copy of a packet whose number on the wire is forgotten
    }
    *wire = (uint16_t)(number - dropped);
    return true;
}

bool queue_drops_add(struct queue_drops *q, uint16_t seq, uint32_t timestamp)
{
    int64_t number = seq16_extend(newest(q), seq);
    if (number <= q->left)
        return false;
    int64_t k = q->count++;
    for (; k > oldest(q) && nth_of(q, k - 1) > number; k--)
        *nth(q, k) = nth_of(q, k - 1);
    *nth(q, k) = number;
    q->cut |= timestamp == q->timestamp;
    return true;
}

uint16_t queue_drops_wire(const struct queue_drops *q, uint16_t seq)
{
    return (uint16_t)(seq - before(q, seq16_extend(newest(q), seq)));
}

uint16_t queue_drops_written(const struct queue_drops *q, uint16_t wire)
{
    int64_t left = q->left - before(q, q->left); // on the wire
    int64_t number = seq16_extend(left, wire);
    int64_t k = q->count;
    while (k > oldest(q) && nth_of(q, k - 1) >= number + k)
        k--;
    return (uint16_t)(number + k);
}
