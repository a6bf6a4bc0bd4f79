// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/still/still_maker.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/net/mailbox.h"
#include "common/net/timer.h"
#include "common/net/worker.h"

const struct still_size still_newest = {
    .count = 32, .width = 1280, .bytes = 200 * 1000, .age = USEC_PER_SEC};
const struct still_size still_film = {
    .count = 400, .width = 320, .bytes = 20 * 1000, .age = 600 * USEC_PER_SEC};

enum state { STILL_IDLE, STILL_TAKING, STILL_CODING };

struct still {                  // of a path
    struct picture_taker taker; // first
    struct still_maker *maker;  // borrowed
    struct still *next;
    char *path; // owned
    enum state state;
    struct stream_media *media; // borrowed while STILL_TAKING
    usec_t deadline;            // with STILL_TAKING
    struct still_request *requests;
    uint8_t *data; // owned; NULL: no picture was made yet
    size_t bytes;
    usec_t until; // then it is too old
};

struct still_maker {
    uv_loop_t *loop;
    const struct still_size *size; // borrowed
    struct timer *timer;           // owned; the next deadline
    struct mailbox *coded;         // owned; of struct job
    struct worker *worker;         // owned; NULL: no request yet
    struct still *stills;          // owned, the one that was requested last first
    int count;
};

struct job {               // belongs to the thread from worker_push until it is in the mailbox
    struct still *still;   // borrowed: it stays while STILL_CODING
    struct mailbox *coded; // borrowed
    const struct still_size *size; // borrowed
    struct picture *picture;       // one reference
    uint8_t *data;                 // owned; the result
    size_t bytes;
    int err;
};

// ---- The thread

static void job_free(void *item)
{
    struct job *j = item;
    picture_unref(j->picture);
    free(j->data);
    free(j);
}

static void run(void *ctx, void *item)
{
    (void)ctx;
    struct job *j = item;
    j->err = picture_jpeg(j->picture, j->size->width, j->size->bytes, &j->data, &j->bytes);
    if (!mailbox_post(j->coded, j)) // it has room for all jobs
        job_free(j);
}

// ---- The loop

static void set_timer(struct still_maker *m)
{
    usec_t first = USEC_NEVER;
    for (struct still *s = m->stills; s; s = s->next)
        if (s->state == STILL_TAKING)
            first = usec_min(first, s->deadline);
    timer_set(m->timer, first);
}

// All requests for it have their result.
static void settle(struct still *s, int err, usec_t now)
{
    s->state = STILL_IDLE;
    s->media = NULL;
    for (struct still_request *r = s->requests, *next; r; r = next) {
        next = r->next;
        r->is_done = true;
        r->err = err;
        r->on_ready(r->ctx, now);
    }
    set_timer(s->maker);
}

// Takes over `data`.
static void keep(struct still *s, uint8_t *data, size_t bytes, usec_t until)
{
    free(s->data);
    s->data = data;
    s->bytes = bytes;
    s->until = until;
}

// Copies a picture that is coded already. Returns 0 or an error.
static int keep_jpeg(struct still *s, const struct taken_picture *p, usec_t now)
{
    if (p->bytes > s->maker->size->bytes)
        return ERR_TOO_BIG;
    uint8_t *copy = malloc(p->bytes);
    if (!copy)
        return ERR_NO_MEMORY;
    memcpy(copy, p->jpeg, p->bytes);
    keep(s, copy, p->bytes, now + usec_min(p->age, s->maker->size->age));
    return 0;
}

static void on_picture(struct picture_taker *t, const struct taken_picture *p, usec_t now)
{
    struct still *s = (struct still *)t;
    struct still_maker *m = s->maker;
    if (s->state != STILL_TAKING)
        return;
    if (!p->picture) {
        settle(s, p->jpeg ? keep_jpeg(s, p, now) : p->err, now);
        return;
    }
    struct job *j = calloc(1, sizeof(*j));
    if (j)
        *j = (struct job){
            .still = s, .coded = m->coded, .size = m->size, .picture = picture_ref(p->picture)};
    if (j && worker_push(m->worker, j)) {
        s->state = STILL_CODING;
        s->media = NULL;
        set_timer(m);
        return;
    }
    if (j)
        job_free(j);
    settle(s, j ? ERR_FULL : ERR_NO_MEMORY, now);
}

static void on_coded(void *ctx, void *item, usec_t now)
{
    (void)ctx;
    struct job *j = item;
    struct still *s = j->still;
    int err = j->err;
    if (!err) {
        keep(s, j->data, j->bytes, now + s->maker->size->age);
        j->data = NULL;
    }
    job_free(j);
    settle(s, err, now);
}

static void on_timer(void *ctx, usec_t now)
{
    struct still_maker *m = ctx;
    for (struct still *s = m->stills; s; s = s->next) {
        if (s->state != STILL_TAKING || s->deadline > now)
            continue;
        s->media->ops->leave(s->media, &s->taker);
        settle(s, ERR_TIMED_OUT, now);
    }
    set_timer(m);
}

static void begin(struct still *s, struct stream_media *media, usec_t deadline)
{
    s->state = STILL_TAKING;
    s->media = media;
    s->deadline = deadline;
    media->ops->take(media, &s->taker);
    set_timer(s->maker);
}

static void free_still(struct still *s)
{
    free(s->data);
    free(s->path);
    free(s);
}

// Removes the still that was not requested for the longest time. Returns false if all are in use.
static bool evict(struct still_maker *m)
{
    struct still **last = NULL;
    for (struct still **at = &m->stills; *at; at = &(*at)->next)
        if ((*at)->state == STILL_IDLE && !(*at)->requests)
            last = at;
    if (!last)
        return false;
    struct still *s = *last;
    *last = s->next;
    m->count--;
    free_still(s);
    return true;
}

// Returns the still of the path, as the first one of the list. NULL: *err is ERR_FULL or
// ERR_NO_MEMORY; otherwise 0.
static struct still *find(struct still_maker *m, const char *path, int *err)
{
    struct still **at = &m->stills;
    while (*at && strcmp((*at)->path, path) != 0)
        at = &(*at)->next;
    struct still *s = *at;
    *err = ERR_FULL;
    if (!s && m->count == m->size->count && !evict(m))
        return NULL;
    *err = ERR_NO_MEMORY;
    if (s) {
        *at = s->next;
    } else {
        s = calloc(1, sizeof(*s));
        char *copy = s ? strdup(path) : NULL;
        if (!copy) {
            free(s);
            return NULL;
        }
        *s = (struct still){.taker.on_picture = on_picture, .maker = m, .path = copy};
        m->count++;
    }
    s->next = m->stills;
    m->stills = s;
    *err = 0;
    return s;
}

static bool start_worker(struct still_maker *m)
{
    static const struct worker_ops ops = {.run = run, .free_job = job_free};
    if (!m->worker)
        m->worker = worker_new(&ops, STILLS_CODING, m);
    return m->worker != NULL;
}

int still_maker_get(struct still_maker *m, const char *name, struct stream_media *media,
                    struct still_request *r, struct still_picture *out, usec_t now)
{
    int err = 0;
    struct still *s = r->still;
    if (s && !r->is_done)
        return STILL_WAITS;
    if (s) {
        err = r->err;
        still_maker_leave(r);
    } else if (!media->ops->take) {
        return ERR_UNSUPPORTED;
    } else if (!start_worker(m) || !(s = find(m, name, &err))) {
        return err ? err : ERR_NO_MEMORY;
    } else if (!s->data || now >= s->until || s->state != STILL_IDLE) {
        r->still = s;
        r->media = media;
        r->is_done = false;
        r->next = s->requests;
        s->requests = r;
        if (s->state == STILL_IDLE)
            begin(s, media, now + STILL_LIMIT);
        return STILL_WAITS;
    }
    *out = (struct still_picture){s->data, s->bytes, usec_max(0, s->until - now)};
    return err;
}

void still_maker_leave(struct still_request *r)
{
    struct still *s = r->still;
    if (!s)
        return;
    struct still_request **at = &s->requests;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    r->still = NULL;
    if (s->state != STILL_TAKING)
        return;
    // The media stays only for those that wait for it.
    struct still_request *next = NULL; // of those without a result, which hold their media
    for (struct still_request *r2 = s->requests; r2; r2 = r2->next) {
        if (!r2->is_done && r2->media == s->media)
            return;
        if (!r2->is_done && !next)
            next = r2;
    }
    s->media->ops->leave(s->media, &s->taker);
    s->state = STILL_IDLE;
    s->media = NULL;
    if (next)
        begin(s, next->media, s->deadline);
    else
        set_timer(s->maker);
}

// ---- Life

struct still_maker *still_maker_new(uv_loop_t *loop, const struct still_size *size)
{
    struct still_maker *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    m->loop = loop;
    m->size = size;
    m->timer = timer_new(loop, on_timer, m);
    m->coded = mailbox_new(loop, size->count, on_coded, job_free, m); // each still has one job
    if (m->timer && m->coded)
        return m;
    still_maker_free(m);
    return NULL;
}

void still_maker_free(struct still_maker *m)
{
    if (!m)
        return;
    worker_free(m->worker);
    mailbox_free(m->coded);
    timer_free(m->timer);
    for (struct still *s = m->stills, *next; s; s = next) {
        next = s->next;
        assert(!s->requests && s->state != STILL_TAKING);
        free_still(s);
    }
    free(m);
}
