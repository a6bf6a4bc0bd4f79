// SPDX-License-Identifier: GPL-2.0-or-later
// Writes weir-link's stats as JSON lines.
#ifndef WEIR_EMULATOR_REPORT_H
#define WEIR_EMULATOR_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "lab/link/link.h"

DECLS_BEGIN

// Packets that the link's own stats miss or count as forwarded; both count as dropped by "pool".
struct extra_drops {
    uint64_t
        refused_packets[1 + LINK_FLOWS_MAX]; // the total, then one per flow: no memory to hold them
    uint64_t refused_bytes[1 + LINK_FLOWS_MAX];
    uint64_t
        unwritten_packets[1 + LINK_FLOWS_MAX]; // left the link, but the device did not accept them
    uint64_t unwritten_bytes[1 + LINK_FLOWS_MAX];
};

// One direction, at the time of a report.
struct report_way {
    struct link *link;
    const struct extra_drops *all, *lately;
};

struct report {
    FILE *file; // owned; NULL: not requested, or abandoned after an error
    const char *path;
    bool failed;
};

// `path` may be NULL. Returns 0; ERR_IO (logged).
int link_report_open(struct report *r, const char *path);
// Writes the stats since the last line, [0] a-to-b, [1] b-to-a.
void link_report_second(struct report *r, const struct report_way ways[2], usec_t start,
                        usec_t now);
// Writes the stats since the start, and those of each port.
void link_report_end(struct report *r, const struct report_way ways[2], const uint16_t *ports,
                     int port_count, usec_t start, usec_t now);
// Returns 0; ERR_IO: the file is incomplete.
int link_report_close(struct report *r);

DECLS_END
#endif
