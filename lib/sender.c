// SPDX-License-Identifier: GPL-2.0-or-later
// A sender is what weir-send serves (serving.h) on a loop of a thread of its own. Other threads
// only set flags under the lock and wake the loop, or push media (given_media.h).
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uv.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/abandonable_thread.h"
#include "common/net/clock.h"
#include "common/net/loop_end.h"
#include "lib/arguments.h"
#include "lib/versioned.h"
#include "lib/weir.h"
#include "media/capture/given_media.h"
#include "sender/options/options.h"
#include "sender/serve/serving.h"

#define OPEN_LIMIT   (40 * USEC_PER_SEC) // a source may take 32 s, a name server some, too
#define STATS_LIMIT  (2 * USEC_PER_SEC)
#define FINISH_LIMIT (5 * USEC_PER_SEC)  // for threads that read files, as of weir-send
#define CLOSE_LIMIT  (10 * USEC_PER_SEC) // with the goodbyes before that

enum state {
    STATE_OPENS,
    STATE_SERVES,
    STATE_FAILED, // `errors` says why
};

struct weir_sender {
    struct arguments arguments; // `options` points into it
    struct options options;
    bool is_parsed;                    // both are to be freed
    struct given_media *media;         // one reference; NULL: the program pushes none
    struct abandonable_thread *thread; // owned

    // The thread's own:
    uv_loop_t loop;
    struct serving *serving;  // owned
    bool is_stopping;         // serving_stop was called
    bool is_stuck;            // a thread still uses `options` and `loop`: this struct stays
    struct log_errors errors; // read by the opener after STATE_FAILED

    uv_async_t wake;      // any thread, from STATE_SERVES on
    pthread_mutex_t lock; // guards the members below
    pthread_cond_t changed;
    enum state state;
    bool stop;
    unsigned asked, answered; // number of requests for stats
    char *stats;              // owned; of the last answer; NULL: no memory, or taken
    char *url;                // owned; written before STATE_SERVES
};

// Called when the thread has ended, on the caller's thread or on that one.
static void destroy(void *arg)
{
    struct weir_sender *s = arg;
    if (s->is_stuck)
        return;
    if (s->is_parsed) {
        options_destroy(&s->options);
        arguments_free(&s->arguments);
    }
    given_media_unref(s->media);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s->stats);
    free(s->url);
    free(s);
}

// ---- The sender's thread

static void on_stopped(void *ctx)
{
    struct weir_sender *s = ctx;
    uv_stop(&s->loop);
}

static void answer(struct weir_sender *s)
{
    pthread_mutex_lock(&s->lock);
    unsigned asked = s->asked;
    bool is_due = asked != s->answered;
    pthread_mutex_unlock(&s->lock);
    if (!is_due)
        return;
    char *json = serving_stats(s->serving);
    pthread_mutex_lock(&s->lock);
    free(s->stats);
    s->stats = json;
    s->answered = asked;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void on_wake(uv_async_t *wake)
{
    struct weir_sender *s = wake->data;
    pthread_mutex_lock(&s->lock);
    bool stop = s->stop;
    pthread_mutex_unlock(&s->lock);
    if (s->is_stopping)
        return;
    answer(s);
    s->is_stopping = stop;
    if (stop)
        serving_stop(s->serving, on_stopped, s);
}

// Returns true if the sender is to stop.
static bool set_state(struct weir_sender *s, enum state state)
{
    pthread_mutex_lock(&s->lock);
    s->state = state;
    bool stop = s->stop;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return stop;
}

static bool begin(struct weir_sender *s)
{
    struct serving_config config = {.loop = &s->loop, .options = &s->options};
    int err;
    s->serving = serving_new(&config, &err);
    s->is_stuck = err == ERR_TIMED_OUT;
    if (!s->serving)
        return false;
    const char *line = serving_announce(s->serving);
    log_info("%s", line);
    s->url = strdup(serving_url(s->serving));
    if (!s->url)
        log_error("out of memory");
    return s->url;
}

static void serve(struct weir_sender *s)
{
    if (uv_async_init(&s->loop, &s->wake, on_wake) != 0) {
        log_error("no file for the sender's loop");
        (void)set_state(s, STATE_FAILED);
        return;
    }
    s->wake.data = s;
    bool serves = begin(s);
    if (serves) {
        log_errors_keep(NULL);
        if (set_state(s, STATE_SERVES))
            uv_async_send(&s->wake); // the opener has given up
        uv_run(&s->loop, UV_RUN_DEFAULT);
    }
    if (s->is_stuck) {
        (void)set_state(s, STATE_FAILED);
        return;
    }
    serving_free(s->serving);
    uv_close((uv_handle_t *)&s->wake, NULL);
    s->is_stuck = !loop_end(&s->loop, FINISH_LIMIT);
    if (s->is_stuck)
        log_warn("a sender was closed while a thread of it still reads a file: its memory is not "
                 "freed");
    if (!serves)
        (void)set_state(s, STATE_FAILED);
}

static void run(void *arg)
{
    struct weir_sender *s = arg;
    log_errors_keep(&s->errors);
    if (uv_loop_init(&s->loop) != 0) {
        log_error("cannot create a loop: are there too many open files?");
        (void)set_state(s, STATE_FAILED);
        return;
    }
    serve(s);
    if (!s->is_stuck && uv_loop_close(&s->loop) != 0)
        log_error("internal error: handles were still open at the end");
}

// Signals are the program's: its handlers run on its threads, and a write to a closed connection
// fails without one. Threads that the new one starts inherit that.
static struct abandonable_thread *start_thread(struct weir_sender *s)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    struct abandonable_thread *thread = abandonable_thread_new(run, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return thread;
}

// ---- Opening

static int say(char *error, size_t cap, const char *text)
{
    return err_say(error, cap, ERR_MALFORMED, "%s", text);
}

// Returns 0, or ERR_MALFORMED, with the reason in `error`.
static int check_options(const struct options *o, const struct weir_sender_config *config,
                         char *error, size_t cap)
{
    const char *task = o->prepare                        ? "--prepare"
                       : o->list_devices                 ? "--list-devices"
                       : o->who.invite                   ? "--invite"
                       : strcmp(o->encoder, "list") == 0 ? "--encoder list"
                                                         : NULL;
    if (task)
        return err_say(error, cap, ERR_MALFORMED,
                       "%s is a task of weir-send, which does not stream", task);
    if (config->source)
        return 0;
    if (o->given_count || o->source_count)
        return say(error, cap,
                   "a source among the options conflicts with pushed pictures: it is the "
                   "configuration's `source`");
    if (config->has_audio && o->audio)
        return say(error, cap, "--sound conflicts with pushed audio (has_audio)");
    return 0;
}

static int make_media(struct weir_sender *s, const struct weir_sender_config *config, char *error,
                      size_t cap)
{
    if (config->source && config->has_audio)
        return say(error, cap, "has_audio requires pushed pictures: a source brings its own audio");
    if (config->source)
        return 0;
    struct geometry g = {config->width, config->height, {config->fps_num, config->fps_den}};
    if (!geometry_is_good(&g))
        return say(error, cap, "width, height, fps_num, fps_den: " GEOMETRY_RULE);
    s->media = given_media_new(&g, config->has_audio);
    s->options.pushed = s->media;
    s->options.source = "";
    return s->media ? 0 : say(error, cap, "out of memory");
}

static int prepare(struct weir_sender *s, const struct weir_sender_config *config, char *error,
                   size_t cap)
{
    static const char *const none[] = {NULL};
    struct arguments_parts parts = {.program = "weir-send",
                                    .first = none,
                                    .options = config->options,
                                    .operand = config->source,
                                    .parse = options_parse};
    if (arguments_parse(&parts, &s->arguments, &s->options, error, cap) != 0)
        return ERR_MALFORMED;
    s->is_parsed = true;
    int err = check_options(&s->options, config, error, cap);
    return err ? err : make_media(s, config, error, cap);
}

// Waits until the sender serves. Returns false if it does not.
static bool wait_open(struct weir_sender *s, char *error, size_t cap)
{
    usec_t end = clock_now() + OPEN_LIMIT;
    struct timespec until = {.tv_sec = end / USEC_PER_SEC, .tv_nsec = end % USEC_PER_SEC * 1000};
    pthread_mutex_lock(&s->lock);
    while (s->state == STATE_OPENS && clock_now() < end)
        pthread_cond_timedwait(&s->changed, &s->lock, &until);
    enum state state = s->state;
    s->stop = state != STATE_SERVES;
    pthread_mutex_unlock(&s->lock);
    if (state == STATE_OPENS)
        (void)say(error, cap, "the source is not open after 40 s");
    if (state == STATE_FAILED)
        (void)say(error, cap, *s->errors.first ? s->errors.first : "the sender cannot start");
    return state == STATE_SERVES;
}

struct weir_sender *weir_sender_open(const struct weir_sender_config *config, char *error,
                                     size_t cap)
{
    struct weir_sender_config c;
    struct weir_sender *s = NULL;
    cap = error ? cap : 0;
    if (cap)
        error[0] = '\0';
    if (!config)
        (void)say(error, cap, "expects a configuration");
    else if (!versioned_copy(&c, sizeof(c), config))
        (void)say(error, cap,
                  "`size` is not that of struct weir_sender_config, or this libweir is too old for "
                  "its members");
    else if (!(s = calloc(1, sizeof(*s))))
        (void)say(error, cap, "out of memory");
    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    clock_cond_init(&s->changed);
    if (prepare(s, &c, error, cap) != 0)
        goto destroy_sender;
    s->thread = start_thread(s);
    if (!s->thread) {
        (void)say(error, cap, "cannot start a thread");
        goto destroy_sender;
    }
    if (wait_open(s, error, cap))
        return s;
    if (!abandonable_thread_end(s->thread, FINISH_LIMIT, destroy))
        return NULL; // it frees itself when the source's driver returns

destroy_sender:
    destroy(s);
    return NULL;
}

void weir_sender_close(struct weir_sender *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_mutex_unlock(&s->lock);
    uv_async_send(&s->wake);
    if (abandonable_thread_end(s->thread, CLOSE_LIMIT, destroy))
        destroy(s);
    else
        log_warn("a sender does not end: a device or a disk does not respond; its thread is left "
                 "behind");
}

// ---- While it serves

const char *weir_sender_url(const struct weir_sender *s)
{
    return s ? s->url : NULL;
}

int weir_sender_push_picture(struct weir_sender *s, const struct weir_picture *p)
{
    if (!s || !s->media || !p)
        return -1;
    struct picture picture = {.width = p->width, .height = p->height};
    for (int plane = 0; plane < 3; plane++) {
        picture.plane[plane] = (uint8_t *)(uintptr_t)p->plane[plane]; // it is only read
        picture.stride[plane] = p->stride[plane];
    }
    return given_media_push_picture(s->media, &picture, p->captured) == 0 ? 0 : -1;
}

int weir_sender_push_audio(struct weir_sender *s, const int16_t *samples, int frames,
                           int64_t captured)
{
    if (!s || !s->media)
        return -1;
    return given_media_push_audio(s->media, samples, frames, captured) == 0 ? 0 : -1;
}

char *weir_sender_stats(struct weir_sender *s)
{
    if (!s)
        return NULL;
    usec_t end = clock_now() + STATS_LIMIT;
    struct timespec until = {.tv_sec = end / USEC_PER_SEC, .tv_nsec = end % USEC_PER_SEC * 1000};
    char *json = NULL;
    pthread_mutex_lock(&s->lock);
    unsigned asked = ++s->asked;
    uv_async_send(&s->wake);
    while (s->answered != asked && clock_now() < end)
        pthread_cond_timedwait(&s->changed, &s->lock, &until);
    if (s->answered == asked) {
        json = s->stats;
        s->stats = NULL;
    }
    pthread_mutex_unlock(&s->lock);
    return json;
}
