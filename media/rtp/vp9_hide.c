// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/vp9_hide.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/err.h"

enum {
    FRAME_MARKER = 2,
    SYNC_CODE = 0x498342,
    COLOR_RGB = 7,
    REFS = 3,
    SHOW_FRAME = 6, // bit of the header, from 0, of profile 0
};

// Reads the uncompressed header, to find its end. Beyond the frame's end it reads zeros, and `over`
// is set.
struct header {
    const uint8_t *data;
    size_t bits; // of the frame
    size_t at;
    bool over;
};

static unsigned read(struct header *h, int bits)
{
    unsigned value = 0;
    for (int i = 0; i < bits; i++) {
        bool is_there = h->at < h->bits;
        unsigned bit = is_there ? h->data[h->at / 8] >> (7 - h->at % 8) & 1 : 0;
        h->over = h->over || !is_there;
        h->at += is_there;
        value = value << 1 | bit;
    }
    return value;
}

// The names are those of the specification's sections 6.2.1 to 6.2.13.

static void color_config(struct header *h, bool *good)
{
    *good = read(h, 3) != COLOR_RGB; // which profile 0 has not
    read(h, 1);
}

static int frame_size(struct header *h)
{
    int width = (int)read(h, 16) + 1;
    read(h, 16);
    return width;
}

static void render_size(struct header *h)
{
    if (read(h, 1))
        read(h, 32);
}

static int frame_size_with_refs(struct header *h, int width)
{
    bool found = false;
    for (int i = 0; i < REFS && !found; i++)
        found = read(h, 1);
    if (!found)
        width = frame_size(h);
    render_size(h);
    return width;
}

static void loop_filter_params(struct header *h)
{
    read(h, 6 + 3);
    if (!read(h, 1) || !read(h, 1))
        return;
    for (int i = 0; i < 4 + 2; i++)
        if (read(h, 1))
            read(h, 6 + 1);
}

static void quantization_params(struct header *h)
{
    read(h, 8);
    for (int i = 0; i < 3; i++)
        if (read(h, 1))
            read(h, 4 + 1);
}

static void read_prob(struct header *h)
{
    if (read(h, 1))
        read(h, 8);
}

static void segmentation_params(struct header *h)
{
    static const int bits[] = {8 + 1, 6 + 1, 2, 0}; // of each feature, with its sign
    if (!read(h, 1))
        return;
    if (read(h, 1)) { // update_map
        for (int i = 0; i < 7; i++)
            read_prob(h);
        bool temporal = read(h, 1);
        for (int i = 0; i < 3 && temporal; i++)
            read_prob(h);
    }
    if (!read(h, 1)) // update_data
        return;
    read(h, 1);
    for (int i = 0; i < 8 * 4; i++)
        if (read(h, 1))
            read(h, bits[i % 4]);
}

static void tile_info(struct header *h, int width)
{
    int sb64 = (((width + 7) >> 3) + 7) >> 3;
    int low = 0, high = 1;
    while (64 << low < sb64)
        low++;
    while (sb64 >> high >= 4)
        high++;
    for (int i = low; i < high - 1 && read(h, 1); i++)
        ;
    if (read(h, 1))
        read(h, 1);
}

// Returns 0, ERR_MALFORMED or ERR_UNSUPPORTED. h->at is then the end of uncompressed_header.
static int uncompressed_header(struct header *h, int width, bool *key)
{
    bool good = true;
    if (read(h, 2) != FRAME_MARKER)
        return ERR_MALFORMED;
    if (read(h, 2) != 0 || read(h, 1)) // profile, show_existing_frame
        return ERR_UNSUPPORTED;
    *key = !read(h, 1);
    bool shown = read(h, 1);
    if (!shown || !read(h, 1)) // error_resilient_mode
        return ERR_UNSUPPORTED;
    if (*key) {
        good = read(h, 24) == SYNC_CODE;
        if (good)
            color_config(h, &good);
        width = frame_size(h);
        render_size(h);
    } else {
        read(h, 8 + REFS * (3 + 1));
        width = frame_size_with_refs(h, width);
        read(h, 1);
        if (!read(h, 1))
            read(h, 2);
    }
    read(h, 2); // frame_context_idx
    loop_filter_params(h);
    quantization_params(h);
    segmentation_params(h);
    tile_info(h, width);
    bool has_more = read(h, 16) > 0; // header_size_in_bytes
    return good && has_more && !h->over ? 0 : ERR_MALFORMED;
}

static void put_bit(uint8_t *out, size_t at, unsigned bit)
{
    uint8_t mask = (uint8_t)(0x80 >> at % 8);
    out[at / 8] = (uint8_t)(bit ? out[at / 8] | mask : out[at / 8] & ~mask);
}

// A shown frame that is no key frame has no intra_only, a hidden one has: its bit follows
// show_frame and error_resilient_mode.
int vp9_hide(const uint8_t *frame, size_t len, int width, uint8_t *out)
{
    struct header h = {.data = frame, .bits = 8 * len};
    bool key;
    if (len == 0 || len >= INT_MAX / 8)
        return ERR_MALFORMED;
    int err = uncompressed_header(&h, width, &key);
    if (err)
        return err;
    size_t end = h.at, before = (end + 7) / 8, after = (end + !key + 7) / 8;
    memmove(out + after, frame + before, len - before);
    memcpy(out, frame, before);
    put_bit(out, SHOW_FRAME, 0);
    if (key)
        return (int)len;
    size_t to = SHOW_FRAME + 2;
    out[after - 1] = after > before ? 0 : out[after - 1];
    h.at = to;
    put_bit(out, to++, 0);
    while (h.at < end)
        put_bit(out, to++, read(&h, 1));
    while (to < 8 * after)
        put_bit(out, to++, 0);
    return (int)(len + after - before);
}
