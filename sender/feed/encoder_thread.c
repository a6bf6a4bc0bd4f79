// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/feed/encoder_thread.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/net/clock.h"
#include "common/net/worker.h"
#include "sender/policy/rate_steps.h"
#include "stream/send/repair_budget.h"

enum {
    WAITING_PICTURES = 2,
    MAX_REPAIRS = 64,          // max. requests between two frames; beyond it, a key frame instead
    MAX_REPAIRS_OF_VIEWER = 8, // max. requests of one viewer between two frames
};

struct job {
    struct picture *picture; // one reference
    usec_t captured;
};

struct repair {
    int64_t number; // of the frame
    int account;    // of the viewer that lacks it
};

struct size {                // that the encoder encodes
    int bitrate_bps;         // requested bitrate; 0: unchanged
    struct rate_steps steps; // used by the encoder's thread alone, without traits.reconfigure
    int repair_count;
    struct repair repairs[MAX_REPAIRS];
    struct repair_budget budget;
    struct live_feed_size_stats stats;
};

struct encoder_thread {
    struct worker *worker;         // owned; of struct job
    struct video_encoder *encoder; // owned; used by the encoder's thread alone, once it runs
    struct scaler *scaler;         // owned; used by the encoder's thread alone
    int first_size;
    int size_count;
    const struct encoder_thread_events *events; // static
    void *ctx;                                  // borrowed
    char sprop[1024];
    char profile[8];
    pthread_mutex_t lock; // guards the members below
    int silent;           // viewers that do not report losses
    struct size sizes[VIDEO_ENCODER_MAX_SIZES];
};

static struct size *size_of(struct encoder_thread *t, int size_id)
{
    int i = size_id - t->first_size;
    assert(i >= 0 && i < t->size_count);
    return &t->sizes[i];
}

static void job_free(void *item)
{
    struct job *job = item;
    picture_unref(job->picture);
    free(job);
}

// Caller holds t->lock. Counts a request that is not repaired. `waits`: its viewer begins to wait
// for the size to start anew.
static void count_wait(struct size *s, bool waits)
{
    s->budget.counts.waited += waits;
    s->budget.counts.coalesced += !waits;
}

// Caller holds t->lock. Repairs a loss within the budget, or lets the viewer wait for the size to
// start anew.
static void repair(struct encoder_thread *t, int i, const struct repair *r, usec_t now)
{
    struct size *s = &t->sizes[i];
    struct video_encoder *e = t->encoder;
    enum layer_loss loss = e->ops->loss(e, t->first_size + i, r->number);
    if (loss == LAYER_LOSS_HARMLESS) {
        s->budget.counts.coalesced++;
    } else if (loss == LAYER_LOSS_NEEDS_KEY || !repair_budget_take(&s->budget, r->account, now)) {
        count_wait(s, repair_budget_wait(&s->budget, r->account, now));
    } else {
        e->ops->repair(e, t->first_size + i, r->number);
        s->budget.counts.repaired++;
    }
}

// Caller holds t->lock. Applies the requests for a size. Returns true if it must start anew, which
// makes repairs unnecessary.
static bool apply_requests_of_size(struct encoder_thread *t, int i, int64_t number, usec_t now)
{
    struct size *s = &t->sizes[i];
    bool starts = repair_budget_key_is_due(&s->budget, number, now);
    for (int k = 0; k < s->repair_count && !starts; k++)
        repair(t, i, &s->repairs[k], now);
    if (starts)
        s->budget.counts.coalesced += (uint64_t)s->repair_count;
    s->repair_count = 0;
    return starts || repair_budget_key_is_due(&s->budget, number, now);
}

// Returns the bitrate for which the encoder is opened anew now; 0: none. `bps`: requested; 0: none.
static int step(struct rate_steps *steps, int bps, usec_t now)
{
    if (bps)
        rate_steps_request(steps, bps);
    return rate_steps_take(steps, now);
}

// Applies the viewers' requests since the last frame to the next frame, `number`.
static void apply_requests(struct encoder_thread *t, int64_t number, usec_t now)
{
    struct video_encoder *e = t->encoder;
    int bitrates[VIDEO_ENCODER_MAX_SIZES];
    bool starts[VIDEO_ENCODER_MAX_SIZES];
    pthread_mutex_lock(&t->lock);
    bool has_silent = t->silent > 0;
    for (int i = 0; i < t->size_count; i++) {
        bitrates[i] = t->sizes[i].bitrate_bps;
        t->sizes[i].bitrate_bps = 0;
        starts[i] = apply_requests_of_size(t, i, number, now);
    }
    pthread_mutex_unlock(&t->lock);
    e->ops->set_periodic_keys(e, has_silent);
    for (int i = 0; i < t->size_count; i++) {
        int bps = e->traits.reconfigure ? bitrates[i] : step(&t->sizes[i].steps, bitrates[i], now);
        if (bps)
            e->ops->set_bitrate(e, t->first_size + i, bps);
        if (starts[i])
            e->ops->start(e, t->first_size + i);
    }
}

// Caller holds t->lock.
static void count_frame(struct size *s, const struct coded_frame *f, usec_t took, usec_t now)
{
    if (coded_frame_starts(f))
        repair_budget_key_made(&s->budget, f->number, now);
    s->stats.frames++;
    s->stats.keys += f->key;
    s->stats.bytes += f->bytes;
    s->stats.busy += took;
    double ms = usec_to_msec(took);
    s->stats.encode_ms += s->stats.frames == 1 ? ms : (ms - s->stats.encode_ms) / 16;
}

// The sizes of one encoder share the time that a picture took.
static void encode(struct encoder_thread *t, const struct job *job,
                   struct coded_frame *out[VIDEO_ENCODER_MAX_SIZES])
{
    struct video_encoder *e = t->encoder;
    usec_t begun = clock_now();
    apply_requests(t, job->picture->number, begun);
    struct picture *p = scaler_scaled(t->scaler, job->picture, e->width, e->height);
    if (p)
        e->ops->encode(e, p, out);
    picture_unref(p);
    usec_t done = clock_now();
    pthread_mutex_lock(&t->lock);
    for (int i = 0; i < t->size_count; i++) {
        if (!out[i])
            continue;
        out[i]->captured = job->captured;
        out[i]->encode_time = done - begun;
        count_frame(&t->sizes[i], out[i], (done - begun) / t->size_count, done);
    }
    pthread_mutex_unlock(&t->lock);
}

static void run(void *ctx, void *item)
{
    struct encoder_thread *t = ctx;
    struct job *job = item;
    struct coded_frame *frames[VIDEO_ENCODER_MAX_SIZES] = {NULL};
    encode(t, job, frames);
    for (int i = 0; i < t->size_count; i++)
        if (frames[i] && !t->events->on_coded(t->ctx, frames[i]))
            t->encoder->ops->repair(t->encoder, t->first_size + i, job->picture->number);
    t->events->on_done(t->ctx);
    job_free(job);
}

static const struct worker_ops ENCODES = {.run = run, .free_job = job_free};

struct encoder_thread *encoder_thread_new(struct video_encoder *encoder,
                                          const struct encoder_thread_events *events, void *ctx)
{
    struct encoder_thread *t = calloc(1, sizeof(*t));
    if (!t)
        goto free_encoder;
    t->encoder = encoder;
    t->first_size = encoder->first_size;
    t->size_count = encoder->size_count;
    t->events = events;
    t->ctx = ctx;
    if (encoder->ops->parameter_sets &&
        encoder->ops->parameter_sets(encoder, t->sprop, sizeof(t->sprop), t->profile) != 0)
        goto free_thread;
    t->scaler = scaler_new();
    if (!t->scaler)
        goto free_thread;
    for (int i = 0; i < t->size_count; i++) {
        repair_budget_init(&t->sizes[i].budget, clock_now());
        rate_steps_init(&t->sizes[i].steps, encoder->bitrate_bps, clock_now());
    }
    pthread_mutex_init(&t->lock, NULL);
    t->worker = worker_new(&ENCODES, WAITING_PICTURES, t);
    if (t->worker)
        return t;
    pthread_mutex_destroy(&t->lock);
    scaler_free(t->scaler);
free_thread:
    free(t);
free_encoder:
    encoder->ops->free(encoder);
    return NULL;
}

void encoder_thread_free(struct encoder_thread *t)
{
    if (!t)
        return;
    worker_free(t->worker);
    pthread_mutex_destroy(&t->lock);
    scaler_free(t->scaler);
    t->encoder->ops->free(t->encoder);
    free(t);
}

const char *encoder_thread_sprop(const struct encoder_thread *t)
{
    return t->sprop;
}

const char *encoder_thread_profile(const struct encoder_thread *t)
{
    return t->profile;
}

bool encoder_thread_push(struct encoder_thread *t, struct picture *p, usec_t captured)
{
    struct job *job = malloc(sizeof(*job));
    if (job)
        *job = (struct job){picture_ref(p), captured};
    if (worker_push(t->worker, job))
        return true;
    if (job)
        job_free(job);
    return false;
}

void encoder_thread_set_viewers(struct encoder_thread *t, int viewers, int silent)
{
    pthread_mutex_lock(&t->lock);
    t->silent = silent;
    for (int i = 0; i < t->size_count; i++)
        repair_budget_viewers(&t->sizes[i].budget, viewers, clock_now());
    pthread_mutex_unlock(&t->lock);
}

void encoder_thread_begin(struct encoder_thread *t, int size_id, int account, int64_t from)
{
    pthread_mutex_lock(&t->lock);
    repair_budget_begin(&size_of(t, size_id)->budget, account, from, clock_now());
    pthread_mutex_unlock(&t->lock);
}

void encoder_thread_request_key(struct encoder_thread *t, int size_id, int account, usec_t now)
{
    struct size *s = size_of(t, size_id);
    pthread_mutex_lock(&t->lock);
    s->budget.counts.requests++;
    count_wait(s, repair_budget_pli(&s->budget, account, now));
    pthread_mutex_unlock(&t->lock);
}

void encoder_thread_set_bitrate(struct encoder_thread *t, int size_id, int bitrate_bps)
{
    pthread_mutex_lock(&t->lock);
    size_of(t, size_id)->bitrate_bps = bitrate_bps;
    size_of(t, size_id)->stats.bitrate_bps = bitrate_bps;
    pthread_mutex_unlock(&t->lock);
}

void encoder_thread_repair(struct encoder_thread *t, int size_id, int64_t number, int account)
{
    struct size *s = size_of(t, size_id);
    pthread_mutex_lock(&t->lock);
    s->budget.counts.requests++;
    int own = 0;
    bool known = false;
    for (int i = 0; i < s->repair_count; i++) {
        own += s->repairs[i].account == account;
        known = known || s->repairs[i].number == number;
    }
    if (known)
        s->budget.counts.coalesced++;
    else if (own == MAX_REPAIRS_OF_VIEWER || s->repair_count == MAX_REPAIRS)
        count_wait(s, repair_budget_wait(&s->budget, account, clock_now()));
    else
        s->repairs[s->repair_count++] = (struct repair){number, account};
    pthread_mutex_unlock(&t->lock);
}

void encoder_thread_stats(struct encoder_thread *t, int size_id, struct live_feed_size_stats *out)
{
    struct size *s = size_of(t, size_id);
    pthread_mutex_lock(&t->lock);
    *out = s->stats;
    out->repairs = s->budget.counts;
    pthread_mutex_unlock(&t->lock);
    if (s == t->sizes) // a picture that is dropped counts once
        out->overload = worker_refused(t->worker);
}
