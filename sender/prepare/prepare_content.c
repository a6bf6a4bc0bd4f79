// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/prepare/prepare_content.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/put.h"
#include "media/stored/stored_probe.h"

#define MIN_SECONDS     2.0
#define EXCERPT_SECONDS 0.5 // about; whole periods of the plan
#define EXCERPT_EVERY   5.0 // seconds
enum { MAX_EXCERPTS = 24, MAX_THREADS = 8 };
static const int64_t MAX_BYTES = (int64_t)1 << 30; // of the pictures of all threads, in all sizes
#define COPIES 3 // of an excerpt's pictures: as they come, and scaled to all sizes
static const double quants[CONTENT_POINTS] = {42, 32, 22}; // by ascending rate

struct excerpt {
    double at; // seconds
    bool measured;
    struct stored_probe_result results[CONTENT_POINTS];
};

struct measuring {
    const char *name;     // borrowed
    struct ladder ladder; // of the sizes that may be chosen, with a level each
    struct stored_plan plan;
    int frames; // of an excerpt
    int count;  // of excerpts
    struct excerpt excerpts[MAX_EXCERPTS];
    pthread_mutex_t lock;
    int next; // guarded by the lock; the excerpt that no thread has taken
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
    l->level_count = l->size_count;
    for (int i = 0; i < l->size_count; i++)
        l->levels[i] = (struct level){i, l->sizes[i].layers - 1, 1000 * (i + 1)};
}

static int measure(const struct measuring *m, struct source *source, struct stored_probe *probe,
                   struct excerpt *e)
{
    struct picture *pictures[STORED_MAX_GOP];
    int count = 0;
    int err = source->ops->seek(source, (usec_t)(e->at * USEC_PER_SEC));
    while (count < m->frames && !err)
        if ((err = source->ops->next(source, &pictures[count])) == 0)
            count++;
    if (!err)
        err = stored_probe_run(probe, pictures, count, quants, CONTENT_POINTS, e->results);
    while (count > 0)
        picture_unref(pictures[--count]);
    return err;
}

static struct excerpt *take(struct measuring *m)
{
    pthread_mutex_lock(&m->lock);
    struct excerpt *e = m->next < m->count ? &m->excerpts[m->next++] : NULL;
    pthread_mutex_unlock(&m->lock);
    return e;
}

// An excerpt that cannot be read, as the film has holes or is shorter than it says, is left out.
static void *run(void *arg)
{
    struct measuring *m = arg;
    int err;
    struct source *source = source_open(m->name, false, &err);
    struct stored_probe *probe = source ? stored_probe_new(&m->ladder, &m->plan) : NULL;
    for (struct excerpt *e; probe && (e = take(m));)
        e->measured = measure(m, source, probe, e) == 0;
    stored_probe_free(probe);
    source_free(source);
    return NULL;
}

static void run_all(struct measuring *m)
{
    pthread_t threads[MAX_THREADS];
    const struct ladder *l = &m->ladder;
    double bytes = 1.5 * l->source_width * l->source_height * m->frames * COPIES;
    int count = 0;
    int64_t most = sysconf(_SC_NPROCESSORS_ONLN);
    most = most < MAX_THREADS ? most : MAX_THREADS;
    most = most < m->count ? most : m->count;
    while (count < most && (count == 0 || (count + 1) * bytes <= (double)MAX_BYTES) &&
           pthread_create(&threads[count], NULL, run, m) == 0)
        count++;
    while (count > 0)
        pthread_join(threads[--count], NULL);
}

// Returns false if no excerpt was measured.
static bool sum_up(const struct measuring *m, struct content_table *t)
{
    int count = 0;
    *t = (struct content_table){.count = m->ladder.size_count};
    for (int i = 0; i < m->count; i++) {
        const struct excerpt *e = &m->excerpts[i];
        count += e->measured;
        for (int s = 0; s < t->count && e->measured; s++)
            for (int k = 0; k < CONTENT_POINTS; k++) {
                t->sizes[s].points[k].bps += e->results[k].bps[s];
                t->sizes[s].points[k].ssim += e->results[k].ssim[s];
            }
    }
    for (int s = 0; s < t->count && count; s++) {
        struct content_size *size = &t->sizes[s];
        size->spec = m->ladder.sizes[s];
        for (int k = 0; k < CONTENT_POINTS; k++) {
            struct content_point *p = &size->points[k];
            *p = (struct content_point){quants[k], p->bps / count, p->ssim / count};
            // With one more bit than at a coarser quantiser the table stays in order.
            if (k > 0)
                p->bps = fmax(p->bps, p[-1].bps + 1);
        }
    }
    return count > 0;
}

// Returns NULL, or why the film keeps the fixed ladder.
static const char *choose(struct measuring *m, const struct source *s, const struct ladder *fixed,
                          struct content_ladder *out)
{
    struct content_table t;
    struct stored_plan plan;
    double fps = fps_value(s->fps);
    if (s->duration < MIN_SECONDS || !s->ops->seek)
        return "it is shorter than 2 s, or its length is not known";
    add_sizes(fixed, &m->ladder);
    if (stored_plan_init(&m->plan, &m->ladder) != 0)
        return "its frame rate has no simple fractions";
    m->frames = m->plan.period * (int)ceil(EXCERPT_SECONDS * fps / m->plan.period);
    if (m->frames > m->plan.gop || m->frames / fps > s->duration)
        return "it has no room for excerpts";
    m->count = (int)fmin(fmax(s->duration / EXCERPT_EVERY, 1), MAX_EXCERPTS);
    for (int i = 0; i < m->count; i++)
        m->excerpts[i].at = fmax((i + 0.5) / m->count * s->duration - m->frames / fps / 2, 0);
    run_all(m);
    if (!sum_up(m, &t))
        return "no excerpt of it can be read";
    if (content_ladder_choose(&t, fixed, out) != 0 || stored_plan_init(&plan, &out->ladder) != 0)
        return "no other one is better";
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

bool prepare_content(const char *name, const struct source *s, const struct ladder *fixed,
                     struct content_ladder *out)
{
    struct measuring *m = calloc(1, sizeof(*m));
    const char *reason = "there is no memory";
    if (m) {
        m->name = name;
        pthread_mutex_init(&m->lock, NULL);
        reason = choose(m, s, fixed, out);
        pthread_mutex_destroy(&m->lock);
    }
    free(m);
    if (reason)
        log_info("%s: it keeps the fixed ladder: %s", name, reason);
    else
        log_levels(name, &out->ladder);
    return !reason;
}
