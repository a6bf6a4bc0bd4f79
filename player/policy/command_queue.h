// SPDX-License-Identifier: GPL-2.0-or-later
// The viewer's requests that wait for the session. They come from keys that repeat and from
// programs, at any rate; the session may be slow. So the queue has one place for each kind of
// command, and none is ever lost:
//
//   - A command replaces those that it makes meaningless: of pause and resume, of levels, of
//     positions and of channels the last one counts.
//   - Steps of one kind are added up; two presses of a key that switches cancel each other out.
//   - What remains is done in the order in which it was requested last.
//
// Pure.
#ifndef WEIR_PLAYER_POLICY_COMMAND_QUEUE_H
#define WEIR_PLAYER_POLICY_COMMAND_QUEUE_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/protocol/transport_info.h"

DECLS_BEGIN

enum command_kind {
    COMMAND_QUIT,
    COMMAND_FAILED, // the display failed
    COMMAND_TOGGLE_PAUSE,
    COMMAND_PAUSE,
    COMMAND_RESUME,
    COMMAND_LEVEL,     // to `level`
    COMMAND_AUTOMATIC, // the level
    COMMAND_LEVEL_BY,  // by `level`, from the last requested level
    COMMAND_SEEK,      // to `seconds` of the media; of live media, < 0: before the present
    COMMAND_SEEK_BY,   // by `seconds`
    COMMAND_NORMAL,    // normal play; of live media: the present
    COMMAND_SCALE,     // to `scale`: fast forward, rewind, normal play
    COMMAND_SCALE_BY,  // by `level` steps
    COMMAND_SPEED,     // of playing, to `scale`
    COMMAND_SPEED_BY,  // by `level` steps
    COMMAND_TRANSPORT,
    COMMAND_SNAPSHOT,
    COMMAND_MUTE,       // toggles muting
    COMMAND_VOLUME_BY,  // by `level` percent
    COMMAND_STEP,       // pause, and in a pause one picture on
    COMMAND_CHANNEL,    // to the channel `level`, from 1
    COMMAND_CHANNEL_BY, // by `level` channels
    COMMAND_STOP,
    COMMAND_SUBTITLES,      // track `level`, from 1; 0: none
    COMMAND_SUBTITLES_BY,   // by `level` tracks
    COMMAND_AUDIO_TRACK,    // track `level`, from 1
    COMMAND_AUDIO_TRACK_BY, // by `level` tracks
    COMMAND_RETRY,          // connect at once
};
enum { COMMAND_KINDS = COMMAND_RETRY + 1 };

struct command {
    enum command_kind kind;
    int level;
    double seconds;
    double scale;
    char transport[TRANSPORT_MAX_NAME];
};

struct command_queue { // all zero: empty
    int count;
    struct {
        struct command command;
        int times; // that it is to be done
    } waiting[COMMAND_KINDS];
};

void command_queue_add(struct command_queue *q, const struct command *c);
// Takes the next command. Returns false if none waits.
bool command_queue_take(struct command_queue *q, struct command *out);

DECLS_END
#endif
