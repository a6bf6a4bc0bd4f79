// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/log_stderr.h"
#include "common/net/own_addresses.h"
#include "common/net/random.h"
#include "common/net/tcp_listener.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"
#include "server/http/peer_key.h"
#include "server/policy/login_failures.h"
#include "server/policy/places.h"
#include "server/rtsp/connection_accepted.h"
#include "server/still/still_maker.h"

enum { REFUSED = 16 }; // max refused viewers whose request is awaited; of one address a quarter

struct server {
    uv_loop_t *loop;               // borrowed
    struct tcp_listener *listener; // owned
    struct server_config config;
    struct still_maker *stills;    // owned
    struct still_maker *films;     // owned; small pictures
    struct http_content *content;  // borrowed; NULL: none
    struct timer *second;          // owned; the deadline of stopping
    void (*on_stopped)(void *ctx); // NULL: the server is not stopping
    void *stop_ctx;                // borrowed
    struct places places;
    struct place_key *place_keys;             // owned
    struct connection_accepted **connections; // owned, like its elements; the index is the place
    // Viewers that have no place, whose request is awaited: the same.
    struct places refused_places;
    struct place_key refused_keys[REFUSED];
    struct connection_accepted *refused[REFUSED];
    struct login_failures *failures; // owned; wrong secrets of re-attachments
};

// Frees the place of a connection, or of one that was not made (NULL).
static void leave(struct places *places, struct connection_accepted **connections,
                  struct connection_accepted *c)
{
    int i = 0;
    while (connections[i] != c)
        i++;
    connections[i] = connections[places->count - 1];
    places_leave(places, i);
    connection_accepted_free(c, clock_now());
}

static void on_refused_end(void *ctx, struct connection_accepted *c)
{
    struct server *s = ctx;
    leave(&s->refused_places, s->refused, c);
}

static void on_end(void *ctx, struct connection_accepted *c)
{
    struct server *s = ctx;
    leave(&s->places, s->connections, c);
    if (!s->places.count && s->on_stopped)
        s->on_stopped(s->stop_ctx);
}

// ---- Another connection for a session

// Returns the place of the connection that has this session; -1: none has.
static int place_of(const struct server *s, struct text id)
{
    int i = s->places.count - 1;
    while (i >= 0 && !connection_accepted_has_session(s->connections[i], id))
        i--;
    return i;
}

// An address that guesses has an attempt each LOGIN_DELAY, over however many connections.
static int attach(void *ctx, struct connection_accepted *c, struct text id, struct text secret,
                  usec_t now)
{
    struct server *s = ctx;
    struct place_key address = peer_key(connection_accepted_peer(c));
    if (login_failures_turn(s->failures, address, now, now) != now)
        return 503;
    int i = place_of(s, id);
    int status =
        i < 0 ? 454 : connection_accepted_check_attach(s->connections[i], c, id, secret, now);
    if (status == 454)
        login_failures_add(s->failures, address, now);
    return status;
}

// The session's connection takes the place of the one whose socket it takes.
static void on_attached(void *ctx, struct connection_accepted *c, struct text id, usec_t now)
{
    struct server *s = ctx;
    int to = place_of(s, id), from = 0;
    while (s->connections[from] != c)
        from++;
    if (to >= 0) { // it has not ended meanwhile
        connection_accepted_take(s->connections[to], c, now);
        s->connections[from] = s->connections[to];
        s->connections[to] = c;
    }
    on_end(s, c);
}

// Makes a connection for the place that was taken last.
static void accept_at(struct server *s, struct places *places,
                      struct connection_accepted **connections, int fd, const char *refusal,
                      usec_t now)
{
    struct connection_accepted_config config = {.loop = s->loop,
                                                .catalog = s->config.catalog,
                                                .raw = s->config.raw,
                                                .access = s->config.access,
                                                .srtp = s->config.srtp,
                                                .stills = s->stills,
                                                .films = s->films,
                                                .content = &s->content,
                                                .program = s->config.program,
                                                .credentials = s->config.credentials,
                                                .origins = &s->config.origins,
                                                .on_end = *refusal ? on_refused_end : on_end,
                                                .attach = attach,
                                                .on_attached = on_attached,
                                                .ctx = s};
    snprintf(config.refusal, sizeof(config.refusal), "%s", refusal);
    struct connection_accepted *c = connection_accepted_new(fd, &config, now);
    connections[places->count - 1] = c;
    if (!c)
        leave(places, connections, NULL);
}

// Where viewers may speak TLS, a plain answer would say nothing to those that do: for a few the
// server waits for their request. `err` is an error of places_take.
static void refuse(struct server *s, int fd, const struct sockaddr *peer, int err, usec_t now)
{
    bool trusted = trusted_proxies_has(&s->config.proxies, peer);
    int each = trusted ? s->places.trusted_each : s->places.each;
    char why[CONNECTION_REFUSAL_TEXT] = "the server is full";
    char answer[512];
    char name[SOCKADDR_TEXT];
    if (err == ERR_RANGE)
        snprintf(why, sizeof(why),
                 "too many connections from your address: %d of %d are allowed (close some)", each,
                 s->places.total);
    int len = snprintf(answer, sizeof(answer),
                       "RTSP/1.0 503 Service Unavailable\r\nCSeq: 0\r\nConnection: close\r\n"
                       "Content-Type: text/plain\r\nContent-Length: %zu\r\n\r\n%s\r\n",
                       strlen(why) + 2, why);
    if (s->config.credentials && places_take(&s->refused_places, peer_key(peer), false) == 0) {
        accept_at(s, &s->refused_places, s->refused, fd, why, now);
    } else {
        if (write(fd, answer, (size_t)len) < 0)
            log_debug("a refused viewer had already disconnected");
        close(fd);
    }
    sockaddr_text(peer, name, sizeof(name));
    if (err == ERR_RANGE)
        log_of(LOG_WARN, "viewer", name,
               "a viewer was refused: %s: its address has %d connections, the limit "
               "(an address may have a quarter of --max-viewers, at least %d; that of "
               "--trust-proxy three quarters)",
               name, each, PLACES_EACH_MIN);
    else
        log_of(LOG_WARN, "viewer", name,
               "a viewer was refused: %s: %d are connected, the limit "
               "(--max-viewers)",
               name, s->places.count);
}

static void on_accepted(void *ctx, int fd, const struct sockaddr *peer, usec_t now)
{
    struct server *s = ctx;
    bool trusted = trusted_proxies_has(&s->config.proxies, peer);
    int err = places_take(&s->places, trusted ? peer_key_alone(peer) : peer_key(peer), trusted);
    if (err)
        refuse(s, fd, peer, err, now);
    else
        accept_at(s, &s->places, s->connections, fd, "", now);
}

static void on_second(void *ctx, usec_t now)
{
    struct server *s = ctx;
    if (s->on_stopped) {
        s->on_stopped(s->stop_ctx);
        return;
    }
    timer_set(s->second, now + USEC_PER_SEC);
    log_stderr_tick(now);
    stats_outputs_collect(s->config.telemetry, now);
    // Iterates backwards: a connection that ends is replaced by the last one, which was already
    // visited.
    for (int i = s->places.count - 1; i >= 0; i--)
        connection_accepted_second(s->connections[i], now);
    for (int i = s->refused_places.count - 1; i >= 0; i--)
        connection_accepted_second(s->refused[i], now);
}

// Serves the control interface.
static int on_control(void *ctx, const struct control_request *r, usec_t now)
{
    const struct server *s = ctx;
    int err = ERR_NOT_FOUND;
    for (int i = 0; i < s->places.count && err == ERR_NOT_FOUND; i++)
        err = connection_accepted_control(s->connections[i], r, now);
    return err;
}

// Tells the page of --metrics where viewers find the server.
static void locate(struct server *s)
{
    const struct sockaddr *listen = (const struct sockaddr *)&s->config.listen;
    char bound[SOCKADDR_TEXT];
    struct sockaddr_storage at;
    struct stats_place place = {.encrypted = s->config.credentials != NULL,
                                .keys = s->config.access != NULL};
    server_address(s, bound, sizeof(bound));
    if (sockaddr_parse(bound, &at) != 0)
        return;
    place.port = sockaddr_port((struct sockaddr *)&at);
    char *colon = strrchr(bound, ':');
    if (colon && !address_is_any(listen))
        snprintf(place.host, sizeof(place.host), "%.*s", (int)(colon - bound), bound);
    stats_outputs_locate(s->config.telemetry, &place);
}

struct server *server_new(uv_loop_t *loop, const struct server_config *config)
{
    struct server *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->loop = loop;
    s->config = *config;
    s->connections = calloc((size_t)config->max_viewers, sizeof(struct connection_accepted *));
    s->place_keys = calloc((size_t)config->max_viewers, sizeof(struct place_key));
    s->failures = malloc(sizeof(*s->failures));
    struct siphash_key key;
    if (!s->connections || !s->place_keys || !s->failures || !random_fill(&key, sizeof(key)))
        goto free_server;
    login_failures_init(s->failures, key);
    places_init(&s->places, config->max_viewers, s->place_keys);
    places_init(&s->refused_places, REFUSED, s->refused_keys);
    s->second = timer_new(loop, on_second, s);
    if (!s->second)
        goto free_server;
    s->stills = still_maker_new(loop, &still_newest);
    s->films = still_maker_new(loop, &still_film);
    if (!s->stills || !s->films)
        goto free_stills;
    struct tcp_listener_config listener = {.loop = loop,
                                           .at = (const struct sockaddr *)&config->listen,
                                           .option = "--listen",
                                           .whom = "a viewer",
                                           .on_accepted = on_accepted,
                                           .ctx = s};
    s->listener = tcp_listener_new(&listener);
    if (!s->listener)
        goto free_stills;
    timer_set(s->second, clock_now() + USEC_PER_SEC);
    locate(s);
    stats_outputs_attach(config->telemetry, on_control, s);
    return s;

free_stills:
    still_maker_free(s->films);
    still_maker_free(s->stills);
    timer_free(s->second);
free_server:
    free(s->failures);
    free(s->place_keys);
    free(s->connections);
    free(s);
    return NULL;
}

int server_set_max_viewers(struct server *s, int max_viewers)
{
    size_t room = (size_t)(max_viewers > s->places.count ? max_viewers : s->places.count);
    struct connection_accepted **connections = realloc(s->connections, room * sizeof(*connections));
    if (connections)
        s->connections = connections;
    struct place_key *keys = realloc(s->place_keys, room * sizeof(*keys));
    if (keys)
        s->place_keys = keys;
    if (!connections || !keys) {
        s->places.keys = s->place_keys;
        return ERR_NO_MEMORY;
    }
    places_resize(&s->places, max_viewers, keys);
    return 0;
}

void server_set_content(struct server *s, struct http_content *content)
{
    s->content = content;
}

void server_wake(struct server *s, usec_t now)
{
    for (int i = s->places.count - 1; i >= 0; i--)
        connection_accepted_wake(s->connections[i], now);
}

void server_stop(struct server *s, void (*on_stopped)(void *ctx), void *ctx)
{
    usec_t now = clock_now();
    tcp_listener_stop(s->listener);
    for (int i = 0; i < s->places.count; i++)
        connection_accepted_finish(s->connections[i], now);
    s->on_stopped = on_stopped;
    s->stop_ctx = ctx;
    timer_set(s->second, s->places.count ? now + SERVER_STOP_TIME : now);
}

void server_free(struct server *s)
{
    if (!s)
        return;
    usec_t now = clock_now();
    for (int i = 0; i < s->places.count; i++)
        connection_accepted_free(s->connections[i], now);
    for (int i = 0; i < s->refused_places.count; i++)
        connection_accepted_free(s->refused[i], now);
    still_maker_free(s->films);
    still_maker_free(s->stills);
    timer_free(s->second);
    stats_outputs_attach(s->config.telemetry, NULL, NULL);
    tcp_listener_free(s->listener);
    free(s->failures);
    free(s->place_keys);
    free(s->connections);
    free(s);
}

void server_address(const struct server *s, char *out, size_t cap)
{
    tcp_listener_address(s->listener, out, cap);
}
