// SPDX-License-Identifier: GPL-2.0-or-later
// weir-traffic's command line.
#ifndef WEIR_TRAFFIC_OPTIONS_H
#define WEIR_TRAFFIC_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/net/log_stderr.h"
#include "common/program/command_line.h"
#include "lab/traffic/model/spec.h"

DECLS_BEGIN

enum { OPTIONS_SPECS = 32, OPTIONS_FLOWS = 4096 };

struct options {
    bool serve;                     // true: serve; false: run
    struct sockaddr_storage server; // serve: address to listen on; run: address to connect to
    usec_t epoch;    // run only, as are all fields below; monotonic; USEC_NEVER: the start
    usec_t duration; // time after the epoch; USEC_NEVER: until all specs have stopped
    uint64_t seed;
    const char *stats; // borrowed from argv; NULL: none
    int spec_count;    // at least 1
    int flow_count;    // total of all specs, at most OPTIONS_FLOWS
    struct spec specs[OPTIONS_SPECS];
    struct log_options log;
};

extern const struct option_table traffic_option_table;

// Fills a struct options. DONE: --help or --version was printed to `out`. BAD: `error` contains the
// fault and the allowed values.
enum options_result traffic_options_parse(int argc, char **argv, void *options, FILE *out,
                                          char *error, size_t cap);

DECLS_END
#endif
