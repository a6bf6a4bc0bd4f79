// SPDX-License-Identifier: GPL-2.0-or-later
// The SDP (RFC 8866) of a Weir stream: one video medium, its ladder of levels, and who made it; and
// the sound that goes with it, Opus (RFC 7587).
// Attributes of ours, which strangers skip:
//   a=x-weir-source:test 1280x720@30/1
//        kind of source, its size and frame rate
//   a=x-weir-clock:<text>
//        tells a player that reads the same machine's clock so (clock_mark.h)
//   a=x-weir-size:2 640x360@30/1 layers=2
//        one line a size
//   a=x-weir-level:5 size=2 tid=1 rate=960000
//        one line a level, ascending
//   a=x-weir-order:decoding
//        frames come in the order of decoding, which is not that of their numbers: there are
//        B frames
#ifndef WEIR_WIRE_SDP_H
#define WEIR_WIRE_SDP_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/level.h"
#include "common/wire/rtp.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SDP_MAX_BYTES = 16384,
    SDP_MAX_TEXT = 256,
    SDP_MAX_PARAMETER_SETS = 1024,
};

enum sdp_source {
    SDP_SOURCE_UNKNOWN,
    SDP_SOURCE_TEST,
    SDP_SOURCE_FILE,
    SDP_SOURCE_GREEDY,  // packets
    SDP_SOURCE_STEADY,  // likewise
    SDP_SOURCE_GODDARD, // frames without pictures, as the next
    SDP_SOURCE_LAYERS,
    SDP_SOURCE_CAMERA,
    SDP_SOURCE_SCREEN,
    SDP_SOURCES // their number
};

struct sdp_audio {
    bool present;
    int payload_type;
    char control[SDP_MAX_TEXT];
    struct rtp_ext_ids ext;
    int bitrate_bps; // b=AS; written, not read; 0 = none
};

struct sdp {
    char title[SDP_MAX_TEXT]; // s=
    enum sdp_source source;
    char clock[SDP_MAX_TEXT];   // empty when unknown
    char control[SDP_MAX_TEXT]; // of the video medium, as it stands in the SDP
    char base[SDP_MAX_TEXT];    // the session's own control if that is a URL (RFC 2326, C.1.1)
    double duration;            // seconds, -1 for live (a=range:npt=)
    int bitrate_bps;            // of the level described, b=AS; written, not read; 0 = none
    int payload_type;
    bool h264;                          // else synthetic, without pictures
    char profile_level_id[8];           // six hexadecimal digits, or empty
    char sprop[SDP_MAX_PARAMETER_SETS]; // sprop-parameter-sets (RFC 6184, 8.1), or empty
    struct rtp_ext_ids ext;
    bool nack; // lost packets may be told, and (pli) key frames asked for: RFC 4585
    bool pli;
    bool ccfb;     // reports of RFC 8888 are understood (a=rtcp-fb, its section 6)
    bool reorders; // x-weir-order
    struct sdp_audio audio;
    char other_audio[32]; // the codec of sound that is not ours; empty: there is none
    // level_count == 0 when the stream is not Weir's; its source_fps then is what the description
    // says (a=framerate), or 25.
    struct ladder ladder;
};

// H.264 of another sender: packets tell nothing of their frames.
bool sdp_is_foreign(const struct sdp *s);
// Does the medium consist of frames that have their times? Filler does not.
bool sdp_has_frames(const struct sdp *s);
// Returns the length written (terminated), or ERR_FULL. `address_v6`: IP6 in the c= line.
int sdp_encode(const struct sdp *s, bool address_v6, char *out, size_t cap);
// 0; ERR_MALFORMED; ERR_TOO_BIG; ERR_UNSUPPORTED when there is no video medium in H.264 or of ours.
int sdp_decode(const char *data, size_t len, struct sdp *s);

#ifdef __cplusplus
}
#endif
#endif
