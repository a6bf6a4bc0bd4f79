// SPDX-License-Identifier: GPL-2.0-or-later
// TCP segments that the program builds itself: a raw socket alongside the kernel's TCP. Loop thread
// only.
//
//   The kernel would answer segments of unknown connections with resets. The "shield" prevents
//   this: a listening socket on the port that accepts only packets with a TTL of 255. No packet has
//   that after a router, and ours (64) never do. The shield also reserves the port. The raw socket
//   sees all TCP of the host; a filter passes only the port's. Opening it requires CAP_NET_RAW.
#ifndef WEIR_NET_RAW_TCP_H
#define WEIR_NET_RAW_TCP_H

#include <stdbool.h>
#include <sys/socket.h>
#include <uv.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/wire/tcp_segment.h"

DECLS_BEGIN

enum {
    RAW_TCP_BATCH = 64,
    RAW_TCP_PACKET = 1500, // max bytes of a packet that is sent, with its headers
};

// Message for a user whose program lacks the capability.
#define RAW_TCP_REMEDY                                                                             \
    "TCP segments of our own need the capability CAP_NET_RAW: sudo setcap cap_net_raw+ep PROGRAM"

struct raw_tcp;

struct raw_tcp_counts {
    uint64_t unsent; // segments that the kernel refused
    uint64_t calls;  // system calls that sent segments
};

// Called for each segment to the port; its data is borrowed for the call.
typedef void raw_tcp_fn(void *ctx, const struct tcp_segment *s, usec_t now);
// Called when all waiting segments have been delivered; the answers to them may leave in one batch.
typedef void raw_tcp_idle_fn(void *ctx, usec_t now);

// Opens the sockets on the address and port of `local` (port 0: any; wildcard address: all
// addresses of the host). `ctx` is borrowed until raw_tcp_free. Returns 0; ERR_UNSUPPORTED:
// CAP_NET_RAW is missing (logged, with the remedy); ERR_IO (logged).
int raw_tcp_open(uv_loop_t *loop, const struct sockaddr *local, raw_tcp_fn *fn,
                 raw_tcp_idle_fn *idle, void *ctx, struct raw_tcp **out);
// NULL is allowed; no callback afterwards.
void raw_tcp_free(struct raw_tcp *r);
int raw_tcp_port(const struct raw_tcp *r);
struct raw_tcp_counts raw_tcp_counts_of(const struct raw_tcp *r);

// Sends a segment with the next batch: when the batch is full, or flushed. A flush within a
// callback has no effect, as one flush follows all callbacks: the packets that a batch of
// acknowledgements allows leave together.
void raw_tcp_send(struct raw_tcp *r, const struct tcp_segment *s);
void raw_tcp_flush(struct raw_tcp *r);

// Returns true if the process has CAP_NET_RAW now.
bool raw_tcp_has_capability(void);
// Drops CAP_NET_RAW for all threads, including those started later. Call it while only the caller's
// thread runs code of this program. Returns 0; ERR_IO (logged).
int raw_tcp_drop_capability(void);

// Returns the path from `local` to `remote`, which must be of the same address family.
struct tcp_path raw_tcp_path(const struct sockaddr *local, const struct sockaddr *remote);

DECLS_END
#endif
