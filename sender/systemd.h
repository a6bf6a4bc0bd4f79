// SPDX-License-Identifier: GPL-2.0-or-later
// The program as a service of systemd (Type=notify): says when it is ready, that its loop still
// turns (WatchdogSec), and that it stops.
#ifndef WEIR_SENDER_SYSTEMD_H
#define WEIR_SENDER_SYSTEMD_H

#include <uv.h>

#ifdef __cplusplus
extern "C" {
#endif

struct systemd; // opaque; loop thread only

struct systemd *systemd_new(uv_loop_t *loop); // ready now. NULL: nobody asked
void systemd_stopping(struct systemd *s);     // NULL is fine, as below
void systemd_free(struct systemd *s);

#ifdef __cplusplus
}
#endif
#endif
