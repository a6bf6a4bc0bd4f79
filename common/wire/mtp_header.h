// SPDX-License-Identifier: GPL-2.0-or-later
// The header in front of each MTP payload, the same in UDP and in TCP segments.
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   | magic | vers. | zero  |W|C|F|R|            length             |
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   |                         packet number                         |
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   |                             slot                              |
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   |             when it left: sender's clock, us mod 2^32         |
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// `length` counts the payload; the rest of a slot is padding. The first byte is 0x51, a value that
// neither RTP nor STUN, DTLS, TURN nor QUIC start with (RFC 9443).
#ifndef WEIR_WIRE_MTP_HEADER_H
#define WEIR_WIRE_MTP_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    MTP_HEADER_BYTES = 16,
    MTP_VERSION = 1,
};

enum mtp_flag {
    MTP_R = 1,    // replacement: marks the oldest hole as received
    MTP_FILL = 2, // new data in the slot of an older packet
    MTP_CTRL = 4, // for the peer's transport, not for its application
    MTP_CWR = 8,  // the sender reduced its window (RFC 3168, 6.1.2); sent only to viewers that
                  // echo marks, as older ones refuse it
};

struct mtp_header {
    uint8_t flags; // set of enum mtp_flag; not both R and FILL
    uint16_t length;
    uint32_t number; // the packet's identity
    uint32_t slot;   // its position in the sequence
    uint32_t time_us;
};

// Writes MTP_HEADER_BYTES to `out`.
void mtp_header_encode(const struct mtp_header *h, uint8_t *out);

// Returns 0; ERR_MALFORMED (too short for the header or for `length`, not MTP, unknown flags);
// ERR_UNSUPPORTED (another version). The payload is the `length` bytes after the header.
int mtp_header_decode(const uint8_t *data, size_t len, struct mtp_header *h);

DECLS_END
#endif
