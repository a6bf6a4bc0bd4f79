// SPDX-License-Identifier: GPL-2.0-or-later
// The audio of third parties in codecs other than Opus, as IP cameras describe it: AAC in mode
// AAC-hbr (RFC 3640, 3.3.6 and 4.1), and of RFC 3551 G.711 (PCMU, PCMA: 4.5.14), L16 (4.5.11) and
// G.726 (4.5.4) in both orders of the bits (G726-32, AAL2-G726-32). Pure.
#ifndef WEIR_WIRE_SDP_OTHER_AUDIO_H
#define WEIR_WIRE_SDP_OTHER_AUDIO_H

#include "common/base/decls.h"
#include "common/wire/sdp.h"

DECLS_BEGIN

// For a caller with a decoder of these codecs. `data` is a description that sdp_decode has read.
// Takes the first audio medium whose first format is one of them and that is not the way to the
// camera's loudspeaker (a=sendonly). Returns true and writes it to *out; false: there is none.
bool sdp_other_audio_read(const char *data, size_t len, struct sdp_audio *out);

DECLS_END
#endif
