// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/program/whole_file.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"

int whole_file_write(const char *path, const void *data, size_t bytes)
{
    static unsigned count; // distinguishes files that two threads write at once
    char temporary[PATH_MAX];
    int n = snprintf(temporary, sizeof(temporary), "%s.%d-%u.tmp", path, (int)getpid(),
                     __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED));
    if (n < 0 || (size_t)n >= sizeof(temporary)) {
        log_error("cannot write %.200s: the name is too long", path);
        return ERR_IO;
    }
    FILE *file = fopen(temporary, "wbxe");
    if (!file) {
        log_error("cannot write %s: %s", temporary, strerror(errno));
        return ERR_IO;
    }
    bool ok = fwrite(data, 1, bytes, file) == bytes;
    ok = fclose(file) == 0 && ok;
    if (!ok || rename(temporary, path) < 0) {
        log_error("cannot write %s: %s", path, strerror(errno));
        unlink(temporary);
        return ERR_IO;
    }
    return 0;
}
