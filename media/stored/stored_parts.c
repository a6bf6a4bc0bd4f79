// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/stored_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"

enum { MAX_RECORD = 64 << 20, MAX_PLAN = 32768 };

// Writes the path of a part, "FOLDER/000012", "FOLDER/sound" or "FOLDER/sound2", with a suffix.
static void name_of(const char *folder, int64_t part, const char *suffix, char out[PATH_MAX])
{
    if (part == STORED_AUDIO)
        snprintf(out, PATH_MAX, "%s/sound%s", folder, suffix);
    else if (part < STORED_AUDIO)
        snprintf(out, PATH_MAX, "%s/sound%" PRId64 "%s", folder, STORED_AUDIO - part + 1, suffix);
    else
        snprintf(out, PATH_MAX, "%s/%06" PRId64 "%s", folder, part, suffix);
}

static int fail(const char *name)
{
    if (errno == ELOOP)
        log_error("%s: the work file is a symbolic link, which is not followed (remove it)", name);
    else if (errno == EINVAL)
        log_error("%s: the work file is not a regular file (remove it)", name);
    else
        log_error("%s: %s", name, strerror(errno));
    return ERR_IO;
}

// Opens a file without following a symbolic link and without blocking on a FIFO. Returns a
// descriptor, or -1 with errno.
static int open_own(const char *name, int flags)
{
    struct stat st;
    int fd = open(name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (fd < 0 && (errno == ELOOP || errno == ENOTDIR) && lstat(name, &st) == 0 &&
        S_ISLNK(st.st_mode))
        errno = ELOOP;
    if (fd >= 0 && !(flags & O_DIRECTORY) && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

static FILE *work_open(const char *name, bool write)
{
    int fd = open_own(name, write ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY);
    FILE *f = fd < 0 ? NULL : fdopen(fd, write ? "wb" : "rb");
    if (fd >= 0 && !f)
        close(fd);
    return f;
}

FILE *stored_work_open(const char *name, bool write)
{
    FILE *f = work_open(name, write);
    if (!f)
        fail(name);
    return f;
}

static bool is_of(const char *name, const char *plan)
{
    char text[MAX_PLAN];
    FILE *f = work_open(name, false);
    if (!f)
        return false;
    size_t len = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    text[len] = '\0';
    return strcmp(text, plan) == 0;
}

// Returns true if the name is the plan's, a part's, or an incomplete part's.
static bool is_own(const char *name)
{
    size_t len = strcspn(name, ".");
    if (name[len] && strcmp(name + len, ".new") != 0)
        return false;
    size_t digits = strspn(name, "0123456789");
    bool is_audio = strncmp(name, "sound", 5) == 0 && (len == 5 || (len == 6 && name[5] != '0'));
    return (digits && digits == len) || is_audio || strcmp(name, "plan") == 0;
}

static void empty(const char *folder)
{
    char name[PATH_MAX];
    DIR *d = opendir(folder);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));)
        if (is_own(e->d_name) &&
            snprintf(name, sizeof(name), "%s/%s", folder, e->d_name) < (int)sizeof(name))
            unlink(name);
    closedir(d);
}

// Locks the folder against another program that would write the same parts. On a file system
// without locks it succeeds without a lock. Returns the descriptor, or ERR_IO (logged).
static int lock(const char *folder)
{
    int fd = open_own(folder, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return fail(folder);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return fd;
    log_error("%s: another weir-send --prepare is using this folder", folder);
    close(fd);
    return ERR_IO;
}

int stored_parts_open(const char *folder, const char *plan)
{
    char name[PATH_MAX];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return fail(folder);
    if (snprintf(name, sizeof(name), "%s/plan", folder) >= (int)sizeof(name) - 16) {
        log_error("%s: the name is too long", folder);
        return ERR_IO;
    }
    int fd = lock(folder);
    if (fd < 0 || is_of(name, plan))
        return fd;
    empty(folder);
    FILE *f = stored_work_open(name, true);
    if (f) {
        bool good = fputs(plan, f) >= 0;
        good &= fclose(f) == 0;
        if (good)
            return fd;
        fail(name);
    }
    close(fd);
    return ERR_IO;
}

bool stored_parts_has(const char *folder, int64_t part)
{
    char name[PATH_MAX];
    name_of(folder, part, "", name);
    return access(name, R_OK) == 0;
}

FILE *stored_part_begin(const char *folder, int64_t part)
{
    char name[PATH_MAX];
    name_of(folder, part, ".new", name);
    return stored_work_open(name, true);
}

int stored_part_put(FILE *f, const struct stored_record *r, const void *data)
{
    if (fwrite(r, sizeof(*r), 1, f) == 1 && fwrite(data, 1, r->bytes, f) == r->bytes)
        return 0;
    log_error("cannot write a work file: %s", strerror(errno));
    return ERR_IO;
}

int stored_part_end(FILE *f, const char *folder, int64_t part, bool good)
{
    char from[PATH_MAX], to[PATH_MAX];
    name_of(folder, part, ".new", from);
    name_of(folder, part, "", to);
    // Flush before the rename: otherwise a power cut could leave the final name without the data.
    bool written = fflush(f) == 0 && fdatasync(fileno(f)) == 0;
    int reason = errno;
    written &= fclose(f) == 0;
    if (good && written && rename(from, to) == 0)
        return 0;
    if (!written)
        errno = reason;
    if (good)
        fail(from);
    unlink(from);
    return ERR_IO;
}

FILE *stored_part_read(const char *folder, int64_t part)
{
    char name[PATH_MAX];
    name_of(folder, part, "", name);
    return stored_work_open(name, false);
}

int stored_part_next(FILE *f, struct stored_record *r, uint8_t **data)
{
    if (fread(r, sizeof(*r), 1, f) != 1)
        return feof(f) && !ferror(f) ? ERR_END : ERR_IO;
    if (r->bytes > MAX_RECORD)
        return ERR_IO;
    *data = malloc(r->bytes ? r->bytes : 1);
    if (!*data)
        return ERR_NO_MEMORY;
    if (fread(*data, 1, r->bytes, f) == r->bytes)
        return 0;
    free(*data);
    return ERR_IO;
}

void stored_parts_remove(const char *folder)
{
    empty(folder);
    rmdir(folder);
}
