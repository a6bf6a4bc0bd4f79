// SPDX-License-Identifier: GPL-2.0-or-later
// One party's requests of a simulated session. The latest request is repeated until it is answered,
// as TCP does for RTSP. A newer request replaces an older one, because each contains the complete
// state. A request can be lost like any packet; requests of one party are not reordered.
//
// repeat: 1 s after it was sent (RFC 6298's first RTO), then after twice the time, up to 8 s
#ifndef WEIR_SIM_STREAM_CONTROL_H
#define WEIR_SIM_STREAM_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

// Added to simulated time to make the wall clock of both parties, in which 0 means unknown.
#define STREAM_WALL (INT64_C(1000000000) * USEC_PER_SEC)

struct stream_wish {
    int32_t level;  // -1: none yet
    int32_t pairs;  // total number of requested packet pairs
    double speed;   // multiple of the media's own pace
    bool media_end; // the sender's: all frames have left
};

struct stream_control {
    int64_t number;   // of the latest request; 0: none yet
    int64_t answered; // the highest answered number
    int64_t heard;    // of the other party's requests: the highest
    struct stream_wish wish;
    usec_t asked_at; // when the latest request was sent first
    usec_t again_at; // USEC_NEVER: every request is answered
    usec_t patience;
};

void stream_control_init(struct stream_control *c);
void stream_control_ask(struct stream_control *c, const struct stream_wish *wish, usec_t now);
// Returns true if `wish` should be sent now, with `number`. Call until it returns false, after
// stream_control_ask and at stream_control_next.
bool stream_control_pull(struct stream_control *c, usec_t now);
usec_t stream_control_next(const struct stream_control *c);
// A response arrived. Returns true if it is the first response to the latest request.
bool stream_control_answer(struct stream_control *c, int64_t number);
// A request of the other party arrived; answer it in each case. Returns true if it is new.
bool stream_control_heard(struct stream_control *c, int64_t number);

DECLS_END
#endif
