// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/http/http_server.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/tcp_listener.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"
#include "server/http/http_connection.h"
#include "server/http/message/http_forwarded.h"
#include "server/http/peer_key.h"

#define TICK (USEC_PER_SEC / 4)

struct place {                          // of a connection
    struct http_connection *connection; // owned
    struct place_key peer;
    bool is_trusted;
    struct place_key client; // of a trusted peer: for whom its last request that waited was
};

struct http_server {
    struct http_server_config config;
    uv_loop_t loop;
    pthread_t thread;
    struct tcp_listener *listener; // owned
    uv_async_t async;
    struct timer *tick; // owned
    char address[SOCKADDR_TEXT], whom[48];
    struct places places;
    struct places waits;           // its limits; the places are those of connections
    struct place_key *place_keys;  // owned
    struct place *connections;     // owned; the index is the place
    struct http_connection **away; // owned; those that are being turned away
    int away_count, away_max;
    pthread_mutex_t lock; // guards the members below
    bool stops, wakes;
    struct http_counts counts;
};

// ---- Places

static int find(const struct http_server *s, const struct http_connection *c)
{
    for (int i = 0; i < s->places.count; i++)
        if (s->connections[i].connection == c)
            return i;
    return -1;
}

static bool is_same(struct place_key a, struct place_key b)
{
    return a.high == b.high && a.low == b.low;
}

static void count_waiting(struct http_server *s)
{
    int waiting = 0;
    for (int i = 0; i < s->places.count; i++)
        waiting += http_connection_waits(s->connections[i].connection);
    pthread_mutex_lock(&s->lock);
    s->counts.connections = s->places.count;
    s->counts.waiting = waiting;
    pthread_mutex_unlock(&s->lock);
}

// Returns the address for which a trusted proxy sends the request; its own if it does not say. All
// whose address cannot be read count as one.
static struct place_key client_of(const struct place *p, const struct http_request *r)
{
    static const struct place_key unknown = {0};
    char text[HTTP_FORWARDED_TEXT];
    struct trusted_proxies client = {0};
    int err = p->is_trusted ? http_forwarded_client(r, text) : ERR_NOT_FOUND;
    if (err == ERR_NOT_FOUND)
        return p->peer;
    if (err || trusted_proxies_read(&client, text))
        return unknown;
    return peer_key((const struct sockaddr *)&client.addresses[0]);
}

static bool may_wait(void *ctx, const struct http_connection *c, const struct http_request *r)
{
    struct http_server *s = ctx;
    int own = find(s, c), all = 0, of_peer = 0, of_client = 0;
    if (own < 0)
        return false;
    struct place *p = &s->connections[own];
    p->client = client_of(p, r);
    for (int i = 0; i < s->places.count; i++) {
        const struct place *other = &s->connections[i];
        if (i == own || !http_connection_waits(other->connection))
            continue;
        all++;
        of_peer += is_same(other->peer, p->peer);
        of_client += is_same(other->client, p->client);
    }
    bool is_named = !is_same(p->client, p->peer);
    return all < s->waits.total && (!is_named || of_client < s->waits.each) &&
           of_peer < (p->is_trusted ? s->waits.trusted_each : s->waits.each);
}

static void on_served(void *ctx, size_t bytes)
{
    struct http_server *s = ctx;
    pthread_mutex_lock(&s->lock);
    s->counts.requests++;
    s->counts.sent_bytes += bytes;
    pthread_mutex_unlock(&s->lock);
}

static void on_end(void *ctx, struct http_connection *c)
{
    struct http_server *s = ctx;
    int i = find(s, c);
    assert(i >= 0);
    s->connections[i] = s->connections[s->places.count - 1];
    places_leave(&s->places, i);
    http_connection_free(c);
    count_waiting(s);
}

static void on_away_end(void *ctx, struct http_connection *c)
{
    struct http_server *s = ctx;
    int i = 0;
    while (s->away[i] != c)
        i++;
    s->away[i] = s->away[--s->away_count];
    http_connection_free(c);
}

// ---- Accepting

static struct http_connection *open_connection(struct http_server *s, int fd,
                                               void (*end)(void *ctx, struct http_connection *c),
                                               usec_t now)
{
    struct http_connection_config config = {.loop = &s->loop,
                                            .ops = s->config.ops,
                                            .handler = s->config.handler,
                                            .first = s->config.first,
                                            .idle = s->config.idle,
                                            .limit = s->config.limit,
                                            .may_wait = may_wait,
                                            .on_served = on_served,
                                            .on_end = end,
                                            .ctx = s};
    return http_connection_new(fd, &config, now);
}

// One that has no place is answered nevertheless, and kept for a moment: closed at once, it might
// be reset before its peer has read the response.
static void turn_away(struct http_server *s, int fd, usec_t now)
{
    if (s->away_count == s->away_max) {
        struct http_response r = {0};
        s->config.ops->refuse(s->config.handler, NULL, 503, &r);
        http_head_end(&r.head, 0, true);
        (void)!send(fd, r.head.text, r.head.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        http_body_unref(r.body);
        close(fd);
        return;
    }
    struct http_connection *c = open_connection(s, fd, on_away_end, now);
    if (!c)
        return;
    s->away[s->away_count++] = c;
    http_connection_turn_away(c, now);
}

static void on_accepted(void *ctx, int fd, const struct sockaddr *peer, usec_t now)
{
    struct http_server *s = ctx;
    bool trusted = trusted_proxies_has(&s->config.proxies, peer);
    struct place_key key = trusted ? peer_key_alone(peer) : peer_key(peer);
    if (places_take(&s->places, key, trusted) != 0) {
        turn_away(s, fd, now);
        return;
    }
    int place = s->places.count - 1;
    s->connections[place] = (struct place){open_connection(s, fd, on_end, now), key, trusted, key};
    if (!s->connections[place].connection)
        places_leave(&s->places, place);
    count_waiting(s);
}

// ---- The thread

static void on_tick(void *ctx, usec_t now)
{
    struct http_server *s = ctx;
    for (int i = 0; i < s->places.count; i++)
        http_connection_tick(s->connections[i].connection, now);
    for (int i = 0; i < s->away_count; i++)
        http_connection_tick(s->away[i], now);
    count_waiting(s);
    timer_set(s->tick, now + TICK);
}

static void on_closed(uv_handle_t *handle)
{
    (void)handle;
}

static void close_all(struct http_server *s)
{
    for (int i = 0; i < s->places.count; i++)
        http_connection_free(s->connections[i].connection);
    for (int i = 0; i < s->away_count; i++)
        http_connection_free(s->away[i]);
    timer_free(s->tick);
    tcp_listener_free(s->listener);
    uv_close((uv_handle_t *)&s->async, on_closed);
}

static void on_async(uv_async_t *async)
{
    struct http_server *s = async->data;
    usec_t now = clock_now();
    pthread_mutex_lock(&s->lock);
    bool stops = s->stops, wakes = s->wakes;
    s->wakes = false;
    pthread_mutex_unlock(&s->lock);
    if (stops) {
        close_all(s);
        return;
    }
    for (int i = 0; i < s->places.count && wakes; i++)
        http_connection_wake(s->connections[i].connection, now);
    count_waiting(s);
}

static void *run(void *ctx)
{
    struct http_server *s = ctx;
    uv_run(&s->loop, UV_RUN_DEFAULT);
    return NULL;
}

static void signal_thread(struct http_server *s, bool stops)
{
    pthread_mutex_lock(&s->lock);
    s->stops |= stops;
    s->wakes = true;
    pthread_mutex_unlock(&s->lock);
    uv_async_send(&s->async);
}

void http_server_wake(struct http_server *s)
{
    signal_thread(s, false);
}

// ---- Life

static void free_memory(struct http_server *s)
{
    free(s->away);
    free(s->connections);
    free(s->place_keys);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

struct http_server *http_server_new(const struct http_server_config *config)
{
    struct http_server *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->config = *config;
    pthread_mutex_init(&s->lock, NULL);
    size_t connections = (size_t)config->connections;
    s->away_max = config->connections < 4 * HTTP_AWAY_MAX ? config->connections / 4 : HTTP_AWAY_MAX;
    s->place_keys = calloc(connections, sizeof(*s->place_keys));
    s->connections = calloc(connections, sizeof(*s->connections));
    s->away = calloc((size_t)s->away_max + 1, sizeof(struct http_connection *));
    if (!s->place_keys || !s->connections || !s->away)
        goto free_server;
    places_init(&s->places, config->connections, s->place_keys);
    s->places.each = config->from_one;
    places_init(&s->waits, config->waiting, NULL);
    if (uv_loop_init(&s->loop) != 0)
        goto free_server;
    if (uv_async_init(&s->loop, &s->async, on_async) != 0)
        goto close_loop;
    s->async.data = s;
    const struct tcp_listener_config listener = {.loop = &s->loop,
                                                 .at = config->at,
                                                 .option = config->option,
                                                 .whom = s->whom,
                                                 .on_accepted = on_accepted,
                                                 .ctx = s};
    snprintf(s->whom, sizeof(s->whom), "a connection of %s", config->option);
    s->listener = tcp_listener_new(&listener);
    if (!s->listener)
        goto close_async;
    tcp_listener_address(s->listener, s->address, sizeof(s->address));
    s->tick = timer_new(&s->loop, on_tick, s);
    if (!s->tick)
        goto close_listener;
    timer_set(s->tick, clock_now() + TICK);
    if (pthread_create(&s->thread, NULL, run, s) == 0)
        return s;
    log_error("cannot start the thread of the HTTP server of %s", config->option);
    timer_free(s->tick);
close_listener:
    tcp_listener_free(s->listener);
close_async:
    uv_close((uv_handle_t *)&s->async, on_closed);
    uv_run(&s->loop, UV_RUN_DEFAULT);
close_loop:
    uv_loop_close(&s->loop);
free_server:
    free_memory(s);
    return NULL;
}

void http_server_free(struct http_server *s)
{
    if (!s)
        return;
    signal_thread(s, true);
    pthread_join(s->thread, NULL);
    int err = uv_loop_close(&s->loop);
    assert(err == 0);
    (void)err;
    free_memory(s);
}

void http_server_counts(struct http_server *s, struct http_counts *out)
{
    pthread_mutex_lock(&s->lock);
    *out = s->counts;
    pthread_mutex_unlock(&s->lock);
}

void http_server_address(const struct http_server *s, char *out, size_t cap)
{
    snprintf(out, cap, "%s", s->address);
}
