// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/mtp/mtp_reassembly.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"

static const int64_t LAST_OFFSET = INT64_C(1) << 62;

int mtp_reassembly_init(struct mtp_reassembly *s, size_t slot_bytes)
{
    assert(slot_bytes > 0 && slot_bytes <= MTP_MAX_SLOT_BYTES);
    *s = (struct mtp_reassembly){.slot_bytes = slot_bytes,
                                 .bytes = malloc(MTP_PARTIAL_SLOTS * slot_bytes)};
    for (int i = 0; i < MTP_PARTIAL_SLOTS; i++)
        s->partial[i].slot = -1;
    return s->bytes ? 0 : ERR_NO_MEMORY;
}

void mtp_reassembly_destroy(struct mtp_reassembly *s)
{
    free(s->bytes);
    *s = (struct mtp_reassembly){0};
}

static uint8_t *bytes_of_partial(struct mtp_reassembly *s, const struct mtp_partial *p)
{
    return s->bytes + (size_t)(p - s->partial) * s->slot_bytes;
}

static struct mtp_partial *find(struct mtp_reassembly *s, int64_t slot)
{
    for (int i = 0; i < MTP_PARTIAL_SLOTS; i++)
        if (s->partial[i].slot == slot)
            return &s->partial[i];
    return NULL;
}

// Returns the slot's entry, or a new one; NULL if all entries hold higher slots.
static struct mtp_partial *claim(struct mtp_reassembly *s, int64_t slot)
{
    struct mtp_partial *p = find(s, slot);
    if (p)
        return p;
    p = &s->partial[0];
    for (int i = 1; i < MTP_PARTIAL_SLOTS; i++) // an unused entry has slot -1, the lowest
        if (s->partial[i].slot < p->slot)
            p = &s->partial[i];
    if (p->slot > slot)
        return NULL;
    *p = (struct mtp_partial){.slot = slot};
    return p;
}

static bool differs(const struct mtp_partial *p, const uint8_t *bytes, size_t at,
                    const uint8_t *data, size_t len)
{
    for (int i = 0; i < p->count; i++) {
        size_t from = p->have[i].begin > at ? p->have[i].begin : at;
        size_t to = p->have[i].end < at + len ? p->have[i].end : at + len;
        if (from < to && memcmp(bytes + from, data + (from - at), to - from) != 0)
            return true;
    }
    return false;
}

// Adds [begin, end) to the collected ranges; returns false if there are too many.
static bool note(struct mtp_partial *p, size_t begin, size_t end)
{
    int from = 0;
    while (from < p->count && p->have[from].end < begin)
        from++;
    int to = from;
    for (; to < p->count && p->have[to].begin <= end; to++) {
        begin = p->have[to].begin < begin ? p->have[to].begin : begin;
        end = p->have[to].end > end ? p->have[to].end : end;
    }
    if (from == to && p->count == MTP_SLOT_PIECES)
        return false;
    memmove(&p->have[from + 1], &p->have[to], (size_t)(p->count - to) * sizeof(p->have[0]));
    p->count += from + 1 - to;
    p->have[from].begin = (uint16_t)begin;
    p->have[from].end = (uint16_t)end;
    return true;
}

// Adds data at offset `at` of the slot. Returns the whole slot once it is complete, else NULL.
static const uint8_t *collect(struct mtp_reassembly *s, int64_t slot, size_t at,
                              const uint8_t *data, size_t len)
{
    if (len == s->slot_bytes) {
        struct mtp_partial *old = find(s, slot);
        if (old)
            old->slot = -1;
        return data;
    }
    struct mtp_partial *p = claim(s, slot);
    if (!p)
        return NULL;
    uint8_t *bytes = bytes_of_partial(s, p);
    if (differs(p, bytes, at, data, len))
        p->count = 0;
    if (!note(p, at, at + len))
        return NULL;
    memcpy(bytes + at, data, len);
    if (p->have[0].begin > 0 || p->have[0].end < s->slot_bytes)
        return NULL;
    p->slot = -1;
    return bytes;
}

bool mtp_reassembly_next(struct mtp_reassembly *s, struct mtp_piece *piece, int64_t *slot,
                         const uint8_t **bytes)
{
    if (piece->offset < 0) {
        uint64_t before = -(uint64_t)piece->offset;
        size_t skip = before < piece->len ? (size_t)before : piece->len;
        *piece = (struct mtp_piece){piece->offset + (int64_t)skip, piece->data + skip,
                                    piece->len - skip};
    }
    while (piece->len > 0 && piece->offset < LAST_OFFSET) {
        *slot = piece->offset / (int64_t)s->slot_bytes;
        size_t at = (size_t)(piece->offset % (int64_t)s->slot_bytes);
        size_t len = s->slot_bytes - at < piece->len ? s->slot_bytes - at : piece->len;
        *bytes = collect(s, *slot, at, piece->data, len);
        *piece =
            (struct mtp_piece){piece->offset + (int64_t)len, piece->data + len, piece->len - len};
        if (*bytes)
            return true;
    }
    return false;
}
