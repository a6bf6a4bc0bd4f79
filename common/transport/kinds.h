// SPDX-License-Identifier: GPL-2.0-or-later
// The rows of the table of transports: each is defined beside its name, by its own file's
// functions.
#ifndef WEIR_TRANSPORT_KINDS_H
#define WEIR_TRANSPORT_KINDS_H

#include "common/transport/transport.h"

#ifdef __cplusplus
extern "C" {
#endif

int transport_tcp_check(const struct transport_kind *kind, const char *params);
struct transport *transport_tcp_create(const struct transport_kind *kind, const char *params,
                                       const struct transport_path *path, usec_t now);
#define TRANSPORT_TCP                                                                              \
    {                                                                                              \
        .name = "tcp",                                                                             \
        .help = "plain kernel TCP, the baseline; tcp:notsent=1..16777216 bounds the unsent bytes", \
        .reliable = true, .check = transport_tcp_check, .create = transport_tcp_create             \
    }

int transport_minbuf_check(const struct transport_kind *kind, const char *params);
struct transport *transport_minbuf_create(const struct transport_kind *kind, const char *params,
                                          const struct transport_path *path, usec_t now);
#define TRANSPORT_MINBUF                                                                           \
    {                                                                                              \
        .name = "minbuf",                                                                          \
        .help = "TCP with a short send buffer: minbuf:A,B (1,3) or minbuf:auto,MS",                \
        .reliable = true, .check = transport_minbuf_check, .create = transport_minbuf_create       \
    }

int transport_datagram_check(const struct transport_kind *kind, const char *params);
struct transport *transport_datagram_create(const struct transport_kind *kind, const char *params,
                                            const struct transport_path *path, usec_t now);
// RTP over UDP at the rate that CONTROLLER allows.
#define TRANSPORT_DATAGRAM(NAME, CONTROLLER, RESPONSIVE, HELP)                                     \
    {                                                                                              \
        .name = NAME, .help = HELP, .datagram = true, .responsive = RESPONSIVE,                    \
        .controller = CONTROLLER, .check = transport_datagram_check,                               \
        .create = transport_datagram_create                                                        \
    }

int transport_mtp_check(const struct transport_kind *kind, const char *params);
struct transport *transport_mtp_create(const struct transport_kind *kind, const char *params,
                                       const struct transport_path *path, usec_t now);
#define TRANSPORT_MTP                                                                              \
    {                                                                                              \
        .name = "mtp",                                                                             \
        .help = "TCP Reno without retransmission, in UDP; mtp:strict|fill|resend,A,B or queue=",   \
        .datagram = true, .mtp = true, .check = transport_mtp_check,                               \
        .create = transport_mtp_create                                                             \
    }

struct transport *transport_mtp_raw_create(const struct transport_kind *kind, const char *params,
                                           const struct transport_path *path, usec_t now);
#define TRANSPORT_MTP_RAW                                                                          \
    {                                                                                              \
        .name = "mtp-raw",                                                                         \
        .help = "the same in TCP segments, where UDP is blocked; takes CAP_NET_RAW at both ends",  \
        .mtp = true, .raw = true, .check = transport_mtp_check, .create = transport_mtp_raw_create \
    }

#ifdef __cplusplus
}
#endif
#endif
