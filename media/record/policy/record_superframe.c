// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/policy/record_superframe.h"

#include <stdlib.h>
#include <string.h>

#include "media/rtp/vp9.h"
#include "media/rtp/vp9_hide.h"

struct record_superframe {
    int count; // of sizes
    int widths[LADDER_MAX_SIZES];
    uint8_t *data; // owned: the frames so far
    size_t room;
    size_t bytes;
    int next;       // size that comes next; 0: a new picture
    int64_t number; // of the picture, with `next`
    bool is_broken; // nothing is whole before the next key frame
    struct record_whole whole;
    uint32_t lengths[VP9_MAX_PIECES];
};

struct record_superframe *record_superframe_new(const struct ladder *ladder)
{
    struct record_superframe *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->count = ladder->size_count;
    s->is_broken = true;
    for (int i = 0; i < s->count; i++)
        s->widths[i] = ladder->sizes[i].width;
    return s;
}

void record_superframe_free(struct record_superframe *s)
{
    if (!s)
        return;
    free(s->data);
    free(s);
}

// Makes room for the frame, and for an index.
static bool make_room(struct record_superframe *s, size_t bytes)
{
    size_t needed = s->bytes + bytes + 1 + VP9_MAX_INDEX;
    if (needed <= s->room)
        return true;
    uint8_t *data = realloc(s->data, 2 * needed);
    if (!data)
        return false;
    s->data = data;
    s->room = 2 * needed;
    return true;
}

// Appends the frame. Returns false if there is no memory, or the frame is not as it must be.
static bool append(struct record_superframe *s, const struct coded_frame *f)
{
    if (f->bytes == 0 || f->bytes > INT32_MAX / 4 || !make_room(s, f->bytes))
        return false;
    int len = (int)f->bytes;
    if (f->size_id < s->count - 1)
        len = vp9_hide(f->data, f->bytes, s->widths[f->size_id], s->data + s->bytes);
    else
        memcpy(s->data + s->bytes, f->data, f->bytes);
    if (len < 0)
        return false;
    s->lengths[f->size_id] = (uint32_t)len;
    s->bytes += (size_t)len;
    return true;
}

bool record_superframe_add(struct record_superframe *s, const struct coded_frame *f,
                           struct record_whole *out)
{
    if (s->next > 0 && f->size_id == 0)
        s->is_broken = true; // the picture before was not whole
    if (f->size_id == 0) {
        s->is_broken = s->is_broken && !f->key;
        s->next = 0;
        s->number = f->number;
        s->bytes = 0;
        s->whole = (struct record_whole){.key = f->key, .depends_on = f->depends_on};
    }
    if (s->is_broken)
        return false;
    if (f->size_id != s->next || f->number != s->number || !append(s, f)) {
        s->is_broken = true;
        s->next = 0;
        return false;
    }
    if (++s->next < s->count)
        return false;
    if (s->count > 1)
        s->bytes += vp9_write_index(s->lengths, s->count, s->data + s->bytes);
    s->next = 0;
    s->whole.data = s->data;
    s->whole.bytes = s->bytes;
    *out = s->whole;
    return true;
}
