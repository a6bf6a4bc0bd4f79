// SPDX-License-Identifier: GPL-2.0-or-later
// The requests by which a playing viewer keeps its session from expiring (RFC 2326, 12.37) and
// learns that the server lives. weir-send is asked for its parameters each second. A third-party
// server gets a GET_PARAMETER without a body (10.8) or, if it has none, OPTIONS: each 5 s, or each
// third of its session's timeout if that is less; the other of both when it leaves one unanswered.
// In a pause only responses show that the server lives, so they come at least twice in the longest
// silence that the viewer accepts.
#ifndef WEIR_PROTOCOL_KEEP_ALIVE_H
#define WEIR_PROTOCOL_KEEP_ALIVE_H

#include "common/base/usec.h"
#include "common/protocol/pending_requests.h"
#include "common/protocol/server_dialect.h"

#ifdef __cplusplus
extern "C" {
#endif

struct keep_alive {
    usec_t session_timeout;    // as SETUP's response has it
    bool has_get_parameter;    // OPTIONS lists GET_PARAMETER
    bool denies_get_parameter; // but the server refused one
    bool other;                // the server leaves requests of that kind unanswered
    usec_t due;                // when the next request is due
};

// Which request is due. *body: its parameters (static), or NULL.
enum request_kind keep_alive_request(const struct keep_alive *k, const struct server_dialect *d,
                                     const char **body);
// The server did not answer the last request, though its media comes.
void keep_alive_unanswered(struct keep_alive *k);
// Sets `due` after a request at `now`. `silence`: the longest silence that the viewer accepts.
void keep_alive_asked(struct keep_alive *k, const struct server_dialect *d, usec_t silence,
                      usec_t now);

#ifdef __cplusplus
}
#endif
#endif
