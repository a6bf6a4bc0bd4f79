// SPDX-License-Identifier: GPL-2.0-or-later
// The audio codecs that a server is offered, in order of preference. Pure.
#ifndef WEIR_SENDER_POLICY_PUSH_AUDIO_H
#define WEIR_SENDER_POLICY_PUSH_AUDIO_H

#include "common/base/decls.h"
#include "common/wire/sdp.h"

DECLS_BEGIN

struct push_audio {
    int count; // 0: not given
    enum sdp_audio_codec codecs[SDP_AUDIO_CODECS];
};

// Reads "opus,aac", each at most once. Returns 0, or ERR_MALFORMED.
int push_audio_parse(const char *text, struct push_audio *out);

DECLS_END
#endif
