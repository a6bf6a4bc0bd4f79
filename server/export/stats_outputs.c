// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/export/stats_outputs.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/net/clock.h"
#include "server/export/stats_file.h"
#include "server/export/stats_http.h"

struct stats_outputs {
    struct catalog *catalog;    // borrowed
    struct stats_file *file;    // owned; NULL: none
    struct stats_http *metrics; // owned; NULL: none
    usec_t begun;
    struct catalog_hold list_hold; // waits for the films' list
    struct stats stats;
};

// Called again when the catalog has made the list.
static void list_films(void *ctx, usec_t now)
{
    struct stats_outputs *t = ctx;
    static char list[CATALOG_LIST_BYTES];
    int count;
    (void)now;
    if (!t->catalog->ops->list) {
        if (t->catalog->where && snprintf(list, sizeof(list), "%s\t?\t?", t->catalog->where) > 0)
            stats_http_publish_films(t->metrics, list);
        return;
    }
    if (t->catalog->ops->list(t->catalog, &t->list_hold, list, sizeof(list), &count) == 0)
        stats_http_publish_films(t->metrics, list);
}

static void on_session(void *ctx, const struct stats *f, const struct session_stats *s)
{
    struct stats_outputs *t = ctx;
    if (t->file)
        stats_file_write(t->file, f, s);
}

void stats_outputs_collect(struct stats_outputs *t, usec_t now)
{
    if (!t->file && !t->metrics)
        return;
    t->stats.wall = clock_wall();
    t->stats.age = now - t->begun;
    t->catalog->ops->stats(t->catalog, &t->stats, on_session, t, now);
    if (t->file && t->stats.http.is_used)
        stats_file_write_http(t->file, &t->stats);
    if (!t->metrics)
        return;
    stats_http_publish(t->metrics, &t->stats);
    if (stats_http_wants_films(t->metrics) && !t->list_hold.listing)
        list_films(t, now);
}

void stats_outputs_locate(struct stats_outputs *t, const struct stats_place *at)
{
    t->stats.place = *at;
}

struct stats_outputs *stats_outputs_new(const char *file, const struct sockaddr_storage *metrics,
                                        struct access *access, struct catalog *catalog, usec_t now)
{
    struct stats_outputs *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->catalog = catalog;
    t->begun = now;
    t->list_hold = (struct catalog_hold){.on_ready = list_films, .ctx = t};
    t->stats.version = WEIR_VERSION;
    t->stats.begun_wall = clock_wall();
    if (file && !(t->file = stats_file_open(file)))
        goto free_outputs;
    if (metrics->ss_family != AF_UNSPEC) {
        t->metrics = stats_http_new((const struct sockaddr *)metrics, access);
        if (!t->metrics)
            goto close_stats;
    }
    stats_outputs_collect(t, now);
    return t;

close_stats:
    stats_file_close(t->file);
free_outputs:
    free(t);
    return NULL;
}

void stats_outputs_free(struct stats_outputs *t, usec_t now)
{
    if (!t)
        return;
    t->catalog->ops->leave(t->catalog, &t->list_hold);
    stats_http_free(t->metrics);
    if (t->file)
        stats_file_end(t->file, now - t->begun);
    stats_file_close(t->file);
    free(t);
}
