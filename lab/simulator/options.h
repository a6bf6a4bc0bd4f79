// SPDX-License-Identifier: GPL-2.0-or-later
// weir-sim's command line.
#ifndef WEIR_SIMULATOR_OPTIONS_H
#define WEIR_SIMULATOR_OPTIONS_H

#include <stdio.h>

#include "common/base/decls.h"
#include "common/program/command_line.h"
#include "lab/sim/scenario.h"

DECLS_BEGIN

enum { SIM_OPTIONS_WORDS = 4096, SIM_OPTIONS_SECONDS = 1000000 };

struct sim_options {
    struct scenario scenario; // traces are loaded
    usec_t duration, since;   // since <= duration
    const char *series;       // borrowed, as are all strings, from argv or `file`; NULL: none
    usec_t step;
    const char *arrivals; // NULL: none
    int64_t arrivals_of;  // number of a flow
    const char *streams;  // NULL: none
    bool till_ended;      // true: stop when all streams have ended
    bool quiet;           // true: no lines of single flows
    bool has_link, has_back;
    char *file;      // owned; the words of --scenario
    char *traces[2]; // owned; NULL: none
};

extern const struct option_table sim_option_table;

// Fills a struct sim_options. DONE: --help or --version was printed to `out`. BAD: `error` contains
// the fault and the allowed values, or is unchanged if the fault was logged (files). Call
// sim_options_destroy in any case.
enum options_result sim_options_parse(int argc, char **argv, void *options, FILE *out, char *error,
                                      size_t cap);
void sim_options_destroy(void *options);

// The parts of the parser that read files. They return an ERR_* with the fault in `error`, or with
// `error` unchanged if the fault was logged.
// Replaces --scenario FILE in argv by the file's words. Returns the number of words.
int sim_options_expand(struct sim_options *o, int argc, char **argv, char **words, char *error,
                       size_t cap);
// Loads the files that the scenario names: traces and sizes.
int sim_options_load(struct sim_options *o, char *error, size_t cap);

DECLS_END
#endif
