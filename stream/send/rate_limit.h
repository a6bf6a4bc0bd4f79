// SPDX-License-Identifier: GPL-2.0-or-later
// What a viewer's limit leaves to the media. A limit is the rate of all packets of a stream, each
// with `header_bytes` of headers: those of IP, UDP and RTP in a TMMBR, whose receiver says how many
// (RFC 5104, 4.2.1.2); none in a REMB, which ignores all overhead (draft-alvestrand-rmcat-remb-03,
// 2.2).
//
//   The law. With F frames a second of video at V bit/s in payloads of P bytes, each frame has a
//   packet at least, and its last one is half full on average:
//     packets/s = max(F, V / 8P + F / 2) + audio packets/s
//     media     = limit - 8 * header_bytes * packets/s, as a sum of V and the audio
//   The packets leave at no more than that, so the media is coded RATE_LIMIT_SPARE below it: a
//   queue that a key frame has made becomes shorter.
//
// Pure.
#ifndef WEIR_STREAM_SEND_RATE_LIMIT_H
#define WEIR_STREAM_SEND_RATE_LIMIT_H

#include "common/base/decls.h"

DECLS_BEGIN

#define RATE_LIMIT_SPARE 0.05

struct rate_limit {
    double bps; // 0: no limit
    double header_bytes;
};

struct rate_limit_flow {  // what is sent
    double frames_ps;     // 0: no video
    double payload_bytes; // of a full packet of video
    double audio_bps;     // payloads
    double audio_ps;      // packets a second; 0: no audio
};

struct rate_limit_share {
    double media_bps; // the media's, audio included, payloads alone; at least RATE_LIMIT_LEAST
    double rtp_bps;   // at which RTP packets may leave, with their RTP headers
};

#define RATE_LIMIT_LEAST 1000 // bit/s: a limit that headers alone take still leaves this

struct rate_limit_share rate_limit_divide(const struct rate_limit *limit,
                                          const struct rate_limit_flow *flow);

DECLS_END
#endif
