// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/stored_track.h"

#include <assert.h>
#include <libavutil/mem.h>
#include <libavutil/sha.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "media/coded/audio.h"

enum {
    FRAME_HEAD = 2 + 4, // bytes before a frame, and before an audio packet
    AUDIO_HEAD = 8 + 4,
    START_CODE = 4,
    ROUNDING = 2 * AUDIO_RATE / 1000, // of the times in a file
};

// One frame or packet of the bytes.
struct entry {
    int64_t key;       // place or position; ascending
    const uint8_t *at; // its head
    const uint8_t *data;
    size_t len;
};

// Takes the next entry. Returns 1, 0 at the end, or ERR_MALFORMED. `e->key` is that of the entry
// before, or INT64_MIN.
static int next_entry(struct bytes *in, int track, struct entry *e)
{
    bool audio = track == STORED_AUDIO_TRACK;
    if (!bytes_left(in))
        return 0;
    e->at = in->at;
    if (bytes_left(in) < (audio ? AUDIO_HEAD : FRAME_HEAD))
        return ERR_MALFORMED;
    int64_t key;
    if (audio) {
        uint64_t high = bytes_u32(in);
        key = (int64_t)(high << 32 | bytes_u32(in));
    } else {
        key = bytes_u16(in);
    }
    e->len = bytes_u32(in);
    if (key <= e->key || !e->len || e->len > bytes_left(in) ||
        (audio ? e->len > AUDIO_PACKET_MAX_BYTES : key >= STORED_MAX_GOP))
        return ERR_MALFORMED;
    e->key = key;
    e->data = bytes_take(in, e->len);
    return 1;
}

static int64_t audio_of(const struct stored_info *info, int64_t frame)
{
    struct fps fps = info->sdp.ladder.source_fps;
    return audio_samples(usec_of_frames(frame, fps.num, fps.den));
}

bool stored_track_hears(const struct stored_info *info, int64_t group, int64_t position)
{
    int64_t first = group * info->plan.gop;
    int64_t end = first + stored_plan_shape(&info->plan, group)->frames;
    return position < audio_of(info, end) && (group == 0 || position >= audio_of(info, first));
}

// ---- Writing and reading

static int compare_audio(const void *a, const void *b)
{
    int64_t x = (*(struct coded_audio *const *)a)->position;
    int64_t y = (*(struct coded_audio *const *)b)->position;
    return (x > y) - (x < y);
}

static uint8_t *put(uint8_t *at, uint64_t value, int bytes)
{
    while (bytes--)
        *at++ = (uint8_t)(value >> (8 * bytes));
    return at;
}

static int write_audio(const struct stored_info *info, const struct stored_group *g,
                       struct stored_bytes *out)
{
    struct coded_audio *list[STORED_MAX_AUDIO];
    int count = 0;
    size_t len = 0;
    for (int i = 0; i < g->audio_count; i++)
        if (stored_track_hears(info, g->index, g->audio[i]->position)) {
            list[count++] = g->audio[i];
            len += AUDIO_HEAD + g->audio[i]->bytes;
        }
    if (!count)
        return 0;
    qsort(list, (size_t)count, sizeof(struct coded_audio *), compare_audio);
    uint8_t *at = out->data = malloc(len);
    if (!at)
        return ERR_NO_MEMORY;
    for (int i = 0; i < count; i++) {
        const struct coded_audio *c = list[i];
        if (i && c->position == list[i - 1]->position)
            continue;
        at = put(put(at, (uint64_t)c->position, 8), c->bytes, 4);
        memcpy(at, c->data, c->bytes);
        at += c->bytes;
    }
    out->len = (size_t)(at - out->data);
    return 0;
}

int stored_track_write(const struct stored_info *info, const struct stored_group *g, int track,
                       struct stored_bytes *out)
{
    *out = (struct stored_bytes){0};
    if (track == STORED_AUDIO_TRACK)
        return write_audio(info, g, out);
    size_t len = 0;
    for (int place = 0; place < g->frames; place++)
        if (g->at[track][place])
            len += FRAME_HEAD + g->at[track][place]->bytes;
    if (!len)
        return 0;
    uint8_t *at = out->data = malloc(len);
    if (!at)
        return ERR_NO_MEMORY;
    out->len = len;
    for (int place = 0; place < g->frames; place++) {
        const struct coded_frame *f = g->at[track][place];
        if (!f)
            continue;
        at = put(put(at, (uint64_t)place, 2), f->bytes, 4);
        memcpy(at, f->data, f->bytes);
        at += f->bytes;
    }
    return 0;
}

int stored_track_nals(struct coded_frame *f)
{
    size_t at = 0;
    if (f->bytes <= START_CODE || memcmp(f->data, (const uint8_t[]){0, 0, 0, 1}, START_CODE) != 0)
        return ERR_MALFORMED;
    while (at < f->bytes) {
        size_t begin = at + START_CODE, end = begin;
        const uint8_t *next = NULL;
        if (begin < f->bytes)
            next = memmem(f->data + begin, f->bytes - begin, "\0\0\0\1", START_CODE);
        end = next ? (size_t)(next - f->data) : f->bytes;
        if (end == begin || f->nal_count == CODED_FRAME_MAX_NALS)
            return ERR_MALFORMED;
        f->nals[f->nal_count++] = (struct nal){(uint32_t)begin, (uint32_t)(end - begin)};
        at = end;
    }
    return 0;
}

static int read_frame(const struct stored_shape *shape, const struct entry *e, int track,
                      struct stored_group *g)
{
    if (e->key >= g->frames || shape->places[track][e->key].depends == STORED_NO_FRAME)
        return ERR_MALFORMED;
    if (g->at[track][e->key])
        return 0;
    const struct stored_place *place = &shape->places[track][e->key];
    struct coded_frame *f = coded_frame_new(e->len);
    if (!f)
        return ERR_NO_MEMORY;
    memcpy(f->data, e->data, e->len);
    f->size_id = track;
    f->temporal_id = place->temporal_id;
    f->key = place->depends < 0;
    f->reorder = place->slot - (int)e->key;
    int err = stored_track_nals(f);
    if (err) {
        coded_frame_unref(f);
        return err;
    }
    g->at[track][e->key] = f;
    g->bytes += e->len;
    return 0;
}

static int read_audio(const struct stored_info *info, const struct entry *e, struct stored_group *g)
{
    if (!stored_track_hears(info, g->index, e->key) || g->audio_count == STORED_MAX_AUDIO)
        return ERR_MALFORMED;
    for (int i = 0; i < g->audio_count; i++)
        if (g->audio[i]->position == e->key)
            return 0;
    struct coded_audio *c = coded_audio_new();
    if (!c)
        return ERR_NO_MEMORY;
    c->position = e->key;
    c->bytes = e->len;
    memcpy(c->data, e->data, e->len);
    g->audio[g->audio_count++] = c;
    return 0;
}

int stored_track_read(const struct stored_info *info, struct stored_bytes from, int track,
                      struct stored_group *g)
{
    const struct stored_shape *shape = stored_plan_shape(&info->plan, g->index);
    struct bytes in = bytes_of(from.data, from.len);
    struct entry e = {.key = INT64_MIN};
    int got;
    while ((got = next_entry(&in, track, &e)) == 1) {
        int err =
            track == STORED_AUDIO_TRACK ? read_audio(info, &e, g) : read_frame(shape, &e, track, g);
        if (err)
            return err;
    }
    return got;
}

int stored_track_merge(int track, struct stored_bytes a, struct stored_bytes b,
                       struct stored_bytes *out)
{
    struct bytes in[2] = {bytes_of(a.data, a.len), bytes_of(b.data, b.len)};
    struct entry e[2] = {{.key = INT64_MIN}, {.key = INT64_MIN}};
    size_t head = track == STORED_AUDIO_TRACK ? AUDIO_HEAD : FRAME_HEAD;
    *out = (struct stored_bytes){0};
    if (!a.len && !b.len)
        return 0;
    uint8_t *at = out->data = malloc(a.len + b.len);
    if (!at)
        return ERR_NO_MEMORY;
    int got[2] = {next_entry(&in[0], track, &e[0]), next_entry(&in[1], track, &e[1])};
    while (got[0] == 1 || got[1] == 1) {
        if (got[0] < 0 || got[1] < 0)
            break;
        int from = got[0] != 1 ? 1 : got[1] != 1 ? 0 : e[1].key < e[0].key;
        bool both = got[0] == 1 && got[1] == 1 && e[0].key == e[1].key;
        memcpy(at, e[from].at, head + e[from].len);
        at += head + e[from].len;
        if (both)
            got[1] = next_entry(&in[1], track, &e[1]);
        got[from] = next_entry(&in[from], track, &e[from]);
    }
    if (got[0] < 0 || got[1] < 0) {
        free(out->data);
        *out = (struct stored_bytes){0};
        return ERR_MALFORMED;
    }
    out->len = (size_t)(at - out->data);
    return 0;
}

// ---- What is missing

struct audio_gaps {
    const struct stored_info *info;
    int64_t frame, end; // the next frame to look at, and the end of the group
    void (*missing)(void *ctx, int64_t frame);
    void *ctx;
};

// No packet begins in these samples.
static void add_gap(struct audio_gaps *g, int64_t from, int64_t to)
{
    while (g->frame < g->end && audio_of(g->info, g->frame + 1) <= from)
        g->frame++;
    for (; g->frame < g->end && audio_of(g->info, g->frame) < to; g->frame++)
        g->missing(g->ctx, g->frame);
}

// Packets of Weir's files have 20 ms (audio.h), and follow each other; times in a file are rounded.
// The audio may end before the film.
static void missing_audio(const struct stored_info *info, int64_t group, struct stored_bytes b,
                          void (*missing)(void *ctx, int64_t frame), void *ctx)
{
    int64_t first = group * info->plan.gop;
    struct audio_gaps gaps = {.info = info,
                              .frame = first,
                              .end = first + stored_plan_shape(&info->plan, group)->frames,
                              .missing = missing,
                              .ctx = ctx};
    struct bytes in = bytes_of(b.data, b.len);
    struct entry e = {.key = INT64_MIN};
    int64_t begin = audio_of(info, first), covered = begin, slack = AUDIO_PACKET;
    while (next_entry(&in, STORED_AUDIO_TRACK, &e) == 1) {
        if (e.key > covered + slack)
            add_gap(&gaps, covered, e.key);
        covered = e.key + AUDIO_PACKET;
        slack = ROUNDING;
    }
    bool may_end = gaps.end >= info->origin.frames && covered > begin;
    if (!may_end && audio_of(info, gaps.end) - covered > ROUNDING)
        add_gap(&gaps, covered, audio_of(info, gaps.end));
}

void stored_track_missing(const struct stored_info *info, int64_t group, int track,
                          struct stored_bytes b, void (*missing)(void *ctx, int64_t frame),
                          void *ctx)
{
    if (track == STORED_AUDIO_TRACK) {
        missing_audio(info, group, b, missing, ctx);
        return;
    }
    const struct stored_shape *shape = stored_plan_shape(&info->plan, group);
    struct bytes in = bytes_of(b.data, b.len);
    struct entry e = {.key = INT64_MIN};
    int got = next_entry(&in, track, &e);
    for (int place = 0; place < shape->frames; place++) {
        while (got == 1 && e.key < place)
            got = next_entry(&in, track, &e);
        if (shape->places[track][place].depends != STORED_NO_FRAME && (got != 1 || e.key != place))
            missing(ctx, group * info->plan.gop + place);
    }
}

static void set_true(void *ctx, int64_t frame)
{
    (void)frame;
    *(bool *)ctx = true;
}

bool stored_track_is_whole(const struct stored_info *info, int64_t group, int track,
                           struct stored_bytes b)
{
    bool lacks = false;
    stored_track_missing(info, group, track, b, set_true, &lacks);
    return !lacks;
}

int stored_track_digest(struct stored_bytes b, struct stored_digest *out)
{
    struct AVSHA *sha = av_sha_alloc();
    if (!sha || av_sha_init(sha, 8 * STORED_DIGEST_BYTES) < 0) {
        av_free(sha);
        return ERR_NO_MEMORY;
    }
    av_sha_update(sha, b.data, b.len);
    av_sha_final(sha, out->bytes);
    av_free(sha);
    return 0;
}
