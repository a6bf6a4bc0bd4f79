// SPDX-License-Identifier: GPL-2.0-or-later
// Validates the addresses that a viewer's datagrams go to, before media is sent there (after RFC
// 9000, 8.2). The challenge is the token of SETUP's answer, which the viewer gets over TCP. The
// viewer's response is a datagram with that token (path_token.h) from each of the ports that wait
// for media. The server sends media to the address that the response came from, through whatever
// NAT, and sends the token back: so the viewer knows that the path passes datagrams both ways.
//
// A token is valid from the host of the RTSP connection alone: a viewer can forge the source
// address of a datagram, but not TCP's handshake. A player that does not know Weir cannot respond:
// its media goes to the host of its RTSP connection.
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
struct udp_socket;

// ---- The server: where one viewer's media goes

struct path_validation {
    struct sockaddr_storage peer[2]; // RTP, RTCP; AF_UNSPEC: not validated
    bool by_token;                   // only the viewer's response validates
    uint64_t token;
    struct sockaddr_storage host; // of the RTSP connection; by_token
    uint64_t wrong_tokens;        // or the right one from another host
};

// `host` at ports `port` is valid from the start; port[1] may be absent (-1): the port after
// port[0].
void path_validation_on_host(struct path_validation *v, const struct sockaddr_storage *host,
                             const int port[2]);
// Waits for responses from `host`, with a new token. 0 or ERR_IO: the system has no randomness.
int path_validation_by_token(struct path_validation *v, const struct sockaddr_storage *host);

enum path_validation_result {
    PATH_NO_RESPONSE, // not the token, or not from `host`
    PATH_CONFIRMED,   // a response from the address that is validated
    PATH_VALIDATED,   // a response from another address, which replaces it
};
// A datagram came to port `which` (0: RTP, 1: RTCP).
enum path_validation_result path_validation_input(struct path_validation *v, int which,
                                                  const struct datagram *d);
// Returns true if this may be the viewer's RTCP: it comes from the validated address or, without a
// token, from one of the viewer's two ports. Other hosts behind its NAT share its IP address.
bool path_validation_is_rtcp(const struct path_validation *v, const struct datagram *d);

// ---- The viewer: responds with the token. Loop thread only

struct path_responder; // opaque

struct path_responder_config {
    void *loop;                   // uv_loop_t; it and what follows are borrowed
    struct udp_socket *socket[2]; // RTP, RTCP
    const struct sockaddr *to[2];
    uint32_t ssrc; // the viewer's
    uint64_t token;
    void (*on_validated)(void *ctx, usec_t now); // once: both ports heard the server
    void *ctx;
};

// Sends the token from both ports at once, and every 50 ms until each heard the server, or for 5 s.
// NULL: logged.
struct path_responder *path_responder_new(const struct path_responder_config *config, usec_t now);
void path_responder_free(struct path_responder *p); // NULL is fine
// A datagram of the server came to port `which`: the server knows the address of that port.
void path_responder_heard(struct path_responder *p, int which, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
