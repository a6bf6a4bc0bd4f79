// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/traffic/client.h"

#include <stdlib.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "lab/traffic/flow.h"

struct client {
    const struct options *options; // borrowed
    struct report *report;         // borrowed; NULL: no report
    void (*on_end)(void *ctx);
    void *ctx;           // borrowed
    struct timer *timer; // owned
    usec_t wake;         // when `timer` fires
    usec_t epoch;
    usec_t next_line; // USEC_NEVER: no report
    struct flow_env env;
    struct flow *flows;          // owned; the flows of the first spec, then of the second ...
    int64_t *bytes;              // owned; bytes of each flow, for the report
    usec_t stops[OPTIONS_SPECS]; // when each spec stops; USEC_NEVER: never, or stopped already
    int running;                 // number of specs that have not stopped
};

// Flows request a wake-up time; the timer runs for the earliest.
static void wake_at(void *ctx, usec_t at)
{
    struct client *c = ctx;
    if (at >= c->wake)
        return;
    c->wake = at;
    timer_set(c->timer, at);
}

static void report(struct client *c,
                   void (*write)(struct report *, const struct report_spec *, usec_t), usec_t now)
{
    struct report_spec specs[OPTIONS_SPECS] = {0};
    int index = 0;
    for (int i = 0; i < c->options->spec_count; i++) {
        struct report_spec *s = &specs[i];
        *s = (struct report_spec){.text = c->options->specs[i].text,
                                  .flows = c->bytes + index,
                                  .flow_count = c->options->specs[i].n};
        for (int k = 0; k < s->flow_count; k++, index++) {
            const struct flow *f = &c->flows[index];
            c->bytes[index] = f->bytes;
            s->bytes += f->bytes;
            s->active += f->connected;
            s->completed += f->completed;
            s->failed += f->failed;
        }
    }
    write(c->report, specs, now - c->epoch);
}

static void stop_those_due(struct client *c, usec_t now)
{
    struct flow *f = c->flows;
    for (int i = 0; i < c->options->spec_count; i++) {
        int n = c->options->specs[i].n;
        if (now >= c->stops[i]) {
            for (int k = 0; k < n; k++)
                flow_stop(&f[k]);
            c->stops[i] = USEC_NEVER;
            c->running--;
        }
        f += n;
    }
}

static void run_flows(struct client *c, usec_t now)
{
    usec_t next = c->next_line;
    for (int i = 0; i < c->options->spec_count; i++)
        next = usec_min(next, c->stops[i]);
    for (int i = 0; i < c->options->flow_count; i++) {
        flow_on_timeout(&c->flows[i], now);
        next = usec_min(next, flow_next_timeout(&c->flows[i]));
    }
    wake_at(c, next);
}

static void on_timer(void *ctx, usec_t now)
{
    struct client *c = ctx;
    c->wake = USEC_NEVER;
    if (now >= c->next_line) {
        report(c, traffic_report_second, now);
        c->next_line += (now - c->next_line) / USEC_PER_SEC * USEC_PER_SEC + USEC_PER_SEC;
    }
    stop_those_due(c, now);
    if (c->running == 0) {
        c->on_end(c->ctx); // may free the client
        return;
    }
    run_flows(c, now);
}

static void init_flows(struct client *c, usec_t now)
{
    const struct options *o = c->options;
    usec_t end = o->duration == USEC_NEVER ? USEC_NEVER : c->epoch + o->duration;
    struct rng seeds = rng_seeded(o->seed);
    struct flow *f = c->flows;
    for (int i = 0; i < o->spec_count; i++) {
        const struct spec *s = &o->specs[i];
        c->stops[i] = s->stop == USEC_NEVER ? end : usec_min(end, c->epoch + s->stop);
        for (int k = 0; k < s->n; k++)
            flow_init(f++, &c->env, s, rng_u64(&seeds), usec_max(now, c->epoch + s->start));
    }
    c->running = o->spec_count;
}

struct client *traffic_client_new(uv_loop_t *loop, const struct options *options,
                                  struct report *report_to, void (*on_end)(void *ctx), void *ctx)
{
    usec_t now = clock_now();
    struct client *c = calloc(1, sizeof(*c));
    if (!c)
        goto no_memory;
    *c = (struct client){.options = options,
                         .report = report_to,
                         .on_end = on_end,
                         .ctx = ctx,
                         .epoch = options->epoch == USEC_NEVER ? now : options->epoch,
                         .wake = USEC_NEVER,
                         .next_line = USEC_NEVER};
    c->env =
        (struct flow_env){.loop = loop, .server = options->server, .wake_at = wake_at, .ctx = c};
    size_t n = (size_t)options->flow_count;
    c->flows = calloc(n, sizeof(*c->flows));
    c->bytes = calloc(n, sizeof(*c->bytes));
    c->timer = timer_new(loop, on_timer, c);
    if (!c->flows || !c->bytes || !c->timer)
        goto free_client;
    if (report_to) // the first whole second since the epoch that is not over
        c->next_line = c->epoch + (usec_max(now - c->epoch, 0) / USEC_PER_SEC + 1) * USEC_PER_SEC;
    init_flows(c, now);
    wake_at(c, now);
    return c;

free_client:
    timer_free(c->timer);
    free(c->bytes);
    free(c->flows);
    free(c);
no_memory:
    log_error("out of memory");
    return NULL;
}

void traffic_client_free(struct client *c)
{
    if (!c)
        return;
    for (int i = 0; i < c->options->flow_count; i++)
        flow_stop(&c->flows[i]);
    if (c->report)
        report(c, traffic_report_end, clock_now());
    timer_free(c->timer);
    free(c->bytes);
    free(c->flows);
    free(c);
}
