// SPDX-License-Identifier: GPL-2.0-or-later
// weir-proxy: constructs, connects, starts, stops.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#include "common/discovery/discovery.h"
#include "common/net/clock.h"
#include "common/net/random.h"
#include "common/net/stop_signals.h"
#include "common/net/systemd.h"
#include "common/net/tls_credentials.h"
#include "common/net/tls_trust.h"
#include "common/net/udp_socket.h"
#include "common/program/program_main.h"
#include "proxy/catalog/origin_catalog.h"
#include "proxy/catalog/prefetch.h"
#include "proxy/options/options.h"
#include "proxy/store/store.h"
#include "server/access/access_options.h"
#include "server/access/access_user.h"
#include "server/export/stats_outputs.h"
#include "server/rtsp/file_limit.h"
#include "server/rtsp/server.h"
#include "server/rtsp/server_invite.h"
#include "server/rtsp/server_tls.h"
#include "server/rtsp/server_urls.h"

enum { FILES_EACH = 2 }; // a viewer has a session with its origin, too

struct program {
    uv_loop_t loop;
    struct stop_signals signals;
    struct store *store; // owned; NULL: nothing is stored
    struct catalog *catalog;
    struct prefetch *prefetch; // owned; NULL: none
    struct stats_outputs *outputs;
    struct tls_credentials *credentials; // owned; NULL: no TLS
    struct server *server;
    struct access *access;       // owned; NULL: everybody may watch
    struct announcer *announcer; // owned; NULL: not announced
    struct systemd *service;     // owned; NULL: not started by systemd
};

static void on_stopped(void *ctx)
{
    struct program *p = ctx;
    server_free(p->server);
    p->server = NULL;
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
    announcer_free(p->announcer);
    p->announcer = NULL;
    server_stop(p->server, on_stopped, p);
}

static void announce(const struct program *p, const struct proxy_options *o)
{
    char at[SOCKADDR_TEXT], url[SERVER_URL_MAX];
    server_address(p->server, at, sizeof(at));
    bool is_host = o->rules.has_origin && url_is_root(&o->rules.origin); // viewers give the path
    struct server_urls urls = {.listen = &o->listen,
                               .bound = at,
                               .path = is_host               ? "/PATH"
                                       : o->rules.has_origin ? "/"
                                                             : "/HOST[:PORT]/PATH",
                               .credentials = p->credentials,
                               .access = p->access,
                               .key_path = "/",
                               .insecure = o->who.insecure,
                               .qr = o->who.qr,
                               .prints_keys = true,
                               .is_example = is_host || !o->rules.has_origin};
    server_urls_print(&urls, url, sizeof(url));
    if (o->rules.has_origin)
        log_info("streams of %s at %s", o->rules.origin.text, url);
    else
        log_info("streams of %d host%s at %s", o->rules.host_count,
                 o->rules.host_count == 1 ? "" : "s", url);
}

// Without one origin, only the viewers know the paths.
static struct announcer *announce_on_network(const struct program *p, const struct proxy_options *o)
{
    char text[SOCKADDR_TEXT];
    struct sockaddr_storage at;
    server_address(p->server, text, sizeof(text));
    if (o->no_announce || sockaddr_parse(text, &at) != 0)
        return NULL;
    return announcer_new(proxy_option_table.program, (struct sockaddr *)&at, "/",
                         p->credentials && !o->who.insecure);
}

static struct catalog *open_catalog(struct program *p, const struct proxy_options *o)
{
    uint32_t number;
    struct origin_catalog_config config = {.loop = &p->loop,
                                           .rules = &o->rules,
                                           .choices = &o->choices,
                                           .viewer_timeout = o->timeout * USEC_PER_SEC,
                                           .max_viewers = o->max_viewers,
                                           .transports = &o->access,
                                           .only_these = o->has_access,
                                           .queue = o->queue,
                                           .queue_bytes = (size_t)o->queue_bytes,
                                           .store = p->store,
                                           .validate = o->validate,
                                           .fetch_transports = &o->fetch,
                                           .fetch_bps = o->fetch_rate,
                                           .has_prefix = o->prefix > 0,
                                           .share = o->share,
                                           .fill_speed = o->fill_speed};
    if (!random_fill(&number, sizeof(number)))
        return NULL;
    snprintf(config.name, sizeof(config.name), "weir-proxy-%08" PRIx32, number);
    return origin_catalog_new(&config);
}

// What cannot be stored is served all the same.
static void open_store(struct program *p, const struct proxy_options *o)
{
    struct store_config config = {.loop = &p->loop,
                                  .folder = o->cache,
                                  .max_bytes = o->cache_bytes,
                                  .prefix = usec_to_sec(o->prefix)};
    p->store = o->cache ? store_new(&config) : NULL;
}

static int serve(struct program *p, const struct proxy_options *o)
{
    int code = EXIT_FAILURE;
    if (o->rules.origin.secure && !*o->rules.origin.pin)
        tls_trust_load(); // not while viewers are served
    open_store(p, o);
    p->catalog = open_catalog(p, o);
    if (!p->catalog)
        goto free_store;
    if (p->store && o->prefetch) {
        struct prefetch_config config = {.loop = &p->loop,
                                         .file = o->prefetch,
                                         .catalog = p->catalog,
                                         .store = p->store,
                                         .rules = &o->rules,
                                         .again = PREFETCH_AGAIN};
        p->prefetch = prefetch_new(&config);
        if (!p->prefetch)
            goto free_catalog;
    }
    if (access_options_open(&o->who, o->state_dir, &p->loop, (const struct sockaddr *)&o->listen,
                            (const struct sockaddr *)&o->metrics, &p->access) != 0)
        goto free_prefetch;
    p->outputs = stats_outputs_new(o->stats, &o->metrics, p->access, p->catalog, clock_now());
    if (!p->outputs)
        goto free_access;
    struct server_config config = {.listen = o->listen,
                                   .program = proxy_option_table.program,
                                   .catalog = p->catalog,
                                   .max_viewers = o->max_viewers,
                                   .proxies = o->proxies,
                                   .telemetry = p->outputs,
                                   .srtp = o->rules.srtp,
                                   .origins = o->origins,
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
    announce(p, o);
    p->announcer = announce_on_network(p, o);
    p->service = systemd_new(&p->loop);
    uv_run(&p->loop, UV_RUN_DEFAULT);
    code = EXIT_SUCCESS;

free_outputs:
    tls_credentials_free(p->credentials);
    stats_outputs_free(p->outputs, clock_now());
free_access:
    access_free(p->access);
free_prefetch:
    prefetch_free(p->prefetch);
free_catalog:
    p->catalog->ops->free(p->catalog);
free_store:
    store_free(p->store);
    return code;
}

static int run(void *ctx)
{
    const struct proxy_options *options = ctx;
    if (options->cache_list)
        return store_list(options->cache, stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    if (options->who.user)
        return access_user_make(options->who.user, options->who.file);
    if (options->who.invite)
        return server_invite(&(struct server_invite){.options = &options->who,
                                                     .listen = &options->listen,
                                                     .metrics = &options->metrics,
                                                     .certificate = options->tls_cert,
                                                     .key = options->tls_key,
                                                     .state_dir = options->state_dir});
    file_limit_raise(options->max_viewers, FILES_EACH, 0);
    static struct program program; // static, as it is large
    uv_loop_init(&program.loop);
    int code = serve(&program, options);
    uv_run(&program.loop, UV_RUN_DEFAULT);
    return program_close_loop(&program.loop, code);
}

int main(int argc, char **argv)
{
    static struct proxy_options options;
    return program_main(&(struct program_parts){.name = "weir-proxy",
                                                .options = &options,
                                                .log = &options.log,
                                                .parse = proxy_options_parse,
                                                .run = run,
                                                .destroy = proxy_options_destroy},
                        argc, argv);
}
