// SPDX-License-Identifier: GPL-2.0-or-later
// Opens network namespaces by name, as ip-netns(8) keeps them, by path, by process, or its own.
// Errors are logged here.
#ifndef WEIR_EMULATOR_NETNS_H
#define WEIR_EMULATOR_NETNS_H

#include "common/base/decls.h"

DECLS_BEGIN

// The remedy for EPERM, for the end of a log line.
#define NETNS_PERMISSION_HINT "run as root or inside unshare -Urn"

// `name` is a name under /run/netns, a path (contains a slash), "self", or "pid:N".
// Returns a file descriptor that keeps the namespace; ERR_MALFORMED, ERR_NOT_FOUND, ERR_IO.
int netns_open(const char *name);
// Moves the calling thread into the namespace. Returns 0; ERR_IO.
int netns_enter(int fd);

DECLS_END
#endif
