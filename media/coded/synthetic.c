// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/synthetic.h"

#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/scan.h"

enum {
    NOMINAL_PIXELS = 16,  // width and height in the description; there are no pictures
    GODDARD_NUMBERS = 60, // frame numbers per second: a multiple of 10, 15, 20 and 30
    LAYERS_FPS = 25,      // if the name has no other
    START_CODE = 4,
    NAL_FILLER = 12, // H.264, 7.3.2.7: bytes of 0xff, then the trailing bits
    FILLER_BYTE = 0xff,
    TRAILING_BITS = 0x80,
};

static void begin(struct synthetic *s, enum sdp_source kind, int numbers_a_second)
{
    *s = (struct synthetic){.kind = kind};
    s->ladder.source_fps = (struct fps){numbers_a_second, 1};
    s->ladder.source_width = s->ladder.source_height = NOMINAL_PIXELS;
}

// `bps`: of the level; frames of its size have `bytes`.
static void add_level(struct synthetic *s, int bytes, int fps, int bps)
{
    struct ladder *l = &s->ladder;
    int id = l->size_count++;
    l->sizes[id] = (struct size_spec){NOMINAL_PIXELS, NOMINAL_PIXELS, {fps, 1}, 1};
    l->levels[l->level_count++] = (struct level){id, 0, bps};
    s->bytes[id] = bytes;
}

void synthetic_goddard(struct synthetic *out)
{
    static const struct {
        int bytes;
        int fps;
    } rows[] = {{1000, 10}, {1000, 15}, {2000, 15}, {2000, 20}, {4000, 20}, {4000, 30}, {8000, 30}};
    begin(out, SDP_SOURCE_GODDARD, GODDARD_NUMBERS);
    snprintf(out->name, sizeof(out->name), "synthetic:goddard");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        add_level(out, rows[i].bytes, rows[i].fps, 8 * rows[i].bytes * rows[i].fps);
}

int synthetic_parse(const char *text, struct synthetic *out)
{
    if (strcmp(text, "goddard") == 0) {
        synthetic_goddard(out);
        return 0;
    }
    struct scan s = scan_of(text, strlen(text));
    int64_t layers, bytes, fps = LAYERS_FPS;
    if (!scan_word(&s, "layers:") || !scan_int(&s, INT32_MAX, &layers) || !scan_char(&s, ',') ||
        !scan_int(&s, INT32_MAX, &bytes))
        return ERR_MALFORMED;
    if (!scan_end(&s) && (!scan_char(&s, ',') || !scan_int(&s, INT32_MAX, &fps) || !scan_end(&s)))
        return ERR_MALFORMED;
    if (layers < 1 || layers > SYNTHETIC_MAX_LAYERS || bytes < SYNTHETIC_MIN_LAYER ||
        bytes > SYNTHETIC_MAX_LAYER || fps < 1 || fps > SYNTHETIC_MAX_FPS)
        return ERR_RANGE;
    begin(out, SDP_SOURCE_LAYERS, (int)fps);
    snprintf(out->name, sizeof(out->name), "synthetic:%s", text);
    out->ladder.cumulative = true;
    for (int below = 0; below < layers; below++)
        add_level(out, (int)bytes, (int)fps, 8 * (below + 1) * (int)bytes * (int)fps);
    return 0;
}

static void put_filler(struct coded_frame *f, int bytes)
{
    static const uint8_t head[START_CODE + 1] = {0, 0, 0, 1, NAL_FILLER};
    f->nals[0] = (struct nal){.offset = START_CODE, .len = (uint32_t)bytes};
    f->nal_count = 1;
    memset(f->data, FILLER_BYTE, (size_t)(START_CODE + bytes));
    memcpy(f->data, head, sizeof(head));
    f->data[START_CODE + bytes - 1] = TRAILING_BITS;
}

struct coded_frame *synthetic_frame(const struct synthetic *s, int size_id, int64_t number)
{
    struct fps source = s->ladder.source_fps;
    if (size_index_of_frame(s->ladder.sizes[size_id].fps, source, number) < 0)
        return NULL;
    struct coded_frame *f = coded_frame_new((size_t)(START_CODE + s->bytes[size_id]));
    if (!f)
        return NULL;
    f->number = number;
    f->size_id = size_id;
    f->on_lower = s->ladder.cumulative && size_id > 0;
    f->key = !f->on_lower;
    f->depends_on = -1;
    f->pts = usec_of_frames(number, source.num, source.den);
    put_filler(f, s->bytes[size_id]);
    return f;
}
