// SPDX-License-Identifier: GPL-2.0-or-later
// Compares what a proxy has stored of a film with its origin, while a session with the origin goes
// on: the SHA-256 of each group that is whole is requested (`group-hash`, docs/protocol.md), and
// the store verifies or removes the group (store_film_verify). So what a session brings can be
// served a round trip after it is written. The first request tells whether the origin names digests
// (store_fetch.can_verify). Loop thread only.
#ifndef WEIR_PROXY_FEED_GROUP_VERIFIER_H
#define WEIR_PROXY_FEED_GROUP_VERIFIER_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/wire/text.h"
#include "proxy/store/store.h"

DECLS_BEGIN

struct group_verifier; // opaque

struct group_verifier_config {
    uv_loop_t *loop;         // borrowed
    struct store_film *film; // held by the verifier
    // Requests the digests: lines of GET_PARAMETER. Returns false if it cannot now: the verifier
    // tries again. group_verifier_take follows.
    bool (*ask)(void *ctx, const char *body, usec_t now);
    void *ctx; // borrowed
};

struct group_verifier *
group_verifier_new(const struct group_verifier_config *config); // NULL: memory
void group_verifier_free(struct group_verifier *v);             // NULL is fine
// The origin's response; empty: it refused. Then nothing more is requested.
void group_verifier_take(struct group_verifier *v, struct text body, usec_t now);
// Returns true if the origin has refused to name digests.
bool group_verifier_is_refused(const struct group_verifier *v);

DECLS_END
#endif
