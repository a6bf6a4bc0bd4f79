// SPDX-License-Identifier: GPL-2.0-or-later
// The answers of the RTSP port to HTTP: the page that plays a stream, at every path; its few files,
// below /.weir/ (no stream has a name that begins with a dot); and RTSP inside a WebSocket, with
// the subprotocol rtsp.onvif.org (ONVIF Streaming Specification, 5.1.5). What a path has, the page
// asks by RTSP. A path that ends in .jpg is the newest picture of the stream at the path before
// that, which the caller gets. Does no I/O.
//
// Web pages of others. A WebSocket may be opened by any page that the user visits, so a request
// with an Origin is only accepted from this server's own page, or from one of --allow-origin. "DNS
// rebinding" maps the name of an attacker to an address of the victim's machine or network; so
// where no key is asked the Host must be a number, localhost, or that of an allowed origin.
//
// A page that came over plain HTTP could have been changed on the way, and would show its key
// there: where TLS is required it is not served, and a WebSocket not opened.
#ifndef WEIR_SERVER_WEB_WEB_FRONT_H
#define WEIR_SERVER_WEB_WEB_FRONT_H

#include "server/web/web_request.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    WEB_ORIGINS_MAX = 16,
    WEB_HEAD_MAX = 4096, // bytes of an answer's status line and headers
};

struct web_origins { // all zero at first
    int count;
    const char *origins[WEB_ORIGINS_MAX]; // borrowed, such as "https://example.org"
};

// Appends an origin (RFC 6454, 6.2): scheme, host and port. Borrows `text`. Returns NULL, or why it
// was not appended (static text).
const char *web_origins_read(struct web_origins *o, const char *text);

struct web_front {
    const char *program;               // borrowed; for the Server header
    const struct web_origins *allowed; // borrowed
    // Nothing asks the viewer for a key: the connection is to a loopback address, or the server is
    // open to everybody, without TLS, whose certificate has the name.
    bool open;
    bool encrypted_only; // the connection is plain where it must not be: nothing but a way to https
    bool last;           // the connection ends with this answer
};

struct web_answer {
    int status;
    bool is_still; // nothing is answered yet: the caller gets a picture and calls web_front_still
    bool upgrades; // status 101: what follows is a WebSocket
    bool ends;     // the connection ends after it; not with `upgrades`
    char head[WEB_HEAD_MAX];
    size_t head_len;
    const char *body; // static, or `text`
    size_t body_len;  // 0 for HEAD
    char text[512];
};

// Answers a request.
void web_front_answer(const struct web_front *w, const struct web_request *r, struct web_answer *a);
// A picture, or why there is none.
struct web_still {
    int status;
    const char *reason;    // a sentence, borrowed; with a status other than 200
    const char *challenge; // value of WWW-Authenticate; with status 401
    const void *data;      // borrowed until the answer is sent; NULL: for HEAD
    size_t bytes;
};

// Returns the path of the stream whose picture is requested; .at == NULL: it is no such request.
struct text web_front_still_path(const struct web_request *r);
// Answers a request for which web_front_answer has set is_still.
void web_front_still(const struct web_front *w, const struct web_request *r,
                     const struct web_still *still, struct web_answer *a);
// Answers bytes that web_request_decode refused with `err`.
void web_front_refuse(const struct web_front *w, int err, struct web_answer *a);

#ifdef __cplusplus
}
#endif
#endif
