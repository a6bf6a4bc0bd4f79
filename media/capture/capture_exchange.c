// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/capture_exchange.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/net/clock.h"

struct capture_exchange {
    pthread_mutex_t lock; // guards the members below
    pthread_cond_t changed;
    bool stop;
    unsigned session; // counts how often the device became wanted
    struct retry_policy link;
    char reason[CAPTURE_MAX_REASON]; // why there is no picture; "": unknown
    struct captured ring[CAPTURE_RING];
    int first;
    int count;
};

struct capture_exchange *capture_exchange_new(void)
{
    struct capture_exchange *x = calloc(1, sizeof(*x));
    if (!x)
        return NULL;
    pthread_mutex_init(&x->lock, NULL);
    clock_cond_init(&x->changed);
    return x;
}

// The caller holds the lock, here and below.
static struct captured pop(struct capture_exchange *x)
{
    struct captured c = x->ring[x->first];
    x->first = (x->first + 1) % CAPTURE_RING;
    x->count--;
    return c;
}

static void drop_all(struct capture_exchange *x)
{
    while (x->count)
        picture_unref(pop(x).picture);
}

static void wait_until(struct capture_exchange *x, usec_t when)
{
    struct timespec t = {.tv_sec = when / USEC_PER_SEC, .tv_nsec = when % USEC_PER_SEC * 1000};
    if (when == USEC_NEVER)
        pthread_cond_wait(&x->changed, &x->lock);
    else
        pthread_cond_timedwait(&x->changed, &x->lock, &t);
}

void capture_exchange_free(struct capture_exchange *x)
{
    if (!x)
        return;
    drop_all(x);
    pthread_cond_destroy(&x->changed);
    pthread_mutex_destroy(&x->lock);
    free(x);
}

// ---- The reader's thread ----

bool capture_exchange_want(struct capture_exchange *x, bool wanted)
{
    pthread_mutex_lock(&x->lock);
    bool news = x->link.wanted != wanted;
    retry_policy_want(&x->link, wanted, clock_now());
    if (news) {
        x->session += wanted;
        x->reason[0] = '\0';
        drop_all(x);
        pthread_cond_broadcast(&x->changed);
    }
    pthread_mutex_unlock(&x->lock);
    return news;
}

bool capture_exchange_oldest(struct capture_exchange *x, usec_t *stamp)
{
    pthread_mutex_lock(&x->lock);
    bool any = x->count > 0;
    if (any)
        *stamp = x->ring[x->first].stamp;
    pthread_mutex_unlock(&x->lock);
    return any;
}

bool capture_exchange_take(struct capture_exchange *x, usec_t stamp, struct captured *out)
{
    pthread_mutex_lock(&x->lock);
    bool same = x->count > 0 && x->ring[x->first].stamp == stamp;
    if (same)
        *out = pop(x);
    pthread_mutex_unlock(&x->lock);
    return same;
}

void capture_exchange_wait_picture(struct capture_exchange *x, usec_t until)
{
    pthread_mutex_lock(&x->lock);
    if (!x->count)
        wait_until(x, until);
    pthread_mutex_unlock(&x->lock);
}

enum capture_view capture_exchange_view(struct capture_exchange *x, usec_t now)
{
    pthread_mutex_lock(&x->lock);
    enum capture_view view = retry_policy_view(&x->link, now);
    pthread_mutex_unlock(&x->lock);
    return view;
}

void capture_exchange_reason(struct capture_exchange *x, char out[CAPTURE_MAX_REASON])
{
    pthread_mutex_lock(&x->lock);
    snprintf(out, CAPTURE_MAX_REASON, "%s",
             *x->reason     ? x->reason
             : x->link.open ? "the device delivers no pictures"
                            : "the device is being opened");
    pthread_mutex_unlock(&x->lock);
}

void capture_exchange_stop(struct capture_exchange *x)
{
    pthread_mutex_lock(&x->lock);
    x->stop = true;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
}

// ---- The device's thread ----

bool capture_exchange_wait_work(struct capture_exchange *x, unsigned *session)
{
    pthread_mutex_lock(&x->lock);
    usec_t when;
    while (!x->stop && (when = retry_policy_open_at(&x->link)) > clock_now())
        wait_until(x, when);
    *session = x->session;
    bool running = !x->stop;
    pthread_mutex_unlock(&x->lock);
    return running;
}

// The caller holds the lock. Returns true if the device is still wanted, without a pause since it
// was opened for `session`.
static bool is_current(const struct capture_exchange *x, unsigned session)
{
    return !x->stop && x->link.wanted && x->session == session;
}

void capture_exchange_opened(struct capture_exchange *x, unsigned session)
{
    pthread_mutex_lock(&x->lock);
    if (is_current(x, session))
        retry_policy_opened(&x->link, clock_now());
    pthread_mutex_unlock(&x->lock);
}

bool capture_exchange_put(struct capture_exchange *x, struct captured c)
{
    pthread_mutex_lock(&x->lock);
    if (x->count == CAPTURE_RING)
        picture_unref(pop(x).picture);
    x->ring[(x->first + x->count++) % CAPTURE_RING] = c;
    bool back = x->link.failed;
    retry_policy_picture(&x->link, clock_now());
    x->reason[0] = '\0';
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
    return back;
}

bool capture_exchange_failed(struct capture_exchange *x, const char *reason)
{
    pthread_mutex_lock(&x->lock);
    bool news = retry_policy_failed(&x->link, clock_now());
    snprintf(x->reason, sizeof(x->reason), "%s", reason);
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
    return news;
}

enum capture_turn capture_exchange_pause(struct capture_exchange *x, unsigned session, usec_t until)
{
    pthread_mutex_lock(&x->lock);
    bool silent = retry_policy_is_silent(&x->link, clock_now());
    bool wanted = true;
    while (!silent && (wanted = is_current(x, session)) && clock_now() < until)
        wait_until(x, until);
    pthread_mutex_unlock(&x->lock);
    return silent ? CAPTURE_SILENT : wanted ? CAPTURE_READ : CAPTURE_UNWANTED;
}
