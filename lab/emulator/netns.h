// SPDX-License-Identifier: GPL-2.0-or-later
// Network namespaces by name, as ip-netns(8) keeps them, by path, by process, or the own one.
// Errors are logged here.
#ifndef WEIR_EMULATOR_NETNS_H
#define WEIR_EMULATOR_NETNS_H

#ifdef __cplusplus
extern "C" {
#endif

// What to do about EPERM, for the end of a log line.
#define NETNS_PERMISSION_HINT "run as root or inside unshare -Urn"

// `name`: a name under /run/netns, a path (contains a slash), "self", or "pid:N".
// A file descriptor that keeps the namespace; ERR_MALFORMED, ERR_NOT_FOUND, ERR_IO.
int netns_open(const char *name);
// Moves the calling thread there. 0; ERR_IO.
int netns_enter(int fd);

#ifdef __cplusplus
}
#endif
#endif
