// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/catalog/origin_catalog.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/rtsp/rtsp_link.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "proxy/feed/upstream.h"
#include "server/policy/catalog_path.h"

#define DESCRIBE_LIMIT (7 * USEC_PER_SEC) // viewers wait 8 s for a response
// Third parties stop a stream's pipeline with the connection that has described it, unless another
// one has joined. So it stays open until the viewer's own session with the origin stands.
#define KEEP_LINK (2 * USEC_PER_SEC)
// A film that no viewer holds stays while its media has a session with the origin (relay_media.h).
#define LINGER_CHECK (250 * USEC_PER_MSEC)

enum film_state { FILM_DESCRIBING, FILM_OPEN, FILM_REFUSED };

struct film {
    struct film *next;
    struct origin_catalog *catalog;  // borrowed
    char path[CATALOG_URL_PATH_MAX]; // of the first request, with its query
    char received[CATALOG_VIA_MAX];  // its Via header
    char via[VIA_MAX];               // towards the origin
    struct url url;
    enum film_state state;
    struct rtsp_link *link; // owned; while it is described, and shortly after
    struct timer *timer;    // owned; the limit, the end of the description, the end of the link
    bool is_over;           // the link has ended
    bool is_described;      // `sdp` is valid
    struct sdp sdp;
    struct media_refusal refusal;
    struct catalog_hold *holds;
    struct stream stream; // FILM_OPEN
};

struct origin_catalog {
    struct catalog base; // first
    struct origin_catalog_config config;
    int film_count;
    struct film *films; // owned
};

// ---- Holds

static void hold_film(struct catalog_hold *h, struct film *f)
{
    h->film = f;
    h->next = f->holds;
    f->holds = h;
}

static void close_film(struct film *f)
{
    struct origin_catalog *s = f->catalog;
    struct film **at = &s->films;
    assert(!f->holds);
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    s->film_count--;
    rtsp_link_free(f->link);
    timer_free(f->timer);
    if (f->state == FILM_OPEN) {
        stream_close_stats(&f->stream);
        stream_destroy(&f->stream);
    }
    free(f);
}

static void origin_leave(struct catalog *c, struct catalog_hold *h)
{
    (void)c;
    struct film *f = h->film;
    if (!f)
        return;
    struct catalog_hold **at = &f->holds;
    while (*at != h)
        at = &(*at)->next;
    *at = h->next;
    h->film = NULL;
    if (f->holds)
        return;
    if (f->state == FILM_OPEN && relay_media_is_open(f->stream.media))
        timer_set(f->timer, clock_now() + LINGER_CHECK);
    else
        close_film(f);
}

// Makes room for another film: closes one that has no viewers.
static void close_idle(struct origin_catalog *s)
{
    struct film *f = s->films;
    while (f && f->holds)
        f = f->next;
    if (f)
        close_film(f);
}

// ---- The description

static void refuse_film(struct film *f, int status, const char *text)
{
    f->state = FILM_REFUSED;
    f->refusal.status = status;
    snprintf(f->refusal.text, sizeof(f->refusal.text), "%s", text);
}

static void open_film(struct film *f)
{
    const struct origin_catalog_config *config = &f->catalog->config;
    struct stream_media *media;
    struct relay_media_config of = {
        .choices = config->choices, .url = &f->url, .sdp = &f->sdp, .via = f->via};
    int err = relay_media_new(&of, &media);
    if (err == ERR_MALFORMED)
        refuse_film(f, 502, "origin: its description has no levels");
    else if (err == ERR_UNSUPPORTED)
        refuse_film(f, 415, "the stream has no frames, which is all that a proxy passes on");
    else if (err)
        refuse_film(f, 503, err_text(err));
    if (err)
        return;
    stream_init(&f->stream, media, NULL);
    f->stream.viewer_timeout = config->viewer_timeout;
    f->stream.max_viewers = config->max_viewers;
    f->stream.transports = config->transports;
    f->stream.only_these = config->only_these;
    f->stream.queue = config->queue;
    f->stream.queue_bytes = config->queue_bytes;
    f->stream.book = &f->catalog->base.book;
    f->state = FILM_OPEN;
    log_info("%s is described: %s", f->path, f->url.text);
}

// The film is open: its description's link ends, and then, without viewers, the film.
static void on_open_timer(struct film *f, usec_t now)
{
    rtsp_link_free(f->link);
    f->link = NULL;
    if (f->holds)
        return;
    if (relay_media_is_open(f->stream.media))
        timer_set(f->timer, now + LINGER_CHECK);
    else
        close_film(f);
}

// The description came, or will not: notifies the viewers that wait.
static void on_timer(void *ctx, usec_t now)
{
    struct film *f = ctx;
    if (f->state == FILM_OPEN) {
        on_open_timer(f, now);
        return;
    }
    if (f->is_described)
        open_film(f);
    else if (!f->is_over)
        refuse_film(f, 504, "origin: no answer in time");
    else
        f->state = FILM_REFUSED;
    if (f->state == FILM_OPEN)
        timer_set(f->timer, now + KEEP_LINK);
    if (f->state == FILM_REFUSED)
        log_info("%s is refused: %d %s", f->path, f->refusal.status, f->refusal.text);
    for (struct catalog_hold *h = f->holds; h; h = h->next)
        h->on_ready(h->ctx, now);
}

static void settle(struct film *f, usec_t now)
{
    f->is_over = true;
    timer_set(f->timer, now); // the link cannot be freed in its own call
}

static void on_connected(void *ctx, usec_t now)
{
    (void)ctx, (void)now;
}

// The description is all that is requested: no SETUP follows.
static bool on_described(void *ctx, const struct sdp *sdp, const char **why, usec_t now)
{
    struct film *f = ctx;
    f->sdp = *sdp;
    f->is_described = true;
    *why = "";
    settle(f, now);
    return false;
}

static void on_list(void *ctx, struct text list, usec_t now)
{
    (void)now;
    struct film *f = ctx;
    char text[sizeof(f->refusal.text)];
    text_copy(list, text, list.len < sizeof(text) ? list.len + 1 : sizeof(text));
    refuse_film(f, 300, text);
}

static void on_end(void *ctx, enum rtsp_client_end end, const char *text, usec_t now)
{
    struct film *f = ctx;
    if (!f->is_described && f->state != FILM_REFUSED)
        upstream_refusal(end, rtsp_link_status(f->link), text, &f->refusal);
    settle(f, now);
}

// No SETUP is sent, so these are not called.
static void on_setup(void *ctx, const struct rtsp_client_setup *setup, usec_t now)
{
    (void)ctx, (void)setup, (void)now;
}

static void on_nothing(void *ctx)
{
    (void)ctx;
}

static void on_start(void *ctx, struct rtsp_client_start *out)
{
    (void)ctx, (void)out;
}

static void on_event(void *ctx, usec_t now)
{
    (void)ctx, (void)now;
}

static void on_playing(void *ctx, const struct rtsp_client_place *place, usec_t now)
{
    (void)ctx, (void)place, (void)now;
}

static void on_answer(void *ctx, const struct rtsp_client_answer *a, usec_t now)
{
    (void)ctx, (void)a, (void)now;
}

static void on_level(void *ctx, int level, bool accepted, usec_t now)
{
    (void)ctx, (void)level, (void)accepted, (void)now;
}

static void on_packet(void *ctx, bool rtcp, const uint8_t *data, size_t len, usec_t arrived,
                      usec_t now)
{
    (void)ctx, (void)rtcp, (void)data, (void)len, (void)arrived, (void)now;
}

static void on_pair(void *ctx, const struct capacity_packet *p, size_t bytes, usec_t arrived,
                    usec_t now)
{
    (void)ctx, (void)p, (void)bytes, (void)arrived, (void)now;
}

static const struct rtsp_link_ops link_ops = {.rtsp = {.on_connected = on_connected,
                                                       .on_described = on_described,
                                                       .on_list = on_list,
                                                       .on_setup = on_setup,
                                                       .on_audio = on_nothing,
                                                       .on_start = on_start,
                                                       .on_ready = on_event,
                                                       .on_playing = on_playing,
                                                       .on_answer = on_answer,
                                                       .on_pair_refused = on_event,
                                                       .on_level = on_level,
                                                       .on_pause_refused = on_event,
                                                       .on_seek_refused = on_event,
                                                       .on_end = on_end},
                                              .on_packet = on_packet,
                                              .on_audio_packet = on_packet,
                                              .on_pair = on_pair};

// ---- Requests

static int refuse(struct catalog_hold *h, int status, const char *text)
{
    h->refusal.status = status;
    snprintf(h->refusal.text, sizeof(h->refusal.text), "%s", text);
    return CATALOG_REFUSED;
}

static int refuse_path(struct catalog_hold *h, const struct origin_rules *rules, int err)
{
    if (err == ERR_UNSUPPORTED)
        return refuse(h, 403,
                      "the proxy does not relay that host (--allow names those that it does)");
    return refuse(h, 404,
                  rules->has_origin ? "no such stream"
                                    : "no such stream: expected rtsp://PROXY/HOST[:PORT]/PATH");
}

static int describe_film(struct origin_catalog *s, const char *path, struct catalog_hold *h)
{
    usec_t now = clock_now();
    struct film *f = calloc(1, sizeof(*f));
    if (!f)
        return ERR_NO_MEMORY;
    f->catalog = s;
    int err = origin_url_of(s->config.rules, path, &f->url);
    if (err || strlen(path) >= sizeof(f->path)) {
        free(f);
        return refuse_path(h, s->config.rules, err);
    }
    err = via_append(h->via, s->config.name, f->via);
    if (err) {
        free(f);
        return refuse(h, 502,
                      err == ERR_AGAIN ? "loop: the request has passed this proxy already"
                                       : "loop: the request has passed too many proxies");
    }
    // Each connection holds one film at most, so no viewer can take those of others.
    if (s->film_count >= s->config.max_viewers)
        close_idle(s);
    if (s->film_count >= s->config.max_viewers) {
        free(f);
        return ERR_FULL;
    }
    snprintf(f->path, sizeof(f->path), "%s", path);
    snprintf(f->received, sizeof(f->received), "%s", h->via);
    struct rtsp_client_config rtsp = {.url = f->url,
                                      .transports = s->config.choices->backbone,
                                      .may_follow = origin_url_may_follow,
                                      .follow_ctx = s->config.rules,
                                      .via = f->via};
    struct rtsp_link_config link = {
        .loop = s->config.loop, .rtsp = &rtsp, .cc = "", .ops = &link_ops, .ctx = f};
    f->timer = timer_new(s->config.loop, on_timer, f);
    f->link = f->timer ? rtsp_link_new(&link, now) : NULL;
    if (!f->link) {
        timer_free(f->timer);
        free(f);
        return ERR_NO_MEMORY;
    }
    timer_set(f->timer, now + DESCRIBE_LIMIT);
    f->next = s->films;
    s->films = f;
    s->film_count++;
    hold_film(h, f);
    return CATALOG_WAITS;
}

// Returns true if a viewer who asks for `url` may have the film. One who asks through other proxies
// must not escape the check for loops.
static bool is_shared(const struct film *f, const struct url *url, const struct catalog_hold *h)
{
    return strcmp(f->received, h->via) == 0 && strcmp(f->url.text, url->text) == 0 &&
           f->state != FILM_REFUSED &&
           !(f->state == FILM_OPEN && relay_media_is_stale(f->stream.media));
}

static int origin_take(struct catalog *c, const char *url_path, struct catalog_hold *h, bool only,
                       struct stream **out)
{
    struct origin_catalog *s = (struct origin_catalog *)c;
    struct film *f = h->film;
    struct url url;
    bool is_url = origin_url_of(s->config.rules, url_path, &url) == 0;
    bool is_same = f && ((is_url && strcmp(f->url.text, url.text) == 0) ||
                         origin_url_is_same(f->path, url_path));
    if (f && !is_same) {
        if (only)
            return refuse(h, 404, "the session is of another stream");
        origin_leave(c, h);
    }
    for (f = s->films; f && !h->film && is_url; f = f->next)
        if (is_shared(f, &url, h))
            hold_film(h, f);
    f = h->film;
    if (!f)
        return describe_film(s, url_path, h);
    if (f->state == FILM_DESCRIBING)
        return CATALOG_WAITS;
    if (f->state == FILM_OPEN) {
        *out = &f->stream;
        return 0;
    }
    int result = refuse(h, f->refusal.status, f->refusal.text);
    origin_leave(c, h);
    return result;
}

// ---- Stats and life

static void origin_stats(struct catalog *c, struct stats *out, session_stats_fn *each, void *ctx,
                         usec_t now)
{
    struct origin_catalog *s = (struct origin_catalog *)c;
    const struct origin_rules *rules = s->config.rules;
    utf8_copy(rules->has_origin ? rules->origin.text : "origins", out->source, sizeof(out->source));
    catalog_begin_stats(c, out);
    for (struct film *f = s->films; f; f = f->next)
        if (f->state == FILM_OPEN)
            stream_collect_stats(&f->stream, f->path, out, each, ctx, now);
}

static void origin_free(struct catalog *c)
{
    struct origin_catalog *s = (struct origin_catalog *)c;
    while (s->films)
        close_film(s->films);
    free(s);
}

struct catalog *origin_catalog_new(const struct origin_catalog_config *config)
{
    static const struct catalog_ops ops = {
        .take = origin_take, .leave = origin_leave, .stats = origin_stats, .free = origin_free};
    struct origin_catalog *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->base.ops = &ops;
    s->config = *config;
    return &s->base;
}
