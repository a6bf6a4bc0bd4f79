// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/hevc_frames.h"

#include <stdlib.h>
#include <string.h>

// RFC 7798, 1.1.4 and 4.4
enum {
    HEADER = 2,
    IRAP_FIRST = 16,
    IRAP_LAST = 23,
    SINGLE_MAX = 47,
    AGGREGATION = 48,
    FRAGMENT = 49,
    FU_START = 0x80,
    FU_TYPE = 0x3f,
};

void hevc_frames_destroy(struct hevc_frames *h)
{
    free(h->data);
    *h = (struct hevc_frames){0};
}

static int type_of(const uint8_t *nal)
{
    return nal[0] >> 1 & 0x3f;
}

static void add(struct hevc_frames *h, const uint8_t *data, size_t len)
{
    if (h->is_broken || h->bytes + len > HEVC_MAX_BYTES) {
        h->is_broken = true;
        return;
    }
    if (h->bytes + len > h->room) {
        size_t room = 2 * (h->bytes + len);
        uint8_t *larger = realloc(h->data, room);
        if (!larger) {
            h->is_broken = true;
            return;
        }
        h->data = larger;
        h->room = room;
    }
    memcpy(h->data + h->bytes, data, len);
    h->bytes += len;
}

static void begin_nal(struct hevc_frames *h, const uint8_t header[HEADER])
{
    static const uint8_t start_code[] = {0, 0, 0, 1};
    int type = type_of(header);
    h->key |= type >= IRAP_FIRST && type <= IRAP_LAST;
    add(h, start_code, sizeof(start_code));
    add(h, header, HEADER);
}

static void add_nal(struct hevc_frames *h, const uint8_t *nal, size_t len)
{
    begin_nal(h, nal);
    add(h, nal + HEADER, len - HEADER);
}

static void add_aggregation(struct hevc_frames *h, const uint8_t *p, size_t len)
{
    for (size_t at = HEADER; at < len;) {
        size_t size = at + 2 <= len ? (size_t)p[at] << 8 | p[at + 1] : 0;
        at += 2;
        if (size <= HEADER || at > len || size > len - at) {
            h->is_broken = true;
            return;
        }
        add_nal(h, p + at, size);
        at += size;
    }
}

static void add_fragment(struct hevc_frames *h, const uint8_t *p, size_t len)
{
    if (len < HEADER + 2) {
        h->is_broken = true;
        return;
    }
    uint8_t header[HEADER] = {(uint8_t)((p[0] & 0x81) | (p[HEADER] & FU_TYPE) << 1), p[1]};
    if (p[HEADER] & FU_START)
        begin_nal(h, header);
    else if (!h->bytes)
        h->is_broken = true; // its beginning is missing
    add(h, p + HEADER + 1, len - HEADER - 1);
}

bool hevc_frames_push(struct hevc_frames *h, const struct rtp_packet *p)
{
    bool is_next = !h->begun || p->seq == h->next_seq;
    bool is_unit = h->begun && h->bytes && p->timestamp == h->timestamp && !h->is_complete;
    if (!is_unit) {
        h->bytes = 0;
        h->key = h->is_broken = false;
    }
    h->is_broken |= !is_next;
    h->has_key &= is_next;
    h->begun = true;
    h->is_complete = false;
    h->next_seq = (uint16_t)(p->seq + 1);
    h->timestamp = p->timestamp;
    int type = p->payload_len > HEADER ? type_of(p->payload) : SINGLE_MAX + 10;
    if (type <= SINGLE_MAX)
        add_nal(h, p->payload, p->payload_len);
    else if (type == AGGREGATION)
        add_aggregation(h, p->payload, p->payload_len);
    else if (type == FRAGMENT)
        add_fragment(h, p->payload, p->payload_len);
    else
        h->is_broken = true;
    if (!p->marker)
        return false;
    h->is_complete = true;
    h->has_key = !h->is_broken && (h->has_key || h->key);
    return h->has_key;
}
