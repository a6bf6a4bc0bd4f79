// SPDX-License-Identifier: GPL-2.0-or-later
// The books of a datagram sender: what became of each of the last `ring` packets. For
// datagram_sender.c alone.
//
//   A packet is open until it arrived, was lost, or was given up; `oldest` is the first open one.
//   flight_bytes is the sum of the open packets after highest_arrived.
#ifndef WEIR_PROTOCOL_DATAGRAM_BOOKS_H
#define WEIR_PROTOCOL_DATAGRAM_BOOKS_H

#include "common/protocol/datagram_sender.h"

#ifdef __cplusplus
extern "C" {
#endif

// In this order: up to FRESH a packet is open.
enum datagram_fate {
    DATAGRAM_SENT,    // no report spoke of it yet
    DATAGRAM_MISSING, // reported as not there, too early to call it lost
    DATAGRAM_FRESH,   // arrived, says the report at hand
    DATAGRAM_ARRIVED,
    DATAGRAM_LOST,
    DATAGRAM_UNREPORTED,
};

struct datagram_entry {
    usec_t sent_at;
    uint32_t bytes;
    uint8_t fate; // enum datagram_fate
};

static inline struct datagram_entry *books_entry(const struct datagram_sender *s, int64_t number)
{
    return &s->entries[(size_t)number & (s->ring - 1)];
}

static inline bool books_is_open(const struct datagram_entry *e)
{
    return e->fate <= DATAGRAM_FRESH;
}

static inline bool books_are_full(const struct datagram_sender *s)
{
    return s->next_number - s->oldest >= (int64_t)s->history;
}

// The first number that has an entry.
static inline int64_t books_first(const struct datagram_sender *s)
{
    int64_t first = s->next_number - (int64_t)s->ring;
    return first > 0 ? first : 0;
}

// Room for one packet more, before it is sent: the ring grows up to `history`, or to what memory
// there is.
void books_make_room(struct datagram_sender *s);
// Packet `newest` arrived; highest_arrived follows if it was lower.
void books_raise(struct datagram_sender *s, int64_t newest);
// Packets below this have DATAGRAM_REORDER later arrivals (RFC 5348, 5.1); `oldest` if none that is
// open has.
int64_t books_loss_horizon(const struct datagram_sender *s);
// An open packet counts as unreported.
void books_give_up(struct datagram_sender *s, int64_t number);
// Moves `oldest` over what is not open any more.
void books_close(struct datagram_sender *s);

#ifdef __cplusplus
}
#endif
#endif
