// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rewind/past_reader.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/abandonable_thread.h"
#include "common/net/worker_queue.h"

enum { QUEUE = 8 };
#define PATIENCE (10 * USEC_PER_MSEC) // for a thread that only has to notice its end

struct order {
    uint64_t turn;
    bool seeks;
    usec_t wall;
    int err; // of the answer
    struct record_group *group;
};

struct past_reader {
    struct record_past *past;          // owned; the thread's
    struct worker_queue *orders;       // owned
    struct worker_queue *answers;      // owned
    struct abandonable_thread *thread; // owned by the loop
    uint64_t turn;                     // the loop's: of the last seek
};

static void order_free(void *item)
{
    struct order *o = item;
    record_group_free(o->group);
    free(o);
}

static void run(void *arg)
{
    struct past_reader *r = arg;
    struct order *o;
    while ((o = worker_queue_pop(r->orders, USEC_NEVER))) {
        o->err = o->seeks ? record_past_find(r->past, o->wall) : 0;
        o->err = o->err ? o->err : record_past_read(r->past, &o->group);
        if (!worker_queue_push(r->answers, o))
            order_free(o);
    }
}

static void destroy(void *arg)
{
    struct past_reader *r = arg;
    if (r->orders)
        worker_queue_free(r->orders);
    if (r->answers)
        worker_queue_free(r->answers);
    record_past_free(r->past);
    free(r);
}

struct past_reader *past_reader_new(const char *pattern)
{
    bool hangs = abandonable_thread_count() >= PAST_READERS_LEFT;
    struct past_reader *r = hangs ? NULL : calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->past = record_past_new(pattern);
    r->orders = worker_queue_new(QUEUE, order_free);
    r->answers = worker_queue_new(QUEUE, order_free);
    if (r->past && r->orders && r->answers)
        r->thread = abandonable_thread_new(run, r);
    if (r->thread)
        return r;
    destroy(r);
    return NULL;
}

void past_reader_free(struct past_reader *r)
{
    if (!r)
        return;
    worker_queue_clear(r->orders);
    worker_queue_close(r->orders);
    if (abandonable_thread_end(r->thread, PATIENCE, destroy))
        destroy(r);
    else if (abandonable_thread_count() == PAST_READERS_LEFT)
        log_warn(
            "the disk with the recordings does not respond: until it does, viewers can go back "
            "only as far as the memory reaches");
}

// A full queue means that the disk does not respond; the viewer then gets nothing.
static void give_order(struct past_reader *r, bool seeks, usec_t wall)
{
    struct order *o = calloc(1, sizeof(*o));
    if (!o)
        return;
    *o = (struct order){.turn = r->turn, .seeks = seeks, .wall = wall};
    if (!worker_queue_push(r->orders, o))
        order_free(o);
}

void past_reader_seek(struct past_reader *r, usec_t wall)
{
    r->turn++;
    worker_queue_clear(r->orders);
    worker_queue_clear(r->answers);
    give_order(r, true, wall);
}

void past_reader_next(struct past_reader *r)
{
    give_order(r, false, 0);
}

int past_reader_poll(struct past_reader *r, struct record_group **out)
{
    struct order *o;
    while ((o = worker_queue_pop(r->answers, 0))) {
        bool is_old = o->turn != r->turn;
        int err = o->err == ERR_AGAIN ? ERR_END : o->err;
        if (!is_old) {
            *out = o->group;
            o->group = NULL;
        }
        order_free(o);
        if (!is_old)
            return err;
    }
    return ERR_AGAIN;
}
