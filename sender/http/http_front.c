// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/http/http_front.h"

#include <stdlib.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"
#include "sender/http/http_server.h"
#include "sender/http/live_packager.h"

#define TICK (USEC_PER_SEC / 2)

struct http_front {
    struct live_packager *live; // owned
    struct http_server *server; // owned
    struct timer *timer;        // owned
};

static void on_change(void *ctx)
{
    http_server_wake(((struct http_front *)ctx)->server);
}

static void on_timer(void *ctx, usec_t now)
{
    struct http_front *f = ctx;
    live_packager_tick(f->live, now);
    http_server_tick(f->server, now);
    timer_set(f->timer, now + TICK);
}

struct http_front *http_front_new(uv_loop_t *loop, const struct http_front_config *config)
{
    struct http_front *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    struct live_packager_config live = {.media = config->media,
                                        .mount = config->path,
                                        .segment = config->segment_seconds * USEC_PER_SEC,
                                        .on_change = on_change,
                                        .ctx = f};
    f->live = live_packager_new(loop, &live);
    f->timer = f->live ? timer_new(loop, on_timer, f) : NULL;
    f->server = f->timer ? http_server_new(config->at, live_packager_content(f->live)) : NULL;
    if (!f->server) {
        http_front_free(f);
        return NULL;
    }
    timer_set(f->timer, clock_now() + TICK);
    char at[SOCKADDR_TEXT];
    http_server_address(f->server, at, sizeof(at));
    log_info("HLS at http://%s%s/index.m3u8", at, config->path);
    return f;
}

void http_front_free(struct http_front *f)
{
    if (!f)
        return;
    timer_free(f->timer);
    http_server_free(f->server);
    live_packager_free(f->live);
    free(f);
}
