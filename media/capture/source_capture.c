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
#include "media/capture/capture_state.h"
#include "media/pattern/no_signal.h"
#include "media/picture/picture_fit.h"

static const usec_t WAIT = 100 * USEC_PER_MSEC; // max. time in `next`
static const usec_t PATIENCE = USEC_PER_SEC;    // max. time to wait for the thread at the end

static void drop_all(struct source_capture *s)
{
    for (struct captured c; capture_take(s, &c);)
        picture_unref(c.picture);
}

static void show(struct source_capture *s, struct picture *p, bool card)
{
    picture_unref(s->current);
    s->current = p;
    s->is_card = card;
}

static bool show_card(struct source_capture *s)
{
    char reason[CAPTURE_MAX_REASON];
    pthread_mutex_lock(&s->lock);
    snprintf(reason, sizeof(reason), "%s",
             *s->reason     ? s->reason
             : s->link.open ? "the device delivers no pictures"
                            : "the device is being opened");
    pthread_mutex_unlock(&s->lock);
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

// Emits the next frame from the ring. Returns ERR_AGAIN if the ring is empty. If the ring's first
// picture belongs to a later frame, it stays there and the current picture is repeated.
static int emit_new(struct source_capture *s, struct picture **out)
{
    struct captured c;
    for (;;) {
        pthread_mutex_lock(&s->lock);
        bool any = s->count > 0;
        if (any)
            c = s->ring[s->first];
        int before = any ? frame_grid_place(&s->ticks, c.stamp, clock_now()) : 0;
        bool repeat = before > 0 && s->current;
        if (any && !repeat)
            capture_take(s, &c);
        pthread_mutex_unlock(&s->lock);
        if (!any)
            return ERR_AGAIN;
        if (repeat)
            return emit(s, frame_grid_instant(&s->ticks), out);
        if (before >= 0)
            break;
        picture_unref(c.picture);
    }
    show(s, c.picture, false);
    return emit(s, c.stamp, out);
}

// Emits the next frame after its deadline, as no picture came for it: repeats the current picture
// or shows the card.
static int emit_old(struct source_capture *s, struct picture **out, usec_t now)
{
    pthread_mutex_lock(&s->lock);
    enum capture_view view = retry_policy_view(&s->link, now);
    pthread_mutex_unlock(&s->lock);
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
    pthread_mutex_lock(&s->lock);
    bool news = s->link.wanted != wanted;
    retry_policy_want(&s->link, wanted, clock_now());
    if (news) {
        s->session += wanted;
        s->reason[0] = '\0';
        drop_all(s);
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    if (!news)
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
        pthread_mutex_lock(&s->lock);
        if (!s->count)
            capture_wait(s, due > now ? usec_min(due, end) : end);
        pthread_mutex_unlock(&s->lock);
    }
}

static void capture_idle(struct source *base)
{
    want((struct source_capture *)base, false);
}

static void destroy(void *source)
{
    struct source_capture *s = source;
    drop_all(s);
    picture_unref(s->current);
    converter_destroy(&s->converter);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

// A hung X server blocks its callers for ever. In that case the thread is abandoned, and frees `s`
// if the call ever returns.
static void capture_free(struct source *base)
{
    struct source_capture *s = (struct source_capture *)base;
    char name[sizeof(
        base->name)]; // the abandoned thread may have freed `s` when the warning is logged
    memcpy(name, base->name, sizeof(name));
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (!s->thread || abandonable_thread_end(s->thread, PATIENCE, destroy))
        destroy(s);
    else
        log_warn("%s: the device does not respond", name);
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
static int learn(struct source_capture *s)
{
    char reason[CAPTURE_MAX_REASON];
    int err;
    struct capture_device *d =
        capture_device_open(&s->target, &s->given, reason, sizeof(reason), &err);
    if (!d) {
        log_error("%s", reason);
        return err;
    }
    capture_device_close(d);
    capture_log_given(s, &s->given);
    if (!picture_fit(s->given.width, s->given.height, 1, 1, &s->base.width, &s->base.height)) {
        log_error("%s: the device's pictures are too small", s->target.name);
        return ERR_UNSUPPORTED;
    }
    s->base.ops = &capture_ops;
    s->base.kind = s->target.screen ? SDP_SOURCE_SCREEN : SDP_SOURCE_CAMERA;
    s->base.live = true;
    s->base.fps = s->given.fps;
    s->base.duration = -1;
    snprintf(s->base.name, sizeof(s->base.name), "%s:%.100s",
             s->target.screen ? "screen" : "camera", s->target.name);
    frame_grid_init(&s->ticks, s->given.fps);
    return 0;
}

struct source *source_capture_open(const char *name, const struct geometry *requested, int *err)
{
    struct source_capture *s = calloc(1, sizeof(*s));
    *err = s ? find_target(name, requested, &s->target) : ERR_NO_MEMORY;
    if (!*err)
        *err = learn(s);
    if (*err) {
        free(s);
        return NULL;
    }
    pthread_mutex_init(&s->lock, NULL);
    clock_cond_init(&s->changed);
    s->thread = abandonable_thread_new(capture_thread_run, s);
    if (s->thread)
        return &s->base;
    log_error("%s: cannot start a thread", s->base.name);
    capture_free(&s->base);
    *err = ERR_NO_MEMORY;
    return NULL;
}
