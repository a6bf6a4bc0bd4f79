// SPDX-License-Identifier: GPL-2.0-or-later
// The configuration file: the options of the command line, one per line.
//
//    # a comment, at the start of a line or after white space
//    [weir-send]              optional; lines below another program's name are ignored
//    listen = 0.0.0.0:8554
//    loop = true              a switch
//    level = 640x360@30:960   repeated: a list
//    stats = "a #1 file"      in quotes: the escapes \" \\ \n; all else is literal
//    [source front]           what belongs to one of several sources (option_table.section)
//    source = camera:
#ifndef WEIR_OPTIONS_OPTION_FILE_H
#define WEIR_OPTIONS_OPTION_FILE_H

#include "common/base/decls.h"
#include "common/options/option_table.h"

DECLS_BEGIN

enum { OPTION_FILE_MAX = 64 * 1024 };

// Reads text[0..len), which must be followed by one writable byte; values are terminated in place
// and borrowed from it. `name` is the file's name, for errors. Returns 0, or ERR_MALFORMED: `error`
// contains the position, the fault and the allowed values.
int option_file_read(const struct option_table *t, const char *name, char *text, size_t len,
                     struct option_settings *out, char *error, size_t cap);

DECLS_END
#endif
