// SPDX-License-Identifier: GPL-2.0-or-later
// Which frames of a stream are recorded, and where files begin. Takes the frames in decoding order.
//
//   - A frame is recorded if it is a key frame, or if the frame that it depends on was recorded: so
//     each recorded frame can be decoded.
//   - A file begins with the first key frame, and with the first one that is `segment` or more
//   after
//     the file's begin.
//   - The gate requests a key frame when a segment is over, `key_every` after the last one, and
//     when frames cannot be recorded without; again after RECORD_GATE_AGAIN if none came.
#ifndef WEIR_MEDIA_RECORD_POLICY_RECORD_GATE_H
#define WEIR_MEDIA_RECORD_POLICY_RECORD_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum {
    RECORD_GATE_SEEN = 64,             // recorded frames that a later one may depend on
    RECORD_GATE_AGAIN = 2000 * 1000,   // us
    RECORD_GATE_PATIENCE = 500 * 1000, // us without a recorded frame: a reference is lost
};

struct record_candidate {
    int64_t number;
    int64_t depends_on; // -1: none
    int size_id;
    bool key;
    usec_t time; // on the recording's time line
};

struct record_gate {
    usec_t segment;   // 0: one file
    usec_t key_every; // 0: key frames come as the source makes them
    bool has_begun;
    bool waits; // for a key frame
    usec_t file_begun;
    usec_t last_key;
    usec_t last_frame;
    usec_t requested; // when a key frame was last requested
    struct {
        int64_t number; // -1: none
        int size_id;
    } seen[RECORD_GATE_SEEN]; // ring
    int at;
};

enum record_verdict {
    RECORD_SKIP,
    RECORD_FRAME,
    RECORD_BEGIN, // the frame begins a file
};

void record_gate_init(struct record_gate *g, usec_t segment, usec_t key_every);
enum record_verdict record_gate_frame(struct record_gate *g, const struct record_candidate *f);
// The last frame, or one before it, was not recorded after all: nothing is, up to the next key
// frame.
void record_gate_lost(struct record_gate *g);
// Returns true if a key frame is to be requested at this time of the time line. Call it after each
// frame. `needs`: the writer cannot go on without one.
bool record_gate_wants_key(struct record_gate *g, bool needs, usec_t time);

DECLS_END
#endif
