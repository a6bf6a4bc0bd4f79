// SPDX-License-Identifier: GPL-2.0-or-later
// All flows of a run: starts and stops them at their times and reports once a second. Loop thread
// only.
#ifndef WEIR_TRAFFIC_CLIENT_H
#define WEIR_TRAFFIC_CLIENT_H

#include <uv.h>

#include "common/base/decls.h"
#include "lab/traffic/options.h"
#include "lab/traffic/report.h"

DECLS_BEGIN

struct client;

// `on_end`, called once: all specs have stopped, or the duration is over. `options` and `report`
// (NULL: none) are borrowed until traffic_client_free. NULL: logged.
struct client *traffic_client_new(uv_loop_t *loop, const struct options *options,
                                  struct report *report, void (*on_end)(void *ctx), void *ctx);
// Stops the flows that still run and reports the end. No callback afterwards. NULL is fine.
void traffic_client_free(struct client *c);

DECLS_END
#endif
