// SPDX-License-Identifier: GPL-2.0-or-later
// What the HTTP server serves. Its functions are called on the server's thread.
#ifndef WEIR_SENDER_HTTP_HTTP_CONTENT_H
#define WEIR_SENDER_HTTP_HTTP_CONTENT_H

#include <stdbool.h>

#include "common/base/usec.h"
#include "sender/policy/http_target.h"
#include "server/http/http_body.h"

#ifdef __cplusplus
extern "C" {
#endif

struct content_request {
    const char *path; // decoded, without the query
    struct http_target target;
    struct http_reload reload;
};

enum { HTTP_WAITS = 1 }; // a result, not an error

struct http_reply {
    struct http_body *body; // one reference, which the caller drops
    const char *type;       // static; media type
    int max_age;            // seconds for which a cache may keep it
    bool immutable;         // it never changes
    usec_t deadline;        // HTTP_WAITS: when the server gives up
};

struct http_content;
struct http_content_ops {
    // Returns 0: the reply is filled in; HTTP_WAITS: the content wakes the server when it may be
    // there; ERR_NOT_FOUND; ERR_MALFORMED: no such part can follow soon; ERR_FULL: it cannot be
    // served now. Does not block. `begun`: when the request arrived.
    int (*get)(struct http_content *c, const struct content_request *r, usec_t begun, usec_t now,
               struct http_reply *out);
};

struct http_content { // embedded first by each implementation
    const struct http_content_ops *ops;
};

#ifdef __cplusplus
}
#endif
#endif
