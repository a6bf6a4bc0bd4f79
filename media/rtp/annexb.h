// SPDX-License-Identifier: GPL-2.0-or-later
// The byte stream format of H.264 and HEVC (ITU-T H.264 and H.265, annex B): NAL units, each after
// a start code of three or four bytes.
#ifndef WEIR_MEDIA_RTP_ANNEXB_H
#define WEIR_MEDIA_RTP_ANNEXB_H

#include "common/base/decls.h"
#include "media/rtp/packetiser.h"

DECLS_BEGIN

// Finds the NAL units, without their start codes and without zero bytes after them. Empty units are
// left out. Returns their number; ERR_MALFORMED if the bytes do not begin with a start code (zero
// bytes before it are allowed); ERR_FULL if there are more than `max`. len < 2^32.
int annexb_split(const uint8_t *data, size_t len, struct nal *nals, int max);

DECLS_END
#endif
