// SPDX-License-Identifier: GPL-2.0-or-later
// weir-sim's command line.
#ifndef WEIR_SIMULATOR_OPTIONS_H
#define WEIR_SIMULATOR_OPTIONS_H

#include <stdio.h>

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
    char *file;           // owned; --scenario's words
    char *traces[2];      // owned; NULL: none
};

enum sim_options_result { SIM_OPTIONS_RUN, SIM_OPTIONS_DONE, SIM_OPTIONS_BAD };

// Fills `o`. DONE: --help or --version was printed to `out`. BAD: what is wrong and what is allowed
// was printed to `err`, or logged (files). sim_options_destroy in any case.
enum sim_options_result sim_options_parse(int argc, char **argv, struct sim_options *o, FILE *out,
                                          FILE *err);
void sim_options_destroy(struct sim_options *o);

#ifdef __cplusplus
}
#endif
#endif
