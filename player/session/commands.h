// SPDX-License-Identifier: GPL-2.0-or-later
// The viewer's requests, from the window's keys and menus (main thread) and from the options'
// script. Both reach the session on its loop thread as one type of command.
#ifndef WEIR_PLAYER_SESSION_COMMANDS_H
#define WEIR_PLAYER_SESSION_COMMANDS_H

#include <uv.h>

#include "common/protocol/transport_info.h"
#include "player/policy/play_script.h"
#include "player/ui/display.h"

#ifdef __cplusplus
extern "C" {
#endif

struct command {
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
        COMMAND_TRANSPORT,
        COMMAND_SNAPSHOT,
        COMMAND_MUTE,       // toggles muting
        COMMAND_VOLUME_BY,  // by `level` percent
        COMMAND_STEP,       // pause, and in a pause one picture on
        COMMAND_CHANNEL,    // to the channel `level`, from 1
        COMMAND_CHANNEL_BY, // by `level` channels
        COMMAND_STOP,
        COMMAND_SUBTITLES,   // the next track, or none
        COMMAND_AUDIO_TRACK, // the next audio track
        COMMAND_RETRY,       // connect at once
    } kind;
    int level;
    double seconds;
    double scale;
    char transport[TRANSPORT_MAX_NAME];
};

struct commands;

struct commands_config {
    uv_loop_t *loop;                  // borrowed
    const struct play_script *script; // borrowed
    void (*on_command)(void *ctx, const struct command *c, usec_t now);
    void *ctx;
};

struct commands *commands_new(const struct commands_config *config); // NULL: no memory
void commands_free(struct commands *c);                              // NULL is fine
// Sets the callbacks of a display that send commands, and their context.
void commands_connect(struct commands *c, struct display_config *display);
// Any thread. If the loop is blocked while keys repeat, the queue becomes full and commands are
// lost.
void commands_post(struct commands *c, const struct command *command);
void commands_start_script(struct commands *c, usec_t now); // script times count from now
void commands_stop_script(struct commands *c);
// Returns true if the script has not begun, or further steps.
bool commands_has_steps(const struct commands *c);

#ifdef __cplusplus
}
#endif
#endif
