// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/abandonable_thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "common/net/clock.h"

static atomic_int abandoned;

struct abandonable_thread {
    pthread_t thread;
    void (*run)(void *arg);
    void *arg;            // borrowed; owned by the thread once it is abandoned
    pthread_mutex_t lock; // guards the members below
    pthread_cond_t changed;
    bool ended;              // `run` has returned
    void (*destroy)(void *); // set when the thread is abandoned; NULL: it is not
};

static void free_self(struct abandonable_thread *t)
{
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

// The second of thread and owner to take the lock frees `t`: it finds `ended` or `destroy` set by
// the other.
static void *start(void *arg)
{
    struct abandonable_thread *t = arg;
    t->run(t->arg);
    pthread_mutex_lock(&t->lock);
    t->ended = true;
    pthread_cond_signal(&t->changed);
    void (*destroy)(void *) = t->destroy;
    pthread_mutex_unlock(&t->lock);
    if (destroy) {
        destroy(t->arg);
        free_self(t);
        atomic_fetch_sub(&abandoned, 1);
    }
    return NULL;
}

struct abandonable_thread *abandonable_thread_new(void (*run)(void *arg), void *arg)
{
    struct abandonable_thread *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->run = run;
    t->arg = arg;
    pthread_mutex_init(&t->lock, NULL);
    clock_cond_init(&t->changed);
    if (pthread_create(&t->thread, NULL, start, t) == 0)
        return t;
    free_self(t);
    return NULL;
}

bool abandonable_thread_end(struct abandonable_thread *t, usec_t patience,
                            void (*destroy)(void *arg))
{
    usec_t end = clock_now() + patience;
    struct timespec until = {.tv_sec = end / USEC_PER_SEC, .tv_nsec = end % USEC_PER_SEC * 1000};
    pthread_mutex_lock(&t->lock);
    while (!t->ended && clock_now() < end)
        pthread_cond_timedwait(&t->changed, &t->lock, &until);
    bool ended = t->ended;
    if (!ended) {
        atomic_fetch_add(&abandoned, 1);
        t->destroy = destroy;
        pthread_detach(t->thread);
    }
    pthread_mutex_unlock(&t->lock);
    if (!ended)
        return false; // `t` may have been freed
    pthread_join(t->thread, NULL);
    free_self(t);
    return true;
}

int abandonable_thread_count(void)
{
    return atomic_load(&abandoned);
}
