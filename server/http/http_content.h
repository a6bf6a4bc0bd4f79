// SPDX-License-Identifier: GPL-2.0-or-later
// HLS and DASH: the files of a stream, or of several, as a server gives them to players and caches.
// The files come from an http_content of the program; how a request names one, and how a response
// gives it, is the same at each port.
#ifndef WEIR_SERVER_HTTP_HTTP_CONTENT_H
#define WEIR_SERVER_HTTP_HTTP_CONTENT_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "server/http/http_handler.h"
#include "server/http/message/http_door.h"
#include "server/policy/http_target.h"

DECLS_BEGIN

enum { CONTENT_PATH_MAX = 2048 }; // bytes of a decoded path, with NUL

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
    // there; ERR_NOT_FOUND; ERR_MALFORMED: no such part can follow soon; another error: it cannot
    // be served now. Does not block. `begun`: when the request arrived.
    int (*get)(struct http_content *c, const struct content_request *r, usec_t begun, usec_t now,
               struct http_reply *out);
};

struct http_content { // embedded first by each implementation
    const struct http_content_ops *ops;
};

// Reads what a request names; out->path is `path`. Returns 0, or the status of a refusal.
int http_content_read(const struct http_request *r, char path[CONTENT_PATH_MAX],
                      struct content_request *out);
// Returns the status of the response to an error of `get`.
int http_content_status(int err);

struct content_server_facts {
    const char *program;                // borrowed; for the Server header; NULL: none
    const struct http_origins *origins; // borrowed; of web pages that may play
    usec_t wall;                        // for the Date header
    // Not NULL: the response is for the bearer of this key alone, "" if the request was let in by
    // something else: no cache may share it, and the URIs of playlists get the key.
    const char *key;
};

// Responds with a reply, or with the range of it that was requested. Takes over the reply's
// reference.
void http_content_respond(const struct content_server_facts *s, const struct http_request *r,
                          const struct http_reply *reply, struct http_response *out);

DECLS_END
#endif
