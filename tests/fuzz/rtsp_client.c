// SPDX-License-Identifier: GPL-2.0-or-later
// A viewer's whole RTSP session. The first byte chooses the configuration; the rest is what the
// server sends, except that 0xFF and the byte behind it are an event: time passes, the connection
// ends, media comes, or the viewer does something. Whatever happens: each request is one
// well-formed message, the client ends once and is silent afterwards, and its deadlines make
// progress.
#include <assert.h>
#include <string.h>

#include "common/base/err.h"
#include "common/protocol/rtsp_client.h"
#include "tests/fuzz/rtsp_session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum event {
    ARRIVES, // what came so far is handed over; the rest comes later
    TIMEOUT,
    CONNECTED,
    CLOSED,
    MEDIA,
    MEDIA_OPEN,
    MEDIA_CLOSED,
    MEDIA_FAILED,
    LEAVE,
    PAUSE,
    RESUME,
    SEEK,
    LEVEL,
    LATENCY,
    SPEED,
    BEGIN,
    PAIR,
    CANNOT_SEND,
    EVENTS // their number
};

struct world {
    struct rtsp_client *client;
    usec_t now;
    int ends;
    bool redirected;
    bool has_path;
    bool is_ready; // rtsp_client_begin may be called, once
    bool playing;
    bool cannot_send;
};

static int on_send(void *ctx, const char *data, size_t len, usec_t *wall)
{
    struct world *w = ctx;
    *wall = w->now;
    assert(!w->ends && !w->redirected);
    rtsp_session_check(data, len);
    return w->cannot_send ? ERR_FULL : 0;
}

static void on_redirect(void *ctx, const struct url *to, usec_t now)
{
    struct world *w = ctx;
    (void)now;
    assert(to->host[0] && to->port > 0);
    w->redirected = true;
}

static const char *impossible(void *ctx, const char *name)
{
    (void)ctx;
    return strcmp(name, "mtp-raw") == 0 ? "not here" : NULL;
}

static int offer(void *ctx, const struct sdp *sdp, const struct transport_list *list, char *out,
                 size_t cap)
{
    struct world *w = ctx;
    (void)sdp;
    assert(list->count > 0 && cap > TRANSPORT_MAX_NAME && !w->has_path);
    strcpy(out, list->names[0]);
    w->has_path = true;
    return 0;
}

static int take(void *ctx, const struct transport_list *list, struct text answer,
                struct rtsp_client_path *out, usec_t now)
{
    struct rtsp_transport t[RTSP_MAX_OFFERS];
    (void)ctx;
    (void)now;
    if (!answer.at || rtsp_transport_decode(answer, t) != 1)
        return ERR_MALFORMED;
    strcpy(out->transport, list->names[t[0].tcp ? list->count - 1 : 0]);
    out->datagram = out->pairs = !t[0].tcp;
    out->validates = t[0].has_token;
    return 0;
}

static int offer_audio(void *ctx, char *out, size_t cap)
{
    (void)ctx;
    (void)cap;
    strcpy(out, "audio");
    return 0;
}

static int accept_audio(void *ctx, struct text answer)
{
    (void)ctx;
    return answer.at ? 0 : ERR_MALFORMED;
}

static void abandon(void *ctx, const char *why)
{
    struct world *w = ctx;
    assert(*why && w->has_path);
    w->has_path = false;
}

static bool media_is_open(void *ctx)
{
    (void)ctx;
    return false;
}

static void on_interleaved(void *ctx, int channel, const uint8_t *data, size_t len, usec_t now)
{
    struct world *w = ctx;
    (void)data;
    assert(channel >= 0 && channel < 256 && len <= 65535 && !w->ends);
    (void)rtsp_client_media_received(w->client, now);
}

static const struct rtsp_client_link link_ops = {.send = on_send,
                                                 .redirect = on_redirect,
                                                 .impossible = impossible,
                                                 .offer = offer,
                                                 .accept = take,
                                                 .offer_audio = offer_audio,
                                                 .accept_audio = accept_audio,
                                                 .abandon = abandon,
                                                 .media_is_open = media_is_open,
                                                 .on_interleaved = on_interleaved};

static void alive(const struct world *w)
{
    assert(!w->ends);
}

static void on_connected(void *ctx, usec_t now)
{
    (void)now;
    alive(ctx);
}

static bool on_described(void *ctx, const struct sdp *sdp, const char **why, usec_t now)
{
    (void)now;
    alive(ctx);
    *why = "not playable";
    return !server_dialect_of(sdp)->has_levels || sdp->ladder.level_count != 1;
}

static void on_list(void *ctx, struct text list, usec_t now)
{
    (void)list;
    (void)now;
    alive(ctx);
}

static void on_setup(void *ctx, const struct rtsp_client_setup *setup, usec_t now)
{
    (void)now;
    alive(ctx);
    assert(*setup->transport && setup->rtt >= 0);
}

static void on_audio(void *ctx)
{
    alive(ctx);
}

static void on_start(void *ctx, struct rtsp_client_start *out)
{
    (void)ctx;
    *out = (struct rtsp_client_start){.level = 1, .start = USEC_PER_SEC};
}

static void on_ready(void *ctx, usec_t now)
{
    struct world *w = ctx;
    (void)now;
    alive(w);
    w->is_ready = true;
}

static void on_playing(void *ctx, const struct rtsp_client_place *place, usec_t now)
{
    struct world *w = ctx;
    (void)now;
    alive(w);
    assert(place->show >= place->first);
    w->playing = true;
}

static void on_answer(void *ctx, const struct rtsp_client_answer *a, usec_t now)
{
    (void)now;
    alive(ctx);
    assert(a->rtt >= 0 && a->received_wall >= a->asked_wall);
}

static void on_no(void *ctx, usec_t now)
{
    (void)now;
    alive(ctx);
}

static void on_level(void *ctx, int level, bool accepted, usec_t now)
{
    (void)accepted;
    (void)now;
    alive(ctx);
    assert(level >= 0);
}

static void on_end(void *ctx, enum rtsp_client_end end, const char *text, usec_t now)
{
    struct world *w = ctx;
    (void)end;
    (void)now;
    assert(text && strlen(text) < 512);
    w->ends++;
}

static const struct rtsp_client_events event_ops = {.on_connected = on_connected,
                                                    .on_described = on_described,
                                                    .on_list = on_list,
                                                    .on_setup = on_setup,
                                                    .on_audio = on_audio,
                                                    .on_start = on_start,
                                                    .on_ready = on_ready,
                                                    .on_playing = on_playing,
                                                    .on_answer = on_answer,
                                                    .on_pair_refused = on_no,
                                                    .on_level = on_level,
                                                    .on_pause_refused = on_no,
                                                    .on_seek_refused = on_no,
                                                    .on_end = on_end};

static struct rtsp_client *make(struct world *w, uint8_t flags)
{
    struct rtsp_client_config config = {.adapt = flags & 1 ? "sender" : NULL,
                                        .controls_speed = flags & 2,
                                        .silence = flags & 4 ? 20 * USEC_PER_SEC : 0,
                                        .has_audio = flags & 8,
                                        .live_latency_ms = 400,
                                        .stored_latency_ms = 1500,
                                        .hash = rtsp_session_sum,
                                        .seed = flags};
    const char *why;
    int err = url_parse(flags & 16 ? "rtsp://joe:pass@h/live" : "rtsp://h/live", &config.url, &why);
    assert(err == 0);
    rtsp_session_transport(&config.transports, "mtp");
    rtsp_session_transport(&config.transports, "mtp-raw");
    rtsp_session_transport(&config.transports, "minbuf");
    rtsp_session_transport(&config.standard_transports, "tcp");
    rtsp_session_transport(&config.standard_transports, "udp");
    return rtsp_client_new(&config, &link_ops, w, &event_ops, w, w->now);
}

// As the loop does. A client that asks to be called at once again and again would never let it
// sleep.
static void settle(void *ctx)
{
    struct world *w = ctx;
    int calls = 0;
    while (rtsp_client_next_timeout(w->client) <= w->now) {
        rtsp_client_on_timeout(w->client, w->now);
        assert(++calls < 16);
    }
    assert(w->ends == rtsp_client_is_over(w->client));
}

static void happen(void *ctx, uint8_t event)
{
    struct world *w = ctx;
    struct rtsp_client *c = w->client;
    usec_t next = rtsp_client_next_timeout(c);
    switch (event % EVENTS) {
    case ARRIVES:
        w->now += USEC_PER_MSEC;
        return;
    case TIMEOUT:
        if (next != USEC_NEVER)
            w->now = usec_max(w->now, next);
        return;
    case CONNECTED:
        w->redirected = false;
        rtsp_client_connected(c, w->now);
        return;
    case CLOSED:
        rtsp_client_closed(c, ERR_CLOSED, w->now);
        return;
    case MEDIA:
        assert(!rtsp_client_media_received(c, w->now) || !w->ends);
        return;
    case MEDIA_OPEN:
        if (w->has_path)
            rtsp_client_media_open(c, w->now);
        return;
    case MEDIA_CLOSED:
    case MEDIA_FAILED:
        if (w->has_path)
            rtsp_client_media_closed(c, event % EVENTS == MEDIA_FAILED ? "reset" : NULL, w->now);
        return;
    case LEAVE: {
        int before = w->ends;
        assert(!rtsp_client_leave(c, w->now) || w->ends == before);
        return;
    }
    case PAUSE:
        rtsp_client_pause(c, w->now);
        return;
    case RESUME:
        rtsp_client_resume(c, w->now);
        return;
    case SEEK:
        rtsp_client_seek(c, event, w->now);
        return;
    case LEVEL:
        rtsp_client_set_level(c, event, w->now);
        return;
    case LATENCY:
        rtsp_client_set_latency(c, event, w->now);
        return;
    case SPEED:
        rtsp_client_set_speed(c, 1 + event / 256.0, w->now);
        return;
    case BEGIN:
        if (w->is_ready)
            rtsp_client_begin(c, event, 1.5, w->now);
        w->is_ready = false;
        return;
    case PAIR:
        if (w->is_ready || w->playing)
            rtsp_client_ask_pair(c, event, w->now);
        return;
    case CANNOT_SEND:
        w->cannot_send = true;
        return;
    }
}

static int input(void *ctx, const uint8_t *data, size_t len)
{
    struct world *w = ctx;
    if (w->redirected) // of a connection that is gone
        return (int)len;
    int used = rtsp_client_input(w->client, data, len, w->now, w->now);
    if (used < 0) {
        assert(used == ERR_MALFORMED || used == ERR_TOO_BIG);
        rtsp_client_closed(w->client, used, w->now);
    }
    return used < 0 || w->redirected ? (int)len : used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct rtsp_session_ops ops = {.input = input, .settle = settle, .happen = happen};
    if (size < 1 || size > RTSP_SESSION_MAX)
        return 0;
    struct world w = {.now = USEC_PER_SEC};
    w.client = make(&w, data[0]);
    assert(w.client);
    rtsp_client_connected(w.client, w.now);
    rtsp_session_feed(data + 1, size - 1, &ops, &w);
    rtsp_client_free(w.client);
    return 0;
}
