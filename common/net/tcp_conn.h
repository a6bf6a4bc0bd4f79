// SPDX-License-Identifier: GPL-2.0-or-later
// A non-blocking TCP connection on the loop, with writes under the caller's control: control bytes
// are buffered (bounded), media packets are taken whole or not at all. Loop thread only.
#ifndef WEIR_NET_TCP_CONN_H
#define WEIR_NET_TCP_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <uv.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TCP_CONN_OUT_BYTES = 256 * 1024, // control bytes that may wait for the kernel
};

struct tcp_conn_ops {
    // The connection is up (only after tcp_conn_connect).
    void (*on_open)(void *ctx, usec_t now);
    // `len` bytes wait in the input buffer. Returns how many were used up (the rest is offered
    // again with more behind it), or a negative error: the connection is then closed through
    // on_close with that error.
    int (*on_input)(void *ctx, const uint8_t *data, size_t len, usec_t now);
    // The kernel takes bytes again; only while tcp_conn_want_room is on, and when no control bytes
    // wait.
    void (*on_room)(void *ctx, usec_t now);
    // The connection ended: ERR_CLOSED by the peer, ERR_IO by an error (logged at debug level),
    // ERR_TOO_BIG when on_input used up nothing of a full buffer and does not hold it, or what
    // on_input returned. Last callback; the owner still has to call tcp_conn_free.
    void (*on_close)(void *ctx, int err, usec_t now);
};

struct tcp_conn;

// Takes over the connected socket `fd` (closed on failure too). `in_cap`: bytes of input kept at
// most. NULL: logged.
struct tcp_conn *tcp_conn_new(uv_loop_t *loop, int fd, size_t in_cap,
                              const struct tcp_conn_ops *ops, void *ctx);
// Starts connecting; on_open or on_close follows. NULL: logged. Deadlines are the caller's (a timer
// and tcp_conn_free).
struct tcp_conn *tcp_conn_connect(uv_loop_t *loop, const struct sockaddr *to, size_t in_cap,
                                  const struct tcp_conn_ops *ops, void *ctx);
void tcp_conn_free(
    struct tcp_conn *c); // NULL is fine; no callback afterwards; may be called inside one

// Queues control bytes behind those that wait. 0; ERR_FULL (nothing taken); ERR_CLOSED.
int tcp_conn_send(struct tcp_conn *c, const void *data, size_t len);
// Writes one media packet: 0 and the whole packet will go out; ERR_AGAIN and none of it;
// ERR_CLOSED. At most 65,540 bytes.
int tcp_conn_write_packet(struct tcp_conn *c, const struct iovec *parts, int count);
// Writes several packets behind the bytes that wait: 0 and all will go out, what the kernel does
// not take at once from a copy; ERR_FULL (more than TCP_CONN_OUT_BYTES wait) and none of them;
// ERR_CLOSED. At most TCP_CONN_OUT_BYTES.
int tcp_conn_write_packets(struct tcp_conn *c, const struct iovec *parts, int count);
// What waits still leaves, then the peer is told that no more comes. What it sends meanwhile is
// read and dropped: to close on it would reset the connection, and what left last might be lost.
// on_close follows when the peer has closed too, maybe in this call; the deadline is the caller's.
void tcp_conn_finish(struct tcp_conn *c, usec_t now);
// From on_input: what it leaves in the buffer is offered again by tcp_conn_resume, and nothing is
// read before. Who has much to do there thus leaves the loop to others in between.
void tcp_conn_hold(struct tcp_conn *c);
void tcp_conn_resume(struct tcp_conn *c, usec_t now);
void tcp_conn_want_room(struct tcp_conn *c, bool want);
bool tcp_conn_has_backlog(const struct tcp_conn *c); // control bytes, or the rest of a packet, wait

int tcp_conn_fd(const struct tcp_conn *c);
const struct sockaddr_storage *tcp_conn_peer(const struct tcp_conn *c);
const struct sockaddr_storage *tcp_conn_local(const struct tcp_conn *c);

#ifdef __cplusplus
}
#endif
#endif
