// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/web/websocket.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>
#include <wslay/wslay.h>

#include "common/base/err.h"

enum {
    KEY_CHARS = 24, // 16 bytes in base64
    SHA1_BYTES = 20,
    CONTROL_MAX = 125, // 5.5
};

struct websocket {
    struct tcp_filter base;
    struct wslay_frame_context *frames; // owned
    const uint8_t *in;                  // borrowed during decode; the next byte for libwslay
    size_t in_len;
    struct bytes_out *out;        // borrowed during a call: where libwslay writes
    bool no_memory;               // a write to `out` failed
    uint64_t left;                // of the current frame's payload; 0: a head is next
    uint8_t opcode;               // of that frame
    bool in_message;              // a fragmented message has begun
    uint8_t control[CONTROL_MAX]; // payload of the current control frame
    size_t control_len;
    uint8_t ping[CONTROL_MAX]; // payload of the last ping
    size_t ping_len;
    bool has_ping;
    bool closing; // a close frame was sent
};

static ssize_t on_read(uint8_t *buf, size_t len, int flags, void *ctx)
{
    (void)flags;
    struct websocket *w = ctx;
    size_t n = len < w->in_len ? len : w->in_len;
    if (!n)
        return -1; // WSLAY_ERR_WANT_READ follows
    memcpy(buf, w->in, n);
    w->in += n;
    w->in_len -= n;
    return (ssize_t)n;
}

static ssize_t on_write(const uint8_t *data, size_t len, int flags, void *ctx)
{
    (void)flags;
    struct websocket *w = ctx;
    w->no_memory |= bytes_out_add(w->out, data, len) != 0;
    return w->no_memory ? -1 : (ssize_t)len;
}

// Appends a frame of one part. Returns 0 or ERR_NO_MEMORY.
static int put_frame(struct websocket *w, uint8_t opcode, const uint8_t *data, size_t len,
                     struct bytes_out *wire)
{
    w->out = wire;
    struct wslay_frame_iocb frame = {
        .fin = 1, .opcode = opcode, .payload_length = len, .data = data, .data_length = len};
    return wslay_frame_send(w->frames, &frame) < 0 ? ERR_NO_MEMORY : 0;
}

// Checks the head of a frame (5.1, 5.2, 5.4). libwslay checked those of control frames.
static int begin_frame(struct websocket *w, const struct wslay_frame_iocb *frame)
{
    if (!frame->mask || frame->rsv != WSLAY_RSV_NONE)
        return ERR_MALFORMED;
    if (frame->payload_length > WEBSOCKET_FRAME_MAX)
        return ERR_TOO_BIG;
    w->opcode = frame->opcode;
    w->left = frame->payload_length;
    w->control_len = 0;
    switch (frame->opcode) {
    case WSLAY_PING:
    case WSLAY_PONG:
    case WSLAY_CONNECTION_CLOSE:
        return frame->fin && frame->payload_length <= CONTROL_MAX ? 0 : ERR_MALFORMED;
    case WSLAY_TEXT_FRAME:
    case WSLAY_BINARY_FRAME:
        if (w->in_message)
            return ERR_MALFORMED;
        w->in_message = !frame->fin;
        return 0;
    case WSLAY_CONTINUATION_FRAME:
        if (!w->in_message)
            return ERR_MALFORMED;
        w->in_message = !frame->fin;
        return 0;
    default:
        return ERR_MALFORMED;
    }
}

static int end_control(struct websocket *w, struct bytes_out *wire)
{
    if (w->opcode == WSLAY_PING) {
        memcpy(w->ping, w->control, w->control_len);
        w->ping_len = w->control_len;
        w->has_ping = true;
    }
    if (w->opcode != WSLAY_CONNECTION_CLOSE)
        return 0;
    size_t code = w->control_len >= 2 ? 2 : 0; // the reason is for people
    int err = w->closing ? 0 : put_frame(w, WSLAY_CONNECTION_CLOSE, w->control, code, wire);
    w->closing = true;
    return err ? err : ERR_CLOSED;
}

static int take_frames(struct websocket *w, struct bytes_out *plain, struct bytes_out *wire)
{
    for (;;) {
        struct wslay_frame_iocb frame = {0};
        ssize_t n = wslay_frame_recv(w->frames, &frame);
        if (n == WSLAY_ERR_WANT_READ)
            return 0;
        if (n < 0)
            return ERR_MALFORMED;
        int err = w->left ? 0 : begin_frame(w, &frame);
        if (err)
            return err;
        w->left -= frame.data_length;
        bool control = wslay_is_ctrl_frame(w->opcode);
        if (control) {
            if (frame.data_length)
                memcpy(w->control + w->control_len, frame.data, frame.data_length);
            w->control_len += frame.data_length;
        } else if (frame.data_length) {
            err = bytes_out_add(plain, frame.data, frame.data_length);
        }
        if (!err && control && !w->left)
            err = end_control(w, wire);
        if (err)
            return err;
    }
}

static int decode(struct tcp_filter *f, const uint8_t *data, size_t len, struct bytes_out *plain,
                  struct bytes_out *wire)
{
    struct websocket *w = (struct websocket *)f;
    w->in = data;
    w->in_len = len;
    w->has_ping = false;
    int err = take_frames(w, plain, wire);
    if (!err && w->has_ping)
        err = put_frame(w, WSLAY_PONG, w->ping, w->ping_len, wire);
    return err;
}

static int encode(struct tcp_filter *f, const struct iovec *parts, int count,
                  struct bytes_out *wire)
{
    struct websocket *w = (struct websocket *)f;
    struct wslay_frame_iocb frame = {.fin = 1, .opcode = WSLAY_BINARY_FRAME};
    for (int i = 0; i < count; i++)
        frame.payload_length += parts[i].iov_len;
    if (!frame.payload_length)
        return 0;
    w->out = wire;
    for (int i = 0; i < count; i++) {
        if (!parts[i].iov_len)
            continue;
        frame.data = parts[i].iov_base;
        frame.data_length = parts[i].iov_len;
        if (wslay_frame_send(w->frames, &frame) < 0)
            return ERR_NO_MEMORY;
    }
    return 0;
}

static void finish(struct tcp_filter *f, struct bytes_out *wire)
{
    static const uint8_t going_away[] = {WSLAY_CODE_GOING_AWAY >> 8, WSLAY_CODE_GOING_AWAY & 0xff};
    struct websocket *w = (struct websocket *)f;
    if (!w->closing)
        (void)put_frame(w, WSLAY_CONNECTION_CLOSE, going_away, sizeof(going_away), wire);
    w->closing = true;
}

static size_t overhead(const struct tcp_filter *f, size_t bytes)
{
    (void)f;
    return bytes < 126 ? 2 : bytes < 65536 ? 4 : 10; // 5.2
}

static void free_filter(struct tcp_filter *f)
{
    struct websocket *w = (struct websocket *)f;
    wslay_frame_context_free(w->frames);
    free(w);
}

static const struct tcp_filter_ops ops = {
    .decode = decode,
    .encode = encode,
    .finish = finish,
    .overhead = overhead,
    .free = free_filter,
};

struct tcp_filter *websocket_new(void)
{
    static const struct wslay_frame_callbacks callbacks = {.send_callback = on_write,
                                                           .recv_callback = on_read};
    struct websocket *w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    w->base.ops = &ops;
    if (wslay_frame_context_init(&w->frames, &callbacks, w) != 0) {
        free(w);
        return NULL;
    }
    return &w->base;
}

int websocket_accept_key(struct text key, char out[WEBSOCKET_ACCEPT_TEXT])
{
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    char all[KEY_CHARS + sizeof(guid)];
    uint8_t hash[SHA1_BYTES];
    if (key.len != KEY_CHARS || memcmp(key.at + KEY_CHARS - 2, "==", 2) != 0)
        return ERR_MALFORMED;
    memcpy(all, key.at, KEY_CHARS);
    memcpy(all + KEY_CHARS, guid, sizeof(guid));
    if (gnutls_hash_fast(GNUTLS_DIG_SHA1, all, sizeof(all) - 1, hash) != 0)
        return ERR_IO;
    gnutls_datum_t raw = {hash, sizeof(hash)};
    gnutls_datum_t text;
    if (gnutls_base64_encode2(&raw, &text) != 0)
        return ERR_IO;
    bool fits = text.size == WEBSOCKET_ACCEPT_TEXT - 1;
    if (fits) {
        memcpy(out, text.data, text.size);
        out[text.size] = '\0';
    }
    gnutls_free(text.data);
    return fits ? 0 : ERR_IO;
}
