// SPDX-License-Identifier: GPL-2.0-or-later
// weir-send: constructs, connects, starts, stops.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/err.h"
#include "common/discovery/discovery.h"
#include "common/net/loop_end.h"
#include "common/net/stop_signals.h"
#include "common/net/systemd.h"
#include "common/net/udp_socket.h"
#include "common/program/program_main.h"
#include "common/wire/url.h"
#include "media/capture/capture_list.h"
#include "media/encode/video_engine.h"
#include "sender/http/content_server.h"
#include "sender/options/options.h"
#include "sender/prepare/prepare.h"
#include "sender/serve/hooks.h"
#include "sender/serve/serving.h"
#include "server/access/access_user.h"
#include "server/rtsp/file_limit.h"
#include "server/rtsp/server_invite.h"

#define FINISH_LIMIT (5 * USEC_PER_SEC) // max. wait at the end for threads that read files

// The command line, which SIGHUP reads again with its configuration file.
struct command {
    int argc;
    char **argv;
};
static struct command command;

struct program {
    uv_loop_t loop;
    struct stop_signals signals;
    struct serving *serving;     // owned
    struct hooks *hooks;         // owned; NULL: none
    struct announcer *announcer; // owned; NULL: not announced
    struct systemd *service;     // owned; NULL: not started by systemd
    bool stops;
};

static void on_stopped(void *ctx)
{
    struct program *p = ctx;
    systemd_free(p->service);
    p->service = NULL;
    stop_signals_close(&p->signals);
    uv_stop(&p->loop);
}

static void stop(struct program *p)
{
    p->stops = true;
    systemd_stopping(p->service);
    announcer_free(p->announcer);
    p->announcer = NULL;
    serving_stop(p->serving, on_stopped, p);
}

static void on_signal(void *ctx, const char *name)
{
    struct program *p = ctx;
    log_info("stopped by %s", name);
    if (!p->stops)
        stop(p);
}

static void on_over(void *ctx)
{
    stop(ctx);
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
    if (is_good)
        file_limit_raise(next->max_viewers, 1, 0);
    if (is_good && serving_reload(p->serving, next))
        return;
    if (is_good)
        options_destroy(next);
    free(next);
}

// The URL that is served has the port in use and no key.
static struct announcer *announce_on_network(const struct program *p, const struct options *o)
{
    struct url url;
    const char *wrong;
    if (o->no_announce || url_parse(serving_url(p->serving), &url, &wrong) != 0)
        return NULL;
    const char *path = strchr(url.text + url_scheme(url.text), '/');
    if (o->source_count && !source_publish_is_any(o->sources[0].mount))
        path = o->sources[0].mount;
    struct sockaddr_storage at = o->listen;
    sockaddr_set_port((struct sockaddr *)&at, url.port);
    return announcer_new(send_option_table.program, (struct sockaddr *)&at, path ? path : "/",
                         url.secure);
}

static int serve(struct program *p, const struct options *o)
{
    int err;
    struct serving_config config = {.loop = &p->loop,
                                    .options = o,
                                    .prints_keys = true,
                                    .on_over = on_over,
                                    .ctx = p,
                                    .owns_process = true};
    if (o->hooks.count && !(p->hooks = hooks_new(&p->loop, &o->hooks)))
        return EXIT_FAILURE;
    p->serving = serving_new(&config, &err);
    if (err == ERR_TIMED_OUT)
        _exit(EXIT_FAILURE); // the thread that opens the source may still be reading
    if (!p->serving) {
        hooks_free(p->hooks);
        return EXIT_FAILURE;
    }
    stop_signals_watch(&p->signals, &p->loop, on_signal, p);
    if (o->file)
        stop_signals_on_hangup(&p->signals, on_hangup);
    stop_signals_release_hangup();
    log_info("%s", serving_announce(p->serving));
    p->announcer = announce_on_network(p, o);
    p->service = systemd_new(&p->loop);
    uv_run(&p->loop, UV_RUN_DEFAULT);
    serving_free(p->serving);
    if (p->hooks)
        uv_run(&p->loop, UV_RUN_NOWAIT); // the last events: recordings have ended
    hooks_free(p->hooks);
    return EXIT_SUCCESS;
}

// A thread may hang in a read (for example from a network disk that is gone): then the program
// exits without it.
static int finish(uv_loop_t *loop, int code)
{
    if (!loop_end(loop, FINISH_LIMIT)) {
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
    if (strcmp(options->encoder, "list") == 0) {
        video_engine_list(stdout);
        return EXIT_SUCCESS;
    }
    if (options->who.user)
        return access_user_make(options->who.user, options->who.file);
    if (options->who.invite)
        return server_invite(&(struct server_invite){.options = &options->who,
                                                     .listen = &options->listen,
                                                     .metrics = &options->metrics,
                                                     .certificate = options->tls_cert,
                                                     .key = options->tls_key,
                                                     .state_dir = options->state_dir});
    if (options->prepare) {
        stop_signals_release_hangup();
        return prepare_run(options);
    }
    if (!options->file)
        stop_signals_release_hangup();
    bool has_http = options->http.ss_family != AF_UNSPEC;
    file_limit_raise(options->max_viewers, 1, has_http ? HTTP_FILES : 0);
    static struct program program; // static, as it is large
    uv_loop_init(&program.loop);
    return finish(&program.loop, serve(&program, options));
}

int main(int argc, char **argv)
{
    static struct options options;
    command = (struct command){argc, argv};
    // A service manager may send SIGHUP while the sources are being opened: it is served
    // afterwards.
    stop_signals_hold_hangup();
    return program_main(&(struct program_parts){.name = "weir-send",
                                                .options = &options,
                                                .log = &options.log,
                                                .parse = options_parse,
                                                .run = run,
                                                .destroy = options_destroy},
                        argc, argv);
}
