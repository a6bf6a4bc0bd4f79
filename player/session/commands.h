// SPDX-License-Identifier: GPL-2.0-or-later
// The viewer's requests, from the window's keys and menus (main thread) and from the options'
// script, or from a program (libweir). They reach the session on its loop thread as one type of
// command.
#ifndef WEIR_PLAYER_SESSION_COMMANDS_H
#define WEIR_PLAYER_SESSION_COMMANDS_H

#include <uv.h>

#include "common/base/decls.h"
#include "player/policy/command_queue.h"
#include "player/policy/play_script.h"
#include "player/ui/display.h"

DECLS_BEGIN

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
// Any thread; allocates nothing. Requests that the loop has not taken yet are put together as
// command_queue.h says, and none is lost.
void commands_post(struct commands *c, const struct command *command);
void commands_start_script(struct commands *c, usec_t now); // script times count from now
void commands_stop_script(struct commands *c);
// Returns true if the script has not begun, or further steps.
bool commands_has_steps(const struct commands *c);

DECLS_END
#endif
