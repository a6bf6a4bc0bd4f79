// SPDX-License-Identifier: GPL-2.0-or-later
// Authentication of an RTSP client: Digest with SHA-256 (RFC 7616) or MD5 (RFC 2617), which most
// RTSP servers use, or Basic if the server offers nothing better. Credentials are sent only to a
// server that has asked for them.
#ifndef WEIR_PROTOCOL_RTSP_AUTH_H
#define WEIR_PROTOCOL_RTSP_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/wire/rtsp.h"

DECLS_BEGIN

enum { RTSP_AUTH_MAX = 256, RTSP_AUTH_MAX_LINE = 1536 };

// Writes the SHA-256 (32 bytes) or else the MD5 (16 bytes) of `data` to `sum`. Returns false if it
// cannot.
typedef bool rtsp_hash_fn(bool sha256, const void *data, size_t len, uint8_t sum[32]);

struct rtsp_auth {
    char user[RTSP_AUTH_MAX / 2]; // empty: there are no credentials
    char password[RTSP_AUTH_MAX / 2];
    rtsp_hash_fn *hash;                                                // static
    enum { RTSP_AUTH_NONE, RTSP_AUTH_BASIC, RTSP_AUTH_DIGEST } scheme; // of the last challenge
    char realm[RTSP_AUTH_MAX];
    char nonce[RTSP_AUTH_MAX];
    char opaque[RTSP_AUTH_MAX];
    bool has_opaque;
    bool sha256;    // else MD5
    bool qop;       // "auth" is among the qualities of protection offered
    unsigned count; // of requests with this nonce
    int renewed;    // nonces since the last accepted request
};

// Reads the challenges of a 401. Returns true if another request may succeed. Returns false if
// there are no credentials, if none of the challenges is supported, or if the server refused the
// same or a stronger scheme. A new nonce in place of a stale one may succeed, but only a limited
// number of times; one that differs without `stale`, once.
bool rtsp_auth_challenge(struct rtsp_auth *a, const struct rtsp_item *response);
void rtsp_auth_accepted(struct rtsp_auth *a); // the server accepted a request
// Writes the Authorization line of a request, with its CRLF; empty if the server sent no challenge.
// `cnonce`: random, for servers that require one.
void rtsp_auth_line(struct rtsp_auth *a, const char *method, const char *uri, uint32_t cnonce,
                    char out[RTSP_AUTH_MAX_LINE]);

DECLS_END
#endif
