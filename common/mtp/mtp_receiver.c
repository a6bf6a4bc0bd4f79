// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/mtp/mtp_receiver.h"

#include <assert.h>
#include <string.h>

#include "common/base/seq.h"

void mtp_receiver_init(struct mtp_receiver *r, int64_t window)
{
    assert(window > 0 && window <= MTP_MAX_WINDOW);
    memset(r, 0, sizeof(*r));
    r->window = window;
    r->highest = -1;
}

static uint64_t *seen_word(struct mtp_receiver *r, int64_t number)
{
    return &r->seen[(size_t)number / 64 % (MTP_SEEN / 64)];
}

// Records the number. Returns false if it was received before, or is too old to tell.
static bool is_first_time(struct mtp_receiver *r, int64_t number)
{
    if (number < 0 || number <= r->highest - MTP_SEEN)
        return false;
    while (r->highest < number) { // the skipped numbers were not received
        r->highest++;
        *seen_word(r, r->highest) &= ~((uint64_t)1 << (r->highest & 63));
    }
    uint64_t bit = (uint64_t)1 << (number & 63);
    bool first = !(*seen_word(r, number) & bit);
    *seen_word(r, number) |= bit;
    return first;
}

static void advance(struct mtp_receiver *r)
{
    r->cum = mtp_ranges_skip(&r->held, r->cum);
    mtp_ranges_trim(&r->held, r->cum);
}

static void note_slot(struct mtp_receiver *r, int64_t slot)
{
    if (slot == r->cum) { // the common case, without holes
        r->cum++;
        advance(r);
    } else if (slot > r->cum) {
        // If there is no room for a range, the slot stays a hole, and the sender replaces it.
        (void)mtp_ranges_add(&r->held, slot, slot + 1);
    }
}

enum mtp_verdict mtp_receiver_packet(struct mtp_receiver *r, const struct mtp_header *h)
{
    int64_t slot = seq32_extend(r->cum, h->slot);
    int64_t number = seq32_extend(r->highest, h->number);
    if (slot >= r->cum + r->window || number > r->highest + MTP_SEEN) {
        r->counts.beyond++;
        return MTP_BEYOND;
    }
    bool newest = number > r->highest;
    if (newest)
        r->echo_us = h->time_us;
    bool first = is_first_time(r, number);
    bool late = slot < r->cum;
    // Section II: "marks as received the oldest outstanding packet". A duplicate marks nothing.
    if (first && h->flags & MTP_R && slot > r->cum) {
        r->cum++;
        advance(r);
        r->counts.replacements++;
    }
    note_slot(r, slot);
    if (!first) {
        r->counts.duplicates++;
        return MTP_DUPLICATE;
    }
    if (h->length == 0) {
        r->counts.empty++;
        return MTP_EMPTY;
    }
    r->counts.delivered++;
    r->counts.late += late;
    return MTP_DELIVER;
}

void mtp_receiver_ack(const struct mtp_receiver *r, struct mtp_ack *ack)
{
    *ack = (struct mtp_ack){
        .cum = r->cum,
        .window = r->window,
        .has_echo = r->highest >= 0,
        .echo_us = r->echo_us,
    };
    for (int i = r->held.count - 1; i >= 0 && ack->count < MTP_ACK_RANGES; i--)
        ack->ranges[ack->count++] = r->held.at[i];
}
