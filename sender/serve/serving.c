// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/serve/serving.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/put.h"
#include "common/net/clock.h"
#include "common/net/raw_tcp.h"
#include "common/net/timer.h"
#include "common/net/tls_credentials.h"
#include "common/net/tls_trust.h"
#include "common/net/udp_socket.h"
#include "common/transport/mtp_raw.h"
#include "media/capture/source_capture.h"
#include "media/record/recording.h"
#include "sender/camera/camera.h"
#include "sender/catalog/file_catalog.h"
#include "sender/catalog/folder_catalog.h"
#include "sender/catalog/folder_list.h"
#include "sender/catalog/mount_catalog.h"
#include "sender/catalog/stream_open.h"
#include "sender/http/http_front.h"
#include "sender/options/unused_options.h"
#include "sender/push/push.h"
#include "sender/record/recorder.h"
#include "server/access/access_options.h"
#include "server/export/control_gate.h"
#include "server/export/stats_outputs.h"
#include "server/rtsp/server.h"
#include "server/rtsp/server_tls.h"
#include "server/rtsp/server_urls.h"
#include "server/session/stream.h"

#define OVER_LOOK  (USEC_PER_SEC / 4)  // for the end of the media, and of its viewers
#define OVER_LIMIT (10 * USEC_PER_SEC) // for viewers to leave then

enum serves { SERVES_STREAM, SERVES_FOLDER, SERVES_SOURCES };

struct serving {
    uv_loop_t *loop;               // borrowed
    const struct options *options; // in effect
    bool prints_keys, owns_process;
    char url[SERVER_URL_MAX]; // "": not announced yet
    char line[LOG_TEXT];      // the last one of the announcement
    enum serves serves;
    struct stream stream; // of SERVES_STREAM
    struct catalog *catalog;
    struct catalog_hold list_hold; // waits for the folder's first list
    struct stats_outputs *outputs;
    struct source_changes changes;       // of the control interface, since the start
    struct mtp_raw *raw;                 // owned; NULL: no permission, or not possible
    struct tls_credentials *credentials; // owned; NULL: no TLS
    struct server *server;
    struct push *push;         // owned; NULL: none
    struct http_front *http;   // owned
    struct recorder *recorder; // owned; NULL: none
    struct access *access;     // owned; NULL: everybody may watch
    void (*on_stopped)(void *ctx);
    void *ctx;          // borrowed
    struct timer *over; // owned; NULL: the media has no end that matters
    usec_t over_at;     // when that ended; USEC_NEVER: it has not
    void (*on_over)(void *ctx);
    void *over_ctx; // borrowed
};

static void close_http(struct serving *s)
{
    if (s->server)
        server_set_content(s->server, NULL);
    http_front_free(s->http);
    s->http = NULL;
}

static void close_server(struct serving *s)
{
    close_http(s);
    push_free(s->push, clock_now());
    s->push = NULL;
    recorder_free(s->recorder, RECORDER_END);
    s->recorder = NULL;
    if (s->server)
        server_free(s->server);
    s->server = NULL;
    mtp_raw_free(s->raw);
    s->raw = NULL;
}

static void on_stopped(void *ctx)
{
    struct serving *s = ctx;
    close_server(s);
    s->on_stopped(s->ctx);
}

static void stop_server(void *ctx)
{
    struct serving *s = ctx;
    server_stop(s->server, on_stopped, s);
}

static void look_for_end(void *ctx, usec_t now)
{
    struct serving *s = ctx;
    const struct stream_media *m = s->stream.media;
    if (s->over_at == USEC_NEVER && m->ops->is_over(m))
        s->over_at = now;
    bool is_over = s->over_at != USEC_NEVER;
    if (is_over && (!s->stream.sink_count || now >= s->over_at + OVER_LIMIT))
        s->on_over(s->over_ctx);
    else
        timer_set(s->over, now + OVER_LOOK);
}

// Returns false if there is no memory (logged).
static bool await_end(struct serving *s, const struct serving_config *config)
{
    s->over_at = USEC_NEVER;
    s->on_over = config->on_over;
    s->over_ctx = config->ctx;
    if (!config->on_over || s->serves != SERVES_STREAM || !s->stream.media->ops->is_over)
        return true;
    s->over = timer_new(s->loop, look_for_end, s);
    if (s->over)
        timer_set(s->over, 0);
    return s->over;
}

void serving_stop(struct serving *s, void (*stopped)(void *ctx), void *ctx)
{
    timer_free(s->over);
    s->over = NULL;
    s->on_stopped = stopped;
    s->ctx = ctx;
    close_http(s);
    s->catalog->ops->leave(s->catalog, &s->list_hold);
    if (s->push)
        push_leave(s->push, stop_server, s, clock_now());
    else
        stop_server(s);
}

// Makes the sources those of `o` with the changes. `read`: `o`, if it was just read, which the
// catalog takes over; NULL: it has it. Returns 0, or what options_change does.
static int change_sources(struct serving *s, const struct options *o,
                          const struct source_changes *changes, struct options *read, char *error,
                          size_t cap)
{
    int err = 0;
    struct options *next =
        read && !changes->count ? read : options_change(o, changes, &err, error, cap);
    if (next)
        err = mount_catalog_reload(s->catalog, next, read);
    if (next && err && next != read) {
        options_destroy(next);
        free(next);
    }
    return err;
}

static const struct options *find_given(const struct serving *s, const char *path)
{
    for (int i = 0; i < s->options->source_count; i++)
        if (strcmp(s->options->sources[i].mount, path) == 0)
            return &s->options->sources[i];
    return NULL;
}

static int record_source(struct serving *s, const struct control_request *r, char **why)
{
    int err = mount_catalog_record(s->catalog, r->path, r->record);
    if (err == ERR_UNSUPPORTED)
        *why = strdup("the source has no name to record to: start weir-send with --record "
                      "DIR/%N.mkv\n");
    else if (!err)
        log_info("the operator %s the recording of %s", r->record ? "started" : "stopped", r->path);
    return err;
}

// Serves a request of the control interface. No source is logged: it may have a password.
static int on_source(void *ctx, const struct control_request *r, char **why, usec_t now)
{
    struct serving *s = ctx;
    (void)now;
    if (s->serves != SERVES_SOURCES) {
        *why = strdup("only sources with names can change: start weir-send with NAME=SOURCE or "
                      "--publish PATH\n");
        return ERR_UNSUPPORTED;
    }
    if (r->task == CONTROL_RECORD_SOURCE)
        return record_source(s, r, why);
    const struct source_change *change = source_changes_find(&s->changes, r->path);
    bool is_given = find_given(s, r->path);
    bool exists = change ? *change->source : is_given;
    bool is_removed = r->task == CONTROL_REMOVE_SOURCE;
    const char *fault = is_removed ? NULL : source_change_fault(r->path, r->source, exists);
    if (is_removed && !exists)
        return ERR_NOT_FOUND;
    if (fault) {
        *why = strdup(fault);
        return ERR_MALFORMED;
    }
    if (!is_removed && mount_catalog_is_busy(s->catalog))
        return ERR_AGAIN;
    char error[512] = "";
    struct source_changes changes = s->changes;
    int err = source_changes_set(&changes, r->path, is_removed ? NULL : r->source, is_given);
    if (!err)
        err = change_sources(s, s->options, &changes, NULL, error, sizeof(error) - 1);
    if (err) {
        *why = strdup(strcat(error, "\n"));
        return err;
    }
    s->changes = changes;
    log_info("the operator %s the source %s",
             is_removed ? "removed"
             : exists   ? "changed"
                        : "added",
             r->path);
    return is_removed || exists ? 0 : CONTROL_CREATED;
}

bool serving_reload(struct serving *s, struct options *next)
{
    if (s->serves == SERVES_SOURCES && !next->source_count) {
        log_error("the configuration stays as it was: it has no source with a name any more");
        return false;
    }
    log_info("the configuration was read again");
    const char *fixed = options_fixed(s->options, next);
    if (fixed)
        log_warn("a change of \"%s\" takes effect when weir-send is started again", fixed);
    if (s->access)
        (void)access_reload(s->access);
    if (server_set_max_viewers(s->server, next->max_viewers) != 0)
        log_error("cannot change --max-viewers: out of memory");
    if (s->serves == SERVES_STREAM) {
        s->stream.max_viewers = next->max_viewers;
        s->stream.viewer_timeout = next->timeout * USEC_PER_SEC;
    }
    if (s->serves != SERVES_SOURCES) {
        if (next->source_count || !options_source_equal(s->options, next))
            log_warn("its source stays until weir-send is started again: only sources with names "
                     "(NAME=SOURCE) can change meanwhile");
        return false;
    }
    char error[512] = "out of memory";
    int err = change_sources(s, next, &s->changes, next, error, sizeof(error));
    if (err) {
        log_error("the sources stay as they were: %s",
                  err == ERR_FULL ? "with those of the control interface there are too many"
                                  : error);
        return false;
    }
    s->options = next;
    for (int i = s->changes.count - 1; i >= 0;
         i--) { // what was removed is no longer there to remove
        const struct source_change *change = &s->changes.list[i];
        if (!*change->source && !find_given(s, change->path))
            (void)source_changes_set(&s->changes, change->path, NULL, false);
    }
    return true;
}

static bool is_folder(const char *source)
{
    struct stat st;
    return stat(source, &st) == 0 && S_ISDIR(st.st_mode);
}

// Returns true if only viewers use the stream, so that it may be exchanged.
static bool is_for_viewers(const struct options *o)
{
    return !o->push.text[0] && !o->record && o->http.ss_family == AF_UNSPEC;
}

static int open_stream(struct serving *s, const struct options *o)
{
    bool is_synthetic = options_is_synthetic(o);
    if (!source_is_capture(o->source) && !camera_is(o->source) && !is_synthetic)
        return stream_open_in_time(&s->stream, s->loop, o, o->source, CATALOG_OPEN_LIMIT);
    int err = stream_open(&s->stream, NULL, o, o->source);
    return err ? err : stream_start(&s->stream, s->loop);
}

static int open_catalog(struct serving *s, const struct options *o)
{
    int err = 0;
    s->serves = o->source_count        ? SERVES_SOURCES
                : is_folder(o->source) ? SERVES_FOLDER
                                       : SERVES_STREAM;
    const char *unused[UNUSED_OPTIONS];
    int count = unused_options(o, s->serves == SERVES_FOLDER, unused);
    for (int i = 0; i < count; i++)
        log_warn("%s", unused[i]);
    if (s->serves == SERVES_SOURCES) {
        s->catalog = mount_catalog_new(s->loop, o);
    } else if (s->serves == SERVES_FOLDER) {
        s->catalog = folder_catalog_new(s->loop, o);
    } else {
        struct film_mark mark;
        bool is_file = file_catalog_mark(o, &mark) && is_for_viewers(o);
        err = open_stream(s, o);
        s->stream.viewer_timeout = o->timeout * USEC_PER_SEC;
        s->stream.max_viewers = o->max_viewers;
        s->stream.fragment_bytes = (size_t)o->fragment;
        s->catalog = err       ? NULL
                     : is_file ? file_catalog_new(s->loop, o, &s->stream, &mark)
                               : catalog_new_one(o->path, &s->stream);
    }
    return err ? err : s->catalog ? 0 : ERR_NO_MEMORY;
}

// If the program may open raw sockets, opens one. A process of its own then drops the capability,
// before any thread reads media; in another program it is the program's. Returns 0, or ERR_IO if
// the requested port is not available (logged).
static int open_raw(struct serving *s, const struct options *o)
{
    if (!raw_tcp_has_capability()) {
        if (o->mtp_port)
            log_warn(RAW_TCP_REMEDY);
        return 0;
    }
    struct sockaddr_storage at = o->listen;
    sockaddr_set_port((struct sockaddr *)&at, o->mtp_port);
    s->raw = mtp_raw_new(s->loop, (struct sockaddr *)&at);
    if (s->owns_process)
        (void)raw_tcp_drop_capability();
    if (s->raw)
        log_debug("mtp-raw: TCP port %d", mtp_raw_port(s->raw, (struct sockaddr *)&at));
    return s->raw || !o->mtp_port ? 0 : ERR_IO;
}

// Logs the number of files in the folder. The list is made while the server already listens.
static void on_list(void *ctx, usec_t now)
{
    (void)now;
    struct serving *s = ctx;
    int count, err = ERR_NO_MEMORY;
    char *list = malloc(CATALOG_LIST_BYTES);
    if (list)
        err = s->catalog->ops->list(s->catalog, &s->list_hold, list, CATALOG_LIST_BYTES, &count);
    free(list);
    if (err == 0)
        log_info("%d file%s in the folder", count, count == 1 ? "" : "s");
    else if (err < 0)
        log_warn("cannot list the folder: %s", err_text(err));
}

static void announce_levels(struct serving *s, const struct options *o)
{
    const struct ladder *l = &s->stream.media->ladder;
    for (int i = 0; i < l->level_count && s->stream.media->codec != SDP_SYNTHETIC; i++) {
        const struct size_spec *size = &l->sizes[l->levels[i].size_id];
        log_info("  level %d: %4dx%-4d %6.5g frames/s %6d kbit/s", i, size->width, size->height,
                 level_frame_rate(l, i), l->levels[i].bitrate_bps / 1000);
    }
    const struct synthetic *media = &o->synthetic;
    for (int i = 0; i < media->ladder.level_count; i++) {
        int bytes = media->bytes[l->levels[i].size_id];
        for (int below = 0; l->cumulative && below < l->levels[i].size_id; below++)
            bytes += media->bytes[below];
        log_info("  level %d: %6d bytes %6.5g frames/s %6d kbit/s", i, bytes,
                 level_frame_rate(l, i), l->levels[i].bitrate_bps / 1000);
    }
}

// The level and the title of each source are logged when it is open.
static void name_sources(struct serving *s, const struct options *o)
{
    char names[SOURCES_MAX * (SOURCE_NAME_MAX + 2)];
    struct put put = put_into(names, sizeof(names));
    for (int i = 0; i < o->source_count; i++)
        put_format(&put, "%s%s", i ? ", " : "", o->sources[i].mount + 1);
    put = put_into(s->line, sizeof(s->line));
    put_format(&put, "%d source%s at %s (%s)", o->source_count, o->source_count == 1 ? "" : "s",
               s->url, names);
}

// Programs that start this one read the lines above the last one when that one comes.
const char *serving_announce(struct serving *s)
{
    const struct options *o = s->options;
    char at[SOCKADDR_TEXT];
    bool is_stream = s->serves == SERVES_STREAM;
    if (is_stream)
        announce_levels(s, o);
    server_address(s->server, at, sizeof(at));
    struct server_urls urls = {.listen = &o->listen,
                               .bound = at,
                               .path = is_stream ? o->path : "/",
                               .credentials = s->credentials,
                               .access = s->access,
                               .insecure = o->who.insecure,
                               .qr = o->who.qr,
                               .prints_keys = s->prints_keys};
    urls.key_path = urls.path;
    server_urls_print(&urls, s->url, sizeof(s->url));
    struct put line = put_into(s->line, sizeof(s->line));
    if (s->serves == SERVES_SOURCES) {
        name_sources(s, o);
    } else if (s->serves == SERVES_FOLDER) {
        put_format(&line, "files of %s at %s", o->source, s->url);
        s->list_hold = (struct catalog_hold){.on_ready = on_list, .ctx = s};
        on_list(s, clock_now());
    } else {
        put_format(&line, "%s at %s", s->stream.media->title, s->url);
    }
    return s->line;
}

const char *serving_url(const struct serving *s)
{
    return s->url;
}

char *serving_stats(struct serving *s)
{
    return stats_outputs_status(s->outputs, clock_now());
}

// Returns 0, ERR_RANGE, ERR_UNSUPPORTED or ERR_NO_MEMORY (logged).
static int start_push(struct serving *s, const struct options *o)
{
    struct push_config config = {.loop = s->loop,
                                 .stream = &s->stream,
                                 .url = o->push,
                                 .transports = o->push_transports,
                                 .audio = o->push_audio,
                                 .agent = send_option_table.program,
                                 .level = o->push_level};
    if (o->push.secure && !*o->push.pin)
        tls_trust_load(); // not while viewers are served
    if (!o->push.text[0])
        return 0;
    if (s->serves == SERVES_FOLDER) {
        log_error("--push conflicts with a folder: it pushes one stream");
        return ERR_RANGE;
    }
    if (s->stream.media->reorders) {
        log_error("--push conflicts with a prepared file, which no encoder fits to the network: "
                  "push the film that it was made of");
        return ERR_UNSUPPORTED;
    }
    int top = s->stream.media->ladder.level_count - 1;
    if (o->push_level > top) {
        log_error("--push-level expects 0 to %d", top);
        return ERR_RANGE;
    }
    if (o->push_level < 0)
        config.level = top;
    s->push = push_new(&config, clock_now());
    return s->push ? 0 : ERR_NO_MEMORY;
}

static void on_files(void *ctx, usec_t now)
{
    struct serving *s = ctx;
    server_wake(s->server, now);
}

// Opens what HTTP serves. The RTSP port serves all streams, each held only while it is requested;
// with --http both ports serve its one stream. Returns 0 or ERR_IO (logged).
static int open_http(struct serving *s, const struct options *o)
{
    char root[PATH_MAX];
    bool has_port = o->http.ss_family != AF_UNSPEC;
    struct http_front_config config = {.at = has_port ? (const struct sockaddr *)&o->http : NULL,
                                       .has_audio = stream_open_wants_audio(o),
                                       .path = o->path,
                                       .segment_seconds = o->http_segment ? o->http_segment : 2,
                                       .origins = &o->origins,
                                       .proxies = &o->proxies,
                                       .stats = &s->catalog->book.http,
                                       .on_change = on_files,
                                       .ctx = s};
    if (s->serves == SERVES_FOLDER) {
        config.folder = realpath(o->source, root);
        config.find = folder_real_file;
        if (!config.folder) {
            log_error("%s: the folder is gone", o->source);
            return ERR_IO;
        }
    } else if (has_port) {
        config.media = s->stream.media;
        config.film = config.media->stored;
        config.has_audio = config.media->audio_bps > 0;
    } else {
        config.catalog = s->catalog;
    }
    s->http = http_front_new(s->loop, &config);
    if (!s->http)
        return ERR_IO;
    server_set_content(s->server, http_front_content(s->http));
    return 0;
}

// Those of sources with names begin when these are open. Returns 0, ERR_IO or ERR_UNSUPPORTED
// (logged).
static int start_recorder(struct serving *s, const struct options *o)
{
    for (int i = 0; i < o->source_count; i++)
        if (o->sources[i].record && recording_check("--record", o->sources[i].record) != 0)
            return ERR_IO;
    if (!o->record || s->serves == SERVES_SOURCES)
        return 0;
    if (s->serves == SERVES_FOLDER) {
        log_error("--record records a file, the test picture, a camera or a screen, not a folder");
        return ERR_UNSUPPORTED;
    }
    if (s->stream.media->reorders) {
        log_error("--record conflicts with a prepared file, which is a recording already");
        return ERR_UNSUPPORTED;
    }
    struct recorder_config config = {.media = s->stream.media,
                                     .pattern = o->record,
                                     .segment = o->record_segment,
                                     .keep = o->record_keep};
    s->recorder = recorder_new(s->loop, &config);
    return s->recorder ? 0 : ERR_IO;
}

// Opens the raw socket and the sources, and starts the threads that read them.
static int open_media(struct serving *s, const struct options *o)
{
    int err = open_raw(s, o);
    return err ? err : open_catalog(s, o);
}

// Returns 0, or an error (logged).
static int open_server(struct serving *s, const struct options *o)
{
    const struct sockaddr *listen = (const struct sockaddr *)&o->listen;
    int err = access_options_open(&o->who, o->state_dir, s->loop, listen,
                                  (const struct sockaddr *)&o->metrics, &s->access);
    if (err)
        return err;
    s->outputs = stats_outputs_new(o->stats, &o->metrics, s->access, s->catalog, clock_now());
    if (!s->outputs)
        return ERR_IO;
    if (o->control &&
        (err = stats_outputs_control(s->outputs, s->loop, s->access, o->state_dir)) != 0)
        return err;
    stats_outputs_set_sources(s->outputs, on_source, s);
    struct server_tls_config tls = {.listen = &o->listen,
                                    .certificate = o->tls_cert,
                                    .key = o->tls_key,
                                    .state_dir = o->state_dir,
                                    .insecure = o->who.insecure};
    if ((err = server_tls_open(&tls, &s->credentials)) != 0)
        return err;
    struct server_config config = {.listen = o->listen,
                                   .program = send_option_table.program,
                                   .catalog = s->catalog,
                                   .max_viewers = o->max_viewers,
                                   .proxies = o->proxies,
                                   .srtp = o->srtp,
                                   .origins = o->origins,
                                   .telemetry = s->outputs,
                                   .credentials = s->credentials,
                                   .raw = s->raw,
                                   .access = s->access};
    s->server = server_new(s->loop, &config);
    return s->server ? 0 : ERR_IO;
}

struct serving *serving_new(const struct serving_config *config, int *err)
{
    const struct options *o = config->options;
    struct serving *s = calloc(1, sizeof(*s));
    *err = ERR_NO_MEMORY;
    if (!s) {
        log_error("out of memory");
        return NULL;
    }
    s->loop = config->loop;
    s->options = o;
    s->prints_keys = config->prints_keys;
    s->owns_process = config->owns_process;
    *err = open_media(s, o);
    if (*err == ERR_TIMED_OUT)
        return NULL; // the thread that opens the source may still use `s`
    if (!*err)
        *err = open_server(s, o);
    if (!*err)
        *err = start_push(s, o);
    if (!*err)
        *err = open_http(s, o);
    if (!*err)
        *err = start_recorder(s, o);
    if (!*err && !await_end(s, config))
        *err = ERR_NO_MEMORY;
    if (!*err)
        return s;
    serving_free(s);
    return NULL;
}

void serving_free(struct serving *s)
{
    if (!s)
        return;
    timer_free(s->over);
    if (s->catalog)
        s->catalog->ops->leave(s->catalog, &s->list_hold);
    close_server(s);
    tls_credentials_free(s->credentials);
    stats_outputs_free(s->outputs, clock_now());
    access_free(s->access);
    if (s->catalog)
        s->catalog->ops->free(s->catalog);
    stream_destroy(&s->stream);
    free(s);
}
