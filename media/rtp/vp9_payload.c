// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/vp9_payload.h"

#include <assert.h>

#include "common/base/bytes.h"
#include "common/base/err.h"

_Static_assert((int)VP9_MAX_DESCRIPTOR <= (int)RTP_PAYLOAD_MAX_HEAD, "a payload's head holds it");

enum {
    HAS_PICTURE_ID = 0x80, // bits of the first byte
    PREDICTED = 0x40,
    HAS_LAYERS = 0x20,
    FLEXIBLE = 0x10,
    FIRST = 0x08,
    LAST = 0x04,
    HAS_STRUCTURE = 0x02,
    UNUSED_ABOVE = 0x01,
    LONG_ID = 0x80,      // of the picture id
    SWITCHING_UP = 0x10, // of the layer indices and of a picture of the group
    ON_LOWER = 0x01,
    MORE = 0x01,      // of a P_DIFF
    HAS_SIZES = 0x10, // of the structure
    HAS_GROUP = 0x08,
    MIN_PAYLOAD = 64,
};

size_t vp9_structure_write(const struct vp9_structure *s, uint8_t *out)
{
    assert(s->sizes >= 1 && s->sizes <= VP9_STRUCTURE_MAX_SIZES);
    assert(s->layers >= 0 && s->layers <= VP9_STRUCTURE_MAX_LAYERS);
    uint8_t *at = out;
    *at++ = (uint8_t)((s->sizes - 1) << 5 | HAS_SIZES | (s->layers ? HAS_GROUP : 0));
    for (int i = 0; i < s->sizes; i++, at += 4) {
        store_be16(at, s->width[i]);
        store_be16(at + 2, s->height[i]);
    }
    if (!s->layers)
        return (size_t)(at - out);
    int pictures = 1 << (s->layers - 1);
    *at++ = (uint8_t)pictures;
    for (int k = 0; k < pictures; k++) {
        // Dyadic layers: picture k depends on the newest one of a lower temporal id, which is as
        // far back as k's lowest bit says; T0 on the last group's.
        int diff = k ? k & -k : pictures, temporal_id = s->layers - 1;
        for (int step = diff; step > 1; step /= 2)
            temporal_id--;
        *at++ = (uint8_t)(temporal_id << 5 | SWITCHING_UP | 1 << 2);
        *at++ = (uint8_t)diff;
    }
    return (size_t)(at - out);
}

size_t vp9_descriptor_write(const struct vp9_descriptor *d, uint8_t *out)
{
    assert(d->picture_id >> VP9_PICTURE_ID_BITS == 0 && d->temporal_id < 8 && d->size_id < 8);
    assert(!d->structure || d->structure_len <= VP9_MAX_STRUCTURE);
    assert(d->diff_count <= VP9_MAX_DIFFS && (d->diff_count > 0) == (d->flexible && d->predicted));
    uint8_t *at = out;
    *at++ = (uint8_t)((d->has_picture_id ? HAS_PICTURE_ID : 0) | (d->predicted ? PREDICTED : 0) |
                      (d->has_layers ? HAS_LAYERS : 0) | (d->flexible ? FLEXIBLE : 0) |
                      (d->first ? FIRST : 0) | (d->last ? LAST : 0) |
                      (d->structure ? HAS_STRUCTURE : 0) | (d->unused_above ? UNUSED_ABOVE : 0));
    if (d->has_picture_id) {
        store_be16(at, (uint16_t)(LONG_ID << 8 | d->picture_id));
        at += 2;
    }
    if (d->has_layers) {
        *at++ = (uint8_t)(d->temporal_id << 5 | (d->switching_up ? SWITCHING_UP : 0) |
                          d->size_id << 1 | (d->on_lower ? ON_LOWER : 0));
        if (!d->flexible)
            *at++ = d->group;
    }
    for (int i = 0; i < d->diff_count; i++)
        *at++ = (uint8_t)(d->diffs[i] << 1 | (i + 1 < d->diff_count ? MORE : 0));
    if (d->structure) {
        memcpy(at, d->structure, d->structure_len);
        at += d->structure_len;
    }
    return (size_t)(at - out);
}

// Returns false if the bytes end first, or the value may not be.
static bool read_picture_id(struct bytes *in, struct vp9_descriptor *d)
{
    if (bytes_left(in) < 1)
        return false;
    d->picture_id = bytes_u8(in);
    if (d->picture_id & LONG_ID) {
        if (bytes_left(in) < 1)
            return false;
        d->picture_id = (uint16_t)((d->picture_id & ~LONG_ID) << 8 | bytes_u8(in));
    }
    return true;
}

static bool read_layers(struct bytes *in, struct vp9_descriptor *d)
{
    if (bytes_left(in) < (d->flexible ? 1 : 2))
        return false;
    uint8_t byte = bytes_u8(in);
    d->temporal_id = byte >> 5;
    d->switching_up = byte & SWITCHING_UP;
    d->size_id = byte >> 1 & 7;
    d->on_lower = byte & ON_LOWER;
    if (!d->flexible)
        d->group = bytes_u8(in);
    return d->size_id > 0 || !d->on_lower;
}

static bool read_diffs(struct bytes *in, struct vp9_descriptor *d)
{
    uint8_t byte = MORE;
    while (byte & MORE) {
        if (d->diff_count == VP9_MAX_DIFFS || bytes_left(in) < 1)
            return false;
        byte = bytes_u8(in);
        if (byte >> 1 == 0)
            return false;
        d->diffs[d->diff_count++] = byte >> 1;
    }
    return true;
}

static bool read_structure(struct bytes *in, struct vp9_descriptor *d)
{
    d->structure = in->at;
    if (bytes_left(in) < 1)
        return false;
    uint8_t head = bytes_u8(in);
    for (int i = 0; (head & HAS_SIZES) && i <= head >> 5; i++) {
        if (bytes_left(in) < 4 || load_be16(in->at) == 0 || load_be16(in->at + 2) == 0)
            return false;
        bytes_take(in, 4);
    }
    if (head & HAS_GROUP) {
        if (bytes_left(in) < 1)
            return false;
        for (int left = bytes_u8(in); left > 0; left--) {
            if (bytes_left(in) < 1)
                return false;
            size_t diffs = bytes_u8(in) >> 2 & 3;
            if (bytes_left(in) < diffs)
                return false;
            for (; diffs > 0; diffs--)
                if (bytes_u8(in) == 0)
                    return false;
        }
    }
    d->structure_len = (size_t)(in->at - d->structure);
    return true;
}

int vp9_descriptor_read(const uint8_t *data, size_t len, struct vp9_descriptor *d)
{
    struct bytes in = bytes_of(data, len);
    if (len == 0)
        return ERR_MALFORMED;
    uint8_t head = bytes_u8(&in);
    *d = (struct vp9_descriptor){.has_picture_id = head & HAS_PICTURE_ID,
                                 .predicted = head & PREDICTED,
                                 .has_layers = head & HAS_LAYERS,
                                 .flexible = head & FLEXIBLE,
                                 .first = head & FIRST,
                                 .last = head & LAST,
                                 .unused_above = head & UNUSED_ABOVE};
    bool has_diffs = d->flexible && d->predicted;
    if ((d->has_picture_id && !read_picture_id(&in, d)) ||
        (d->has_layers && !read_layers(&in, d)) ||
        (has_diffs && (!d->has_picture_id || !read_diffs(&in, d))) ||
        ((head & HAS_STRUCTURE) && !read_structure(&in, d)) || bytes_left(&in) == 0)
        return ERR_MALFORMED;
    return (int)(in.at - data);
}

struct vp9_descriptor vp9_descriptor_of(int64_t index, int64_t reference)
{
    bool predicted = reference >= 0;
    assert(index >= 0 && reference < index);
    assert(!predicted || index - reference <= VP9_MAX_DIFF);
    return (struct vp9_descriptor){
        .has_picture_id = true,
        .picture_id = (uint16_t)(index & ((1 << VP9_PICTURE_ID_BITS) - 1)),
        .predicted = predicted,
        .switching_up = true, // a frame depends on lower temporal ids only
        .flexible = true,
        .diff_count = predicted,
        .diffs = {predicted ? (uint8_t)(index - reference) : 0},
    };
}

void vp9_packetiser_init(struct vp9_packetiser *p, const uint8_t *data, size_t len,
                         const struct vp9_descriptor *descriptor)
{
    assert(len > 0);
    *p = (struct vp9_packetiser){.data = data, .len = len, .descriptor = *descriptor};
}

bool vp9_packetiser_next(struct vp9_packetiser *p, size_t max, struct rtp_payload *out)
{
    assert(max >= MIN_PAYLOAD);
    if (p->sent == p->len)
        return false;
    struct vp9_descriptor d = p->descriptor;
    d.first = p->sent == 0;
    if (!d.first)
        d.structure = NULL;
    out->head_len = vp9_descriptor_write(&d, out->head);
    size_t left = p->len - p->sent, room = max - out->head_len;
    d.last = left <= room;
    (void)vp9_descriptor_write(&d, out->head); // of the same length
    out->body = p->data + p->sent;
    out->body_len = d.last ? left : room;
    out->first = d.first;
    out->last = d.last;
    p->sent += out->body_len;
    return true;
}

int vp9_packetiser_left(const struct vp9_packetiser *p, size_t max)
{
    struct vp9_packetiser rest = *p;
    struct rtp_payload payload;
    int count = 0;
    while (vp9_packetiser_next(&rest, max, &payload))
        count++;
    return count;
}

static bool payload_is_valid(const uint8_t *data, size_t len)
{
    struct vp9_descriptor d;
    return vp9_descriptor_read(data, len, &d) > 0;
}

// RFC 9628, 4.1: a packet has bytes of one frame, the first one with B, the last one with E.
static bool unpack(struct unpacker *u, const uint8_t *data, size_t len)
{
    struct vp9_descriptor d;
    int head = vp9_descriptor_read(data, len, &d);
    uint8_t layers = (uint8_t)(d.temporal_id << 4 | d.size_id);
    bool begins = u->bytes == 0;
    if (head < 0 || d.first != begins)
        return false;
    if (!begins && (!u->in_fragments || layers != u->header || d.picture_id != u->picture_id))
        return false;
    unpacker_put(u, data + head, len - (size_t)head);
    u->in_fragments = !d.last;
    u->header = layers;
    u->picture_id = d.picture_id;
    return true;
}

const struct payload_format vp9_payload_format = {.is_valid = payload_is_valid, .unpack = unpack};
