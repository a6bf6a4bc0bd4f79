// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "proxy/store/store.h"

struct store_source {
    struct group_source base;      // first
    struct store_film *film;       // one hold
    int sizes[LADDER_MAX_SIZES];   // the film's size of each of the ladder
    struct stored_info whole;      // of the film
    struct stored_info info;       // of the sizes that are served
    struct store_filler *filler;   // borrowed; NULL: what is served is complete
    int levels[LADDER_MAX_LEVELS]; // the film's level of each of the ladder
    struct film_table *table;      // owned; NULL: not made yet
};

// ---- The ladder of some of the sizes

static void copy_shape(const struct stored_shape *from, const int *sizes, int count,
                       struct stored_shape *to)
{
    to->frames = from->frames;
    for (int i = 0; i < count; i++) {
        memcpy(to->places[i], from->places[sizes[i]], sizeof(to->places[i]));
        memcpy(to->decoded[i], from->decoded[sizes[i]], sizeof(to->decoded[i]));
    }
}

// A film in some of its sizes has levels of its own, so it is another film for a proxy behind this
// one: its validator names the sizes. It has none if the groups, which stay those of the whole
// ladder, are not those of its own.
static void set_validator(struct stored_info *to, const struct stored_info *from, unsigned sizes)
{
    struct stored_plan *own = malloc(sizeof(*own));
    char text[SDP_MAX_VALIDATOR] = "";
    int len = snprintf(text, sizeof(text), "%s sizes=%x", from->validator, sizes);
    if (!*from->validator || (size_t)len >= sizeof(text) || !own ||
        stored_plan_init(own, &to->sdp.ladder) != 0 || own->gop != from->plan.gop)
        *text = '\0';
    free(own);
    memcpy(to->validator, text, sizeof(text));
    memcpy(to->sdp.validator, text, sizeof(text));
}

// The groups stay those of the whole ladder.
static int make_info(struct store_source *s, unsigned sizes)
{
    const struct stored_info *from = &s->whole;
    struct stored_info *to = &s->info;
    struct ladder *l = &to->sdp.ladder;
    *to = *from;
    l->size_count = l->level_count = 0;
    for (int i = 0; i < from->sdp.ladder.size_count; i++) {
        if (!(sizes >> i & 1))
            continue;
        to->sizes[l->size_count] = from->sizes[i];
        l->sizes[l->size_count] = from->sdp.ladder.sizes[i];
        s->sizes[l->size_count++] = i;
    }
    if (l->size_count < from->sdp.ladder.size_count)
        set_validator(to, from, sizes);
    for (int i = 0; i < from->sdp.ladder.level_count; i++) {
        struct level level = from->sdp.ladder.levels[i];
        for (int size = 0; size < l->size_count; size++)
            if (s->sizes[size] == level.size_id) {
                s->levels[l->level_count] = i;
                l->levels[l->level_count] = level;
                l->levels[l->level_count++].size_id = size;
            }
    }
    copy_shape(&from->plan.full, s->sizes, l->size_count, &to->plan.full);
    copy_shape(&from->plan.last, s->sizes, l->size_count, &to->plan.last);
    return l->level_count ? 0 : ERR_UNSUPPORTED;
}

// ---- Reading

static const struct stored_info *source_info(const struct group_source *base)
{
    return &((const struct store_source *)base)->info;
}

// The table of the served levels. A viewer refuses one whose groups are not those of its ladder.
static int source_table(struct group_source *base, const struct film_table **out)
{
    struct store_source *s = (struct store_source *)base;
    const struct film_table *whole;
    int err = *s->info.validator ? store_film_table(s->film, &whole) : ERR_NOT_FOUND;
    if (!err && !s->table)
        err = film_table_of_levels(whole, s->levels, s->info.sdp.ladder.level_count, &s->table);
    *out = s->table;
    return err == ERR_AGAIN && s->filler ? ERR_AGAIN : err ? ERR_NOT_FOUND : 0;
}

static int read_track(struct store_source *s, int track, int size, struct stored_group *g)
{
    struct stored_bytes b;
    int err = store_film_read(s->film, track, g->index, &b);
    if (!err)
        err = stored_track_read(&s->info, b, size, g);
    free(b.data);
    if (err == ERR_MALFORMED || err == ERR_NOT_FOUND)
        store_film_damaged(s->film, track, g->index);
    return err;
}

static int source_read(struct group_source *base, int64_t group, unsigned sizes,
                       struct stored_group **out)
{
    struct store_source *s = (struct store_source *)base;
    struct stored_group *g = calloc(1, sizeof(*g));
    int err = g ? 0 : ERR_NO_MEMORY;
    *out = NULL;
    if (g) {
        g->index = group;
        g->frames = stored_plan_shape(&s->info.plan, group)->frames;
    }
    for (int size = 0; !err && size < s->info.sdp.ladder.size_count; size++)
        if (sizes >> size & 1)
            err = read_track(s, s->sizes[size], size, g);
    if (!err && s->info.audio)
        err = read_track(s, STORED_AUDIO_TRACK, STORED_AUDIO_TRACK, g);
    if (!err) {
        *out = g;
        return 0;
    }
    log_error("%s: group %lld of the cache cannot be read: %s", store_film_url(s->film),
              (long long)group, err_text(err));
    stored_group_free(g);
    bool is_gone = err == ERR_MALFORMED || err == ERR_NOT_FOUND; // read_track has said so
    return s->filler && is_gone ? ERR_AGAIN : err == ERR_NO_MEMORY ? err : ERR_IO;
}

static int source_digest(struct group_source *base, int track, int64_t group,
                         struct stored_digest *out)
{
    const struct store_source *s = (const struct store_source *)base;
    return store_film_verified(s->film, track == STORED_AUDIO_TRACK ? track : s->sizes[track],
                               group, out)
               ? 0
               : ERR_AGAIN;
}

// ---- A film that is being filled

static int source_need(struct group_source *base, int64_t group, unsigned *sizes)
{
    struct store_source *s = (struct store_source *)base;
    unsigned wanted = *sizes, there = 0;
    bool has_audio =
        !s->info.audio || store_film_group(s->film, STORED_AUDIO_TRACK, group) == GROUP_VERIFIED;
    for (int size = 0; has_audio && size < s->info.sdp.ladder.size_count; size++)
        if (wanted >> size & 1 && store_film_group(s->film, size, group) == GROUP_VERIFIED)
            there |= 1U << size;
    *sizes = there;
    if (!wanted)
        return 0;
    bool comes = s->filler->need(s->filler->ctx, group, wanted);
    return there || comes ? 0 : ERR_IO;
}

static void source_free(struct group_source *base)
{
    struct store_source *s = (struct store_source *)base;
    store_film_release(s->film);
    film_table_free(s->table);
    free(s);
}

struct group_source *store_source_new(struct store_film *f, unsigned sizes)
{
    static const struct group_source_ops ops = {.info = source_info,
                                                .table = source_table,
                                                .digest = source_digest,
                                                .read = source_read,
                                                .free = source_free};
    struct store_source *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->base.ops = &ops;
    s->whole = *store_film_info(f);
    if (make_info(s, sizes) != 0) {
        free(s);
        return NULL;
    }
    s->film = store_film_hold(f);
    return &s->base;
}

struct group_source *store_source_new_filled(struct store_film *f, struct store_filler *filler)
{
    static const struct group_source_ops ops = {.info = source_info,
                                                .table = source_table,
                                                .need = source_need,
                                                .digest = source_digest,
                                                .read = source_read,
                                                .free = source_free};
    struct group_source *base = store_source_new(f, ~0U);
    if (!base)
        return NULL;
    base->ops = &ops;
    ((struct store_source *)base)->filler = filler;
    return base;
}
