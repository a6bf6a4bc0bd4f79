// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/session/catalog.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/transport/transport.h"
#include "common/wire/request_path.h"

struct one_catalog {
    struct catalog base;   // first
    struct stream *stream; // borrowed
};

void catalog_begin_stats(const struct catalog *c, struct stats *out)
{
    out->total = c->book.ended;
    out->http = stats_http(&c->book);
    out->transport_count = out->stream_count = out->session_count = 0;
    for (int i = 0; transport_kinds[i]; i++) {
        assert(out->transport_count < STATS_TRANSPORTS);
        out->total.transports[out->transport_count++].name = transport_kinds[i]->name;
    }
}

static bool is_its_path(const struct catalog *c, const char *path)
{
    char where[REQUEST_PATH_MAX];
    return request_path_decode(c->where, where, sizeof(where)) == 0 && strcmp(where, path) == 0;
}

static int one_take(struct catalog *c, const char *url_path, struct catalog_hold *h, bool only,
                    struct stream **out)
{
    (void)h;
    (void)only;
    // Decoded, as keys and rules are compared: a path below the stream's is another one.
    char path[REQUEST_PATH_MAX];
    if (request_path_decode(url_path, path, sizeof(path)) != 0 || !is_its_path(c, path))
        return ERR_NOT_FOUND;
    *out = ((struct one_catalog *)c)->stream;
    return 0;
}

static const char *one_recorded(struct catalog *c, const char *path)
{
    return is_its_path(c, path) ? ((struct one_catalog *)c)->stream->record : NULL;
}

static int one_set_highest(struct catalog *c, const char *path, int level, usec_t now)
{
    struct stream *stream = ((struct one_catalog *)c)->stream;
    if (!is_its_path(c, path + 1))
        return ERR_NOT_FOUND;
    if (level != LADDER_MAX_LEVELS - 1 && !ladder_has_level(&stream->media->ladder, level))
        return ERR_RANGE;
    stream_set_highest(stream, level, now);
    return 0;
}

static void one_leave(struct catalog *c, struct catalog_hold *h)
{
    (void)c;
    (void)h;
}

static void one_stats(struct catalog *c, struct stats *out, session_stats_fn *each, void *ctx,
                      usec_t now)
{
    struct stream *stream = ((struct one_catalog *)c)->stream;
    snprintf(out->source, sizeof(out->source), "%s", stream->media->title);
    catalog_begin_stats(c, out);
    stream_collect_stats(stream, c->where, out, each, ctx, now);
}

static void one_free(struct catalog *c)
{
    free(c);
}

struct catalog *catalog_new_one(const char *path, struct stream *stream)
{
    static const struct catalog_ops ops = {.take = one_take,
                                           .leave = one_leave,
                                           .recorded = one_recorded,
                                           .stats = one_stats,
                                           .set_highest = one_set_highest,
                                           .free = one_free};
    struct one_catalog *one = calloc(1, sizeof(*one));
    if (!one)
        return NULL;
    one->base.ops = &ops;
    one->base.where = path;
    one->stream = stream;
    stream->book = &one->base.book;
    return &one->base;
}
