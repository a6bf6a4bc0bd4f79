// SPDX-License-Identifier: GPL-2.0-or-later
// Makes Opus packets of the audio of an IP camera: of AAC (RFC 3640), and of G.711, G.726 and
// L16 (RFC 3551), which are decoded and encoded. Opus passes as it is. Bounded by audio_budget.h.
//
// One thread, the camera's: 20 ms of audio take well below 1 ms.
#ifndef WEIR_SENDER_CAMERA_CAMERA_AUDIO_H
#define WEIR_SENDER_CAMERA_CAMERA_AUDIO_H

#include "client/receive/audio_receiver.h"
#include "common/base/decls.h"
#include "media/coded/coded_audio.h"

DECLS_BEGIN

enum { CAMERA_AUDIO_BPS = 64000 };

struct camera_audio;

// Takes over the reference; its capture times are not set.
typedef void camera_audio_fn(void *ctx, struct coded_audio *c);

// `format`: of the description. Returns NULL on failure, which it logs.
struct camera_audio *camera_audio_new(const struct sdp_audio *format, camera_audio_fn *fn,
                                      void *ctx);
void camera_audio_free(struct camera_audio *a); // NULL is fine
void camera_audio_packet(struct camera_audio *a, const struct received_audio *p, usec_t now);
// "Opus", "AAC", "G.711", "G.726" or "L16". Static.
const char *camera_audio_codec_name(const struct sdp_audio *format);

DECLS_END
#endif
