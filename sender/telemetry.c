// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/telemetry.h"

#include <stdlib.h>

#include "common/net/clock.h"
#include "sender/metrics_server.h"
#include "sender/stats.h"

struct telemetry {
    struct shelf *shelf;            // borrowed
    struct stats *stats;            // owned; NULL: none
    struct metrics_server *metrics; // owned; NULL: none
    usec_t begun;
    struct figures figures;
};

static void on_session(void *ctx, const struct figures *f, const struct session_figures *s)
{
    struct telemetry *t = ctx;
    if (t->stats)
        stats_write(t->stats, f, s);
}

void telemetry_collect(struct telemetry *t, usec_t now)
{
    if (!t->stats && !t->metrics)
        return;
    t->figures.wall = clock_wall();
    t->figures.age = now - t->begun;
    shelf_figures(t->shelf, &t->figures, on_session, t, now);
    if (t->metrics)
        metrics_server_publish(t->metrics, &t->figures);
}

struct telemetry *telemetry_new(const struct options *options, struct shelf *shelf, usec_t now)
{
    struct telemetry *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->shelf = shelf;
    t->begun = now;
    t->figures.version = WEIR_VERSION;
    t->figures.begun_wall = clock_wall();
    if (options->stats && !(t->stats = stats_open(options->stats)))
        goto free_telemetry;
    if (options->metrics.ss_family != AF_UNSPEC) {
        t->metrics = metrics_server_new((const struct sockaddr *)&options->metrics);
        if (!t->metrics)
            goto close_stats;
    }
    telemetry_collect(t, now);
    return t;

close_stats:
    stats_close(t->stats);
free_telemetry:
    free(t);
    return NULL;
}

void telemetry_free(struct telemetry *t, usec_t now)
{
    if (!t)
        return;
    metrics_server_free(t->metrics);
    if (t->stats)
        stats_end(t->stats, now - t->begun);
    stats_close(t->stats);
    free(t);
}
