// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/feed/encoder_thread.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/net/clock.h"
#include "common/net/worker.h"
#include "media/encode/encoder.h"
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

struct encoder_thread {
    struct worker *worker;   // owned; of struct job
    struct encoder *encoder; // owned; used by the encoder's thread alone, once it runs
    struct scaler *scaler;   // owned; used by the encoder's thread alone
    int width;
    int height;
    coded_fn *on_coded;
    void *ctx; // borrowed
    char sprop[1024];
    char profile[8];
    pthread_mutex_t lock; // guards the members below
    int bitrate_bps;      // requested bitrate; 0: unchanged
    int silent;           // viewers that do not report losses
    int repair_count;
    struct repair repairs[MAX_REPAIRS];
    struct repair_budget budget;
    struct live_feed_size_stats stats;
};

static void job_free(void *item)
{
    struct job *job = item;
    picture_unref(job->picture);
    free(job);
}

// Caller holds t->lock. Counts a request that is not repaired. `waits`: its viewer begins to wait
// for a key frame.
static void count_wait(struct encoder_thread *t, bool waits)
{
    t->budget.counts.waited += waits;
    t->budget.counts.coalesced += !waits;
}

// Caller holds t->lock. Repairs a loss within the budget, or lets the viewer wait for a key frame.
static void repair(struct encoder_thread *t, const struct repair *r, usec_t now)
{
    enum layer_loss loss = encoder_loss(t->encoder, r->number);
    if (loss == LAYER_LOSS_HARMLESS) {
        t->budget.counts.coalesced++;
    } else if (loss == LAYER_LOSS_NEEDS_KEY || !repair_budget_take(&t->budget, r->account, now)) {
        count_wait(t, repair_budget_wait(&t->budget, r->account, now));
    } else {
        encoder_repair(t->encoder, r->number);
        t->budget.counts.repaired++;
    }
}

// Applies the viewers' requests since the last frame to the next frame, `number`. A key frame makes
// repairs unnecessary.
static void apply_requests(struct encoder_thread *t, int64_t number, usec_t now)
{
    pthread_mutex_lock(&t->lock);
    int bitrate_bps = t->bitrate_bps;
    bool has_silent = t->silent > 0;
    t->bitrate_bps = 0;
    bool key = repair_budget_key_is_due(&t->budget, number, now);
    for (int i = 0; i < t->repair_count && !key; i++)
        repair(t, &t->repairs[i], now);
    if (key)
        t->budget.counts.coalesced += (uint64_t)t->repair_count;
    t->repair_count = 0;
    key = key || repair_budget_key_is_due(&t->budget, number, now);
    pthread_mutex_unlock(&t->lock);
    encoder_set_periodic_keys(t->encoder, has_silent);
    if (bitrate_bps)
        encoder_set_bitrate(t->encoder, bitrate_bps);
    if (key)
        encoder_request_key(t->encoder, -1);
}

static struct coded_frame *encode(struct encoder_thread *t, const struct job *job)
{
    usec_t begun = clock_now();
    apply_requests(t, job->picture->number, begun);
    struct picture *p = scaler_scaled(t->scaler, job->picture, t->width, t->height);
    struct coded_frame *f = NULL;
    if (p)
        encoder_encode(t->encoder, p, &f);
    picture_unref(p);
    usec_t done = clock_now();
    if (!f)
        return NULL;
    f->captured = job->captured;
    f->encode_time = done - begun;
    pthread_mutex_lock(&t->lock);
    if (f->key)
        repair_budget_key_made(&t->budget, f->number, done);
    t->stats.frames++;
    t->stats.keys += f->key;
    t->stats.bytes += f->bytes;
    t->stats.busy += f->encode_time;
    double ms = usec_to_msec(f->encode_time);
    t->stats.encode_ms += t->stats.frames == 1 ? ms : (ms - t->stats.encode_ms) / 16;
    pthread_mutex_unlock(&t->lock);
    return f;
}

static void run(void *ctx, void *item)
{
    struct encoder_thread *t = ctx;
    struct job *job = item;
    struct coded_frame *f = encode(t, job);
    if (!t->on_coded(t->ctx, f))
        encoder_repair(t->encoder, job->picture->number);
    job_free(job);
}

static const struct worker_ops ENCODES = {.run = run, .free_job = job_free};

struct encoder_thread *encoder_thread_new(const struct ladder *ladder, int size_id,
                                          coded_fn *on_coded, void *ctx)
{
    struct encoder_thread *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->width = ladder->sizes[size_id].width;
    t->height = ladder->sizes[size_id].height;
    t->on_coded = on_coded;
    t->ctx = ctx;
    t->encoder = encoder_new(ladder, size_id);
    if (!t->encoder)
        goto free_thread;
    if (encoder_parameter_sets(t->encoder, t->sprop, sizeof(t->sprop), t->profile) != 0)
        goto free_encoder;
    t->scaler = scaler_new();
    if (!t->scaler)
        goto free_encoder;
    repair_budget_init(&t->budget, clock_now());
    pthread_mutex_init(&t->lock, NULL);
    t->worker = worker_new(&ENCODES, WAITING_PICTURES, t);
    if (t->worker)
        return t;
    pthread_mutex_destroy(&t->lock);
    scaler_free(t->scaler);
free_encoder:
    encoder_free(t->encoder);
free_thread:
    free(t);
    return NULL;
}

void encoder_thread_free(struct encoder_thread *t)
{
    if (!t)
        return;
    worker_free(t->worker);
    pthread_mutex_destroy(&t->lock);
    scaler_free(t->scaler);
    encoder_free(t->encoder);
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
    repair_budget_viewers(&t->budget, viewers, clock_now());
    pthread_mutex_unlock(&t->lock);
}

void encoder_thread_begin(struct encoder_thread *t, int account, int64_t from)
{
    pthread_mutex_lock(&t->lock);
    repair_budget_begin(&t->budget, account, from, clock_now());
    pthread_mutex_unlock(&t->lock);
}

void encoder_thread_request_key(struct encoder_thread *t, int account, usec_t now)
{
    pthread_mutex_lock(&t->lock);
    t->budget.counts.requests++;
    count_wait(t, repair_budget_pli(&t->budget, account, now));
    pthread_mutex_unlock(&t->lock);
}

void encoder_thread_set_bitrate(struct encoder_thread *t, int bitrate_bps)
{
    pthread_mutex_lock(&t->lock);
    t->bitrate_bps = bitrate_bps;
    pthread_mutex_unlock(&t->lock);
}

void encoder_thread_repair(struct encoder_thread *t, int64_t number, int account)
{
    pthread_mutex_lock(&t->lock);
    t->budget.counts.requests++;
    int own = 0;
    bool known = false;
    for (int i = 0; i < t->repair_count; i++) {
        own += t->repairs[i].account == account;
        known = known || t->repairs[i].number == number;
    }
    if (known)
        t->budget.counts.coalesced++;
    else if (own == MAX_REPAIRS_OF_VIEWER || t->repair_count == MAX_REPAIRS)
        count_wait(t, repair_budget_wait(&t->budget, account, clock_now()));
    else
        t->repairs[t->repair_count++] = (struct repair){number, account};
    pthread_mutex_unlock(&t->lock);
}

void encoder_thread_stats(struct encoder_thread *t, struct live_feed_size_stats *out)
{
    pthread_mutex_lock(&t->lock);
    *out = t->stats;
    out->repairs = t->budget.counts;
    pthread_mutex_unlock(&t->lock);
    out->overload = worker_refused(t->worker);
}
