// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/stored_maker.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "media/convert/convert.h"
#include "media/stored/stored_encoder.h"
#include "media/stored/stored_parts.h"
#include "media/stored/stored_quality.h"

struct worker {
    struct stored_maker *maker;
    pthread_t thread;
    bool started;
    struct stored_encoder *encoders[LADDER_MAX_SIZES]; // owned
    struct scaler *scaler;                             // owned
    struct stored_quality *quality;                    // owned
    struct stored_shape last;                          // shape of the media's last group
    // One reference per place, while a group is encoded:
    struct picture *scaled[STORED_MAX_GOP];
    struct coded_frame *coded[LADDER_MAX_SIZES][STORED_MAX_GOP];
    // Guarded by the maker's lock:
    bool busy;
    int64_t group;
    int count;
    struct picture *pictures[STORED_MAX_GOP]; // one reference each; used by the thread while `busy`
};

struct stored_maker {
    const struct ladder *ladder;
    const struct stored_plan *plan;
    enum sdp_codec codec;
    const char *folder;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stop;
    int err;
    struct stored_rate rates[LADDER_MAX_SIZES]; // states after the last encoded groups
    int threads;
    struct worker *workers[STORED_MAKER_MAX_THREADS]; // owned
};

static int encode_size(struct worker *w, const struct stored_shape *shape, int size_id)
{
    struct stored_maker *m = w->maker;
    const struct size_spec *size = &m->ladder->sizes[size_id];
    int err = 0;
    for (int at = 0; at < w->count && !err; at++) {
        if (shape->places[size_id][at].depends == STORED_NO_FRAME)
            continue;
        w->scaled[at] = scaler_scaled(w->scaler, w->pictures[at], size->width, size->height);
        err = w->scaled[at] ? 0 : ERR_NO_MEMORY;
    }
    pthread_mutex_lock(&m->lock);
    struct stored_rate rate = m->rates[size_id];
    pthread_mutex_unlock(&m->lock);
    if (!err)
        err = stored_encoder_run(w->encoders[size_id], &rate, shape, w->scaled, w->coded[size_id]);
    pthread_mutex_lock(&m->lock);
    m->rates[size_id] = rate;
    pthread_mutex_unlock(&m->lock);
    for (int at = 0; at < w->count; at++) {
        picture_unref(w->scaled[at]);
        w->scaled[at] = NULL;
    }
    return err;
}

// Takes the frames that came with the pictures: each picture brings its own (stored_pass.h).
static int take_size(struct worker *w, int size_id)
{
    for (int at = 0; at < w->count; at++) {
        if (!w->pictures[at]->coded)
            return ERR_UNSUPPORTED;
        w->coded[size_id][at] = coded_frame_ref(w->pictures[at]->coded);
    }
    return 0;
}

static int put_quality(const struct worker *w, FILE *out, const double ssim[LADDER_MAX_LEVELS])
{
    const struct stored_maker *m = w->maker;
    uint8_t data[2 * LADDER_MAX_LEVELS];
    int count = m->ladder->level_count;
    for (int i = 0; i < count; i++)
        store_be16(data + 2 * i, (uint16_t)lround(65535 * fmin(fmax(ssim[i], 0), 1)));
    struct stored_record r = {
        .bytes = (uint32_t)(2 * count), .track = STORED_QUALITY, .at = w->group * m->plan->gop};
    return stored_part_put(out, &r, data);
}

// Writes the frames in decoding order, slot by slot, so that the file's tracks are interleaved.
// Their dependencies are not stored, as the plan determines them.
static int write_group(struct worker *w, const struct stored_shape *shape,
                       const double ssim[LADDER_MAX_LEVELS])
{
    const struct stored_maker *m = w->maker;
    FILE *out = stored_part_begin(m->folder, w->group);
    if (!out)
        return ERR_IO;
    int err = 0;
    for (int slot = 0; slot < w->count && !err; slot++) {
        for (int size = 0; size < m->ladder->size_count && !err; size++) {
            int at = shape->decoded[size][slot];
            if (at == STORED_NO_FRAME)
                continue;
            const struct coded_frame *f = w->coded[size][at];
            struct stored_record r = {.bytes = (uint32_t)f->bytes,
                                      .track = (uint32_t)size,
                                      .at = w->group * m->plan->gop + at};
            err = stored_part_put(out, &r, f->data);
        }
    }
    err = err ? err : put_quality(w, out, ssim);
    int ended = stored_part_end(out, m->folder, w->group, !err);
    return err ? err : ended;
}

static int encode_group(struct worker *w)
{
    const struct stored_maker *m = w->maker;
    bool full = w->count == m->plan->gop;
    const struct stored_shape *shape = full ? &m->plan->full : &w->last;
    int err = 0;
    if (!full)
        stored_shape_init(&w->last, m->ladder, w->count);
    for (int size = 0; size < m->ladder->size_count && !err; size++)
        err =
            ladder_size_passes(m->ladder, size) ? take_size(w, size) : encode_size(w, shape, size);
    double ssim[LADDER_MAX_LEVELS];
    err = err ? err : stored_quality_measure(w->quality, shape, w->pictures, w->coded, ssim);
    err = err ? err : write_group(w, shape, ssim);
    for (int size = 0; size < m->ladder->size_count; size++)
        for (int at = 0; at < w->count; at++) {
            coded_frame_unref(w->coded[size][at]);
            w->coded[size][at] = NULL;
        }
    return err;
}

static void *run(void *arg)
{
    struct worker *w = arg;
    struct stored_maker *m = w->maker;
    pthread_mutex_lock(&m->lock);
    for (;;) {
        while (!w->busy && !m->stop)
            pthread_cond_wait(&m->changed, &m->lock);
        if (!w->busy)
            break;
        pthread_mutex_unlock(&m->lock);
        int err = encode_group(w);
        for (int i = 0; i < w->count; i++)
            picture_unref(w->pictures[i]);
        pthread_mutex_lock(&m->lock);
        w->busy = false;
        m->err = m->err ? m->err : err;
        pthread_cond_broadcast(&m->changed);
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

static void worker_free(struct worker *w)
{
    if (!w)
        return;
    if (w->started)
        pthread_join(w->thread, NULL);
    for (int i = 0; i < LADDER_MAX_SIZES; i++)
        stored_encoder_free(w->encoders[i]);
    scaler_free(w->scaler);
    stored_quality_free(w->quality);
    free(w);
}

static struct worker *worker_new(struct stored_maker *m)
{
    struct worker *w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    w->maker = m;
    w->scaler = scaler_new();
    w->quality = stored_quality_new(m->ladder, m->codec);
    bool good = w->scaler && w->quality;
    for (int i = 0; good && i < m->ladder->size_count; i++)
        good = ladder_size_passes(m->ladder, i) ||
               (w->encoders[i] = stored_encoder_new(m->ladder, i, m->plan, m->codec)) != NULL;
    good = good && pthread_create(&w->thread, NULL, run, w) == 0;
    w->started = good;
    if (good)
        return w;
    worker_free(w);
    return NULL;
}

struct stored_maker *stored_maker_new(const struct ladder *ladder, const struct stored_plan *plan,
                                      enum sdp_codec codec, const double finest[],
                                      const char *folder, int threads)
{
    struct stored_maker *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    m->ladder = ladder;
    m->plan = plan;
    m->codec = codec;
    m->folder = folder;
    for (int i = 0; i < ladder->size_count; i++) {
        stored_rate_init(&m->rates[i], ladder, i);
        if (finest)
            stored_rate_limit(&m->rates[i], finest[i]);
    }
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->changed, NULL);
    for (; m->threads < threads; m->threads++) {
        if (!(m->workers[m->threads] = worker_new(m))) {
            log_error("cannot start the encoders");
            stored_maker_free(m);
            return NULL;
        }
    }
    return m;
}

// Caller holds m->lock. Returns a worker that is not busy, or NULL.
static struct worker *free_worker(struct stored_maker *m)
{
    for (int i = 0; i < m->threads; i++)
        if (!m->workers[i]->busy)
            return m->workers[i];
    return NULL;
}

int stored_maker_add(struct stored_maker *m, int64_t group, struct picture **pictures, int count)
{
    pthread_mutex_lock(&m->lock);
    struct worker *w;
    while (!(w = free_worker(m)))
        pthread_cond_wait(&m->changed, &m->lock);
    int err = m->err;
    if (!err) {
        memcpy(w->pictures, pictures, (size_t)count * sizeof(struct picture *));
        w->group = group;
        w->count = count;
        w->busy = true;
        pthread_cond_broadcast(&m->changed);
    }
    pthread_mutex_unlock(&m->lock);
    for (int i = 0; i < count && err; i++)
        picture_unref(pictures[i]);
    return err;
}

int stored_maker_wait(struct stored_maker *m)
{
    pthread_mutex_lock(&m->lock);
    for (int i = 0; i < m->threads; i++)
        while (m->workers[i]->busy)
            pthread_cond_wait(&m->changed, &m->lock);
    int err = m->err;
    pthread_mutex_unlock(&m->lock);
    return err;
}

void stored_maker_free(struct stored_maker *m)
{
    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    m->stop = true;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
    for (int i = 0; i < m->threads; i++)
        worker_free(m->workers[i]);
    pthread_cond_destroy(&m->changed);
    pthread_mutex_destroy(&m->lock);
    free(m);
}
