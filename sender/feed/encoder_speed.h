// SPDX-License-Identifier: GPL-2.0-or-later
// Measures how fast this machine encodes H.264: it encodes some test pictures, which takes 0.3 s of
// CPU time at most. CPU time is measured, not time, so other programs hardly change the result.
#ifndef WEIR_SENDER_FEED_ENCODER_SPEED_H
#define WEIR_SENDER_FEED_ENCODER_SPEED_H

#include "common/base/decls.h"
#include "media/coded/encode_limit.h"

DECLS_BEGIN

// Any thread. Measures at the first call and returns that result ever after, so all streams of a
// process have one limit. If measuring fails (logged), the limit is 0.
struct encode_limit encoder_speed_limit(void);

DECLS_END
#endif
