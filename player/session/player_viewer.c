// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>

#include "player/compare/snapshot.h"
#include "player/session/player_state.h"

// Steps count from what was asked for last: two presses are two steps, however slow the answer.
static void change_level(struct player *p, int level, usec_t now)
{
    if (!p->playing || p->goddard || !ladder_has_level(&p->sdp.ladder, level))
        return;
    p->wanted_level = level;
    p->asked_why = "user";
    p->own.level = level;
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
        else
            player_resumed_lost(p, now);
    } else if (p->playing || (p->playing_since && !p->outage.open)) {
        presenter_pause(p->presenter, now);
        player_goddard_pause(p, true, now);
        if (p->playing) // else all has come, and what is held is left to be watched
            client_pause(p->client, now);
    }
}

static void post(struct player *p, struct viewer_command command)
{
    struct viewer_command *c = malloc(sizeof(*c));
    if (!c)
        return;
    *c = command;
    // Full when the loop is stuck and keys repeat: then those are lost.
    if (!mailbox_post(p->commands, c))
        free(c);
}

void player_on_display_command(void *ctx, enum display_command command)
{
    post(ctx, (struct viewer_command){.wish = WISH_COMMAND, .command = command});
}

void player_on_display_level(void *ctx, int level)
{
    post(ctx, (struct viewer_command){.wish = WISH_LEVEL, .level = level});
}

void player_on_display_transport(void *ctx, const char *name)
{
    struct viewer_command c = {.wish = WISH_TRANSPORT};
    snprintf(c.transport, sizeof(c.transport), "%s", name);
    post(ctx, c);
}

void player_on_display_seek(void *ctx, bool relative, double seconds)
{
    enum viewer_wish wish = relative ? WISH_SEEK_BY : WISH_SEEK;
    post(ctx, (struct viewer_command){.wish = wish, .seconds = seconds});
}

void player_fail(struct player *p)
{
    player_on_display_command(p, DISPLAY_FAILED);
}

struct picture *player_last_shown(const struct player *p)
{
    struct picture *last = p->presenter ? presenter_last_shown(p->presenter) : NULL;
    return last ? last : p->last_shown;
}

static void on_snapshot(void *ctx, const char *name, bool written)
{
    player_toast(ctx, written ? "Snapshot: %s" : "Cannot write %s", name);
}

static void take_snapshot(struct player *p)
{
    struct picture *picture = player_last_shown(p);
    if (picture)
        snapshot_take(&p->loop, picture, on_snapshot, p);
}

static void obey(struct player *p, enum display_command command, usec_t now)
{
    switch (command) {
    case DISPLAY_QUIT:
        player_end(p, QOE_INTERRUPTED, EXIT_ENDED, NULL, now);
        return;
    case DISPLAY_PAUSE:
        toggle_pause(p, now);
        return;
    case DISPLAY_LEVEL_UP:
        change_level(p, p->wanted_level + 1, now);
        return;
    case DISPLAY_LEVEL_DOWN:
        change_level(p, p->wanted_level - 1, now);
        return;
    case DISPLAY_SNAPSHOT:
        take_snapshot(p);
        return;
    case DISPLAY_MUTE:
        player_audio_mute(p);
        return;
    case DISPLAY_FAILED:
        player_end(p, QOE_ERROR, EXIT_INTERNAL, "the display failed", now);
        return;
    }
}

static void do_step(struct player *p, const struct play_step *step, usec_t now)
{
    switch (step->action) {
    case PLAY_SEEK:
        player_seek_to(p, step->value, now);
        return;
    case PLAY_LEVEL:
        change_level(p, (int)step->value, now);
        return;
    case PLAY_PAUSE:
    case PLAY_GO_ON:
        if (p->presenter && presenter_paused(p->presenter) == (step->action == PLAY_GO_ON))
            toggle_pause(p, now);
        return;
    }
}

void player_on_script(void *ctx, usec_t now)
{
    struct player *p = ctx;
    const struct play_script *s = &p->options->script;
    while (!p->over && p->steps_done < s->count &&
           now >= p->playing_since + s->steps[p->steps_done].at)
        do_step(p, &s->steps[p->steps_done++], now);
    bool more = !p->over && p->steps_done < s->count;
    timer_set(p->script, more ? p->playing_since + s->steps[p->steps_done].at : USEC_NEVER);
}

void player_on_command(void *ctx, void *item, usec_t now)
{
    struct player *p = ctx;
    struct viewer_command c = *(struct viewer_command *)item;
    free(item);
    if (p->over)
        return;
    switch (c.wish) {
    case WISH_COMMAND:
        obey(p, c.command, now);
        return;
    case WISH_SEEK:
        player_seek_to(p, c.seconds, now);
        return;
    case WISH_SEEK_BY:
        player_seek_to(p, player_seek_base(p) + c.seconds, now);
        return;
    case WISH_LEVEL:
        change_level(p, c.level, now);
        return;
    case WISH_TRANSPORT:
        player_change_transport(p, c.transport, now);
        return;
    }
}
