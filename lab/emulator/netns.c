// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/emulator/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/scan.h"

static int path_of(const char *name, char *path, size_t cap)
{
    int n;
    int64_t pid;
    struct scan s = scan_of(name, strlen(name));
    if (scan_is(s, "self"))
        n = snprintf(path, cap, "/proc/thread-self/ns/net");
    else if (scan_word(&s, "pid:"))
        n = scan_int(&s, INT_MAX, &pid) && scan_end(&s)
                ? snprintf(path, cap, "/proc/%d/ns/net", (int)pid)
                : -1;
    else if (strchr(name, '/'))
        n = snprintf(path, cap, "%s", name);
    else
        n = name[0] ? snprintf(path, cap, "/run/netns/%s", name) : -1;
    return n >= 0 && (size_t)n < cap ? 0 : ERR_MALFORMED;
}

int netns_open(const char *name)
{
    char path[PATH_MAX];
    if (path_of(name, path, sizeof(path)) != 0) {
        log_error("\"%s\" is not a network namespace: expects a name, a path, self or pid:N", name);
        return ERR_MALFORMED;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    if (errno == EACCES || errno == EPERM) {
        log_error("cannot open the network namespace %s: %s", path, NETNS_PERMISSION_HINT);
        return ERR_IO;
    }
    log_error("no network namespace \"%s\": %s: %s", name, path, strerror(errno));
    return ERR_NOT_FOUND;
}

int netns_enter(int fd)
{
    if (setns(fd, CLONE_NEWNET) == 0)
        return 0;
    log_error("cannot enter the network namespace: %s", errno == EPERM ? NETNS_PERMISSION_HINT
                                                        : errno == EINVAL
                                                            ? "the file is not a namespace"
                                                            : strerror(errno));
    return ERR_IO;
}
