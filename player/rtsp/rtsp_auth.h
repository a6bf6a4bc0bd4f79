// SPDX-License-Identifier: GPL-2.0-or-later
// Who we are, to a server that asks: Digest with SHA-256 (RFC 7616) or with MD5, as most RTSP
// servers do it (RFC 2617), or Basic where nothing better is offered. A password goes to nobody who
// did not ask for it.
#ifndef WEIR_PLAYER_RTSP_RTSP_AUTH_H
#define WEIR_PLAYER_RTSP_RTSP_AUTH_H

#include <stdbool.h>

#include "common/wire/rtsp.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RTSP_AUTH_MAX = 256, RTSP_AUTH_MAX_LINE = 1536 };

struct rtsp_auth {
    char user[RTSP_AUTH_MAX / 2]; // empty: no one
    char password[RTSP_AUTH_MAX / 2];
    enum { RTSP_AUTH_NONE, RTSP_AUTH_BASIC, RTSP_AUTH_DIGEST } scheme; // that was asked for
    char realm[RTSP_AUTH_MAX];
    char nonce[RTSP_AUTH_MAX];
    char opaque[RTSP_AUTH_MAX];
    bool has_opaque;
    bool sha256;    // else MD5
    bool qop;       // "auth" is among the qualities of protection offered
    unsigned count; // of requests with this nonce
    int renewed;    // nonces since a request was accepted
};

// Takes the challenges of a 401. True: another try may succeed. False: no user is known, none of
// the challenges can be met, or the server refuses what it just had: the same scheme or a weaker
// one, but for a new nonce in the place of a stale one, several times.
bool rtsp_auth_challenge(struct rtsp_auth *a, const struct rtsp_item *response);
void rtsp_auth_accepted(struct rtsp_auth *a); // a request was
// The Authorization line, with its CRLF, of a request; empty when nobody asked. `cnonce`: random,
// for servers that want it.
void rtsp_auth_line(struct rtsp_auth *a, const char *method, const char *uri, uint32_t cnonce,
                    char out[RTSP_AUTH_MAX_LINE]);

#ifdef __cplusplus
}
#endif
#endif
