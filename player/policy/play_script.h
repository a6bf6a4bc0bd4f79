// SPDX-License-Identifier: GPL-2.0-or-later
// The viewer's timed actions, `--at SECONDS:ACTION`. They replace the keys if there is no window.
// Pure.
#ifndef WEIR_PLAYER_POLICY_PLAY_SCRIPT_H
#define WEIR_PLAYER_POLICY_PLAY_SCRIPT_H

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { PLAY_SCRIPT_MAX = 32 };

enum play_action {
    PLAY_SEEK,
    PLAY_PAUSE,
    PLAY_GO_ON,
    PLAY_LEVEL,
    PLAY_SCALE,
    PLAY_SPEED,
    PLAY_CHANNEL,    // to the channel `value`, from 1
    PLAY_CHANNEL_BY, // `value` channels on: 1 or -1
    PLAY_STOP,
};

struct play_step {
    usec_t at; // since playing was requested
    enum play_action action;
    // PLAY_SEEK: seconds, negative: before the present of live media; PLAY_LEVEL: the level;
    // PLAY_SCALE: the scale; PLAY_SPEED: the speed; PLAY_CHANNEL, PLAY_CHANNEL_BY
    double value;
};

struct play_script {
    int count;
    struct play_step steps[PLAY_SCRIPT_MAX]; // ascending `at`
};

// "2.5:seek=60", "3:pause", "4:go-on", "5:level=2", "6:scale=-4", "6:speed=1.5", "7:channel=3",
// "8:next", "9:previous", "10:stop". 0, ERR_MALFORMED, ERR_FULL.
int play_script_add(struct play_script *s, const char *text);

DECLS_END
#endif
