// SPDX-License-Identifier: GPL-2.0-or-later
// Where a viewer's media goes. A player that knows Weir proves its addresses with the token of
// SETUP's answer (path_token.h), sent from the very ports that wait for media: what the token came
// from is sent to, through whatever NAT; on the host of the RTSP connection alone, as who knows the
// token may forge where a datagram comes from, but not the handshake of TCP. Any other player is
// sent to on the host of its RTSP connection. Nothing is sent to an address that is not proved.
#ifndef WEIR_SENDER_SESSION_MEDIA_ADDRESS_H
#define WEIR_SENDER_SESSION_MEDIA_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

struct datagram;

struct media_address {
    struct sockaddr_storage peer[2]; // RTP, RTCP; AF_UNSPEC: not proved yet
    bool by_token;
    uint64_t token;
    struct sockaddr_storage host; // of the RTSP connection; by_token
    uint64_t wrong_tokens;        // or right ones from another host
};

// On `host`; the RTCP port may be absent (-1): the next one.
void media_address_on_host(struct media_address *a, const struct sockaddr_storage *host,
                           const int port[2]);
// Wherever on `host` the token comes from. 0 or ERR_IO: the system has no randomness.
int media_address_by_token(struct media_address *a, const struct sockaddr_storage *host);
enum media_proof {
    PROOF_NONE,  // not the token, or not from where it may come
    PROOF_KNOWN, // of the address that was known
    PROOF_NEW,   // of another
};
// A datagram came to the port `which`.
enum media_proof media_address_prove(struct media_address *a, int which, const struct datagram *d);
// Returns true if this may be RTCP of the viewer: it comes from the address proved, or, of a viewer
// without a token, from one of the two ports that it named. Others behind its NAT have its address,
// too.
bool media_address_is_rtcp(const struct media_address *a, const struct datagram *d);

#ifdef __cplusplus
}
#endif
#endif
