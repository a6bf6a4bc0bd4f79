// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/shelf.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "common/net/clock.h"
#include "common/transport/transport.h"
#include "sender/shelf_path.h"
#include "sender/stream_open.h"

enum { MAX_DEPTH = 8 };

struct open_file { // a stream with viewers
    struct open_file *next;
    char path[SHELF_PATH_MAX];
    int users;
    struct stream stream;
};

struct seen_file { // what a look into it said
    struct seen_file *next;
    char path[SHELF_PATH_MAX];
    off_t bytes;
    time_t mtime;
    time_t ladder; // of the stored ladder beside it, if there is one
    bool is_there; // when the list was made last
    bool is_media;
    double duration;
    char sizes[64];
};

struct shelf {
    const char *path;              // one stream's; NULL: a folder
    struct stream *stream;         // borrowed; likewise
    uv_loop_t *loop;               // borrowed
    const struct options *options; // borrowed
    char root[PATH_MAX];           // real
    int open_count;
    struct open_file *open; // owned
    struct seen_file *seen; // owned
    struct figures_book book;
};

struct listing {
    char *out;
    size_t cap;
    size_t used;
    int count;
    usec_t until;
};

struct shelf *shelf_new_one(const char *path, struct stream *stream)
{
    struct shelf *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->path = path;
    s->stream = stream;
    stream->book = &s->book;
    return s;
}

struct shelf *shelf_new_folder(uv_loop_t *loop, const struct options *o)
{
    struct shelf *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->loop = loop;
    s->options = o;
    if (realpath(o->source, s->root))
        return s;
    log_error("%s: %s", o->source, strerror(errno));
    free(s);
    return NULL;
}

void shelf_free(struct shelf *s)
{
    if (!s)
        return;
    assert(!s->open);
    for (struct seen_file *f = s->seen, *next; f; f = next) {
        next = f->next;
        free(f);
    }
    free(s);
}

bool shelf_is_folder(const struct shelf *s)
{
    return !s->path;
}

const char *shelf_where(const struct shelf *s)
{
    return s->path;
}

// ---- Streams

static int take_one(struct shelf *s, const char *url_path, struct stream **out)
{
    size_t len = strlen(s->path);
    if (strncmp(url_path, s->path, len) != 0 ||
        (url_path[len] && url_path[len] != '/' && url_path[len] != '?'))
        return ERR_NOT_FOUND;
    *out = s->stream;
    return 0;
}

// The real path of a file below the root. Links that lead out of it do not count.
static bool real_file(const struct shelf *s, const char *path, char real[PATH_MAX], struct stat *st)
{
    char name[PATH_MAX];
    return snprintf(name, sizeof(name), "%s/%s", s->root, path) < (int)sizeof(name) &&
           realpath(name, real) && shelf_path_is_below(s->root, real) && stat(real, st) == 0;
}

static int open_file(struct shelf *s, const char *path, struct stream **out)
{
    char real[PATH_MAX];
    struct stat st;
    if (!real_file(s, path, real, &st) || !S_ISREG(st.st_mode))
        return ERR_NOT_FOUND;
    if (s->open_count == SHELF_MAX_OPEN)
        return ERR_FULL;
    struct open_file *f = calloc(1, sizeof(*f));
    if (!f)
        return ERR_NO_MEMORY;
    int err = stream_open(&f->stream, s->loop, s->options, real);
    if (err) {
        free(f);
        return err;
    }
    snprintf(f->path, sizeof(f->path), "%s", path);
    f->stream.viewer_timeout = s->options->timeout * USEC_PER_SEC;
    f->stream.max_viewers = s->options->max_viewers;
    f->stream.book = &s->book;
    f->users = 1;
    f->next = s->open;
    s->open = f;
    s->open_count++;
    *out = &f->stream;
    log_info("%s is open", path);
    return 0;
}

int shelf_take(struct shelf *s, const char *url_path, struct stream **out)
{
    char path[SHELF_PATH_MAX];
    if (!shelf_is_folder(s))
        return take_one(s, url_path, out);
    if (shelf_path_decode(url_path, path, sizeof(path)) != 0)
        return ERR_NOT_FOUND;
    if (!*path)
        return ERR_END;
    for (struct open_file *f = s->open; f; f = f->next) {
        if (strcmp(f->path, path) == 0) {
            f->users++;
            *out = &f->stream;
            return 0;
        }
    }
    return open_file(s, path, out);
}

void shelf_leave(struct shelf *s, struct stream *stream)
{
    for (struct open_file **at = &s->open; *at; at = &(*at)->next) {
        struct open_file *f = *at;
        if (&f->stream != stream)
            continue;
        if (--f->users)
            return;
        *at = f->next;
        s->open_count--;
        log_info("%s is closed", f->path);
        stream_close_figures(&f->stream);
        stream_destroy(&f->stream);
        free(f);
        return;
    }
}

// ---- Figures

// Names from the file system have to be UTF-8 for JSON.
static void name_source(const struct shelf *s, struct figures *out)
{
    const char *slash = strrchr(s->root, '/');
    if (s->stream)
        snprintf(out->source, sizeof(out->source), "%s", s->stream->title);
    else
        utf8_copy(slash && slash[1] ? slash + 1 : s->root, out->source, sizeof(out->source));
}

void shelf_figures(struct shelf *s, struct figures *out, session_figures_fn *each, void *ctx,
                   usec_t now)
{
    name_source(s, out);
    out->total = s->book.ended;
    out->transport_count = out->stream_count = out->session_count = 0;
    for (const struct transport_kind *k = transport_kinds; k->name; k++) {
        assert(out->transport_count < FIGURES_TRANSPORTS);
        out->total.transports[out->transport_count++].name = k->name;
    }
    if (s->stream)
        stream_figures(s->stream, s->path, out, each, ctx, now);
    for (struct open_file *f = s->open; f; f = f->next) {
        char path[FIGURES_PATH];
        if (shelf_path_encode(f->path, path, sizeof(path)) >= 0)
            stream_figures(&f->stream, path, out, each, ctx, now);
    }
}

// ---- The list

// NULL: there is none, or it is of an earlier state of the file.
static struct stored_file *open_ladder(const struct seen_file *f, const char *real)
{
    int err;
    char beside[PATH_MAX + sizeof(STORED_SUFFIX)];
    if (stored_file_is(real))
        return stored_file_open(real, &err);
    snprintf(beside, sizeof(beside), "%s" STORED_SUFFIX, real);
    struct stored_file *ladder = f->ladder ? stored_file_open(beside, &err) : NULL;
    if (!ladder || stored_origin_is_of(&stored_file_info(ladder)->origin, f->bytes, f->mtime))
        return ladder;
    stored_file_free(ladder);
    return NULL;
}

static void look_into(struct seen_file *f, const char *real)
{
    int err;
    struct stored_file *ladder = open_ladder(f, real);
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
    struct source *source = source_file_open(real, false, &err);
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
static const struct seen_file *look(struct shelf *s, const char *path, const char *real,
                                    const struct stat *st, usec_t until)
{
    struct seen_file *f = s->seen;
    while (f && strcmp(f->path, path) != 0)
        f = f->next;
    time_t ladder = ladder_time(real);
    if (f)
        f->is_there = true;
    if (f && f->bytes == st->st_size && f->mtime == st->st_mtim.tv_sec && f->ladder == ladder)
        return f;
    if (clock_now() >= until)
        return NULL;
    if (!f) {
        if (!(f = calloc(1, sizeof(*f))))
            return NULL;
        f->next = s->seen;
        s->seen = f;
    }
    struct seen_file *next = f->next;
    *f = (struct seen_file){.next = next,
                            .bytes = st->st_size,
                            .mtime = st->st_mtim.tv_sec,
                            .ladder = ladder,
                            .is_there = true};
    snprintf(f->path, sizeof(f->path), "%s", path);
    look_into(f, real);
    return f;
}

static void list_file(struct shelf *s, struct listing *l, const char *path, const char *real,
                      const struct stat *st)
{
    char encoded[3 * SHELF_PATH_MAX];
    char line[3 * SHELF_PATH_MAX + 128];
    const struct seen_file *f = look(s, path, real, st, l->until);
    if ((f && !f->is_media) || shelf_path_encode(path, encoded, sizeof(encoded)) < 0)
        return;
    int len = f ? snprintf(line, sizeof(line), "%s\t%.1f\t%s\r\n", encoded, f->duration, f->sizes)
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
static bool is_listed(const struct shelf *s, const char *path)
{
    char original[SHELF_PATH_MAX];
    char real[PATH_MAX];
    struct stat st;
    if (!stored_file_is(path))
        return true;
    snprintf(original, sizeof(original), "%.*s", (int)(strlen(path) - strlen(STORED_SUFFIX)), path);
    return !real_file(s, original, real, &st);
}

static void list_folder(struct shelf *s, struct listing *l, const char *folder, int depth)
{
    char name[PATH_MAX];
    struct dirent **entries;
    if (snprintf(name, sizeof(name), "%s/%s", s->root, folder) >= (int)sizeof(name))
        return;
    int count = scandir(name, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[SHELF_PATH_MAX];
        char real[PATH_MAX];
        struct stat st;
        int len =
            snprintf(path, sizeof(path), "%s%s%s", folder, *folder ? "/" : "", entries[i]->d_name);
        // Most files of a folder may be others, and the viewers wait meanwhile.
        bool other = entries[i]->d_type == DT_REG && len < (int)sizeof(path) && !is_film(path);
        bool there = entries[i]->d_name[0] != '.' && len < (int)sizeof(path) && !other &&
                     l->count < SHELF_MAX_FILES && real_file(s, path, real, &st);
        free(entries[i]);
        if (!there)
            continue;
        size_t part = strlen(path);
        bool parts = part > 10 && strcmp(path + part - 10, ".weir.part") == 0;
        if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH && !parts)
            list_folder(s, l, path, depth + 1);
        else if (S_ISREG(st.st_mode) && is_film(path) && is_listed(s, path))
            list_file(s, l, path, real, &st);
    }
    if (count >= 0)
        free(entries);
}

// Files may come and go for years: what is not there any more is forgotten.
static void forget_gone(struct shelf *s)
{
    for (struct seen_file **at = &s->seen, *f; (f = *at);) {
        if (f->is_there) {
            at = &f->next;
            continue;
        }
        *at = f->next;
        free(f);
    }
}

int shelf_list(struct shelf *s, char *out, size_t cap, usec_t budget)
{
    struct listing l = {.out = out, .cap = cap, .until = clock_now() + budget};
    *out = '\0';
    for (struct seen_file *f = s->seen; f; f = f->next)
        f->is_there = false;
    list_folder(s, &l, "", 0);
    forget_gone(s);
    return l.count;
}
