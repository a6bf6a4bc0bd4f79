// SPDX-License-Identifier: GPL-2.0-or-later
// Notifications from a service to systemd: sd_notify(3)'s protocol, datagrams to the socket that
// the environment names.
#ifndef WEIR_NET_SD_NOTIFY_H
#define WEIR_NET_SD_NOTIFY_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

// Sends assignments such as "READY=1", separated by newlines. Returns false if no service manager
// listens.
bool sd_notify_send(const char *state);
// Returns the time without "WATCHDOG=1" after which systemd considers this process dead;
// USEC_NEVER: no limit.
usec_t sd_notify_watchdog(void);

DECLS_END
#endif
