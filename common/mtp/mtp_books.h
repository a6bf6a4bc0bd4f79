// SPDX-License-Identifier: GPL-2.0-or-later
// What became of the slots in flight. For mtp_sender.c, mtp_recovery.c and what tests them alone.
#ifndef WEIR_MTP_MTP_BOOKS_H
#define WEIR_MTP_MTP_BOOKS_H

#include "common/mtp/mtp_sender.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mtp_sent {
    struct mtp_packet *packet; // owned; NULL: empty
    int64_t number;
    usec_t at;
    uint8_t flags; // enum mtp_flag
    bool inflates; // replaced another one in fast recovery
    bool lost;     // taken for lost
};

static inline struct mtp_sent *books_of(const struct mtp_sender *s, int64_t slot)
{
    return &s->sent[(size_t)slot & (s->config.history - 1)];
}

// May the next slot be a new one?
static inline bool books_have_room(const struct mtp_sender *s)
{
    return s->next < s->edge && s->next - s->cum < (int64_t)s->config.history;
}

// Takes the slot's packet for lost; once.
void books_lose(struct mtp_sender *s, int64_t slot);
// Slots that a timeout left behind and that no replacement is on its way for.
int64_t books_holes_left(const struct mtp_sender *s);
// Waits one RTO from now on if there is something to wait for and it is not being waited for.
void books_arm(struct mtp_sender *s, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
