// SPDX-License-Identifier: GPL-2.0-or-later
#include <libavutil/frame.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "media/capture/capture_list.h"
#include "media/capture/capture_state.h"
#include "media/capture/policy/capture_mode.h"
#include "media/picture/picture_fit.h"

static const usec_t POLL = USEC_PER_MSEC; // interval of reads when a picture is due

void capture_wait(struct source_capture *s, usec_t when)
{
    struct timespec t = {.tv_sec = when / USEC_PER_SEC, .tv_nsec = when % USEC_PER_SEC * 1000};
    if (when == USEC_NEVER)
        pthread_cond_wait(&s->changed, &s->lock);
    else
        pthread_cond_timedwait(&s->changed, &s->lock, &t);
}

bool capture_take(struct source_capture *s, struct captured *out)
{
    if (!s->count)
        return false;
    *out = s->ring[s->first];
    s->first = (s->first + 1) % CAPTURE_RING;
    s->count--;
    return true;
}

void capture_log_given(const struct source_capture *s, const struct capture_given *g)
{
    const struct capture_target *t = &s->target;
    char rate[16];
    char requested_rate[16];
    char note[64] = "";
    capture_rate_text(g->fps, rate, sizeof(rate));
    capture_rate_text(t->requested.fps, requested_rate, sizeof(requested_rate));
    bool same = g->width == t->requested.width && g->height == t->requested.height &&
                strcmp(rate, requested_rate) == 0;
    if (t->is_requested && !same)
        snprintf(note, sizeof(note), " (requested %dx%d@%s)", t->requested.width,
                 t->requested.height, requested_rate);
    log_info("%s %s: %dx%d@%s%s%s%s", t->screen ? "screen" : "camera", t->name, g->width, g->height,
             rate, *g->format ? " " : "", g->format, note);
}

static void failed(struct source_capture *s, const char *reason)
{
    pthread_mutex_lock(&s->lock);
    bool news = retry_policy_failed(&s->link, clock_now());
    snprintf(s->reason, sizeof(s->reason), "%s", reason);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (news)
        log_warn("%s; trying again", reason);
}

static void put(struct source_capture *s, struct picture *p, usec_t stamp)
{
    struct captured oldest;
    pthread_mutex_lock(&s->lock);
    if (s->count == CAPTURE_RING && capture_take(s, &oldest))
        picture_unref(oldest.picture);
    s->ring[(s->first + s->count++) % CAPTURE_RING] = (struct captured){p, stamp};
    bool back = s->link.failed;
    retry_policy_picture(&s->link, clock_now());
    s->reason[0] = '\0';
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (back)
        log_info("%s: the device works again", s->target.name);
}

// Returns the part of `p` that a picture of `from`'s shape fills. The borders become black: a
// screen may have been rotated, and a reopened camera may give another size.
static struct image place_in(struct picture *p, const struct image *from)
{
    struct image to = image_of_picture(p);
    struct picture_place at = picture_fit_place(from->width, from->height, p->width, p->height);
    bool whole = at.width == p->width && at.height == p->height;
    for (int i = 0; i < 3 && !whole; i++) {
        int half = i > 0; // 4:2:0
        memset(p->plane[i], half ? 128 : 16, (size_t)p->stride[i] * (size_t)(p->height >> half));
        to.plane[i] += (at.y >> half) * p->stride[i] + (at.x >> half);
    }
    to.width = at.width;
    to.height = at.height;
    return to;
}

// Converts a frame of the device and puts it into the ring. Returns 0, ERR_NO_MEMORY or
// ERR_UNSUPPORTED.
static int convert(struct source_capture *s, const AVFrame *frame, usec_t stamp)
{
    struct picture *p = picture_new(s->base.width, s->base.height);
    if (!p)
        return ERR_NO_MEMORY;
    struct image from = image_of_frame(frame);
    struct image to = place_in(p, &from);
    int err = converter_run(&s->converter, &from, &to);
    if (err) {
        picture_unref(p);
        return err;
    }
    p->capture_wall = clock_wall() - (clock_now() - stamp);
    put(s, p, stamp);
    return 0;
}

// The caller holds the lock. Returns true if the device is still wanted, without a pause since it
// was opened for `session`.
static bool is_current(struct source_capture *s, unsigned session)
{
    return !s->stop && s->link.wanted && s->session == session;
}

// Reads the device until it is no longer wanted. Returns false if the device failed, with a
// sentence in `reason`.
static bool watch(struct source_capture *s, struct capture_device *d, unsigned session,
                  char *reason, size_t cap)
{
    usec_t interval = (usec_t)((double)USEC_PER_SEC / fps_value(s->given.fps));
    usec_t next = 0; // earliest time of the next picture
    AVFrame *frame = av_frame_alloc();
    int err = frame ? 0 : err_say(reason, cap, ERR_NO_MEMORY, "no memory");
    for (bool wanted = true; !err && wanted;) {
        usec_t stamp;
        err = capture_device_read(d, frame, &stamp, reason, cap);
        if (err == 0) {
            err = convert(s, frame, stamp);
            if (err)
                snprintf(reason, cap, "%s: cannot convert a picture: %s", s->target.name,
                         err_text(err));
            next = clock_now() + interval * 3 / 4;
        }
        if (err == ERR_AGAIN)
            err = 0;
        pthread_mutex_lock(&s->lock);
        usec_t now = clock_now();
        if (!err && retry_policy_is_silent(&s->link, now))
            err =
                err_say(reason, cap, ERR_IO, "%s: the device delivers no pictures", s->target.name);
        usec_t until = usec_max(next, now + POLL);
        while (!err && (wanted = is_current(s, session)) && clock_now() < until)
            capture_wait(s, until);
        pthread_mutex_unlock(&s->lock);
    }
    av_frame_free(&frame);
    return !err;
}

// Waits until the device should be opened. Returns false if the thread must stop.
static bool wait_for_work(struct source_capture *s, unsigned *session)
{
    pthread_mutex_lock(&s->lock);
    usec_t when;
    while (!s->stop && (when = retry_policy_open_at(&s->link)) > clock_now())
        capture_wait(s, when);
    *session = s->session;
    bool running = !s->stop;
    pthread_mutex_unlock(&s->lock);
    return running;
}

// If the user named no camera and the current one is gone, opens the first camera instead: a camera
// that is plugged in again often gets another number.
static struct capture_device *open_device(struct source_capture *s, struct capture_given *given,
                                          char *reason, size_t cap)
{
    int err;
    char first[sizeof(s->target.name)];
    struct capture_device *d = capture_device_open(&s->target, given, reason, cap, &err);
    if (d || err == ERR_IO || !s->target.any || !capture_first_camera(first, sizeof(first)))
        return d;
    memcpy(s->target.name, first, sizeof(first));
    return capture_device_open(&s->target, given, reason, cap, &err);
}

void capture_thread_run(void *arg)
{
    struct source_capture *s = arg;
    unsigned session;
    while (wait_for_work(s, &session)) {
        char reason[CAPTURE_MAX_REASON];
        struct capture_given given;
        struct capture_device *d = open_device(s, &given, reason, sizeof(reason));
        if (!d) {
            failed(s, reason);
            continue;
        }
        if (memcmp(&given, &s->given, sizeof(given)) != 0)
            capture_log_given(s, &given);
        s->given = given;
        pthread_mutex_lock(&s->lock);
        if (is_current(s, session))
            retry_policy_opened(&s->link, clock_now());
        pthread_mutex_unlock(&s->lock);
        if (!watch(s, d, session, reason, sizeof(reason)))
            failed(s, reason);
        capture_device_close(d);
    }
}
