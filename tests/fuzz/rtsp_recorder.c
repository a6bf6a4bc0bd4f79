// SPDX-License-Identifier: GPL-2.0-or-later
// A pushing session. The first byte chooses the configuration; the rest is what the server sends,
// except that 0xFF and the byte behind it are an event: time passes, the connection ends, or the
// owner leaves. Whatever happens: each request is one well-formed message, without the password in
// its text, the recorder ends once and is silent afterwards, media follows RECORD alone, what was
// offered is accepted or abandoned once, and the deadlines make progress.
#include <assert.h>
#include <string.h>

#include "common/base/err.h"
#include "common/protocol/rtsp_recorder.h"
#include "tests/fuzz/rtsp_session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char PASSWORD[] = "secret-word";

enum event {
    ARRIVES, // what came so far is handed over; the rest comes later
    TIMEOUT,
    CONNECTED,
    CLOSED,
    FAIL,
    LEAVE,
    CANNOT_SEND,
    CANNOT_OFFER,
    EVENTS // their number
};

struct world {
    struct rtsp_recorder *recorder;
    usec_t now;
    int ends;
    bool recording;
    bool offered[TRACKS];
    bool cannot_send, cannot_offer;
};

static bool has_password(const char *text, size_t len)
{
    const size_t word = sizeof(PASSWORD) - 1;
    for (size_t at = 0; at + word <= len; at++)
        if (memcmp(text + at, PASSWORD, word) == 0)
            return true;
    return false;
}

static int on_send(void *ctx, const char *data, size_t len)
{
    struct world *w = ctx;
    assert(!w->ends && !has_password(data, len));
    rtsp_session_check(data, len);
    return w->cannot_send ? ERR_FULL : 0;
}

static int offer(void *ctx, const char *transport, enum media_track track, char *out, size_t cap)
{
    struct world *w = ctx;
    assert(!w->ends && !w->offered[track] && strlen(transport) < cap);
    if (w->cannot_offer)
        return ERR_IO;
    strcpy(out, transport);
    w->offered[track] = true;
    return 0;
}

static int take(void *ctx, const char *transport, enum media_track track, struct text answer)
{
    struct world *w = ctx;
    struct rtsp_transport t[RTSP_MAX_OFFERS];
    assert(!w->ends && w->offered[track] && *transport);
    return answer.at && rtsp_transport_decode(answer, t) == 1 ? 0 : ERR_MALFORMED;
}

static void abandon(void *ctx, enum media_track track)
{
    struct world *w = ctx;
    assert(w->offered[track] && !w->recording);
    w->offered[track] = false;
}

static void on_interleaved(void *ctx, int channel, const uint8_t *data, size_t len, usec_t now)
{
    struct world *w = ctx;
    (void)data, (void)now;
    assert(channel >= 0 && channel < 256 && len <= 65535 && !w->ends);
}

static const struct rtsp_recorder_link link_ops = {.send = on_send,
                                                   .offer = offer,
                                                   .accept = take,
                                                   .abandon = abandon,
                                                   .on_interleaved = on_interleaved};

static void on_recording(void *ctx, const struct rtsp_recorder_start *start, usec_t now)
{
    struct world *w = ctx;
    (void)now;
    assert(!w->ends && !w->recording && *start->transport);
    assert(w->offered[TRACK_VIDEO] && w->offered[TRACK_AUDIO] == (start->audio != NULL));
    w->recording = true;
}

static void on_end(void *ctx, enum rtsp_recorder_end end, const char *text, usec_t now)
{
    struct world *w = ctx;
    (void)now;
    assert(text && strlen(text) < 512 && !has_password(text, strlen(text)));
    assert((end == RTSP_RECORDER_LEFT) == !*text);
    w->ends++;
}

static const struct rtsp_recorder_events event_ops = {.on_recording = on_recording,
                                                      .on_end = on_end};

static struct rtsp_recorder *make(struct world *w, uint8_t flags)
{
    struct rtsp_recorder_config config = {.agent = "weir-send",
                                          .control = {"trackID=0", "trackID=1"},
                                          .hash = rtsp_session_sum,
                                          .seed = flags};
    static const char both[] = "v=0\r\nm=video\r\nm=audio\r\n";
    if (flags & 1)
        config.offers[config.offer_count++] =
            (struct rtsp_recorder_offer){.sdp = both, .audio = "Opus"};
    if (flags & 8)
        config.offers[config.offer_count++] =
            (struct rtsp_recorder_offer){.sdp = both, .audio = "AAC"};
    config.offers[config.offer_count++].sdp = "v=0\r\nm=video\r\n";
    const char *why;
    int err =
        url_parse(flags & 2 ? "rtsp://joe:secret-word@h/live" : "rtsp://h/live", &config.url, &why);
    assert(err == 0);
    rtsp_session_transport(&config.transports, "minbuf");
    if (flags & 4)
        rtsp_session_transport(&config.transports, "udp");
    rtsp_session_transport(&config.transports, "tcp");
    return rtsp_recorder_new(&config, &link_ops, &event_ops, w);
}

// As the loop does. A recorder that asks to be called at once again and again would never let it
// sleep.
static void settle(void *ctx)
{
    struct world *w = ctx;
    int calls = 0;
    while (rtsp_recorder_next_timeout(w->recorder) <= w->now) {
        rtsp_recorder_on_timeout(w->recorder, w->now);
        assert(++calls < 16);
    }
    assert(w->ends == rtsp_recorder_is_over(w->recorder));
}

static void happen(void *ctx, uint8_t event)
{
    struct world *w = ctx;
    struct rtsp_recorder *r = w->recorder;
    usec_t next = rtsp_recorder_next_timeout(r);
    switch (event % EVENTS) {
    case ARRIVES:
        w->now += USEC_PER_MSEC;
        return;
    case TIMEOUT:
        if (next != USEC_NEVER)
            w->now = usec_max(w->now, next);
        return;
    case CONNECTED:
        if (rtsp_recorder_is_connecting(r))
            rtsp_recorder_connected(r, w->now);
        return;
    case CLOSED:
        rtsp_recorder_closed(r, ERR_CLOSED, w->now);
        return;
    case FAIL:
        rtsp_recorder_fail(r, RTSP_RECORDER_INTERNAL, "out of ports", w->now);
        return;
    case LEAVE: {
        int before = w->ends;
        assert(!rtsp_recorder_leave(r, w->now) || w->ends == before || w->cannot_send);
        return;
    }
    case CANNOT_SEND:
        w->cannot_send = true;
        return;
    case CANNOT_OFFER:
        w->cannot_offer = true;
        return;
    }
}

static int input(void *ctx, const uint8_t *data, size_t len)
{
    struct world *w = ctx;
    if (has_password((const char *)data, len))
        return -1; // the recorder quotes the server's words
    int used = rtsp_recorder_input(w->recorder, data, len, w->now);
    if (used < 0) {
        assert(used == ERR_MALFORMED || used == ERR_TOO_BIG);
        rtsp_recorder_closed(w->recorder, used, w->now);
    }
    return used < 0 ? (int)len : used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct rtsp_session_ops ops = {.input = input, .settle = settle, .happen = happen};
    if (size < 1 || size > RTSP_SESSION_MAX)
        return 0;
    struct world w = {.now = USEC_PER_SEC};
    w.recorder = make(&w, data[0]);
    assert(w.recorder);
    rtsp_recorder_connected(w.recorder, w.now);
    rtsp_session_feed(data + 1, size - 1, &ops, &w);
    rtsp_recorder_free(w.recorder);
    return 0;
}
