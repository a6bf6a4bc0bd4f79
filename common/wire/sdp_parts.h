// SPDX-License-Identifier: GPL-2.0-or-later
// What the readers and the writer of an SDP share; for sdp*.c alone.
#ifndef WEIR_WIRE_SDP_PARTS_H
#define WEIR_WIRE_SDP_PARTS_H

#include "common/base/scan.h"
#include "common/wire/sdp.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CODEC_H264      "H264/90000"
#define CODEC_SYNTHETIC "X-WEIR-SYNTHETIC/90000"
#define CODEC_OPUS      "opus/48000/2" // whatever the channels are (RFC 7587, 7)

// Of a=x-weir-source.
extern const char *const sdp_source_names[SDP_SOURCES];

bool sdp_scan_payload_type(struct scan *s, int *out);

// Which media are ours: the first video one and the first audio one over RTP that map a payload
// type to a codec of ours.
struct sdp_choice {
    int video;         // counted from 1; 0: the session's lines; -1: none
    int audio;         // likewise
    int current;       // while looking
    bool is_audio;     // it is
    int audio_type;    // the first payload type offered by any audio medium; -1: none
    bool offered[128]; // payload types of the current medium
};

// Also the payload types and codecs. 0; ERR_MALFORMED; ERR_UNSUPPORTED: no video medium is ours.
int sdp_choose_media(struct scan in, struct sdp_choice *c, struct sdp *s);
// To be called when all lines are read.
void sdp_settle_audio(struct sdp *s, const struct sdp_choice *c);

#ifdef __cplusplus
}
#endif
#endif
