// SPDX-License-Identifier: GPL-2.0-or-later
// The input of a simulation: links and groups of flows. A group as text:
//
//     KIND[:KEY=VALUE,...]      such as reno:n=20,rtt=12.5ms..250ms,spread=1s
//
//   reno, newreno, sack   TCP with everything to send
//   web                   TCP connections one after the other, Pareto-distributed
//   mtp                   MTP with everything to send
//   cbr                   packets at a constant rate, always or on and off
//   datagram              the programs' datagram flow under a rate controller
//   stream                a whole session of weir-send and weir-play
//
// Keys, each at most once; times us, ms, s, rates bit ... gbit, sizes B, KB ..., as in a link's
// text:
//   all         n=1  from=0  to=HOPS (routers)  start=0s  spread=0s (flows begin up to that later,
//               random)  stop=T (never)  rtt=T or T..T (evenly over the flows; that of the hops)
//               access=100mbit  loss=0% (each way, at the sink)  overhead=0us (of the host, random)
//               size=1500B  local=R  localq=20p (a line between the last router and the sink,
//               drop-tail, both ways; none)
//   TCP, web, stream's TCP
//               window=10000p  delack=100ms (0: none)  ca=ack (+ 1/cwnd an ACK; count: + 1 a cwnd
//               of ACKs, as MTP does it; packets: of acknowledged packets, as Linux; cubic: RFC
//               9438)
//   these, mtp  iw=2p  minrto=1s  ts=0 (1: time stamps, RFC 7323, which time every ACK)
//   mtp         mode=strict (fill, resend)  newreno=0 (1: as the transports)
//   TCP         packets=N (endless)
//   web         tcp=newreno  bytes=50KB  think=1s  shape=1.5 (means; Pareto)  objects=1 (a
//               page, before a pause)  pause=pareto (exp)
//   cbr         rate=R (must be said)  on=T  off=T (always on)  shape=X (lengths are means; Pareto)
//   datagram    cc=NAME[:PARAMS] (must be said; a / stands for the comma between PARAMS)
//               rate=R (media; greedy)  max=1gbit (of the controller)  ect (0 or 1)
//   stream      via=NAME[:PARAMS] (sim_transport.h; must be said; / for the comma)  media=goddard
//               (synthetic.h; / for the comma)  length=300s  latency=5500ms (in the scheduler; the
//               default is what weir-play requests for its buffer, with level= 1s)
//               film=T (a film, stream_source.h, and the viewer's buffer; none: live media. The
//               policy auto chooses, and the session begins with the lowest level)
//               queue=priority (deadline, fifo: the scheduler's mode)  limit=4194304B (of it)
//               level=N (requested throughout; default: the Goddard policy chooses)
//               pair=1 (0: no pair of packets passes, as over RTSP's own connection)
//               parts=0 (1: frames that came in part count as whole, stream_parts.h)
//               astcp=0 (1: MTP's ends are those of the stream's TCP: iw, minrto, ts, delack)
//               repair=off (resend, fec, auto: of lost datagrams, repair_policy.h)
//               sizes=FILE (frame_sizes.h)
//               proxy=LINK (none; a proxy at the sink, and the access link behind it; / for the
//               comma)  proxyvia=minbuf:1,3 (/ for the comma)  proxyrtt=10ms  reflect=limit (off,
//               marks, blocking)  target=250ms; queue= and limit= are the proxy's then; without
//               repair=  second=LINK (none; a second path, two_paths.h; / for the comma)
//               secondrtt=60ms  share=12% (of the bytes, of the second path)  fragment=1000B (of a
//               frame in a packet)  tcp=newreno goddard=NAME=VALUE/... (goddard_params.h)
#ifndef WEIR_SIM_SCENARIO_H
#define WEIR_SIM_SCENARIO_H

#include "common/base/decls.h"
#include "lab/link/link_spec.h"
#include "lab/sim/chain.h"
#include "lab/sim/flow_datagram.h"
#include "lab/sim/flow_mtp.h"
#include "lab/sim/flow_onoff.h"
#include "lab/sim/flow_stream.h"
#include "lab/sim/flow_tcp.h"

DECLS_BEGIN

enum { GROUP_PATH_MAX = 256, SCENARIO_GROUPS = 256, SCENARIO_FLOWS = 10000 };

enum group_kind { GROUP_TCP, GROUP_WEB, GROUP_CBR, GROUP_DATAGRAM, GROUP_MTP, GROUP_STREAM };

struct group {
    enum group_kind kind;
    const char *text; // borrowed; as given
    int64_t n;
    int64_t from, to;        // to -1: the last router
    usec_t rtt_min, rtt_max; // -1: the round-trip time of the hops
    usec_t start, spread, stop;
    int64_t access_bps;
    int64_t local_bps;   // 0: no local link
    int64_t local_queue; // in packets
    double loss;
    usec_t overhead;
    int64_t packet_bytes;
    int64_t full_bytes; // 0: the law knows no larger packet
    enum tcp_variant variant;
    int64_t window, initial_window, packets;
    usec_t min_rto, delayed_ack;
    enum tcp_growth growth;
    int64_t timestamps;
    enum mtp_mode mode;
    int64_t newreno;
    int64_t object_bytes;
    usec_t think;
    int64_t objects;
    bool exponential_think;
    double shape; // 0: not given
    int64_t bps;  // 0: not given
    usec_t on, off;
    char cc[FLOW_CC_MAX]; // "": not given
    int64_t max_bps;
    int64_t ect;
    char via[STREAM_MAX_VIA];        // "": not given
    struct synthetic media;          // media of streams
    char sizes_path[GROUP_PATH_MAX]; // "": none; the code that reads files fills in `sizes`
    struct frame_sizes sizes;        // owned by the code that read it
    struct goddard_params goddard;
    usec_t length, latency;
    usec_t film; // the viewer's buffer; 0: live media
    int64_t fragment_bytes;
    int64_t pairs;
    int64_t in_part;
    int64_t as_tcp;
    enum repair_mode repair;
    enum scheduler_mode queue;
    int64_t limit_bytes; // of the scheduler
    int64_t level;       // of the stream; -1: the Goddard policy chooses
    bool has_proxy;
    struct link_spec proxy_link;
    char proxy_via[STREAM_MAX_VIA];
    usec_t proxy_rtt, target;
    enum reflect_mode reflect;
    bool has_second;
    struct link_spec second_link;
    usec_t second_rtt;
    double share;
};

struct scenario {
    uint64_t seed;
    int hops;
    struct link_spec right, left;
    const char *right_trace, *left_trace; // borrowed; NULL: no trace
    size_t right_trace_len, left_trace_len;
    int group_count;
    struct group groups[SCENARIO_GROUPS];
};

// Returns 0; ERR_MALFORMED or ERR_RANGE: `error` (one line, without a program's name) contains the
// wrong part and the allowed values.
int group_parse(const char *text, struct group *g, char *error, size_t error_cap);

DECLS_END
#endif
