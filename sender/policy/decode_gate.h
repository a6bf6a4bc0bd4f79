// SPDX-License-Identifier: GPL-2.0-or-later
// Which frames of an IP camera are decoded: a decoder does not notice that a reference is missing,
// and then shows smears.
//
//   The law: a frame is decoded if it is a key frame, or if the frame that it depends on was
//   decoded. While frames are left out a key frame is requested, every DECODE_GATE_AGAIN. Pure.
#ifndef WEIR_SENDER_POLICY_DECODE_GATE_H
#define WEIR_SENDER_POLICY_DECODE_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { DECODE_GATE_SEEN = 32 }; // decoded frames that a later one may depend on
#define DECODE_GATE_AGAIN USEC_PER_SEC

struct decode_gate {
    int64_t seen[DECODE_GATE_SEEN]; // ring of numbers; -1: none
    int at;
    bool has_lost; // frames are left out
    bool has_requested;
    usec_t requested; // when a key frame was last requested
};

void decode_gate_init(struct decode_gate *g);
// Returns true if the frame is decoded. `depends_on`: -1: on none.
bool decode_gate_pass(struct decode_gate *g, int64_t number, int64_t depends_on, bool key);
// Frames were left out, or the newest one did not decode: nothing is, up to the next key frame.
void decode_gate_lost(struct decode_gate *g);
// Returns true if a key frame is requested now.
bool decode_gate_wants_key(struct decode_gate *g, usec_t now);

DECLS_END
#endif
