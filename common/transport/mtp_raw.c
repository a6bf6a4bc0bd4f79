// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/transport/mtp_raw.h"

#include <assert.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/mtp/mtp_flow.h"
#include "common/net/random.h"
#include "common/net/raw_tcp.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"

enum { V4, V6, FAMILIES, BUCKETS = 256 };

struct family {
    struct mtp_raw *server;
    struct raw_tcp *raw; // owned; NULL: this address family is not served
};

struct mtp_raw_link {
    struct mtp_raw *server;
    const struct mtp_raw_link_ops *ops; // static; NULL once the owner closed it
    void *ctx;                          // borrowed
    struct timer *timer;                // owned
    usec_t armed;                       // no later than needed
    uint64_t token;
    uint64_t id;
    struct raw_tcp *raw; // borrowed; NULL: waits for its hello
    bool over;           // true after on_end was called
    struct mtp_tcp tcp;
    struct mtp_raw_link *next; // of its list
};

struct mtp_raw {
    uv_loop_t *loop; // borrowed
    struct family family[FAMILIES];
    struct siphash_key secret;
    struct mtp_raw_link *waiting; // owned
    // Connected links, by the viewer's address and port. Owned.
    struct mtp_raw_link *links[BUCKETS];
};

// ---- Lists

// Viewers behind one NAT differ in the port; viewers with the same port differ in the address.
static struct mtp_raw_link **bucket_of(struct mtp_raw *r, const struct tcp_endpoint *viewer,
                                       bool v6)
{
    unsigned hash = viewer->port ^ viewer->port >> 8U ^ viewer->address[v6 ? 15 : 3];
    return &r->links[hash % BUCKETS];
}

static void unlink_from(struct mtp_raw_link **list, const struct mtp_raw_link *link)
{
    while (*list != link)
        list = &(*list)->next;
    *list = link->next;
}

static void insert(struct mtp_raw_link **list, struct mtp_raw_link *link)
{
    link->next = *list;
    *list = link;
}

static struct mtp_raw_link **list_of(struct mtp_raw_link *link)
{
    return link->raw ? bucket_of(link->server, &link->tcp.path.destination, link->tcp.path.v6)
                     : &link->server->waiting;
}

static void destroy(struct mtp_raw_link *link)
{
    unlink_from(list_of(link), link);
    timer_free(link->timer);
    if (link->raw)
        mtp_tcp_destroy(&link->tcp);
    free(link);
}

// ---- A link

static void send_segments(struct mtp_raw_link *link, usec_t now)
{
    struct tcp_segment s;
    while (mtp_tcp_pull(&link->tcp, &s, now))
        raw_tcp_send(link->raw, &s);
}

static void end(struct mtp_raw_link *link, usec_t now)
{
    if (link->over)
        return;
    link->over = true;
    if (link->ops)
        link->ops->on_end(link->ctx, now);
}

// Call after each event. The link may be freed if it has no owner.
static void settle(struct mtp_raw_link *link, usec_t now)
{
    send_segments(link, now);
    usec_t when = mtp_tcp_next_timeout(&link->tcp);
    if (link->tcp.state != MTP_TCP_CLOSED) {
        if (when < link->armed) { // Each segment postpones the keep-alive; this avoids a system
                                  // call per segment.
            link->armed = when;
            timer_set(link->timer, when);
        }
    } else if (link->ops) {
        end(link, now);
    } else {
        destroy(link);
    }
}

static void on_timer(void *ctx, usec_t now)
{
    struct mtp_raw_link *link = ctx;
    struct raw_tcp *raw = link->raw;
    link->armed = USEC_NEVER;
    if (mtp_tcp_next_timeout(&link->tcp) <= now)
        mtp_tcp_timeout(&link->tcp, now);
    settle(link, now);
    raw_tcp_flush(raw);
}

static void on_link_segment(struct mtp_raw_link *link, const struct tcp_segment *s, usec_t now)
{
    struct mtp_ack ack;
    unsigned news = mtp_tcp_input(&link->tcp, s, &ack, now);
    if (news & MTP_TCP_ACKED && link->ops)
        link->ops->on_ack(link->ctx, &ack, now);
    if (news & MTP_TCP_FINISHED) {
        mtp_tcp_close(&link->tcp, now);
        end(link, now);
    }
    settle(link, now);
}

// ---- The port

static struct mtp_raw_link *find(struct mtp_raw *r, const struct tcp_segment *s)
{
    struct tcp_path path = tcp_path_reversed(&s->path);
    struct mtp_raw_link *link = *bucket_of(r, &path.destination, path.v6);
    while (link && !tcp_path_same(&path, &link->tcp.path))
        link = link->next;
    return link;
}

static void accept_hello(struct family *f, const struct mtp_tcp_accepted *a, usec_t now)
{
    struct mtp_raw *r = f->server;
    struct mtp_raw_link *link = r->waiting;
    while (link && link->id != a->id)
        link = link->next;
    if (!link || a->slot_bytes != MTP_TCP_DATA)
        return;
    struct mtp_tcp_config config = {.secret = r->secret,
                                    .token = link->token,
                                    .slot_bytes = MTP_TCP_DATA,
                                    .window = MTP_FLOW_WINDOW};
    if (mtp_tcp_accept(&link->tcp, &config, a, now) != 0)
        return;
    unlink_from(&r->waiting, link);
    link->raw = f->raw;
    insert(list_of(link), link);
    send_segments(link, now); // sends the hello's acknowledgement before data
    link->ops->on_open(link->ctx, (link->tcp.edge - 1) / MTP_TCP_DATA, now);
    settle(link, now);
}

static void on_segment(void *ctx, const struct tcp_segment *s, usec_t now)
{
    struct family *f = ctx;
    struct mtp_raw_link *link = find(f->server, s);
    if (link) {
        on_link_segment(link, s, now);
        return;
    }
    struct tcp_segment reply;
    struct mtp_tcp_accepted a;
    switch (mtp_tcp_listen(&f->server->secret, s, &reply, &a, now)) {
    case MTP_TCP_REPLY:
        raw_tcp_send(f->raw, &reply);
        break;
    case MTP_TCP_ACCEPT:
        accept_hello(f, &a, now);
        break;
    case MTP_TCP_IGNORE:
        break;
    }
}

// Each segment was processed when it arrived; the socket's own flush sends the resulting packets.
static void on_idle(void *ctx, usec_t now)
{
    (void)ctx;
    (void)now;
}

static int open_family(struct mtp_raw *r, int which, const struct sockaddr *at)
{
    struct family *f = &r->family[which];
    f->server = r;
    return raw_tcp_open(r->loop, at, on_segment, on_idle, f, &f->raw);
}

static bool is_wildcard(const struct sockaddr *at)
{
    struct sockaddr_in6 v6;
    if (at->sa_family != AF_INET6)
        return false;
    memcpy(&v6, at, sizeof(v6));
    return IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr);
}

struct mtp_raw *mtp_raw_new(uv_loop_t *loop, const struct sockaddr *at)
{
    struct mtp_raw *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->loop = loop;
    int which = at->sa_family == AF_INET6 ? V6 : V4;
    if (!random_fill(&r->secret, sizeof(r->secret)) || open_family(r, which, at) != 0) {
        free(r);
        return NULL;
    }
    if (is_wildcard(at)) {
        struct sockaddr_in v4 = {.sin_family = AF_INET};
        sockaddr_set_port((struct sockaddr *)&v4, raw_tcp_port(r->family[V6].raw));
        (void)open_family(r, V4, (struct sockaddr *)&v4); // otherwise IPv6 only
    }
    return r;
}

void mtp_raw_free(struct mtp_raw *r)
{
    if (!r)
        return;
    assert(!r->waiting);
    for (int i = 0; i < BUCKETS; i++)
        while (r->links[i])
            destroy(r->links[i]);
    for (int i = 0; i < FAMILIES; i++)
        raw_tcp_free(r->family[i].raw);
    free(r);
}

int mtp_raw_port(const struct mtp_raw *r, const struct sockaddr *local)
{
    struct sockaddr_in6 v6;
    bool is_v6 = local->sa_family == AF_INET6;
    if (is_v6) { // a mapped address represents an IPv4 address
        memcpy(&v6, local, sizeof(v6));
        is_v6 = !IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr);
    }
    const struct raw_tcp *raw = r ? r->family[is_v6 ? V6 : V4].raw : NULL;
    return raw ? raw_tcp_port(raw) : 0;
}

// ---- The owner's side of a link

struct mtp_raw_link *mtp_raw_link_new(struct mtp_raw *r, uint64_t token,
                                      const struct mtp_raw_link_ops *ops, void *ctx)
{
    struct mtp_raw_link *link = calloc(1, sizeof(*link));
    if (!link)
        return NULL;
    struct siphash_key key = mtp_tcp_key(token);
    link->server = r;
    link->ops = ops;
    link->ctx = ctx;
    link->token = token;
    link->id = mtp_tcp_id(&key);
    link->armed = USEC_NEVER;
    link->timer = timer_new(r->loop, on_timer, link);
    if (!link->timer) {
        free(link);
        return NULL;
    }
    insert(&r->waiting, link);
    return link;
}

void mtp_raw_link_close(struct mtp_raw_link *link, usec_t now)
{
    struct raw_tcp *raw = link->raw;
    link->ops = NULL;
    if (!raw) {
        destroy(link);
        return;
    }
    mtp_tcp_close(&link->tcp, now);
    settle(link, now);
    raw_tcp_flush(raw);
}

bool mtp_raw_link_is_open(const struct mtp_raw_link *link)
{
    return link->raw && !link->over;
}

uint64_t mtp_raw_link_strangers(const struct mtp_raw_link *link)
{
    return link->tcp.counts.strangers;
}

bool mtp_raw_link_has_ecn(const struct mtp_raw_link *link)
{
    return link->raw && link->tcp.ecn;
}

void mtp_raw_link_send(struct mtp_raw_link *link, int64_t slot, const uint8_t *record, size_t len,
                       bool ect, bool cwr, usec_t now)
{
    if (!mtp_raw_link_is_open(link) || mtp_tcp_send(&link->tcp, slot, record, len) != 0)
        return;
    mtp_tcp_mark(&link->tcp, ect, cwr);
    send_segments(link, now);
}

void mtp_raw_link_flush(struct mtp_raw_link *link)
{
    if (link->raw)
        raw_tcp_flush(link->raw);
}
