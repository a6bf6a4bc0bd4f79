// SPDX-License-Identifier: GPL-2.0-or-later
// What the kernel tells of a TCP connection, and what it lets us set.
#ifndef WEIR_NET_TCP_INFO_H
#define WEIR_NET_TCP_INFO_H

#include <stddef.h>
#include <stdint.h>

#include "common/protocol/minbuf.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TCP_CC_NAME = 16 }; // TCP_CA_NAME_MAX

int tcp_info_read(int fd, struct tcp_snapshot *out); // 0 or ERR_IO
// TCP_CONGESTION. 0; ERR_UNSUPPORTED: the kernel does not have it or does not let us. "": no
// change.
int tcp_set_cc(int fd, const char *name);
// The same, but only if the kernel has it at work: setsockopt would have it load the module
// tcp_NAME for a privileged program. For names that peers choose.
int tcp_set_available_cc(int fd, const char *name);
// Bytes written and never sent yet, without the cost of all of TCP_INFO. 0 when the kernel does not
// tell.
uint32_t tcp_notsent_bytes(int fd);
// TCP_NOTSENT_LOWAT: the socket counts as writable while less than half of `bytes` waits unsent.
void tcp_set_notsent_lowat(int fd, uint32_t bytes);
// The kernel's algorithms, space-separated (tcp_available_congestion_control).
void tcp_available_cc(char *out, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
