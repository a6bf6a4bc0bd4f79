// SPDX-License-Identifier: GPL-2.0-or-later
// A UDP socket on the loop: datagrams in batches both ways, kernel receive times, ECN (RFC 3168).
// Loop thread only.
#ifndef WEIR_NET_UDP_SOCKET_H
#define WEIR_NET_UDP_SOCKET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <uv.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct datagram {
    const uint8_t *data; // borrowed for the call
    size_t len;
    const struct sockaddr_storage *from;
    usec_t arrived; // time at which the kernel received it, CLOCK_MONOTONIC
    uint8_t ecn;    // codepoint: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE
};

typedef void udp_fn(void *ctx, const struct datagram *d, usec_t now);

struct udp_socket;

// Binds to `local` (port 0: any). Returns NULL on failure (logged at debug level; try another
// port).
struct udp_socket *udp_socket_new(uv_loop_t *loop, const struct sockaddr *local, udp_fn *fn,
                                  void *ctx);
// Opens an even port for RTP and the next one for RTCP (RFC 3550, 11) on the address of `local`.
// Returns 0 or ERR_IO (logged).
int udp_socket_pair(uv_loop_t *loop, const struct sockaddr *local, udp_fn *rtp, udp_fn *rtcp,
                    void *ctx, struct udp_socket *out[2]);
// Receives what `source` sends to the multicast group `group` and its port (RFC 4607), on the
// interface that has the address `local`. Ports are those of the group. NULL (logged): no memory,
// or the group cannot be joined there.
struct udp_socket *udp_socket_join(uv_loop_t *loop, const struct sockaddr *group,
                                   const struct sockaddr *source, const struct sockaddr *local,
                                   udp_fn *fn, void *ctx);
// `idle` is called when all datagrams of one receive call have been delivered, so that the answers
// to them can leave in one batch. Until then the socket is "receiving". NULL: no callback.
typedef void udp_idle_fn(void *ctx, usec_t now);
void udp_socket_set_idle(struct udp_socket *u, udp_idle_fn *idle, void *ctx);
bool udp_socket_is_receiving(const struct udp_socket *u);
// Stops or continues reading. Meanwhile the kernel keeps 64 KB, its own records included (about 30
// datagrams of 1 KB), and drops the rest: the buffer of 2003. The usual one of megabytes would be a
// queue of seconds that no bound of ours sees.
void udp_socket_hold(struct udp_socket *u, bool hold);
// Only datagrams of this interface arrive, and all leave by it, whatever the routes of others say.
// 0 or ERR_IO: there is no such interface, or the system does not allow it.
int udp_socket_bind_to(struct udp_socket *u, const char *interface);
// NULL is allowed; no callback afterwards.
void udp_socket_free(struct udp_socket *u);
int udp_socket_port(const struct udp_socket *u);
// Returns 0; ERR_AGAIN: the kernel has no room now; ERR_IO: refused (unreachable ...).
int udp_socket_send(struct udp_socket *u, const struct sockaddr *to, const struct iovec *parts,
                    int count);
// Sends `count` datagrams of `each` parts (1 or 2) to one address with as few system calls as
// possible: runs of one size as one buffer that the kernel splits (UDP GSO) if it can, the others
// by sendmmsg. Returns how many the kernel accepted; the others are lost. `count` <=
// UDP_SOCKET_BATCH.
enum { UDP_SOCKET_BATCH = 16 };
int udp_socket_send_batch(struct udp_socket *u, const struct sockaddr *to,
                          const struct iovec *parts, int each, int count);
// Sets the ECN codepoint of later datagrams.
void udp_socket_set_ecn(struct udp_socket *u, uint8_t ecn);

// Returns the MTU of the route to `to` in bytes, as far as this host knows it; 0: not known.
int udp_socket_route_mtu(const struct sockaddr *to);

// Addresses. The sockaddr_* functions accept IPv4 and IPv6.
socklen_t sockaddr_len(const struct sockaddr *a);
void sockaddr_set_port(struct sockaddr *a, int port);
int sockaddr_port(const struct sockaddr *a);
// Any address of this machine, of the same family.
void sockaddr_clear_host(struct sockaddr *a);
// Returns true for 127.0.0.0/8 and ::1, also as an IPv4 address in IPv6.
bool sockaddr_is_loopback(const struct sockaddr *a);
// Returns true for 224.0.0.0/4 and ff00::/8.
bool sockaddr_is_multicast(const struct sockaddr *a);
// Returns true if address and interface are the same.
bool sockaddr_same_host(const struct sockaddr *a, const struct sockaddr *b);
// Parses "ADDR:PORT" or "[ADDR6]:PORT"; a link-local address requires its interface,
// "[fe80::1%eth0]:PORT" (ip_literal.h). Returns 0 or ERR_MALFORMED.
int sockaddr_parse(const char *text, struct sockaddr_storage *out);
// Same as sockaddr_parse(), with the reason of an error: a static text if the content is wrong,
// NULL if the form is.
int sockaddr_read(const char *text, struct sockaddr_storage *out, const char **reason);
enum { SOCKADDR_TEXT = 80 }; // max bytes of either text with NUL
void sockaddr_text(const struct sockaddr *a, char *out, size_t cap);
// Writes the address as in a URL: with %25 before the interface (RFC 6874).
void sockaddr_url_text(const struct sockaddr *a, char *out, size_t cap);

DECLS_END
#endif
