// SPDX-License-Identifier: GPL-2.0-or-later
// AAC for a server that takes no Opus: Opus packets in, packets of RFC 3640 out (aac_payload.h),
// encoded on a thread (aac_thread.h). Loop thread only.
#ifndef WEIR_SENDER_PUSH_PUSH_AAC_H
#define WEIR_SENDER_PUSH_PUSH_AAC_H

#include <uv.h>

#include "common/base/decls.h"
#include "media/coded/coded_audio.h"

DECLS_BEGIN

enum { PUSH_AAC_BPS = 96000 };

struct push_aac;

// A packet, borrowed for the call.
typedef void push_aac_fn(void *ctx, struct coded_audio *c, usec_t now);

// NULL: no memory, or no codec (logged).
struct push_aac *push_aac_new(uv_loop_t *loop, push_aac_fn *fn, void *ctx);
void push_aac_free(struct push_aac *a); // waits for the packet in work; NULL is fine
void push_aac_push(struct push_aac *a, struct coded_audio *c); // takes a reference

DECLS_END
#endif
