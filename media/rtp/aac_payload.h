// SPDX-License-Identifier: GPL-2.0-or-later
// AAC in RTP: RFC 3640, mode AAC-hbr (3.3.6), one access unit a packet. A unit that is larger than
// a packet is cut into fragments (3.2.3.1), which have the same timestamp. The payload begins with
// the AU header section (3.2.1):
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   |   AU-headers-length: 16 bits  |     size of the unit    |index|
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// The size is that of the whole unit, in fragments, too; the index is 0. The marker is set on the
// packet that ends a unit. Pure.
#ifndef WEIR_MEDIA_RTP_AAC_PAYLOAD_H
#define WEIR_MEDIA_RTP_AAC_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    AAC_PAYLOAD_HEAD = 4,        // bytes
    AAC_PAYLOAD_MAX_UNIT = 8191, // bytes: 13 bits
};

// Writes the payload of the packet that carries the unit's bytes from *at on, and advances *at; the
// packet ends the unit if *at is then `len`. Returns the payload's length. *at < len,
// 0 < len <= AAC_PAYLOAD_MAX_UNIT, cap > AAC_PAYLOAD_HEAD.
size_t aac_payload_write(const uint8_t *unit, size_t len, size_t *at, uint8_t *out, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
