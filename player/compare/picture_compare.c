// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/compare/picture_compare.h"

#include <stdlib.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/worker.h"
#include "media/pattern/pattern_numbers.h"
#include "media/pattern/pattern_picture.h"
#include "media/picture/quality.h"

struct item {
    struct picture *picture; // one reference
    usec_t at;
};

struct picture_compare {
    struct picture_compare_config config;
    bool compares;         // false: only keeps pictures for the contact sheet
    struct worker *worker; // owned; of struct item
    // Atomic:
    usec_t give_up_at; // pictures still queued then are skipped
    size_t waiting_bytes;
    uint64_t skipped;
    // Used by the thread alone:
    bool able;                      // all that comparing needs was allocated
    struct pattern_picture *test;   // owned; NULL unless the source is one
    struct pattern_numbers numbers; // of the test pictures
    struct picture *doubtful;       // one reference: the next picture tells its number; NULL: none
    struct picture *original;       // owned: the source's picture
    struct picture *scaled;         // owned: the shown picture at the source's size
    struct picture *last;  // one reference: the previous picture shown, if `fills`; NULL: none yet
    int64_t last_shift;    // numbers.shift of `last`
    struct scaler *scaler; // owned
};

static void free_item(void *p)
{
    struct item *item = p;
    picture_unref(item->picture);
    free(item);
}

static size_t bytes_of(const struct picture *p)
{
    return (size_t)p->width * (size_t)p->height * 3 / 2;
}

static void skip(struct picture_compare *m)
{
    if (m->compares)
        __atomic_add_fetch(&m->skipped, 1, __ATOMIC_RELAXED);
}

static bool is_too_late(const struct picture_compare *m)
{
    usec_t give_up_at = __atomic_load_n(&m->give_up_at, __ATOMIC_RELAXED);
    return give_up_at != USEC_NEVER && clock_now() >= give_up_at;
}

// A reference's frames are read in order; those that were never shown are read and dropped.
static struct picture *read_reference(struct picture_compare *m, int64_t number)
{
    while (m->config.reference && (!m->original || m->original->number < number)) {
        if (is_too_late(m))
            return NULL;
        picture_unref(m->original);
        m->original = NULL;
        if (m->config.reference->ops->next(m->config.reference, &m->original) != 0) {
            source_free(m->config.reference);
            m->config.reference = NULL;
        }
    }
    return m->original && m->original->number == number ? m->original : NULL;
}

static struct picture *find_original(struct picture_compare *m, int64_t number)
{
    if (number < 0)
        return NULL;
    if (!m->test)
        return read_reference(m, number);
    if (number + m->numbers.shift < 0)
        return NULL;
    pattern_picture_draw(m->test, number + m->numbers.shift, m->original);
    return m->original;
}

static bool compare(struct picture_compare *m, const struct picture *shown, int64_t number)
{
    const struct picture *original = find_original(m, number);
    if (!original)
        return false;
    const struct picture *same_size = shown;
    if (shown->width != original->width || shown->height != original->height) {
        if (scaler_run(m->scaler, shown, m->scaled) != 0)
            return false;
        same_size = m->scaled;
    }
    struct measured result = {.number = number,
                              .shown = shown->number,
                              .mse_y = quality_mse_y(same_size, original),
                              .ssim_y = quality_ssim_y(same_size, original)};
    return m->config.on_measured(m->config.ctx, &result);
}

// Compares the frames between the previous picture and this one with the previous picture, which
// was on the screen at their time. These frames were not shown, so a failure does not count as
// skipped. Where the numbers go on in another place, there are none between.
static void fill(struct picture_compare *m, struct picture *shown)
{
    if (m->last && m->last_shift == m->numbers.shift && shown->number > m->last->number) {
        int64_t first = m->last->number + 1;
        if (shown->number - first > PICTURE_COMPARE_MAX_GAP)
            first = shown->number - PICTURE_COMPARE_MAX_GAP;
        for (int64_t n = first; n < shown->number && !is_too_late(m); n++)
            compare(m, m->last, n);
    }
    picture_unref(m->last);
    m->last = picture_ref(shown);
    m->last_shift = m->numbers.shift;
}

static void judge(struct picture_compare *m, struct picture *shown)
{
    if (m->able && m->config.fills)
        fill(m, shown);
    if (!m->able || is_too_late(m) || !compare(m, shown, shown->number))
        skip(m);
}

// Allocates all that comparing needs. On this thread, because drawing the test picture's background
// takes time. Returns false if out of memory: nothing is compared.
static bool prepare(struct picture_compare *m)
{
    if (m->config.test) {
        m->test = pattern_picture_new(m->config.width, m->config.height, m->config.fps);
        m->original = picture_new(m->config.width, m->config.height);
        if (!m->test || !m->original)
            return false;
    } else if (m->config.reference) {
        m->config.width = m->config.reference->width;
        m->config.height = m->config.reference->height;
    } else {
        return false;
    }
    m->scaled = picture_new(m->config.width, m->config.height);
    m->scaler = scaler_new();
    return m->scaled && m->scaler;
}

static void begin(void *ctx)
{
    struct picture_compare *m = ctx;
    m->able = prepare(m);
}

static void run(void *ctx, void *job)
{
    struct picture_compare *m = ctx;
    struct item *item = job;
    if (m->config.sheet)
        contact_sheet_add(m->config.sheet, item->picture, item->at);
    // The number is read from the picture, but not taken for granted: a picture that is wrong for
    // its frame must not be compared with itself.
    bool sure = !m->test || pattern_numbers_see(&m->numbers, item->picture->number,
                                                pattern_picture_read(item->picture));
    if (m->doubtful)
        judge(m, m->doubtful);
    picture_unref(m->doubtful);
    m->doubtful = sure ? NULL : picture_ref(item->picture);
    if (sure)
        judge(m, item->picture);
    __atomic_sub_fetch(&m->waiting_bytes, bytes_of(item->picture), __ATOMIC_RELAXED);
    free_item(item);
}

static const struct worker_ops COMPARES = {.begin = begin, .run = run, .free_job = free_item};

struct picture_compare *picture_compare_new(const struct picture_compare_config *config)
{
    struct picture_compare *m = calloc(1, sizeof(*m));
    if (!m) {
        source_free(config->reference);
        return NULL;
    }
    m->config = *config;
    m->compares = config->test || config->reference;
    m->give_up_at = USEC_NEVER;
    m->worker = worker_new(&COMPARES, PICTURE_COMPARE_QUEUE_PICTURES, m);
    if (m->worker)
        return m;
    log_error("cannot compare pictures: out of memory or threads");
    picture_compare_free(m);
    return NULL;
}

void picture_compare_push(struct picture_compare *m, struct picture *p, usec_t at)
{
    size_t bytes = bytes_of(p);
    // Only the thread removes items at the same time, so the queue holds at most what is counted
    // here.
    size_t waiting = __atomic_load_n(&m->waiting_bytes, __ATOMIC_RELAXED);
    struct item *item = NULL;
    if ((!waiting || waiting + bytes <= PICTURE_COMPARE_QUEUE_BYTES) &&
        (item = malloc(sizeof(*item)))) {
        *item = (struct item){.picture = picture_ref(p), .at = at};
        __atomic_add_fetch(&m->waiting_bytes, bytes, __ATOMIC_RELAXED);
        if (worker_push(m->worker, item))
            return;
        __atomic_sub_fetch(&m->waiting_bytes, bytes, __ATOMIC_RELAXED);
        free_item(item);
    }
    skip(m);
}

uint64_t picture_compare_finish(struct picture_compare *m, usec_t deadline)
{
    __atomic_store_n(&m->give_up_at, deadline, __ATOMIC_RELAXED);
    worker_finish(m->worker);
    if (m->doubtful)
        skip(m);
    picture_unref(m->doubtful);
    m->doubtful = NULL;
    return m->skipped;
}

void picture_compare_free(struct picture_compare *m)
{
    if (!m)
        return;
    if (m->worker)
        picture_compare_finish(m, 0); // queued pictures are skipped and counted
    worker_free(m->worker);
    pattern_picture_free(m->test);
    picture_unref(m->original);
    picture_unref(m->scaled);
    picture_unref(m->last);
    scaler_free(m->scaler);
    source_free(m->config.reference);
    free(m);
}
