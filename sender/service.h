// SPDX-License-Identifier: GPL-2.0-or-later
// The program as a service of systemd (Type=notify): says when it is ready, that its loop still
// turns (WatchdogSec), and that it stops.
#ifndef WEIR_SENDER_SERVICE_H
#define WEIR_SENDER_SERVICE_H

#include <uv.h>

#ifdef __cplusplus
extern "C" {
#endif

struct service; // opaque; loop thread only

struct service *service_new(uv_loop_t *loop); // ready now. NULL: nobody asked
void service_stopping(struct service *s);     // NULL is fine, as below
void service_free(struct service *s);

#ifdef __cplusplus
}
#endif
#endif
