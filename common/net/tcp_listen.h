// SPDX-License-Identifier: GPL-2.0-or-later
// A socket that takes TCP connections.
#ifndef WEIR_NET_TCP_LISTEN_H
#define WEIR_NET_TCP_LISTEN_H

#include <stddef.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

// Bound, listening, not blocking; the caller closes it. -1: logged, with the option that chooses
// another place.
int tcp_listen(const struct sockaddr *at, const char *option);
// "ADDR:PORT" as it stands in a URL, the port that was really bound.
void tcp_listen_address(int fd, char *out, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
