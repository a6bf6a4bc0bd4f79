// SPDX-License-Identifier: GPL-2.0-or-later
// The state directory: keys and secrets that outlive a run, in files that only their owner may
// read. A directory into which other users may write, or that another one owns, is not used
// (private_file.h), nor one that another user can put another one in the place of (private_path.h).
// Any thread, but not the loop thread of a program that already serves: it waits for the disk.
#ifndef WEIR_PROGRAM_STATE_DIR_H
#define WEIR_PROGRAM_STATE_DIR_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    STATE_PATH_MAX = 1024,      // bytes of a path with NUL
    STATE_FILE_MAX = 64 * 1024, // max. bytes of a file
};

// Writes the directory's path: `given` (--state-dir) if it is not NULL; otherwise $STATE_DIRECTORY
// (systemd.exec(5); the first of a list), $XDG_STATE_HOME/weir, $HOME/.local/state/weir, and
// /var/lib/weir if the environment names none of them. Relative paths of the environment are
// ignored (XDG Base Directory Specification). Returns 0 or ERR_TOO_BIG (logged).
int state_dir_find(const char *given, char out[STATE_PATH_MAX]);

// Reads the file `name` of the directory into `out`; *len: its bytes. Returns 0; ERR_NOT_FOUND (not
// logged): it does not exist; logged: ERR_TOO_BIG: it has more than `cap` bytes; ERR_IO: it cannot
// be read, or other users may read it, or write into the directory or one above it.
int state_file_read(const char *dir, const char *name, uint8_t *out, size_t cap, size_t *len);

// Makes the contents of a new file: at most `cap` bytes. Returns 0 or a negative ERR_* (logged).
typedef int state_file_make(void *ctx, uint8_t *out, size_t cap, size_t *len);

// Reads the file; if it does not exist, creates it (mode 0600) with what `make` returns, and the
// directory (mode 0700). The file appears complete, and survives a power failure. Of programs that
// create it at once, the first wins and all read its file. Returns 0, or an error of `make` or of
// state_file_read (logged), never ERR_NOT_FOUND.
int state_file_create_once(const char *dir, const char *name, state_file_make *make, void *ctx,
                           uint8_t *out, size_t cap, size_t *len);

// Replaces the file or creates it, as state_file_create_once does. Returns 0 or ERR_IO (logged).
int state_file_replace(const char *dir, const char *name, const uint8_t *data, size_t len);

DECLS_END
#endif
