// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/policy/given_frames.h"

#include <stddef.h>

void given_frames_init(struct given_frames *g, struct fps fps)
{
    *g = (struct given_frames){0};
    frame_grid_init(&g->grid, fps);
}

static void *pop(struct given_frames *g)
{
    void *picture = g->waiting[0].picture;
    g->waiting[0] = g->waiting[1];
    g->count--;
    return picture;
}

static void add(struct given_frames *g, void *picture, usec_t stamp, int repeats)
{
    g->waiting[g->count++] =
        (struct given_waiting){.repeats = repeats, .stamp = stamp, .picture = picture};
}

void *given_frames_push(struct given_frames *g, void *picture, usec_t stamp, usec_t now)
{
    if (!g->is_watched) {
        void *older = g->count ? pop(g) : NULL;
        add(g, picture, stamp, 0);
        return older;
    }
    if (g->count == GIVEN_WAITING)
        return picture;
    int repeats = frame_grid_place(&g->grid, stamp, now);
    if (repeats < 0)
        return picture;
    if (!g->has_current && !g->count)
        repeats = 0; // there is nothing to repeat
    for (int i = 0; i <= repeats; i++)
        frame_grid_take(&g->grid);
    add(g, picture, stamp, repeats);
    return NULL;
}

// The newest picture becomes a frame now, however old it is: the grid begins with it.
static void begin(struct given_frames *g, usec_t now)
{
    g->is_watched = true;
    if (g->count || g->has_current)
        frame_grid_anchor(&g->grid, now);
    if (!g->count)
        return;
    frame_grid_take(&g->grid);
    g->waiting[0].stamp = now;
}

// The instant of a frame that is already taken from the grid, or its next one.
static usec_t instant(const struct given_frames *g, int64_t number)
{
    return g->grid.origin +
           usec_of_frames(number - g->grid.first, g->grid.fps.num, g->grid.fps.den);
}

static struct given_frame repeat(struct given_frames *g, usec_t now)
{
    usec_t stamp = usec_min(instant(g, g->next), now);
    return (struct given_frame){.turn = GIVEN_REPEAT, .number = g->next++, .stamp = stamp};
}

struct given_frame given_frames_next(struct given_frames *g, usec_t now)
{
    if (!g->is_watched)
        begin(g, now);
    if (g->count && g->waiting[0].repeats > 0) {
        g->waiting[0].repeats--;
        return repeat(g, now);
    }
    if (g->count) {
        usec_t stamp = g->waiting[0].stamp;
        g->has_current = true;
        return (struct given_frame){
            .turn = GIVEN_NEW, .number = g->next++, .stamp = stamp, .picture = pop(g)};
    }
    usec_t due = g->has_current ? frame_grid_deadline(&g->grid) : USEC_NEVER;
    if (now < due)
        return (struct given_frame){.turn = GIVEN_WAIT, .until = due};
    frame_grid_take(&g->grid);
    return repeat(g, now);
}

void *given_frames_idle(struct given_frames *g)
{
    g->is_watched = false;
    frame_grid_restart(&g->grid);
    g->grid.next = g->next; // the frames of the waiting pictures are none any more
    void *older = g->count > 1 ? pop(g) : NULL;
    g->waiting[0].repeats = 0;
    return older;
}

usec_t given_frames_origin(const struct given_frames *g)
{
    return g->grid.anchored ? instant(g, 0) : USEC_NEVER;
}
