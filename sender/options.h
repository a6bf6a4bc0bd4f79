// SPDX-License-Identifier: GPL-2.0-or-later
// weir-send's command line.
#ifndef WEIR_SENDER_OPTIONS_H
#define WEIR_SENDER_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>

#include "media/ladder.h"
#include "media/synthetic.h"

#ifdef __cplusplus
extern "C" {
#endif

struct options {
    struct sockaddr_storage listen;
    const char *path;   // begins with '/'; borrowed from argv
    const char *source; // borrowed from argv
    const char *stats;  // NULL: none
    bool loop;
    int temporal_layers; // 2 or 3
    int level_count;     // 0: the default ladder
    struct level_request levels[LADDER_MAX_LEVELS];
    bool steady;                // the filler is
    int filler_bps;             // 0: the source is no filler
    struct synthetic synthetic; // kind unknown: another source
    int timeout;                // seconds
    int max_viewers;
    int mtp_port;  // 0: any
    int verbosity; // -1 quiet, 0, 1 verbose
};

enum options_result { OPTIONS_RUN, OPTIONS_DONE, OPTIONS_BAD };

// Fills `o`. DONE: --help or --version was printed to `out`. BAD: what is wrong and what is allowed
// was printed to `err`.
enum options_result options_parse(int argc, char **argv, struct options *o, FILE *out, FILE *err);

#ifdef __cplusplus
}
#endif
#endif
