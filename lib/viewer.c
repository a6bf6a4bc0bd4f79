// SPDX-License-Identifier: GPL-2.0-or-later
// A viewing (player/session) without a window. The viewer's thread has the part of weir-play's main
// thread: it waits for the time of each picture, and frees the viewing after its end.
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "lib/arguments.h"
#include "lib/event_lines.h"
#include "lib/versioned.h"
#include "lib/weir.h"
#include "player/report/qoe_json.h"
#include "player/session/output_files.h"
#include "player/session/viewing.h"

struct weir_viewer {
    struct weir_viewer_config config; // `url` and `options` are NULL
    struct arguments arguments;
    struct play_options options;
    pthread_t thread;
    struct display *display;                           // owned by the thread
    FILE *events;                                      // the same; NULL: none
    void (*on_shown)(void *ctx, struct play_frame *f); // the viewing's, with shown_ctx
    void *shown_ctx;
    char *report;            // owned; set by the thread at its end
    pthread_mutex_t lock;    // guards `viewing`
    struct viewing *viewing; // owned by the thread, which sets it to NULL before it frees it
};

// The threads that are created meanwhile handle no signal: those are the program's, and a reader
// that closes a pipe to which --events writes must not end it by SIGPIPE.
static void block_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

// ---- To the program

// The thread; takes the frame.
static void on_shown(void *ctx, struct play_frame *f)
{
    struct weir_viewer *v = ctx;
    const struct picture *p = f->picture;
    struct weir_picture picture = {
        .width = p->width, .height = p->height, .number = f->number, .captured = f->capture_wall};
    for (int i = 0; i < 3; i++) {
        picture.plane[i] = p->plane[i];
        picture.stride[i] = p->stride[i];
    }
    v->config.on_picture(v->config.ctx, &picture);
    v->on_shown(v->shown_ctx, f);
}

// The audio device's thread.
static void on_samples(void *ctx, const int16_t *samples, int count)
{
    struct weir_viewer *v = ctx;
    v->config.on_audio(v->config.ctx, samples, count);
}

static enum weir_end end_of(int exit_code, enum qoe_ended ended)
{
    switch (exit_code) {
    case EXIT_ENDED:
        break;
    case EXIT_REFUSED:
        return WEIR_END_REFUSED;
    case EXIT_SERVER_LOST:
        return WEIR_END_SERVER_LOST;
    case EXIT_UNDECODABLE:
        return WEIR_END_UNDECODABLE;
    default:
        return WEIR_END_ERROR;
    }
    return ended == QOE_END_OF_MEDIA ? WEIR_END_OF_MEDIA
           : ended == QOE_DURATION   ? WEIR_END_DURATION
                                     : WEIR_END_CLOSED;
}

// ---- The thread

static void *run(void *arg)
{
    struct weir_viewer *v = arg;
    struct viewing *viewing = v->viewing;
    enum weir_end end = WEIR_END_ERROR;
    struct log_errors errors = {{0}};
    const char *why = errors.first;
    log_errors_keep(&errors);
    if (viewing_start(viewing, v->display) == 0) {
        if (v->display->ops->run(v->display) != 0)
            viewing_fail(viewing);
        int code = viewing_finish(viewing);
        const struct qoe_json *report = viewing_report(viewing);
        end = end_of(code, report->ended);
        if (report->error) // borrowed from the viewing
            snprintf(errors.first, sizeof(errors.first), "%s", report->error);
        v->report = qoe_json_json(report);
    }
    log_errors_keep(NULL);
    if (end <= WEIR_END_DURATION)
        why = "";
    pthread_mutex_lock(&v->lock);
    v->viewing = NULL;
    pthread_mutex_unlock(&v->lock);
    v->display->ops->free(v->display);
    viewing_free(viewing);
    if (v->events)
        fclose(v->events); // trace_free has reported what could not be written
    if (v->config.on_end)
        v->config.on_end(v->config.ctx, end, why);
    return NULL;
}

// ---- Life

static int parse(struct weir_viewer *v, const struct weir_viewer_config *given, char *error,
                 size_t cap)
{
    // Stands for the events' file, which some options require.
    static const char no_file[] = "(on_event)";
    const char *const first[] = {"--headless", given->on_event ? "--events" : NULL, no_file, NULL};
    struct arguments_parts parts = {.program = "weir-play",
                                    .first = first,
                                    .options = given->options,
                                    .operand = given->url,
                                    .parse = play_options_parse};
    if (arguments_parse(&parts, &v->arguments, &v->options, error, cap) != 0)
        return -1;
    if (v->options.events && strcmp(v->options.events, no_file) == 0)
        v->options.events = NULL;
    v->options.quiet = true; // weir-play tells a terminal that it has no window
    return 0;
}

// Returns false on failure (logged).
static bool open_events(struct weir_viewer *v)
{
    if (output_files_open(&v->options, &v->events) != 0)
        return false;
    if (!v->config.on_event)
        return true;
    v->events = event_lines_open(v->config.on_event, v->config.ctx, v->events);
    if (!v->events)
        log_error("out of memory");
    return v->events;
}

// Returns false on failure (logged).
static bool open_viewing(struct weir_viewer *v)
{
    int err;
    struct source *reference = NULL;
    if (v->options.reference && !(reference = source_open(v->options.reference, true, &err)))
        return false;
    struct viewing_config config = {.options = &v->options,
                                    .events = v->events,
                                    .reference = reference,
                                    .audio = {.is_virtual = v->config.on_audio,
                                              .on_samples = v->config.on_audio ? on_samples : NULL,
                                              .ctx = v}};
    v->viewing = viewing_new(&config);
    if (!v->viewing)
        return false;
    struct display_config display = viewing_display_config(v->viewing);
    if (v->config.on_picture) {
        v->on_shown = display.on_shown;
        v->shown_ctx = display.shown_ctx;
        display.on_shown = on_shown;
        display.shown_ctx = v;
    }
    v->display = display_headless_new(&display);
    if (!v->display)
        log_error("out of memory");
    return v->display;
}

static bool start(struct weir_viewer *v)
{
    if (!open_events(v) || !open_viewing(v))
        return false;
    if (pthread_create(&v->thread, NULL, run, v) == 0)
        return true;
    log_error("cannot start a thread");
    return false;
}

struct weir_viewer *weir_viewer_open(const struct weir_viewer_config *config, char *error,
                                     size_t cap)
{
    struct weir_viewer_config given;
    struct log_errors errors = {{0}};
    cap = error ? cap : 0;
    if (!versioned_copy(&given, sizeof(given), config)) {
        snprintf(error, cap,
                 config ? "the configuration's size is wrong: it expects sizeof(struct "
                          "weir_viewer_config) of libweir %s or earlier"
                        : "expects a configuration (libweir %s)",
                 weir_version());
        return NULL;
    }
    struct weir_viewer *v = calloc(1, sizeof(*v));
    if (!v) {
        snprintf(error, cap, "out of memory");
        return NULL;
    }
    v->config = given;
    v->config.url = NULL;
    v->config.options = NULL;
    sigset_t before;
    block_signals(&before);
    pthread_mutex_init(&v->lock, NULL);
    bool parsed = parse(v, &given, error, cap) == 0;
    log_errors_keep(&errors);
    bool started = parsed && start(v);
    log_errors_keep(NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        return v;
    if (parsed)
        snprintf(error, cap, "%s", errors.first);
    if (v->display)
        v->display->ops->free(v->display);
    viewing_free(v->viewing);
    if (v->events)
        fclose(v->events);
    if (parsed)
        play_options_destroy(&v->options);
    arguments_free(&v->arguments);
    pthread_mutex_destroy(&v->lock);
    free(v);
    return NULL;
}

char *weir_viewer_close(struct weir_viewer *v)
{
    if (!v)
        return NULL;
    pthread_mutex_lock(&v->lock);
    if (v->viewing)
        viewing_quit(v->viewing);
    pthread_mutex_unlock(&v->lock);
    pthread_join(v->thread, NULL);
    char *report = v->report;
    play_options_destroy(&v->options);
    arguments_free(&v->arguments);
    pthread_mutex_destroy(&v->lock);
    free(v);
    return report;
}

// ---- Requests

static void post(struct weir_viewer *v, const struct command *c)
{
    if (!v)
        return;
    pthread_mutex_lock(&v->lock);
    if (v->viewing)
        viewing_post(v->viewing, c);
    pthread_mutex_unlock(&v->lock);
}

void weir_viewer_pause(struct weir_viewer *v)
{
    post(v, &(struct command){.kind = COMMAND_PAUSE});
}

void weir_viewer_resume(struct weir_viewer *v)
{
    post(v, &(struct command){.kind = COMMAND_RESUME});
}

void weir_viewer_seek(struct weir_viewer *v, double seconds)
{
    if (isfinite(seconds))
        post(v, &(struct command){.kind = COMMAND_SEEK, .seconds = seconds});
}

void weir_viewer_set_level(struct weir_viewer *v, int level)
{
    if (level >= 0)
        post(v, &(struct command){.kind = COMMAND_LEVEL, .level = level});
    else
        post(v, &(struct command){.kind = COMMAND_AUTOMATIC});
}
