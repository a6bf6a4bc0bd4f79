// SPDX-License-Identifier: GPL-2.0-or-later
// The link between two TUN devices, on the real clock. One thread: it reads what the devices have,
// pushes it into the link of that direction, runs the links' nodes when their time has come (each
// at its own instant, so that a late wake-up never changes a rate), and writes what comes out to
// the other device.
#ifndef WEIR_EMULATOR_EMULATOR_H
#define WEIR_EMULATOR_EMULATOR_H

#include "lab/emulator/model/changes.h"
#include "lab/emulator/options.h"
#include "lab/emulator/pcap.h"
#include "lab/emulator/report.h"

#ifdef __cplusplus
extern "C" {
#endif

struct emulator;

// One of two directions. What the link's own figures do not know is counted beside them.
struct direction {
    struct node sink; // the link's; writes to `out`
    struct emulator *emulator;
    struct link link;
    struct packet_pool pool;
    int in, out; // owned by `emulator`
    struct pcap entered, left;
    struct beside all, lately;
};

struct emulator {
    struct world world;
    struct direction ways[2]; // a-to-b, b-to-a
    int tun[2];               // owned; A, B
    int epoll, timer, signals;
    usec_t armed_for;   // what the timer is set to
    usec_t now;         // the clock, as read last
    usec_t spin_credit; // time that may be waited awake, in 1/SPIN_SHARE us
    bool may_spin;
    bool spinning; // since the clock was read last
    usec_t start, end;
    usec_t next_report;
    uint32_t mtu;
    uint16_t ports[LINK_FLOW_PORTS_MAX];
    int port_count;
    struct changes changes; // owned
    size_t next_change;
    struct report report;
    uint8_t *scratch; // owned; a packet that the pool has no room for
    bool stopping;    // a signal came
    int failed;       // 0, or an ERR_*; ends the loop
};

// Devices, links and files, as the options say. 0; ERR_*: logged, nothing is left open.
int emulator_open(struct emulator *e, const struct link_options *o);
// Until a signal, the end of the duration, or an error, and then the last figures. 0; ERR_*:
// logged.
int emulator_run(struct emulator *e);
// 0; ERR_IO: a file of figures or packets is not whole.
int emulator_close(struct emulator *e);

#ifdef __cplusplus
}
#endif
#endif
