// SPDX-License-Identifier: GPL-2.0-or-later
// Collects the stats once a second for the file of --stats and the HTTP server of --metrics. Loop
// thread only.
#ifndef WEIR_SERVER_EXPORT_STATS_OUTPUTS_H
#define WEIR_SERVER_EXPORT_STATS_OUTPUTS_H

#include <sys/socket.h>
#include <uv.h>

#include "common/base/decls.h"
#include "server/policy/control_target.h"
#include "server/session/catalog.h"

DECLS_BEGIN

struct access;
struct stats_outputs; // opaque

// `file`: NULL: none. `metrics`: address of the HTTP server; AF_UNSPEC: none. `access`: as
// stats_http_new has it. Borrows the catalog.
// Returns NULL if the file or the address cannot be opened (logged).
struct stats_outputs *stats_outputs_new(const char *file, const struct sockaddr_storage *metrics,
                                        struct access *access, struct catalog *catalog, usec_t now);
// Serves the control interface at the address of the metrics, which there must be. `access`: as
// above; NULL: only the bearers of keys of the secret in `state_dir` (as state_dir_find has it)
// may use it. Returns 0, or ERR_IO or ERR_NO_MEMORY (logged).
int stats_outputs_control(struct stats_outputs *t, uv_loop_t *loop, struct access *access,
                          const char *state_dir);
// Serves a request about one session. Returns 0, ERR_NOT_FOUND or ERR_RANGE.
typedef int stats_outputs_session_fn(void *ctx, const struct control_request *r, usec_t now);
// Serves a request about one source: CONTROL_SET_SOURCE, CONTROL_RECORD_SOURCE or
// CONTROL_REMOVE_SOURCE, whose sessions it leaves to the caller. Results as control_gate_fn has
// them; *why: a text for people, malloc'ed.
typedef int stats_outputs_source_fn(void *ctx, const struct control_request *r, char **why,
                                    usec_t now);
// Sets who changes the sources, before the loop runs; without it they stay as they are.
void stats_outputs_set_sources(struct stats_outputs *t, stats_outputs_source_fn *fn, void *ctx);
// Sets who knows the sessions; `fn`: NULL: nobody any more.
void stats_outputs_attach(struct stats_outputs *t, stats_outputs_session_fn *fn, void *ctx);
// Says where viewers find the server, once it listens.
void stats_outputs_locate(struct stats_outputs *t, const struct stats_place *at);
// Collects and publishes the stats; call it about once a second.
void stats_outputs_collect(struct stats_outputs *t, usec_t now);
// Returns the stats now as JSON, like /status.json; the caller frees the text. NULL: no memory.
char *stats_outputs_status(struct stats_outputs *t, usec_t now);
// Call it before the catalog is freed. Stops the HTTP server and writes the last line of the file.
// NULL is fine.
void stats_outputs_free(struct stats_outputs *t, usec_t now);

DECLS_END
#endif
