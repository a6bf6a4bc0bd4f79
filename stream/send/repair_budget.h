// SPDX-License-Identifier: GPL-2.0-or-later
// Limits what the losses of one viewer cost the other viewers of the same encode. A key frame, or a
// frame that depends on an older frame than usual (a repair), takes bits from the picture of all
// viewers.
//
//   The law. While several viewers share the encode:
//     - A key frame for a loss is made at least REPAIR_KEY_SPACING (2 s) after the last key frame,
//       whatever caused the last one. It serves every waiting viewer.
//     - A starting viewer causes a key frame at once if the encode has a token (bucket of 4, one
//       more a second). Without a token it waits as after a loss. Key frames for starting viewers
//       are at least REPAIR_KEY_NEAREST (0.25 s) apart. A viewer that loses its key frame within
//       its first REPAIR_BEGINNING (5 s) counts as starting again, REPAIR_BEGIN_AGAIN (1) time.
//     - A repair takes one token of the viewer (bucket of 3, 1.5 more a second) and one of the
//       encode (bucket of 4, 2 more a second). Without both tokens the viewer waits for the next
//       key frame. A waiting viewer gets no repair, as it could not decode one before the key
//       frame.
//     - A PLI within REPAIR_SERVES (1 s) after a key frame or a repair of the viewer is ignored:
//       that frame may still be on its way. If it is lost, a NACK reports it. For a starting viewer
//       the limit is REPAIR_KEY_NEAREST.
//   A viewer counts as alone 2 s after the other viewers have left. It gets every repair and key
//   frame that its NACKs call for, as no other viewer pays. A PLI within REPAIR_KEY_NEAREST after a
//   key frame is ignored.
//
// Measured cost for the test picture at 640x360: a key frame every 2 s costs nothing at 600 kbit/s
// and 0.4 dB at 150 kbit/s; two repairs a second cost 0.2 to 0.4 dB.
//
// Pure.
#ifndef WEIR_STREAM_SEND_REPAIR_BUDGET_H
#define WEIR_STREAM_SEND_REPAIR_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define REPAIR_KEY_SPACING (2 * USEC_PER_SEC)
#define REPAIR_KEY_NEAREST (250 * USEC_PER_MSEC)
#define REPAIR_SERVES      USEC_PER_SEC
#define REPAIR_BEGINNING   (5 * USEC_PER_SEC)

enum {
    REPAIR_BEGIN_AGAIN = 1,
    REPAIR_VIEWERS = 65, // accounts; account 0 is shared by all viewers that have no account of
                         // their own
};

// Requests of viewers, by outcome. Each request counts once in `requests`, and once in `repaired`,
// `coalesced` or `waited` when it is decided.
struct repair_counts {
    uint64_t requests;
    uint64_t repaired;  // answered by a frame that depends on an older frame
    uint64_t coalesced; // answered by an earlier request or a key frame
    uint64_t waited;    // the viewer waits for the next key frame
    uint64_t keys;      // key frames that losses caused
};

struct repair_tokens {
    double count;
    usec_t at;
};

struct repair_account {
    struct repair_tokens repairs;
    bool waits;         // the viewer waits for a key frame
    usec_t repaired_at; // time of the viewer's last repair
    usec_t begun_at;
    int again; // how often the viewer may still start again
};

struct repair_budget {
    usec_t shared_until; // 2 s after the last but one viewer left; USEC_NEVER: several viewers
                         // watch
    bool begins;         // a starting viewer waits for a key frame
    int64_t from;        // first frame whose key frame serves the starting viewer; 0: any does
    int64_t key_number;  // number of the last key frame; -1: there was none
    usec_t key_at;       // time of the last key frame
    struct repair_tokens key_tokens;
    struct repair_tokens repairs;
    struct repair_account accounts[REPAIR_VIEWERS];
    struct repair_counts counts;
};

void repair_budget_init(struct repair_budget *b, usec_t now);
// Sets the number of viewers.
void repair_budget_viewers(struct repair_budget *b, int viewers, usec_t now);
// The viewer of `account` starts or seeks: it needs a key frame of number `from` or later; 0: any.
// The highest `from` of several requests counts. On account 0, a request with a `from` is no start:
// HTTP plans a key frame for each segment.
void repair_budget_begin(struct repair_budget *b, int account, int64_t from, usec_t now);
// The viewer of `account` waits for a key frame from now on. Returns true if it did not wait
// before.
bool repair_budget_wait(struct repair_budget *b, int account, usec_t now);
// A PLI of the viewer arrived: calls repair_budget_wait, unless the law above ignores the PLI
// (returns false).
bool repair_budget_pli(struct repair_budget *b, int account, usec_t now);
// Returns true if the viewer of `account` may have one repair now, and takes the tokens.
bool repair_budget_take(struct repair_budget *b, int account, usec_t now);
// Returns true if frame `number` should become a key frame. Changes nothing: a request stays until
// a key frame is made.
bool repair_budget_key_is_due(const struct repair_budget *b, int64_t number, usec_t now);
// Frame `number` became a key frame, for whatever cause.
void repair_budget_key_made(struct repair_budget *b, int64_t number, usec_t now);

DECLS_END
#endif
