// SPDX-License-Identifier: GPL-2.0-or-later
// What a program is told: its command line, and the configuration file that this names.
#ifndef WEIR_PROGRAM_COMMAND_LINE_H
#define WEIR_PROGRAM_COMMAND_LINE_H

#include <stdio.h>

#include "common/options/option_table.h"

#ifdef __cplusplus
extern "C" {
#endif

enum options_result { OPTIONS_RUN, OPTIONS_DONE, OPTIONS_BAD };

// Applies the file's options and then those of the command line to *options; one that the command
// line names is not taken from the file. RUN: *file is the file's text, which options may point
// into, the caller's to free; NULL: none. DONE: what was asked for was printed to `to`. BAD:
// `error` says what is wrong and what is allowed.
enum options_result command_line_read(const struct option_table *t, int argc, char **argv,
                                      void *options, char **file, FILE *to, char *error,
                                      size_t cap);

#ifdef __cplusplus
}
#endif
#endif
