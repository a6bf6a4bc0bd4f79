// SPDX-License-Identifier: GPL-2.0-or-later
// weir-send: constructs, connects, starts, stops.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "common/net/log_stderr.h"
#include "common/net/raw_tcp.h"
#include "common/net/stop_signals.h"
#include "common/net/udp_socket.h"
#include "common/program/standard_streams.h"
#include "common/transport/mtp_raw.h"
#include "media/capture/capture_list.h"
#include "media/capture/source_capture.h"
#include "media/source/source.h"
#include "sender/catalog/catalog.h"
#include "sender/catalog/stream.h"
#include "sender/catalog/stream_open.h"
#include "sender/export/stats_outputs.h"
#include "sender/options/options.h"
#include "sender/policy/file_budget.h"
#include "sender/prepare/prepare.h"
#include "sender/rtsp/server.h"
#include "sender/systemd.h"

enum { FINISH_MS = 5000 }; // for threads that read files to end with the program

struct program {
    uv_loop_t loop;
    struct stop_signals signals;
    struct stream stream; // of no kind: a folder's files are offered
    struct catalog *shelf;
    struct catalog_hold look; // for the folder's first list
    struct stats_outputs *telemetry;
    struct mtp_raw *raw; // NULL: not allowed, or not possible
    struct server *server;
    struct systemd *service; // NULL: nobody supervises it
};

static void on_stopped(void *ctx)
{
    struct program *p = ctx;
    server_free(p->server);
    p->server = NULL;
    mtp_raw_free(p->raw);
    p->raw = NULL;
    systemd_free(p->service);
    p->service = NULL;
    stop_signals_close(&p->signals);
    uv_stop(&p->loop);
}

static void on_signal(void *ctx, const char *name)
{
    struct program *p = ctx;
    log_info("stopped by %s", name);
    systemd_stopping(p->service);
    catalog_leave(p->shelf, &p->look);
    server_stop(p->server, on_stopped, p);
}

// The usual soft limit of 1024 is for programs that select(). The hard one is the system's to
// raise, but for root.
static void allow_files(int max_viewers)
{
    rlim_t wanted = file_budget_of(max_viewers);
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    rlim_t most = limit.rlim_max;
    limit.rlim_cur = wanted;
    limit.rlim_max = wanted > most ? wanted : most;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
        return;
    limit.rlim_cur = limit.rlim_max = most;
    setrlimit(RLIMIT_NOFILE, &limit);
    log_warn(
        "the system allows %llu open files: of %d viewers only %d fit if all watch with sound "
        "over UDP in other players than weir-play (raise the limit to %llu with ulimit -Hn, or "
        "lower --max-viewers)",
        (unsigned long long)most, max_viewers, file_budget_viewers(most),
        (unsigned long long)wanted);
}

static bool is_folder(const char *source)
{
    struct stat st;
    return stat(source, &st) == 0 && S_ISDIR(st.st_mode);
}

static int open_stream(struct program *p, const struct options *o)
{
    if (o->filler_bps) {
        stream_init_filler(&p->stream, o->steady ? SDP_SOURCE_STEADY : SDP_SOURCE_GREEDY,
                           o->filler_bps);
        return 0;
    }
    if (o->synthetic.kind != SDP_SOURCE_UNKNOWN) {
        stream_init_synthetic(&p->stream, &o->synthetic);
        return 0;
    }
    if (!source_is_capture(o->source))
        return stream_open_in_time(&p->stream, &p->loop, o, o->source, CATALOG_OPEN_LIMIT);
    int err = stream_open(&p->stream, NULL, o, o->source);
    return err ? err : stream_start(&p->stream, &p->loop);
}

// Of options that go with another source than this one.
static void tell_idle(const struct options *o)
{
    if (is_folder(o->source) && strcmp(o->path, "/live") != 0)
        log_warn("--path does nothing: each film of a folder has its own");
    if (o->has_capture && !source_is_capture(o->source))
        log_warn("--capture does nothing: it is for cameras and screens");
}

static int open_shelf(struct program *p, const struct options *o)
{
    int err = 0;
    tell_idle(o);
    if (is_folder(o->source)) {
        p->shelf = catalog_new_folder(&p->loop, o);
    } else {
        err = open_stream(p, o);
        p->stream.viewer_timeout = o->timeout * USEC_PER_SEC;
        p->stream.max_viewers = o->max_viewers;
        p->shelf = err ? NULL : catalog_new_one(o->path, &p->stream);
    }
    return err ? err : p->shelf ? 0 : ERR_NO_MEMORY;
}

// Who may have raw sockets has one from the start and then may have no more, before there are
// threads that read media. 0; ERR_IO: the port that was asked for is not to be had (logged).
static int open_raw(struct program *p, const struct options *o)
{
    if (!raw_tcp_has_capability()) {
        if (o->mtp_port)
            log_warn(RAW_TCP_REMEDY);
        return 0;
    }
    struct sockaddr_storage at = o->listen;
    sockaddr_set_port((struct sockaddr *)&at, o->mtp_port);
    p->raw = mtp_raw_new(&p->loop, (struct sockaddr *)&at);
    (void)raw_tcp_drop_capability();
    if (p->raw)
        log_info("mtp-raw: TCP port %d", mtp_raw_port(p->raw, (struct sockaddr *)&at));
    return p->raw || !o->mtp_port ? 0 : ERR_IO;
}

// The first list, which is made while the server listens already.
static void on_look(void *ctx, usec_t now)
{
    (void)now;
    static char list[CATALOG_LIST_BYTES];
    struct program *p = ctx;
    int count;
    int err = catalog_list(p->shelf, &p->look, list, sizeof(list), &count);
    if (err == 0)
        log_info("%d film%s in the folder", count, count == 1 ? "" : "s");
    else if (err < 0)
        log_warn("the folder cannot be listed: %s", err_text(err));
}

static void announce(struct program *p, const struct options *o)
{
    char at[SOCKADDR_TEXT];
    server_address(p->server, at, sizeof(at));
    if (catalog_is_folder(p->shelf)) {
        log_info("films of %s at rtsp://%s/", o->source, at);
        p->look = (struct catalog_hold){.on_ready = on_look, .ctx = p};
        on_look(p, clock_now());
        return;
    }
    const struct ladder *l = &p->stream.ladder;
    log_info("%s at rtsp://%s%s", p->stream.title, at, o->path);
    for (int i = 0; i < l->level_count && stream_has_pictures(&p->stream); i++) {
        const struct size_spec *size = &l->sizes[l->levels[i].size_id];
        log_info("  level %d: %4dx%-4d %5.4g frames/s %6d kbit/s", i, size->width, size->height,
                 level_frame_rate(l, i), l->levels[i].bitrate_bps / 1000);
    }
    const struct synthetic *media = &p->stream.synthetic;
    for (int i = 0; i < media->ladder.level_count; i++) {
        const struct synthetic_size *size = &media->sizes[l->levels[i].size_id];
        log_info("  level %d: %6d bytes %5.4g frames/s %6d kbit/s", i, size->nals * size->nal_bytes,
                 level_frame_rate(l, i), l->levels[i].bitrate_bps / 1000);
    }
}

static int run(struct program *p, const struct options *o)
{
    int code = EXIT_FAILURE;
    if (open_raw(p, o) != 0)
        return code;
    int err = open_shelf(p, o);
    if (err == ERR_TIMED_OUT)
        _exit(code); // its thread may still be reading
    if (err)
        goto free_raw;
    p->telemetry = stats_outputs_new(o, p->shelf, clock_now());
    if (!p->telemetry)
        goto destroy_stream;
    struct server_config config = {.listen = o->listen,
                                   .shelf = p->shelf,
                                   .max_viewers = o->max_viewers,
                                   .telemetry = p->telemetry,
                                   .raw = p->raw};
    p->server = server_new(&p->loop, &config);
    if (!p->server)
        goto free_telemetry;
    signal(SIGPIPE, SIG_IGN);
    stop_signals_watch(&p->signals, &p->loop, on_signal, p);
    announce(p, o);
    p->service = systemd_new(&p->loop);
    uv_run(&p->loop, UV_RUN_DEFAULT);
    code = EXIT_SUCCESS;

free_telemetry:
    stats_outputs_free(p->telemetry, clock_now());
destroy_stream:
    catalog_free(p->shelf);
    stream_destroy(&p->stream);
free_raw:
    mtp_raw_free(p->raw);
    return code;
}

static void on_finish_limit(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

// Lets closed handles finish, and the threads behind them. One may stand in a read that nothing
// ends (a disk of the network that is gone): then the program ends without it.
static void finish(uv_loop_t *loop, int *code)
{
    uv_timer_t limit;
    uv_timer_init(loop, &limit);
    uv_timer_start(&limit, on_finish_limit, FINISH_MS, 0);
    uv_unref((uv_handle_t *)&limit);
    uv_run(loop, UV_RUN_DEFAULT);
    bool late = uv_loop_alive(loop);
    uv_close((uv_handle_t *)&limit, NULL);
    uv_run(loop, UV_RUN_NOWAIT);
    if (late) {
        log_warn("a file was still being read at the end");
        _exit(*code);
    }
    if (uv_loop_close(loop) != 0) {
        log_error("handles were left open at the end");
        *code = EXIT_FAILURE;
    }
}

int main(int argc, char **argv)
{
    standard_streams_open();
    struct options options;
    switch (options_parse(argc, argv, &options, stdout, stderr)) {
    case OPTIONS_DONE:
        return EXIT_SUCCESS;
    case OPTIONS_BAD:
        return 2;
    case OPTIONS_RUN:
        break;
    }
    if (options.list_devices) {
        capture_list_print(stdout);
        options_destroy(&options);
        return EXIT_SUCCESS;
    }
    log_to_stderr_as("weir-send", &options.log);
    if (options.prepare) {
        int code = prepare_run(&options);
        options_destroy(&options);
        return code;
    }
    allow_files(options.max_viewers);
    static struct program program; // large
    uv_loop_init(&program.loop);
    int code = run(&program, &options);
    finish(&program.loop, &code);
    options_destroy(&options);
    return code;
}
