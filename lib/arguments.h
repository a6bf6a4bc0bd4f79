// SPDX-License-Identifier: GPL-2.0-or-later
// The options of a configuration of libweir as a command line of weir-play or weir-send.
#ifndef WEIR_LIB_ARGUMENTS_H
#define WEIR_LIB_ARGUMENTS_H

#include <stdio.h>

#include "common/base/decls.h"
#include "common/program/command_line.h"

DECLS_BEGIN

struct arguments {
    int argc;
    char **argv; // owned, as are its texts; NULL: none
};

struct arguments_parts {
    const char *program;        // "weir-play"
    const char *const *first;   // options that precede those of the configuration; ends with NULL
    const char *const *options; // of the configuration, ends with NULL; NULL: none
    const char *operand;        // NULL: none
    enum options_result (*parse)(int argc, char **argv, void *options, FILE *to, char *error,
                                 size_t cap);
};

// Parses them into `options`, which points into `out` then. Returns 0; or -1: `error` says why, and
// nothing is owned by `out` and `options`. An option that only prints a text is an error.
int arguments_parse(const struct arguments_parts *parts, struct arguments *out, void *options,
                    char *error, size_t cap);
void arguments_free(struct arguments *a);

DECLS_END
#endif
