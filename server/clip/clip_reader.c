// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/clip/clip_reader.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/net/abandonable_thread.h"
#include "common/net/worker_queue.h"
#include "media/record/record_clip.h"
#include "media/record/record_past.h"

enum { SPAN_TEXT = 64 }; // bytes of a span in the list

static atomic_int clips, lists; // of all loops of the process

struct piece {
    int err;
    uint8_t *data; // owned
    size_t bytes;
};

struct clip_reader {
    struct clip_order order;
    struct record_clip *clip;          // owned, the thread's; NULL: a list
    struct record_past *past;          // owned, the thread's; NULL: a clip
    struct worker_queue *asked;        // owned: empty pieces that the thread fills
    struct worker_queue *filled;       // owned
    struct abandonable_thread *thread; // owned by the loop
    atomic_bool is_left;               // the list is not wanted
    bool has_ended;                    // the loop's: the last piece was handed out
    int last;                          // with `has_ended`: ERR_END, or an error
};

// ---- The thread

struct list {
    const struct clip_reader *reader;
    char *text; // owned
    size_t len, room;
    int count;
};

static bool add_span(void *ctx, usec_t from, usec_t to)
{
    struct list *l = ctx;
    if (atomic_load(&l->reader->is_left) || l->count == CLIP_LIST_MAX)
        return false;
    if (l->room - l->len < SPAN_TEXT) {
        char *more = realloc(l->text, 2 * l->room);
        if (!more)
            return false;
        l->text = more;
        l->room *= 2;
    }
    l->len += (size_t)snprintf(l->text + l->len, l->room - l->len,
                               "%s[%" PRId64 ".%03d,%" PRId64 ".%03d]", l->count ? "," : "",
                               from / USEC_PER_SEC, (int)(from % USEC_PER_SEC / USEC_PER_MSEC),
                               to / USEC_PER_SEC, (int)(to % USEC_PER_SEC / USEC_PER_MSEC));
    l->count++;
    return true;
}

static void make_list(const struct clip_reader *r, struct piece *p)
{
    static const char begin[] = "{\"spans\":[", end[] = "]}\n";
    struct list l = {.reader = r, .text = malloc(1024), .room = 1024};
    if (!l.text) {
        p->err = ERR_NO_MEMORY;
        return;
    }
    l.len = sizeof(begin) - 1;
    memcpy(l.text, begin, l.len);
    (void)record_past_spans(r->past, r->order.from, r->order.to, r->order.apart, add_span, &l);
    char *more = realloc(l.text, l.len + sizeof(end));
    l.text = more ? more : l.text;
    p->err = more ? 0 : ERR_NO_MEMORY;
    p->data = (uint8_t *)l.text;
    if (more)
        memcpy(l.text + l.len, end, sizeof(end));
    p->bytes = l.len + sizeof(end) - 1;
}

static void free_piece(void *item)
{
    struct piece *p = item;
    free(p->data);
    free(p);
}

static void run(void *arg)
{
    struct clip_reader *r = arg;
    struct piece *p;
    bool is_listed = false;
    while ((p = worker_queue_pop(r->asked, USEC_NEVER))) {
        if (r->clip)
            p->err = record_clip_next(r->clip, &p->data, &p->bytes);
        else if (is_listed)
            p->err = ERR_END;
        else
            make_list(r, p);
        is_listed = true;
        if (!worker_queue_push(r->filled, p))
            free_piece(p);
    }
}

// ---- The loop

static atomic_int *count_of(const struct clip_order *order)
{
    return order->lists ? &lists : &clips;
}

static void destroy(void *arg)
{
    struct clip_reader *r = arg;
    atomic_int *count = count_of(&r->order);
    if (r->asked)
        worker_queue_free(r->asked);
    if (r->filled)
        worker_queue_free(r->filled);
    record_clip_free(r->clip);
    record_past_free(r->past);
    free(r);
    atomic_fetch_sub(count, 1);
}

static void ask(struct clip_reader *r)
{
    struct piece *p = calloc(1, sizeof(*p));
    if (p && !worker_queue_push(r->asked, p))
        free_piece(p);
}

int clip_reader_new(const char *pattern, const struct clip_order *order, struct clip_reader **out)
{
    atomic_int *count = count_of(order);
    if (atomic_fetch_add(count, 1) >= CLIP_READERS_MAX) {
        atomic_fetch_sub(count, 1);
        return ERR_FULL;
    }
    struct clip_reader *r = calloc(1, sizeof(*r));
    if (!r) {
        atomic_fetch_sub(count, 1);
        return ERR_NO_MEMORY;
    }
    r->order = *order;
    if (order->lists)
        r->past = record_past_new(pattern);
    else
        r->clip = record_clip_new(pattern, order->from, order->to);
    r->asked = worker_queue_new(CLIP_AHEAD, free_piece);
    r->filled = worker_queue_new(CLIP_AHEAD, free_piece);
    if ((r->past || r->clip) && r->asked && r->filled)
        r->thread = abandonable_thread_new(run, r);
    if (!r->thread) {
        destroy(r);
        return ERR_NO_MEMORY;
    }
    for (int i = 0; i < CLIP_AHEAD; i++)
        ask(r);
    *out = r;
    return 0;
}

void clip_reader_free(struct clip_reader *r)
{
    if (!r)
        return;
    atomic_store(&r->is_left, true);
    worker_queue_clear(r->asked);
    worker_queue_close(r->asked);
    if (abandonable_thread_end(r->thread, 0, destroy))
        destroy(r);
}

int clip_reader_poll(struct clip_reader *r, uint8_t **out, size_t *bytes)
{
    struct piece *p = r->has_ended ? NULL : worker_queue_pop(r->filled, 0);
    if (!p)
        return r->has_ended ? r->last : ERR_AGAIN;
    int err = p->err;
    *out = p->data;
    *bytes = p->bytes;
    if (err) {
        r->has_ended = true;
        r->last = err;
        free_piece(p);
        return err;
    }
    free(p);
    ask(r);
    return 0;
}
