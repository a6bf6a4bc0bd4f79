// SPDX-License-Identifier: GPL-2.0-or-later
// The requests by which a playing viewer keeps its session from expiring (RFC 2326, 12.37) and
// learns that the server lives. weir-send is asked for its parameters each second. A third-party
// server gets a GET_PARAMETER without a body (10.8) or, if it has none, OPTIONS: each 5 s, or each
// third of its session's timeout if that is less; the other of both when it leaves one unanswered.
// Some servers count only the kind that they do not list: where a session seems to have expired,
// the next one sends both in turn. (Receiver reports, which some count, are sent each second.)
// In a pause only responses show that the server lives, so they come at least twice in the longest
// silence that the viewer accepts.
#ifndef WEIR_PROTOCOL_KEEP_ALIVE_H
#define WEIR_PROTOCOL_KEEP_ALIVE_H

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/protocol/pending_requests.h"
#include "common/protocol/server_dialect.h"

DECLS_BEGIN

struct keep_alive {
    usec_t session_timeout;    // as SETUP's response has it
    bool has_get_parameter;    // OPTIONS lists GET_PARAMETER
    bool denies_get_parameter; // but the server refused one
    bool other;                // the server leaves requests of that kind unanswered
    bool in_turn;              // both kinds are sent, as an earlier session expired
    usec_t begun;              // when media began to play
    usec_t due;                // when the next request is due
};

// Which request is due. *body: its parameters (static), or NULL.
enum request_kind keep_alive_request(const struct keep_alive *k, const struct server_dialect *d,
                                     const char **body);
// The server did not answer the last request, though its media comes.
void keep_alive_unanswered(struct keep_alive *k);
// The session was lost at `now`. Returns true if it seems to have expired although requests were
// sent: about its timeout after it began, or, where the end shows by the `silence` that the viewer
// accepts, so much later.
bool keep_alive_expired(const struct keep_alive *k, usec_t silence, usec_t now);
// Sets `due` after a request at `now`. `silence`: the longest silence that the viewer accepts.
void keep_alive_asked(struct keep_alive *k, const struct server_dialect *d, usec_t silence,
                      usec_t now);

DECLS_END
#endif
