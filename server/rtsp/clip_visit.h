// SPDX-License-Identifier: GPL-2.0-or-later
// One request over HTTP, which was let in, for what was recorded of a stream: the times, and the
// body, which a thread makes (clip_reader.h). Loop thread only.
#ifndef WEIR_SERVER_RTSP_CLIP_VISIT_H
#define WEIR_SERVER_RTSP_CLIP_VISIT_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/wire/text.h"
#include "server/web/web_front.h"

DECLS_BEGIN

struct catalog;
struct clip_visit; // opaque
struct http_body;

// For the next piece of a recording; a disk that does not respond for longer ends the request.
#define CLIP_VISIT_LIMIT (20 * USEC_PER_SEC)

struct clip_visit_config {
    uv_loop_t *loop;
    struct catalog *catalog;                 // borrowed
    void (*on_ready)(void *ctx, usec_t now); // ask again, for the answer or for a part
    void *ctx;
};

struct clip_visit *clip_visit_new(const struct clip_visit_config *config); // NULL: no memory
void clip_visit_free(struct clip_visit *v);                                // NULL is fine
// `path`: of the URL, without .mp4; `query`: of it; `head`: the method is HEAD, nothing is read.
// Returns false if the request has to wait for the disk. Else true: *out is valid as long as the
// visit.
bool clip_visit_ask(struct clip_visit *v, struct text path, struct text query, bool head,
                    struct web_clip *out, usec_t now);
// Gets the next part of the body of status 200. Returns 0; ERR_AGAIN: on_ready follows; ERR_END:
// that was all; ERR_TIMED_OUT or another error: the rest does not come.
int clip_visit_more(struct clip_visit *v, struct http_body **out, usec_t now);

DECLS_END
#endif
