// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/http/http_front.h"

#include <stdlib.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/mailbox.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"
#include "sender/http/catalog_library.h"
#include "sender/http/content_server.h"
#include "sender/http/folder_library.h"
#include "sender/http/live_packager.h"

#define TICK (USEC_PER_SEC / 2)

struct http_front {
    // One of these is not NULL. They are owned.
    struct live_packager *live;
    struct film_library *film;
    struct folder_library *folder;
    struct catalog_library *catalog;
    struct http_content *content;  // borrowed of it
    struct content_server *server; // owned; NULL: none
    struct timer *timer;           // owned
    struct mailbox *changes;       // owned
    struct http_stats *stats;      // borrowed
    void (*on_change)(void *ctx, usec_t now);
    void *ctx;
};

// Any thread. While a change is in the mailbox, the loop has not yet seen this one either.
static void on_change(void *ctx)
{
    struct http_front *f = ctx;
    content_server_wake(f->server);
    (void)mailbox_post(f->changes, f);
}

static void on_mail(void *ctx, void *item, usec_t now)
{
    (void)item;
    const struct http_front *f = ctx;
    f->on_change(f->ctx, now);
}

static void keep(void *item)
{
    (void)item;
}

static void on_timer(void *ctx, usec_t now)
{
    struct http_front *f = ctx;
    if (f->live)
        live_packager_tick(f->live, now);
    if (f->folder)
        folder_library_tick(f->folder, now);
    if (f->catalog)
        catalog_library_tick(f->catalog, now);
    if (f->server)
        content_server_stats(f->server, f->stats);
    timer_set(f->timer, now + TICK);
}

static struct http_content *open_film(struct http_front *f, const struct http_front_config *config)
{
    struct film_library_config film = {.file = config->film,
                                       .mount = config->path,
                                       .has_audio = config->has_audio,
                                       .aac_bps = LIVE_PACKAGER_AAC_BPS,
                                       .on_change = on_change,
                                       .ctx = f};
    f->film = film_library_new(&film);
    return f->film ? film_library_content(f->film) : NULL;
}

static struct http_content *open_folder(struct http_front *f,
                                        const struct http_front_config *config)
{
    struct folder_library_config folder = {.root = config->folder,
                                           .find = config->find,
                                           .has_audio = config->has_audio,
                                           .aac_bps = LIVE_PACKAGER_AAC_BPS,
                                           .on_change = on_change,
                                           .ctx = f};
    f->folder = folder_library_new(&folder);
    return f->folder ? folder_library_content(f->folder) : NULL;
}

static struct http_content *open_catalog(struct http_front *f, uv_loop_t *loop,
                                         const struct http_front_config *config)
{
    struct catalog_library_config catalog = {.loop = loop,
                                             .catalog = config->catalog,
                                             .segment = config->segment_seconds * USEC_PER_SEC,
                                             .aac_bps = LIVE_PACKAGER_AAC_BPS,
                                             .on_change = on_change,
                                             .ctx = f};
    f->catalog = catalog_library_new(&catalog);
    return f->catalog ? catalog_library_content(f->catalog) : NULL;
}

static struct http_content *open_live(struct http_front *f, uv_loop_t *loop,
                                      const struct http_front_config *config)
{
    struct live_packager_config live = {.media = config->media,
                                        .mount = config->path,
                                        .segment = config->segment_seconds * USEC_PER_SEC,
                                        .on_change = on_change,
                                        .ctx = f};
    f->live = live_packager_new(loop, &live);
    return f->live ? live_packager_content(f->live) : NULL;
}

static bool open_server(struct http_front *f, const struct http_front_config *config)
{
    struct content_server_config server = {.at = config->at,
                                           .content = f->content,
                                           .origins = *config->origins,
                                           .proxies = *config->proxies};
    char at[SOCKADDR_TEXT];
    f->server = content_server_new(&server);
    if (!f->server)
        return false;
    content_server_address(f->server, at, sizeof(at));
    log_info("HLS at http://%s%s/index.m3u8%s", at, config->folder ? "/FILE" : config->path,
             config->folder ? " of each FILE that is prepared" : "");
    return true;
}

struct http_front *http_front_new(uv_loop_t *loop, const struct http_front_config *config)
{
    struct http_front *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    f->stats = config->stats;
    f->on_change = config->on_change;
    f->ctx = config->ctx;
    f->changes = mailbox_new(loop, 1, on_mail, keep, f);
    f->timer = timer_new(loop, on_timer, f);
    if (!f->changes || !f->timer)
        goto fail;
    f->content = config->film      ? open_film(f, config)
                 : config->folder  ? open_folder(f, config)
                 : config->catalog ? open_catalog(f, loop, config)
                                   : open_live(f, loop, config);
    if (!f->content || (config->at && !open_server(f, config)))
        goto fail;
    if (f->film && film_library_open(f->film) != 0)
        goto fail;
    timer_set(f->timer, clock_now() + TICK);
    return f;

fail:
    http_front_free(f);
    return NULL;
}

void http_front_free(struct http_front *f)
{
    if (!f)
        return;
    timer_free(f->timer);
    film_library_stop(f->film);
    folder_library_stop(f->folder);
    content_server_free(f->server);
    live_packager_free(f->live);
    film_library_free(f->film);
    folder_library_free(f->folder);
    catalog_library_free(f->catalog);
    mailbox_free(f->changes);
    free(f);
}

struct http_content *http_front_content(struct http_front *f)
{
    return f->content;
}
