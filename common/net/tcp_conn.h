// SPDX-License-Identifier: GPL-2.0-or-later
// A non-blocking TCP connection on the loop, with writes under the caller's control: control bytes
// are buffered (bounded), media packets are accepted whole or not at all. Loop thread only.
#ifndef WEIR_NET_TCP_CONN_H
#define WEIR_NET_TCP_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <uv.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct tcp_filter;

enum {
    TCP_CONN_OUT_BYTES = 256 * 1024, // max control bytes that wait for the kernel
    TCP_CONN_FILTERS = 3,            // max filters of one connection
};

struct tcp_conn_ops {
    // The connection is established (only after tcp_conn_connect).
    void (*on_open)(void *ctx, usec_t now);
    // The input buffer holds `len` bytes. Returns how many were consumed (the rest is passed again
    // together with later input), or a negative error: on_close then reports that error.
    int (*on_input)(void *ctx, const uint8_t *data, size_t len, usec_t now);
    // The kernel has room again, or the peer has acknowledged a write. Called only while
    // tcp_conn_want_room or tcp_conn_want_acks is on and no control bytes wait.
    void (*on_room)(void *ctx, usec_t now);
    // The connection ended: ERR_CLOSED by the peer, ERR_IO by an error (logged at debug level),
    // ERR_TOO_BIG when on_input consumed nothing of a full buffer without holding it, or the error
    // that on_input or a filter returned. Last callback; the owner must still call tcp_conn_free.
    void (*on_close)(void *ctx, int err, usec_t now);
};

struct tcp_conn;

// Takes ownership of the connected socket `fd` (closed on failure too). `in_cap`: max bytes of
// buffered input. Returns NULL on failure (logged).
struct tcp_conn *tcp_conn_new(uv_loop_t *loop, int fd, size_t in_cap,
                              const struct tcp_conn_ops *ops, void *ctx);
// Starts connecting; on_open or on_close follows. Returns NULL on failure (logged). The caller
// enforces deadlines (a timer and tcp_conn_free).
struct tcp_conn *tcp_conn_connect(uv_loop_t *loop, const struct sockaddr *to, size_t in_cap,
                                  const struct tcp_conn_ops *ops, void *ctx);
void tcp_conn_free(
    struct tcp_conn *c); // NULL is allowed; no callback afterwards; may be called in a callback
// As tcp_conn_free, but resets the connection: neither end sends what waits. NULL is allowed.
void tcp_conn_abort(struct tcp_conn *c);

// Queues control bytes after those that wait. Their last byte ends a TCP segment, so that a media
// packet that follows begins one. Returns 0; ERR_FULL (nothing queued); ERR_CLOSED.
int tcp_conn_send(struct tcp_conn *c, const void *data, size_t len);
// Writes one media packet of at most 65,540 bytes. Returns 0: the whole packet will be sent;
// ERR_AGAIN: nothing was written (no room, or a filter's handshake is incomplete); ERR_CLOSED.
int tcp_conn_write_packet(struct tcp_conn *c, const struct iovec *parts, int count);
// Writes several packets after the waiting bytes, at most TCP_CONN_OUT_BYTES. `ends_segment`: the
// kernel adds no later data to the last one's TCP segment (MSG_EOR). Returns 0: all will be sent,
// from a copy if the kernel has no room; ERR_FULL (more than TCP_CONN_OUT_BYTES wait): nothing was
// written; ERR_CLOSED.
int tcp_conn_write_packets(struct tcp_conn *c, const struct iovec *parts, int count,
                           bool ends_segment);
// Writes the beginning of the parts, as many bytes as the kernel takes now, and keeps no copy of
// the rest: for what is large and stays where it is. Returns how many; 0: there is no room
// (tcp_conn_want_room), or a filter's handshake is incomplete; ERR_CLOSED. Through filters it takes
// what fits into one record, and what the kernel does not take of that waits.
ssize_t tcp_conn_write_some(struct tcp_conn *c, const struct iovec *parts, int count);
// While on, the kernel holds back a segment that is not full, for 200 ms at most (TCP_CORK): what
// is written by several calls shares segments. Off: it leaves.
// Callers nest: each turns off what it turned on, and the last one counts.
void tcp_conn_cork(struct tcp_conn *c, bool on);
// Sends the waiting bytes, then signals the end of the stream to the peer. Data from the peer is
// read and dropped meanwhile: closing with unread data would reset the connection, and the last
// bytes might be lost. on_close follows when the peer has closed too, possibly within this call;
// the caller enforces the deadline.
void tcp_conn_finish(struct tcp_conn *c, usec_t now);
// Call from on_input: the unconsumed input is passed again by tcp_conn_resume, and nothing is read
// before. A caller with much work can so let the loop serve others in between. Resume outside of
// on_input.
void tcp_conn_hold(struct tcp_conn *c);
void tcp_conn_resume(struct tcp_conn *c, usec_t now);
void tcp_conn_want_room(struct tcp_conn *c, bool want);
bool tcp_conn_wants_room(const struct tcp_conn *c);
// Calls on_room when the peer has acknowledged a write that was made with this on, at the latest.
// Returns 0; ERR_UNSUPPORTED: the kernel does not tell.
int tcp_conn_want_acks(struct tcp_conn *c, bool want);
// Returns true if control bytes, or the rest of a packet, wait.
bool tcp_conn_has_backlog(const struct tcp_conn *c);
// Returns how many bytes were written or wait, and were not acknowledged by the peer. Asks the
// kernel.
size_t tcp_conn_unacked(const struct tcp_conn *c);

// Puts a filter (common/net/tcp_filter.h) above those there are: input that was not consumed and
// all later input passes through it, and all later output. The connection owns `f`, which stays
// valid until tcp_conn_free. Call it inside on_input, or while no input was received (on_open).
// Until the handshake ends control bytes wait, within TCP_CONN_OUT_BYTES. Returns 0; ERR_FULL
// (TCP_CONN_FILTERS) or ERR_CLOSED: `f` was freed.
// With a filter a write is translated and sent at once, as one record or message where it fits;
// what the kernel does not take waits, and no later packet is translated before it has left.
int tcp_conn_push_filter(struct tcp_conn *c, struct tcp_filter *f);
// Returns true if an encrypting filter has completed its handshake.
bool tcp_conn_is_secure(const struct tcp_conn *c);
// Returns how many bytes the filters add to a write of `bytes`.
size_t tcp_conn_overhead(const struct tcp_conn *c, size_t bytes);

// Gives the connection to another owner: later callbacks are these ops'. Buffered input stays. It
// may be called inside a callback.
void tcp_conn_set_owner(struct tcp_conn *c, const struct tcp_conn_ops *ops, void *ctx);

// Each of two connections goes on over the socket of the other, with its filters and what is
// buffered for it. The owners and what they ask of the connection (tcp_conn_want_room) stay. Both
// have the same `in_cap`; not inside a callback of either. A connection that was on hold with its
// socket is on hold here, too: tcp_conn_resume delivers what has arrived.
void tcp_conn_exchange(struct tcp_conn *a, struct tcp_conn *b);

int tcp_conn_fd(const struct tcp_conn *c);
const struct sockaddr_storage *tcp_conn_peer(const struct tcp_conn *c);
const struct sockaddr_storage *tcp_conn_local(const struct tcp_conn *c);

DECLS_END
#endif
