// SPDX-License-Identifier: GPL-2.0-or-later
// A capture device as a source. A thread of its own opens the device, reads it and converts its
// pictures, so that a hung device blocks no other thread. `next` takes a picture from a small ring
// and waits at most WAIT for one. A full ring drops its oldest picture.
#include "media/capture/source_capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "media/capture/capture_list.h"
#include "media/capture/capture_thread.h"
#include "media/capture/policy/frame_grid.h"
#include "media/pattern/no_signal.h"
#include "media/picture/picture_fit.h"

static const usec_t WAIT = 100 * USEC_PER_MSEC; // max. time in `next`

struct source_capture {
    struct source base;
    struct capture_thread *thread;     // owned
    struct capture_exchange *exchange; // the thread's
    struct frame_grid ticks;
    struct picture *current; // owned; the last picture, or the card; NULL: none yet
    bool is_card;            // `current` is the card
};

static void show(struct source_capture *s, struct picture *p, bool card)
{
    picture_unref(s->current);
    s->current = p;
    s->is_card = card;
}

static bool show_card(struct source_capture *s)
{
    char reason[CAPTURE_MAX_REASON];
    capture_exchange_reason(s->exchange, reason);
    struct picture *card = picture_new(s->base.width, s->base.height);
    if (!card)
        return false;
    no_signal_draw(card, reason);
    show(s, card, true);
    return true;
}

// Emits the current picture as the next frame; it was captured at `stamp`.
static int emit(struct source_capture *s, usec_t stamp, struct picture **out)
{
    struct picture *p = picture_alias(s->current);
    if (!p)
        return ERR_AGAIN;
    p->number = frame_grid_take(&s->ticks);
    p->pts = usec_of_frames(p->number, s->base.fps.num, s->base.fps.den);
    p->capture_wall = clock_wall() - (clock_now() - stamp);
    *out = p;
    return 0;
}

// Emits the next frame from the exchange. Returns ERR_AGAIN if there is no picture. If the oldest
// picture belongs to a later frame, it stays there and the current picture is repeated.
static int emit_new(struct source_capture *s, struct picture **out)
{
    usec_t stamp;
    while (capture_exchange_oldest(s->exchange, &stamp)) {
        int before = frame_grid_place(&s->ticks, stamp, clock_now());
        if (before > 0 && s->current)
            return emit(s, frame_grid_instant(&s->ticks), out);
        struct captured c;
        if (!capture_exchange_take(s->exchange, stamp, &c))
            continue; // the full ring dropped it
        if (before >= 0) {
            show(s, c.picture, false);
            return emit(s, c.stamp, out);
        }
        picture_unref(c.picture);
    }
    return ERR_AGAIN;
}

// Emits the next frame after its deadline, if no picture arrived for it: repeats the current
// picture or shows the card.
static int emit_old(struct source_capture *s, struct picture **out, usec_t now)
{
    enum capture_view view = capture_exchange_view(s->exchange, now);
    if (view == CAPTURE_VIEW_CARD && !s->is_card && !show_card(s))
        return ERR_AGAIN;
    if (view == CAPTURE_VIEW_NONE || !s->current)
        return ERR_AGAIN;
    if (!s->ticks.anchored)
        frame_grid_anchor(&s->ticks, now);
    return emit(s, usec_min(frame_grid_instant(&s->ticks), now), out);
}

static void want(struct source_capture *s, bool wanted)
{
    if (!capture_exchange_want(s->exchange, wanted))
        return;
    frame_grid_restart(&s->ticks);
    show(s, NULL, false); // a viewer that returns must not see a picture from minutes ago
}

static int capture_next(struct source *base, struct picture **out)
{
    struct source_capture *s = (struct source_capture *)base;
    want(s, true);
    usec_t end = clock_now() + WAIT;
    for (;;) {
        if (emit_new(s, out) == 0)
            return 0;
        usec_t now = clock_now();
        usec_t due = s->ticks.anchored ? frame_grid_deadline(&s->ticks) : end;
        if (now >= due && emit_old(s, out, now) == 0)
            return 0;
        if (now >= end)
            return ERR_AGAIN;
        capture_exchange_wait_picture(s->exchange, due > now ? usec_min(due, end) : end);
    }
}

static void capture_idle(struct source *base)
{
    want((struct source_capture *)base, false);
}

// A hung X server blocks its callers for ever.
static void capture_free(struct source *base)
{
    struct source_capture *s = (struct source_capture *)base;
    if (!capture_thread_end(s->thread))
        log_warn("%s: the device does not respond", base->name);
    picture_unref(s->current);
    free(s);
}

static const struct source_ops capture_ops = {
    .next = capture_next, .idle = capture_idle, .free = capture_free};

// ---- Opening ----

bool source_is_capture(const char *name)
{
    return strncmp(name, "camera:", 7) == 0 || strncmp(name, "screen:", 7) == 0;
}

static int find_target(const char *name, const struct geometry *requested,
                       struct capture_target *out)
{
    const char *device = name + 7;
    *out = (struct capture_target){.screen = name[0] == 's',
                                   .any = name[0] == 'c' && !*device,
                                   .requested = requested ? *requested
                                                          : (struct geometry){1280, 720, {30, 1}},
                                   .is_requested = requested};
    const char *display = getenv("DISPLAY");
    if (out->screen && !*device && !(device = display && *display ? display : NULL)) {
        log_error("screen: no X display: DISPLAY is not set "
                  "(weir-send --list-devices lists the devices)");
        return ERR_NOT_FOUND;
    }
    if (!*device && !capture_first_camera(out->name, sizeof(out->name))) {
        log_error("camera: no camera found (no /dev/video* delivers pictures)");
        return ERR_NOT_FOUND;
    }
    if (*device && strlen(device) >= sizeof(out->name)) {
        log_error("%s: the name is too long", name);
        return ERR_MALFORMED;
    }
    if (*device)
        snprintf(out->name, sizeof(out->name), "%s", device);
    return 0;
}

// Opens the device once to learn its mode, and closes it, as no viewer is connected yet.
static int learn(const struct capture_target *target, struct capture_given *given)
{
    char reason[CAPTURE_MAX_REASON];
    int err;
    struct capture_device *d = capture_device_open(target, given, reason, sizeof(reason), &err);
    if (!d) {
        log_error("%s", reason);
        return err;
    }
    capture_device_close(d);
    capture_log_given(target, given);
    return 0;
}

static int init(struct source_capture *s, const struct capture_target *target,
                const struct capture_given *given)
{
    if (!picture_fit(given->width, given->height, 1, 1, &s->base.width, &s->base.height)) {
        log_error("%s: the device's pictures are too small", target->name);
        return ERR_UNSUPPORTED;
    }
    s->base.ops = &capture_ops;
    s->base.kind = target->screen ? SDP_SOURCE_SCREEN : SDP_SOURCE_CAMERA;
    s->base.live = true;
    s->base.fps = given->fps;
    s->base.duration = -1;
    snprintf(s->base.name, sizeof(s->base.name), "%s:%.100s", target->screen ? "screen" : "camera",
             target->name);
    frame_grid_init(&s->ticks, given->fps);
    s->thread = capture_thread_start(target, given, s->base.width, s->base.height);
    if (!s->thread) {
        log_error("%s: cannot start a thread", s->base.name);
        return ERR_NO_MEMORY;
    }
    s->exchange = capture_thread_exchange(s->thread);
    return 0;
}

struct source *source_capture_open(const char *name, const struct geometry *requested, int *err)
{
    struct capture_target target;
    struct capture_given given = {0};
    struct source_capture *s = calloc(1, sizeof(*s));
    *err = s ? find_target(name, requested, &target) : ERR_NO_MEMORY;
    if (!*err)
        *err = learn(&target, &given);
    if (!*err)
        *err = init(s, &target, &given);
    if (!*err)
        return &s->base;
    free(s);
    return NULL;
}
