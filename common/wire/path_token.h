// SPDX-License-Identifier: GPL-2.0-or-later
// How a viewer proves where its media is to go: an RTCP APP packet (RFC 3550, 6.7) with the token
// that SETUP's answer gave it, sent from the very port that waits for media. It opens NATs on the
// way, and what it came from is the address to send to.
//
//   V=2, subtype 0, APP (204), length 4; SSRC; "WEIR"; 64-bit token. Alone in a datagram.
#ifndef WEIR_WIRE_PATH_TOKEN_H
#define WEIR_WIRE_PATH_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PATH_TOKEN_BYTES = 20 };

void path_token_encode(uint32_t ssrc, uint64_t token, uint8_t out[PATH_TOKEN_BYTES]);
// False: something else.
bool path_token_decode(const uint8_t *data, size_t len, uint64_t *token);

#ifdef __cplusplus
}
#endif
#endif
