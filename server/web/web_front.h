// SPDX-License-Identifier: GPL-2.0-or-later
// The answers of the RTSP port to HTTP: the page that plays a stream, at every path; its few files,
// below /.weir/ (no stream has a name that begins with a dot); and RTSP inside a WebSocket, with
// the subprotocol rtsp.onvif.org (ONVIF Streaming Specification, 5.1.5). What a path has, the page
// asks by RTSP. A path that ends in .jpg is the newest picture of the stream at the path before
// that, which the caller gets; a path that ends in .mp4, with "clip=" or "recordings" in the query,
// is what was recorded of the stream (clip_request.h), which the caller streams; below /PATH/ are
// the files of HLS and DASH (http_target.h). A browser logs in, and out, by POST to /.weir/login
// and
// /.weir/logout (web_login.h), which the caller does. Does no I/O.
//
// Web pages of others (http_door.h). A WebSocket is refused to them, and so is a picture, which
// would switch a camera on. Where no key is asked the Host must be a name of this server.
//
// A page that came over plain HTTP could have been changed on the way, and would show its key
// there: where TLS is required it is not served, and a WebSocket not opened.
#ifndef WEIR_SERVER_WEB_WEB_FRONT_H
#define WEIR_SERVER_WEB_WEB_FRONT_H

#include "common/base/decls.h"
#include "server/http/message/http_door.h"
#include "server/web/web_login.h"

DECLS_BEGIN

struct web_front {
    const char *program;                // borrowed; for the Server header
    usec_t wall;                        // the time, for the Date header
    const struct http_origins *allowed; // borrowed
    // Nothing asks the viewer for a key: the connection is to a loopback address, or the server is
    // open to everybody, without TLS, whose certificate has the name.
    bool open;
    bool is_local;       // the connection is to a loopback address
    bool encrypted_only; // the connection is plain where it must not be: nothing but a way to https
    bool last;           // the connection ends with this answer
    struct web_arrival at;
};

enum web_task {
    WEB_ANSWERED,
    // Nothing is answered yet. The caller ...
    WEB_STILL,  // gets a picture and calls web_front_still
    WEB_MEDIA,  // responds with a file of HLS or DASH, or calls web_front_still with the reason
    WEB_CLIP,   // gets a recording, calls web_front_clip, and sends the body in parts
    WEB_LOGIN,  // reads the body, logs in its user and calls web_front_login
    WEB_LOGOUT, // reads the body, ends the login of web_login_token and calls web_front_login
};

struct web_answer {
    enum web_task task;
    bool ends; // the connection ends after it; not with status 101, which a WebSocket follows
    struct http_head head; // without its end, as struct http_response has it
    const char *body;      // static, or `text`; not sent with HEAD; NULL: none
    size_t body_len;       // SIZE_MAX without a body: it is not known
    char text[512];
};

// Answers a request.
void web_front_answer(const struct web_front *w, const struct http_request *r,
                      struct web_answer *a);
// A picture, or why there is none.
struct web_still {
    int status;
    const char *reason;    // a sentence, borrowed; with a status other than 200
    const char *challenge; // value of WWW-Authenticate; with status 401
    const void *data;      // borrowed until the answer is sent; NULL: for HEAD
    size_t bytes;
    int max_age; // seconds that a browser may keep it; with status 200
};

// Returns the path of the stream whose picture is requested; .at == NULL: it is no such request.
struct text web_front_still_path(const struct http_request *r);
// Returns the path of the stream whose file of HLS or DASH is requested; .at == NULL: it is no such
// request.
struct text web_front_media_path(const struct http_request *r);
// Answers a request whose task is WEB_STILL, or with a reason WEB_MEDIA.
void web_front_still(const struct web_front *w, const struct http_request *r,
                     const struct web_still *still, struct web_answer *a);
// What was recorded, or why there is none.
struct web_clip {
    int status;
    const char *reason; // as those of web_still
    const char *challenge;
    bool is_list;     // JSON, else MP4
    const char *name; // of the file to save, borrowed
};

// As web_front_still_path.
struct text web_front_clip_path(const struct http_request *r);
// Answers a request whose task is WEB_CLIP. With status 200 of GET the caller sends the body.
void web_front_clip(const struct web_front *w, const struct http_request *r,
                    const struct web_clip *clip, struct web_answer *a);
// How a browser was logged in or out, or why not.
struct web_login {
    int status;         // 204: it was
    const char *reason; // a sentence, borrowed; with another status
    const char *token;  // borrowed; NULL: it was logged out
};

// Answers a request whose task is WEB_LOGIN or WEB_LOGOUT.
void web_front_login(const struct web_front *w, const struct http_request *r,
                     const struct web_login *login, struct web_answer *a);
// Answers bytes that http_request_decode refused with `status`.
void web_front_refuse(const struct web_front *w, int status, struct web_answer *a);

DECLS_END
#endif
