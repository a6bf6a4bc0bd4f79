// SPDX-License-Identifier: GPL-2.0-or-later
// Collects the figures once a second for whoever wants them: the file of --stats, the address of
// --metrics. Loop thread only.
#ifndef WEIR_SENDER_TELEMETRY_H
#define WEIR_SENDER_TELEMETRY_H

#include "sender/options.h"
#include "sender/shelf.h"

#ifdef __cplusplus
extern "C" {
#endif

struct telemetry; // opaque

// Borrows the shelf. NULL: the file or the address cannot be had (logged).
struct telemetry *telemetry_new(const struct options *options, struct shelf *shelf, usec_t now);
// About once a second.
void telemetry_collect(struct telemetry *t, usec_t now);
// Writes the last line, and answers nobody any more. NULL is fine.
void telemetry_free(struct telemetry *t, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
