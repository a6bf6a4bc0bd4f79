// SPDX-License-Identifier: GPL-2.0-or-later
// Path validation: a viewer proves the address of its media port with an RTCP APP packet (RFC 3550,
// 6.7) that contains the token from the response to SETUP, sent from that port. The packet opens
// NATs on the path, and its source is the address to send media to.
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
// Returns false if the bytes are something else.
bool path_token_decode(const uint8_t *data, size_t len, uint64_t *token);

#ifdef __cplusplus
}
#endif
#endif
