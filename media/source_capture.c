// SPDX-License-Identifier: GPL-2.0-or-later
// A capture device as a source. Its own thread opens it, reads it and converts its pictures, so
// that a device that hangs stops nobody else; `next` takes what is there, at most WAIT later.
// Between them wait RING pictures; when they are not taken in time the oldest is left out.
#include <libavutil/frame.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "media/capture_device.h"
#include "media/capture_link.h"
#include "media/capture_list.h"
#include "media/capture_mode.h"
#include "media/capture_ticks.h"
#include "media/convert.h"
#include "media/no_signal.h"
#include "media/picture_fit.h"
#include "media/source.h"

enum { RING = 4, MAX_WHY = 512 };

static const usec_t WAIT = 100 * USEC_PER_MSEC; // that `next` may take
static const usec_t POLL = USEC_PER_MSEC;       // when a picture is about to come

struct captured {
    struct picture *picture; // one reference
    usec_t stamp;
};

struct source_capture {
    struct source base;
    struct capture_target target;
    pthread_t thread;
    bool started;
    // The engine's thread:
    struct capture_ticks ticks;
    struct picture *current; // owned; the last picture, or the card; NULL: none yet
    bool is_card;            // it is
    // The device's thread:
    struct converter converter;
    struct capture_given given; // at the last opening
    pthread_mutex_t lock;       // guards what follows
    pthread_cond_t changed;
    bool stop;
    unsigned session; // counts the times that someone began to watch
    struct capture_link link;
    char why[MAX_WHY]; // that there is no picture
    struct captured ring[RING];
    int first;
    int count;
};

static void wait_until(struct source_capture *s, usec_t when)
{
    struct timespec t = {.tv_sec = when / USEC_PER_SEC, .tv_nsec = when % USEC_PER_SEC * 1000};
    if (when == USEC_NEVER)
        pthread_cond_wait(&s->changed, &s->lock);
    else
        pthread_cond_timedwait(&s->changed, &s->lock, &t);
}

static bool take(struct source_capture *s, struct captured *out)
{
    if (!s->count)
        return false;
    *out = s->ring[s->first];
    s->first = (s->first + 1) % RING;
    s->count--;
    return true;
}

static void drop_all(struct source_capture *s)
{
    for (struct captured c; take(s, &c);)
        picture_unref(c.picture);
}

// ---- The device's thread ----

// "camera /dev/video0: 1280x720@30 MJPEG (asked 1920x1080@60)"
static void tell_given(const struct source_capture *s, const struct capture_given *g)
{
    const struct capture_target *t = &s->target;
    char rate[16];
    char asked_rate[16];
    char asked[64] = "";
    capture_rate_text(g->fps, rate, sizeof(rate));
    capture_rate_text(t->asked.fps, asked_rate, sizeof(asked_rate));
    bool same =
        g->width == t->asked.width && g->height == t->asked.height && strcmp(rate, asked_rate) == 0;
    if (t->is_asked && !same)
        snprintf(asked, sizeof(asked), " (asked %dx%d@%s)", t->asked.width, t->asked.height,
                 asked_rate);
    log_info("%s %s: %dx%d@%s%s%s%s", t->screen ? "screen" : "camera", t->name, g->width, g->height,
             rate, *g->format ? " " : "", g->format, asked);
}

static void failed(struct source_capture *s, const char *why)
{
    pthread_mutex_lock(&s->lock);
    bool news = capture_link_failed(&s->link, clock_now());
    snprintf(s->why, sizeof(s->why), "%s", why);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (news)
        log_warn("%s; trying again", why);
}

static void put(struct source_capture *s, struct picture *p, usec_t stamp)
{
    struct captured oldest;
    pthread_mutex_lock(&s->lock);
    if (s->count == RING && take(s, &oldest))
        picture_unref(oldest.picture);
    s->ring[(s->first + s->count++) % RING] = (struct captured){p, stamp};
    capture_link_picture(&s->link, clock_now());
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

// 0, or ERR_NO_MEMORY, ERR_UNSUPPORTED.
static int convert(struct source_capture *s, const AVFrame *frame, usec_t stamp)
{
    struct picture *p = picture_new(s->base.width, s->base.height);
    if (!p)
        return ERR_NO_MEMORY;
    struct image from = image_of_frame(frame), to = image_of_picture(p);
    int err = converter_run(&s->converter, &from, &to);
    if (err) {
        picture_unref(p);
        return err;
    }
    p->capture_wall = clock_wall() - (clock_now() - stamp);
    put(s, p, stamp);
    return 0;
}

// Does the one who watched when the device was opened still do?
static bool is_current(struct source_capture *s, unsigned session)
{
    return !s->stop && s->link.wanted && s->session == session;
}

// Reads until nobody watches any more; false: the device broke, `why` says how.
static bool watch(struct source_capture *s, struct capture_device *d, unsigned session, char *why,
                  size_t cap)
{
    usec_t interval = (usec_t)((double)USEC_PER_SEC / fps_value(s->given.fps));
    usec_t next = 0; // picture, at the earliest
    AVFrame *frame = av_frame_alloc();
    int err = frame ? 0 : err_say(why, cap, ERR_NO_MEMORY, "no memory");
    for (bool go_on = true; !err && go_on;) {
        usec_t stamp;
        err = capture_device_read(d, frame, &stamp, why, cap);
        if (err == 0) {
            err = convert(s, frame, stamp);
            if (err)
                snprintf(why, cap, "%s: a picture cannot be used: %s", s->target.name,
                         err_text(err));
            next = clock_now() + interval * 3 / 4;
        }
        if (err == ERR_AGAIN)
            err = 0;
        pthread_mutex_lock(&s->lock);
        usec_t now = clock_now();
        if (!err && capture_link_is_silent(&s->link, now))
            err = err_say(why, cap, ERR_IO, "%s: it gives no pictures", s->target.name);
        usec_t until = usec_max(next, now + POLL);
        while (!err && (go_on = is_current(s, session)) && clock_now() < until)
            wait_until(s, until);
        pthread_mutex_unlock(&s->lock);
    }
    av_frame_free(&frame);
    return !err;
}

// Waits until the device is to be opened. False: stop.
static bool wait_for_work(struct source_capture *s, unsigned *session)
{
    pthread_mutex_lock(&s->lock);
    usec_t when;
    while (!s->stop && (when = capture_link_open_at(&s->link)) > clock_now())
        wait_until(s, when);
    *session = s->session;
    bool go_on = !s->stop;
    pthread_mutex_unlock(&s->lock);
    return go_on;
}

static void *run(void *arg)
{
    struct source_capture *s = arg;
    unsigned session;
    while (wait_for_work(s, &session)) {
        char why[MAX_WHY];
        int err;
        struct capture_given given;
        struct capture_device *d = capture_device_open(&s->target, &given, why, sizeof(why), &err);
        if (!d) {
            failed(s, why);
            continue;
        }
        if (memcmp(&given, &s->given, sizeof(given)) != 0)
            tell_given(s, &given);
        s->given = given;
        pthread_mutex_lock(&s->lock);
        bool back = s->link.failed;
        if (is_current(s, session))
            capture_link_opened(&s->link, clock_now());
        pthread_mutex_unlock(&s->lock);
        if (back)
            log_info("%s: it is back", s->target.name);
        if (!watch(s, d, session, why, sizeof(why)))
            failed(s, why);
        capture_device_close(d);
    }
    return NULL;
}

// ---- The engine's thread ----

static void show(struct source_capture *s, struct picture *p, bool card)
{
    picture_unref(s->current);
    s->current = p;
    s->is_card = card;
}

static bool show_card(struct source_capture *s)
{
    char why[MAX_WHY];
    pthread_mutex_lock(&s->lock);
    snprintf(why, sizeof(why), "%s", *s->why ? s->why : "it is being opened");
    pthread_mutex_unlock(&s->lock);
    struct picture *card = picture_new(s->base.width, s->base.height);
    if (!card)
        return false;
    no_signal_draw(card, why);
    show(s, card, true);
    return true;
}

// The current picture as the next frame, seen at `stamp`.
static int emit(struct source_capture *s, usec_t stamp, struct picture **out)
{
    struct picture *p = picture_alias(s->current);
    if (!p)
        return ERR_AGAIN;
    p->number = capture_ticks_take(&s->ticks);
    p->pts = usec_of_frames(p->number, s->base.fps.num, s->base.fps.den);
    p->capture_wall = clock_wall() - (clock_now() - stamp);
    *out = p;
    return 0;
}

// A picture for the next frame out of the ring. ERR_AGAIN: none. A picture for a later frame
// stays there until those before it have had the current one once more.
static int emit_new(struct source_capture *s, struct picture **out)
{
    struct captured c;
    for (;;) {
        pthread_mutex_lock(&s->lock);
        bool any = s->count > 0;
        if (any)
            c = s->ring[s->first];
        int before = any ? capture_ticks_place(&s->ticks, c.stamp, clock_now()) : 0;
        bool repeat = before > 0 && s->current;
        if (any && !repeat)
            take(s, &c);
        pthread_mutex_unlock(&s->lock);
        if (!any)
            return ERR_AGAIN;
        if (repeat)
            return emit(s, capture_ticks_instant(&s->ticks), out);
        if (before >= 0)
            break;
        picture_unref(c.picture);
    }
    show(s, c.picture, false);
    return emit(s, c.stamp, out);
}

// The next frame's time is over, and no picture came for it.
static int emit_old(struct source_capture *s, struct picture **out, usec_t now)
{
    pthread_mutex_lock(&s->lock);
    enum capture_view view = capture_link_view(&s->link, now);
    pthread_mutex_unlock(&s->lock);
    if (view == CAPTURE_VIEW_CARD && !s->is_card && !show_card(s))
        return ERR_AGAIN;
    if (view == CAPTURE_VIEW_NONE || !s->current)
        return ERR_AGAIN;
    if (!s->ticks.anchored)
        capture_ticks_anchor(&s->ticks, now);
    return emit(s, usec_min(capture_ticks_instant(&s->ticks), now), out);
}

static void want(struct source_capture *s, bool wanted)
{
    pthread_mutex_lock(&s->lock);
    bool news = s->link.wanted != wanted;
    capture_link_want(&s->link, wanted, clock_now());
    if (news) {
        s->session += wanted;
        s->why[0] = '\0';
        drop_all(s);
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    if (!news)
        return;
    capture_ticks_restart(&s->ticks);
    show(s, NULL, false); // what was to be seen minutes ago is nobody's business
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
        usec_t due = s->ticks.anchored ? capture_ticks_deadline(&s->ticks) : end;
        if (now >= due && emit_old(s, out, now) == 0)
            return 0;
        if (now >= end)
            return ERR_AGAIN;
        pthread_mutex_lock(&s->lock);
        if (!s->count)
            wait_until(s, due > now ? usec_min(due, end) : end);
        pthread_mutex_unlock(&s->lock);
    }
}

static void capture_idle(struct source *base)
{
    want((struct source_capture *)base, false);
}

static void capture_free(struct source *base)
{
    struct source_capture *s = (struct source_capture *)base;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (s->started)
        pthread_join(s->thread, NULL);
    drop_all(s);
    picture_unref(s->current);
    converter_destroy(&s->converter);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static const struct source_ops capture_ops = {
    .next = capture_next, .idle = capture_idle, .free = capture_free};

// ---- Opening ----

bool source_is_capture(const char *name)
{
    return strncmp(name, "camera:", 7) == 0 || strncmp(name, "screen:", 7) == 0;
}

static int find_target(const char *name, const struct geometry *asked, struct capture_target *out)
{
    const char *device = name + 7;
    *out = (struct capture_target){.screen = name[0] == 's',
                                   .asked = asked ? *asked : (struct geometry){1280, 720, {30, 1}},
                                   .is_asked = asked};
    const char *display = getenv("DISPLAY");
    if (out->screen && !*device && !(device = display && *display ? display : NULL)) {
        log_error("screen: there is no X display here: DISPLAY is not set "
                  "(weir-send --list-devices tells of those there are)");
        return ERR_NOT_FOUND;
    }
    if (!*device && !capture_first_camera(out->name, sizeof(out->name))) {
        log_error("camera: there is none here (no /dev/video* that gives pictures)");
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

// Opens the device once to learn what it gives, and closes it: nobody watches yet.
static int learn(struct source_capture *s)
{
    char why[MAX_WHY];
    int err;
    struct capture_device *d = capture_device_open(&s->target, &s->given, why, sizeof(why), &err);
    if (!d) {
        log_error("%s", why);
        return err;
    }
    capture_device_close(d);
    tell_given(s, &s->given);
    if (!picture_fit(s->given.width, s->given.height, 1, 1, &s->base.width, &s->base.height)) {
        log_error("%s: its pictures are too small", s->target.name);
        return ERR_UNSUPPORTED;
    }
    s->base.ops = &capture_ops;
    s->base.kind = s->target.screen ? SDP_SOURCE_SCREEN : SDP_SOURCE_CAMERA;
    s->base.live = true;
    s->base.fps = s->given.fps;
    s->base.duration = -1;
    snprintf(s->base.name, sizeof(s->base.name), "%s:%.100s",
             s->target.screen ? "screen" : "camera", s->target.name);
    capture_ticks_init(&s->ticks, s->given.fps);
    return 0;
}

struct source *source_capture_open(const char *name, const struct geometry *asked, int *err)
{
    struct source_capture *s = calloc(1, sizeof(*s));
    *err = s ? find_target(name, asked, &s->target) : ERR_NO_MEMORY;
    if (!*err)
        *err = learn(s);
    if (*err) {
        free(s);
        return NULL;
    }
    pthread_mutex_init(&s->lock, NULL);
    clock_cond_init(&s->changed);
    s->started = pthread_create(&s->thread, NULL, run, s) == 0;
    if (s->started)
        return &s->base;
    log_error("%s: cannot start a thread", s->base.name);
    capture_free(&s->base);
    *err = ERR_NO_MEMORY;
    return NULL;
}
