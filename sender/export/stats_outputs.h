// SPDX-License-Identifier: GPL-2.0-or-later
// Collects the figures once a second for whoever wants them: the file of --stats, the address of
// --metrics. Loop thread only.
#ifndef WEIR_SENDER_EXPORT_STATS_OUTPUTS_H
#define WEIR_SENDER_EXPORT_STATS_OUTPUTS_H

#include "sender/catalog/catalog.h"
#include "sender/options/options.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stats_outputs; // opaque

// Borrows the shelf. NULL: the file or the address cannot be had (logged).
struct stats_outputs *stats_outputs_new(const struct options *options, struct catalog *shelf,
                                        usec_t now);
// About once a second.
void stats_outputs_collect(struct stats_outputs *t, usec_t now);
// Writes the last line, and answers nobody any more. NULL is fine.
void stats_outputs_free(struct stats_outputs *t, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
