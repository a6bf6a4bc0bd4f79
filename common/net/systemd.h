// SPDX-License-Identifier: GPL-2.0-or-later
// Notifies systemd (Type=notify) that the program is ready, that its loop is alive (WatchdogSec),
// and that it is stopping.
#ifndef WEIR_NET_SYSTEMD_H
#define WEIR_NET_SYSTEMD_H

#include <uv.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct systemd; // opaque; loop thread only

struct systemd *systemd_new(uv_loop_t *loop); // reports "ready"; NULL: not run by systemd
void systemd_stopping(struct systemd *s);     // NULL is fine
void systemd_free(struct systemd *s);         // NULL is fine

DECLS_END
#endif
