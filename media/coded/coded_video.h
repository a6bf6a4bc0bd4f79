// SPDX-License-Identifier: GPL-2.0-or-later
// Coded video that a source passes on as it is, as the top level of the ladder (ladder.passes): the
// access units of H.264 that were decoded to the source's pictures become coded frames.
//
//   The law. The bytes of each NAL unit stay as they are. An IDR brings its parameter sets: the
//   ones received last are put before it where it lacks them. A frame depends on the last reference
//   frame before it in decoding order. Nothing comes before the first IDR, nor after a fault before
//   the next one.
//
// Pure.
#ifndef WEIR_MEDIA_CODED_CODED_VIDEO_H
#define WEIR_MEDIA_CODED_CODED_VIDEO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "media/coded/coded_frame.h"

DECLS_BEGIN

enum {
    CODED_VIDEO_MAX_SETS = 4096,     // max. bytes of all parameter sets, with start codes
    CODED_VIDEO_MAX_REORDER = 16,    // max. frames between the turns of decoding and of display
    CODED_VIDEO_MAX_FRAME = 4 << 20, // max. bytes of an access unit
};

// What a source says of its coded video.
struct coded_video {
    bool passes;              // its pictures bring coded frames along (picture.coded)
    bool reorders;            // decoding order differs from the order of display
    int bitrate_bps;          // what a viewer's network has to carry
    char sprop[1024];         // sprop-parameter-sets (RFC 6184, 8.1), or empty
    char profile_level_id[8]; // six hexadecimal digits, or empty
};

// Makes coded frames of access units, which come in decoding order.
struct coded_units {
    int length_bytes;  // bytes of the length before each NAL unit; 0: start codes (Annex B)
    bool begun;        // an IDR came, and no fault since
    int64_t reference; // number of the last reference frame
    size_t sets_bytes;
    uint8_t sets[CODED_VIDEO_MAX_SETS]; // parameter sets, with start codes
};

// `config`: the stream's extradata, which is an AVCDecoderConfigurationRecord (ISO/IEC 14496-15,
// 5.3.3.1), parameter sets in Annex B, or empty. Returns 0, ERR_MALFORMED or ERR_TOO_BIG.
int coded_units_init(struct coded_units *u, const uint8_t *config, size_t len);
// The stream's configuration changes from the next access unit on: its parameter sets replace those
// before. `config` and the result: as of coded_units_init.
int coded_units_configure(struct coded_units *u, const uint8_t *config, size_t len);
// Makes the frame of an access unit, with one reference: `number` is its place in the order of
// display, `slot` in the order of decoding, both counted as source frames. Of the frame, `size_id`
// and the times are unset. Returns 0; ERR_AGAIN: no IDR has come since the beginning or the last
// fault; ERR_MALFORMED, ERR_TOO_BIG or ERR_NO_MEMORY: a fault, and frames resume with the next IDR.
int coded_units_take(struct coded_units *u, const uint8_t *data, size_t len, int64_t number,
                     int64_t slot, struct coded_frame **out);
// An access unit was lost: frames resume with the next IDR.
void coded_units_break(struct coded_units *u);
// Writes the parameter sets received last as sprop-parameter-sets and profile-level-id. Returns 0,
// or ERR_NOT_FOUND: there are none, or not enough room.
int coded_units_describe(const struct coded_units *u, struct coded_video *out);

// What an access unit is, for those who only look.
struct coded_unit_facts {
    bool idr;
    bool reference; // later frames may depend on it
    int nals;
};
// Returns 0, ERR_MALFORMED (no slice, or no NAL units) or ERR_TOO_BIG.
int coded_units_look(const struct coded_units *u, const uint8_t *data, size_t len,
                     struct coded_unit_facts *out);

DECLS_END
#endif
