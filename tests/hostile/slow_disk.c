// SPDX-License-Identifier: GPL-2.0-or-later
// A disk that fails, for a program that is started with this library in LD_PRELOAD: each read of a
// file whose name has "slow" in it takes 0.2 s, one of a file with "stuck" never returns.
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

ssize_t read(int fd, void *out, size_t size)
{
    static ssize_t (*real)(int, void *, size_t);
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof(path) - 1);
    path[len > 0 ? len : 0] = '\0';
    const char *name = strrchr(path, '/');
    while (name && strstr(name, "stuck"))
        pause();
    if (name && strstr(name, "slow"))
        usleep(200000);
    if (!real)
        real = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    return real(fd, out, size);
}
