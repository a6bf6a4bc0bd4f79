// SPDX-License-Identifier: GPL-2.0-or-later
// weir-link's command line.
#ifndef WEIR_EMULATOR_OPTIONS_H
#define WEIR_EMULATOR_OPTIONS_H

#include <stdio.h>

#include "common/base/decls.h"
#include "common/program/command_line.h"
#include "lab/emulator/rtnetlink.h"
#include "lab/link/link.h"

DECLS_BEGIN

enum { LINK_ADDRESSES_MAX = 8, LINK_FLOW_PORTS_MAX = LINK_FLOWS_MAX - 1 };

// One end of the link. Strings are borrowed from argv.
struct link_end {
    const char *netns;
    const char *device;
    struct ip_prefix addresses[LINK_ADDRESSES_MAX];
    int address_count;
};

struct link_options {
    struct link_end ends[2];   // [0] A, [1] B
    struct link_spec specs[2]; // [0] a-to-b, [1] b-to-a
    bool has_spec[2];
    int mtu;
    const char *changes; // NULL: none
    const char *stats;   // NULL: none
    const char *pcap;    // NULL: none
    int snap;
    bool pcap_rest; // captures have no packet of a --flow
    uint16_t flow_ports[LINK_FLOW_PORTS_MAX];
    int flow_count;
    uint64_t seed;
    usec_t duration; // USEC_NEVER: until a signal
};

extern const struct option_table link_option_table;

// Fills a struct link_options. DONE: --help or --version was printed to `out`. BAD: `error`
// contains the fault and the allowed values.
enum options_result link_options_parse(int argc, char **argv, void *options, FILE *out, char *error,
                                       size_t cap);

DECLS_END
#endif
