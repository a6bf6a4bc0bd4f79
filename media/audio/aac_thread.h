// SPDX-License-Identifier: GPL-2.0-or-later
// Makes AAC of a stream's Opus packets, on a thread of its own. AAC_THREAD_WAITING packets wait for
// the thread; a further one is dropped, and the decoder conceals it. Loop thread only.
#ifndef WEIR_MEDIA_AUDIO_AAC_THREAD_H
#define WEIR_MEDIA_AUDIO_AAC_THREAD_H

#include <uv.h>

#include "common/base/decls.h"
#include "media/audio/aac_encoder.h"
#include "media/coded/coded_audio.h"

DECLS_BEGIN

enum { AAC_THREAD_WAITING = 64 };

struct aac_thread; // opaque

typedef void aac_thread_fn(void *ctx, const struct aac_packet *p);

// NULL: no memory, or no codec (logged).
struct aac_thread *aac_thread_new(uv_loop_t *loop, int bitrate_bps, aac_thread_fn *fn, void *ctx);
void aac_thread_free(struct aac_thread *t); // waits for the packet in work; NULL is fine
void aac_thread_push(struct aac_thread *t, struct coded_audio *c); // takes a reference

DECLS_END
#endif
