// SPDX-License-Identifier: GPL-2.0-or-later
// What a viewer asks its server, and what of that was not answered yet, in the order it was asked.
#ifndef WEIR_PLAYER_QUESTIONS_H
#define WEIR_PLAYER_QUESTIONS_H

#include <stdbool.h>

#include "common/base/usec.h"
#include "common/wire/rtsp.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { QUESTIONS_MAX = 16 };

enum question {
    ASK_OPTIONS,
    ASK_DESCRIBE,
    ASK_SETUP,
    ASK_SOUND,
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

struct questions { // all zero to begin with
    int count;
    struct pending pending[QUESTIONS_MAX];
};

// The caller sees that there is room.
void questions_add(struct questions *q, const struct pending *p);
// Takes the one with that number out; of an answer without a number (-1), the oldest one: some
// servers leave it out. False: nobody asked it.
bool questions_take(struct questions *q, int cseq, struct pending *out);
bool questions_waiting(const struct questions *q, enum question question);
// NULL: nothing waits.
const struct pending *questions_oldest(const struct questions *q);

#ifdef __cplusplus
}
#endif
#endif
