// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/clip_visit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/tcp_conn.h"
#include "common/net/timer.h"
#include "common/wire/request_path.h"
#include "common/wire/utc_time.h"
#include "server/clip/clip_reader.h"
#include "server/policy/clip_request.h"
#include "server/session/catalog.h"

enum { CHUNK_TEXT = 24 };                // bytes of a chunk's first line, with NUL
#define LOOK_EVERY (20 * USEC_PER_MSEC)  // for the thread's next piece
#define APART      (3600 * USEC_PER_SEC) // record_past_spans, of a list without times

struct clip_visit {
    struct clip_visit_config config;
    struct access_guest *guest; // owned; NULL: everybody may watch
    bool let_in;
    bool is_list;
    struct clip_reader *reader; // owned; NULL: the request was not let in
    struct timer *timer;        // owned; looks for the next piece
    usec_t asked;               // since when the disk is waited for
    bool is_chunked;
    bool has_ended; // no piece follows
    // The piece that is sent: its chunk's first line, the bytes, and a line end.
    uint8_t *piece; // owned; NULL: none
    size_t bytes;
    char line[CHUNK_TEXT];
    size_t sent;
    struct access_refusal refusal;
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
    v->config.peer = NULL; // it is no longer needed
    struct access_guest_config guest = {.access = config->access,
                                        .loop = config->loop,
                                        .peer = config->peer,
                                        .on_ready = config->on_ready,
                                        .ctx = config->ctx,
                                        .forgets = true};
    v->timer = timer_new(config->loop, on_timer, v);
    v->guest = config->access ? access_guest_new(&guest) : NULL;
    if (v->timer && (v->guest || !config->access))
        return v;
    clip_visit_free(v);
    return NULL;
}

void clip_visit_free(struct clip_visit *v)
{
    if (!v)
        return;
    clip_reader_free(v->reader);
    access_guest_free(v->guest);
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
    char text[96];
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
static bool begin(struct clip_visit *v, const struct path_query *q, struct web_clip *out,
                  usec_t now)
{
    char path[REQUEST_URL_PATH_MAX], name[REQUEST_PATH_MAX];
    struct catalog *c = v->config.catalog;
    struct clip_order order;
    if (q->path.len >= sizeof(path) || request_path_is_alias(q->path.at, q->path.len))
        return refuse(v, out, 404, "no such stream");
    text_copy(q->path, path, sizeof(path));
    const char *pattern = request_path_decode(path, name, sizeof(name)) == 0 && c->ops->recorded
                              ? c->ops->recorded(c, name)
                              : NULL;
    if (!pattern)
        return refuse(v, out, 404, "there is no such stream, or it is not recorded in H.264");
    int err = read_order(q->query, &order);
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
    if (q->head)
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
    v->sent = 0;
    snprintf(v->line, sizeof(v->line), v->is_chunked ? "%zx\r\n" : "", v->bytes);
    return 0;
}

bool clip_visit_ask(struct clip_visit *v, const struct path_query *q, struct web_clip *out,
                    usec_t now)
{
    enum access_answer answer =
        v->let_in ? ACCESS_GRANTED : path_guest_ask(v->guest, q, v->config.name, &v->refusal, now);
    if (answer == ACCESS_WAITS)
        return false;
    if (answer == ACCESS_REFUSED) {
        *out = (struct web_clip){.status = v->refusal.status,
                                 .reason = v->refusal.text,
                                 .challenge = v->refusal.challenge};
        return true;
    }
    v->let_in = true;
    v->is_chunked = q->is_chunked;
    if (!v->reader && begin(v, q, out, now))
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

// Sends what the kernel takes of the piece. Returns 0: all; ERR_AGAIN: on_room follows; an error.
static int send_piece(struct clip_visit *v, struct tcp_conn *tcp)
{
    static char end[] = "\r\n";
    size_t lens[] = {strlen(v->line), v->bytes, v->is_chunked ? 2 : 0};
    void *const parts[] = {v->line, v->piece, end};
    while (v->sent < lens[0] + lens[1] + lens[2]) {
        struct iovec out[3];
        int count = 0;
        size_t skip = v->sent;
        for (int i = 0; i < 3; i++) {
            size_t left = skip < lens[i] ? lens[i] - skip : 0;
            if (left)
                out[count++] = (struct iovec){(char *)parts[i] + skip, left};
            skip -= skip < lens[i] ? skip : lens[i];
        }
        ssize_t n = tcp_conn_write_some(tcp, out, count);
        if (n < 0)
            return (int)n;
        if (n == 0) {
            tcp_conn_want_room(tcp, true);
            return ERR_AGAIN;
        }
        v->sent += (size_t)n;
    }
    free(v->piece);
    v->piece = NULL;
    return 0;
}

int clip_visit_send(struct clip_visit *v, struct tcp_conn *tcp, usec_t now)
{
    static const char last[] = "0\r\n\r\n"; // RFC 9112, 7.1: the last chunk
    int err = 0;
    while (!err) {
        err = v->piece ? send_piece(v, tcp) : 0;
        if (err)
            return err;
        v->asked = v->asked ? v->asked : now;
        tcp_conn_want_room(tcp, false);
        err = take_piece(v, now);
        v->asked = err ? v->asked : 0;
    }
    if (err != ERR_END)
        return err;
    return v->is_chunked ? tcp_conn_send(tcp, last, sizeof(last) - 1) : 0;
}
