// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdint.h>

#include "player/player_state.h"
#include "player/snapshot.h"

// Steps count from what was asked for last: two presses are two steps, however slow the answer.
static void change_level(struct player *p, int by, usec_t now)
{
    int level = p->wanted_level + by;
    if (!p->playing || p->goddard || level < 0 || level >= p->sdp.ladder.level_count)
        return;
    p->wanted_level = level;
    p->asked_why = "user";
    client_set_level(p->client, level, now);
}

static void toggle_pause(struct player *p, usec_t now)
{
    if (!p->presenter)
        return;
    if (presenter_paused(p->presenter)) {
        presenter_resume(p->presenter, now);
        player_goddard_pause(p, false, now);
        if (p->playing)
            client_resume(p->client, now);
    } else if (p->playing) {
        presenter_pause(p->presenter, now);
        player_goddard_pause(p, true, now);
        client_pause(p->client, now);
    }
}

static void post_command(struct player *p, int command)
{
    // Full when the loop is stuck and keys repeat: then those are lost.
    (void)mailbox_post(p->commands, (void *)(intptr_t)(command + 1));
}

void player_on_display_command(void *ctx, enum display_command command)
{
    post_command(ctx, (int)command);
}

void player_fail(struct player *p)
{
    post_command(p, DISPLAY_FAILED);
}

void player_on_command(void *ctx, void *item, usec_t now)
{
    struct player *p = ctx;
    switch ((enum display_command)((intptr_t)item - 1)) {
    case DISPLAY_QUIT:
        player_end(p, QOE_INTERRUPTED, EXIT_ENDED, NULL, now);
        return;
    case DISPLAY_PAUSE:
        toggle_pause(p, now);
        return;
    case DISPLAY_LEVEL_UP:
        change_level(p, 1, now);
        return;
    case DISPLAY_LEVEL_DOWN:
        change_level(p, -1, now);
        return;
    case DISPLAY_SNAPSHOT:
        if (p->presenter)
            snapshot_take(&p->loop, presenter_last_shown(p->presenter));
        return;
    case DISPLAY_FAILED:
        player_end(p, QOE_ERROR, EXIT_INTERNAL, "the display failed", now);
        return;
    }
}
