// SPDX-License-Identifier: GPL-2.0-or-later
// weir-send: constructs, connects, starts, stops.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/err.h"
#include "common/base/put.h"
#include "common/net/clock.h"
#include "common/net/raw_tcp.h"
#include "common/net/stop_signals.h"
#include "common/net/systemd.h"
#include "common/net/tls_credentials.h"
#include "common/net/tls_trust.h"
#include "common/net/udp_socket.h"
#include "common/program/program_main.h"
#include "common/transport/mtp_raw.h"
#include "media/capture/capture_list.h"
#include "media/capture/source_capture.h"
#include "media/source/source.h"
#include "media/stored/stored_file.h"
#include "sender/catalog/folder_catalog.h"
#include "sender/catalog/folder_list.h"
#include "sender/catalog/mount_catalog.h"
#include "sender/catalog/stream_open.h"
#include "sender/http/http_front.h"
#include "sender/http/http_server.h"
#include "sender/options/options.h"
#include "sender/prepare/prepare.h"
#include "sender/push/push.h"
#include "sender/record/recorder.h"
#include "server/access/access_options.h"
#include "server/export/stats_outputs.h"
#include "server/rtsp/file_limit.h"
#include "server/rtsp/server.h"
#include "server/rtsp/server_invite.h"
#include "server/rtsp/server_tls.h"
#include "server/rtsp/server_urls.h"
#include "server/session/stream.h"

#define OPEN_LIMIT (30 * USEC_PER_SEC) // of the only source: no viewer waits for it
enum { FINISH_MS = 5000 };             // max. wait at the end for threads that read files

enum serves { SERVES_STREAM, SERVES_FOLDER, SERVES_SOURCES };

// The command line, which SIGHUP reads again with its configuration file.
struct command {
    int argc;
    char **argv;
};
static struct command command;

struct program {
    uv_loop_t loop;
    const struct options *options; // in effect
    struct stop_signals signals;
    enum serves serves;
    struct stream stream; // of SERVES_STREAM
    struct catalog *catalog;
    struct catalog_hold list_hold; // waits for the folder's first list
    struct stats_outputs *outputs;
    struct mtp_raw *raw;                 // owned; NULL: no permission, or not possible
    struct tls_credentials *credentials; // owned; NULL: no TLS
    struct server *server;
    struct push *push;         // owned; NULL: none
    struct http_front *http;   // owned; NULL: none
    struct recorder *recorder; // owned; NULL: none
    struct access *access;     // owned; NULL: everybody may watch
    struct systemd *service;   // owned; NULL: not started by systemd
};

static void close_server(struct program *p)
{
    http_front_free(p->http);
    p->http = NULL;
    push_free(p->push, clock_now());
    p->push = NULL;
    recorder_free(p->recorder);
    p->recorder = NULL;
    server_free(p->server);
    p->server = NULL;
    mtp_raw_free(p->raw);
    p->raw = NULL;
    systemd_free(p->service);
    p->service = NULL;
    stop_signals_close(&p->signals);
}

static void on_stopped(void *ctx)
{
    struct program *p = ctx;
    close_server(p);
    uv_stop(&p->loop);
}

static void stop_server(void *ctx)
{
    struct program *p = ctx;
    server_stop(p->server, on_stopped, p);
}

static void on_signal(void *ctx, const char *name)
{
    struct program *p = ctx;
    log_info("stopped by %s", name);
    systemd_stopping(p->service);
    http_front_free(p->http);
    p->http = NULL;
    p->catalog->ops->leave(p->catalog, &p->list_hold);
    if (p->push)
        push_leave(p->push, stop_server, p, clock_now());
    else
        stop_server(p);
}

// Applies what a running server can change. Returns true if the sources took over `next`.
static bool apply(struct program *p, struct options *next)
{
    const char *fixed = options_fixed(p->options, next);
    if (fixed)
        log_warn("a change of \"%s\" takes effect when weir-send is started again", fixed);
    file_limit_raise(next->max_viewers, 1, 0);
    if (server_set_max_viewers(p->server, next->max_viewers) != 0)
        log_error("cannot change --max-viewers: out of memory");
    if (p->serves == SERVES_STREAM) {
        p->stream.max_viewers = next->max_viewers;
        p->stream.viewer_timeout = next->timeout * USEC_PER_SEC;
    }
    if (p->serves != SERVES_SOURCES) {
        if (next->source_count || !options_source_equal(p->options, next))
            log_warn("its source stays until weir-send is started again: only sources with names "
                     "(NAME=SOURCE) can change meanwhile");
        return false;
    }
    if (mount_catalog_reload(p->catalog, next) == 0) {
        p->options = next;
        return true;
    }
    log_error("cannot change the sources: out of memory");
    return false;
}

// Reads the configuration file again, and keeps what is in effect if it is faulty.
static void on_hangup(void *ctx)
{
    struct program *p = ctx;
    char error[1024] = "out of memory";
    struct options *next = calloc(1, sizeof(*next));
    bool is_good = next && options_parse(command.argc, command.argv, next, stdout, error,
                                         sizeof(error)) == OPTIONS_RUN;
    if (!is_good)
        log_error("the configuration stays as it was: %s", error);
    else if (p->serves == SERVES_SOURCES && !next->source_count)
        log_error("the configuration stays as it was: it has no source with a name any more");
    else
        log_info("the configuration was read again");
    if (is_good && (p->serves != SERVES_SOURCES || next->source_count) && apply(p, next))
        return;
    if (is_good)
        options_destroy(next);
    free(next);
}

static bool is_folder(const char *source)
{
    struct stat st;
    return stat(source, &st) == 0 && S_ISDIR(st.st_mode);
}

static int open_stream(struct program *p, const struct options *o)
{
    bool is_synthetic = o->filler_bps || o->synthetic.kind != SDP_SOURCE_UNKNOWN;
    if (!source_is_capture(o->source) && !is_synthetic)
        return stream_open_in_time(&p->stream, &p->loop, o, o->source, OPEN_LIMIT);
    int err = stream_open(&p->stream, NULL, o, o->source);
    return err ? err : stream_start(&p->stream, &p->loop);
}

static int open_catalog(struct program *p, const struct options *o)
{
    int err = 0;
    p->serves = o->source_count        ? SERVES_SOURCES
                : is_folder(o->source) ? SERVES_FOLDER
                                       : SERVES_STREAM;
    bool has_capture = false;
    for (int i = 0; i < o->source_count; i++)
        has_capture = has_capture || source_is_capture(o->sources[i].source);
    if (p->serves == SERVES_FOLDER && strcmp(o->path, "/live") != 0)
        log_warn("--path has no effect: each file of a folder has its own path");
    if (o->has_capture && !has_capture && (o->source_count || !source_is_capture(o->source)))
        log_warn("--capture has no effect: it applies only to cameras and screens");
    if (p->serves == SERVES_SOURCES) {
        p->catalog = mount_catalog_new(&p->loop, o);
    } else if (p->serves == SERVES_FOLDER) {
        p->catalog = folder_catalog_new(&p->loop, o);
    } else {
        err = open_stream(p, o);
        p->stream.viewer_timeout = o->timeout * USEC_PER_SEC;
        p->stream.max_viewers = o->max_viewers;
        p->stream.fragment_bytes = (size_t)o->fragment;
        p->catalog = err ? NULL : catalog_new_one(o->path, &p->stream);
    }
    return err ? err : p->catalog ? 0 : ERR_NO_MEMORY;
}

// If the program may open raw sockets, opens one and then drops the capability, before any thread
// reads media. Returns 0, or ERR_IO if the requested port is not available (logged).
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
        log_debug("mtp-raw: TCP port %d", mtp_raw_port(p->raw, (struct sockaddr *)&at));
    return p->raw || !o->mtp_port ? 0 : ERR_IO;
}

// Logs the number of files in the folder. The list is made while the server already listens.
static void on_list(void *ctx, usec_t now)
{
    (void)now;
    static char list[CATALOG_LIST_BYTES];
    struct program *p = ctx;
    int count;
    int err = p->catalog->ops->list(p->catalog, &p->list_hold, list, sizeof(list), &count);
    if (err == 0)
        log_info("%d file%s in the folder", count, count == 1 ? "" : "s");
    else if (err < 0)
        log_warn("cannot list the folder: %s", err_text(err));
}

static void announce_levels(struct program *p, const struct options *o)
{
    const struct ladder *l = &p->stream.media->ladder;
    for (int i = 0; i < l->level_count && p->stream.media->codec != SDP_SYNTHETIC; i++) {
        const struct size_spec *size = &l->sizes[l->levels[i].size_id];
        log_info("  level %d: %4dx%-4d %5.4g frames/s %6d kbit/s", i, size->width, size->height,
                 level_frame_rate(l, i), l->levels[i].bitrate_bps / 1000);
    }
    const struct synthetic *media = &o->synthetic;
    for (int i = 0; i < media->ladder.level_count; i++) {
        int bytes = media->bytes[l->levels[i].size_id];
        for (int below = 0; l->cumulative && below < l->levels[i].size_id; below++)
            bytes += media->bytes[below];
        log_info("  level %d: %6d bytes %5.4g frames/s %6d kbit/s", i, bytes,
                 level_frame_rate(l, i), l->levels[i].bitrate_bps / 1000);
    }
}

// The level and the title of each source are logged when it is open.
static void announce_sources(const struct options *o, const char *url)
{
    char names[SOURCES_MAX * (SOURCE_NAME_MAX + 2)];
    struct put put = put_into(names, sizeof(names));
    for (int i = 0; i < o->source_count; i++)
        put_format(&put, "%s%s", i ? ", " : "", o->sources[i].mount + 1);
    log_info("%d source%s at %s (%s)", o->source_count, o->source_count == 1 ? "" : "s", url,
             names);
}

// The URL comes last: programs that start this one read the lines above it then.
static void announce(struct program *p, const struct options *o)
{
    char at[SOCKADDR_TEXT], url[SERVER_URL_MAX];
    bool is_stream = p->serves == SERVES_STREAM;
    if (is_stream)
        announce_levels(p, o);
    server_address(p->server, at, sizeof(at));
    struct server_urls urls = {.listen = &o->listen,
                               .bound = at,
                               .path = is_stream ? o->path : "/",
                               .credentials = p->credentials,
                               .access = p->access,
                               .insecure = o->who.insecure};
    urls.key_path = urls.path;
    server_urls_print(&urls, url, sizeof(url));
    if (p->serves == SERVES_SOURCES) {
        announce_sources(o, url);
        return;
    }
    if (p->serves == SERVES_FOLDER) {
        log_info("files of %s at %s", o->source, url);
        p->list_hold = (struct catalog_hold){.on_ready = on_list, .ctx = p};
        on_list(p, clock_now());
        return;
    }
    log_info("%s at %s", p->stream.media->title, url);
}

// Returns 0, or ERR_RANGE or ERR_NO_MEMORY (logged).
static int start_push(struct program *p, const struct options *o)
{
    struct push_config config = {.loop = &p->loop,
                                 .stream = &p->stream,
                                 .url = o->push,
                                 .transports = o->push_transports,
                                 .audio = o->push_audio,
                                 .agent = send_option_table.program,
                                 .level = o->push_level};
    if (o->push.secure && !*o->push.pin)
        tls_trust_load(); // not while viewers are served
    if (!o->push.text[0])
        return 0;
    if (p->serves == SERVES_FOLDER) {
        log_error("--push conflicts with a folder: it pushes one stream");
        return ERR_RANGE;
    }
    int top = p->stream.media->ladder.level_count - 1;
    if (o->push_level > top) {
        log_error("--push-level expects 0 to %d", top);
        return ERR_RANGE;
    }
    if (o->push_level < 0)
        config.level = top;
    p->push = push_new(&config, clock_now());
    return p->push ? 0 : ERR_NO_MEMORY;
}

static int open_http_folder(struct program *p, const struct options *o)
{
    char root[PATH_MAX];
    struct http_front_config config = {.at = (const struct sockaddr *)&o->http,
                                       .folder = realpath(o->source, root),
                                       .find = folder_real_file,
                                       .has_audio = stream_open_wants_audio(o),
                                       .stats = &p->catalog->book.http};
    p->http = config.folder ? http_front_new(&p->loop, &config) : NULL;
    return p->http ? 0 : ERR_IO;
}

// Returns 0, ERR_IO or ERR_UNSUPPORTED (logged).
static int open_http(struct program *p, const struct options *o)
{
    if (o->http.ss_family == AF_UNSPEC)
        return 0;
    if (p->serves == SERVES_FOLDER)
        return open_http_folder(p, o);
    char film[PATH_MAX];
    bool is_stored = p->stream.media->reorders;
    if (is_stored && snprintf(film, sizeof(film), "%s%s", o->source,
                              stored_file_is(o->source) ? "" : STORED_SUFFIX) >= (int)sizeof(film))
        return ERR_UNSUPPORTED; // it could not have been opened
    struct http_front_config config = {.at = (const struct sockaddr *)&o->http,
                                       .media = p->stream.media,
                                       .film = is_stored ? film : NULL,
                                       .has_audio = p->stream.media->audio_bps > 0,
                                       .path = o->path,
                                       .segment_seconds = o->http_segment ? o->http_segment : 2,
                                       .stats = &p->catalog->book.http};
    p->http = http_front_new(&p->loop, &config);
    return p->http ? 0 : ERR_IO;
}

// Returns 0, ERR_IO or ERR_UNSUPPORTED (logged).
static int start_recorder(struct program *p, const struct options *o)
{
    if (!o->record)
        return 0;
    if (p->catalog->ops->list) {
        log_error(
            "--record records one source: a file, the test picture, a camera or a screen, not "
            "a folder");
        return ERR_UNSUPPORTED;
    }
    if (p->stream.media->reorders) {
        log_error("--record conflicts with a prepared file, which is a recording already");
        return ERR_UNSUPPORTED;
    }
    struct recorder_config config = {.media = p->stream.media,
                                     .pattern = o->record,
                                     .segment = o->record_segment,
                                     .keep = o->record_keep};
    p->recorder = recorder_new(&p->loop, &config);
    return p->recorder ? 0 : ERR_IO;
}

static int serve(struct program *p, const struct options *o)
{
    int code = EXIT_FAILURE;
    p->options = o;
    if (open_raw(p, o) != 0)
        return code;
    int err = open_catalog(p, o);
    if (err == ERR_TIMED_OUT)
        _exit(code); // the thread that opens the source may still be reading
    if (err)
        goto free_raw;
    if (access_options_open(&o->who, o->state_dir, &p->loop, (const struct sockaddr *)&o->listen,
                            (const struct sockaddr *)&o->metrics, &p->access) != 0)
        goto destroy_stream;
    p->outputs = stats_outputs_new(o->stats, &o->metrics, p->access, p->catalog, clock_now());
    if (!p->outputs)
        goto free_access;
    if (o->control && stats_outputs_control(p->outputs, &p->loop, p->access, o->state_dir) != 0)
        goto free_outputs;
    struct server_config config = {.listen = o->listen,
                                   .program = send_option_table.program,
                                   .catalog = p->catalog,
                                   .max_viewers = o->max_viewers,
                                   .proxies = o->proxies,
                                   .srtp = o->srtp,
                                   .origins = o->origins,
                                   .telemetry = p->outputs,
                                   .raw = p->raw,
                                   .access = p->access};
    struct server_tls_config tls = {.listen = &o->listen,
                                    .certificate = o->tls_cert,
                                    .key = o->tls_key,
                                    .state_dir = o->state_dir,
                                    .insecure = o->who.insecure};
    if (server_tls_open(&tls, &p->credentials) != 0)
        goto free_outputs;
    config.credentials = p->credentials;
    p->server = server_new(&p->loop, &config);
    if (!p->server)
        goto free_outputs;
    stop_signals_watch(&p->signals, &p->loop, on_signal, p);
    if (o->file)
        stop_signals_on_hangup(&p->signals, on_hangup);
    if (start_push(p, o) != 0 || open_http(p, o) != 0 || start_recorder(p, o) != 0)
        goto close_server;
    announce(p, o);
    p->service = systemd_new(&p->loop);
    uv_run(&p->loop, UV_RUN_DEFAULT);
    code = EXIT_SUCCESS;
    goto free_outputs; // on_stopped has closed the server

close_server:
    close_server(p);
free_outputs:
    tls_credentials_free(p->credentials);
    stats_outputs_free(p->outputs, clock_now());
free_access:
    access_free(p->access);
destroy_stream:
    p->catalog->ops->free(p->catalog);
    stream_destroy(&p->stream);
free_raw:
    mtp_raw_free(p->raw);
    return code;
}

static void on_finish_limit(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

// Waits until closed handles and their threads have finished. A thread may hang in a read (for
// example from a network disk that is gone): then the program exits without it.
static int finish(uv_loop_t *loop, int code)
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
        log_warn("exiting while a thread still reads a file");
        _exit(code);
    }
    return program_close_loop(loop, code);
}

static int run(void *ctx)
{
    const struct options *options = ctx;
    if (options->list_devices) {
        log_to(NULL, options->log.filter); // the list itself says why a device cannot be opened
        capture_list_print(stdout);
        return EXIT_SUCCESS;
    }
    if (options->who.invite)
        return server_invite(&(struct server_invite){.options = &options->who,
                                                     .listen = &options->listen,
                                                     .metrics = &options->metrics,
                                                     .certificate = options->tls_cert,
                                                     .key = options->tls_key,
                                                     .state_dir = options->state_dir});
    if (options->prepare)
        return prepare_run(options);
    bool has_http = options->http.ss_family != AF_UNSPEC;
    file_limit_raise(options->max_viewers, 1, has_http ? HTTP_CONNECTIONS : 0);
    static struct program program; // static, as it is large
    uv_loop_init(&program.loop);
    return finish(&program.loop, serve(&program, options));
}

int main(int argc, char **argv)
{
    static struct options options;
    command = (struct command){argc, argv};
    return program_main(&(struct program_parts){.name = "weir-send",
                                                .options = &options,
                                                .log = &options.log,
                                                .parse = options_parse,
                                                .run = run,
                                                .destroy = options_destroy},
                        argc, argv);
}
