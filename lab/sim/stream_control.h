// SPDX-License-Identifier: GPL-2.0-or-later
// One party's requests of a simulated session. The latest request is sent again until it is
// answered, as RTSP's TCP would do; a newer request replaces an older one, as each carries the
// whole wish. A request can be lost like any packet, and never overtakes itself.
//
//   asked again: 1 s after it left (RFC 6298's first RTO), then twice as late each time, up to 8 s
#ifndef WEIR_SIM_STREAM_CONTROL_H
#define WEIR_SIM_STREAM_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

// Simulated time is no wall clock, whose 0 means unknown: both parties' walls show so much more.
#define STREAM_WALL (INT64_C(1000000000) * USEC_PER_SEC)

struct stream_wish {
    int32_t level;  // -1: none yet
    int32_t pairs;  // of packets that were asked for, in all
    double speed;   // times the media's own pace
    bool media_end; // the sender's: all frames have left
};

struct stream_control {
    int64_t number;   // of the latest request; 0: none yet
    int64_t answered; // the highest
    int64_t heard;    // of the other party's requests: the highest
    struct stream_wish wish;
    usec_t asked_at; // first, the latest
    usec_t again_at; // USEC_NEVER: nothing is unanswered
    usec_t patience;
};

void stream_control_init(struct stream_control *c);
void stream_control_ask(struct stream_control *c, const struct stream_wish *wish, usec_t now);
// Returns true if `wish` with `number` is to be sent now. Call until false after stream_control_ask
// and at stream_control_next.
bool stream_control_pull(struct stream_control *c, usec_t now);
usec_t stream_control_next(const struct stream_control *c);
// The other party answered. Returns true if it is the first answer to the latest request.
bool stream_control_answer(struct stream_control *c, int64_t number);
// A request of the other party arrived; answer it in any case. Returns true if it is new.
bool stream_control_heard(struct stream_control *c, int64_t number);

#ifdef __cplusplus
}
#endif
#endif
