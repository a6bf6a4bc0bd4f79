// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/datagram_books.h"

#include <stdlib.h>

// The entries of the old ring in a new one of twice its size; what is older is forgotten. False: no
// memory.
static bool grow(struct datagram_sender *s)
{
    size_t ring = 2 * s->ring;
    struct cc_packet *news = realloc(s->news, ring * sizeof(*news));
    if (!news)
        return false;
    s->news = news;
    struct datagram_entry *entries = malloc(ring * sizeof(*entries));
    if (!entries)
        return false;
    for (size_t i = 0; i < ring; i++)
        entries[i] = (struct datagram_entry){.fate = DATAGRAM_UNREPORTED};
    for (int64_t n = books_first(s); n < s->next_number; n++)
        entries[(size_t)n & (ring - 1)] = *books_entry(s, n);
    free(s->entries);
    s->entries = entries;
    s->ring = ring;
    return true;
}

void books_make_room(struct datagram_sender *s)
{
    size_t open = (size_t)(s->next_number - s->oldest);
    if (s->ring < s->history && 2 * open >= s->ring && !grow(s))
        s->history = s->ring;
}

void books_raise(struct datagram_sender *s, int64_t newest)
{
    int64_t n = s->highest_arrived + 1;
    for (n = n > s->oldest ? n : s->oldest; n <= newest; n++) {
        if (books_is_open(books_entry(s, n)))
            s->flight_bytes -= books_entry(s, n)->bytes;
    }
    if (newest > s->highest_arrived)
        s->highest_arrived = newest;
}

int64_t books_loss_horizon(const struct datagram_sender *s)
{
    int arrived = 0;
    for (int64_t n = s->highest_arrived; n > s->oldest; n--) {
        uint8_t fate = books_entry(s, n)->fate;
        arrived += fate == DATAGRAM_FRESH || fate == DATAGRAM_ARRIVED;
        if (arrived == DATAGRAM_REORDER)
            return n;
    }
    return s->oldest;
}

void books_give_up(struct datagram_sender *s, int64_t number)
{
    struct datagram_entry *e = books_entry(s, number);
    if (number > s->highest_arrived)
        s->flight_bytes -= e->bytes;
    e->fate = DATAGRAM_UNREPORTED;
    s->counts.unreported++;
}

void books_close(struct datagram_sender *s)
{
    while (s->oldest < s->next_number && !books_is_open(books_entry(s, s->oldest)))
        s->oldest++;
}
