// SPDX-License-Identifier: GPL-2.0-or-later
// TCP segments of our own making on the wire: a raw socket beside the kernel's TCP. Loop thread
// only.
//
//   The kernel would answer segments that it knows nothing of with resets. What stops it is the
//   shield: a listening socket on the port that takes only packets with a TTL of 255, which
//   nobody's have after a router, and ours (64) never. It reserves the port, too. The raw socket
//   sees all TCP of the host; a filter lets the port's pass, alone. CAP_NET_RAW is what it takes,
//   while it is opened.
#ifndef WEIR_NET_RAW_TCP_H
#define WEIR_NET_RAW_TCP_H

#include <stdbool.h>
#include <sys/socket.h>
#include <uv.h>

#include "common/base/usec.h"
#include "common/wire/tcp_segment.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    RAW_TCP_BATCH = 64,
    RAW_TCP_PACKET = 1500, // the largest that is sent, with its headers
};

// What to tell who lacks it.
#define RAW_TCP_REMEDY                                                                             \
    "TCP segments of our own need the capability CAP_NET_RAW: sudo setcap cap_net_raw+ep PROGRAM"

struct raw_tcp;

struct raw_tcp_counts {
    uint64_t unsent; // segments that the kernel refused
    uint64_t calls;  // system calls that sent segments
};

// A segment for the port came; its data is borrowed for the call.
typedef void raw_tcp_fn(void *ctx, const struct tcp_segment *s, usec_t now);
// All that was waiting has been handed over: what answers it may leave in one batch.
typedef void raw_tcp_idle_fn(void *ctx, usec_t now);

// On the address and port of `local` (port 0: any; any address: all of the host's). `ctx` is
// borrowed until raw_tcp_free. 0; ERR_UNSUPPORTED: CAP_NET_RAW is missing (logged, with the
// remedy); ERR_IO (logged).
int raw_tcp_open(uv_loop_t *loop, const struct sockaddr *local, raw_tcp_fn *fn,
                 raw_tcp_idle_fn *idle, void *ctx, struct raw_tcp **out);
void raw_tcp_free(struct raw_tcp *r); // NULL is fine; no callback afterwards
int raw_tcp_port(const struct raw_tcp *r);
struct raw_tcp_counts raw_tcp_counts_of(const struct raw_tcp *r);

// Sends a segment with the next batch: when it is full, or flushed. A flush within a callback does
// nothing, as one follows all of them: what a batch of acknowledgements lets out leaves in one.
void raw_tcp_send(struct raw_tcp *r, const struct tcp_segment *s);
void raw_tcp_flush(struct raw_tcp *r);

// Is CAP_NET_RAW there now?
bool raw_tcp_has_capability(void);
// Gives CAP_NET_RAW up for all threads that there are, and those that they start later on; while
// only the caller's own runs code of ours. 0; ERR_IO (logged).
int raw_tcp_drop_capability(void);

// From `local` to `remote`, of one family.
struct tcp_path raw_tcp_path(const struct sockaddr *local, const struct sockaddr *remote);

#ifdef __cplusplus
}
#endif
#endif
