// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/push/push.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/net/timer.h"
#include "sender/policy/push_retry.h"
#include "sender/push/push_link.h"

struct push {
    struct push_config config;
    struct push_retry retry;
    struct push_link *link;     // owned; NULL: between two connections, or stopped for good
    struct timer *timer;        // owned; the next attempt, or the end of leaving
    void (*on_left)(void *ctx); // NULL: not leaving
    void *ctx;                  // borrowed
};

static void on_recording(void *ctx, usec_t now)
{
    struct push *p = ctx;
    push_retry_recording(&p->retry, now);
}

static void drop_first(struct push_audio *a)
{
    a->count--;
    memmove(a->codecs, a->codecs + 1, (size_t)a->count * sizeof(a->codecs[0]));
}

static void on_end(void *ctx, enum rtsp_recorder_end end, const char *text, usec_t now)
{
    struct push *p = ctx;
    struct push_link *link = p->link; // it owns `text`
    p->link = NULL;
    if (p->on_left) {
        timer_set(p->timer, 0);
    } else if (end == RTSP_RECORDER_LEFT) {
        log_info("push: the media has ended");
    } else if (end == RTSP_RECORDER_OTHER_AUDIO) {
        log_info("push: %s; connecting again without it", text);
        drop_first(&p->config.audio);
        timer_set(p->timer, now);
    } else if (end == RTSP_RECORDER_REFUSED) {
        log_error("push: %s; not tried again, viewers are still served", text);
    } else {
        usec_t due = push_retry_ended(&p->retry, now);
        log_warn("push: %s; next attempt in %.0f s", text, usec_to_sec(due - now));
        timer_set(p->timer, due);
    }
    push_link_free(link, now);
}

static void connect_now(struct push *p, usec_t now)
{
    struct push_link_config config = {.loop = p->config.loop,
                                      .stream = p->config.stream,
                                      .url = &p->config.url,
                                      .transports = &p->config.transports,
                                      .audio = &p->config.audio,
                                      .agent = p->config.agent,
                                      .level = p->config.level,
                                      .on_recording = on_recording,
                                      .on_end = on_end,
                                      .ctx = p};
    p->link = push_link_new(&config, now);
    if (!p->link)
        timer_set(p->timer, push_retry_ended(&p->retry, now));
}

static void on_timer(void *ctx, usec_t now)
{
    struct push *p = ctx;
    if (p->on_left)
        p->on_left(p->ctx);
    else
        connect_now(p, now);
}

struct push *push_new(const struct push_config *config, usec_t now)
{
    struct push *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->config = *config;
    push_retry_init(&p->retry);
    p->timer = timer_new(config->loop, on_timer, p);
    if (!p->timer) {
        free(p);
        return NULL;
    }
    timer_set(p->timer, now);
    return p;
}

void push_free(struct push *p, usec_t now)
{
    if (!p)
        return;
    push_link_free(p->link, now);
    timer_free(p->timer);
    free(p);
}

void push_leave(struct push *p, void (*on_left)(void *ctx), void *ctx, usec_t now)
{
    p->on_left = on_left;
    p->ctx = ctx;
    if (p->link)
        push_link_leave(p->link, now);
    else
        timer_set(p->timer, 0);
}
