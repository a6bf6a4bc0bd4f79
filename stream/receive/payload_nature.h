// SPDX-License-Identifier: GPL-2.0-or-later
// What the frame assembler must know of a payload, of each codec: whether it has a part of a
// picture, may begin one, and what depends on it. Pure.
//
//   H.264  the units' types (RFC 6184, 5.2), first_mb_in_slice, nal_ref_idc
//   HEVC   the units' types (RFC 7798, 1.1.4), first_slice_segment_in_pic_flag
//   VP9    the descriptor's B (RFC 9628, 4.2); frame_type of the frame itself, as some senders
//          never set P
//   JPEG   the fragment offset (RFC 2435, 3.1.2); each picture is a key frame
#ifndef WEIR_STREAM_RECEIVE_PAYLOAD_NATURE_H
#define WEIR_STREAM_RECEIVE_PAYLOAD_NATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/wire/sdp.h"

DECLS_BEGIN

struct payload_nature {
    bool vcl;    // has a part of a picture
    bool begins; // a picture, or what belongs to it, may begin with the payload
    bool key;
    bool reference;
};

// A position in a unit that may be spread over payloads, and may have start codes in it
// (nal_unpack.h); all zero at first, and where a payload is missing.
struct nature_scan {
    unsigned zeros;
    size_t awaited;  // bytes of `head` that have not come yet
    uint8_t head[3]; // of the unit; zeros: not known
};

// The payload that follows those which `scan` has seen.
typedef struct payload_nature nature_reader(struct nature_scan *scan, const uint8_t *payload,
                                            size_t len);
nature_reader *nature_reader_of(enum sdp_codec codec);

DECLS_END
#endif
