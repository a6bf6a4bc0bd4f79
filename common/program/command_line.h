// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a program's command line, and the configuration file that it names.
#ifndef WEIR_PROGRAM_COMMAND_LINE_H
#define WEIR_PROGRAM_COMMAND_LINE_H

#include <stdio.h>

#include "common/base/decls.h"
#include "common/options/option_table.h"

DECLS_BEGIN

enum options_result { OPTIONS_RUN, OPTIONS_DONE, OPTIONS_BAD };

// Applies the file's options and then those of the command line to *options; the command line
// overrides the file. RUN: *file is the file's text, which options may point into and the caller
// frees; NULL: no file. DONE: the requested text was printed to `to`. BAD: `error` contains the
// fault and the allowed values.
enum options_result command_line_read(const struct option_table *t, int argc, char **argv,
                                      void *options, char **file, FILE *to, char *error,
                                      size_t cap);

DECLS_END
#endif
