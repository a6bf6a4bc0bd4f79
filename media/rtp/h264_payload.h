// SPDX-License-Identifier: GPL-2.0-or-later
// RTP payload format for H.264, receiver's side (RFC 6184: single NAL units, STAP-A, FU-A). The
// frame's bytes are Annex B: a start code before each NAL unit.
#ifndef WEIR_MEDIA_RTP_H264_PAYLOAD_H
#define WEIR_MEDIA_RTP_H264_PAYLOAD_H

#include "common/base/decls.h"
#include "media/rtp/payload_format.h"

DECLS_BEGIN

extern const struct payload_format h264_payload_format;

DECLS_END
#endif
