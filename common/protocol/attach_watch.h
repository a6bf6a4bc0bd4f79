// SPDX-License-Identifier: GPL-2.0-or-later
// Decides when a viewer opens another connection for its session, because the one that it has seems
// dead, or its address is gone.
//
//   Gone.     The connection has failed, or this machine has its local address no more: at once.
//   Silence.  A request has no response, and nothing has come over the connection since it was
//             sent, for ATTACH_PATIENCE; for ATTACH_PATIENCE_MEDIA if the connection carries the
//             media, as what is on the way there is lost by the change; for ATTACH_PATIENCE_MOVED
//             if the server has just validated another address of the viewer.
//   Attempt.  ATTACH_TRY at most. After one that fails the next begins ATTACH_WAIT later, after the
//             second one twice as long, and so on up to ATTACH_WAIT_MAX.
//   End.      A server that refuses the secret is asked no more; a connection that has failed is
//             given up after ATTACH_LIMIT, when the server has forgotten it.
//
// A server that was heard again meanwhile is not asked to go back: it may have changed already.
// Rejected: netlink's news of addresses. It says nothing of the reason why an address matters, and
// binding a socket to the one that does says it all. Pure.
#ifndef WEIR_PROTOCOL_ATTACH_WATCH_H
#define WEIR_PROTOCOL_ATTACH_WATCH_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define ATTACH_PATIENCE       (2 * USEC_PER_SEC)
#define ATTACH_PATIENCE_MEDIA (3 * USEC_PER_SEC)
#define ATTACH_PATIENCE_MOVED (400 * USEC_PER_MSEC)
#define ATTACH_TRY            (2 * USEC_PER_SEC)
#define ATTACH_WAIT           (100 * USEC_PER_MSEC)
#define ATTACH_WAIT_MAX       (3200 * USEC_PER_MSEC)
#define ATTACH_LIMIT          (10 * USEC_PER_SEC)

struct attach_signs {
    bool is_gone;       // the connection has failed, or its local address is gone
    bool carries_media; // the connection does
    usec_t asked;       // the oldest request without a response; USEC_NEVER: all have one
    usec_t heard;       // the newest message over the connection
};

struct attach_watch {
    bool is_trying;
    bool is_refused;
    usec_t since; // of the newest attempt
    usec_t next;  // no attempt before
    usec_t wait;  // after the next failure
    usec_t moved; // the server validated another address then; 0: not
};

void attach_watch_init(struct attach_watch *w);
// The server has validated another address of the viewer's datagrams.
void attach_watch_moved(struct attach_watch *w, usec_t now);
// Returns when an attempt begins, or the present one ends.
usec_t attach_watch_next_timeout(const struct attach_watch *w, const struct attach_signs *s);

enum attach_step { ATTACH_NOTHING, ATTACH_BEGIN, ATTACH_GIVE_UP };
// What is to be done now. After ATTACH_BEGIN an attempt is in progress; after ATTACH_GIVE_UP the
// owner ends it.
enum attach_step attach_watch_step(struct attach_watch *w, const struct attach_signs *s,
                                   usec_t now);
// The attempt has ended with this status of the server; 0: without a response.
void attach_watch_ended(struct attach_watch *w, int status, usec_t now);
// Returns true if no attempt has a chance for a connection that failed at `failed`.
bool attach_watch_is_over(const struct attach_watch *w, usec_t failed, usec_t now);

DECLS_END
#endif
