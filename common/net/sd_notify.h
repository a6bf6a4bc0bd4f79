// SPDX-License-Identifier: GPL-2.0-or-later
// What a service tells systemd: sd_notify(3)'s protocol, datagrams to the socket that the
// environment names.
#ifndef WEIR_NET_SD_NOTIFY_H
#define WEIR_NET_SD_NOTIFY_H

#include <stdbool.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

// Assignments such as "READY=1", parted by newlines. False: nobody listens.
bool sd_notify_send(const char *state);
// After how long without "WATCHDOG=1" this process is taken for dead; USEC_NEVER: never.
usec_t sd_notify_watchdog(void);

#ifdef __cplusplus
}
#endif
#endif
