// SPDX-License-Identifier: GPL-2.0-or-later
// Opens files and folders that no other user of the machine can put another one in the place of: a
// file is as safe as the least of the folders above it.
//
// The law. Each folder on the way from "/" is judged, and each symbolic link that the way takes:
//   - its owner is root or the program's user, or the owner of "/", who can replace all the same.
//     (In a user namespace without root, that is the user 65534; user_namespaces(7).)
//   - no other user may write into the folder, unless it is sticky as /tmp is: there they cannot
//     replace what another user owns. A group may, if it is the owner's own: his primary one, which
//     has his name and no other member. (sshd(8) with StrictModes refuses all groups but, on
//     Debian, such a one; it takes no sticky folder.)
// Links are followed as sshd follows them: where they lead to is judged. So are, unlike there, the
// folders that they are in. A link of procfs, such as /dev/fd/3, is the kernel's.
//
// The way is walked by descriptors, so what was judged is what is used. Any thread; blocks for the
// disk.
#ifndef WEIR_PROGRAM_PRIVATE_PATH_H
#define WEIR_PROGRAM_PRIVATE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct private_judge {
    unsigned user;       // of the program
    unsigned machine;    // the owner of "/"
    bool is_group_alone; // the group of the folder is its owner's own
};

// Judges a folder or link `name` on the way. Returns 0, or ERR_UNTRUSTED: `reason` names it, and
// says what to do.
int private_path_judge(const struct private_judge *judge, const struct stat *st, const char *name,
                       char *reason, size_t cap);

// Opens `path` for reading; `flags`: O_DIRECTORY, O_NONBLOCK or 0. A relative path begins at
// `folder`, which was judged before, or at the working directory: AT_FDCWD. What it leads to is
// itself not judged (private_check). `shown`: for the log, the folder's path before `path`. Returns
// a descriptor; ERR_UNTRUSTED (logged); ERR_IO: errno says why (not logged).
int private_path_open(int folder, const char *path, const char *shown, int flags);
// Opens a folder, as private_path_open does with O_DIRECTORY; creates it, and those above it that
// do not exist, mode 0700.
int private_path_make(const char *path);

DECLS_END
#endif
