// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/catalog/folder_list.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "media/source/source.h"
#include "media/stored/stored_file.h"
#include "sender/policy/catalog_path.h"

enum {
    MAX_DEPTH = 8,
    MAX_TRIES = 3, // looks into a file that is slow to open: the machine may have been busy
};

struct seen_file { // what a look into it said
    struct seen_file *next;
    char path[CATALOG_PATH_MAX];
    off_t bytes;
    time_t mtime;
    time_t ladder; // of the stored ladder beside it, if there is one
    bool is_there; // when the list was made last
    bool is_media;
    bool is_slow; // the look took too long: no more than its name is known
    int tries;    // looks into this state of the file
    double duration;
    char sizes[64];
};

struct folder_list {
    char root[PATH_MAX];    // real
    struct seen_file *seen; // owned
    bool behind;            // the list made last had no time for all files
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
           realpath(name, real) && catalog_path_is_offered(root, real) && stat(real, st) == 0;
}

// NULL: there is none, or it is of an earlier state of the file.
static struct stored_file *open_ladder(const struct seen_file *f, const char *real,
                                       struct media_guard *guard)
{
    int err;
    char beside[PATH_MAX + sizeof(STORED_SUFFIX)];
    if (stored_file_is(real))
        return stored_file_open(real, guard, &err);
    snprintf(beside, sizeof(beside), "%s" STORED_SUFFIX, real);
    struct stored_file *ladder = f->ladder ? stored_file_open(beside, guard, &err) : NULL;
    if (!ladder || stored_origin_is_of(&stored_file_info(ladder)->origin, f->bytes, f->mtime))
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
            used += snprintf(f->sizes + used, sizeof(f->sizes) - (size_t)used, "%s%dx%d",
                             used ? "," : "", l->sizes[i].width, l->sizes[i].height);
        f->is_media = true;
        stored_file_free(ladder);
        return;
    }
    struct source *source = source_file_open(real, false, guard, &err);
    f->is_slow = !source && err == ERR_TIMED_OUT;
    f->is_media = f->is_slow;
    if (!source)
        return;
    f->is_media = true;
    f->duration = source->duration;
    snprintf(f->sizes, sizeof(f->sizes), "%dx%d", source->width, source->height);
    source_free(source);
}

static time_t ladder_time(const char *real)
{
    char beside[PATH_MAX + sizeof(STORED_SUFFIX)];
    struct stat st;
    snprintf(beside, sizeof(beside), "%s" STORED_SUFFIX, real);
    return stat(beside, &st) == 0 ? st.st_mtim.tv_sec : 0;
}

// What is known of a file; NULL: nothing yet, and no time to look.
static const struct seen_file *look(struct listing *l, const char *path, const char *real,
                                    const struct stat *st)
{
    struct seen_file *f = l->list->seen;
    while (f && strcmp(f->path, path) != 0)
        f = f->next;
    time_t ladder = ladder_time(real);
    if (f)
        f->is_there = true;
    bool same =
        f && f->bytes == st->st_size && f->mtime == st->st_mtim.tv_sec && f->ladder == ladder;
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
    *f = (struct seen_file){.next = next,
                            .bytes = st->st_size,
                            .mtime = st->st_mtim.tv_sec,
                            .ladder = ladder,
                            .tries = tries,
                            .is_there = true};
    snprintf(f->path, sizeof(f->path), "%s", path);
    media_guard_until(l->guard, now + l->each);
    look_into(f, real, l->guard);
    return f;
}

static void list_file(struct listing *l, const char *path, const char *real, const struct stat *st)
{
    char encoded[SHELF_URL_PATH_MAX];
    char line[SHELF_URL_PATH_MAX + 128];
    if (catalog_path_encode(path, encoded, sizeof(encoded)) < 0) // no viewer can request it
        return;
    const struct seen_file *f = look(l, path, real, st);
    if (f && !f->is_media)
        return;
    int len = f && !f->is_slow
                  ? snprintf(line, sizeof(line), "%s\t%.1f\t%s\r\n", encoded, f->duration, f->sizes)
                  : snprintf(line, sizeof(line), "%s\t?\t?\r\n", encoded);
    if (len < 0 || l->used + (size_t)len >= l->cap)
        return;
    memcpy(l->out + l->used, line, (size_t)len + 1);
    l->used += (size_t)len;
    l->count++;
}

// What does not look like a film by its name is not looked into.
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

// A stored ladder beside its original is no film of its own; parts of one are none at all.
static bool is_listed(const char *root, const char *path)
{
    char original[CATALOG_PATH_MAX];
    char real[PATH_MAX];
    struct stat st;
    if (!stored_file_is(path))
        return true;
    snprintf(original, sizeof(original), "%.*s", (int)(strlen(path) - strlen(STORED_SUFFIX)), path);
    return !folder_real_file(root, original, real, &st);
}

static void list_folder(struct listing *l, const char *folder, int depth)
{
    char name[PATH_MAX];
    struct dirent **entries;
    if (snprintf(name, sizeof(name), "%s/%s", l->list->root, folder) >= (int)sizeof(name))
        return;
    int count = scandir(name, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[CATALOG_PATH_MAX];
        char real[PATH_MAX];
        struct stat st;
        int len =
            snprintf(path, sizeof(path), "%s%s%s", folder, *folder ? "/" : "", entries[i]->d_name);
        // Most files of a folder may be others.
        bool other = entries[i]->d_type == DT_REG && len < (int)sizeof(path) && !is_film(path);
        bool there = entries[i]->d_name[0] != '.' && len < (int)sizeof(path) && !other &&
                     l->count < FOLDER_LIST_MAX && folder_real_file(l->list->root, path, real, &st);
        free(entries[i]);
        if (!there)
            continue;
        size_t part = strlen(path);
        bool parts = part > 10 && strcmp(path + part - 10, ".weir.part") == 0;
        if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH && !parts)
            list_folder(l, path, depth + 1);
        else if (S_ISREG(st.st_mode) && is_film(path) && is_listed(l->list->root, path))
            list_file(l, path, real, &st);
    }
    if (count >= 0)
        free(entries);
}

// Files may come and go for years: what is not there any more is forgotten.
static void forget_gone(struct folder_list *l)
{
    for (struct seen_file **at = &l->seen, *f; (f = *at);) {
        if (f->is_there) {
            at = &f->next;
            continue;
        }
        *at = f->next;
        free(f);
    }
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
    list_folder(&made, "", 0);
    forget_gone(l);
    return made.count;
}
