// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/prepare/prepare_content.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/put.h"
#include "media/source/source.h"
#include "media/stored/stored_probe.h"
#include "sender/policy/content_ladder.h"

#define MIN_SECONDS     2.0
#define EXCERPT_SECONDS 0.5 // about; whole periods of the plan
#define EXCERPT_EVERY   4.0 // seconds
enum { MAX_EXCERPTS = 24 };
static const int64_t MAX_BYTES = (int64_t)1 << 30; // of an excerpt's pictures in all sizes
static const double quants[CONTENT_POINTS] = {44, 36, 28, 20}; // by ascending rate

struct measuring {
    struct ladder ladder; // of the sizes that may be chosen; levels 2 i and 2 i + 1 are of size i
    struct stored_plan plan;
    struct source *source;      // owned
    struct stored_probe *probe; // owned
    int frames;                 // of an excerpt
    struct picture *pictures[STORED_MAX_GOP];
    struct stored_probe_result sums[CONTENT_POINTS];
};

static double rate_of_pixels(const struct size_spec *s)
{
    return (double)s->width * s->height * fps_value(s->fps);
}

static void insert(struct ladder *l, struct size_spec size)
{
    int at = l->size_count;
    if (at == LADDER_MAX_SIZES)
        return;
    for (; at > 0 && rate_of_pixels(&l->sizes[at - 1]) > rate_of_pixels(&size); at--)
        l->sizes[at] = l->sizes[at - 1];
    l->sizes[at] = size;
    l->size_count++;
}

// The sizes of the fixed ladder, its smallest one at the rate of the next, and one of two thirds of
// each that has more than thrice the pixels of the next smaller one.
static void add_sizes(const struct ladder *fixed, struct ladder *l)
{
    *l = *fixed;
    if (fixed->size_count > 1 && fps_value(fixed->sizes[0].fps) < fps_value(fixed->sizes[1].fps)) {
        struct size_spec faster = fixed->sizes[0];
        faster.fps = fixed->sizes[1].fps;
        insert(l, faster);
    }
    for (int i = 1; i < fixed->size_count; i++) {
        struct size_spec s = fixed->sizes[i];
        const struct size_spec *below = &fixed->sizes[i - 1];
        if ((double)s.width * s.height <= 3.0 * below->width * below->height)
            continue;
        s.width = 2 * (int)lround(s.width / 3.0);
        s.height = 2 * (int)lround(s.height / 3.0);
        s.fps = i == 1 ? s.fps : below->fps;
        insert(l, s);
    }
    l->level_count = 0;
    for (int i = 0; i < l->size_count; i++)
        for (int full = 0; full < 2; full++) {
            int top = l->sizes[i].layers - 1;
            l->levels[l->level_count++] =
                (struct level){i, full || !top ? top : top - 1, 1000 * (2 * i + full + 1)};
        }
}

static int read_excerpt(struct measuring *m)
{
    int count = 0, err = 0;
    while (count < m->frames && !err)
        if ((err = m->source->ops->next(m->source, &m->pictures[count])) == 0)
            count++;
    struct stored_probe_result results[CONTENT_POINTS];
    if (!err)
        err = stored_probe_run(m->probe, m->pictures, m->frames, quants, CONTENT_POINTS, results);
    for (int k = 0; k < CONTENT_POINTS && !err; k++)
        for (int i = 0; i < m->ladder.level_count; i++) {
            m->sums[k].bps[i] += results[k].bps[i];
            m->sums[k].ssim[i] += results[k].ssim[i];
        }
    while (count > 0)
        picture_unref(m->pictures[--count]);
    return err;
}

static int measure(struct measuring *m, struct content_table *t)
{
    double seconds = m->source->duration;
    int count = (int)fmin(fmax(seconds / EXCERPT_EVERY, 1), MAX_EXCERPTS), err = 0;
    double length = m->frames / fps_value(m->source->fps);
    for (int i = 0; i < count && !err; i++) {
        double at = fmax((i + 0.5) / count * seconds - length / 2, 0);
        err = m->source->ops->seek(m->source, (usec_t)(at * USEC_PER_SEC));
        err = err ? err : read_excerpt(m);
    }
    *t = (struct content_table){.count = m->ladder.size_count};
    for (int s = 0; s < t->count && !err; s++) {
        struct content_size *size = &t->sizes[s];
        size->spec = m->ladder.sizes[s];
        for (int k = 0; k < CONTENT_POINTS; k++) {
            int full = 2 * s + 1;
            size->points[k] =
                (struct content_point){m->sums[k].bps[full] / count, m->sums[k].ssim[full] / count};
            // With one more bit than at a coarser quantiser the table stays in order.
            if (k > 0)
                size->points[k].bps = fmax(size->points[k].bps, size->points[k - 1].bps + 1);
            size->share += m->sums[k].bps[2 * s] / m->sums[k].bps[full] / CONTENT_POINTS;
        }
    }
    return err;
}

// Returns NULL, or why the film keeps the fixed ladder.
static const char *choose(const char *name, struct measuring *m, struct ladder *ladder)
{
    int err;
    struct content_table t;
    struct stored_plan plan = {0};
    add_sizes(ladder, &m->ladder);
    if (stored_plan_init(&m->plan, &m->ladder) != 0)
        return "its frame rate has no simple fractions";
    if (!(m->source = source_open(name, false, &err)))
        return "it cannot be opened";
    double fps = fps_value(m->source->fps);
    if (m->source->duration < MIN_SECONDS || !m->source->ops->seek)
        return "it is shorter than 2 s, or its length is not known";
    m->frames = m->plan.period * (int)ceil(EXCERPT_SECONDS * fps / m->plan.period);
    double bytes = 1.5 * ladder->source_width * ladder->source_height * m->frames;
    if (m->frames > m->plan.gop || bytes * 3 > (double)MAX_BYTES)
        return "its pictures need too much memory";
    if (!(m->probe = stored_probe_new(&m->ladder, &m->plan)))
        return "there is no memory";
    if (measure(m, &t) != 0)
        return "an excerpt of it cannot be read";
    struct ladder by_content;
    if (content_ladder_choose(&t, ladder, &by_content) != 0 ||
        stored_plan_init(&plan, &by_content) != 0)
        return "no other one is better";
    *ladder = by_content;
    return NULL;
}

static void log_levels(const char *name, const struct ladder *l)
{
    char text[400];
    struct put put = put_into(text, sizeof(text));
    for (int i = 0; i < l->level_count; i++) {
        const struct size_spec *s = &l->sizes[l->levels[i].size_id];
        put_format(&put, "%s%dx%d@%.4g:%d", i ? " " : "", s->width, s->height,
                   level_frame_rate(l, i), l->levels[i].bitrate_bps / 1000);
    }
    log_info("%s: levels by content: %s", name, text);
}

void prepare_content(const char *name, struct ladder *ladder)
{
    struct measuring *m = calloc(1, sizeof(*m));
    const char *reason = m ? choose(name, m, ladder) : "there is no memory";
    if (reason)
        log_info("%s: it keeps the fixed ladder: %s", name, reason);
    else
        log_levels(name, ladder);
    if (m) {
        stored_probe_free(m->probe);
        source_free(m->source);
    }
    free(m);
}
