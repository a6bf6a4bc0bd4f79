// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/prepare/prepare_table.h"

#include <stdlib.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "media/stored/stored_parts.h"

struct group { // what a part says
    uint64_t bytes[LADDER_MAX_LEVELS];
    int quality[LADDER_MAX_LEVELS];
    bool has_quality;
};

// Adds a frame to the levels that have it.
static void add_frame(const struct ladder *l, const struct stored_plan *plan, int64_t group,
                      const struct stored_record *r, struct group *g)
{
    const struct stored_shape *shape = stored_plan_shape(plan, group);
    int64_t place = r->at - group * plan->gop;
    if (r->track >= (uint32_t)l->size_count || place < 0 || place >= shape->frames)
        return;
    for (int i = 0; i < l->level_count; i++)
        if (l->levels[i].size_id == (int)r->track &&
            shape->places[r->track][place].temporal_id <= l->levels[i].temporal_id)
            g->bytes[i] += r->bytes;
}

static void take_quality(const struct ladder *l, struct bytes data, struct group *g)
{
    if (bytes_left(&data) != 2 * (size_t)l->level_count)
        return;
    for (int i = 0; i < l->level_count; i++)
        g->quality[i] = film_table_quality_of(bytes_u16(&data) / 65535.);
    g->has_quality = true;
}

static int read_part(const struct ladder *l, const struct stored_plan *plan, const char *folder,
                     int64_t group, struct group *g)
{
    struct stored_record r;
    uint8_t *data;
    int err;
    *g = (struct group){0};
    FILE *f = stored_part_read(folder, group);
    if (!f)
        return ERR_IO;
    while ((err = stored_part_next(f, &r, &data)) == 0) {
        if (r.track == STORED_QUALITY)
            take_quality(l, bytes_of(data, r.bytes), g);
        else
            add_frame(l, plan, group, &r, g);
        free(data);
    }
    fclose(f);
    return err == ERR_END ? 0 : err;
}

static int set_group(struct film_table *t, int64_t group, const struct group *g)
{
    int err = film_table_shape(t)->has_quality && !g->has_quality ? ERR_NOT_FOUND : 0;
    for (int i = 0; i < film_table_shape(t)->levels && !err; i++)
        err = film_table_set(t, group, i, g->bytes[i], g->quality[i]);
    return err;
}

// As prepare_table; ERR_NOT_FOUND: a part has no quality.
static int make(const struct ladder *ladder, const struct stored_plan *plan, const char *folder,
                const struct film_shape *shape, struct film_table **out)
{
    struct group g;
    int err = film_table_new(shape, out);
    if (err)
        return err;
    for (int64_t i = 0; i < shape->groups && !err; i++) {
        err = read_part(ladder, plan, folder, i, &g);
        err = err ? err : set_group(*out, i, &g);
    }
    if (!err)
        return 0;
    film_table_free(*out);
    *out = NULL;
    return err;
}

int prepare_table(const struct ladder *ladder, const struct stored_plan *plan, const char *folder,
                  int64_t frames, struct film_table **out)
{
    int64_t groups = (frames + plan->gop - 1) / plan->gop;
    struct film_shape shape = {.levels = ladder->level_count,
                               .groups = groups,
                               .group_frames = plan->gop,
                               .last_frames = (int)(frames - (groups - 1) * plan->gop),
                               .fps = ladder->source_fps,
                               .has_quality = true};
    int err = make(ladder, plan, folder, &shape, out);
    shape.has_quality = false;
    return err == ERR_NOT_FOUND ? make(ladder, plan, folder, &shape, out) : err;
}
