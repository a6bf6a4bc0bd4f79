// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/store/film_recorder.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"

enum {
    OPEN_GROUPS = 4,       // that are being filled
    REPAIR_GROUPS = 2,     // repair brings nothing that is older than the newest by so many
    OPEN_BYTES = 64 << 20, // of all open groups
};

#define MAX_SECONDS INT64_C(1000000000) // of a time line

struct time_line {
    int64_t base; // number of the film's frame 0
    int64_t from; // frames of earlier numbers belong to the time line before; INT64_MAX: none
};

struct open_group {
    struct stored_group *group; // owned; NULL: none
    bool put[STORED_TRACKS];
    int count[LADDER_MAX_SIZES]; // frames
};

struct film_recorder {
    struct store_film *film; // one hold
    const struct stored_info *info;
    struct time_line now, before;
    struct open_group open[OPEN_GROUPS];
    int64_t newest; // group
    struct store_flow flow;
    bool warned; // that a frame contradicts the plan
};

static int64_t samples_of(const struct film_recorder *r, int64_t frames)
{
    struct fps fps = r->info->sdp.ladder.source_fps;
    return audio_samples(usec_of_frames(frames, fps.num, fps.den));
}

// The largest number of frames whose time overflows neither in usec_of_frames nor in audio_samples:
// an origin may name any number.
static int64_t most_frames(const struct film_recorder *r)
{
    struct fps fps = r->info->sdp.ladder.source_fps;
    int64_t of_product = INT64_MAX / 4 / USEC_PER_SEC / fps.den;
    int64_t of_time = MAX_SECONDS * fps.num / fps.den;
    return of_product < of_time ? of_product : of_time;
}

struct film_recorder *film_recorder_new(struct store_film *film)
{
    struct film_recorder *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->film = store_film_hold(film);
    r->info = store_film_info(film);
    r->now.from = r->before.from = INT64_MAX;
    r->flow = (struct store_flow){.end = store_film_groups(film), .speed = 1};
    store_film_join(film, &r->flow);
    return r;
}

// What comes has no place in the film.
static void place_nowhere(struct film_recorder *r)
{
    r->now.from = r->before.from = INT64_MAX;
    r->flow.sizes = 0; // nobody may wait for it
    r->flow.has_audio = false;
}

void film_recorder_place(struct film_recorder *r, double seconds, double scale, int64_t first,
                         int64_t show)
{
    int64_t most = most_frames(r);
    double frames = seconds * fps_value(r->info->sdp.ladder.source_fps);
    if (scale != 1 || isnan(seconds) || first < 0 || show < 0 || first > most || show > most ||
        seconds < 0 || seconds > 1e6 || frames > (double)most) {
        place_nowhere(r);
        return;
    }
    int64_t base = show - llround(frames);
    if (base % r->info->plan.period != 0) {
        log_debug("%s: frame %lld is at no place of the plan: not stored", store_film_url(r->film),
                  (long long)show);
        place_nowhere(r);
        return;
    }
    if (r->now.from != INT64_MAX && r->now.base == base)
        return;
    r->before = r->now;
    r->now = (struct time_line){base, first};
}

// ---- Groups

static void put_track(struct film_recorder *r, struct open_group *o, int track)
{
    if (!o->put[track])
        store_film_put(r->film, o->group, track, false);
    o->put[track] = true;
}

static void close_group(struct film_recorder *r, struct open_group *o)
{
    if (!o->group)
        return;
    for (int size = 0; size < r->info->sdp.ladder.size_count; size++)
        if (o->count[size])
            put_track(r, o, size);
    if (o->group->audio_count)
        put_track(r, o, STORED_AUDIO_TRACK);
    stored_group_free(o->group);
    *o = (struct open_group){0};
}

void film_recorder_flush(struct film_recorder *r)
{
    for (int i = 0; i < OPEN_GROUPS; i++)
        close_group(r, &r->open[i]);
}

void film_recorder_free(struct film_recorder *r)
{
    if (!r)
        return;
    film_recorder_flush(r);
    store_film_leave(r->film, &r->flow);
    store_film_release(r->film);
    free(r);
}

// Closes the groups that nothing more is expected for, and the oldest while they have too much.
static void trim(struct film_recorder *r)
{
    for (;;) {
        struct open_group *oldest = NULL;
        size_t bytes = 0;
        for (int i = 0; i < OPEN_GROUPS; i++) {
            struct open_group *o = &r->open[i];
            if (!o->group)
                continue;
            bytes += o->group->bytes;
            if (!oldest || o->group->index < oldest->group->index)
                oldest = o;
        }
        if (!oldest || (bytes <= OPEN_BYTES && oldest->group->index + REPAIR_GROUPS > r->newest))
            return;
        close_group(r, oldest);
    }
}

static struct open_group *open_group(struct film_recorder *r, int64_t index)
{
    struct open_group *o = NULL;
    for (int i = 0; i < OPEN_GROUPS; i++)
        if (r->open[i].group && r->open[i].group->index == index)
            return &r->open[i];
    r->newest = index; // after a seek it may be an earlier one
    for (int i = 0; i < OPEN_GROUPS; i++)
        if (r->open[i].group && (r->open[i].group->index + REPAIR_GROUPS <= index ||
                                 r->open[i].group->index > index + REPAIR_GROUPS))
            close_group(r, &r->open[i]);
    for (int i = 0; i < OPEN_GROUPS && !o; i++)
        if (!r->open[i].group)
            o = &r->open[i];
    if (!o) {
        o = &r->open[0];
        for (int i = 1; i < OPEN_GROUPS; i++)
            if (r->open[i].group->index < o->group->index)
                o = &r->open[i];
        close_group(r, o);
    }
    o->group = calloc(1, sizeof(*o->group));
    if (!o->group)
        return NULL;
    o->group->index = index;
    o->group->frames = stored_plan_shape(&r->info->plan, index)->frames;
    return o;
}

// Returns how many frames a size has in a group of this shape.
static int frames_of(const struct stored_shape *shape, int size)
{
    int count = 0;
    for (int place = 0; place < shape->frames; place++)
        count += shape->places[size][place].depends != STORED_NO_FRAME;
    return count;
}

// ---- What comes

// Returns the frame's place in the film; -1: none.
static int64_t place_of(const struct film_recorder *r, int64_t number)
{
    const struct time_line *line =
        r->now.from != INT64_MAX && number >= r->now.from ? &r->now : &r->before;
    if (line->from == INT64_MAX || number < line->base)
        return -1;
    return (number - line->base) % r->info->origin.frames; // the film may begin again
}

static bool is_planned(const struct stored_shape *shape, const struct received_frame *f, int place)
{
    const struct stored_place *p = &shape->places[f->size_id][place];
    return p->depends != STORED_NO_FRAME && f->temporal_id == p->temporal_id &&
           f->key == (p->depends < 0) && f->reorder == p->slot - place && !f->on_lower &&
           (p->depends < 0 ? f->depends_on < 0 : f->depends_on == f->number + p->depends - place);
}

static void note_flow(struct film_recorder *r, int64_t group, int size, usec_t at)
{
    if (r->flow.group != group)
        r->flow.sizes = 0;
    r->flow.group = group;
    r->flow.sizes |= 1U << size;
    r->flow.at = at;
}

void film_recorder_frame(struct film_recorder *r, const struct received_frame *f)
{
    int64_t at = place_of(r, f->number);
    if (at < 0 || f->size_id < 0 || f->size_id >= r->info->sdp.ladder.size_count || !f->bytes)
        return;
    int64_t index = at / r->info->plan.gop;
    int place = (int)(at - index * r->info->plan.gop);
    const struct stored_shape *shape = stored_plan_shape(&r->info->plan, index);
    if (!is_planned(shape, f, place)) {
        if (!r->warned)
            log_warn("%s: frames are not those of a prepared file: not stored",
                     store_film_url(r->film));
        r->warned = true;
        return;
    }
    note_flow(r, index, f->size_id, f->last_arrived);
    if (store_film_group(r->film, f->size_id, index) >= GROUP_WHOLE)
        return;
    struct open_group *o = open_group(r, index);
    if (!o || o->put[f->size_id] || o->group->at[f->size_id][place])
        return;
    struct coded_frame *copy = coded_frame_new(f->bytes);
    if (!copy)
        return;
    memcpy(copy->data, f->data, f->bytes);
    copy->size_id = f->size_id;
    copy->temporal_id = f->temporal_id;
    copy->key = f->key;
    if (stored_track_nals(copy) != 0) {
        coded_frame_unref(copy);
        return;
    }
    o->group->at[f->size_id][place] = copy;
    o->group->bytes += f->bytes;
    if (++o->count[f->size_id] == frames_of(shape, f->size_id))
        put_track(r, o, f->size_id);
    trim(r);
}

// Returns the group that the audio at this place of the film belongs to; -1: none.
static int64_t audio_group(const struct film_recorder *r, int64_t position)
{
    double seconds = (double)position / AUDIO_RATE;
    int64_t near =
        (int64_t)(seconds * fps_value(r->info->sdp.ladder.source_fps)) / r->info->plan.gop;
    for (int64_t group = near > 0 ? near - 1 : 0; group <= near + 1; group++)
        if (group < store_film_groups(r->film) && stored_track_hears(r->info, group, position))
            return group;
    return -1;
}

// The next group's audio has begun: if nothing seems to be missing in this one, it is put.
static void put_whole_audio(struct film_recorder *r, int64_t index)
{
    struct stored_bytes b;
    for (int i = 0; i < OPEN_GROUPS; i++) {
        struct open_group *o = &r->open[i];
        if (!o->group || o->group->index != index || o->put[STORED_AUDIO_TRACK] ||
            stored_track_write(r->info, o->group, STORED_AUDIO_TRACK, &b) != 0)
            continue;
        if (stored_track_is_whole(r->info, index, STORED_AUDIO_TRACK, b))
            put_track(r, o, STORED_AUDIO_TRACK);
        free(b.data);
    }
}

void film_recorder_audio(struct film_recorder *r, int64_t position, const uint8_t *data,
                         size_t bytes)
{
    // The first packet of a seek to the film's beginning is before its first frame.
    bool is_new = r->now.from != INT64_MAX && position >= samples_of(r, r->now.from) - AUDIO_PACKET;
    const struct time_line *line = is_new ? &r->now : &r->before;
    int64_t length = samples_of(r, r->info->origin.frames);
    if (line->from == INT64_MAX || !r->info->audio || !bytes || bytes > AUDIO_PACKET_MAX_BYTES)
        return;
    int64_t at = position - samples_of(r, line->base);
    int64_t most = most_frames(r);
    if (length < 1 || at < -AUDIO_RATE || at / length > most / r->info->origin.frames)
        return;
    if (at >= length)
        at = position - samples_of(r, line->base + at / length * r->info->origin.frames);
    int64_t index = audio_group(r, at);
    r->flow.has_audio = true;
    if (index > 0)
        put_whole_audio(r, index - 1);
    if (index < 0 || store_film_group(r->film, STORED_AUDIO_TRACK, index) >= GROUP_WHOLE)
        return;
    struct open_group *o = open_group(r, index);
    if (!o || o->group->audio_count == STORED_MAX_AUDIO)
        return;
    struct coded_audio *copy = coded_audio_new();
    if (!copy)
        return;
    copy->position = at;
    copy->bytes = bytes;
    memcpy(copy->data, data, bytes);
    o->group->audio[o->group->audio_count++] = copy;
}
