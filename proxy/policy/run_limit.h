// SPDX-License-Identifier: GPL-2.0-or-later
// What an origin may send in one session that fetches a part of a film, by what its description
// announces: not more pictures and audio than the film has, not much more than its rate, and not
// for much longer than it lasts. An origin that never ends must not keep a session for ever. Pure.
#ifndef WEIR_PROXY_POLICY_RUN_LIMIT_H
#define WEIR_PROXY_POLICY_RUN_LIMIT_H

#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct run_limit {
    uint64_t frames, audio, bytes; // bytes: of video
    usec_t until;
};

// `frames`: of the film; `duration`: its length; `bps`: of the level; `speed`: > 0, multiple of the
// film's pace.
struct run_limit run_limit_of(int64_t frames, usec_t duration, double bps, double speed,
                              usec_t now);
struct run_sent {
    uint64_t frames, audio, bytes; // audio: packets
};
// Returns NULL, or a clause for people: why the session must end.
const char *run_limit_exceeded(const struct run_limit *l, const struct run_sent *s, usec_t now);

DECLS_END
#endif
