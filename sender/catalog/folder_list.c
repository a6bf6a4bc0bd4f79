// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/catalog/folder_list.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "common/program/file_below.h"
#include "common/wire/request_path.h"
#include "media/source/source.h"
#include "media/stored/stored_file.h"
#include "sender/catalog/film_mark.h"

enum {
    MAX_DEPTH = 8,
    MAX_TRIES = 3, // attempts for a file that is slow to open, as the machine may have been busy
};

struct seen_file { // what is known about a file since it was last opened
    struct seen_file *next;
    char path[REQUEST_PATH_MAX];
    struct film_mark mark;
    bool is_there; // existed when the last list was made
    bool is_media;
    bool is_slow; // opening took too long: only the name is known
    int tries;    // attempts to open this state of the file
    double duration;
    char sizes[64];
};

struct folder_list {
    char root[PATH_MAX];    // a real path
    struct seen_file *seen; // owned
    bool behind;            // the last list had no time for all files
};

struct listing {
    struct folder_list *list;
    char *out;
    size_t cap;
    size_t used;
    int count;
    usec_t until;
    usec_t each;
    struct media_guard *guard; // borrowed
    bool was_behind;
};

struct folder_list *folder_list_new(const char *root)
{
    struct folder_list *l = calloc(1, sizeof(*l));
    if (l)
        snprintf(l->root, sizeof(l->root), "%s", root);
    return l;
}

void folder_list_free(struct folder_list *l)
{
    if (!l)
        return;
    for (struct seen_file *f = l->seen, *next; f; f = next) {
        next = f->next;
        free(f);
    }
    free(l);
}

bool folder_real_file(const char *root, const char *path, char real[PATH_MAX], struct stat *st)
{
    char name[PATH_MAX];
    return snprintf(name, sizeof(name), "%s/%s", root, path) < (int)sizeof(name) &&
           file_below_find(root, name, real, st);
}

// Returns the prepared file of `f`, or `f` itself if it is one. Returns NULL if there is none, or
// if the file has changed since it was prepared.
static struct stored_file *open_ladder(const struct seen_file *f, const char *real,
                                       struct media_guard *guard)
{
    int err;
    char beside[PATH_MAX + sizeof(STORED_SUFFIX)];
    if (stored_file_is(real))
        return stored_file_open(real, guard, &err);
    snprintf(beside, sizeof(beside), "%s" STORED_SUFFIX, real);
    struct stored_file *ladder = f->mark.prepared_ns ? stored_file_open(beside, guard, &err) : NULL;
    if (!ladder || stored_origin_is_of(&stored_file_info(ladder)->origin, f->mark.bytes,
                                       f->mark.changed_ns / 1000000000))
        return ladder;
    stored_file_free(ladder);
    return NULL;
}

static void look_into(struct seen_file *f, const char *real, struct media_guard *guard)
{
    int err;
    struct stored_file *ladder = open_ladder(f, real, guard);
    if (ladder) {
        const struct ladder *l = &stored_file_info(ladder)->sdp.ladder;
        f->duration = stored_file_info(ladder)->sdp.duration;
        for (int i = l->size_count - 1, used = 0; i >= 0 && used < (int)sizeof(f->sizes); i--)
            if (!ladder_size_repeats(l, i))
                used += snprintf(f->sizes + used, sizeof(f->sizes) - (size_t)used, "%s%dx%d",
                                 used ? "," : "", l->sizes[i].width, l->sizes[i].height);
        f->is_media = true;
        stored_file_free(ladder);
        return;
    }
    struct source *source = source_file_glance(real, guard, &err);
    f->is_slow = !source && err == ERR_TIMED_OUT;
    f->is_media = f->is_slow;
    if (!source)
        return;
    f->is_media = true;
    f->duration = source->duration;
    snprintf(f->sizes, sizeof(f->sizes), "%dx%d", source->width, source->height);
    source_free(source);
}

// Returns what is known about a file; opens it if it is new or changed. Returns NULL if there is no
// time left to open it.
static const struct seen_file *look(struct listing *l, const char *path, const char *real,
                                    const struct stat *st)
{
    struct seen_file *f = l->list->seen;
    while (f && strcmp(f->path, path) != 0)
        f = f->next;
    if (f)
        f->is_there = true;
    struct film_mark mark = film_mark_of(real, st, l->guard);
    bool same = f && film_mark_is_same(&f->mark, &mark);
    if (same && (!f->is_slow || f->tries == MAX_TRIES || l->was_behind))
        return f;
    usec_t now = clock_now();
    if (now >= l->until || media_guard_check(l->guard) == ERR_CLOSED) {
        l->list->behind = true;
        return NULL;
    }
    if (!f) {
        if (!(f = calloc(1, sizeof(*f))))
            return NULL;
        f->next = l->list->seen;
        l->list->seen = f;
    }
    struct seen_file *next = f->next;
    int tries = same ? f->tries + 1 : 1;
    *f = (struct seen_file){.next = next, .mark = mark, .tries = tries, .is_there = true};
    snprintf(f->path, sizeof(f->path), "%s", path);
    media_guard_until(l->guard, now + l->each);
    look_into(f, real, l->guard);
    return f;
}

// Adds a line. Returns false if the list is full.
static bool list_film(void *ctx, const char *path, const char *real, const struct stat *st)
{
    struct listing *l = ctx;
    char encoded[REQUEST_URL_PATH_MAX];
    char line[REQUEST_URL_PATH_MAX + 128];
    if (request_path_encode(path, encoded, sizeof(encoded)) < 0) // no viewer can request it
        return true;
    const struct seen_file *f = look(l, path, real, st);
    if (f && !f->is_media)
        return true;
    int len = f && !f->is_slow
                  ? snprintf(line, sizeof(line), "%s\t%.1f\t%s\r\n", encoded, f->duration, f->sizes)
                  : snprintf(line, sizeof(line), "%s\t?\t?\r\n", encoded);
    if (len < 0 || l->used + (size_t)len >= l->cap)
        return true;
    memcpy(l->out + l->used, line, (size_t)len + 1);
    l->used += (size_t)len;
    return ++l->count < FOLDER_LIST_MAX;
}

// Returns true if the name is a video's. Other files are never opened.
static bool is_film(const char *path)
{
    static const char *const endings[] = {"3gp", "avi", "flv",  "h264", "m2ts", "m4v",
                                          "mkv", "mov", "mp4",  "mpeg", "mpg",  "mts",
                                          "ogv", "ts",  "webm", "wmv",  "y4m"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof(endings) / sizeof(*endings); i++)
        if (strcasecmp(dot + 1, endings[i]) == 0)
            return true;
    return false;
}

// Returns false for a prepared file whose original is in the folder too.
static bool is_listed(const char *root, const char *path)
{
    char original[REQUEST_PATH_MAX];
    char real[PATH_MAX];
    struct stat st;
    if (!stored_file_is(path))
        return true;
    snprintf(original, sizeof(original), "%.*s", (int)(strlen(path) - strlen(STORED_SUFFIX)), path);
    return !folder_real_file(root, original, real, &st);
}

struct walk {
    const char *root;
    folder_list_film *fn;
    void *ctx;
    bool ended; // by `fn`
};

static void walk_folder(struct walk *w, const char *folder, int depth)
{
    char name[PATH_MAX];
    struct dirent **entries;
    if (snprintf(name, sizeof(name), "%s/%s", w->root, folder) >= (int)sizeof(name))
        return;
    int count = scandir(name, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[REQUEST_PATH_MAX];
        char real[PATH_MAX];
        struct stat st;
        int len =
            snprintf(path, sizeof(path), "%s%s%s", folder, *folder ? "/" : "", entries[i]->d_name);
        // Most files of a folder may not be videos: skip them before the system calls below.
        bool other = entries[i]->d_type == DT_REG && len < (int)sizeof(path) && !is_film(path);
        bool there = entries[i]->d_name[0] != '.' && len < (int)sizeof(path) && !other &&
                     !w->ended && folder_real_file(w->root, path, real, &st);
        free(entries[i]);
        if (!there)
            continue;
        size_t part = strlen(path);
        bool parts = part > 10 && strcmp(path + part - 10, ".weir.part") == 0;
        if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH && !parts)
            walk_folder(w, path, depth + 1);
        else if (S_ISREG(st.st_mode) && is_film(path) && is_listed(w->root, path))
            w->ended = !w->fn(w->ctx, path, real, &st);
    }
    if (count >= 0)
        free(entries);
}

void folder_list_walk(const char *root, folder_list_film *fn, void *ctx)
{
    struct walk w = {.root = root, .fn = fn, .ctx = ctx};
    walk_folder(&w, "", 0);
}

int folder_list_make(struct folder_list *l, char *out, size_t cap, usec_t budget, usec_t each,
                     struct media_guard *guard)
{
    struct listing made = {.list = l,
                           .out = out,
                           .cap = cap,
                           .until = clock_now() + budget,
                           .each = each,
                           .was_behind = l->behind,
                           .guard = guard};
    *out = '\0';
    l->behind = false;
    for (struct seen_file *f = l->seen; f; f = f->next)
        f->is_there = false;
    folder_list_walk(l->root, list_film, &made);
    // Forget files that are gone: a server may run for years.
    for (struct seen_file **at = &l->seen, *f; (f = *at);) {
        if (f->is_there) {
            at = &f->next;
            continue;
        }
        *at = f->next;
        free(f);
    }
    return made.count;
}
