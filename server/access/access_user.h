// SPDX-License-Identifier: GPL-2.0-or-later
// --user: makes the line of a user for the file of --access (access_rules.h), with the hash of a
// password that is asked for.
#ifndef WEIR_SERVER_ACCESS_ACCESS_USER_H
#define WEIR_SERVER_ACCESS_ACCESS_USER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    ACCESS_PASSWORD_MAX = 400, // bytes with NUL
    ACCESS_LINE_MAX = 512,     // bytes of a line, with NUL
};

// Returns true if the file of --access may have a user of that name.
bool access_user_is_name(const char *name);
// Writes "user = NAME:HASH", by the best kind of hash that this machine has. Returns 0; ERR_IO: no
// randomness, or no kind of hash that access_rules.h reads.
int access_user_line(const char *name, const char *password, char out[ACCESS_LINE_MAX]);
// Appends the line to the file, which it makes if there is none, mode 0600. Returns 0, or ERR_IO:
// it cannot be read or written, is faulty, or has the user already (logged).
int access_user_append(const char *file, const char *name, const char *line);
// Asks for the password twice, without showing it, or reads it from a line of stdin if that is no
// terminal. `file`: NULL: prints the line to stdout. Returns the exit code of the program; faults
// are logged.
int access_user_make(const char *name, const char *file);

DECLS_END
#endif
