// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"

static void dropped(void *ctx, const struct packet *p, enum link_drop cause, usec_t now)
{
    (void)cause;
    (void)now;
    struct sim *s = ctx;
    // ACKs and reports are counted only by the links.
    s->flows[p->flow / 2]->counts.dropped += p->flow % 2 == 0;
}

static struct tcp_sender_config tcp_of(const struct group *g)
{
    return (struct tcp_sender_config){.variant = g->variant,
                                      .packets = g->packets,
                                      .initial_window = (double)g->initial_window,
                                      .max_window = (double)g->window,
                                      .min_rto = g->min_rto,
                                      .timestamps = g->timestamps != 0,
                                      .growth = g->growth};
}

static struct flow *new_stream(const struct sim *s, const struct group *g, uint32_t id,
                               usec_t start, uint64_t seed)
{
    struct flow_stream_config config = {.via = g->via,
                                        .media = &g->media,
                                        .sizes = &g->sizes,
                                        .goddard = g->goddard,
                                        .length = g->length,
                                        .film = g->film,
                                        .latency = g->latency,
                                        .queue = g->queue,
                                        .limit_bytes = g->limit_bytes,
                                        .level = (int)g->level,
                                        .fragment_bytes = (uint32_t)g->fragment_bytes,
                                        .by_media = g->pairs == 0,
                                        .in_part = g->in_part != 0,
                                        .as_tcp = g->as_tcp != 0,
                                        .repair = g->repair,
                                        .tcp = tcp_of(g),
                                        .delayed_ack = g->delayed_ack,
                                        .access = g->has_proxy ? &g->proxy_link : NULL,
                                        .access_via = g->proxy_via,
                                        .access_rtt = g->proxy_rtt,
                                        .backbone_rtt = usec_max(0, g->rtt_max),
                                        .target = g->target,
                                        .reflect = g->reflect,
                                        .second = g->has_second ? &g->second_link : NULL,
                                        .second_rtt = g->second_rtt,
                                        .share = g->share};
    return flow_stream_new(&s->env, &config, id, start, g->stop, seed);
}

static struct flow *new_tcp(const struct sim *s, const struct group *g, uint32_t id, usec_t start,
                            uint64_t seed)
{
    struct flow_tcp_config config = {.tcp = tcp_of(g),
                                     .packet_bytes = (uint32_t)g->packet_bytes,
                                     .delayed_ack = g->delayed_ack,
                                     .web = g->kind == GROUP_WEB,
                                     .object_bytes = (double)g->object_bytes,
                                     .think_s = usec_to_sec(g->think),
                                     .shape = g->shape,
                                     .objects = (int)g->objects,
                                     .exponential_think = g->exponential_think};
    return flow_tcp_new(&s->env, &config, id, start, g->stop, seed);
}

static struct flow *new_flow(const struct sim *s, const struct group *g, uint32_t id, usec_t start,
                             uint64_t seed)
{
    if (g->kind == GROUP_CBR) {
        struct flow_onoff_config config = {.packet_bytes = (uint32_t)g->packet_bytes,
                                           .bps = g->bps,
                                           .on = g->on,
                                           .off = g->off,
                                           .shape = g->shape};
        return flow_onoff_new(&s->env, &config, id, start, g->stop, seed);
    }
    if (g->kind == GROUP_MTP) {
        struct flow_mtp_config config = {.mode = g->mode,
                                         .newreno = g->newreno != 0,
                                         .packet_bytes = (uint32_t)g->packet_bytes,
                                         .full_bytes = (uint32_t)g->full_bytes,
                                         .initial_window = (int)g->initial_window,
                                         .min_rto = g->min_rto,
                                         .timestamps = g->timestamps != 0};
        return flow_mtp_new(&s->env, &config, id, start, g->stop);
    }
    if (g->kind == GROUP_STREAM)
        return new_stream(s, g, id, start, seed);
    if (g->kind != GROUP_DATAGRAM)
        return new_tcp(s, g, id, start, seed);
    struct flow_datagram_config config = {.packet_bytes = (uint32_t)g->packet_bytes,
                                          .full_bytes = (uint32_t)g->full_bytes,
                                          .max_bps = g->max_bps,
                                          .media_bps = g->bps,
                                          .ect = g->ect != 0};
    memcpy(config.cc, g->cc, sizeof(config.cc));
    return flow_datagram_new(&s->env, &config, id, start, g->stop, seed);
}

// Makes the spec of the local line of the group's viewers.
static int make_local(const struct group *g, struct link_spec *out)
{
    char text[64];
    char error[256];
    snprintf(text, sizeof(text), "rate=%lldbit,queue=droptail:%lldp", (long long)g->local_bps,
             (long long)g->local_queue);
    return link_spec_parse(text, out, error, sizeof(error));
}

static struct chain_path path_of(const struct sim *s, const struct group *g, int64_t i)
{
    int last = s->chain.config.hops;
    struct chain_path path = {.from = (int)g->from,
                              .to = g->to < 0 ? last : (int)g->to,
                              .bps = g->access_bps,
                              .overhead = g->overhead,
                              .loss = g->loss};
    // Spreads the round-trip times evenly, both ends included (Grieco and Mascolo 2004, section
    // 5.1).
    path.rtt = g->n == 1 ? g->rtt_max : g->rtt_min + (g->rtt_max - g->rtt_min) * i / (g->n - 1);
    if (g->rtt_max < 0)
        path.rtt = chain_min_rtt(&s->chain, &path);
    return path;
}

static int check_group(const struct sim *s, const struct group *g, char *error, size_t cap)
{
    int last = s->chain.config.hops;
    int64_t to = g->to < 0 ? last : g->to;
    if (g->from > last || to > last || g->from == to)
        return err_say(error, cap, ERR_RANGE, "%.80s: from and to are two of the routers 0 to %d",
                       g->text, last);
    struct chain_path path = path_of(s, g, 0);
    if (path.rtt < chain_min_rtt(&s->chain, &path))
        return err_say(error, cap, ERR_RANGE,
                       "%.80s: the rtt is too short: its hops alone take %lld us", g->text,
                       (long long)chain_min_rtt(&s->chain, &path));
    return 0;
}

// Adds a flow with its own seeds, drawn in a fixed order.
static int add_flow(struct sim *s, const struct group *g, int64_t i, struct rng *rng)
{
    usec_t start = g->start;
    uint64_t phase = rng_u64(rng);
    if (g->spread)
        start += (usec_t)(phase % (uint64_t)g->spread);
    struct chain_path path = path_of(s, g, i);
    struct link_spec local;
    if (g->local_bps) {
        int bad = make_local(g, &local);
        assert(bad == 0); // cannot fail, as the group's numbers were checked
        path.local = &local;
    }
    struct flow *f = new_flow(s, g, s->count, start, rng_u64(rng));
    if (!f)
        return ERR_NO_MEMORY;
    s->flows[s->count] = f;
    int err = chain_attach(&s->chain, s->count, &path, &f->source, &f->sink);
    s->count++;
    if (!err)
        err = world_add(&s->world, &f->source);
    return err ? err : world_add(&s->world, &f->sink);
}

static int add_groups(struct sim *s, const struct scenario *scenario, struct rng *rng, char *error,
                      size_t cap)
{
    for (int g = 0; g < scenario->group_count; g++) {
        const struct group *group = &scenario->groups[g];
        int err = check_group(s, group, error, cap);
        for (int64_t i = 0; i < group->n && !err; i++) {
            s->group_of[s->count] = g;
            err = add_flow(s, group, i, rng);
            if (err)
                err_say(error, cap, err, "%.80s: %s", group->text, err_text(err));
        }
        if (err)
            return err;
    }
    return 0;
}

static int make_chain(struct sim *s, const struct scenario *sc, uint32_t flows, uint64_t seed,
                      char *error, size_t cap)
{
    struct chain_config config = {.hops = sc->hops,
                                  .right = {&sc->right, sc->right_trace, sc->right_trace_len},
                                  .left = {&sc->left, sc->left_trace, sc->left_trace_len},
                                  .flows = flows,
                                  .seed = seed,
                                  .on_drop = dropped,
                                  .ctx = s};
    size_t line = 0;
    int err = chain_init(&s->chain, &s->world, &config, &line, 0);
    if (err)
        err_say(error, cap, err, "link: %s, trace line %zu", err_text(err), line);
    return err;
}

int sim_init(struct sim *s, const struct scenario *scenario, char *error, size_t error_cap)
{
    int64_t flows = 0;
    for (int g = 0; g < scenario->group_count; g++)
        flows += scenario->groups[g].n;
    if (flows > SCENARIO_FLOWS)
        return err_say(error, error_cap, ERR_TOO_BIG, "at most %d flows", SCENARIO_FLOWS);
    struct rng rng = rng_seeded(scenario->seed);
    *s = (struct sim){0};
    world_init(&s->world, 0);
    packet_pool_init(&s->small, FLOW_SMALL, SIM_PACKETS_MAX);
    packet_pool_init(&s->large, FLOW_LARGE, SIM_REPORTS_MAX);
    s->env = (struct flow_env){.world = &s->world, .small = &s->small, .large = &s->large};
    s->flows = calloc((size_t)flows + 1, sizeof(struct flow *));
    s->group_of = calloc((size_t)flows + 1, sizeof(int));
    int err = s->flows && s->group_of ? 0 : err_say(error, error_cap, ERR_NO_MEMORY, "no memory");
    if (!err)
        err = make_chain(s, scenario, (uint32_t)flows, rng_u64(&rng), error, error_cap);
    if (!err)
        err = add_groups(s, scenario, &rng, error, error_cap);
    if (err)
        sim_destroy(s);
    return err;
}

void sim_destroy(struct sim *s)
{
    if (s->chain.hops)
        chain_destroy(&s->chain);
    world_destroy(&s->world);
    for (uint32_t i = 0; i < s->count; i++)
        s->flows[i]->ops->free(s->flows[i]);
    free(s->flows);
    free(s->group_of);
    packet_pool_destroy(&s->small);
    packet_pool_destroy(&s->large);
    *s = (struct sim){0};
}

void sim_run(struct sim *s, usec_t until)
{
    world_run(&s->world, until);
}

void sim_watch(struct sim *s, void (*on_arrival)(void *, const struct flow_arrival *, usec_t),
               void *ctx)
{
    s->env.on_arrival = on_arrival;
    s->env.ctx = ctx;
}

void sim_watch_streams(struct sim *s,
                       void (*on_stream)(void *, const struct stream_event *, usec_t), void *ctx)
{
    s->env.on_stream = on_stream;
    s->env.stream_ctx = ctx;
}

bool sim_streams_ended(const struct sim *s)
{
    bool some = false;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct stream_viewer *v = flow_stream_viewer(s->flows[i]);
        if (v && !v->ended)
            return false;
        some = some || v;
    }
    return some;
}

double sim_jain(double sum, double squares, size_t n)
{
    return squares > 0 ? sum * sum / ((double)n * squares) : 1;
}
