// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/store/store_folder.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/put.h"
#include "common/base/scan.h"
#include "common/program/private_file.h"

static const char MARK[] = "weir-cache";
static const char VERSION[] = "weir-cache 1\n";
static const char MAGIC[] = "WEIRGRP1";
static const char FILM[] = "weir-film 1";

enum {
    BLOCK = 4096, // of common file systems
    NAME = 64,    // bytes of an entry in a folder, at most
    MAX_FILM = SDP_MAX_BYTES + URL_MAX_TEXT + 1024,
    KEY_BYTES = (FOLDER_KEY - 1) / 2,
};

struct store_folder {
    char path[PATH_MAX - 128];
    int lock; // -1: none
};

// A link is not followed, and a FIFO does not block: neither is of this program.
#define TABLE  "table"
#define SAFELY (O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)

// ---- Names

static void film_path(const struct store_folder *s, const char *key, const char *name,
                      char out[PATH_MAX])
{
    struct put p = put_into(out, PATH_MAX);
    put_format(&p, "%s/%s%s%s", s->path, key, *name ? "/" : "", name);
}

static const char *const suffixes[] = {
    [GROUP_PART] = ".part", [GROUP_WHOLE] = ".new", [GROUP_VERIFIED] = ""};

static void group_path(const struct store_folder *s, const char *key, int track, int64_t group,
                       enum group_state state, char out[PATH_MAX])
{
    char name[64];
    snprintf(name, sizeof(name), "%d-%06" PRId64 "%s", track, group, suffixes[state]);
    film_path(s, key, name, out);
}

static bool is_key(const char *name)
{
    return strlen(name) == FOLDER_KEY - 1 && strspn(name, "0123456789abcdef") == FOLDER_KEY - 1;
}

int64_t folder_file_cost(int64_t bytes)
{
    return (bytes + BLOCK - 1) / BLOCK * BLOCK + NAME;
}

int64_t folder_film_cost(void) // the folder, the description, and of each track two files
{
    return BLOCK + folder_file_cost(MAX_FILM / 2) + STORED_TRACKS * (2 * NAME + BLOCK);
}

// ---- The folder

// Returns true if the folder has no entries.
static bool is_empty(const char *path)
{
    DIR *dir = opendir(path);
    bool empty = dir;
    for (struct dirent *e; empty && (e = readdir(dir));)
        empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    if (dir)
        closedir(dir);
    return empty;
}

static int open_mark(struct store_folder *s, const char *path, bool locks)
{
    char name[PATH_MAX], text[32] = "";
    snprintf(name, sizeof(name), "%s/%s", path, MARK);
    bool makes = locks && access(name, F_OK) != 0;
    if (makes && !is_empty(path))
        return ERR_UNSUPPORTED;
    s->lock = open(name, (locks ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC, 0644);
    if (s->lock < 0)
        return ERR_IO;
    if (locks && flock(s->lock, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? ERR_AGAIN : ERR_IO;
    ssize_t len = pread(s->lock, text, sizeof(text) - 1, 0);
    if (len == 0 && locks && (makes || is_empty(path)))
        len = pwrite(s->lock, VERSION, strlen(VERSION), 0) > 0
                  ? pread(s->lock, text, sizeof(text) - 1, 0)
                  : -1;
    if (len < 0)
        return ERR_IO;
    return strcmp(text, VERSION) == 0 ? 0 : ERR_UNSUPPORTED;
}

int store_folder_open(const char *path, bool locks, struct store_folder **out)
{
    struct store_folder *s = malloc(sizeof(*s));
    *out = NULL;
    if (!s)
        return ERR_NO_MEMORY;
    s->lock = -1;
    int err = 0, folder = -1;
    if (snprintf(s->path, sizeof(s->path), "%s", path) >= (int)sizeof(s->path)) {
        errno = ENAMETOOLONG;
        err = ERR_IO;
    }
    if (!err && locks && mkdir(path, 0755) != 0 && errno != EEXIST)
        err = ERR_IO;
    if (!err && (folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        err = ERR_IO;
    if (!err && private_check(folder, path, PRIVATE_OWN) != 0)
        err = ERR_UNTRUSTED;
    if (folder >= 0) {
        int reason = errno;
        close(folder);
        errno = reason;
    }
    if (!err)
        err = open_mark(s, path, locks);
    if (!err) {
        *out = s;
        return 0;
    }
    int why = errno;
    store_folder_free(s);
    errno = why;
    return err;
}

void store_folder_free(struct store_folder *s)
{
    if (!s)
        return;
    if (s->lock >= 0)
        close(s->lock);
    free(s);
}

// ---- Small files

static int write_all(int fd, const uint8_t *data, size_t len)
{
    while (len) {
        ssize_t done = write(fd, data, len);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return ERR_IO;
        data += done;
        len -= (size_t)done;
    }
    return 0;
}

// Writes a file so that it is there as a whole or not at all.
static int write_file(const char *path, const uint8_t *head, size_t head_len, const uint8_t *body,
                      size_t body_len)
{
    char tmp[PATH_MAX + 8];
    snprintf(tmp, sizeof(tmp), "%s.tmp", path);
    int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | SAFELY, 0644);
    if (fd < 0)
        return ERR_IO;
    int err = write_all(fd, head, head_len);
    err = err ? err : write_all(fd, body, body_len);
    if (!err && fdatasync(fd) != 0)
        err = ERR_IO;
    int why = errno;
    close(fd);
    errno = why;
    if (!err && rename(tmp, path) != 0)
        err = ERR_IO;
    if (err) {
        why = errno;
        unlink(tmp);
        errno = why;
    }
    return err;
}

// Reads a text of less than `cap` bytes. Returns its length, or -1 with errno; 0: it is no such
// text.
static int read_text(const char *path, char *out, size_t cap)
{
    int fd = open(path, O_RDONLY | SAFELY);
    if (fd < 0)
        return -1;
    errno = 0;
    ssize_t len = read(fd, out, cap);
    int why = errno;
    close(fd);
    errno = why;
    if (len < 0 || (size_t)len >= cap || memchr(out, '\0', (size_t)len))
        return -1;
    out[len] = '\0';
    return (int)len;
}

// ---- Films

static int make_key(const char *url, const char *validator, char out[FOLDER_KEY])
{
    char text[URL_MAX_TEXT + SDP_MAX_VALIDATOR + 2];
    struct stored_digest digest;
    int len = snprintf(text, sizeof(text), "%s\n%s", url, validator);
    struct stored_bytes bytes = {(uint8_t *)text, (size_t)len};
    if (stored_track_digest(bytes, &digest) != 0)
        return ERR_NO_MEMORY;
    for (int i = 0; i < KEY_BYTES; i++)
        snprintf(out + 2 * (ptrdiff_t)i, 3, "%02x", digest.bytes[i]);
    return 0;
}

// The plan is a function of the description (stored_plan.h).
static int make_info(const struct sdp *sdp, struct stored_info *out)
{
    *out = (struct stored_info){.sdp = *sdp, .audio = sdp->audio.present};
    const struct ladder *l = &out->sdp.ladder;
    if (sdp->codec != SDP_H264 || sdp->source != SDP_SOURCE_FILE || !sdp->reorders ||
        !*sdp->validator || sdp->duration <= 0 || sdp->duration > 1e6 || l->level_count < 1 ||
        l->cumulative || stored_plan_init(&out->plan, l) != 0)
        return ERR_UNSUPPORTED;
    out->origin.frames = llround(sdp->duration * fps_value(l->source_fps));
    // No time in the film, or near its end, overflows in usec_of_frames.
    if (out->origin.frames < 1 || out->origin.frames % out->plan.period ||
        out->origin.frames > INT64_MAX / 4 / USEC_PER_SEC / l->source_fps.den ||
        stored_info_groups(out) > FOLDER_MAX_GROUPS)
        return ERR_UNSUPPORTED;
    stored_plan_end(&out->plan, l, out->origin.frames);
    snprintf(out->validator, sizeof(out->validator), "%s", sdp->validator);
    return 0;
}

int folder_film_init(struct folder_film *f, const char *url, const struct sdp *sdp)
{
    char *text = malloc(SDP_MAX_BYTES);
    struct stored_info *info = malloc(sizeof(*info));
    struct sdp *kept = malloc(sizeof(*kept));
    int err = text && info && kept ? 0 : ERR_NO_MEMORY;
    *f = (struct folder_film){0};
    if (!err && strlen(url) >= sizeof(f->url))
        err = ERR_UNSUPPORTED;
    if (!err && sdp_encode(sdp, false, text, SDP_MAX_BYTES) < 0)
        err = ERR_UNSUPPORTED;
    // The text is what is read again: it rounds the duration, and that decides the plan.
    if (!err && sdp_decode(text, strlen(text), kept) != 0)
        err = ERR_UNSUPPORTED;
    err = err ? err : make_info(kept, info);
    if (!err)
        err = make_key(url, kept->validator, f->key);
    if (!err) {
        snprintf(f->url, sizeof(f->url), "%s", url);
        snprintf(f->validator, sizeof(f->validator), "%s", kept->validator);
        f->groups = stored_info_groups(info);
        f->sizes = kept->ladder.size_count;
        f->audio = kept->audio.present;
        f->sdp = text;
    } else {
        free(text);
    }
    free(kept);
    free(info);
    return err;
}

void folder_film_destroy(struct folder_film *f)
{
    for (int track = 0; track < STORED_TRACKS; track++)
        free(f->tracks[track].of);
    film_table_free(f->table);
    free(f->sdp);
}

int folder_film_info(const struct folder_film *f, struct stored_info *out)
{
    struct sdp *sdp = malloc(sizeof(*sdp));
    int err = sdp ? 0 : ERR_UNSUPPORTED;
    if (!err && sdp_decode(f->sdp, strlen(f->sdp), sdp) != 0)
        err = ERR_UNSUPPORTED;
    err = err ? err : make_info(sdp, out);
    free(sdp);
    for (int i = 0; !err && i < f->sizes; i++) {
        const char *sets = f->tracks[i].sets, *space = strchr(sets, ' ');
        if (!space || space - sets != 6)
            continue;
        snprintf(out->sizes[i].profile, sizeof(out->sizes[i].profile), "%.6s", sets);
        snprintf(out->sizes[i].sprop, sizeof(out->sizes[i].sprop), "%s", space + 1);
    }
    return err;
}

int store_folder_add(struct store_folder *s, const struct folder_film *f)
{
    char path[PATH_MAX], text[MAX_FILM];
    film_path(s, f->key, "", path);
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        return ERR_IO;
    int len = snprintf(text, sizeof(text), "%s\n%s\n%s\n%s", FILM, f->url, f->validator, f->sdp);
    if (len < 0 || (size_t)len >= sizeof(text)) {
        errno = E2BIG;
        return ERR_IO;
    }
    film_path(s, f->key, "film", path);
    return write_file(path, (const uint8_t *)text, (size_t)len, NULL, 0);
}

int store_folder_remove_film(struct store_folder *s, const char *key)
{
    char path[PATH_MAX];
    film_path(s, key, "film", path);
    unlink(path);
    for (int track = 0; track < STORED_TRACKS; track++) {
        char name[24];
        snprintf(name, sizeof(name), "%d.sets", track);
        film_path(s, key, name, path);
        unlink(path);
        snprintf(name, sizeof(name), "%d.used", track);
        film_path(s, key, name, path);
        unlink(path);
    }
    film_path(s, key, "", path);
    return rmdir(path) == 0 || errno == ENOENT ? 0 : ERR_IO;
}

int store_folder_touch(struct store_folder *s, const char *key, int track, usec_t wall)
{
    char path[PATH_MAX], name[24];
    snprintf(name, sizeof(name), "%d.used", track);
    film_path(s, key, name, path);
    int fd = open(path, O_WRONLY | O_CREAT | SAFELY, 0644);
    if (fd < 0)
        return ERR_IO;
    struct timespec at = {.tv_sec = wall / USEC_PER_SEC, .tv_nsec = wall % USEC_PER_SEC * 1000};
    struct timespec times[2] = {at, at};
    int err = futimens(fd, times) == 0 ? 0 : ERR_IO;
    close(fd);
    return err;
}

int store_folder_sets(struct store_folder *s, const char *key, int track, const char *text)
{
    char path[PATH_MAX], name[16];
    snprintf(name, sizeof(name), "%d.sets", track);
    film_path(s, key, name, path);
    return write_file(path, (const uint8_t *)text, strlen(text), NULL, 0);
}

int store_folder_table(struct store_folder *s, const char *key, struct stored_bytes table)
{
    char path[PATH_MAX];
    film_path(s, key, TABLE, path);
    return write_file(path, table.data, table.len, NULL, 0);
}

// ---- Groups

int store_folder_remove(struct store_folder *s, const char *key, int track, int64_t group)
{
    char path[PATH_MAX];
    int err = 0;
    for (enum group_state state = GROUP_PART; state <= GROUP_VERIFIED; state++) {
        group_path(s, key, track, group, state, path);
        if (unlink(path) != 0 && errno != ENOENT)
            err = ERR_IO;
    }
    return err;
}

int store_folder_verified(struct store_folder *s, const char *key, int track, int64_t group)
{
    char from[PATH_MAX], to[PATH_MAX];
    group_path(s, key, track, group, GROUP_WHOLE, from);
    group_path(s, key, track, group, GROUP_VERIFIED, to);
    return rename(from, to) == 0 ? 0 : ERR_IO;
}

static void write_key(uint8_t *out, const char *key)
{
    for (int i = 0; i < KEY_BYTES; i++) {
        unsigned byte = 0;
        (void)sscanf(key + 2 * (ptrdiff_t)i, "%2x", &byte);
        out[i] = (uint8_t)byte;
    }
}

static void write_head(uint8_t out[FOLDER_HEAD], const char *key, int track, int64_t group,
                       size_t len, const struct stored_digest *digest)
{
    memcpy(out, MAGIC, 8);
    write_key(out + 8, key);
    store_be64(out + 24, (uint64_t)group);
    store_be32(out + 32, (uint32_t)track);
    store_be32(out + 36, 0);
    store_be64(out + 40, len);
    memcpy(out + 48, digest->bytes, STORED_DIGEST_BYTES);
}

// Opens a group's file and reads its head. Returns the file, or -1 with *err.
static int open_group(const char *path, const char *key, int track, int64_t group,
                      struct stored_digest *digest, size_t *len, int *err)
{
    uint8_t head[FOLDER_HEAD], expected[FOLDER_HEAD];
    struct stat st;
    int fd = open(path, O_RDONLY | SAFELY);
    *err = fd >= 0           ? 0
           : errno == ENOENT ? ERR_NOT_FOUND
           : errno == ELOOP  ? ERR_MALFORMED // a link
                             : ERR_IO;
    if (fd < 0)
        return fd;
    ssize_t got = read(fd, head, sizeof(head));
    if (got < 0 || fstat(fd, &st) != 0) {
        *err = ERR_IO;
    } else if (got < FOLDER_HEAD) {
        *err = ERR_MALFORMED;
    } else {
        memcpy(digest->bytes, head + 48, STORED_DIGEST_BYTES);
        *len = (size_t)load_be64(head + 40);
        write_head(expected, key, track, group, *len, digest);
        bool good = memcmp(head, expected, FOLDER_HEAD) == 0 && *len <= STORED_TRACK_MAX &&
                    st.st_size == (off_t)(FOLDER_HEAD + *len);
        *err = good ? 0 : ERR_MALFORMED;
    }
    if (!*err)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static int read_body(int fd, size_t len, const struct stored_digest *digest,
                     struct stored_bytes *out)
{
    struct stored_digest actual;
    *out = (struct stored_bytes){len ? malloc(len) : NULL, len};
    if (len && !out->data)
        return ERR_NO_MEMORY;
    for (size_t at = 0; at < len;) {
        ssize_t got = read(fd, out->data + at, len - at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? ERR_IO : ERR_MALFORMED;
        at += (size_t)got;
    }
    int err = stored_track_digest(*out, &actual);
    if (!err && memcmp(actual.bytes, digest->bytes, STORED_DIGEST_BYTES) != 0)
        err = ERR_MALFORMED;
    return err;
}

int store_folder_read(struct store_folder *s, const char *key, int track, int64_t group,
                      enum group_state state, struct stored_bytes *out)
{
    char path[PATH_MAX];
    struct stored_digest digest;
    size_t len = 0;
    int err;
    *out = (struct stored_bytes){0};
    group_path(s, key, track, group, state, path);
    int fd = open_group(path, key, track, group, &digest, &len, &err);
    if (fd >= 0) {
        err = read_body(fd, len, &digest, out);
        int why = errno;
        close(fd);
        errno = why;
    }
    if (err) {
        free(out->data);
        *out = (struct stored_bytes){0};
    }
    if (err == ERR_MALFORMED) {
        log_warn("%s is damaged: removed", path);
        unlink(path);
    }
    return err;
}

static int write_group(struct store_folder *s, const char *key, int track, int64_t group,
                       enum group_state state, struct stored_bytes b, struct folder_group *out)
{
    uint8_t head[FOLDER_HEAD];
    char path[PATH_MAX];
    int err = stored_track_digest(b, &out->digest);
    if (err)
        return err;
    write_head(head, key, track, group, b.len, &out->digest);
    group_path(s, key, track, group, state, path);
    err = write_file(path, head, sizeof(head), b.data, b.len);
    if (err)
        return err;
    out->state = state;
    out->bytes = (int64_t)(FOLDER_HEAD + b.len);
    if (state == GROUP_WHOLE) {
        group_path(s, key, track, group, GROUP_PART, path);
        unlink(path);
    }
    return 0;
}

int store_folder_put(struct store_folder *s, const char *key, const struct stored_info *info,
                     int track, int64_t group, struct stored_bytes b, bool whole,
                     struct folder_group *out)
{
    struct stored_bytes before, joined;
    int err = store_folder_read(s, key, track, group, GROUP_WHOLE, &before);
    if (!err) { // this put comes too late
        err = stored_track_digest(before, &out->digest);
        out->state = GROUP_WHOLE;
        out->bytes = (int64_t)(FOLDER_HEAD + before.len);
        free(before.data);
        return err;
    }
    if (err != ERR_NOT_FOUND && err != ERR_MALFORMED)
        return err;
    err = store_folder_read(s, key, track, group, GROUP_PART, &before);
    if (err && err != ERR_NOT_FOUND && err != ERR_MALFORMED)
        return err;
    err = stored_track_merge(track, before, b, &joined);
    free(before.data);
    if (err)
        return err;
    whole |= stored_track_is_whole(info, group, track, joined);
    err = write_group(s, key, track, group, whole ? GROUP_WHOLE : GROUP_PART, joined, out);
    free(joined.data);
    return err;
}

// ---- The list of files

static void scan_group(struct store_folder *s, struct folder_film *f, const char *name, bool cleans)
{
    char path[PATH_MAX], expected[64];
    struct scan in = scan_of(name, strlen(name));
    int64_t track, group;
    struct stat st;
    if (!scan_int(&in, STORED_TRACKS - 1, &track) || !scan_char(&in, '-') ||
        !scan_int(&in, f->groups - 1, &group))
        return;
    enum group_state state = scan_end(&in)          ? GROUP_VERIFIED
                             : scan_is(in, ".new")  ? GROUP_WHOLE
                             : scan_is(in, ".part") ? GROUP_PART
                                                    : GROUP_NONE;
    if (state == GROUP_NONE || !(track == STORED_AUDIO_TRACK ? f->audio : track < f->sizes))
        return;
    snprintf(expected, sizeof(expected), "%d-%06" PRId64 "%s", (int)track, group, suffixes[state]);
    film_path(s, f->key, name, path);
    if (strcmp(name, expected) != 0 || lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    struct folder_track *t = &f->tracks[track];
    if (!t->of)
        t->of = calloc((size_t)f->groups, sizeof(*t->of));
    if (!t->of)
        return;
    struct folder_group found = {.state = state, .bytes = st.st_size};
    size_t len;
    int err;
    int fd = open_group(path, f->key, (int)track, group, &found.digest, &len, &err);
    if (fd >= 0)
        close(fd);
    bool is_lower = t->of[group].state > state; // a crash was between a rename and a removal
    if ((err == ERR_MALFORMED || (!err && is_lower)) && cleans) {
        if (err)
            log_warn("%s is damaged: removed", path);
        unlink(path);
    }
    if (err || is_lower)
        return;
    if (t->of[group].state != GROUP_NONE && cleans) {
        group_path(s, f->key, (int)track, group, t->of[group].state, path);
        unlink(path);
    }
    t->of[group] = found;
}

// One that does not read is forgotten: the origin is asked again.
static void read_table(const char *path, struct folder_film *f)
{
    uint8_t *data = malloc(FILM_TABLE_MAX);
    int fd = data ? open(path, O_RDONLY | SAFELY) : -1;
    ssize_t len = fd < 0 ? -1 : read(fd, data, FILM_TABLE_MAX);
    if (len > 0 && (film_table_decode(data, (size_t)len, &f->table) != 0 ||
                    film_table_shape(f->table)->groups != f->groups)) {
        film_table_free(f->table);
        f->table = NULL;
    }
    if (fd >= 0)
        close(fd);
    free(data);
}

static void scan_file(struct store_folder *s, struct folder_film *f, const char *name, bool cleans)
{
    char path[PATH_MAX];
    struct stat st;
    size_t len = strlen(name);
    film_path(s, f->key, name, path);
    bool of_track = len == 6 && name[0] >= '0' && name[0] < '0' + STORED_TRACKS;
    if (len > 4 && strcmp(name + len - 4, ".tmp") == 0) {
        if (cleans)
            unlink(path);
    } else if (of_track && strcmp(name + 1, ".used") == 0) {
        if (lstat(path, &st) == 0)
            f->tracks[name[0] - '0'].used =
                st.st_mtim.tv_sec * USEC_PER_SEC + st.st_mtim.tv_nsec / 1000;
    } else if (of_track && strcmp(name + 1, ".sets") == 0) {
        char *sets = f->tracks[name[0] - '0'].sets;
        if (read_text(path, sets, FOLDER_SETS) < 0)
            *sets = '\0';
    } else if (strcmp(name, TABLE) == 0) {
        read_table(path, f);
    } else {
        scan_group(s, f, name, cleans);
    }
}

// Reads "weir-film 1", URL, validator and SDP. Returns 0; ERR_MALFORMED: it is no film; ERR_IO or
// ERR_NO_MEMORY: it may be one.
static int read_film(struct store_folder *s, const char *key, struct folder_film *f)
{
    char path[PATH_MAX], text[MAX_FILM], url[URL_MAX_TEXT];
    struct scan line;
    film_path(s, key, "film", path);
    int len = read_text(path, text, sizeof(text));
    if (len < 0)
        return errno == 0 || errno == ENOENT || errno == ELOOP ? ERR_MALFORMED : ERR_IO;
    struct scan in = scan_of(text, (size_t)len);
    if (!scan_line(&in, &line) || !scan_is(line, FILM) || !scan_line(&in, &line) ||
        scan_left(&line) >= sizeof(url))
        return ERR_MALFORMED;
    snprintf(url, sizeof(url), "%.*s", (int)scan_left(&line), line.at);
    if (!url_is_plain(url) || !scan_line(&in, &line))
        return ERR_MALFORMED;
    struct sdp *sdp = malloc(sizeof(*sdp));
    if (!sdp)
        return ERR_NO_MEMORY;
    int err = sdp_decode(in.at, scan_left(&in), sdp);
    err = err ? err : folder_film_init(f, url, sdp);
    free(sdp);
    if (err && err != ERR_NO_MEMORY)
        err = ERR_MALFORMED;
    if (!err && strcmp(f->key, key) != 0) { // edited by hand
        folder_film_destroy(f);
        err = ERR_MALFORMED;
    }
    return err;
}

// Removes what this proxy may have written into the folder of a film that cannot be read.
static void remove_rest(const char *path)
{
    DIR *dir = opendir(path);
    char name[2 * PATH_MAX];
    for (struct dirent *e; dir && (e = readdir(dir));) {
        size_t len = strlen(e->d_name);
        bool mine = (e->d_name[0] >= '0' && e->d_name[0] <= '9') ||
                    strcmp(e->d_name, "film") == 0 ||
                    (len > 4 && strcmp(e->d_name + len - 4, ".tmp") == 0);
        snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
        if (mine)
            unlink(name);
    }
    if (dir)
        closedir(dir);
    rmdir(path);
}

void store_folder_scan(struct store_folder *s, bool cleans,
                       void (*film)(void *ctx, struct folder_film *f), void *ctx)
{
    DIR *dir = opendir(s->path);
    int count = 0;
    for (struct dirent *e; dir && count < FOLDER_MAX_FILMS && (e = readdir(dir));) {
        char path[PATH_MAX];
        struct stat st;
        film_path(s, e->d_name, "", path);
        if (!is_key(e->d_name) || lstat(path, &st) != 0 || !S_ISDIR(st.st_mode))
            continue;
        struct folder_film *f = malloc(sizeof(*f));
        int err = f ? read_film(s, e->d_name, f) : ERR_NO_MEMORY;
        if (err) {
            free(f);
            if (err != ERR_MALFORMED) {
                log_warn("%s cannot be read now: left alone", path);
            } else if (cleans) {
                log_warn("%s is no film that can be read: removed", path);
                remove_rest(path);
            }
            continue;
        }
        DIR *files = opendir(path);
        for (struct dirent *g; files && (g = readdir(files));)
            scan_file(s, f, g->d_name, cleans);
        if (files)
            closedir(files);
        film(ctx, f);
        free(f);
        count++;
    }
    if (dir)
        closedir(dir);
}
