// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/program/state_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/program/private_file.h"
#include "common/program/private_path.h"

static int join(char out[STATE_PATH_MAX], const char *dir, int dir_len, const char *name)
{
    int n = snprintf(out, STATE_PATH_MAX, "%.*s%s", dir_len, dir, name);
    if (n >= 0 && n < STATE_PATH_MAX)
        return 0;
    log_error("the path of the state directory is too long: %.200s", dir);
    return ERR_TOO_BIG;
}

// Returns an absolute path of the environment, or NULL.
static const char *absolute(const char *variable)
{
    const char *path = getenv(variable);
    return path && path[0] == '/' ? path : NULL;
}

int state_dir_find(const char *given, char out[STATE_PATH_MAX])
{
    const char *path;
    if (given)
        return join(out, given, (int)strnlen(given, STATE_PATH_MAX), "");
    if ((path = absolute("STATE_DIRECTORY")))
        return join(out, path, (int)strcspn(path, ":"), "");
    if ((path = absolute("XDG_STATE_HOME")))
        return join(out, path, (int)strnlen(path, STATE_PATH_MAX), "/weir");
    if ((path = absolute("HOME")))
        return join(out, path, (int)strnlen(path, STATE_PATH_MAX), "/.local/state/weir");
    return join(out, "/var/lib/weir", 13, "");
}

static int path_of(char out[STATE_PATH_MAX], const char *dir, const char *name)
{
    char file[STATE_PATH_MAX];
    int err = join(file, "/", 1, name);
    return err ? err : join(out, dir, (int)strnlen(dir, STATE_PATH_MAX), file);
}

static int read_open_file(int fd, const char *path, uint8_t *out, size_t cap, size_t *len)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        log_error("cannot read %s: not a regular file", path);
        return ERR_IO;
    }
    if (private_check(fd, path, PRIVATE_SECRET) != 0)
        return ERR_IO;
    if ((uintmax_t)st.st_size > cap) {
        log_error("cannot read %s: larger than %zu bytes", path, cap);
        return ERR_TOO_BIG;
    }
    *len = 0;
    while (*len < (size_t)st.st_size) {
        ssize_t got = read(fd, out + *len, (size_t)st.st_size - *len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            log_error("cannot read %s: %s", path, got ? strerror(errno) : "it became shorter");
            return ERR_IO;
        }
        *len += (size_t)got;
    }
    return 0;
}

// Opens the directory, if no other user can put a file of his own into it, or another directory in
// its place. Returns a descriptor, ERR_NOT_FOUND (not logged), or ERR_IO.
static int open_dir(const char *dir, bool makes)
{
    int fd = makes ? private_path_make(dir) : private_path_open(AT_FDCWD, dir, dir, O_DIRECTORY);
    if (fd == ERR_IO && errno == ENOENT && !makes)
        return ERR_NOT_FOUND;
    if (fd == ERR_IO)
        log_error("cannot %s the state directory %s: %s (name another with --state-dir)",
                  makes ? "create" : "read", dir, strerror(errno));
    if (fd < 0)
        return ERR_IO;
    if (private_check(fd, dir, PRIVATE_OWN) == 0)
        return fd;
    close(fd);
    return ERR_IO;
}

int state_file_read(const char *dir, const char *name, uint8_t *out, size_t cap, size_t *len)
{
    char path[STATE_PATH_MAX];
    if (path_of(path, dir, name) != 0)
        return ERR_IO;
    int folder = open_dir(dir, false);
    if (folder < 0)
        return folder;
    int fd = private_path_open(folder, name, path, O_NONBLOCK);
    int error = errno;
    close(folder);
    if (fd == ERR_IO && error == ENOENT)
        return ERR_NOT_FOUND;
    if (fd == ERR_IO)
        log_error("cannot read %s: %s", path, strerror(error));
    if (fd < 0)
        return ERR_IO;
    int err = read_open_file(fd, path, out, cap, len);
    close(fd);
    return err;
}

static bool write_all(int fd, const uint8_t *data, size_t len)
{
    while (len) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        data += n;
        len -= (size_t)n;
    }
    return fsync(fd) == 0;
}

// Creates a file of a name that no other program uses, mode 0600.
static int create_temporary(int folder, char name[32])
{
    int fd = -1;
    errno = EEXIST;
    for (int i = 0; i < 100 && fd < 0 && errno == EEXIST; i++) {
        uint64_t random;
        if (getrandom(&random, sizeof(random), 0) != sizeof(random))
            return -1;
        snprintf(name, 32, ".new-%016" PRIx64, random);
        fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    return fd;
}

// Gives a file its name. `once`: keeps a file that has it by then (link(2) never replaces one, on
// any file system). The new name survives a power failure only if its directory was written, too.
static bool publish(int folder, const char *temporary, const char *name, bool once)
{
    bool ok = once ? linkat(folder, temporary, folder, name, 0) == 0 || errno == EEXIST
                   : renameat(folder, temporary, folder, name) == 0;
    return ok && fsync(folder) == 0;
}

// Writes a complete file under another name, then gives it its own. All names are those of the
// directory that was judged, whatever has its path by then.
static int write_file(const char *dir, const char *name, const uint8_t *data, size_t len, bool once)
{
    char path[STATE_PATH_MAX], temporary[32];
    if (path_of(path, dir, name) != 0)
        return ERR_IO;
    int folder = open_dir(dir, true);
    if (folder < 0)
        return ERR_IO;
    int err = ERR_IO;
    int fd = create_temporary(folder, temporary);
    if (fd < 0) {
        log_error("cannot write into %s: %s (name another state directory with --state-dir)", dir,
                  strerror(errno));
        goto close_folder;
    }
    bool ok = write_all(fd, data, len);
    ok = close(fd) == 0 && ok;
    if (ok && publish(folder, temporary, name, once))
        err = 0;
    else
        log_error("cannot write %s: %s", path, strerror(errno));
    (void)unlinkat(folder, temporary, 0); // a renamed one is not there
close_folder:
    close(folder);
    return err;
}

int state_file_create_once(const char *dir, const char *name, state_file_make *make, void *ctx,
                           uint8_t *out, size_t cap, size_t *len)
{
    int err = state_file_read(dir, name, out, cap, len);
    if (err != ERR_NOT_FOUND)
        return err;
    err = make(ctx, out, cap, len);
    if (!err)
        err = write_file(dir, name, out, *len, true);
    if (!err)
        err = state_file_read(dir, name, out, cap, len); // it may be that of another program
    return err == ERR_NOT_FOUND ? ERR_IO : err;
}

int state_file_replace(const char *dir, const char *name, const uint8_t *data, size_t len)
{
    return write_file(dir, name, data, len, false);
}
