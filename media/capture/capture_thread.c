// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/capture_thread.h"

#include <libavutil/frame.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/abandonable_thread.h"
#include "common/net/clock.h"
#include "media/capture/capture_list.h"
#include "media/capture/policy/capture_mode.h"
#include "media/convert/convert.h"
#include "media/picture/picture_fit.h"

static const usec_t POLL = USEC_PER_MSEC;    // interval of reads when a picture is due
static const usec_t PATIENCE = USEC_PER_SEC; // max. time to wait for the thread's end

// Used by the thread alone, once it runs; `exchange` locks.
struct capture_thread {
    struct abandonable_thread *thread; // owned
    struct capture_exchange *exchange; // owned
    struct capture_target target;
    struct capture_given given; // mode of the last opening
    int width;
    int height;
    struct converter converter;
};

void capture_log_given(const struct capture_target *t, const struct capture_given *g)
{
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

// Returns the part of `p` that a picture of `from`'s shape fills. The borders become black: a
// screen may have been rotated, and a reopened camera may give another size.
static struct image place_in(struct picture *p, const struct image *from)
{
    struct image to = image_of_picture(p);
    struct picture_place at = picture_place_in(p, from->width, from->height, to.plane);
    to.width = at.width;
    to.height = at.height;
    return to;
}

// Converts a frame of the device and puts it into the exchange. Returns 0, ERR_NO_MEMORY or
// ERR_UNSUPPORTED.
static int convert(struct capture_thread *t, const AVFrame *frame, usec_t stamp)
{
    struct picture *p = picture_new(t->width, t->height);
    if (!p)
        return ERR_NO_MEMORY;
    struct image from = image_of_frame(frame);
    struct image to = place_in(p, &from);
    int err = converter_run(&t->converter, &from, &to);
    if (err) {
        picture_unref(p);
        return err;
    }
    p->capture_wall = clock_wall() - (clock_now() - stamp);
    if (capture_exchange_put(t->exchange, (struct captured){p, stamp}))
        log_info("%s: the device works again", t->target.name);
    return 0;
}

// Reads the device until it is no longer wanted. Returns false if the device failed, with a
// sentence in `reason`.
static bool watch(struct capture_thread *t, struct capture_device *d, unsigned session,
                  char *reason, size_t cap)
{
    usec_t interval = (usec_t)((double)USEC_PER_SEC / fps_value(t->given.fps));
    usec_t next = 0; // earliest time of the next picture
    AVFrame *frame = av_frame_alloc();
    int err = frame ? 0 : err_say(reason, cap, ERR_NO_MEMORY, "no memory");
    enum capture_turn turn = CAPTURE_READ;
    while (!err && turn == CAPTURE_READ) {
        usec_t stamp;
        err = capture_device_read(d, frame, &stamp, reason, cap);
        if (err == 0) {
            err = convert(t, frame, stamp);
            if (err)
                snprintf(reason, cap, "%s: cannot convert a picture: %s", t->target.name,
                         err_text(err));
            next = clock_now() + interval * 3 / 4;
        }
        if (err && err != ERR_AGAIN)
            break;
        err = 0;
        turn = capture_exchange_pause(t->exchange, session, usec_max(next, clock_now() + POLL));
        if (turn == CAPTURE_SILENT)
            err =
                err_say(reason, cap, ERR_IO, "%s: the device delivers no pictures", t->target.name);
    }
    av_frame_free(&frame);
    return !err;
}

// If the user named no camera and the current one is gone, opens the first camera instead: a camera
// that is plugged in again often gets another number.
static struct capture_device *open_device(struct capture_thread *t, struct capture_given *given,
                                          char *reason, size_t cap)
{
    int err;
    char first[sizeof(t->target.name)];
    struct capture_device *d = capture_device_open(&t->target, given, reason, cap, &err);
    if (d || err == ERR_IO || !t->target.any || !capture_first_camera(first, sizeof(first)))
        return d;
    memcpy(t->target.name, first, sizeof(first));
    return capture_device_open(&t->target, given, reason, cap, &err);
}

// Runs until the device fails or is no longer wanted. Returns false if it failed.
static bool use_device(struct capture_thread *t, unsigned session, char *reason, size_t cap)
{
    struct capture_given given;
    struct capture_device *d = open_device(t, &given, reason, cap);
    if (!d)
        return false;
    if (memcmp(&given, &t->given, sizeof(given)) != 0)
        capture_log_given(&t->target, &given);
    t->given = given;
    capture_exchange_opened(t->exchange, session);
    bool works = watch(t, d, session, reason, cap);
    capture_device_close(d);
    return works;
}

static void run(void *arg)
{
    struct capture_thread *t = arg;
    unsigned session;
    while (capture_exchange_wait_work(t->exchange, &session)) {
        char reason[CAPTURE_MAX_REASON];
        if (!use_device(t, session, reason, sizeof(reason)) &&
            capture_exchange_failed(t->exchange, reason))
            log_warn("%s; trying again", reason);
    }
}

static void destroy(void *arg)
{
    struct capture_thread *t = arg;
    capture_exchange_free(t->exchange);
    converter_destroy(&t->converter);
    free(t);
}

struct capture_thread *capture_thread_start(const struct capture_target *target,
                                            const struct capture_given *given, int width,
                                            int height)
{
    struct capture_thread *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->target = *target;
    t->given = *given;
    t->width = width;
    t->height = height;
    t->exchange = capture_exchange_new();
    t->thread = t->exchange ? abandonable_thread_new(run, t) : NULL;
    if (t->thread)
        return t;
    destroy(t);
    return NULL;
}

struct capture_exchange *capture_thread_exchange(struct capture_thread *t)
{
    return t->exchange;
}

bool capture_thread_end(struct capture_thread *t)
{
    capture_exchange_stop(t->exchange);
    // `t` belongs to a thread that was abandoned.
    bool ended = abandonable_thread_end(t->thread, PATIENCE, destroy);
    if (ended)
        destroy(t);
    return ended;
}
