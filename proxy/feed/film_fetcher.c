// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/feed/film_fetcher.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/net/timer.h"

// Runs in a row that verify nothing, at most; then it is another film's turn.
enum { IDLE_RUNS = 8 };
#define LOOK_EVERY    (2 * USEC_PER_SEC)
#define STEP_EVERY    (100 * USEC_PER_MSEC)
#define RETRY_FIRST   (10 * USEC_PER_SEC)
#define RETRY_DOUBLES 8

struct film_fetcher {
    struct film_fetcher_config config;
    struct timer *timer;     // owned
    struct store_film *film; // one hold; NULL: idle
    int size;
    int64_t end;          // the groups before this one are fetched
    struct film_run *run; // owned
    int idle_runs;        // of this film, in a row, that verified nothing
    uint64_t fetched;     // bytes, of this film
    struct film_fetcher_stats stats;
};

// ---- Which film

static bool has_groups(const struct store_film *f, int size, int64_t end)
{
    const struct stored_info *info = store_film_info(f);
    for (int64_t group = 0; group < end; group++)
        if (store_film_group(f, size, group) != GROUP_VERIFIED ||
            (info->audio && store_film_group(f, STORED_AUDIO_TRACK, group) != GROUP_VERIFIED))
            return false;
    return true;
}

// Returns the end of what is worth fetching of a size: all of it, its prefix, or nothing (0).
static int64_t worth(struct store_film *f, int size)
{
    int64_t groups = store_film_groups(f), count = store_film_stored(f, size);
    if (store_film_is_complete(f, size))
        return 0;
    bool is_wanted = store_film_fetch(f)->is_wanted && size == store_film_sizes(f) - 1;
    if (is_wanted || (count && 2 * count >= groups))
        return groups;
    return count && !store_film_has_prefix(f, size) ? store_film_prefix(f) : 0;
}

static bool choose(struct film_fetcher *f, usec_t now)
{
    struct url url;
    for (struct store_film *film = store_next(f->config.store, NULL); film;
         film = store_next(f->config.store, film)) {
        if (now < store_film_fetch(film)->after || store_film_is_full(film, now) ||
            f->config.is_busy(f->config.ctx, film) ||
            !film_run_url(f->config.origin.rules, film, &url))
            continue;
        for (int size = store_film_sizes(film) - 1; size >= 0; size--)
            if ((f->end = worth(film, size)) > 0) {
                f->film = store_film_hold(film);
                f->size = size;
                return f->film;
            }
    }
    return false;
}

// ---- The end of a run

static void close_run(struct film_fetcher *f, usec_t now)
{
    struct film_run_stats s;
    if (!f->run)
        return;
    film_run_read(f->run, &s);
    f->stats.frames += s.frames;
    f->stats.bytes += s.bytes;
    f->fetched += s.bytes;
    film_run_free(f->run, now);
    f->run = NULL;
}

static void leave_film(struct film_fetcher *f, usec_t after, usec_t now)
{
    close_run(f, now);
    store_film_fetch(f->film)->after = after;
    store_film_release(f->film);
    f->film = NULL;
    f->fetched = 0;
    f->idle_runs = 0;
}

// Returns false if there is no memory.
static bool begin_run(struct film_fetcher *f, usec_t now)
{
    const struct ladder *l = &store_film_info(f->film)->sdp.ladder;
    int level = l->level_count - 1;
    while (level > 0 && l->levels[level].size_id != f->size)
        level--;
    double bps = f->config.bps;
    struct film_run_config run = {.origin = &f->config.origin,
                                  .film = f->film,
                                  .size = f->size,
                                  .to = f->end,
                                  .speed = bps > 0 ? bps / l->levels[level].bitrate_bps : 1};
    f->run = film_run_new(&run, now);
    f->stats.rounds++;
    return f->run;
}

static void end_run(struct film_fetcher *f, const char *why, usec_t now)
{
    struct store_fetch *fetch = store_film_fetch(f->film);
    const char *url = store_film_url(f->film);
    struct film_run_stats s;
    film_run_read(f->run, &s);
    close_run(f, now);
    f->idle_runs = s.verified ? 0 : f->idle_runs + 1;
    if (!why && s.brought && f->idle_runs == IDLE_RUNS)
        why = "what the origin sends does not match its digests";
    if (has_groups(f->film, f->size, f->end)) {
        const struct size_spec *size = &store_film_info(f->film)->sdp.ladder.sizes[f->size];
        bool is_all = store_film_is_complete(f->film, f->size);
        log_info("%s: %s%dx%d is stored%s; %" PRIu64 " bytes were fetched", url,
                 is_all ? "" : "the prefix of ", size->width, size->height,
                 is_all ? " completely" : "", f->fetched);
        fetch->tries = 0;
        fetch->is_wanted &= !is_all;
        leave_film(f, now, now);
    } else if (s.brought && !why) {
        if (!begin_run(f, now))
            leave_film(f, now + RETRY_FIRST, now);
    } else {
        int doubles = fetch->tries < RETRY_DOUBLES ? fetch->tries++ : RETRY_DOUBLES;
        usec_t wait = RETRY_FIRST << doubles;
        log_info("%s: what is missing cannot be fetched: %s; trying again in %.0f s", url,
                 why ? why : "the origin sends no more of it", usec_to_sec(wait));
        leave_film(f, now + wait, now);
    }
}

// ---- The steps

static void on_timer(void *ctx, usec_t now)
{
    struct film_fetcher *f = ctx;
    const char *why;
    if (f->film && f->config.is_busy(f->config.ctx, f->film))
        leave_film(f, now, now);
    if (!f->film && choose(f, now) && !begin_run(f, now))
        leave_film(f, now + RETRY_FIRST, now);
    if (f->film && film_run_is_over(f->run, &why))
        end_run(f, why, now);
    timer_set(f->timer, now + (f->film ? STEP_EVERY : LOOK_EVERY));
}

void film_fetcher_wake(struct film_fetcher *f, usec_t now)
{
    if (!f->film)
        timer_set(f->timer, now + STEP_EVERY);
}

void film_fetcher_read(const struct film_fetcher *f, struct film_fetcher_stats *out)
{
    *out = f->stats;
    if (!f->run)
        return;
    struct film_run_stats s;
    film_run_read(f->run, &s);
    out->frames += s.frames;
    out->bytes += s.bytes;
}

struct film_fetcher *film_fetcher_new(const struct film_fetcher_config *config)
{
    struct film_fetcher *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    f->config = *config;
    f->timer = timer_new(config->origin.loop, on_timer, f);
    if (f->timer)
        return f;
    free(f);
    return NULL;
}

void film_fetcher_free(struct film_fetcher *f, usec_t now)
{
    if (!f)
        return;
    if (f->film)
        leave_film(f, now, now);
    timer_free(f->timer);
    free(f);
}
