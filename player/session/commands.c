// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/commands.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/net/mailbox.h"
#include "common/net/timer.h"
#include "player/ui/model/menu.h"

enum { VOLUME_STEP = 5 };

struct commands {
    struct commands_config config;
    pthread_mutex_t lock; // guards `queue`
    struct command_queue queue;
    struct mailbox *wake; // owned; an item is there if the queue has one that was not taken
    struct timer *timer;  // owned; of the script
    usec_t script_from;
    int steps_done;
};

void commands_post(struct commands *c, const struct command *command)
{
    pthread_mutex_lock(&c->lock);
    command_queue_add(&c->queue, command);
    pthread_mutex_unlock(&c->lock);
    (void)mailbox_post(c->wake, c); // full: the loop was woken, and has not come yet
}

// Takes what waits now: a poster that is faster than the loop does not keep it here.
static void on_wake(void *ctx, void *item, usec_t now)
{
    struct commands *c = ctx;
    (void)item;
    struct command command;
    pthread_mutex_lock(&c->lock);
    struct command_queue taken = c->queue;
    c->queue.count = 0;
    pthread_mutex_unlock(&c->lock);
    while (command_queue_take(&taken, &command))
        c->config.on_command(c->config.ctx, &command, now);
}

static void keep(void *item)
{
    (void)item;
}

// ---- From the window, on the main thread ----

static void on_display_command(void *ctx, enum display_command command)
{
    static const struct command table[] = {
        [DISPLAY_QUIT] = {.kind = COMMAND_QUIT},
        [DISPLAY_PAUSE] = {.kind = COMMAND_TOGGLE_PAUSE},
        [DISPLAY_LEVEL_UP] = {.kind = COMMAND_LEVEL_BY, .level = 1},
        [DISPLAY_LEVEL_DOWN] = {.kind = COMMAND_LEVEL_BY, .level = -1},
        [DISPLAY_SNAPSHOT] = {.kind = COMMAND_SNAPSHOT},
        [DISPLAY_MUTE] = {.kind = COMMAND_MUTE},
        [DISPLAY_NEXT] = {.kind = COMMAND_CHANNEL_BY, .level = 1},
        [DISPLAY_PREVIOUS] = {.kind = COMMAND_CHANNEL_BY, .level = -1},
        [DISPLAY_STOP] = {.kind = COMMAND_STOP},
        [DISPLAY_FASTER] = {.kind = COMMAND_SCALE_BY, .level = 1},
        [DISPLAY_SLOWER] = {.kind = COMMAND_SCALE_BY, .level = -1},
        [DISPLAY_SPEED_UP] = {.kind = COMMAND_SPEED_BY, .level = 1},
        [DISPLAY_SPEED_DOWN] = {.kind = COMMAND_SPEED_BY, .level = -1},
        [DISPLAY_NORMAL] = {.kind = COMMAND_NORMAL},
        [DISPLAY_LOUDER] = {.kind = COMMAND_VOLUME_BY, .level = VOLUME_STEP},
        [DISPLAY_QUIETER] = {.kind = COMMAND_VOLUME_BY, .level = -VOLUME_STEP},
        [DISPLAY_STEP] = {.kind = COMMAND_STEP},
        [DISPLAY_SUBTITLES] = {.kind = COMMAND_SUBTITLES_BY, .level = 1},
        [DISPLAY_AUDIO_TRACK] = {.kind = COMMAND_AUDIO_TRACK_BY, .level = 1},
        [DISPLAY_RETRY] = {.kind = COMMAND_RETRY},
        [DISPLAY_FAILED] = {.kind = COMMAND_FAILED},
    };
    commands_post(ctx, &table[command]);
}

static void on_display_level(void *ctx, int level)
{
    enum command_kind kind = level == MENU_AUTOMATIC ? COMMAND_AUTOMATIC : COMMAND_LEVEL;
    commands_post(ctx, &(struct command){.kind = kind, .level = level});
}

static void on_display_transport(void *ctx, const char *name)
{
    struct command c = {.kind = COMMAND_TRANSPORT};
    snprintf(c.transport, sizeof(c.transport), "%s", name);
    commands_post(ctx, &c);
}

static void on_display_channel(void *ctx, int channel)
{
    commands_post(ctx, &(struct command){.kind = COMMAND_CHANNEL, .level = channel});
}

static void on_display_track(void *ctx, bool audio, int track)
{
    enum command_kind kind = audio ? COMMAND_AUDIO_TRACK : COMMAND_SUBTITLES;
    commands_post(ctx, &(struct command){.kind = kind, .level = track});
}

static void on_display_seek(void *ctx, bool relative, double seconds)
{
    enum command_kind kind = relative ? COMMAND_SEEK_BY : COMMAND_SEEK;
    commands_post(ctx, &(struct command){.kind = kind, .seconds = seconds});
}

void commands_connect(struct commands *c, struct display_config *display)
{
    display->on_command = on_display_command;
    display->on_level = on_display_level;
    display->on_transport = on_display_transport;
    display->on_channel = on_display_channel;
    display->on_track = on_display_track;
    display->on_seek = on_display_seek;
    display->ctx = c;
}

// ---- From the script ----

static struct command command_of(const struct play_step *step)
{
    switch (step->action) {
    case PLAY_SEEK:
        return (struct command){.kind = COMMAND_SEEK, .seconds = step->value};
    case PLAY_LEVEL:
        return (struct command){.kind = COMMAND_LEVEL, .level = (int)step->value};
    case PLAY_SCALE:
        return (struct command){.kind = COMMAND_SCALE, .scale = step->value};
    case PLAY_SPEED:
        return (struct command){.kind = COMMAND_SPEED, .scale = step->value};
    case PLAY_PAUSE:
        return (struct command){.kind = COMMAND_PAUSE};
    case PLAY_CHANNEL:
        return (struct command){.kind = COMMAND_CHANNEL, .level = (int)step->value};
    case PLAY_CHANNEL_BY:
        return (struct command){.kind = COMMAND_CHANNEL_BY, .level = (int)step->value};
    case PLAY_STOP:
        return (struct command){.kind = COMMAND_STOP};
    case PLAY_GO_ON:
        break;
    }
    return (struct command){.kind = COMMAND_RESUME};
}

static void on_timer(void *ctx, usec_t now)
{
    struct commands *c = ctx;
    const struct play_script *s = c->config.script;
    while (c->steps_done < s->count && now >= c->script_from + s->steps[c->steps_done].at) {
        struct command command = command_of(&s->steps[c->steps_done++]);
        c->config.on_command(c->config.ctx, &command, now);
    }
    if (c->steps_done < s->count)
        timer_set(c->timer, c->script_from + s->steps[c->steps_done].at);
}

void commands_start_script(struct commands *c, usec_t now)
{
    c->script_from = now;
    on_timer(c, now);
}

void commands_stop_script(struct commands *c)
{
    c->steps_done = c->config.script->count;
    timer_set(c->timer, USEC_NEVER);
}

bool commands_has_steps(const struct commands *c)
{
    return c->steps_done < c->config.script->count;
}

// ---- Life ----

struct commands *commands_new(const struct commands_config *config)
{
    struct commands *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->config = *config;
    pthread_mutex_init(&c->lock, NULL);
    c->wake = mailbox_new(config->loop, 1, on_wake, keep, c);
    c->timer = timer_new(config->loop, on_timer, c);
    if (c->wake && c->timer)
        return c;
    commands_free(c);
    return NULL;
}

void commands_free(struct commands *c)
{
    if (!c)
        return;
    timer_free(c->timer);
    mailbox_free(c->wake);
    pthread_mutex_destroy(&c->lock);
    free(c);
}
