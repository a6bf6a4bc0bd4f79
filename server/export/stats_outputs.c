// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/export/stats_outputs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/level.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "server/access/access.h"
#include "server/export/control_gate.h"
#include "server/export/process_stats.h"
#include "server/export/stats_file.h"
#include "server/export/stats_http.h"
#include "server/export/stats_json.h"

struct stats_outputs {
    struct catalog *catalog;    // borrowed
    struct stats_file *file;    // owned; NULL: none
    struct stats_http *metrics; // owned; NULL: none
    usec_t begun;
    struct catalog_hold list_hold; // waits for the films' list
    char *films;                   // owned; the last list; NULL: none yet
    struct control_gate *gate;     // owned; NULL: no control interface
    struct access *keys;           // owned; of the control interface alone; NULL: none
    struct access *access;         // borrowed: that, or the server's; NULL: no control interface
    stats_outputs_session_fn *serve_session;
    void *session_ctx; // borrowed
    stats_outputs_source_fn *serve_source;
    void *source_ctx; // borrowed
    struct stats stats;
};

static void keep_films(struct stats_outputs *t, const char *list)
{
    char *copy = strdup(list);
    if (!copy)
        return;
    free(t->films);
    t->films = copy;
    stats_http_publish_films(t->metrics, list);
}

// Called again when the catalog has made the list.
static void list_films(void *ctx, usec_t now)
{
    struct stats_outputs *t = ctx;
    int count;
    (void)now;
    if (!t->catalog->ops->list) {
        char line[PATH_MAX];
        if (t->catalog->where && snprintf(line, sizeof(line), "%s\t?\t?", t->catalog->where) > 0)
            keep_films(t, line);
        return;
    }
    char *list = malloc(CATALOG_LIST_BYTES);
    if (list &&
        t->catalog->ops->list(t->catalog, &t->list_hold, list, CATALOG_LIST_BYTES, &count) == 0)
        keep_films(t, list);
    free(list);
}

// ---- Control

static void add_session(void *ctx, const struct stats *f, const struct session_stats *s)
{
    json_array_append_new(ctx, stats_control_session_json(f, s));
}

static int answer_with(json_t *o, char **json)
{
    *json = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(o);
    return *json ? 0 : ERR_NO_MEMORY;
}

// For a caller that needs the streams, or the sessions that have a number: both are in `t->stats`.
static void ignore_session(void *ctx, const struct stats *f, const struct session_stats *s)
{
    (void)ctx, (void)f, (void)s;
}

static int list_sources(struct stats_outputs *t, char **json, usec_t now)
{
    if (!t->list_hold.listing)
        list_films(t, now);
    if (!t->films)
        return ERR_AGAIN;
    t->catalog->ops->stats(t->catalog, &t->stats, ignore_session, NULL, now);
    return answer_with(stats_control_sources_json(t->films, &t->stats), json);
}

static int set_highest(struct stats_outputs *t, const struct control_request *r, usec_t now)
{
    if (!t->catalog->ops->set_highest)
        return ERR_UNSUPPORTED;
    int none = LADDER_MAX_LEVELS - 1;
    int level = r->level == CONTROL_NO_LEVEL ? none : r->level;
    if (level == none && r->level != CONTROL_NO_LEVEL)
        return ERR_RANGE;
    int err = t->catalog->ops->set_highest(t->catalog, r->path, level, now);
    if (err)
        return err;
    if (level == none)
        log_info("the operator ended the limit of %s", r->path);
    else
        log_info("the operator limited the viewers of %s to level %d", r->path, level);
    return 0;
}

// The sessions of a path, of before a reload, too.
struct watchers {
    const char *path;
    int count, room;
    char (*ids)[CONTROL_SESSION_MAX]; // owned
};

static void note_watcher(void *ctx, const struct stats *f, const struct session_stats *s)
{
    struct watchers *w = ctx;
    (void)f;
    size_t len = strlen(w->path);
    if (strncmp(s->path, w->path, len) != 0 || (s->path[len] && s->path[len] != '?'))
        return;
    if (w->count == w->room) {
        int room = w->room ? 2 * w->room : 64;
        void *longer = realloc(w->ids, (size_t)room * sizeof(*w->ids));
        if (!longer)
            return; // it ends with the stream
        w->ids = longer;
        w->room = room;
    }
    snprintf(w->ids[w->count++], CONTROL_SESSION_MAX, "%s", s->id);
}

// The sessions end after the source is gone, so that none finds it again.
static int remove_source(struct stats_outputs *t, const struct control_request *r, char **why,
                         usec_t now)
{
    struct watchers w = {.path = r->path};
    t->catalog->ops->stats(t->catalog, &t->stats, note_watcher, &w, now);
    int err = t->serve_source(t->source_ctx, r, why, now);
    for (int i = 0; i < w.count && !err && t->serve_session; i++) {
        struct control_request end = {.task = CONTROL_END_SESSION,
                                      .why = "the operator has removed the source"};
        snprintf(end.session, sizeof(end.session), "%s", w.ids[i]);
        (void)t->serve_session(t->session_ctx, &end, now);
    }
    free(w.ids);
    return err;
}

// No key leaves in the log.
static int invite(const struct stats_outputs *t, const struct control_request *r, char **json)
{
    char key[ACCESS_KEY_TEXT];
    const char *right = r->publish ? "publish" : "watch";
    int err = access_invite(t->access, r->path, r->publish ? ACCESS_PUBLISH : ACCESS_WATCH,
                            r->seconds, key);
    if (err)
        return err;
    log_info("the operator made a key to %s %s", right, r->path);
    int64_t expires = clock_wall() / USEC_PER_SEC + r->seconds;
    err = answer_with(json_pack("{ss ss ss sI}", "path", r->path, "right", right, "key", key,
                                "expires", (json_int_t)expires),
                      json);
    return err ? err : CONTROL_CREATED;
}

static int on_control(void *ctx, const struct control_request *r, char **json, usec_t now)
{
    struct stats_outputs *t = ctx;
    json_t *o;
    switch (r->task) {
    case CONTROL_LIST_SESSIONS:
        o = json_array();
        t->catalog->ops->stats(t->catalog, &t->stats, add_session, o, now);
        return answer_with(json_pack("{so}", "sessions", o), json);
    case CONTROL_LIST_SOURCES:
        return list_sources(t, json, now);
    case CONTROL_SET_SOURCE_LEVEL:
        return set_highest(t, r, now);
    case CONTROL_SET_SOURCE:
    case CONTROL_RECORD_SOURCE:
        return t->serve_source ? t->serve_source(t->source_ctx, r, json, now) : ERR_UNSUPPORTED;
    case CONTROL_REMOVE_SOURCE:
        return t->serve_source ? remove_source(t, r, json, now) : ERR_UNSUPPORTED;
    case CONTROL_INVITE:
        return invite(t, r, json);
    case CONTROL_DESCRIBE: // needs no loop
    case CONTROL_END_SESSION:
    case CONTROL_SET_LEVEL:
        break;
    }
    struct control_request of = *r;
    of.why = "the session was ended by the operator of the server";
    return t->serve_session ? t->serve_session(t->session_ctx, &of, now) : ERR_CLOSED;
}

int stats_outputs_control(struct stats_outputs *t, uv_loop_t *loop, struct access *access,
                          const char *state_dir)
{
    struct access_config config = {.loop = loop, .state_dir = state_dir};
    if (!access && !(t->keys = access_new(&config)))
        return ERR_IO;
    t->gate = control_gate_new(loop, on_control, t);
    if (!t->gate)
        return ERR_NO_MEMORY;
    t->access = access ? access : t->keys;
    stats_http_control(t->metrics, t->gate, t->access);
    list_films(t, clock_now());
    return 0;
}

void stats_outputs_set_sources(struct stats_outputs *t, stats_outputs_source_fn *fn, void *ctx)
{
    t->serve_source = fn;
    t->source_ctx = ctx;
}

void stats_outputs_attach(struct stats_outputs *t, stats_outputs_session_fn *fn, void *ctx)
{
    t->serve_session = fn;
    t->session_ctx = ctx;
}

// ---- Stats

static void on_session(void *ctx, const struct stats *f, const struct session_stats *s)
{
    struct stats_outputs *t = ctx;
    if (t->file)
        stats_file_write(t->file, f, s);
}

char *stats_outputs_status(struct stats_outputs *t, usec_t now)
{
    struct process_stats process;
    char *json;
    t->stats.wall = clock_wall();
    t->stats.age = now - t->begun;
    t->catalog->ops->stats(t->catalog, &t->stats, ignore_session, NULL, now);
    process_stats_read(&process);
    return answer_with(stats_status_json(&t->stats, &process), &json) == 0 ? json : NULL;
}

void stats_outputs_collect(struct stats_outputs *t, usec_t now)
{
    if (!t->file && !t->metrics)
        return;
    t->stats.wall = clock_wall();
    t->stats.age = now - t->begun;
    t->catalog->ops->stats(t->catalog, &t->stats, on_session, t, now);
    if (t->file && t->stats.http.is_used)
        stats_file_write_http(t->file, &t->stats);
    if (!t->metrics)
        return;
    stats_http_publish(t->metrics, &t->stats);
    if (stats_http_wants_films(t->metrics) && !t->list_hold.listing)
        list_films(t, now);
}

void stats_outputs_locate(struct stats_outputs *t, const struct stats_place *at)
{
    t->stats.place = *at;
}

struct stats_outputs *stats_outputs_new(const char *file, const struct sockaddr_storage *metrics,
                                        struct access *access, struct catalog *catalog, usec_t now)
{
    struct stats_outputs *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->catalog = catalog;
    t->begun = now;
    t->list_hold = (struct catalog_hold){.on_ready = list_films, .ctx = t};
    t->stats.version = WEIR_VERSION;
    t->stats.begun_wall = clock_wall();
    if (file && !(t->file = stats_file_open(file)))
        goto free_outputs;
    if (metrics->ss_family != AF_UNSPEC) {
        t->metrics = stats_http_new((const struct sockaddr *)metrics, access);
        if (!t->metrics)
            goto close_stats;
    }
    stats_outputs_collect(t, now);
    return t;

close_stats:
    stats_file_close(t->file);
free_outputs:
    free(t);
    return NULL;
}

void stats_outputs_free(struct stats_outputs *t, usec_t now)
{
    if (!t)
        return;
    t->catalog->ops->leave(t->catalog, &t->list_hold);
    if (t->gate)
        control_gate_close(t->gate); // else its thread, which is joined next, might wait for it
    stats_http_free(t->metrics);
    control_gate_free(t->gate);
    access_free(t->keys);
    free(t->films);
    if (t->file)
        stats_file_end(t->file, now - t->begun);
    stats_file_close(t->file);
    free(t);
}
