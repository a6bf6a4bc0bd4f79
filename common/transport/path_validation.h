// SPDX-License-Identifier: GPL-2.0-or-later
// Validates the addresses to which a viewer's datagrams are sent, before media is sent there (as in
// RFC 9000, 8.2), and lets them change in mid-stream (9).
//
//   First.  The challenge is the token of the SETUP response, which the viewer receives over TCP.
//           The viewer's response is a datagram with that token (path_token.h) from each port that
//           expects media. It is valid only from the host of the RTSP connection: an attacker can
//           forge the source address of a datagram, but not TCP's handshake.
//   Change. A later token from another address, of any host, proves the session, not the address.
//           The server sends a challenge there, and takes the address when the response comes from
//           it. Until then, media goes to the address before.
//
// In both cases the server sends media to the source address of the datagram, which works through
// NATs. It also echoes the token from a valid address, so that the viewer knows that the path
// passes datagrams both ways. Each datagram is answered by ones of its size, two at most: less than
// the three times that RFC 9000, 8.1, allows.
//
// A challenge is a keyed hash of the address and of the number of changes before. So the server
// keeps nothing of addresses that have not responded, many of them displace none, and the response
// from an address that the viewer has left is void. RFC 9000, 8.2.2, accepts the response from any
// address, here it must come from the one that was asked: else an attacker that forwards
// challenges would take the media.
//
// A third-party player cannot respond: its media is sent to the host of its RTSP connection.
#ifndef WEIR_TRANSPORT_PATH_VALIDATION_H
#define WEIR_TRANSPORT_PATH_VALIDATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "common/base/decls.h"
#include "common/base/siphash.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct datagram;
struct srtp_guard;
struct udp_socket;

// ---- The server: where one viewer's media goes

struct path_validation {
    struct sockaddr_storage peer[2]; // RTP, RTCP; AF_UNSPEC: not validated
    bool by_token;                   // true if only a response with the token validates an address
    uint64_t token;
    // Of the RTSP connection; by_token. AF_UNSPEC: from any host, once it has answered a challenge.
    struct sockaddr_storage host;
    struct siphash_key key; // of the challenges; by_token
    uint64_t changes[2];    // of the validated address of each port
    uint64_t wrong_tokens; // number of wrong tokens and responses, and of correct first tokens from
                           // another host
};

// `host` at ports `port` is valid from the start; port[1] may be absent (-1): the port after
// port[0].
void path_validation_on_host(struct path_validation *v, const struct sockaddr_storage *host,
                             const int port[2]);
// Waits for responses from `host`, with a new token; NULL: from any host, of which each port must
// answer a challenge before anything else is sent there (RFC 9000, 8.2). 0 or ERR_IO: the system
// has no randomness.
int path_validation_by_token(struct path_validation *v, const struct sockaddr_storage *host);

enum path_validation_result {
    PATH_NO_RESPONSE, // not of path validation
    PATH_WRONG,       // not the token, or not from `host`, or no response to a challenge
    PATH_CONFIRMED,   // the token from the validated address
    PATH_VALIDATED,   // the first token; its source is the validated address now
    PATH_UNKNOWN,     // the token from another address, which is to be challenged
    PATH_ANSWERED,    // the response to the challenge of its source
};
// A datagram arrived on port `which` (0: RTP, 1: RTCP).
enum path_validation_result path_validation_input(struct path_validation *v, int which,
                                                  const struct datagram *d);
// Returns the challenge of address `from` for port `which`.
uint64_t path_validation_challenge(const struct path_validation *v, int which,
                                   const struct sockaddr_storage *from);
// Returns true if the datagram comes from the validated address of port `which`.
bool path_validation_is_known(const struct path_validation *v, int which, const struct datagram *d);
// After PATH_ANSWERED: media goes to `to` from now on.
void path_validation_change(struct path_validation *v, int which,
                            const struct sockaddr_storage *to);
// Returns true if this may be RTCP of the viewer: it comes from the validated address or, without a
// token, from one of the viewer's two ports. Other hosts behind its NAT share its IP address.
bool path_validation_is_rtcp(const struct path_validation *v, const struct datagram *d);

// ---- The viewer: responds with the token. Loop thread only

struct path_responder; // opaque

struct path_responder_config {
    void *loop;                   // uv_loop_t; borrowed, like the pointers below
    struct udp_socket *socket[2]; // RTP, RTCP
    const struct sockaddr *to[2];
    uint32_t ssrc; // the viewer's
    uint64_t token;
    struct srtp_guard *srtp; // encrypts the tokens; NULL: they are plain
    // Called once, when the server's datagrams have reached both ports.
    void (*on_validated)(void *ctx, usec_t now);
    // The server has validated the address of the port for RTP once more, by a challenge: it has
    // changed, or the media returns to it. NULL: not told.
    void (*on_changed)(void *ctx, usec_t now);
    void *ctx;
};

// Sends the token from both ports as path_prober.h says, the first ones at once. NULL: failed
// (logged).
struct path_responder *path_responder_new(const struct path_responder_config *config, usec_t now);
void path_responder_free(struct path_responder *p); // NULL is fine
// Media is due on this path, or not any more: see path_prober.h. NULL is fine.
void path_responder_set_due(struct path_responder *p, bool due, usec_t now);
// A decrypted datagram of the server arrived on port `which`. Returns true if it is of path
// validation, and has been served.
bool path_responder_input(struct path_responder *p, int which, const uint8_t *data, size_t len,
                          usec_t now);

DECLS_END
#endif
