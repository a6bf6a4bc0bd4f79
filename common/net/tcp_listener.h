// SPDX-License-Identifier: GPL-2.0-or-later
// Accepts TCP connections at an address, a few per wake-up of the loop. Without a descriptor for
// one more they wait in the kernel's backlog; the listener tries again each second.
#ifndef WEIR_NET_TCP_LISTENER_H
#define WEIR_NET_TCP_LISTENER_H

#include <stddef.h>
#include <sys/socket.h>
#include <uv.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct tcp_listener; // opaque, on the heap; loop thread only

struct tcp_listener_config {
    uv_loop_t *loop;           // borrowed
    const struct sockaddr *at; // borrowed for the call
    const char *option;        // static; that chooses the address, such as "--listen"
    const char *whom;          // borrowed; that is accepted, for the log: "a viewer"
    // Takes over `fd`, which is non-blocking. Must not free the listener.
    void (*on_accepted)(void *ctx, int fd, const struct sockaddr *peer, usec_t now);
    void *ctx; // borrowed
};

// Returns NULL on failure (logged).
struct tcp_listener *tcp_listener_new(const struct tcp_listener_config *config);
// Accepts no more; the address stays taken.
void tcp_listener_stop(struct tcp_listener *l);
// NULL is allowed; the loop still has to run once to close the handle.
void tcp_listener_free(struct tcp_listener *l);
// Writes "ADDR:PORT" as in a URL, with the port that was actually bound.
void tcp_listener_address(const struct tcp_listener *l, char *out, size_t cap);

DECLS_END
#endif
