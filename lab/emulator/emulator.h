// SPDX-License-Identifier: GPL-2.0-or-later
// The link between two TUN devices, on the real clock. One thread reads packets from the devices,
// pushes them into the link of that direction, runs the links' nodes when they are due (each at its
// own instant, so that a late wake-up never changes a rate), and writes the packets that leave to
// the other device.
#ifndef WEIR_EMULATOR_EMULATOR_H
#define WEIR_EMULATOR_EMULATOR_H

#include "common/base/decls.h"
#include "lab/emulator/model/changes.h"
#include "lab/emulator/options.h"
#include "lab/emulator/pcap.h"
#include "lab/emulator/report.h"

DECLS_BEGIN

struct emulator;

// One of two directions. Packets that the link's own stats do not know are counted separately.
struct direction {
    struct node sink; // the link's sink; writes to `out`
    struct emulator *emulator;
    struct link link;
    struct packet_pool pool;
    int in, out; // owned by `emulator`
    struct pcap entered, left;
    struct extra_drops all, lately;
};

struct emulator {
    struct world world;
    struct direction ways[2]; // [0] a-to-b, [1] b-to-a
    int tun[2];               // owned; [0] A, [1] B
    int epoll, timer, signals;
    usec_t armed_for;   // when the timer fires
    usec_t now;         // the clock at its last reading
    usec_t spin_credit; // time that the process may spin, in 1/SPIN_SHARE us
    bool may_spin;
    bool spinning; // true if the process has been spinning since the last reading of the clock
    usec_t start, end;
    usec_t next_report;
    uint32_t mtu;
    uint16_t ports[LINK_FLOW_PORTS_MAX];
    int port_count;
    bool captures_rest;     // captures have no packet of these ports
    struct changes changes; // owned
    size_t next_change;
    struct report report;
    uint8_t *scratch; // owned; holds a packet for which the pool has no room
    bool stopping;    // true after a signal
    int failed;       // 0, or an ERR_* that ends the loop
};

// Opens devices, links and files as the options require. Returns 0; ERR_* (logged): nothing is left
// open.
int emulator_open(struct emulator *e, const struct link_options *o);
// Runs until a signal, the end of the duration, or an error, then writes the final stats. Returns
// 0; ERR_* (logged).
int emulator_run(struct emulator *e);
// Returns 0; ERR_IO: a file of stats or packets is incomplete.
int emulator_close(struct emulator *e);

DECLS_END
#endif
