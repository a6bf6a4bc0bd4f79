// SPDX-License-Identifier: GPL-2.0-or-later
// The service of --access-http (access_question.h). Threads of its own ask it for the loop. The
// laws: SERVICE_AT_ONCE questions at a time, each for SERVICE_DEADLINE at most; after one without
// an answer none is asked for SERVICE_PAUSE, and each request is refused. Another status of 4xx
// refuses that request alone. It remembers the newest SERVICE_KNOWN of the other answers by a keyed
// hash: 200 for SERVICE_GRANTED, 401 and 403 for SERVICE_REFUSED.
#ifndef WEIR_SERVER_ACCESS_ACCESS_SERVICE_H
#define WEIR_SERVER_ACCESS_ACCESS_SERVICE_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "server/policy/access_question.h"
#include "server/policy/places.h"

DECLS_BEGIN

enum {
    SERVICE_AT_ONCE = 4,
    SERVICE_OF_ADDRESS = 2, // of them, of one address
    SERVICE_KNOWN = 256,
};
#define SERVICE_DEADLINE (2 * USEC_PER_SEC)
#define SERVICE_PAUSE    USEC_PER_SEC
#define SERVICE_GRANTED  (30 * USEC_PER_SEC)
#define SERVICE_REFUSED  (5 * USEC_PER_SEC)

struct access_service; // opaque
struct access_inquiry; // opaque: a question that is being asked

// Results: 200: it lets in; 401, 403: it refuses; 503: it does not answer, or has no answer to
// this.
typedef void access_inquiry_fn(void *ctx, int result, usec_t now);

struct access_service *access_service_new(uv_loop_t *loop,
                                          const char *url); // NULL: failed (logged)
void access_service_free(struct access_service *s);         // NULL is fine

// Returns the remembered result; 503 in a pause; or ERR_AGAIN: it must be asked. Any thread.
int access_service_known(struct access_service *s, const struct access_question *q, usec_t now);
// Asks at once, and blocks for SERVICE_DEADLINE at most. Any thread but the loop's.
int access_service_ask(struct access_service *s, const struct access_question *q);
// Begins to ask; `done` is called on the loop's thread. NULL: too many are asked about; try later.
struct access_inquiry *access_service_begin(struct access_service *s, struct place_key address,
                                            const struct access_question *q,
                                            access_inquiry_fn *done, void *ctx);
// Cancels the question: `done` is not called. NULL is fine.
void access_service_leave(struct access_inquiry *i);

DECLS_END
#endif
