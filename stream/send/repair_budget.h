// SPDX-License-Identifier: GPL-2.0-or-later
// What the losses of one viewer may cost the other viewers of the same encode. A key frame, or a
// frame that depends on an older frame than usual, takes bits from the picture of all of them.
//
//   The law. While several viewers share the encode:
//     - A key frame for a loss comes REPAIR_KEY_SPACING (2 s) after the last key frame or later,
//       whatever caused that one. It serves every viewer that waits.
//     - A viewer that begins causes a key frame at once while the encode has a token: 4 of them,
//       one more a second. Without a token it waits as for a loss. Key frames of viewers that
//       begin come REPAIR_KEY_NEAREST (0.25 s) apart. In its first REPAIR_BEGINNING (5 s) a viewer
//       that lost the key frame begins again, REPAIR_BEGIN_AGAIN (1) time.
//     - A repair from an older frame takes a token of the viewer (3, 1.5 more a second) and one of
//       the encode (4, two more a second). Without both the viewer waits for the next key frame.
//       A viewer that waits has no repair, as none serves it before.
//     - A PLI within REPAIR_SERVES (1 s) after a key frame or a repair of the viewer is answered by
//       it: the viewer may not have it yet. If it is lost, a NACK says so. Of a viewer that begins
//       a PLI within REPAIR_KEY_NEAREST is.
//   Two seconds after the others have left, a viewer is alone: every repair and key frame that its
//   NACKs call for, as no other viewer pays. A PLI within REPAIR_KEY_NEAREST is answered.
//
// What that costs, of the test picture at 640x360: a key frame every 2 s nothing at 600 kbit/s, 0.4
// dB at 150 kbit/s; two repairs a second 0.2 to 0.4 dB.
//
// Pure.
#ifndef WEIR_STREAM_SEND_REPAIR_BUDGET_H
#define WEIR_STREAM_SEND_REPAIR_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REPAIR_KEY_SPACING (2 * USEC_PER_SEC)
#define REPAIR_KEY_NEAREST (250 * USEC_PER_MSEC)
#define REPAIR_SERVES      USEC_PER_SEC
#define REPAIR_BEGINNING   (5 * USEC_PER_SEC)

enum {
    REPAIR_BEGIN_AGAIN = 1,
    REPAIR_VIEWERS = 65, // accounts; account 0 is of all viewers beyond the others
};

// Requests of viewers, by what became of them. Each counts once in `requests`, and once below it
// when it is decided.
struct repair_counts {
    uint64_t requests;
    uint64_t repaired;  // a frame depends on an older frame for it
    uint64_t coalesced; // an earlier request or a key frame serves it
    uint64_t waited;    // the viewer waits for the next key frame
    uint64_t keys;      // key frames that losses caused
};

struct repair_tokens {
    double count;
    usec_t at;
};

struct repair_account {
    struct repair_tokens repairs;
    bool waits;         // for a key frame
    usec_t repaired_at; // when it had its last repair
    usec_t begun_at;
    int again; // so often it may begin again
};

struct repair_budget {
    usec_t shared_until; // 2 s after the last but one viewer left; USEC_NEVER: several watch
    bool begins;         // a viewer that begins waits for a key frame
    int64_t
        from; // of frames before this number a key frame does not serve that viewer; 0: any does
    int64_t key_number; // of the last key frame; -1: there was none
    usec_t key_at;      // when it was made
    struct repair_tokens key_tokens;
    struct repair_tokens repairs;
    struct repair_account accounts[REPAIR_VIEWERS];
    struct repair_counts counts;
};

void repair_budget_init(struct repair_budget *b, usec_t now);
// So many viewers watch now.
void repair_budget_viewers(struct repair_budget *b, int viewers, usec_t now);
// The viewer of `account` begins, or goes to a place: it needs a key frame of number `from` or
// later, 0: any. Of several such requests the highest number counts.
void repair_budget_begin(struct repair_budget *b, int account, int64_t from, usec_t now);
// The viewer of `account` waits for a key frame. Returns true if it did not wait already.
bool repair_budget_wait(struct repair_budget *b, int account, usec_t now);
// A PLI of that viewer: waits like that, unless it is answered already.
bool repair_budget_pli(struct repair_budget *b, int account, usec_t now);
// Returns true if the viewer of `account` may have one repair now, and takes the tokens.
bool repair_budget_take(struct repair_budget *b, int account, usec_t now);
// Returns true if frame `number` should become a key frame. Changes nothing: a request stays until
// a key frame is made.
bool repair_budget_key_is_due(const struct repair_budget *b, int64_t number, usec_t now);
// Frame `number` became a key frame, for whatever cause.
void repair_budget_key_made(struct repair_budget *b, int64_t number, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
