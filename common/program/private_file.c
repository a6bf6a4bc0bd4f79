// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/program/private_file.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"

int private_judge(const struct stat *st, unsigned user, enum private_use use, char *reason,
                  size_t cap)
{
    bool is_folder = S_ISDIR(st->st_mode);
    if (st->st_uid != user && st->st_uid != 0)
        return err_say(reason, cap, ERR_IO,
                       "another user (%u) owns it, and can change it (chown it, or use another %s)",
                       (unsigned)st->st_uid, is_folder ? "directory" : "file");
    if (use != PRIVATE_SECRET && st->st_mode & (S_IWGRP | S_IWOTH))
        return err_say(reason, cap, ERR_IO, "other users may write %s it (chmod %s it)",
                       is_folder ? "into" : "to", is_folder ? "700" : "600");
    if (use == PRIVATE_SECRET && st->st_mode & (S_IRWXG | S_IRWXO))
        return err_say(reason, cap, ERR_IO,
                       "other users may read or write it (chmod 600 it; if they did, delete it: a "
                       "new one is made)");
    if (use == PRIVATE_SHARED && st->st_mode & S_IRWXO)
        return err_say(reason, cap, ERR_IO,
                       "all users may read it (chmod 600 it, or 640 for its "
                       "group)");
    return 0;
}

int private_check(int fd, const char *path, enum private_use use)
{
    struct stat st;
    char reason[160];
    if (fstat(fd, &st) != 0) {
        log_error("cannot read %s: %s", path, strerror(errno));
        return ERR_IO;
    }
    int err = private_judge(&st, geteuid(), use, reason, sizeof(reason));
    if (err)
        log_error("%s is not used: %s", path, reason);
    return err;
}
