// SPDX-License-Identifier: GPL-2.0-or-later
// A disk that fails, for a program that is started with this library in LD_PRELOAD: each read of a
// file whose name has "slow" in it takes 0.2 s, the first one of a file with "asleep" 9 s, one of a
// file with "stuck" never returns. A write to a file whose folder has an entry "held" waits until
// the entry is gone.
#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static void path_of(int fd, char path[PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, PATH_MAX - 1);
    path[len > 0 ? len : 0] = '\0';
}

ssize_t write(int fd, const void *data, size_t size)
{
    static ssize_t (*real)(int, const void *, size_t);
    char path[PATH_MAX + 8];
    path_of(fd, path);
    char *name = strrchr(path, '/');
    if (name)
        strcpy(name, "/held");
    while (name && access(path, F_OK) == 0)
        usleep(20000);
    if (!real)
        real = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    return real(fd, data, size);
}

// Returns true for the first read of each file, of 64 at most.
static bool is_first(int fd)
{
    static _Atomic ino_t read_files[64];
    struct stat st;
    if (fstat(fd, &st) != 0)
        return false;
    for (int i = 0; i < 64; i++) {
        ino_t none = 0;
        if (atomic_compare_exchange_strong(&read_files[i], &none, st.st_ino))
            return true;
        if (none == st.st_ino)
            return false;
    }
    return false;
}

ssize_t read(int fd, void *out, size_t size)
{
    static ssize_t (*real)(int, void *, size_t);
    char path[PATH_MAX];
    path_of(fd, path);
    const char *name = strrchr(path, '/');
    while (name && strstr(name, "stuck"))
        pause();
    if (name && strstr(name, "slow"))
        usleep(200000);
    if (name && strstr(name, "asleep") && is_first(fd))
        sleep(9);
    if (!real)
        real = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    return real(fd, out, size);
}
