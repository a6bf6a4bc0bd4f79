// SPDX-License-Identifier: GPL-2.0-or-later
// What an H.265 SPS says of the order of its pictures (ITU-T H.265, 7.3.2.2). Pure.
#ifndef WEIR_MEDIA_RTP_HEVC_H
#define WEIR_MEDIA_RTP_HEVC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum { HEVC_MAX_SPS = 256 }; // bytes of a NAL unit that are read

// `nal`: a NAL unit without start code. Returns false if an SPS says that no picture is shown after
// one that follows it (7.4.3.2.1, sps_max_num_reorder_pics 0 of the highest temporal layer). True
// also if it is none, or is truncated before that field.
bool hevc_may_reorder(const uint8_t *nal, size_t len);

DECLS_END
#endif
