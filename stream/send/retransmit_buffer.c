// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/retransmit_buffer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 1, ASKED }; // state of a place; 0: empty
enum { PLACES = 4096 };   // a power of two

struct kept {
    uint8_t state;
    bool again; // it was retransmitted
    uint16_t seq;
    usec_t captured;
    size_t len;
    uint8_t bytes[RETRANSMIT_BUFFER_MAX_PACKET];
};

struct retransmit_buffer {
    struct kept kept[RETRANSMIT_BUFFER_KEPT]; // in the order of sending
    int next;                                 // place of the next packet
    uint8_t place_of[PLACES];                 // place of a packet, by sequence number; kept[place]
                                              // confirms the number
    int asked[RETRANSMIT_BUFFER_KEPT];        // queue of the requested places
    int asked_count;
};

struct retransmit_buffer *retransmit_buffer_new(void)
{
    return calloc(1, sizeof(struct retransmit_buffer));
}

void retransmit_buffer_free(struct retransmit_buffer *r)
{
    free(r);
}

static void forget_asked(struct retransmit_buffer *r, int i)
{
    r->asked_count--;
    memmove(&r->asked[i], &r->asked[i + 1], (size_t)(r->asked_count - i) * sizeof(r->asked[0]));
}

void retransmit_buffer_keep(struct retransmit_buffer *r, uint16_t seq, usec_t captured,
                            struct retransmit_buffer_packet head,
                            struct retransmit_buffer_packet body)
{
    if (head.len + body.len > RETRANSMIT_BUFFER_MAX_PACKET)
        return;
    struct kept *k = &r->kept[r->next];
    for (int i = 0; k->state == ASKED && i < r->asked_count; i++)
        if (r->asked[i] == r->next)
            forget_asked(r, i);
    r->place_of[seq % PLACES] = (uint8_t)r->next;
    k->state = KEPT;
    k->again = false;
    k->seq = seq;
    k->captured = captured;
    k->len = head.len + body.len;
    memcpy(k->bytes, head.bytes, head.len);
    memcpy(k->bytes + head.len, body.bytes, body.len);
    r->next = (r->next + 1) % RETRANSMIT_BUFFER_KEPT;
}

bool retransmit_buffer_ask(struct retransmit_buffer *r, uint16_t seq, usec_t oldest)
{
    int place = r->place_of[seq % PLACES];
    struct kept *k = &r->kept[place];
    if (k->state != KEPT || k->seq != seq || k->captured < oldest || k->again)
        return false;
    k->state = ASKED;
    r->asked[r->asked_count++] = place;
    return true;
}

bool retransmit_buffer_next(struct retransmit_buffer *r, usec_t oldest,
                            struct retransmit_buffer_packet *out)
{
    while (r->asked_count > 0) {
        struct kept *k = &r->kept[r->asked[0]];
        *out = (struct retransmit_buffer_packet){k->bytes, k->len};
        if (k->captured >= oldest)
            return true;
        k->state = KEPT;
        forget_asked(r, 0);
    }
    return false;
}

void retransmit_buffer_done(struct retransmit_buffer *r)
{
    assert(r->asked_count > 0);
    struct kept *k = &r->kept[r->asked[0]];
    k->state = KEPT;
    k->again = true;
    forget_asked(r, 0);
}
