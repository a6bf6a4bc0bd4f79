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
// packet that ends a unit.
//
// Third parties put several units into a packet, each with a header of 16 bits in the section; only
// whole ones. The index and the differences of indices are 0, as units are not interleaved. Pure.
#ifndef WEIR_MEDIA_RTP_AAC_PAYLOAD_H
#define WEIR_MEDIA_RTP_AAC_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    AAC_PAYLOAD_HEAD = 4,        // bytes
    AAC_PAYLOAD_MAX_UNIT = 8191, // bytes: 13 bits
    AAC_PAYLOAD_UNITS = 64,      // of a packet that is read; FFmpeg sends up to 50 silent ones
};

// Writes the payload of the packet that carries the unit's bytes from *at on, and advances *at; the
// packet ends the unit if *at is then `len`. Returns the payload's length. *at < len,
// 0 < len <= AAC_PAYLOAD_MAX_UNIT, cap > AAC_PAYLOAD_HEAD.
size_t aac_payload_write(const uint8_t *unit, size_t len, size_t *at, uint8_t *out, size_t cap);

// The unit of which fragments have arrived.
struct aac_fragments { // all zero at first
    int64_t time;      // of its packets, in any unit
    size_t bytes;      // of the whole unit; 0: there is none
    size_t have;
    uint8_t data[AAC_PAYLOAD_MAX_UNIT];
};

struct aac_units {
    int count;
    struct {
        const uint8_t *data; // borrowed from the payload, or from the fragments until the next call
        size_t bytes;        // 1 .. AAC_PAYLOAD_MAX_UNIT
    } units[AAC_PAYLOAD_UNITS];
};

// Reads a payload; packets come in order. `time`: the packet's; fragments of one unit have the same
// one. Returns 0; *out has the units that the packet completes, maybe none. Returns ERR_MALFORMED,
// also if the units are interleaved: then there are none. A unit of which a fragment is missing is
// dropped.
int aac_payload_read(struct aac_fragments *f, const uint8_t *payload, size_t len, int64_t time,
                     struct aac_units *out);

DECLS_END
#endif
