// SPDX-License-Identifier: GPL-2.0-or-later
// A connection whose requests must be let in. It remembers what it was let in for, so that later
// requests of the same connection need no key: players leave the query out of the URIs of tracks.
// Loop thread only.
#ifndef WEIR_SERVER_ACCESS_ACCESS_GUEST_H
#define WEIR_SERVER_ACCESS_ACCESS_GUEST_H

#include "common/base/decls.h"
#include "server/access/access.h"

DECLS_BEGIN

struct access_guest; // opaque

struct access_guest_config {
    struct access *access; // borrowed
    uv_loop_t *loop;
    const struct sockaddr *peer;             // copied
    void (*on_ready)(void *ctx, usec_t now); // after ACCESS_WAITS: ask again, with the same request
    void *ctx;
    // A request is let in by what it brings along alone: of HTTP, as a proxy sends those of several
    // clients over a connection.
    bool forgets;
};

struct access_guest *access_guest_new(const struct access_guest_config *config); // NULL: no memory
void access_guest_free(struct access_guest *g);                                  // NULL is fine

// Returns true if nothing is asked of the connection, as it comes from the loopback.
bool access_guest_is_open(const struct access_guest *g);

// ACCESS_WAITS: a password is being verified, or the answer is delayed because the address has
// failed too often; for ACCESS_GUEST_LIMIT at most.
#define ACCESS_GUEST_LIMIT (8 * USEC_PER_SEC)
enum access_answer access_guest_ask(struct access_guest *g, const struct access_request *r,
                                    struct access_refusal *why, usec_t now);
// Logs in the user of r->authorization, for a browser. The password is verified, and wrong ones are
// delayed, as those of access_guest_ask. Writes the token of the new login; that of r->token ends.
enum access_answer access_guest_log_in(struct access_guest *g, const struct access_request *r,
                                       char out[LOGIN_TOKEN_TEXT], struct access_refusal *why,
                                       usec_t now);

DECLS_END
#endif
