// SPDX-License-Identifier: GPL-2.0-or-later
// Makes of a packet of an origin's audio one for viewers. Loop thread only.
#ifndef WEIR_PROXY_FEED_RELAYED_AUDIO_H
#define WEIR_PROXY_FEED_RELAYED_AUDIO_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "media/coded/coded_audio.h"
#include "proxy/feed/upstream.h"

DECLS_BEGIN

// `shift`: of the frame numbers that viewers get; `fps`: of these. Returns one reference; NULL: the
// packet is too large, or there is no memory.
struct coded_audio *relayed_audio_new(const struct upstream *u, const struct received_audio *a,
                                      int64_t shift, struct fps fps, usec_t now);

DECLS_END
#endif
