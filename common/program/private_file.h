// SPDX-License-Identifier: GPL-2.0-or-later
// Files and folders that hold secrets, or that decide who may do what: they are used only if no
// other user of the machine can read or change them, as ssh(1) does with its keys.
#ifndef WEIR_PROGRAM_PRIVATE_FILE_H
#define WEIR_PROGRAM_PRIVATE_FILE_H

#include <stddef.h>
#include <sys/stat.h>

#include "common/base/decls.h"

DECLS_BEGIN

// What users other than the owner may do.
enum private_use {
    PRIVATE_SECRET, // nothing: a key that the program made
    PRIVATE_SHARED, // its group may read it: a key that the administrator made
    PRIVATE_OWN,    // read it: a folder, or a file without secrets
};

// Judges a file or folder of which `user` is the program's user: its owner must be that user or
// root, and others may do no more than `use` says. Returns 0, or ERR_IO: `reason` says what is
// wrong and what to do.
int private_judge(const struct stat *st, unsigned user, enum private_use use, char *reason,
                  size_t cap);
// The same of an open file. Returns 0 or ERR_IO (logged, with the path).
int private_check(int fd, const char *path, enum private_use use);

DECLS_END
#endif
