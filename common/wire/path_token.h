// SPDX-License-Identifier: GPL-2.0-or-later
// Path validation: a viewer proves the address of its media port with an RTCP APP packet (RFC 3550,
// 6.7) that contains the token from the response to SETUP, sent from that port. The packet opens
// NATs on the path, and its source is the address to send media to. Of an address that is not the
// one before, the server asks for a response to a challenge first (RFC 9000, 8.2).
//
//   V=2, subtype, APP (204), length 4; SSRC; "WEIR"; 64 bits. Alone in a datagram.
//   subtype 0: the token; 2: the server's challenge; 3: the viewer's response, the same 64 bits.
#ifndef WEIR_WIRE_PATH_TOKEN_H
#define WEIR_WIRE_PATH_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum { PATH_TOKEN_BYTES = 20 }; // of each of them

void path_token_encode(uint32_t ssrc, uint64_t token, uint8_t out[PATH_TOKEN_BYTES]);
// Returns false if the bytes are something else.
bool path_token_decode(const uint8_t *data, size_t len, uint64_t *token);

void path_challenge_encode(uint32_t ssrc, uint64_t challenge, uint8_t out[PATH_TOKEN_BYTES]);
bool path_challenge_decode(const uint8_t *data, size_t len, uint64_t *challenge);
void path_response_encode(uint32_t ssrc, uint64_t challenge, uint8_t out[PATH_TOKEN_BYTES]);
bool path_response_decode(const uint8_t *data, size_t len, uint64_t *challenge);
// Returns the viewer's SSRC in a packet of PATH_TOKEN_BYTES of either end.
uint32_t path_token_ssrc(const uint8_t *data);

DECLS_END
#endif
