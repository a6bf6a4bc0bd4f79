// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "lab/emulator/emulator.h"
#include "lab/emulator/emulator_parts.h"
#include "lab/emulator/text_file.h"
#include "lab/emulator/tun.h"

static const char *const way_names[2] = {"a-to-b", "b-to-a"};

// Reports a change of rate for a link without a rate.
static int check_changes(const struct changes *c, const struct link_options *o)
{
    for (size_t i = 0; i < c->count; i++)
        for (int way = 0; way < 2; way++)
            if (c->list[i].way[way] && c->list[i].change.rate && !o->specs[way].has_rate) {
                log_error("%s changes the rate of %s at %.3f s, but --%s has no rate=", o->changes,
                          way_names[way], usec_to_sec(c->list[i].at), way_names[way]);
                return ERR_UNSUPPORTED;
            }
    return 0;
}

static int read_changes(struct emulator *e, const struct link_options *o)
{
    if (!o->changes)
        return 0;
    char *text;
    size_t len;
    int err = text_file_read(o->changes, &text, &len);
    if (err)
        return err;
    char why[512];
    err = changes_parse(&e->changes, text, len, why, sizeof(why));
    free(text);
    if (err) {
        log_error("%s: %s", o->changes, why);
        return err;
    }
    return check_changes(&e->changes, o);
}

static int open_devices(struct emulator *e, const struct link_options *o)
{
    for (int side = 0; side < 2; side++) {
        const struct link_end *end = &o->ends[side];
        struct tun_config config = {.netns = end->netns,
                                    .name = end->device,
                                    .mtu = o->mtu,
                                    .addresses = end->addresses,
                                    .address_count = end->address_count};
        int fd = tun_open(&config);
        if (fd < 0)
            return fd;
        e->tun[side] = fd;
    }
    return 0;
}

static int watch(int epoll, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static int open_loop(struct emulator *e)
{
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGINT);
    sigaddset(&stop, SIGTERM);
    sigprocmask(SIG_BLOCK, &stop, NULL);
    e->signals = signalfd(-1, &stop, SFD_NONBLOCK | SFD_CLOEXEC);
    e->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    e->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (e->signals >= 0 && e->timer >= 0 && e->epoll >= 0 && watch(e->epoll, e->signals) == 0 &&
        watch(e->epoll, e->timer) == 0 && watch(e->epoll, e->tun[0]) == 0 &&
        watch(e->epoll, e->tun[1]) == 0)
        return 0;
    log_error("cannot create the event loop: %s", strerror(errno));
    return ERR_IO;
}

static int open_link(struct emulator *e, int i, const struct link_spec *spec, uint64_t seed)
{
    struct direction *way = &e->ways[i];
    char *text = NULL;
    size_t len = 0;
    if (spec->trace[0]) {
        int err = text_file_read(spec->trace, &text, &len);
        if (err)
            return err;
    }
    node_init(&way->sink, &emulator_sink_ops, NULL);
    size_t line = 0;
    int err = link_init(&way->link, &e->world, spec, text, len, &line, seed, &way->sink, e->start);
    free(text);
    if (err && spec->trace[0])
        log_error("%s, line %zu: %s; a line is a whole number of milliseconds, never falling",
                  spec->trace, line, err_text(err));
    else if (err)
        log_error("cannot create the link %s: %s", way_names[i], err_text(err));
    return err;
}

static int open_links(struct emulator *e, const struct link_options *o)
{
    world_init(&e->world, e->start);
    struct rng seeds = rng_seeded(o->seed);
    for (int i = 0; i < 2; i++) {
        int err = open_link(e, i, &o->specs[i], rng_u64(&seeds));
        if (err) {
            if (i == 1)
                link_destroy(&e->ways[0].link);
            world_destroy(&e->world);
            return err;
        }
    }
    return 0;
}

static void close_links(struct emulator *e)
{
    for (int i = 0; i < 2; i++)
        link_destroy(&e->ways[i].link);
    world_destroy(&e->world);
}

static int open_captures(struct emulator *e, const struct link_options *o)
{
    static const char *const suffixes[2][2] = {{"a-in", "b-out"}, {"b-in", "a-out"}};
    for (int i = 0; i < 2 && o->pcap; i++) {
        int err = pcap_open(&e->ways[i].entered, o->pcap, suffixes[i][0], o->snap);
        if (err == 0)
            err = pcap_open(&e->ways[i].left, o->pcap, suffixes[i][1], o->snap);
        if (err)
            return err;
    }
    return 0;
}

static int close_files(struct emulator *e)
{
    int err = link_report_close(&e->report);
    for (int i = 0; i < 2; i++) {
        if (pcap_close(&e->ways[i].entered) != 0)
            err = ERR_IO;
        if (pcap_close(&e->ways[i].left) != 0)
            err = ERR_IO;
    }
    const int fds[] = {e->epoll, e->timer, e->signals, e->tun[0], e->tun[1]};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    for (int i = 0; i < 2; i++)
        packet_pool_destroy(&e->ways[i].pool);
    changes_destroy(&e->changes);
    free(e->scratch);
    return err;
}

static void init(struct emulator *e, const struct link_options *o)
{
    *e = (struct emulator){.tun = {-1, -1},
                           .epoll = -1,
                           .timer = -1,
                           .signals = -1,
                           .mtu = o->mtu,
                           .port_count = o->flow_count,
                           .captures_rest = o->pcap_rest,
                           .scratch = malloc(o->mtu + EMULATOR_SLACK)};
    memcpy(e->ports, o->flow_ports, sizeof(e->ports));
    for (int i = 0; i < 2; i++) {
        e->ways[i].emulator = e;
        packet_pool_init(&e->ways[i].pool, o->mtu + EMULATOR_SLACK, EMULATOR_PACKETS_MAX);
    }
}

int emulator_open(struct emulator *e, const struct link_options *o)
{
    init(e, o);
    int err = e->scratch ? read_changes(e, o) : ERR_NO_MEMORY;
    if (err == 0)
        err = link_report_open(&e->report, o->stats);
    if (err == 0)
        err = open_captures(e, o);
    if (err == 0)
        err = open_devices(e, o);
    if (err == 0)
        err = open_loop(e);
    e->start = clock_now();
    e->next_report = e->start + USEC_PER_SEC;
    e->end = o->duration == USEC_NEVER ? USEC_NEVER : e->start + o->duration;
    if (err == 0)
        err = open_links(e, o);
    if (err) {
        close_files(e);
        return err;
    }
    for (int i = 0; i < 2; i++) {
        e->ways[i].in = e->tun[i];
        e->ways[i].out = e->tun[1 - i];
    }
    return 0;
}

int emulator_close(struct emulator *e)
{
    close_links(e);
    return close_files(e);
}
