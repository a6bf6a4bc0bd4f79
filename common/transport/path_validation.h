// SPDX-License-Identifier: GPL-2.0-or-later
// Validates the addresses to which a viewer's datagrams are sent, before media is sent there (as in
// RFC 9000, 8.2). The challenge is the token of the SETUP response, which the viewer receives over
// TCP. The viewer's response is a datagram with that token (path_token.h) from each port that
// expects media. The server sends media to the source address of the response, which works through
// NATs. It also echoes the token, so that the viewer knows that the path passes datagrams both
// ways.
//
// A token is valid only from the host of the RTSP connection: an attacker can forge the source
// address of a datagram, but not TCP's handshake. A third-party player cannot respond: its media is
// sent to the host of its RTSP connection.
#ifndef WEIR_TRANSPORT_PATH_VALIDATION_H
#define WEIR_TRANSPORT_PATH_VALIDATION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct datagram;
struct srtp_guard;
struct udp_socket;

// ---- The server: where one viewer's media goes

struct path_validation {
    struct sockaddr_storage peer[2]; // RTP, RTCP; AF_UNSPEC: not validated
    bool by_token;                   // true if only a response with the token validates an address
    uint64_t token;
    struct sockaddr_storage host; // of the RTSP connection; by_token
    uint64_t wrong_tokens;        // number of wrong tokens, and of correct ones from another host
};

// `host` at ports `port` is valid from the start; port[1] may be absent (-1): the port after
// port[0].
void path_validation_on_host(struct path_validation *v, const struct sockaddr_storage *host,
                             const int port[2]);
// Waits for responses from `host`, with a new token. 0 or ERR_IO: the system has no randomness.
int path_validation_by_token(struct path_validation *v, const struct sockaddr_storage *host);

enum path_validation_result {
    PATH_NO_RESPONSE, // not the token, or not from `host`
    PATH_CONFIRMED,   // a response from the validated address
    PATH_VALIDATED,   // a response from another address, which replaces the validated one
};
// A datagram arrived on port `which` (0: RTP, 1: RTCP).
enum path_validation_result path_validation_input(struct path_validation *v, int which,
                                                  const struct datagram *d);
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
    void (*on_validated)(
        void *ctx, usec_t now); // called once, when the server's datagrams have reached both ports
    void *ctx;
};

// Sends the token from both ports, at once and every 50 ms, until the server's datagrams have
// reached both ports, for at most 5 s. NULL: failed (logged).
struct path_responder *path_responder_new(const struct path_responder_config *config, usec_t now);
void path_responder_free(struct path_responder *p); // NULL is fine
// A datagram of the server arrived on port `which`: the server knows the address of that port.
void path_responder_heard(struct path_responder *p, int which, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
