// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/catalog/origin_still.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/rtsp/rtsp_link.h"
#include "common/base/err.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "proxy/policy/via.h"

struct origin_still {
    struct stream_media base; // first
    struct origin_stills *all;
    struct origin_still *next; // of `all->first`
    struct url url;
    char via[VIA_MAX];
    struct picture_taker *taker; // borrowed; NULL: no picture is being taken
    struct rtsp_link *link;      // owned; NULL: none yet
    struct timer *timer;         // owned; the limit, and the end of the link
    struct taken_picture taken;  // the result
    uint8_t *data;               // owned
    bool is_over;                // `taken` is the result
};

struct origin_stills {
    uv_loop_t *loop; // borrowed, as the next two
    const struct origin_rules *rules;
    const struct transport_list *transports; // of requests; no media comes
    struct origin_still *first;              // that are taken; the first ORIGIN_STILLS have links
};

// ---- The link

static void settle(struct origin_still *s, int err, usec_t now)
{
    if (s->is_over)
        return;
    s->is_over = true;
    s->taken = (struct taken_picture){.err = err};
    timer_set(s->timer, now); // the link cannot be freed in its own call
}

static void on_connected(void *ctx, usec_t now)
{
    (void)ctx, (void)now;
}

static void on_body(void *ctx, struct text body, int max_age, usec_t now)
{
    struct origin_still *s = ctx;
    bool is_jpeg = body.len > 3 && memcmp(body.at, "\xff\xd8\xff", 3) == 0;
    settle(s, is_jpeg ? 0 : ERR_UNSUPPORTED, now);
    s->data = is_jpeg ? malloc(body.len) : NULL;
    if (is_jpeg && !s->data)
        s->taken.err = ERR_NO_MEMORY;
    if (!s->data)
        return;
    memcpy(s->data, body.at, body.len);
    s->taken.jpeg = s->data;
    s->taken.bytes = body.len;
    s->taken.age = max_age * USEC_PER_SEC;
}

static void on_list(void *ctx, struct text list, usec_t now)
{
    (void)list;
    settle(ctx, ERR_UNSUPPORTED, now);
}

static void on_end(void *ctx, enum rtsp_client_end end, const char *text, usec_t now)
{
    struct origin_still *s = ctx;
    int status = rtsp_client_status(rtsp_link_client(s->link));
    (void)end, (void)text;
    settle(s,
           status == 404                                    ? ERR_NOT_FOUND
           : status >= 400 && status < 500 && status != 401 ? ERR_UNSUPPORTED
                                                            : ERR_END,
           now);
}

// No session follows, so no more is called.
static const struct rtsp_link_ops link_ops = {
    .rtsp = {
        .on_connected = on_connected, .on_body = on_body, .on_list = on_list, .on_end = on_end}};

static void begin(struct origin_still *s, usec_t now)
{
    struct rtsp_client_config rtsp = {.url = s->url,
                                      .transports = *s->all->transports,
                                      .accept = "image/jpeg",
                                      .may_follow = origin_url_may_follow,
                                      .follow_ctx = s->all->rules,
                                      .via = s->via};
    struct rtsp_link_config link = {
        .loop = s->all->loop, .rtsp = &rtsp, .cc = "", .ops = &link_ops, .ctx = s};
    s->link = rtsp_link_new(&link, now);
    timer_set(s->timer, s->link ? now + ORIGIN_STILL_LIMIT : now);
}

// Begins with those whose turn it is.
static void begin_next(struct origin_stills *all, usec_t now)
{
    int count = 0;
    for (struct origin_still *s = all->first; s && count < ORIGIN_STILLS; s = s->next, count++)
        if (!s->link && !s->is_over)
            begin(s, now);
}

// The picture is not being taken any longer.
static void end(struct origin_still *s, usec_t now)
{
    struct origin_still **at = &s->all->first;
    while (*at && *at != s)
        at = &(*at)->next;
    if (*at)
        *at = s->next;
    rtsp_link_free(s->link);
    s->link = NULL;
    s->taker = NULL;
    timer_set(s->timer, USEC_NEVER);
    begin_next(s->all, now);
}

// The origin has answered, or has not in time.
static void on_timer(void *ctx, usec_t now)
{
    struct origin_still *s = ctx;
    struct picture_taker *taker = s->taker;
    struct taken_picture taken = s->is_over ? s->taken : (struct taken_picture){.err = ERR_END};
    uint8_t *data = s->data;
    s->data = NULL;
    end(s, now);
    taker->on_picture(taker, &taken, now); // which may free the media
    free(data);
}

// ---- The media

static void take(struct stream_media *m, struct picture_taker *t)
{
    struct origin_still *s = (struct origin_still *)m;
    assert(!s->taker);
    s->taker = t;
    s->is_over = false;
    s->next = NULL;
    struct origin_still **at = &s->all->first;
    while (*at)
        at = &(*at)->next;
    *at = s;
    begin_next(s->all, clock_now());
}

static void leave(struct stream_media *m, struct picture_taker *t)
{
    struct origin_still *s = (struct origin_still *)m;
    (void)t;
    if (s->taker)
        end(s, clock_now());
    free(s->data);
    s->data = NULL;
}

static void free_still(struct stream_media *m)
{
    struct origin_still *s = (struct origin_still *)m;
    leave(m, NULL);
    timer_free(s->timer);
    free(s);
}

struct stream_media *origin_still_new(struct origin_stills *all, const struct url *url,
                                      const char *via)
{
    static const struct stream_media_ops ops = {.take = take, .leave = leave, .free = free_still};
    struct origin_still *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->base.ops = &ops;
    s->all = all;
    s->url = *url;
    snprintf(s->via, sizeof(s->via), "%s", via);
    s->timer = timer_new(all->loop, on_timer, s);
    if (s->timer)
        return &s->base;
    free(s);
    return NULL;
}

// ---- Life

struct origin_stills *origin_stills_new(uv_loop_t *loop, const struct origin_rules *rules,
                                        const struct transport_list *transports)
{
    struct origin_stills *s = malloc(sizeof(*s));
    if (s)
        *s = (struct origin_stills){.loop = loop, .rules = rules, .transports = transports};
    return s;
}

void origin_stills_free(struct origin_stills *s)
{
    assert(!s || !s->first);
    free(s);
}
