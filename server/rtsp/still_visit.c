// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/still_visit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "common/wire/request_path.h"
#include "server/session/catalog.h"
#include "server/still/still_maker.h"

struct still_visit {
    struct still_visit_config config;
    struct access_guest *guest; // owned; NULL: everybody may watch
    bool let_in;                // the request that waits was let in
    bool revoked;               // its film was closed for others while it waited for a picture
    struct catalog_hold hold;
    struct still_request request;
    struct stream_media *film; // owned; gives the picture of the request that waits; NULL: a stream
    struct access_refusal refusal;
    char text[256]; // of a reason
};

static void on_ready(void *ctx, usec_t now)
{
    struct still_visit *v = ctx;
    v->config.on_ready(v->config.ctx, now);
}

// The film is closed after this call: the picture must not be taken of it any more.
static void on_revoked(void *ctx)
{
    struct still_visit *v = ctx;
    if (!v->request.still)
        return;
    still_maker_leave(&v->request);
    v->revoked = true;
    v->config.on_ready(v->config.ctx, clock_now());
}

struct still_visit *still_visit_new(const struct still_visit_config *config)
{
    struct still_visit *v = calloc(1, sizeof(*v));
    if (!v)
        return NULL;
    v->config = *config;
    v->config.peer = NULL; // it is not needed any more
    v->hold = (struct catalog_hold){.on_ready = on_ready, .on_revoked = on_revoked, .ctx = v};
    v->request = (struct still_request){.on_ready = on_ready, .ctx = v};
    struct access_guest_config guest = {.access = config->access,
                                        .loop = config->loop,
                                        .peer = config->peer,
                                        .on_ready = on_ready,
                                        .ctx = v,
                                        .forgets = true};
    v->guest = config->access ? access_guest_new(&guest) : NULL;
    if (v->guest || !config->access)
        return v;
    free(v);
    return NULL;
}

// Ends the request. The picture's stream may close then.
static bool end(struct still_visit *v)
{
    still_maker_leave(&v->request);
    v->config.catalog->ops->leave(v->config.catalog, &v->hold);
    if (v->film)
        v->film->ops->free(v->film);
    v->film = NULL;
    v->let_in = false;
    v->revoked = false;
    return true;
}

void still_visit_free(struct still_visit *v)
{
    if (!v)
        return;
    end(v);
    access_guest_free(v->guest);
    free(v);
}

__attribute__((format(printf, 4, 5))) static bool
refuse(struct still_visit *v, struct web_still *out, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(v->text, sizeof(v->text), format, args);
    va_end(args);
    *out = (struct web_still){.status = status, .reason = v->text};
    return end(v);
}

static bool refuse_stream(struct still_visit *v, int err, struct web_still *out)
{
    if (err == CATALOG_REFUSED)
        return refuse(v, out, v->hold.refusal.status, "%s", v->hold.refusal.text);
    if (err == ERR_FULL || err == ERR_AGAIN || err == ERR_TIMED_OUT)
        return refuse(v, out, 503, "busy opening other files; try again");
    return refuse(v, out, 404, "no such stream");
}

static bool refuse_picture(struct still_visit *v, int err, struct web_still *out)
{
    if (err == ERR_UNSUPPORTED)
        return refuse(v, out, 404,
                      "this stream has no still pictures: a camera, a screen, the test "
                      "picture and a file that is not prepared have");
    if (err == ERR_TIMED_OUT || err == ERR_END)
        return refuse(v, out, 503, "the source gave no picture; try again");
    return refuse(v, out, 503, "too many pictures are being made; try again");
}

static bool is_small(struct text query)
{
    static const char word[] = "small";
    size_t len = sizeof(word) - 1;
    for (size_t i = 0; i + len <= query.len; i++)
        if (memcmp(query.at + i, word, len) == 0 && (i == 0 || query.at[i - 1] == '&') &&
            (i + len == query.len || query.at[i + len] == '&'))
            return true;
    return false;
}

// Gets a picture from `media`. Returns as still_visit_ask.
static bool ask_picture(struct still_visit *v, struct still_maker *maker, const char *name,
                        struct stream_media *media, struct web_still *out, usec_t now)
{
    const uint8_t *data = NULL;
    size_t bytes = 0;
    int err = maker ? still_maker_get(maker, name, media, &v->request, &data, &bytes, now)
                    : ERR_UNSUPPORTED;
    if (err == STILL_WAITS)
        return false;
    if (err)
        return refuse_picture(v, err, out);
    out->data = data;
    out->bytes = bytes;
    return end(v);
}

bool still_visit_ask(struct still_visit *v, const struct path_query *q, struct web_still *out,
                     usec_t now)
{
    char path[REQUEST_URL_PATH_MAX];
    struct stream *stream;
    *out = (struct web_still){.status = 200};
    enum access_answer answer =
        v->let_in ? ACCESS_GRANTED : path_guest_ask(v->guest, q, v->config.name, &v->refusal, now);
    if (answer == ACCESS_WAITS)
        return false;
    if (answer == ACCESS_REFUSED) {
        *out = (struct web_still){.status = v->refusal.status,
                                  .reason = v->refusal.text,
                                  .challenge = v->refusal.challenge};
        return end(v);
    }
    v->let_in = true;
    if (v->revoked)
        return refuse(v, out, 503, "busy opening other files; try again");
    if (q->path.len >= sizeof(path) || request_path_is_alias(q->path.at, q->path.len))
        return refuse(v, out, 404, "no such stream");
    text_copy(q->path, path, sizeof(path));
    // Decoded: a path has many spellings, and each would have a picture of its own.
    char name[REQUEST_PATH_MAX];
    if (request_path_decode(path, name, sizeof(name)) != 0)
        return refuse(v, out, 404, "no such stream");
    struct catalog *c = v->config.catalog;
    if (c->ops->still && v->config.film_maker && !q->head && is_small(q->query)) {
        out->max_age = (int)(still_film.age / USEC_PER_SEC);
        if (!v->film && !(v->film = c->ops->still(c, name)))
            return refuse_picture(v, ERR_NO_MEMORY, out);
        return ask_picture(v, v->config.film_maker, name, v->film, out, now);
    }
    int err = c->ops->take(c, path, &v->hold, false, &stream);
    if (err == CATALOG_WAITS)
        return false;
    if (err)
        return refuse_stream(v, err, out);
    if (q->head)
        return end(v);
    return ask_picture(v, v->config.maker, name, stream->media, out, now);
}
