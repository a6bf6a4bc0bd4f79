// SPDX-License-Identifier: GPL-2.0-or-later
// What a viewer asks its server, and what of that was not answered yet, in the order it was asked.
#ifndef WEIR_PROTOCOL_PENDING_REQUESTS_H
#define WEIR_PROTOCOL_PENDING_REQUESTS_H

#include <stdbool.h>

#include "common/base/usec.h"
#include "common/wire/rtsp.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PENDING_REQUESTS_MAX = 16 };

enum question {
    ASK_OPTIONS,
    ASK_DESCRIBE,
    ASK_SETUP,
    ASK_AUDIO,
    ASK_LATENCY,
    ASK_ADAPT,
    ASK_PAIR,
    ASK_LEVEL,
    ASK_PLAY,
    ASK_PAUSE,
    ASK_MEASURES,
    ASK_TEARDOWN
};

enum rtsp_method question_method(enum question question);

struct pending { // asked, not answered yet
    enum question question;
    int cseq;
    int level;   // ASK_LEVEL
    bool sought; // ASK_PLAY: at another place
    bool paused; // ASK_PLAY: the server was, before
    char *said;  // the asker's
    usec_t asked;
    usec_t asked_wall;
};

struct pending_requests { // all zero to begin with
    int count;
    struct pending pending[PENDING_REQUESTS_MAX];
};

// The caller sees that there is room.
void pending_requests_add(struct pending_requests *q, const struct pending *p);
// Takes the one with that number out; of an answer without a number (-1), the oldest one: some
// servers leave it out. False: nobody asked it.
bool pending_requests_take(struct pending_requests *q, int cseq, struct pending *out);
bool pending_requests_waiting(const struct pending_requests *q, enum question question);
// NULL: nothing waits.
const struct pending *pending_requests_oldest(const struct pending_requests *q);

#ifdef __cplusplus
}
#endif
#endif
