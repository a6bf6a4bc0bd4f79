// SPDX-License-Identifier: GPL-2.0-or-later
// weir-sim's command line.
#ifndef WEIR_SIMULATOR_OPTIONS_H
#define WEIR_SIMULATOR_OPTIONS_H

#include <stdio.h>

#include "common/program/command_line.h"
#include "lab/sim/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SIM_OPTIONS_WORDS = 4096, SIM_OPTIONS_SECONDS = 1000000 };

struct sim_options {
    struct scenario scenario; // traces are loaded
    usec_t duration, since;   // since: at most the duration
    const char *series;       // NULL: none; borrowed, as all texts, from argv or `file`
    usec_t step;
    const char *arrivals; // NULL: none
    int64_t arrivals_of;  // a flow
    const char *streams;  // NULL: none
    bool till_ended;      // stop when all streams have ended
    bool quiet;           // no line a flow
    bool has_link, has_back;
    char *file;      // owned; --scenario's words
    char *traces[2]; // owned; NULL: none
};

extern const struct option_table sim_option_table;

// Fills `o`. DONE: --help or --version was printed to `out`. BAD: what is wrong and what is allowed
// was printed to `err`, or logged (files). sim_options_destroy in any case.
enum options_result sim_options_parse(int argc, char **argv, struct sim_options *o, FILE *out,
                                      FILE *err);
void sim_options_destroy(struct sim_options *o);

// Its parts that read files. Both: an ERR_* when `error` says what is wrong, or, `error` untouched,
// it was logged.
// argv with --scenario FILE replaced by the file's words: how many.
int sim_options_expand(struct sim_options *o, int argc, char **argv, char **words, char *error,
                       size_t cap);
// What the scenario's traces and sizes name.
int sim_options_load(struct sim_options *o, char *error, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
