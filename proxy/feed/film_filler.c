// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/feed/film_filler.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "proxy/policy/fill_plan.h"

enum {
    FIRST_READERS = 16, // the table grows: each group of the film has one entry at most
    RUNS = 4,
    FLOWS = 32,
};
#define STEP_EVERY  (100 * USEC_PER_MSEC)
#define READS_FOR   (10 * USEC_PER_SEC) // a viewer that asked for nothing since then has left
#define LIVE_FOR    (3 * USEC_PER_SEC)  // a flow that brought nothing since then is not counted on
#define RETRY_EVERY USEC_PER_SEC        // after a session that brought nothing

struct reader {
    int64_t group;
    unsigned sizes;   // 0: free
    usec_t at, asked; // first, last
    usec_t progress;  // a track of the group was verified
    bool has_failed;  // it did not come in time
};

struct film_filler {
    struct store_filler base; // first
    struct film_filler_config config;
    struct timer *timer; // owned
    struct store_watch watch;
    // Owned; one entry for each group that viewers need, however many: none displaces another.
    struct reader *readers;
    struct fill_reader *list; // owned; for list_readers, of as many
    int reader_count;
    struct film_run *runs[RUNS]; // owned; NULL: none
    usec_t group_time;
    usec_t start_at; // no session before this time
    uint64_t bytes;  // of runs that have ended
    int size;        // for is_missing
    bool is_live;    // a session verifies what is whole
    bool is_full;    // what is missing cannot be stored
};

// ---- The readers

// Returns the group's entry, or a free one; NULL: no memory.
static struct reader *find_reader(struct film_filler *f, int64_t group)
{
    struct reader *unused = NULL;
    for (int i = 0; i < f->reader_count; i++) {
        struct reader *at = &f->readers[i];
        if (at->sizes && at->group == group)
            return at;
        if (!at->sizes)
            unused = at;
    }
    if (unused)
        return unused;
    int count = f->reader_count ? 2 * f->reader_count : FIRST_READERS;
    struct reader *readers = realloc(f->readers, (size_t)count * sizeof(*readers));
    f->readers = readers ? readers : f->readers;
    struct fill_reader *list = readers ? realloc(f->list, (size_t)count * sizeof(*list)) : NULL;
    f->list = list ? list : f->list;
    if (!list)
        return NULL;
    int first = f->reader_count;
    memset(readers + first, 0, (size_t)(count - first) * sizeof(*readers));
    f->reader_count = count;
    return &readers[first];
}

static bool need(void *ctx, int64_t group, unsigned sizes)
{
    struct film_filler *f = ctx;
    usec_t now = clock_now();
    struct reader *r = find_reader(f, group);
    if (!r)
        return true; // it asks again
    if (!r->sizes || r->group != group || now - r->asked > READS_FOR / 2)
        *r = (struct reader){.group = group, .at = now};
    r->sizes |= sizes;
    r->asked = now;
    timer_set(f->timer, usec_max(now, f->start_at));
    return !r->has_failed;
}

static bool has_readers(struct film_filler *f, usec_t now)
{
    bool any = false;
    for (int i = 0; i < f->reader_count; i++) {
        struct reader *r = &f->readers[i];
        if (r->sizes && now - r->asked > READS_FOR)
            r->sizes = 0;
        any |= r->sizes != 0;
    }
    return any;
}

static bool is_there(const struct film_filler *f, int size, int64_t group,
                     enum group_state expected)
{
    const struct store_film *film = f->config.film;
    return store_film_group(film, size, group) >= expected &&
           (!store_film_info(film)->audio ||
            store_film_group(film, STORED_AUDIO_TRACK, group) >= expected);
}

static bool is_missing(void *ctx, int64_t group)
{
    const struct film_filler *f = ctx;
    return !is_there(f, f->size, group, f->is_live ? GROUP_WHOLE : GROUP_VERIFIED);
}

// ---- Sessions

static void on_change(void *ctx, int track, int64_t group)
{
    struct film_filler *f = ctx;
    if (store_film_group(f->config.film, track, group) != GROUP_VERIFIED)
        return;
    for (int i = 0; i < f->reader_count; i++)
        if (f->readers[i].sizes && f->readers[i].group == group) {
            f->readers[i].progress = clock_now();
            f->readers[i].has_failed = false;
        }
}

static void close_run(struct film_filler *f, int i, usec_t now)
{
    struct film_run_stats s;
    film_run_read(f->runs[i], &s);
    f->bytes += s.bytes;
    film_run_free(f->runs[i], now);
    f->runs[i] = NULL;
}

// Returns true if another run brings what this one would bring next.
static bool is_overtaken(const struct film_filler *f, int i)
{
    struct film_run_stats s;
    const struct film_run_config *of = film_run_of(f->runs[i]);
    film_run_read(f->runs[i], &s);
    for (int j = 0; j < RUNS; j++) {
        const struct film_run_config *other = f->runs[j] ? film_run_of(f->runs[j]) : NULL;
        if (other && j != i && other->size == of->size && other->from > of->from &&
            other->from <= s.group)
            return true;
    }
    return false;
}

static void look_at_runs(struct film_filler *f, usec_t now)
{
    const char *why;
    for (int i = 0; i < RUNS; i++) {
        if (!f->runs[i])
            continue;
        struct film_run_stats s;
        film_run_read(f->runs[i], &s);
        if (film_run_is_over(f->runs[i], &why)) {
            if (why && !store_film_is_full(f->config.film, now)) // else the store has said so
                log_info("%s: what viewers need cannot be fetched: %s",
                         store_film_url(f->config.film), why);
            if (why || !s.verified)
                f->start_at = now + RETRY_EVERY;
            close_run(f, i, now);
        } else if (is_overtaken(f, i)) {
            close_run(f, i, now);
        }
    }
}

// Lists the flows that bring the size, with the audio.
static int list_flows(const struct film_filler *f, int size, struct fill_flow out[FLOWS],
                      usec_t now)
{
    int count = 0;
    bool audio = store_film_info(f->config.film)->audio;
    for (int i = 0; i < RUNS; i++) {
        struct film_run_stats s;
        if (!f->runs[i] || film_run_of(f->runs[i])->size != size)
            continue;
        film_run_read(f->runs[i], &s);
        usec_t each = (usec_t)((double)f->group_time / f->config.speed);
        out[count++] = (struct fill_flow){s.group, film_run_of(f->runs[i])->to, each};
    }
    for (const struct store_flow *w = store_film_flows(f->config.film); w && count < FLOWS;
         w = w->next)
        if (w->sizes >> size & 1 && (w->has_audio || !audio) && now - w->at < LIVE_FOR)
            out[count++] = (struct fill_flow){w->group, w->end, f->group_time};
    return count;
}

// Lists the viewers of the size that have asked since `since` in f->list. Returns their number.
static int list_readers(struct film_filler *f, int size, usec_t since)
{
    int count = 0;
    for (int i = 0; i < f->reader_count; i++)
        if (f->readers[i].sizes >> size & 1 && f->readers[i].asked >= since)
            f->list[count++] = (struct fill_reader){f->readers[i].group, f->readers[i].at};
    return count;
}

// All runs are under way: ends the one that is furthest ahead of its viewers, or that has lost
// them to a seek. It begins again when they get there. Returns RUNS if all are needed now.
static int end_spare_run(struct film_filler *f, usec_t now)
{
    int spare = RUNS;
    int64_t most = FILL_AHEAD;
    for (int i = 0; i < RUNS; i++) {
        struct film_run_stats s;
        film_run_read(f->runs[i], &s);
        // Who plays asks once for each group.
        int count = list_readers(f, film_run_of(f->runs[i])->size, now - 2 * f->group_time);
        int64_t ahead = fill_plan_ahead(f->list, count, s.group);
        if (ahead > most) {
            most = ahead;
            spare = i;
        }
    }
    if (spare < RUNS)
        close_run(f, spare, now);
    return spare;
}

static void start_run(struct film_filler *f, int size, int64_t from, int64_t to, usec_t now)
{
    struct film_run_config config = {.origin = f->config.origin,
                                     .film = f->config.film,
                                     .size = size,
                                     .from = from,
                                     .to = to,
                                     .speed = f->config.speed};
    int i = 0;
    while (i < RUNS && f->runs[i])
        i++;
    if (i == RUNS)
        i = end_spare_run(f, now);
    if (i < RUNS)
        f->runs[i] = film_run_new(&config, now);
}

static void plan(struct film_filler *f, int size, usec_t now)
{
    struct fill_flow flows[FLOWS];
    struct fill_plan p = {.readers = f->list,
                          .flows = flows,
                          .flow_count = list_flows(f, size, flows, now),
                          .groups = store_film_groups(f->config.film),
                          .group_time = f->group_time,
                          .fetch_time = (usec_t)((double)f->group_time / f->config.speed),
                          .is_missing = is_missing,
                          .ctx = f};
    p.reader_count = list_readers(f, size, 0);
    f->size = size;
    f->is_live = p.flow_count > 0;
    int64_t end, from = fill_plan_next(&p, &end, now);
    if (from >= 0)
        start_run(f, size, from, end, now);
}

// Returns true if the viewer waits for what does not come, whatever comes for others.
static bool is_stuck(const struct film_filler *f, const struct reader *r, usec_t now)
{
    bool waits = now - r->asked < STEP_EVERY + USEC_PER_SEC;
    bool is_late = now - usec_max(r->at, r->progress) > f->config.outage;
    // What is whole may still be verified.
    enum group_state expected = is_late ? GROUP_VERIFIED : GROUP_WHOLE;
    if (!is_late && (!f->is_full || store_film_pending(f->config.film)))
        return false;
    for (int size = 0; waits && r->sizes >> size; size++)
        if (r->sizes >> size & 1 && !is_there(f, size, r->group, expected))
            return true;
    return false;
}

static void look_at_readers(struct film_filler *f, usec_t now)
{
    bool any = false;
    for (int i = 0; i < f->reader_count; i++) {
        struct reader *r = &f->readers[i];
        if (!r->sizes || r->has_failed || !is_stuck(f, r, now))
            continue;
        r->has_failed = any = true;
    }
    if (!any)
        return;
    if (f->is_full)
        log_warn("%s: what is missing cannot be stored: the media ends",
                 store_film_url(f->config.film));
    else
        log_warn("%s: what is missing did not come within %.0f s: the media ends",
                 store_film_url(f->config.film), usec_to_sec(f->config.outage));
    store_film_fetch(f->config.film)->failed_at = now;
}

static void on_timer(void *ctx, usec_t now)
{
    struct film_filler *f = ctx;
    look_at_runs(f, now);
    bool reads = has_readers(f, now);
    for (int i = 0; i < RUNS && !reads; i++)
        if (f->runs[i])
            close_run(f, i, now);
    if (!reads)
        return;
    f->is_full = store_film_is_full(f->config.film, now);
    look_at_readers(f, now);
    for (int size = 0; !f->is_full && size < store_film_sizes(f->config.film); size++)
        if (now >= f->start_at)
            plan(f, size, now);
    timer_set(f->timer, now + STEP_EVERY);
}

// ---- Life

struct film_filler *film_filler_new(const struct film_filler_config *config)
{
    struct film_filler *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    f->config = *config;
    f->start_at = config->after;
    f->timer = timer_new(config->origin->loop, on_timer, f);
    f->config.film = f->timer ? store_film_hold(config->film) : NULL;
    if (!f->config.film) {
        timer_free(f->timer);
        free(f);
        return NULL;
    }
    const struct stored_info *info = store_film_info(f->config.film);
    struct fps fps = info->sdp.ladder.source_fps;
    f->group_time = usec_of_frames(info->plan.gop, fps.num, fps.den);
    f->base = (struct store_filler){.need = need, .ctx = f};
    f->watch = (struct store_watch){.on_change = on_change, .ctx = f};
    store_film_watch(f->config.film, &f->watch);
    return f;
}

void film_filler_free(struct film_filler *f, usec_t now)
{
    if (!f)
        return;
    for (int i = 0; i < RUNS; i++)
        if (f->runs[i])
            close_run(f, i, now);
    store_film_unwatch(f->config.film, &f->watch);
    store_film_release(f->config.film);
    timer_free(f->timer);
    free(f->readers);
    free(f->list);
    free(f);
}

struct store_filler *film_filler_base(struct film_filler *f)
{
    return &f->base;
}

uint64_t film_filler_bytes(const struct film_filler *f)
{
    uint64_t bytes = f->bytes;
    for (int i = 0; i < RUNS; i++) {
        struct film_run_stats s = {0};
        if (f->runs[i])
            film_run_read(f->runs[i], &s);
        bytes += s.bytes;
    }
    return bytes;
}
