// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/clip_visit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "common/wire/request_path.h"
#include "common/wire/utc_time.h"
#include "server/clip/clip_reader.h"
#include "server/http/http_body.h"
#include "server/policy/clip_request.h"
#include "server/session/catalog.h"

#define LOOK_EVERY (20 * USEC_PER_MSEC)  // for the thread's next piece
#define APART      (3600 * USEC_PER_SEC) // record_past_spans, of a list without times

struct clip_visit {
    struct clip_visit_config config;
    bool is_list;
    struct clip_reader *reader; // owned; NULL: nothing was begun to be read
    struct timer *timer;        // owned; looks for the next piece
    usec_t asked;               // since when the disk is waited for; 0: it is not
    uint8_t *piece;             // owned; the first one, before the body is sent; NULL: none
    size_t bytes;
    char text[256]; // of a reason
    char name[160]; // of the file
};

static void on_timer(void *ctx, usec_t now)
{
    struct clip_visit *v = ctx;
    v->config.on_ready(v->config.ctx, now);
}

struct clip_visit *clip_visit_new(const struct clip_visit_config *config)
{
    struct clip_visit *v = calloc(1, sizeof(*v));
    if (!v)
        return NULL;
    v->config = *config;
    v->timer = timer_new(config->loop, on_timer, v);
    if (v->timer)
        return v;
    clip_visit_free(v);
    return NULL;
}

void clip_visit_free(struct clip_visit *v)
{
    if (!v)
        return;
    clip_reader_free(v->reader);
    timer_free(v->timer);
    free(v->piece);
    free(v);
}

// ---- The request

__attribute__((format(printf, 4, 5))) static bool refuse(struct clip_visit *v, struct web_clip *out,
                                                         int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(v->text, sizeof(v->text), format, args);
    va_end(args);
    *out = (struct web_clip){.status = status, .reason = v->text};
    return true;
}

// Reads the times. Returns 0, or an error of clip_request_read.
static int read_order(struct text query, struct clip_order *out)
{
    char text[96] = "";
    *out = (struct clip_order){.to = clock_wall()};
    int err = http_form_parameter(query, "clip", text, sizeof(text));
    if (err == ERR_NOT_FOUND) {
        err = http_form_parameter(query, "recordings", text, sizeof(text));
        out->lists = true;
        out->apart = strcmp(text, "all") == 0 ? APART : 0;
    }
    if (err)
        return ERR_MALFORMED;
    return out->apart ? 0
                      : clip_request_read(text, out->lists ? CLIP_LIST_LONGEST : CLIP_LONGEST,
                                          &out->from, &out->to);
}

// The name to save the file by has the stream's, as far as any system takes it.
static void make_name(struct clip_visit *v, const char *path, usec_t from)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    char stream[64], time[UTC_TIME_TEXT];
    snprintf(stream, sizeof(stream), "%.60s", path);
    for (char *at = stream; *at; at++)
        *at = strchr(good, *at) ? *at : '_';
    utc_time_encode(usec_to_sec(from), time);
    snprintf(v->name, sizeof(v->name), "%s_%.15sZ.mp4", stream, time);
}

// Begins to read. Returns true if the request is refused.
static bool begin(struct clip_visit *v, struct text at, struct text query, bool head,
                  struct web_clip *out, usec_t now)
{
    char path[REQUEST_URL_PATH_MAX], name[REQUEST_PATH_MAX];
    struct catalog *c = v->config.catalog;
    struct clip_order order;
    if (at.len >= sizeof(path) || request_path_is_alias(at.at, at.len))
        return refuse(v, out, 404, "no such stream");
    text_copy(at, path, sizeof(path));
    const char *pattern = request_path_decode(path, name, sizeof(name)) == 0 && c->ops->recorded
                              ? c->ops->recorded(c, name)
                              : NULL;
    if (!pattern)
        return refuse(v, out, 404, "there is no such stream, or it is not recorded in H.264");
    int err = read_order(query, &order);
    if (err == ERR_RANGE)
        return refuse(
            v, out, 400, "the time is too long: at most %d hours",
            (int)((order.lists ? CLIP_LIST_LONGEST : CLIP_LONGEST) / USEC_PER_SEC / 3600));
    if (err)
        return refuse(v, out, 400,
                      "expected clip=FROM,TO, recordings=FROM,TO or recordings=all; a time is one "
                      "as 2026-11-24T11:30:00Z, or seconds since 1970");
    make_name(v, name, order.from);
    *out = (struct web_clip){.status = 200, .is_list = order.lists, .name = v->name};
    v->is_list = order.lists;
    if (head)
        return true;
    err = clip_reader_new(pattern, &order, &v->reader);
    if (err == ERR_FULL)
        return refuse(v, out, 503, "%d recordings are being read; try again", CLIP_READERS_MAX);
    if (err)
        return refuse(v, out, 503, "out of memory");
    v->asked = now;
    return false;
}

// Takes the next piece. Returns as clip_reader_poll does, or ERR_TIMED_OUT.
static int take_piece(struct clip_visit *v, usec_t now)
{
    int err = clip_reader_poll(v->reader, &v->piece, &v->bytes);
    if (err == ERR_AGAIN) {
        timer_set(v->timer, now + LOOK_EVERY);
        return now - v->asked > CLIP_VISIT_LIMIT ? ERR_TIMED_OUT : ERR_AGAIN;
    }
    if (err)
        return err;
    return 0;
}

bool clip_visit_ask(struct clip_visit *v, struct text path, struct text query, bool head,
                    struct web_clip *out, usec_t now)
{
    if (!v->reader && begin(v, path, query, head, out, now))
        return true;
    // The first piece says whether there is anything.
    int err = take_piece(v, now);
    if (err == ERR_AGAIN)
        return false;
    *out = (struct web_clip){.status = 200, .is_list = v->is_list, .name = v->name};
    if (err == ERR_TIMED_OUT)
        return refuse(v, out, 503, "the disk with the recordings does not respond");
    if (err == ERR_UNSUPPORTED)
        return refuse(v, out, 404, "what was recorded then is not H.264");
    if (err == ERR_NO_MEMORY)
        return refuse(v, out, 503, "out of memory");
    if (err)
        return refuse(v, out, 404, "nothing was recorded then");
    return true;
}

// ---- The body

int clip_visit_more(struct clip_visit *v, struct http_body **out, usec_t now)
{
    v->asked = v->asked ? v->asked : now;
    int err = v->piece ? 0 : take_piece(v, now);
    if (err)
        return err;
    v->asked = 0;
    *out = http_body_new(v->piece, v->bytes);
    v->piece = NULL;
    return *out ? 0 : ERR_NO_MEMORY;
}
