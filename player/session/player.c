// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/player.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/raw_tcp.h"
#include "common/transport/mtp_raw_receiver.h"
#include "player/report/qoe_json.h"
#include "player/session/output_files.h"
#include "player/session/player_state.h"
#include "player/video/decode_feed.h"

// A mailbox of results is emptied by the loop, but for those of what waits when the loop has ended.
enum { COMMANDS = 64, MEASURED = 2 * PICTURE_COMPARE_QUEUE_PICTURES };
#define MEASURE_GRACE (2 * USEC_PER_SEC)

// ---- The end ----

void player_give_reason(struct player *p, enum qoe_ended ended, int exit_code, const char *error)
{
    if (p->over || p->error[0])
        return;
    p->ended = ended;
    p->exit_code = exit_code;
    snprintf(p->error, sizeof(p->error), "%s", error ? error : "");
    if (error)
        log_error("%s", error);
}

void player_stop(struct player *p, usec_t now)
{
    if (p->over)
        return;
    p->over = true;
    p->over_at = now;
    if (p->presenter)
        presenter_stop(p->presenter, now);
    if (p->ended == QOE_END_OF_MEDIA || p->error[0])
        player_show_end(p, p->error[0] ? p->error : NULL);
    render_queue_close(p->show);
    uv_stop(&p->loop);
}

void player_end(struct player *p, enum qoe_ended ended, int exit_code, const char *error,
                usec_t now)
{
    player_give_reason(p, ended, exit_code, error);
    player_stop(p, now);
}

static void on_signal(void *ctx, const char *name)
{
    (void)name;
    player_end(ctx, QOE_INTERRUPTED, EXIT_INTERRUPTED, NULL, clock_now());
}

static void on_duration(void *ctx, usec_t now)
{
    struct player *p = ctx;
    if (p->outage.open && !p->outage.chosen)
        player_end(p, QOE_SERVER_LOST, EXIT_SERVER_LOST, p->outage.why, now);
    else if (!player_shows_nothing(p, now))
        player_end(p, QOE_DURATION, EXIT_ENDED, NULL, now);
    else if (player_media_packets(p))
        player_end(p, QOE_ERROR, EXIT_UNDECODABLE, "media came, but no picture of it was shown",
                   now);
    else
        player_end(p, QOE_SERVER_LOST, EXIT_SERVER_LOST, "the server sent no media", now);
}

// ---- Life ----

static void free_done(void *item)
{
    play_frame_free(item);
}

static void *run(void *arg)
{
    struct player *p = arg;
    uv_run(&p->loop, UV_RUN_DEFAULT); // until the viewing is over
    usec_t now = clock_now();
    if (p->input)
        video_receiver_send_bye(p->input, now);
    p->leaving = client_leave(p->client, now);
    if (p->leaving)
        uv_run(&p->loop, UV_RUN_DEFAULT); // until CLIENT_LEFT
    return NULL;
}

// Before there are threads: none of them is to have the capability.
static void open_raw(struct player *p)
{
    const struct transport_list *list = &p->options->transports;
    // With others in the list, as "auto" has them, it is missed when its turn has come.
    if (transport_list_needs_raw(list) && (list->count == 1 || raw_tcp_has_capability()))
        p->raw = mtp_raw_receiver_new(&p->loop);
    (void)raw_tcp_drop_capability();
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
    p->own = *options;
    reconnect_init(&p->reconnect);
    open_raw(p);
    p->reference = reference;
    transport_info_clear(&p->path);
    p->last_second = (struct qoe_transport){NAN, NAN, NAN, NAN, NAN};
    p->qoe = qoe_new(options->url.text, clock_wall(), now);
    p->events = events ? trace_new(events, options->adu_events, now) : NULL;
    p->show = render_queue_new(player_report_frame, p);
    p->done = mailbox_new(&p->loop, DECODE_FEED_MAX_FRAMES, player_on_done, free_done, p);
    p->commands = mailbox_new(&p->loop, COMMANDS, player_on_command, free, p);
    p->measured = mailbox_new(&p->loop, MEASURED, player_on_measured, free, p);
    p->tick = timer_new(&p->loop, player_on_tick, p);
    p->duration = timer_new(&p->loop, on_duration, p);
    p->bye = timer_new(&p->loop, player_on_bye_time, p);
    p->script = timer_new(&p->loop, player_on_script, p);
    p->retry = timer_new(&p->loop, player_on_retry_time, p);
    stop_signals_watch(&p->signals, &p->loop, on_signal, p);
    if (p->qoe && (p->events || !events) && p->show && p->done && p->commands && p->measured &&
        p->tick && p->duration && p->bye && p->script && p->retry)
        return p;
    log_error("cannot set up the player: out of memory");
    player_free(p);
    return NULL;
}

struct display_config player_display_config(struct player *p)
{
    return (struct display_config){.queue = p->show,
                                   .full_screen = p->options->full_screen,
                                   .on_shown = player_on_shown,
                                   .on_command = player_on_display_command,
                                   .on_level = player_on_display_level,
                                   .on_transport = player_on_display_transport,
                                   .on_seek = player_on_display_seek,
                                   .ctx = p};
}

int player_start(struct player *p, struct display *display)
{
    p->display = display;
    p->client = player_new_client(p, clock_now());
    if (!p->client)
        return ERR_IO;
    player_start_ticks(p, clock_now());
    // Signals are taken on the loop's thread; libuv's handler only writes to a pipe, so any thread
    // may run it.
    if (pthread_create(&p->thread, NULL, run, p) != 0) {
        log_error("cannot start a thread");
        return ERR_IO;
    }
    return 0;
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
    // The loop is ours now. What the display and the measuring thread have posted still counts.
    if (p->measure)
        qoe_on_pictures_skipped(p->qoe,
                                picture_compare_finish(p->measure, clock_now() + MEASURE_GRACE));
    uv_run(&p->loop, UV_RUN_NOWAIT);
    tell_cpu(p);
    player_audio_read(p);
    const char *error = p->error[0] ? p->error : NULL;
    struct qoe_media_edge lost = {.captured = QOE_UNKNOWN, .shown = p->over_at};
    if (p->ended == QOE_SERVER_LOST || (p->outage.open && !p->outage.chosen))
        trace_missed(p->events, qoe_on_live_begin(p->qoe, &lost), p->over_at);
    trace_freeze(p->events, qoe_on_ended(p->qoe, p->ended, error, p->over_at), p->over_at);
    trace_ended(p->events, p->ended, error, p->over_at);

    struct qoe_json report;
    qoe_read(p->qoe, &report, p->over_at);
    int err = output_files_write(p->options, &report, p->sheet, player_last_shown(p));
    if (trace_free(p->events) != 0)
        err = ERR_IO;
    p->events = NULL;
    if (!p->options->quiet && report.session.transport[0]) // else there was nothing to sum up
        qoe_summary_print(&report, stdout);
    return err && p->exit_code == EXIT_ENDED ? EXIT_INTERNAL : p->exit_code;
}

void player_free(struct player *p)
{
    if (!p)
        return;
    if (p->show)
        render_queue_close(p->show);
    picture_compare_free(p->measure);
    presenter_free(p->presenter);
    audio_output_free(p->audio);
    video_receiver_free(p->input);
    client_free(p->client);
    mtp_raw_receiver_free(p->raw);
    player_goddard_close(p);
    timer_free(p->tick);
    timer_free(p->duration);
    timer_free(p->bye);
    timer_free(p->script);
    timer_free(p->retry);
    mailbox_free(p->done);
    mailbox_free(p->commands);
    mailbox_free(p->measured);
    stop_signals_close(&p->signals);
    uv_run(&p->loop, UV_RUN_DEFAULT);
    int err = uv_loop_close(&p->loop);
    assert(err == 0); // every handle has an owner, and was closed by it
    (void)err;
    render_queue_free(p->show);
    contact_sheet_free(p->sheet);
    picture_unref(p->last_shown);
    source_free(p->reference);
    trace_free(p->events);
    qoe_free(p->qoe);
    free(p);
}
