// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/player.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <uv.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/mailbox.h"
#include "common/net/timer.h"
#include "player/client.h"
#include "player/measure.h"
#include "player/presenter.h"
#include "player/qoe_report.h"
#include "player/results.h"
#include "player/rtp_input.h"
#include "player/snapshot.h"
#include "player/status.h"

enum {
    SIGNALS = 3,
    COMMANDS = 64,
    MEASURED = 64,
    TICKS_A_SECOND = 4,
    PLAYER_FAILED = DISPLAY_SNAPSHOT + 1
};
#define TICK             (USEC_PER_SEC / TICKS_A_SECOND)
#define UNDECODABLE_TIME (10 * USEC_PER_SEC)
#define QUIET_TIME       (3 * USEC_PER_SEC)    // without any packet: worth a warning
#define BYE_GRACE        (200 * USEC_PER_MSEC) // media that was sent before the BYE may come after it
#define MEASURE_GRACE    (2 * USEC_PER_SEC)

struct player {
    const struct play_options *options; // borrowed
    FILE *events_file;                  // borrowed
    struct source *reference;           // owned until measuring takes it over
    struct display *display;            // borrowed
    uv_loop_t loop;
    pthread_t thread;
    bool started;

    // What joins the threads; owned.
    struct show_queue *show;
    struct mailbox *done;     // struct play_frame
    struct mailbox *commands; // enum display_command + 1, as a pointer
    struct mailbox *measured; // struct measured

    // The loop thread's; owned. After the thread is joined the main thread's.
    struct client *client;
    struct rtp_input *input;
    struct presenter *presenter; // NULL for filler
    struct measure *measure;     // NULL: nothing to measure. Its push is the main thread's
    struct contact_sheet *sheet; // NULL: not wanted
    struct qoe *qoe;
    struct events *events;
    struct timer *tick;
    struct timer *duration;
    struct timer *bye;
    uv_signal_t signals[SIGNALS];
    struct sdp sdp;
    struct clock_sync clock;
    struct transport_info path; // as the sender told last
    usec_t rtt;                 // 0 = unknown
    char transport[TRANSPORT_MAX_NAME];
    int level; // that is asked for
    bool datagram;
    bool playing;
    usec_t playing_since;
    usec_t next_tick;
    int ticks;
    bool warned_quiet;
    char why[128]; // the description cannot be played

    // How it ends.
    bool over;
    bool leaving; // TEARDOWN is out
    usec_t over_at;
    enum qoe_ended ended;
    int exit_code;
    char error[512]; // empty: none
};

// ---- The end ----

// Remembers the first reason.
static void give_reason(struct player *p, enum qoe_ended ended, int exit_code, const char *error)
{
    if (p->over || p->error[0])
        return;
    p->ended = ended;
    p->exit_code = exit_code;
    snprintf(p->error, sizeof(p->error), "%s", error ? error : "");
    if (error)
        log_error("%s", error);
}

static void stop(struct player *p, usec_t now)
{
    if (p->over)
        return;
    p->over = true;
    p->over_at = now;
    if (p->presenter)
        presenter_stop(p->presenter);
    show_queue_close(p->show);
    uv_stop(&p->loop);
}

static void end(struct player *p, enum qoe_ended ended, int exit_code, const char *error,
                usec_t now)
{
    give_reason(p, ended, exit_code, error);
    stop(p, now);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct player *p = handle->data;
    (void)number;
    // Without watchers the system's own handling is back: a second signal ends the program at once.
    for (int i = 0; i < SIGNALS; i++)
        uv_signal_stop(&p->signals[i]);
    end(p, QOE_INTERRUPTED, EXIT_INTERRUPTED, NULL, clock_now());
}

static void on_duration(void *ctx, usec_t now)
{
    end(ctx, QOE_DURATION, EXIT_ENDED, NULL, now);
}

// ---- Frames ----

// Any thread.
static void report_frame(void *ctx, struct play_frame *f)
{
    struct player *p = ctx;
    if (!mailbox_post(p->done, f))
        play_frame_free(f); // cannot be: the mailbox holds all frames that there may be
}

// The main thread's.
static void on_shown(void *ctx, struct play_frame *f)
{
    struct player *p = ctx;
    if (p->measure && f->fate == FATE_SHOWN && !measure_push(p->measure, f->picture, f->shown_at))
        log_debug("frame %lld is not measured: too busy", (long long)f->number);
    report_frame(p, f);
}

static void on_done(void *ctx, void *item, usec_t now)
{
    struct player *p = ctx;
    presenter_done(p->presenter, item, now);
}

static void free_done(void *item)
{
    play_frame_free(item);
}

// The measuring thread's.
static void on_measured(void *ctx, const struct measured *m)
{
    struct player *p = ctx;
    struct measured *copy = malloc(sizeof(*copy));
    if (!copy)
        return;
    *copy = *m;
    if (!mailbox_post(p->measured, copy))
        free(copy);
}

static void on_measured_item(void *ctx, void *item, usec_t now)
{
    struct player *p = ctx;
    const struct measured *m = item;
    (void)now;
    qoe_on_picture(p->qoe, m->mse_y, m->ssim_y);
    free(item);
}

static void on_media_end(void *ctx, usec_t now)
{
    struct player *p = ctx;
    end(p, QOE_END_OF_MEDIA, EXIT_ENDED, NULL, now); // unless there was a reason before
}

static void on_bye_time(void *ctx, usec_t now)
{
    struct player *p = ctx;
    if (p->presenter)
        presenter_end(p->presenter, now);
    else
        on_media_end(p, now);
}

static void ask_key(void *ctx, usec_t now)
{
    struct player *p = ctx;
    rtp_input_send_pli(p->input, now);
}

static void on_frame(void *ctx, struct received_frame *f, usec_t now)
{
    struct player *p = ctx;
    presenter_push(p->presenter, f, now);
}

static void on_nacked(void *ctx, usec_t now)
{
    struct player *p = ctx;
    if (p->presenter)
        presenter_nacked(p->presenter, now);
}

static void on_bye(void *ctx, usec_t now)
{
    struct player *p = ctx;
    timer_set(p->bye, p->datagram ? now + BYE_GRACE : now);
    p->playing = false;
}

static void send_rtcp(void *ctx, const uint8_t *data, size_t len)
{
    struct player *p = ctx;
    client_send_rtcp(p->client, data, len);
}

// ---- What the viewer wants ----

static void change_level(struct player *p, int by, usec_t now)
{
    int level = p->level + by;
    if (p->playing && level >= 0 && level < p->sdp.ladder.level_count)
        client_set_level(p->client, level, now);
}

static void toggle_pause(struct player *p, usec_t now)
{
    if (!p->presenter || !p->playing)
        return;
    if (presenter_paused(p->presenter)) {
        presenter_resume(p->presenter, now);
        client_resume(p->client, now);
    } else {
        presenter_pause(p->presenter, now);
        client_pause(p->client, now);
    }
}

static void post_command(void *ctx, int command)
{
    struct player *p = ctx;
    // Full when the loop is stuck and keys repeat: then those are lost.
    (void)mailbox_post(p->commands, (void *)(intptr_t)(command + 1));
}

static void on_display_command(void *ctx, enum display_command command)
{
    post_command(ctx, (int)command);
}

static void on_command(void *ctx, void *item, usec_t now)
{
    struct player *p = ctx;
    switch ((int)(intptr_t)item - 1) {
    case DISPLAY_QUIT:
        end(p, QOE_INTERRUPTED, EXIT_ENDED, NULL, now);
        return;
    case DISPLAY_PAUSE:
        toggle_pause(p, now);
        return;
    case DISPLAY_LEVEL_UP:
        change_level(p, 1, now);
        return;
    case DISPLAY_LEVEL_DOWN:
        change_level(p, -1, now);
        return;
    case DISPLAY_SNAPSHOT:
        if (p->presenter)
            snapshot_take(&p->loop, presenter_last_shown(p->presenter));
        return;
    default:
        end(p, QOE_ERROR, EXIT_INTERNAL, "the display failed", now);
    }
}

static void free_command(void *item)
{
    (void)item;
}

// ---- Once in a while ----

static void show_status(struct player *p)
{
    if (!p->presenter)
        return;
    struct status status = {.ladder = &p->sdp.ladder,
                            .level = presenter_level_shown(p->presenter),
                            .transport = p->transport,
                            .held = presenter_held(p->presenter),
                            .mode = presenter_mode(p->presenter),
                            .paused = presenter_paused(p->presenter)};
    char text[256];
    status_text(&status, text, sizeof(text));
    p->display->ops->set_status(p->display, text);
}

static void check_progress(struct player *p, usec_t now)
{
    usec_t since = now - p->playing_since;
    if (!rtp_input_packets(p->input) && since > QUIET_TIME && !p->warned_quiet) {
        p->warned_quiet = true;
        log_warn("no media comes%s",
                 p->datagram ? ": is UDP blocked on the way? --transport minbuf passes firewalls"
                             : "");
    }
    if (p->presenter && !presenter_decoded(p->presenter) &&
        since > UNDECODABLE_TIME + p->options->buffer &&
        rtp_input_media_span(p->input) > UNDECODABLE_TIME + p->options->buffer)
        end(p, QOE_ERROR, EXIT_UNDECODABLE,
            "the stream cannot be decoded: no picture within 10 s of media", now);
}

static void on_second(struct player *p, usec_t now)
{
    struct rtp_input_figures figures;
    rtp_input_second(p->input, &figures, now);
    struct qoe_transport t = {
        .rtt = isnan(p->path.rtt_ms) ? (p->rtt ? usec_to_sec(p->rtt) : NAN) : p->path.rtt_ms / 1e3,
        .rate = figures.rate_bps,
        .loss = p->datagram ? figures.loss
                            : p->path.loss, // what TCP lost it sent again: only the sender knows
        .queue = figures.queue,
        .cwnd = p->path.cwnd_packets};
    qoe_on_transport(p->qoe, &t, now);
    events_transport(p->events, &t, now);
    check_progress(p, now);
}

static void on_tick(void *ctx, usec_t now)
{
    struct player *p = ctx;
    p->next_tick += TICK;
    if (p->next_tick <= now)
        p->next_tick = now + TICK;
    timer_set(p->tick, p->next_tick);
    show_status(p);
    if (++p->ticks % TICKS_A_SECOND == 0)
        on_second(p, now);
}

// ---- The client ----

static void on_connected(void *ctx, usec_t now)
{
    struct player *p = ctx;
    qoe_on_connected(p->qoe, now);
}

static void tell_clock(struct player *p)
{
    struct qoe_clock c = {.shared = p->clock.shared, .offset_error = p->clock.least_rtt / 2};
    qoe_on_clock(p->qoe, &c);
}

static bool start_measure(struct player *p)
{
    const struct ladder *l = &p->sdp.ladder;
    if (p->options->contact_sheet && !(p->sheet = contact_sheet_new()))
        return false;
    bool compare = !p->options->no_picture;
    struct measure_config config = {.sheet = p->sheet,
                                    .test = compare && !p->reference &&
                                            p->sdp.source == SDP_SOURCE_TEST,
                                    .width = l->source_width,
                                    .height = l->source_height,
                                    .fps = l->source_fps,
                                    .reference = p->reference,
                                    .on_measured = on_measured,
                                    .ctx = p};
    if (!config.sheet && !config.test && !config.reference)
        return true;
    p->reference = NULL;
    p->measure = measure_new(&config);
    return p->measure;
}

static bool start_presenter(struct player *p)
{
    struct presenter_config config = {.loop = &p->loop,
                                      .options = p->options,
                                      .sdp = &p->sdp,
                                      .clock = &p->clock,
                                      .qoe = p->qoe,
                                      .events = p->events,
                                      .show = p->show,
                                      .level = p->level,
                                      .on_done = report_frame,
                                      .done_ctx = p,
                                      .ask_key = ask_key,
                                      .on_ended = on_media_end,
                                      .ctx = p};
    p->presenter = presenter_new(&config);
    return p->presenter;
}

// Writes why the stream cannot be played to p->why; false when it can.
static bool cannot_play(struct player *p)
{
    const struct sdp *s = &p->sdp;
    if (s->ext.adu == 0 || (s->h264 && s->ladder.level_count == 0))
        snprintf(
            p->why, sizeof(p->why),
            "this is not a stream of weir-send: no levels, or no frame numbers on its packets");
    else if (s->ladder.level_count && p->options->level >= s->ladder.level_count)
        snprintf(p->why, sizeof(p->why), "the stream has no level %d: there are 0 to %d",
                 p->options->level, s->ladder.level_count - 1);
    return *p->why;
}

static bool on_described(void *ctx, const struct sdp *sdp, const char **why, usec_t now)
{
    struct player *p = ctx;
    (void)now;
    p->sdp = *sdp;
    *why = p->why;
    if (cannot_play(p))
        return false;
    p->level = p->options->level >= 0 ? p->options->level : p->sdp.ladder.level_count - 1;
    char clock[SDP_MAX_TEXT];
    clock_identity(clock, sizeof(clock));
    if (*clock && strcmp(clock, p->sdp.clock) == 0) {
        clock_sync_shared(&p->clock);
        tell_clock(p);
    }
    uint64_t random = 0;
    if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
        random = (uint64_t)clock_wall();
    struct rtp_input_config config = {.sdp = &p->sdp,
                                      .clock = &p->clock,
                                      .qoe = p->qoe,
                                      .events = p->events,
                                      .random = random,
                                      .send_rtcp = send_rtcp,
                                      .on_frame = on_frame,
                                      .on_nacked = on_nacked,
                                      .on_bye = on_bye,
                                      .ctx = p};
    p->input = rtp_input_new(&config);
    *why = "out of memory or threads";
    return p->input && (!p->sdp.h264 || (start_measure(p) && start_presenter(p)));
}

static void on_setup(void *ctx, const struct client_setup *setup, usec_t now)
{
    struct player *p = ctx;
    snprintf(p->transport, sizeof(p->transport), "%s", setup->transport);
    p->datagram = setup->datagram;
    static const char *const kinds[] = {"unknown", "test", "file", "synthetic:greedy"};
    char source[128];
    const struct ladder *l = &p->sdp.ladder;
    if (l->source_width > 0 && l->source_fps.den > 0)
        snprintf(source, sizeof(source), "%s %dx%d@%.4g", kinds[p->sdp.source], l->source_width,
                 l->source_height, fps_value(l->source_fps));
    else
        snprintf(source, sizeof(source), "%s", kinds[p->sdp.source]);
    struct qoe_setup e = {.transport = p->transport,
                          .source = source,
                          .ladder = &p->sdp.ladder,
                          .pictures = p->sdp.h264};
    qoe_on_setup(p->qoe, &e, now);
    if (p->presenter)
        p->display->ops->expect(p->display, l->source_width, l->source_height);
    events_connected(p->events, p->options->url.text, p->transport, now);
    if (p->presenter)
        events_mode(p->events, "buffering", now);
    log_info("playing %s by %s", source, p->transport);
}

static void on_playing(void *ctx, usec_t now)
{
    struct player *p = ctx;
    if (p->playing_since)
        return;
    p->playing = true;
    p->playing_since = now;
    p->next_tick = now + TICK;
    timer_set(p->tick, p->next_tick);
    if (p->options->duration)
        timer_set(p->duration, now + p->options->duration);
}

static void on_packet(void *ctx, bool rtcp, const uint8_t *data, size_t len, usec_t arrived,
                      usec_t now)
{
    struct player *p = ctx;
    if (!p->over)
        rtp_input_packet(p->input, rtcp, data, len, arrived, now);
}

static void on_answer(void *ctx, const struct client_answer *a, usec_t now)
{
    struct player *p = ctx;
    (void)now;
    p->path = a->measures.transport;
    p->rtt = isnan(p->path.rtt_ms) ? a->rtt : (usec_t)(p->path.rtt_ms * 1e3);
    rtp_input_set_rtt(p->input, p->rtt);
    if (p->presenter)
        presenter_set_rtt(p->presenter, p->rtt);
    if (a->measures.has_clock &&
        clock_sync_sample(&p->clock, a->asked_wall, a->measures.sender_wall, a->received_wall))
        tell_clock(p);
}

static void on_level(void *ctx, int level, bool accepted, usec_t now)
{
    struct player *p = ctx;
    if (!accepted) {
        log_warn("the server does not give level %d", level);
        return;
    }
    struct qoe_switch e = {.from = p->level, .to = level, .why = "user"};
    qoe_on_switch(p->qoe, &e, now);
    events_level(p->events, &e, now);
    p->level = level;
    if (p->presenter)
        presenter_level(p->presenter, level, now);
}

static void on_pause_refused(void *ctx, usec_t now)
{
    (void)ctx;
    (void)now;
    log_warn("the server does not pause: what it sends meanwhile is left out");
}

static void on_client_end(void *ctx, enum client_end why, const char *text, usec_t now)
{
    struct player *p = ctx;
    switch (why) {
    case CLIENT_REFUSED:
        end(p, QOE_ERROR, EXIT_REFUSED, text, now);
        return;
    case CLIENT_INTERNAL:
        end(p, QOE_ERROR, EXIT_INTERNAL, text, now);
        return;
    case CLIENT_LOST:
        if (!p->playing)
            return; // after its BYE the server may hang up
        // What is in the buffer is still worth watching.
        p->playing = false;
        give_reason(p, QOE_SERVER_LOST, EXIT_SERVER_LOST, text);
        if (p->presenter && !presenter_paused(p->presenter))
            presenter_end(p->presenter, now);
        else
            stop(p, now);
        return;
    case CLIENT_LEFT:
        if (p->leaving)
            uv_stop(&p->loop);
        return;
    }
}

static const struct client_ops client_ops = {.on_connected = on_connected,
                                             .on_described = on_described,
                                             .on_setup = on_setup,
                                             .on_playing = on_playing,
                                             .on_packet = on_packet,
                                             .on_answer = on_answer,
                                             .on_level = on_level,
                                             .on_pause_refused = on_pause_refused,
                                             .on_end = on_client_end};

// ---- Life ----

static void *run(void *arg)
{
    struct player *p = arg;
    uv_run(&p->loop, UV_RUN_DEFAULT); // until the viewing is over
    usec_t now = clock_now();
    if (p->input)
        rtp_input_send_bye(p->input, now);
    p->leaving = client_leave(p->client, now);
    if (p->leaving)
        uv_run(&p->loop, UV_RUN_DEFAULT); // until CLIENT_LEFT
    return NULL;
}

struct player *player_new(const struct play_options *options, FILE *events,
                          struct source *reference)
{
    struct player *p = calloc(1, sizeof(*p));
    if (!p || uv_loop_init(&p->loop) != 0) {
        free(p);
        source_free(reference);
        return NULL;
    }
    usec_t now = clock_now();
    p->options = options;
    p->events_file = events;
    p->reference = reference;
    p->path = (struct transport_info){NAN, NAN, NAN, NAN, NAN, NAN};
    p->qoe = qoe_new(options->url.text, clock_wall(), now);
    p->events = events ? events_new(events, now) : NULL;
    p->show = show_queue_new(report_frame, p);
    p->done = mailbox_new(&p->loop, PRESENTER_MAX_FRAMES, on_done, free_done, p);
    p->commands = mailbox_new(&p->loop, COMMANDS, on_command, free_command, p);
    p->measured = mailbox_new(&p->loop, MEASURED, on_measured_item, free, p);
    p->tick = timer_new(&p->loop, on_tick, p);
    p->duration = timer_new(&p->loop, on_duration, p);
    p->bye = timer_new(&p->loop, on_bye_time, p);
    static const int numbers[SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < SIGNALS; i++) {
        uv_signal_init(&p->loop, &p->signals[i]);
        p->signals[i].data = p;
        uv_signal_start(&p->signals[i], on_signal, numbers[i]);
    }
    if (p->qoe && (p->events || !events) && p->show && p->done && p->commands && p->measured &&
        p->tick && p->duration && p->bye)
        return p;
    log_error("cannot set up the player: out of memory");
    player_free(p);
    return NULL;
}

struct display_config player_display_config(struct player *p)
{
    return (struct display_config){.queue = p->show,
                                   .full_screen = p->options->full_screen,
                                   .on_shown = on_shown,
                                   .on_command = on_display_command,
                                   .ctx = p};
}

int player_start(struct player *p, struct display *display)
{
    p->display = display;
    p->client = client_new(&p->loop, p->options, &client_ops, p, clock_now());
    if (!p->client)
        return ERR_IO;
    // Signals are taken on the loop's thread; libuv's handler only writes to a pipe, so any thread
    // may run it.
    if (pthread_create(&p->thread, NULL, run, p) != 0) {
        log_error("cannot start a thread");
        return ERR_IO;
    }
    p->started = true;
    return 0;
}

void player_fail(struct player *p)
{
    post_command(p, PLAYER_FAILED);
}

static void tell_cpu(struct player *p)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    struct qoe_cpu e = {.user = (double)use.ru_utime.tv_sec + (double)use.ru_utime.tv_usec / 1e6,
                        .system = (double)use.ru_stime.tv_sec + (double)use.ru_stime.tv_usec / 1e6,
                        .max_rss = (double)use.ru_maxrss * 1024};
    qoe_on_cpu(p->qoe, &e);
}

int player_finish(struct player *p)
{
    pthread_join(p->thread, NULL);
    p->started = false;
    // The loop is ours now. What the display and the measuring thread have posted still counts.
    measure_free(p->measure, clock_now() + MEASURE_GRACE);
    p->measure = NULL;
    uv_run(&p->loop, UV_RUN_NOWAIT);
    tell_cpu(p);
    const char *error = p->error[0] ? p->error : NULL;
    qoe_on_ended(p->qoe, p->ended, error, p->over_at);
    events_ended(p->events, p->ended, error, p->over_at);

    struct qoe_report report;
    qoe_read(p->qoe, &report, p->over_at);
    int err = results_write(p->options, &report, p->sheet,
                            p->presenter ? presenter_last_shown(p->presenter) : NULL);
    if (events_free(p->events) != 0)
        err = ERR_IO;
    p->events = NULL;
    if (!p->options->quiet)
        qoe_summary_print(&report, stdout);
    return err && p->exit_code == EXIT_ENDED ? EXIT_INTERNAL : p->exit_code;
}

void player_free(struct player *p)
{
    if (!p)
        return;
    if (p->show)
        show_queue_close(p->show);
    measure_free(p->measure, 0);
    presenter_free(p->presenter);
    rtp_input_free(p->input);
    client_free(p->client);
    timer_free(p->tick);
    timer_free(p->duration);
    timer_free(p->bye);
    mailbox_free(p->done);
    mailbox_free(p->commands);
    mailbox_free(p->measured);
    for (int i = 0; i < SIGNALS; i++)
        uv_close((uv_handle_t *)&p->signals[i], NULL);
    uv_run(&p->loop, UV_RUN_DEFAULT);
    int err = uv_loop_close(&p->loop);
    assert(err == 0); // every handle has an owner, and was closed by it
    (void)err;
    show_queue_free(p->show);
    contact_sheet_free(p->sheet);
    source_free(p->reference);
    events_free(p->events);
    qoe_free(p->qoe);
    free(p);
}
