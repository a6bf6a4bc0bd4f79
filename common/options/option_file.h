// SPDX-License-Identifier: GPL-2.0-or-later
// The configuration file: what the command line says, one option a line.
//
//   # a comment, from a line's beginning or behind white space
//   [weir-send]              optional; lines below another program's name are left alone
//   listen = 0.0.0.0:8554
//   loop = true              a switch
//   level = 640x360@30:960   repeated: a list
//   stats = "a #1 file"      in quotes: \" \\ \n, and all else as it is
#ifndef WEIR_OPTIONS_OPTION_FILE_H
#define WEIR_OPTIONS_OPTION_FILE_H

#include "common/options/option_table.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { OPTION_FILE_MAX = 64 * 1024 };

// Reads text[0..len), behind which stands one byte more that may be written to; values are ended in
// place and borrowed from it. `name`: the file's, for errors. 0, or ERR_MALFORMED: `error` says
// where, what is wrong and what is allowed.
int option_file_read(const struct option_table *t, const char *name, char *text, size_t len,
                     struct option_settings *out, char *error, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
