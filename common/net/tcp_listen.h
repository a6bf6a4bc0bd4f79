// SPDX-License-Identifier: GPL-2.0-or-later
// A socket that accepts TCP connections.
#ifndef WEIR_NET_TCP_LISTEN_H
#define WEIR_NET_TCP_LISTEN_H

#include <stddef.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

// Returns a bound, listening, non-blocking socket, which the caller closes; -1 on failure (logged,
// with the option that chooses another address).
int tcp_listen(const struct sockaddr *at, const char *option);
// Writes "ADDR:PORT" as in a URL, with the port that was actually bound.
void tcp_listen_address(int fd, char *out, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
