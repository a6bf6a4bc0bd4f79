// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/program/file_below.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/wire/request_path.h"

// O_NONBLOCK: opening a FIFO would block, if one has taken the file's place meanwhile.
enum { READ_FLAGS = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };

bool file_below_find(const char *root, const char *path, char real[PATH_MAX], struct stat *st)
{
    if (!realpath(path, real))
        return false;
    if (root && !request_path_is_offered(root, real)) {
        errno = ENOENT;
        return false;
    }
    return lstat(real, st) == 0;
}

int file_below_walk(const char *root, const char *below)
{
    char names[PATH_MAX];
    if (snprintf(names, sizeof(names), "%s", below) >= (int)sizeof(names)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (char *name = names, *slash; fd >= 0 && name; name = slash ? slash + 1 : NULL) {
        slash = strchr(name, '/');
        if (slash)
            *slash = '\0';
        int flags = slash ? O_PATH | O_DIRECTORY | O_CLOEXEC : (int)READ_FLAGS;
        bool leaves = !*name || strcmp(name, "..") == 0;
        int next = leaves ? -1 : openat(fd, name, flags | O_NOFOLLOW);
        int reason = leaves ? EXDEV : errno;
        close(fd);
        fd = next;
        errno = reason;
    }
    return fd;
}

static int open_below(const char *root, const char *below)
{
    struct open_how how = {.flags = (uint64_t)READ_FLAGS,
                           .resolve =
                               RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    int folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -1;
    int fd = (int)syscall(SYS_openat2, folder, below, &how, sizeof(how));
    int reason = errno;
    close(folder);
    errno = reason;
    // EPERM is the answer of some filters of system calls (seccomp(2)).
    return fd < 0 && (reason == ENOSYS || reason == EPERM) ? file_below_walk(root, below) : fd;
}

int file_below_open(const char *root, const char *path, struct stat *st)
{
    char real[PATH_MAX];
    if (!file_below_find(root, path, real, st))
        return ERR_NOT_FOUND;
    if (!S_ISREG(st->st_mode))
        return ERR_UNSUPPORTED;
    size_t len = root ? strlen(root) : 0;
    while (len && root[len - 1] == '/') // the root folder "/"
        len--;
    int fd = root ? open_below(root, real + len + 1) : open(real, READ_FLAGS);
    if (fd < 0)
        return ERR_NOT_FOUND;
    int err = fstat(fd, st) != 0 ? ERR_NOT_FOUND : S_ISREG(st->st_mode) ? 0 : ERR_UNSUPPORTED;
    if (!err)
        return fd;
    int reason = errno;
    close(fd);
    errno = reason;
    return err;
}
