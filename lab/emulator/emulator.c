// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/emulator/emulator.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "lab/emulator/emulator_parts.h"
#include "lab/emulator/model/ip_packet.h"

// Max packets read from one device before the other device gets its turn.
enum { BATCH = 64 };

// On an idle machine a timer fires tens of microseconds late, and each packet would leave that
// late. So the timer is set early by SPIN, and the process spins for the rest. It spins for at most
// one part in SPIN_SHARE of the time, so that a busy link, whose processor does not sleep anyway,
// does not pay for it. When the credit is used up, spinning stops until the credit is complete
// again.
enum { SPIN = 80, SPIN_SHARE = 40, SPIN_CREDIT_MAX = 20 * 1000 };

static uint32_t flow_of(const struct emulator *e, const struct ip_packet *ip)
{
    for (int i = 0; ip->has_ports && i < e->port_count; i++)
        if (ip->source == e->ports[i] || ip->destination == e->ports[i])
            return (uint32_t)i + 1;
    return 0;
}

static void capture(const struct emulator *e, struct pcap *to, uint32_t flow, const uint8_t *data,
                    size_t len, usec_t now)
{
    if (!flow || !e->captures_rest)
        pcap_write(to, data, len, now);
}

static void count_extra_drop(uint64_t *packets, uint64_t *bytes, uint32_t flow, size_t len)
{
    packets[0]++;
    bytes[0] += len;
    packets[1 + flow]++;
    bytes[1 + flow] += len;
}

// Ends the loop; errno contains the reason.
static void fail(struct emulator *e, const char *what)
{
    log_error("%s: %s", what, strerror(errno));
    e->failed = ERR_IO;
}

// The link's sink. A packet that the device does not accept at once is dropped: the device has room
// for thousands of packets, and waiting here would delay the other direction.
static void leave(struct node *n, struct packet *p, usec_t now)
{
    struct direction *way = (struct direction *)n;
    if (p->marked)
        ip_packet_set_ce(p->data);
    capture(way->emulator, &way->left, p->flow, p->data, p->bytes, now);
    ssize_t written = write(way->out, p->data, p->bytes);
    if (written < 0) {
        count_extra_drop(way->all.unwritten_packets, way->all.unwritten_bytes, p->flow, p->bytes);
        count_extra_drop(way->lately.unwritten_packets, way->lately.unwritten_bytes, p->flow,
                         p->bytes);
        if (errno == EBADFD)
            fail(way->emulator, "the device was removed");
    }
    packet_free(p);
}

const struct node_ops emulator_sink_ops = {.push = leave};

static void enter(struct direction *way, struct packet *p, const uint8_t *data, size_t len,
                  usec_t now)
{
    struct emulator *e = way->emulator;
    struct ip_packet ip;
    ip_packet_parse(data, len, &ip); // a packet that is not IP passes unchanged and is never marked
    uint32_t flow = flow_of(e, &ip);
    capture(e, &way->entered, flow, data, len, now);
    if (!p) {
        count_extra_drop(way->all.refused_packets, way->all.refused_bytes, flow, len);
        count_extra_drop(way->lately.refused_packets, way->lately.refused_bytes, flow, len);
        return;
    }
    p->bytes = (uint32_t)len;
    p->ecn = ip.ecn;
    p->flow = flow;
    link_push(&way->link, p, now);
}

static void report(struct emulator *e, usec_t now)
{
    struct report_way ways[2];
    for (int i = 0; i < 2; i++)
        ways[i] = (struct report_way){&e->ways[i].link, &e->ways[i].all, &e->ways[i].lately};
    link_report_second(&e->report, ways, e->start, now);
    for (int i = 0; i < 2; i++) {
        link_stats_clear(e->ways[i].link.lately);
        e->ways[i].lately = (struct extra_drops){0};
        pcap_flush(&e->ways[i].entered);
        pcap_flush(&e->ways[i].left);
    }
}

static void report_all(struct emulator *e, usec_t now)
{
    struct report_way ways[2];
    for (int i = 0; i < 2; i++)
        ways[i] = (struct report_way){&e->ways[i].link, &e->ways[i].all, &e->ways[i].lately};
    link_report_end(&e->report, ways, e->ports, e->port_count, e->start, now);
}

static usec_t next_change_at(const struct emulator *e)
{
    if (e->next_change == e->changes.count)
        return USEC_NEVER;
    return e->start + e->changes.list[e->next_change].at;
}

static void apply_change(struct emulator *e, usec_t now)
{
    const struct change *c = &e->changes.list[e->next_change++];
    for (int i = 0; i < 2; i++)
        if (c->way[i])
            link_apply(&e->ways[i].link, &c->change, now);
}

// Runs all events that are due up to `now`, each at its own instant.
static void advance(struct emulator *e, usec_t now)
{
    for (;;) {
        usec_t change = next_change_at(e);
        usec_t due = usec_min(change, e->next_report);
        if (due > now)
            break;
        world_run(&e->world, due);
        if (change == due) {
            apply_change(e, due);
        } else {
            report(e, due);
            e->next_report += USEC_PER_SEC;
        }
    }
    world_run(&e->world, now);
}

static usec_t next_at(const struct emulator *e)
{
    return usec_min(usec_min(world_next(&e->world), next_change_at(e)),
                    usec_min(e->next_report, e->end));
}

static void arm(struct emulator *e, usec_t at)
{
    if (at == e->armed_for)
        return;
    e->armed_for = at;
    struct itimerspec spec = {
        .it_value = {.tv_sec = at / USEC_PER_SEC, .tv_nsec = at % USEC_PER_SEC * 1000}};
    if (timerfd_settime(e->timer, TFD_TIMER_ABSTIME, &spec, NULL) != 0)
        fail(e, "cannot set the timer");
}

// Returns how long epoll may wait: not at all while spinning for the next event, else until the
// timer.
static int wait_for_next(struct emulator *e)
{
    usec_t at = next_at(e);
    if (!e->may_spin) {
        arm(e, at);
        return -1;
    }
    if (at - e->now <= SPIN) {
        e->spinning = true;
        return 0;
    }
    arm(e, at - SPIN);
    return -1;
}

static usec_t read_clock(struct emulator *e)
{
    usec_t now = clock_now();
    usec_t passed = now - e->now;
    e->spin_credit += passed - (e->spinning ? passed * SPIN_SHARE : 0);
    e->spin_credit = usec_min(e->spin_credit, SPIN_CREDIT_MAX * SPIN_SHARE);
    if (e->spin_credit <= 0 || e->spin_credit == SPIN_CREDIT_MAX * SPIN_SHARE)
        e->may_spin = e->spin_credit > 0;
    e->spinning = false;
    e->now = now;
    return now;
}

// Reads one packet and pushes it into its link; returns false if the device has none. The packet is
// stamped with a clock that is read after the packet. With a clock read before it, a packet that
// arrives while this process is delayed would leave too early. Events that are due before the stamp
// run first, so that the packet meets the queue of its own instant.
static bool read_one(struct direction *way)
{
    struct emulator *e = way->emulator;
    struct packet *p = packet_new(&way->pool);
    uint8_t *data = p ? p->data : e->scratch;
    ssize_t n = read(way->in, data, e->mtu + EMULATOR_SLACK);
    if (n > 0 && (size_t)n <= e->mtu) {
        advance(e, read_clock(e));
        enter(way, p, data, (size_t)n, e->now);
        return true;
    }
    packet_free(p);
    if (n > 0) {
        // A rate and a loss per packet are meaningless if one packet represents many.
        log_error("a packet longer than the MTU of %u came from the device of %s: it was not "
                  "segmented, or the MTU was changed (try 'ip link set DEV mtu %u gso_max_segs 1' "
                  "or 'ethtool -K DEV tso off gso off')",
                  e->mtu, way->in == e->tun[0] ? "A" : "B", e->mtu);
        e->failed = ERR_TOO_BIG;
    } else if (n < 0 && errno != EAGAIN && errno != EINTR && errno != EIO) {
        fail(e, "cannot read from a device");
    }
    return false;
}

static void wake_up(struct emulator *e, const struct epoll_event *events, int count)
{
    advance(e, read_clock(e));
    for (int i = 0; i < count; i++) {
        if (events[i].data.fd == e->signals)
            e->stopping = true;
        else if (events[i].data.fd == e->timer)
            e->armed_for = 0; // arm() sets the timer again, which also makes it unreadable
        else
            for (int n = 0; n < BATCH && !e->failed; n++)
                if (!read_one(&e->ways[events[i].data.fd == e->tun[1]]))
                    break;
    }
    if (e->now >= e->end)
        e->stopping = true;
}

int emulator_run(struct emulator *e)
{
    while (!e->stopping && !e->failed) {
        struct epoll_event events[4];
        int n = epoll_wait(e->epoll, events, 4, wait_for_next(e));
        if (n < 0 && errno != EINTR)
            fail(e, "cannot wait for events");
        wake_up(e, events, n < 0 ? 0 : n);
    }
    report_all(e, usec_min(clock_now(), e->end));
    return e->failed;
}
