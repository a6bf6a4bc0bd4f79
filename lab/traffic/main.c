// SPDX-License-Identifier: GPL-2.0-or-later
// weir-traffic: constructs, starts and stops the client or server.
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/log.h"
#include "common/net/stop_signals.h"
#include "common/net/tcp_info.h"
#include "common/program/program_main.h"
#include "lab/traffic/client.h"
#include "lab/traffic/options.h"
#include "lab/traffic/report.h"
#include "lab/traffic/server.h"

struct program {
    uv_loop_t loop;
    struct stop_signals signals;
    bool finished;
    struct server *server;
    struct report *report;
    struct client *client;
};

static void finish(void *ctx)
{
    struct program *p = ctx;
    traffic_server_free(p->server);
    p->server = NULL;
    traffic_client_free(p->client);
    p->client = NULL;
    if (!p->finished)
        stop_signals_close(&p->signals);
    p->finished = true;
}

static void on_signal(void *ctx, const char *name)
{
    (void)name;
    finish(ctx);
}

// Raises the soft limit on open files: the usual 1024 protects only programs that use select().
static void allow_many_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

// The server sets the congestion control, but a name that this kernel lacks should be reported at
// once.
static bool cc_exist(const struct options *o)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool good = fd >= 0;
    for (int i = 0; i < o->spec_count && good; i++) {
        good = tcp_set_cc(fd, o->specs[i].cc) == 0;
        char available[256];
        tcp_available_cc(available, sizeof(available));
        if (!good)
            log_error("%s: congestion control %s is not available (available: %s)",
                      o->specs[i].text, o->specs[i].cc, available);
    }
    if (fd >= 0)
        close(fd);
    return good;
}

static int start_serve(struct program *p, const struct options *o)
{
    p->server = traffic_server_new(&p->loop, (const struct sockaddr *)&o->server);
    if (!p->server)
        return EXIT_FAILURE;
    char at[64];
    traffic_server_address(p->server, at, sizeof(at));
    log_info("ready at %s", at);
    return EXIT_SUCCESS;
}

static int start_run(struct program *p, const struct options *o)
{
    if (!cc_exist(o) || (o->stats && !(p->report = traffic_report_open(o->stats, o->spec_count))))
        return EXIT_FAILURE;
    p->client = traffic_client_new(&p->loop, o, p->report, finish, p);
    return p->client ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run(void *ctx)
{
    const struct options *options = ctx;
    allow_many_files();
    struct program program = {0};
    uv_loop_init(&program.loop);
    stop_signals_watch(&program.signals, &program.loop, on_signal, &program);
    int code = options->serve ? start_serve(&program, options) : start_run(&program, options);
    if (code != EXIT_SUCCESS)
        finish(&program);
    uv_run(&program.loop, UV_RUN_DEFAULT);
    if (traffic_report_close(program.report) != 0)
        code = EXIT_FAILURE;
    return program_close_loop(&program.loop, code);
}

int main(int argc, char **argv)
{
    static struct options options;
    return program_main(&(struct program_parts){.name = "weir-traffic",
                                                .options = &options,
                                                .log = &options.log,
                                                .parse = traffic_options_parse,
                                                .run = run},
                        argc, argv);
}
