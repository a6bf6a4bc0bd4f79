// SPDX-License-Identifier: GPL-2.0-or-later
// HTTP requests to the RTSP port, and the WebSocket that follows an upgrade. The input is read
// whole and in pieces: the payload and the end must be the same.
#include <assert.h>
#include <string.h>

#include "common/base/err.h"
#include "server/web/web_front.h"
#include "server/web/websocket.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
    struct bytes_out plain;
    struct bytes_out wire;
    int err;
};

static void read_frames(const uint8_t *data, size_t size, size_t step, struct outcome *o)
{
    struct tcp_filter *f = websocket_new();
    *o = (struct outcome){0};
    assert(f);
    for (size_t at = 0; at < size && !o->err; at += step)
        o->err =
            f->ops->decode(f, data + at, size - at < step ? size - at : step, &o->plain, &o->wire);
    struct iovec part = {(void *)(uintptr_t)data, size};
    struct bytes_out written = {0};
    int err = f->ops->encode(f, &part, 1, &written);
    assert(!err && written.len == (size ? size + f->ops->overhead(f, size) : 0));
    (void)err;
    bytes_out_free(&written);
    f->ops->finish(f, &o->wire);
    f->ops->free(f);
}

static void check_frames(const uint8_t *data, size_t size)
{
    struct outcome whole, pieces;
    read_frames(data, size, size + 1, &whole);
    read_frames(data, size, 3, &pieces);
    assert(whole.err == pieces.err && whole.plain.len == pieces.plain.len);
    assert(!whole.plain.len || memcmp(whole.plain.data, pieces.plain.data, whole.plain.len) == 0);
    assert(whole.plain.len <= size);
    bytes_out_free(&whole.plain);
    bytes_out_free(&whole.wire);
    bytes_out_free(&pieces.plain);
    bytes_out_free(&pieces.wire);
}

static void within(struct text t, const uint8_t *data, size_t size)
{
    const char *from = (const char *)data;
    assert(t.len == 0 || (t.at >= from && t.at + t.len <= from + size));
    (void)from, (void)size, (void)t;
}

// A request that is complete is incomplete, and not refused, while its last byte is missing.
static void check_pieces(const uint8_t *data, size_t used)
{
    struct http_request r;
    size_t ignored = 0;
    for (size_t some = used - 1; some > 0; some /= 2) {
        int status = http_request_decode(data, some, &r, &ignored);
        assert(status == ERR_AGAIN);
        (void)status;
    }
}

static void check_parts(const struct http_request *r)
{
    char text[64];
    int err = http_request_path(r, text, sizeof(text));
    assert(err || strlen(text) <= r->path.len);
    err = http_request_parameter(r, "key", text, sizeof(text));
    assert(err || strlen(text) <= r->query.len);
    struct http_head head;
    http_head_begin(&head, 200, "fuzz", 1);
    struct http_origins allowed = {0};
    (void)http_origins_read(&allowed, "https://good.example");
    http_door_add(&allowed, r, false, &head);
    http_door_add_preflight(&allowed, r, "GET", "Range", &head);
    http_head_end(&head, 1, http_request_ends(r));
    assert(head.len < sizeof(head.text));
    // No header of a request makes one of the response.
    assert(strstr(head.text, "\r\n\r\n") == head.text + head.len - 4);
    (void)err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_origins allowed = {0};
    const char *wrong = http_origins_read(&allowed, "https://good.example");
    assert(!wrong);
    (void)wrong;
    struct web_front front = {.program = "fuzz", .allowed = &allowed, .open = true};
    size_t at = 0;
    (void)http_request_begins(data, size);
    while (at < size) {
        struct http_request r;
        struct web_answer a;
        size_t used = 0;
        int status = http_request_decode(data + at, size - at, &r, &used);
        if (status) {
            assert(status == ERR_AGAIN || (status >= 400 && status < 600));
            if (status != ERR_AGAIN)
                web_front_refuse(&front, status, &a);
            break;
        }
        check_pieces(data + at, used);
        check_parts(&r);
        within(r.host, data, size);
        if (!text_is(r.path, "/")) // also that of a URL without a path
            within(r.path, data, size);
        within(r.query, data, size);
        web_front_answer(&front, &r, &a);
        if (a.task == WEB_MEDIA) {
            static const struct web_still none = {.status = 404, .reason = "none"};
            within(web_front_media_path(&r), data, size);
            assert(web_front_media_path(&r).len > 1);
            web_front_still(&front, &r, &none, &a);
        }
        if (a.task == WEB_STILL) {
            static const uint8_t picture[] = {0xff, 0xd8};
            struct web_still still = {
                .status = 200, .data = picture, .bytes = sizeof(picture), .reason = ""};
            within(web_front_still_path(&r), data, size);
            web_front_still(&front, &r, &still, &a);
        }
        if (a.task == WEB_LOGIN || a.task == WEB_LOGOUT) {
            struct web_credentials given;
            bool is_whole = size - at - used >= r.length;
            struct text form = {(const char *)data + at + used, is_whole ? (size_t)r.length : 0};
            bool reads = web_login_form(form, &given) == 0;
            assert(!reads || (*given.user && *given.password));
            within(web_login_token(&front.at, &r), data, size);
            struct web_login login = {
                .status = reads ? 204 : 401, .reason = "", .token = reads ? "T" : NULL};
            web_front_login(&front, &r, &login, &a);
            used += form.len;
        }
        http_head_end(&a.head, a.body_len, a.ends);
        assert(used > 0 && a.head.len < sizeof(a.head.text));
        assert(memcmp(a.head.text + a.head.len - 4, "\r\n\r\n", 4) == 0);
        at += used;
        if (a.head.status == 101)
            break;
    }
    check_frames(data + at, size - at);
    return 0;
}
