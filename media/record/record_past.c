// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/record_past.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "media/record/policy/record_name.h"
#include "media/record/policy/record_parse.h"

enum {
    FILES_MAX = 200000, // of the pattern, as record_writer.c has it
    HEAD = 16 * 1024,   // bytes of a file in which its tag is
    PEEK = 16 * 1024,   // bytes of a cluster in which its first frame begins
    WINDOW = 256 * 1024,
    NEAR = 1 << 20, // the bisection ends at so many bytes
};
#define NAME_SLACK                                                                                 \
    (60 * USEC_PER_SEC)            // a name further from its file's tag is of another
                                   // time zone
#define WRITTEN (5 * USEC_PER_SEC) // a file without end that grew since is being written

struct entry {
    char *name;   // owned
    usec_t from;  // the tag, in which time is UTC; else of the name
    bool has_tag; // it was read
};

struct record_past {
    char *pattern;      // owned
    struct entry *list; // owned; the recordings, the oldest first
    int count;
    int fd;           // -1: none
    struct entry now; // the open file
    usec_t wall;      // of its begin
    usec_t end;       // of the newest picture that was read of it: its audio may go on
    int64_t first;    // offset of its first cluster
    int64_t at;       // offset of the next cluster
    uint8_t *window;  // owned: WINDOW bytes
};

// ---- The folder

// Local time is no key: an hour comes twice a year, and a machine may move to another time zone.
// But the tag of each file costs a read of it, and folders have many. So the name counts where it
// says one time only and agrees with the tags of the oldest and the newest file.

// Reads the name's time. Returns false if the clocks showed it twice, or never.
static bool time_of(const struct record_time *t, usec_t *out)
{
    time_t times[2] = {0, 0};
    bool is_once = false;
    for (int summer = 0; summer < 2; summer++) {
        struct tm tm = {.tm_year = t->year - 1900,
                        .tm_mon = t->month - 1,
                        .tm_mday = t->day,
                        .tm_hour = t->hour,
                        .tm_min = t->minute,
                        .tm_sec = t->second,
                        .tm_isdst = summer};
        times[summer] = mktime(&tm);
        if (tm.tm_isdst == summer) {
            *out = (usec_t)times[summer] * USEC_PER_SEC;
            is_once = !is_once;
        }
    }
    if (!is_once)
        *out = (usec_t)times[0] * USEC_PER_SEC;
    return is_once;
}

// Files of one second: the first one has no number and so the shortest name.
static int compare(const struct entry *a, const struct entry *b)
{
    size_t x = strlen(a->name), y = strlen(b->name);
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return x != y ? (x < y ? -1 : 1) : strcmp(a->name, b->name);
}

static int in_order(const void *a, const void *b)
{
    return compare(a, b);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static void free_list(struct entry *list, int count)
{
    for (int i = 0; i < count; i++)
        free(list[i].name);
    free(list);
}

static size_t read_at(int fd, uint8_t *data, size_t len, int64_t at)
{
    size_t got = 0;
    while (got < len) {
        ssize_t n = pread(fd, data + got, len - got, at + (int64_t)got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    return got;
}

// Opens a recording's file. Returns -1 if it is none.
static int open_name(const struct record_past *p, const char *name)
{
    char folder[PATH_MAX], path[PATH_MAX + 256];
    struct stat st;
    if (record_name_folder(p->pattern, folder, sizeof(folder)) != 0)
        return -1;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

// Reads the file's tag, if that was not done. Returns false if its name is of another time.
static bool read_tag(const struct record_past *p, struct entry *e)
{
    struct record_head head;
    usec_t name = e->from;
    int fd = e->has_tag ? -1 : open_name(p, e->name);
    if (fd < 0)
        return true;
    size_t len = read_at(fd, p->window, HEAD, 0);
    close(fd);
    if (record_head_parse(p->window, len, &head) != 0 || head.wall <= 0)
        return true;
    e->from = head.wall;
    e->has_tag = true;
    return llabs(head.wall - name) <= NAME_SLACK;
}

// Adds a file to the list. Returns false if there is no memory.
static bool add_file(struct record_past *p, const char *name, int *room, bool *is_sure)
{
    struct record_time t;
    if (!record_name_time(p->pattern, name, &t))
        return true;
    if (p->count == *room) {
        *room = *room ? 2 * *room : 64;
        struct entry *more = realloc(p->list, (size_t)*room * sizeof(*more));
        if (!more)
            return false;
        p->list = more;
    }
    struct entry e = {.name = strdup(name)};
    if (!e.name)
        return false;
    *is_sure = time_of(&t, &e.from);
    p->list[p->count++] = e;
    return true;
}

// Lists the recordings, the oldest first. What is known of them stays.
static void list_files(struct record_past *p)
{
    char folder[PATH_MAX];
    struct entry *before = p->list;
    int known = p->count, room = 0;
    struct dirent *d;
    DIR *entries =
        record_name_folder(p->pattern, folder, sizeof(folder)) == 0 ? opendir(folder) : NULL;
    if (known)
        qsort(before, (size_t)known, sizeof(*before), by_name);
    p->list = NULL;
    p->count = 0;
    while (entries && (d = readdir(entries)) && p->count < FILES_MAX) {
        bool is_sure = true;
        int count = p->count;
        if (!add_file(p, d->d_name, &room, &is_sure))
            break;
        if (p->count == count)
            continue;
        struct entry *e = &p->list[count];
        const struct entry *same =
            known ? bsearch(e, before, (size_t)known, sizeof(*e), by_name) : NULL;
        if (same && same->has_tag) {
            e->from = same->from;
            e->has_tag = true;
        } else if (!is_sure) {
            (void)read_tag(p, e);
        }
    }
    if (entries)
        closedir(entries);
    free_list(before, known);
    if (!p->count)
        return;
    qsort(p->list, (size_t)p->count, sizeof(*p->list), in_order);
    bool agrees = read_tag(p, &p->list[0]);
    agrees &= read_tag(p, &p->list[p->count - 1]);
    for (int i = 0; !agrees && i < p->count; i++)
        (void)read_tag(p, &p->list[i]);
    if (!agrees)
        qsort(p->list, (size_t)p->count, sizeof(*p->list), in_order);
}

// ---- A file

static void close_file(struct record_past *p)
{
    if (p->fd >= 0)
        close(p->fd);
    free(p->now.name);
    p->now.name = NULL;
    p->fd = -1;
}

static int64_t size_of(const struct record_past *p)
{
    struct stat st;
    return fstat(p->fd, &st) == 0 ? st.st_size : 0;
}

// Opens a recording at its first cluster. Returns false if it is none.
static bool open_file(struct record_past *p, const struct entry *e)
{
    struct record_head head;
    close_file(p);
    p->fd = open_name(p, e->name);
    if (p->fd < 0)
        return false;
    size_t len = read_at(p->fd, p->window, WINDOW, 0);
    char *name = record_head_parse(p->window, len, &head) == 0 ? strdup(e->name) : NULL;
    if (!name) {
        close_file(p);
        return false;
    }
    p->now = (struct entry){name, head.wall > 0 ? head.wall : e->from, true};
    p->wall = p->end = head.wall;
    p->first = p->at = (int64_t)head.bytes;
    return true;
}

// Returns true if the file has grown in the last seconds.
static bool is_written(const struct record_past *p)
{
    struct stat st;
    usec_t now = clock_wall();
    return fstat(p->fd, &st) == 0 && llabs(now - (usec_t)st.st_mtime * USEC_PER_SEC) < WRITTEN;
}

// Reads the head of the cluster at `at`. Returns 0; ERR_AGAIN: the file ends within it;
// ERR_MALFORMED: there is none.
static int peek(const struct record_past *p, int64_t at, size_t bytes,
                struct record_cluster_head *c, bool *key)
{
    size_t len = read_at(p->fd, p->window, bytes, at);
    int err = record_cluster_parse(p->window, len, c);
    if (!err)
        *key = record_cluster_is_key(p->window, len, c);
    if (!err && at + (int64_t)c->bytes > size_of(p))
        return ERR_AGAIN;
    return err;
}

// Returns the offset of the first cluster from `from` on and before `end`, and its time; -1: none.
static int64_t next_cluster(const struct record_past *p, int64_t from, int64_t end, usec_t *time)
{
    while (from < end) {
        size_t len = read_at(p->fd, p->window, WINDOW, from);
        if (len <= 2 * RECORD_CLUSTER_HEAD)
            return -1;
        for (size_t at = 0;; at++) {
            struct record_cluster_head c;
            at = record_cluster_search(p->window, len - RECORD_CLUSTER_HEAD, at);
            if (at >= len - RECORD_CLUSTER_HEAD)
                break;
            if (from + (int64_t)at >= end)
                return -1;
            if (record_cluster_parse(p->window + at, len - at, &c) == 0 &&
                (p->window[at + c.head] == 0xA3 || p->window[at + c.head] == 0xA0)) {
                *time = c.time;
                return from + (int64_t)at;
            }
        }
        from += (int64_t)(len - RECORD_CLUSTER_HEAD) - 3;
    }
    return -1;
}

// Returns the offset of a cluster that is not after `time`, close to it.
static int64_t bisect(const struct record_past *p, usec_t time)
{
    int64_t low = p->first, high = size_of(p);
    while (high - low > NEAR) {
        usec_t then = 0;
        int64_t middle = low + (high - low) / 2;
        int64_t at = next_cluster(p, middle, high, &then);
        if (at < 0 || then > time)
            high = middle;
        else
            low = at;
    }
    return low;
}

// Goes to the newest key frame up to `time`; if there is none, to the first cluster.
static void seek_file(struct record_past *p, usec_t time)
{
    static const usec_t steps[] = {10 * USEC_PER_SEC, 60 * USEC_PER_SEC, 600 * USEC_PER_SEC};
    for (size_t i = 0; i <= sizeof(steps) / sizeof(*steps); i++) {
        bool last = i == sizeof(steps) / sizeof(*steps);
        int64_t at = last ? p->first : bisect(p, time - steps[i]), found = -1;
        struct record_cluster_head c;
        bool key;
        while (peek(p, at, PEEK, &c, &key) == 0 && c.time <= time) {
            found = key ? at : found;
            at += (int64_t)c.bytes;
        }
        p->at = found >= 0 ? found : p->first;
        if (found >= 0 || time < steps[last ? 0 : i])
            return;
    }
}

// ---- Groups

void record_group_free(struct record_group *g)
{
    if (!g)
        return;
    free(g->bytes);
    free(g->items);
    free(g);
}

// Turns the lengths before NAL units into start codes. Returns false if the lengths are wrong.
static bool to_start_codes(uint8_t *data, size_t len)
{
    static const uint8_t start[] = {0, 0, 0, 1};
    for (size_t at = 0; at < len;) {
        if (len - at < 4)
            return false;
        size_t bytes = (size_t)data[at] << 24 | (size_t)data[at + 1] << 16 |
                       (size_t)data[at + 2] << 8 | data[at + 3];
        if (bytes == 0 || bytes > len - at - 4)
            return false;
        memcpy(data + at, start, sizeof(start));
        at += 4 + bytes;
    }
    return len > 0;
}

// Adds the blocks of the cluster that the group's bytes end with, from `at` on.
static int add_items(struct record_past *p, struct record_group *g, size_t at, size_t len,
                     const struct record_cluster_head *c)
{
    const uint8_t *cluster = g->bytes + at;
    struct record_block b;
    size_t next = c->head;
    int got, room = g->count;
    while ((got = record_block_next(cluster, len, &next, &b)) == 1) {
        if (b.track != RECORD_VIDEO_TRACK && b.track != RECORD_AUDIO_TRACK)
            continue;
        uint8_t *data = g->bytes + (b.data - g->bytes);
        bool is_audio = b.track == RECORD_AUDIO_TRACK;
        if (!is_audio && !to_start_codes(data, b.len))
            continue;
        if (g->count == room) {
            room = room ? 2 * room : 256;
            struct record_past_item *more = realloc(g->items, (size_t)room * sizeof(*more));
            if (!more)
                return ERR_NO_MEMORY;
            g->items = more;
        }
        if (!is_audio)
            p->end = usec_max(p->end, p->wall + c->time + b.time);
        // Offsets for now: the bytes may move.
        g->items[g->count++] =
            (struct record_past_item){.is_audio = is_audio,
                                      .key = b.key,
                                      .wall = p->wall + c->time + b.time,
                                      .data = (uint8_t *)(uintptr_t)(data - g->bytes),
                                      .len = b.len};
    }
    return got < 0 ? ERR_MALFORMED : 0;
}

// Reads clusters of this file up to the next key frame. Returns 0 or ERR_AGAIN: there is none yet;
// ERR_MALFORMED: the file has ended.
static int read_file(struct record_past *p, struct record_group *g)
{
    size_t used = 0;
    for (int clusters = 0;; clusters++) {
        struct record_cluster_head c;
        bool key;
        int err = peek(p, p->at, PEEK, &c, &key);
        bool is_full = used + (err ? 0 : c.bytes) > RECORD_PAST_GROUP_MAX;
        if (clusters && (err || key || is_full))
            return 0;
        if (err || is_full)
            return err ? err : ERR_MALFORMED;
        uint8_t *more = realloc(g->bytes, used + c.bytes);
        if (!more)
            return ERR_NO_MEMORY;
        g->bytes = more;
        if (read_at(p->fd, g->bytes + used, c.bytes, p->at) < c.bytes)
            return clusters ? 0 : ERR_AGAIN;
        p->at += (int64_t)c.bytes;
        err = add_items(p, g, used, c.bytes, &c);
        if (err == ERR_NO_MEMORY)
            return err;
        used += c.bytes;
    }
}

// Opens the file that follows the open one. After a clock that was set back files overlap: one that
// begins before the end of this one is left out, so that no time is played twice. Returns false if
// there is none; then this one stays open.
static bool open_next(struct record_past *p)
{
    struct record_past before = *p;
    p->fd = -1;
    p->now.name = NULL;
    for (int i = 0; i < p->count; i++) {
        struct entry *e = &p->list[i];
        if (e->from + USEC_PER_SEC >= before.now.from) // a name has no more than the second
            (void)read_tag(p, e);
        if (compare(e, &before.now) <= 0 || e->from < before.end || !open_file(p, e))
            continue;
        close_file(&before);
        return true;
    }
    close_file(p);
    before.list = p->list;
    before.count = p->count;
    *p = before;
    return false;
}

static bool is_newest(const struct record_past *p)
{
    return p->count == 0 || compare(&p->list[p->count - 1], &p->now) <= 0;
}

// Reads what follows, in this file or the next one.
static int read_next(struct record_past *p, struct record_group *g)
{
    int err = read_file(p, g);
    if (err != ERR_AGAIN && err != ERR_MALFORMED)
        return err;
    list_files(p);
    // Its last cluster may have come before the next file did.
    err = is_newest(p) ? ERR_AGAIN : read_file(p, g);
    bool has_ended = err == ERR_MALFORMED || (err == ERR_AGAIN && !is_written(p));
    if (has_ended && open_next(p))
        err = read_file(p, g);
    return err == ERR_MALFORMED ? ERR_AGAIN : err;
}

int record_past_read(struct record_past *p, struct record_group **out)
{
    if (p->fd < 0)
        return ERR_NOT_FOUND;
    struct record_group *g = calloc(1, sizeof(*g));
    int err = g ? read_next(p, g) : ERR_NO_MEMORY;
    if (err) {
        record_group_free(g);
        return err;
    }
    for (int i = 0; i < g->count; i++)
        g->items[i].data = g->bytes + (uintptr_t)g->items[i].data;
    *out = g;
    return 0;
}

int record_past_find(struct record_past *p, usec_t wall)
{
    list_files(p);
    int i = p->count - 1;
    bool found = false;
    while (i > 0 && p->list[i].from > wall)
        i--;
    // A name says when a file was begun, to the second.
    for (; i >= 0 && !found; i--)
        found = open_file(p, &p->list[i]) && p->wall <= wall;
    for (i = 0; i < p->count && !found; i++)
        found = open_file(p, &p->list[i]);
    if (!found)
        return ERR_NOT_FOUND;
    seek_file(p, wall - p->wall);
    return 0;
}

usec_t record_past_file(const struct record_past *p)
{
    return p->wall;
}

// ---- What was recorded

// Returns when the open file ends: the time of its last cluster, of which each has 0.3 s.
static usec_t end_of_file(const struct record_past *p)
{
    int64_t at = bisect(p, INT64_MAX);
    struct record_cluster_head c;
    bool key;
    usec_t last = 0;
    while (peek(p, at, PEEK, &c, &key) == 0) {
        last = c.time;
        at += (int64_t)c.bytes;
    }
    return p->wall + last;
}

int record_past_spans(struct record_past *p, usec_t from, usec_t to, usec_t apart,
                      record_span_fn *each, void *ctx)
{
    usec_t begin = 0, end = 0; // of the span; the same: none
    list_files(p);
    for (int i = 0; i < p->count && p->list[i].from < to; i++) {
        const struct entry *e = &p->list[i];
        bool is_last = i + 1 == p->count;
        usec_t next = is_last ? to : p->list[i + 1].from;
        usec_t first = e->from, last = next;
        if (next <= from)
            continue;
        if (is_last || next - e->from >= apart) {
            if (!open_file(p, e))
                continue;
            first = p->now.from;
            last = end_of_file(p);
            if (!is_last) {
                (void)read_tag(p, &p->list[i + 1]); // a name has no more than the second
                next = p->list[i + 1].from;
            }
            if (!is_last && next - last <= RECORD_SPAN_GAP) // the clocks overlap, or nearly meet
                last = next;
        }
        first = usec_max(first, from);
        last = usec_min(last, to);
        if (last <= first)
            continue;
        if (end > begin && first - end > RECORD_SPAN_GAP) {
            if (!each(ctx, begin, end))
                return ERR_END;
            begin = first;
        }
        begin = end > begin ? begin : first;
        end = usec_max(end, last);
    }
    return end <= begin || each(ctx, begin, end) ? 0 : ERR_END;
}

struct record_past *record_past_new(const char *pattern)
{
    struct record_past *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->fd = -1;
    p->pattern = strdup(pattern);
    p->window = malloc(WINDOW);
    if (p->pattern && p->window)
        return p;
    record_past_free(p);
    return NULL;
}

void record_past_free(struct record_past *p)
{
    if (!p)
        return;
    close_file(p);
    free_list(p->list, p->count);
    free(p->pattern);
    free(p->window);
    free(p);
}
