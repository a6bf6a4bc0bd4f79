// SPDX-License-Identifier: GPL-2.0-or-later
// The content of a slot of an MTP flow, the same in UDP and in TCP segments: MTP's header, a token,
// and the payload, an RTP packet. The token comes from the response to SETUP over RTSP, so an
// attacker who only guesses addresses and ports cannot insert anything, not even empty packets.
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   |                   MTP's header (mtp_header.h)                 |
//   |                           16 bytes                            |
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   |                             token                             |
//   |                                                               |
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   |                    payload: `length` bytes ...                |
//
// The rest of a slot after the payload is padding.
#ifndef WEIR_WIRE_MTP_RECORD_H
#define WEIR_WIRE_MTP_RECORD_H

#include "common/base/decls.h"
#include "common/wire/mtp_header.h"

DECLS_BEGIN

enum {
    MTP_TOKEN_BYTES = 8,
    MTP_RECORD_HEAD = MTP_HEADER_BYTES + MTP_TOKEN_BYTES,
};

// Writes header, token and the `h->length` bytes of `payload` (NULL if there are none) to `out`;
// returns the number of bytes written.
size_t mtp_record_encode(const struct mtp_header *h, uint64_t token, const uint8_t *payload,
                         uint8_t *out);

// Returns 0, with *payload pointing to h->length bytes within `data`; ERR_MALFORMED;
// ERR_UNSUPPORTED (another version); ERR_NOT_FOUND: another token.
int mtp_record_decode(const uint8_t *data, size_t len, uint64_t token, struct mtp_header *h,
                      const uint8_t **payload);

DECLS_END
#endif
