// SPDX-License-Identifier: GPL-2.0-or-later
// The times in a request for a recording: "FROM,TO", each as seconds since 1970 ("1764500000.25"),
// or in UTC as "2026-11-24T11:30:00Z" or "20261124T113000.25Z". Pure.
#ifndef WEIR_SERVER_POLICY_CLIP_REQUEST_H
#define WEIR_SERVER_POLICY_CLIP_REQUEST_H

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define CLIP_LONGEST      (4 * 3600 * USEC_PER_SEC)
#define CLIP_LIST_LONGEST (49 * 3600 * USEC_PER_SEC) // a day of any time zone, and its neighbours

// Returns 0; ERR_MALFORMED: the text is none, or does not end after it begins; ERR_RANGE: it is
// longer than `longest`.
int clip_request_read(const char *text, usec_t longest, usec_t *from, usec_t *to);

DECLS_END
#endif
