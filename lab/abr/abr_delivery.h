// SPDX-License-Identifier: GPL-2.0-or-later
// The two ways in which a session's groups arrive; for abr_session.c. Each plays the whole film,
// sets the level of each group that was shown, and the result's figures of time and bytes. 0;
// ERR_NO_MEMORY.
#ifndef WEIR_ABR_ABR_DELIVERY_H
#define WEIR_ABR_ABR_DELIVERY_H

#include "common/base/decls.h"
#include "lab/abr/abr_session.h"

DECLS_BEGIN

enum { ABR_GIVEN_UP = 20 }; // times the film's length

int abr_segments_run(const struct abr_session *s, uint8_t *shown, struct abr_result *out);
int abr_stream_run(const struct abr_session *s, uint8_t *shown, struct abr_result *out);

DECLS_END
#endif
