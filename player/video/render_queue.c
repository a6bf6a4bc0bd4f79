// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/video/render_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "common/net/clock.h"

void play_frame_free(struct play_frame *f)
{
    if (!f)
        return;
    received_frame_free(f->coded);
    picture_unref(f->picture);
    free(f);
}

// H.264's largest picture buffer (A.3.1), 16 frames, at 8 frames/s.
#define MAX_REORDER (2 * USEC_PER_SEC)

struct render_queue {
    pthread_mutex_t lock; // guards all up to `closed`
    pthread_cond_t changed;
    struct play_frame *frames[RENDER_QUEUE_FRAMES]; // a ring, in the order in which they are due
    usec_t held;                                    // start of the pause; USEC_NEVER: none
    int head;
    int count;
    unsigned pushes;
    bool single; // the next picture returned begins a pause
    bool closed;
    struct {
        unsigned session, place;
        usec_t pts; // USEC_NEVER: none
    } newest;       // of the frames returned by render_queue_due
    unsigned seen;  // pushes at the last render_queue_due; display's thread
    play_frame_fn *report;
    void *report_ctx; // borrowed
    void (*on_change)(void *ctx);
    void *change_ctx; // borrowed
};

static void no_change(void *ctx)
{
    (void)ctx;
}

struct render_queue *render_queue_new(play_frame_fn *report, void *ctx)
{
    struct render_queue *q = calloc(1, sizeof(*q));
    if (!q)
        return NULL;
    pthread_mutex_init(&q->lock, NULL);
    clock_cond_init(&q->changed);
    q->held = USEC_NEVER;
    q->newest.pts = USEC_NEVER;
    q->report = report;
    q->report_ctx = ctx;
    q->on_change = no_change;
    return q;
}

static struct play_frame *take(struct render_queue *q)
{
    struct play_frame *f = q->frames[q->head];
    q->head = (q->head + 1) % RENDER_QUEUE_FRAMES;
    q->count--;
    return f;
}

static struct play_frame **at(struct render_queue *q, int i)
{
    return &q->frames[(q->head + i) % RENDER_QUEUE_FRAMES];
}

// Moves queued frames of media times below `below` that are due after `from` to `out`. Returns how
// many there are.
static int take_left(struct render_queue *q, usec_t from, usec_t below, struct play_frame *out[])
{
    int left = 0, kept = 0;
    for (int i = 0; i < q->count; i++) {
        struct play_frame *f = *at(q, i);
        if (f->show_at > from && f->pts < below)
            out[left++] = f;
        else
            *at(q, kept++) = f;
    }
    q->count = kept;
    return left;
}

static void insert(struct render_queue *q, struct play_frame *f)
{
    int i = q->count++;
    for (; i > 0 && (*at(q, i - 1))->show_at > f->show_at; i--)
        *at(q, i) = *at(q, i - 1);
    *at(q, i) = f;
}

static void report_all(struct render_queue *q, struct play_frame *frames[], int count,
                       enum frame_fate fate)
{
    for (int i = 0; i < count; i++) {
        frames[i]->fate = fate;
        q->report(q->report_ctx, frames[i]);
    }
}

void render_queue_free(struct render_queue *q)
{
    if (!q)
        return;
    while (q->count)
        play_frame_free(take(q));
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

void render_queue_on_change(struct render_queue *q, void (*fn)(void *ctx), void *ctx)
{
    q->on_change = fn ? fn : no_change;
    q->change_ctx = ctx;
}

bool render_queue_push(struct render_queue *q, struct play_frame *f)
{
    struct play_frame *left[RENDER_QUEUE_FRAMES];
    pthread_mutex_lock(&q->lock);
    int left_count = take_left(q, f->show_at, f->pts, left);
    while (q->count == RENDER_QUEUE_FRAMES && !q->closed)
        pthread_cond_wait(&q->changed, &q->lock);
    bool pushed = !q->closed;
    if (pushed) {
        insert(q, f);
        q->pushes++;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    report_all(q, left, left_count, FATE_DISCARDED);
    if (pushed)
        q->on_change(q->change_ctx);
    return pushed;
}

// Media times far below belong to a source that restarted.
static bool comes_too_late(const struct render_queue *q, const struct play_frame *f)
{
    return q->newest.pts != USEC_NEVER && f->session == q->newest.session &&
           f->place == q->newest.place && f->pts < q->newest.pts &&
           f->pts >= q->newest.pts - MAX_REORDER;
}

struct play_frame *render_queue_due(struct render_queue *q, usec_t *next, usec_t now)
{
    struct play_frame *skipped[RENDER_QUEUE_FRAMES];
    int skipped_count = 0;
    struct play_frame *due = NULL;
    pthread_mutex_lock(&q->lock);
    q->seen = q->pushes;
    now = usec_min(now, q->held);
    while (q->count && q->frames[q->head]->show_at <= now) {
        struct play_frame *f = take(q);
        if (comes_too_late(q, f)) {
            skipped[skipped_count++] = f;
            continue;
        }
        if (due)
            skipped[skipped_count++] = due;
        due = f;
        bool last = q->single;
        q->newest.session = f->session;
        q->newest.place = f->place;
        q->newest.pts = f->pts;
        if (last) {
            q->single = false;
            q->held = f->show_at;
            break;
        }
    }
    *next = q->count ? q->frames[q->head]->show_at : USEC_NEVER;
    *next = *next > q->held ? USEC_NEVER : *next;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    report_all(q, skipped, skipped_count, FATE_SKIPPED);
    return due;
}

// Wakes the display: a frame may be due now.
static void change(struct render_queue *q)
{
    q->pushes++;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    q->on_change(q->change_ctx);
}

void render_queue_hold(struct render_queue *q, usec_t at)
{
    pthread_mutex_lock(&q->lock);
    q->held = usec_min(q->held, at);
    change(q);
}

static void go_on(struct render_queue *q, bool single, usec_t now)
{
    pthread_mutex_lock(&q->lock);
    usec_t length = q->held == USEC_NEVER ? 0 : usec_max(0, now - q->held);
    for (int i = 0; i < q->count; i++)
        (*at(q, i))->show_at += (*at(q, i))->show_at > q->held ? length : 0;
    q->held = USEC_NEVER;
    q->single = single;
    change(q);
}

void render_queue_go_on(struct render_queue *q, usec_t now)
{
    go_on(q, false, now);
}

void render_queue_step(struct render_queue *q, usec_t now)
{
    go_on(q, true, now);
}

void render_queue_drop(struct render_queue *q)
{
    struct play_frame *out[RENDER_QUEUE_FRAMES];
    pthread_mutex_lock(&q->lock);
    int count = take_left(q, INT64_MIN, INT64_MAX, out);
    q->held = USEC_NEVER;
    q->single = false;
    change(q);
    report_all(q, out, count, FATE_DISCARDED);
}

void render_queue_flush(struct render_queue *q)
{
    struct play_frame *out[RENDER_QUEUE_FRAMES];
    pthread_mutex_lock(&q->lock);
    int count = take_left(q, INT64_MIN, INT64_MAX, out);
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    report_all(q, out, count, FATE_SKIPPED);
}

void render_queue_wait(struct render_queue *q, usec_t deadline)
{
    struct timespec t = {.tv_sec = deadline / USEC_PER_SEC,
                         .tv_nsec = deadline % USEC_PER_SEC * 1000};
    pthread_mutex_lock(&q->lock);
    int timed_out = 0;
    while (!q->closed && q->pushes == q->seen && !timed_out) {
        if (deadline == USEC_NEVER)
            pthread_cond_wait(&q->changed, &q->lock);
        else
            timed_out = pthread_cond_timedwait(&q->changed, &q->lock, &t);
    }
    pthread_mutex_unlock(&q->lock);
}

void render_queue_close(struct render_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    q->on_change(q->change_ctx);
}

bool render_queue_closed(struct render_queue *q)
{
    pthread_mutex_lock(&q->lock);
    bool closed = q->closed;
    pthread_mutex_unlock(&q->lock);
    return closed;
}
