// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/rate_limit.h"

#include <math.h>

#define RTP_HEADER 12 // bytes, without extensions (RFC 3550, 5.1)

static double packets_ps(const struct rate_limit_flow *f, double media_bps)
{
    double video = fmax(media_bps - f->audio_bps, 0);
    return fmax(f->frames_ps, video / (8 * f->payload_bytes) + f->frames_ps / 2) + f->audio_ps;
}

struct rate_limit_share rate_limit_divide(const struct rate_limit *limit,
                                          const struct rate_limit_flow *flow)
{
    double header = 8 * limit->header_bytes, payload = 8 * flow->payload_bytes;
    // A packet a frame, or more: the one that needs more headers leaves less to the media.
    double small = limit->bps - header * (flow->frames_ps + flow->audio_ps);
    double large = (limit->bps - header * (flow->frames_ps / 2 + flow->audio_ps) +
                    header / payload * flow->audio_bps) /
                   (1 + header / payload);
    double media = fmax(fmin(small, large), RATE_LIMIT_LEAST);
    return (struct rate_limit_share){.media_bps =
                                         fmax(media / (1 + RATE_LIMIT_SPARE), RATE_LIMIT_LEAST),
                                     .rtp_bps = media + 8 * RTP_HEADER * packets_ps(flow, media)};
}
