// SPDX-License-Identifier: GPL-2.0-or-later
// Collects the stats once a second for the file of --stats and the HTTP server of --metrics. Loop
// thread only.
#ifndef WEIR_SERVER_EXPORT_STATS_OUTPUTS_H
#define WEIR_SERVER_EXPORT_STATS_OUTPUTS_H

#include <sys/socket.h>

#include "server/session/catalog.h"

#ifdef __cplusplus
extern "C" {
#endif

struct access;
struct stats_outputs; // opaque

// `file`: NULL: none. `metrics`: address of the HTTP server; AF_UNSPEC: none. `access`: as
// stats_http_new has it. Borrows the catalog.
// Returns NULL if the file or the address cannot be opened (logged).
struct stats_outputs *stats_outputs_new(const char *file, const struct sockaddr_storage *metrics,
                                        struct access *access, struct catalog *catalog, usec_t now);
// Says where viewers find the server, once it listens.
void stats_outputs_locate(struct stats_outputs *t, const struct stats_place *at);
// Collects and publishes the stats; call it about once a second.
void stats_outputs_collect(struct stats_outputs *t, usec_t now);
// Call it before the catalog is freed. Stops the HTTP server and writes the last line of the file. NULL is fine.
void stats_outputs_free(struct stats_outputs *t, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
