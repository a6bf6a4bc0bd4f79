// SPDX-License-Identifier: GPL-2.0-or-later
// What the main() of every program does: the command line, the standard streams, SIGPIPE, the log
// and the exit code.
#ifndef WEIR_PROGRAM_PROGRAM_MAIN_H
#define WEIR_PROGRAM_PROGRAM_MAIN_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/net/log_stderr.h"
#include "common/program/command_line.h"

DECLS_BEGIN

enum { PROGRAM_WRONG_USAGE = 2 }; // exit code

struct program_parts {
    const char *name; // such as "weir-send"; a literal
    // `options` is passed to the functions below. `log` is a field of it; NULL: the program has no
    // option for the log, and logs from LOG_INFO on.
    void *options;
    const struct log_options *log;
    // Returns what command_line_read() returns. BAD: if the fault was logged, `error` is unchanged.
    enum options_result (*parse)(int argc, char **argv, void *options, FILE *out, char *error,
                                 size_t cap);
    int (*run)(void *options);      // returns the exit code
    void (*destroy)(void *options); // called once after `parse`, whatever it returned; NULL: none
};

// Returns the exit code: that of `run`, 0 after --help and its like, or PROGRAM_WRONG_USAGE with
// the fault on stderr. SIGPIPE is ignored from here on: if the reader of an output closes it, the
// write fails instead.
int program_main(const struct program_parts *p, int argc, char **argv);

// Closes a loop that has no open handle, and returns `code`. If a handle is open, logs that and
// returns EXIT_FAILURE.
int program_close_loop(uv_loop_t *loop, int code);

DECLS_END
#endif
