// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/record_writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/event.h"
#include "common/base/log.h"
#include "common/net/abandonable_thread.h"
#include "common/net/clock.h"
#include "common/net/worker_queue.h"
#include "media/record/policy/record_cluster.h"
#include "media/record/policy/record_name.h"
#include "media/record/record_file.h"

enum { FILES_MAX = 200000 }; // of the pattern

struct record_writer {
    struct record_writer_config config; // its strings are owned
    struct worker_queue *queue;         // owned
    struct abandonable_thread *thread;  // owned by the caller's thread
    atomic_size_t waiting;              // bytes in the queue
    atomic_llong key_from; // when a key frame may begin a file; USEC_NEVER: one does already
    atomic_bool failed;    // something was not written
    // The thread's
    struct record_file *file; // owned; NULL: none
    bool is_announced;        // the file's name was logged
    struct record_cluster cluster;
    struct record_packet *held[RECORD_CLUSTER_PACKETS]; // owned: of the cluster
    usec_t failing_since;                               // 0: it writes
    usec_t retry;                                       // when a file may begin
    usec_t kept;                                        // when old files were last deleted
};

// ---- Old files

static void add_file(struct recorded_file **list, int *count, int *room, const char *name,
                     const struct stat *st)
{
    if (*count == *room) {
        int more = *room ? 2 * *room : 64;
        struct recorded_file *grown =
            more <= FILES_MAX ? realloc(*list, (size_t)more * sizeof(**list)) : NULL;
        if (!grown)
            return;
        *list = grown;
        *room = more;
    }
    char *copy = strdup(name);
    if (copy)
        (*list)[(*count)++] = (struct recorded_file){
            .name = copy,
            .changed = (usec_t)st->st_mtim.tv_sec * USEC_PER_SEC + st->st_mtim.tv_nsec / 1000,
            .bytes = st->st_size};
}

static const char *open_name(const struct record_writer *w)
{
    const char *path = w->file ? record_file_path(w->file) : "";
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void delete_files(const struct record_writer *w, int folder, DIR *entries)
{
    struct recorded_file *list = NULL;
    int count = 0, room = 0;
    struct dirent *entry;
    while ((entry = readdir(entries))) {
        struct stat st;
        if (record_name_matches(w->config.pattern, entry->d_name) &&
            strcmp(entry->d_name, open_name(w)) != 0 &&
            fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
            add_file(&list, &count, &room, entry->d_name, &st);
    }
    int64_t open = w->file ? record_file_bytes(w->file) : 0;
    int gone = record_keep_choose(&w->config.keep, list, count, open, clock_wall());
    for (int i = 0; i < count; i++) {
        if (i < gone && unlinkat(folder, list[i].name, 0) == 0)
            log_info("deleted the recording %s: --record-keep", list[i].name);
        free(list[i].name);
    }
    free(list);
}

static void keep(struct record_writer *w, usec_t now)
{
    char path[PATH_MAX];
    w->kept = now;
    if (!record_keep_has_limit(&w->config.keep) ||
        record_name_folder(w->config.pattern, path, sizeof(path)) != 0)
        return;
    DIR *entries = opendir(path);
    if (!entries)
        return;
    delete_files(w, dirfd(entries), entries);
    closedir(entries);
}

// ---- Files

static void drop_cluster(struct record_writer *w)
{
    for (int i = 0; i < w->cluster.packets; i++)
        free(w->held[i]);
    w->cluster = (struct record_cluster){0};
}

static void fail(struct record_writer *w, const char *reason, usec_t now)
{
    const char *path =
        w->file && *record_file_path(w->file) ? record_file_path(w->file) : w->config.pattern;
    if (!w->failing_since)
        log_error("cannot record to %s: %s (nothing is recorded; tried again every %d s)", path,
                  reason, (int)(RECORD_WRITER_RETRY / USEC_PER_SEC));
    w->failing_since = w->failing_since ? w->failing_since : now;
    atomic_store(&w->failed, true);
    drop_cluster(w);
    record_file_free(w->file);
    w->file = NULL;
    w->retry = now + RECORD_WRITER_RETRY;
    atomic_store(&w->key_from, w->retry);
    keep(w, now);
}

static int in_order(const void *a, const void *b)
{
    const struct record_packet *x = *(struct record_packet *const *)a,
                               *y = *(struct record_packet *const *)b;
    if (x->decode != y->decode)
        return x->decode < y->decode ? -1 : 1;
    return (int)x->is_audio - (int)y->is_audio;
}

static void announce(struct record_writer *w, usec_t now)
{
    const char *path = record_file_path(w->file);
    w->is_announced = true;
    if (w->failing_since)
        log_info("recording again, after %.0f s: %s", usec_to_sec(now - w->failing_since), path);
    else
        log_info("recording to %s", path);
    w->failing_since = 0;
    keep(w, now);
}

static void write_cluster(struct record_writer *w)
{
    usec_t now = clock_now();
    if (!w->cluster.packets)
        return;
    qsort(w->held, (size_t)w->cluster.packets, sizeof(*w->held), in_order);
    if (record_file_write(w->file, w->held, w->cluster.packets, now) != 0) {
        fail(w, record_file_fault(w->file), now);
        return;
    }
    drop_cluster(w);
    if (!w->is_announced)
        announce(w, now);
}

static void end_file(struct record_writer *w)
{
    if (!w->file)
        return;
    write_cluster(w);
    if (w->file && record_file_finish(w->file) != 0)
        fail(w, record_file_fault(w->file), clock_now());
    else if (w->file)
        event_note(EVENT_RECORDING_CLOSED, record_file_path(w->file), "");
    record_file_free(w->file);
    w->file = NULL;
}

static void begin_file(struct record_writer *w, const struct record_packet *key)
{
    struct record_file_config config = {.pattern = w->config.pattern, .title = w->config.title};
    int err = record_file_new(&config, key, &w->file);
    w->is_announced = false;
    if (err) {
        w->file = NULL;
        fail(w, err == ERR_MALFORMED ? "the key frame has no parameter sets" : "out of memory",
             clock_now());
    }
}

// ---- The thread

static void take(struct record_writer *w, struct record_packet *p)
{
    atomic_fetch_sub(&w->waiting, p->bytes);
    usec_t now = clock_now();
    bool is_key = !p->is_audio && p->key;
    if (p->ends || (p->begins && w->file))
        end_file(w);
    if (is_key && !w->file && now >= w->retry)
        begin_file(w, p);
    else if (is_key && !w->file)
        atomic_store(&w->key_from, w->retry);
    if (w->file && record_cluster_ends_before(&w->cluster, p->decode, is_key))
        write_cluster(w);
    if (!w->file || p->ends) { // writing may just have failed
        free(p);
        return;
    }
    w->held[w->cluster.packets] = p;
    record_cluster_add(&w->cluster, p->decode, p->bytes, now);
}

static void run(void *arg)
{
    struct record_writer *w = arg;
    while (!worker_queue_is_over(w->queue)) {
        usec_t due =
            usec_min(record_cluster_next_timeout(&w->cluster), w->kept + RECORD_WRITER_KEEP);
        struct record_packet *p = worker_queue_pop(w->queue, due);
        if (p)
            take(w, p);
        usec_t now = clock_now();
        if (record_cluster_is_due(&w->cluster, now))
            write_cluster(w);
        if (now - w->kept >= RECORD_WRITER_KEEP)
            keep(w, now);
    }
    end_file(w);
}

static void destroy(void *arg)
{
    struct record_writer *w = arg;
    drop_cluster(w);
    record_file_free(w->file);
    if (w->queue)
        worker_queue_free(w->queue);
    free((char *)(uintptr_t)w->config.pattern);
    free((char *)(uintptr_t)w->config.title);
    free(w);
}

// ---- The caller's thread

struct record_writer *record_writer_new(const struct record_writer_config *config)
{
    struct record_writer *w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    w->config = *config;
    w->config.pattern = strdup(config->pattern);
    w->config.title = config->title ? strdup(config->title) : NULL;
    w->queue = worker_queue_new(RECORD_WRITER_PACKETS, free);
    w->kept = clock_now() - RECORD_WRITER_KEEP; // old files go even if nothing can be recorded
    if (w->config.pattern && (w->config.title || !config->title) && w->queue)
        w->thread = abandonable_thread_new(run, w);
    if (w->thread)
        return w;
    destroy(w);
    return NULL;
}

bool record_writer_push(struct record_writer *w, struct record_packet *p)
{
    size_t bytes = p->bytes;
    bool is_key = !p->is_audio && p->key;
    if (atomic_load(&w->waiting) + bytes > RECORD_WRITER_BYTES)
        return false;
    atomic_fetch_add(&w->waiting, bytes);
    long long from = atomic_load(&w->key_from);
    bool begins = is_key && from != USEC_NEVER && clock_now() >= from &&
                  atomic_compare_exchange_strong(&w->key_from, &from, USEC_NEVER);
    if (worker_queue_push(w->queue, p))
        return true;
    if (begins)
        atomic_store(&w->key_from, from);
    atomic_fetch_sub(&w->waiting, bytes);
    return false;
}

bool record_writer_needs_key(const struct record_writer *w, usec_t now)
{
    long long from = atomic_load(&w->key_from);
    return from != USEC_NEVER && now >= from;
}

int record_writer_end(struct record_writer *w, usec_t patience)
{
    worker_queue_close(w->queue);
    if (!abandonable_thread_end(w->thread, patience, destroy)) {
        log_error("the disk does not respond: the end of the recording is not written");
        return ERR_IO;
    }
    int err = atomic_load(&w->failed) ? ERR_IO : 0;
    destroy(w);
    return err;
}
