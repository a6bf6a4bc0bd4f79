// SPDX-License-Identifier: GPL-2.0-or-later
// Opens files for reading that a request names, or that lie next to such a file. Others may write
// into their folder (uploads, a shared disk), so with a root
//   - a file is opened only if it is below the root, and no name between the two is hidden; a
//     symbolic link may lead to another place below the root, but not out of it;
//   - the kernel follows no link when it opens the file (openat2(2), RESOLVE_BENEATH and
//     RESOLVE_NO_SYMLINKS), so one that is put there between the check and the opening is refused,
//     in a folder above the file, too;
//   - only a regular file is opened: neither a FIFO, which would block, nor a device, which the
//     opening alone may change.
// Any thread; blocks for the disk.
#ifndef WEIR_PROGRAM_FILE_BELOW_H
#define WEIR_PROGRAM_FILE_BELOW_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "common/base/decls.h"

DECLS_BEGIN

// `root`: the real path of a folder (realpath(3)); NULL: the user of the program named the file
// itself, and its links may lead anywhere. `path`: of the file, with the root's path.

// Returns true if there is such a file or folder: its real path and its status.
bool file_below_find(const char *root, const char *path, char real[PATH_MAX], struct stat *st);
// Returns a descriptor, which the caller closes, and the file's status; ERR_NOT_FOUND, with errno;
// or ERR_UNSUPPORTED: it is no regular file.
int file_below_open(const char *root, const char *path, struct stat *st);
// Opens `below`, a path without links, below `root`: what file_below_open does on a kernel without
// openat2(2), or where a filter of system calls forbids it. Returns a descriptor, or -1 with errno.
int file_below_walk(const char *root, const char *below);

DECLS_END
#endif
