// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/repair/request_fates.h"

#include <stdlib.h>

struct fate {
    usec_t sent_at;
    bool requested;
};

struct request_fates {
    struct fate packets[REQUEST_FATES_PACKETS]; // by the sequence number modulo the size
    uint16_t next;                              // sequence number of the next packet
    uint16_t count;                             // packets before it that were not told
};

struct request_fates *request_fates_new(void)
{
    return calloc(1, sizeof(struct request_fates));
}

void request_fates_free(struct request_fates *f)
{
    free(f);
}

static struct fate *fate_of(struct request_fates *f, uint16_t seq)
{
    return &f->packets[seq % REQUEST_FATES_PACKETS];
}

void request_fates_sent(struct request_fates *f, uint16_t seq, usec_t now)
{
    *fate_of(f, seq) = (struct fate){.sent_at = now};
    f->next = (uint16_t)(seq + 1);
    f->count = (uint16_t)(f->count + (f->count < REQUEST_FATES_PACKETS));
}

void request_fates_requested(struct request_fates *f, uint16_t seq)
{
    uint16_t ago = (uint16_t)(f->next - seq);
    if (ago >= 1 && ago <= f->count)
        fate_of(f, seq)->requested = true;
}

bool request_fates_next(struct request_fates *f, usec_t wait, bool *lost, usec_t now)
{
    if (f->count == 0)
        return false;
    const struct fate *first = fate_of(f, (uint16_t)(f->next - f->count));
    if (now - first->sent_at < wait)
        return false;
    *lost = first->requested;
    f->count--;
    return true;
}
