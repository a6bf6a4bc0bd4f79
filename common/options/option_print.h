// SPDX-License-Identifier: GPL-2.0-or-later
// Prints a table of options for people: --help, and a configuration file with all options.
#ifndef WEIR_OPTIONS_OPTION_PRINT_H
#define WEIR_OPTIONS_OPTION_PRINT_H

#include "common/base/decls.h"
#include "common/base/put.h"
#include "common/options/option_table.h"

DECLS_BEGIN

enum { OPTION_PRINT_MAX = 256 * 1024, OPTION_PRINT_WIDTH = 96 };

void option_print_help(const struct option_table *t, struct put *out);

// Prints the settings in `said`, and all other options as comments with their defaults. A URL with
// a user (option_row.hides_user) is a comment, too, without user and password.
// option_file_read() accepts the output.
void option_print_config(const struct option_table *t, const struct option_settings *given,
                         struct put *out);

DECLS_END
#endif
