// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the kernel's state of a TCP connection, and sets its options.
#ifndef WEIR_NET_TCP_INFO_H
#define WEIR_NET_TCP_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/protocol/minbuf.h"

DECLS_BEGIN

enum { TCP_CC_NAME = 16 }; // TCP_CA_NAME_MAX

// Returns 0 or ERR_IO.
int tcp_info_read(int fd, struct tcp_snapshot *out);
// Sets TCP_CONGESTION; "" changes nothing. Returns 0; ERR_UNSUPPORTED: the kernel does not have the
// algorithm or does not permit it.
int tcp_set_cc(int fd, const char *name);
// tcp_set_cc() restricted to algorithms that are already loaded: for a privileged program
// setsockopt would load the module tcp_NAME. For names that peers choose.
int tcp_set_available_cc(int fd, const char *name);
// Returns the time since the last acknowledgement of the peer; 0: unknown.
usec_t tcp_since_ack(int fd);
// Sets the congestion control of one socket for another one.
void tcp_copy_cc(int from, int to);
// Returns the bytes written and not sent yet, without the cost of the whole TCP_INFO; 0 if the
// kernel does not report them.
uint32_t tcp_notsent_bytes(int fd);
// Sets TCP_NOTSENT_LOWAT: the socket counts as writable while less than half of `bytes` is unsent.
void tcp_set_notsent_lowat(int fd, uint32_t bytes);
// Sets SO_MAX_PACING_RATE, so that the kernel paces the connection from now on: at 1.2 windows a
// round trip, or 2 in slow start (sysctl tcp_pacing_ca_ratio, tcp_pacing_ss_ratio). It stays paced.
void tcp_set_pacing(int fd);
// Makes the kernel queue a stamp at the socket's error queue when the last byte of a later write is
// acknowledged (SOF_TIMESTAMPING_TX_ACK), or ends that. Returns 0; ERR_UNSUPPORTED: the kernel does
// not have it.
int tcp_stamp_acks(int fd, bool on);
// Takes all stamps from the error queue. Returns their number.
int tcp_take_stamps(int fd);
// Sets SO_SNDBUF: the socket holds about `bytes`, sent or not, as the kernel reserves the same
// again for its own structures. 0: the kernel sizes the buffer again (Linux 5.15).
void tcp_set_send_buffer(int fd, int bytes);
// Returns about how many bytes the socket holds, sent or not; 0: unknown.
int tcp_send_buffer(int fd);
// Lists the kernel's algorithms, space-separated (tcp_available_congestion_control).
void tcp_available_cc(char *out, size_t cap);

DECLS_END
#endif
