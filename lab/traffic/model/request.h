// SPDX-License-Identifier: GPL-2.0-or-later
// The request of a weir-traffic client to the server: one line, at the start of a connection.
//
//     GET BYTES[ CC]\n        BYTES over this connection (0: without end), sent under the
//                             congestion control CC (none: the system's), then its end
//     CBR PORT RATE SIZE\n    datagrams of SIZE bytes at RATE bit/s to that UDP port of the
//                             client's address, as long as the connection lives
//     PARETO PORT RATE SIZE ON OFF SHAPE SEED\n
//                             the same in on and off periods (onoff.h): ON and OFF are their mean
//                             lengths in microseconds, SHAPE is in thousandths
//
// Numbers are decimal without leading zeros, so that a request has one spelling.
#ifndef WEIR_LAB_TRAFFIC_MODEL_REQUEST_H
#define WEIR_LAB_TRAFFIC_MODEL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/scan.h"

DECLS_BEGIN

enum {
    REQUEST_MAX = 128,       // max bytes of a line, with its LF
    REQUEST_CC = 16,         // TCP_CA_NAME_MAX
    REQUEST_SIZE_MAX = 1472, // max bytes of a datagram: one packet of 1500 bytes over IPv4
};
#define REQUEST_BYTES_MAX  INT64_C(1000000000000)
#define REQUEST_RATE_MIN   INT64_C(1000)
#define REQUEST_RATE_MAX   INT64_C(10000000000)
#define REQUEST_PERIOD_MIN INT64_C(1000)       // microseconds
#define REQUEST_PERIOD_MAX INT64_C(3600000000) // microseconds
#define REQUEST_SHAPE_MIN  1010                // thousandths
#define REQUEST_SHAPE_MAX  100000
#define REQUEST_SEED_MAX   INT64_C(1000000000000)

enum request_kind { REQUEST_GET, REQUEST_CBR, REQUEST_PARETO };

struct request {
    enum request_kind kind;
    int64_t bytes;         // GET; 0: unlimited
    char cc[REQUEST_CC];   // GET; "": the system's default
    int port;              // CBR and PARETO, 1 to 65535
    int64_t rate_bps;      // CBR and PARETO, of payload
    int size;              // CBR and PARETO, 1 to REQUEST_SIZE_MAX
    int64_t on_us, off_us; // PARETO, REQUEST_PERIOD_MIN to REQUEST_PERIOD_MAX
    int shape;             // PARETO, thousandths, REQUEST_SHAPE_MIN to REQUEST_SHAPE_MAX
    int64_t seed;          // PARETO, 0 to REQUEST_SEED_MAX
};

// Returns the number of bytes of the request at the start of `data`; ERR_AGAIN: the line is
// incomplete; ERR_TOO_BIG: it exceeds REQUEST_MAX; ERR_MALFORMED; ERR_RANGE.
int request_parse(const char *data, size_t len, struct request *out);
// Returns the length, without the terminating NUL. `out` has REQUEST_MAX bytes.
int request_encode(const struct request *r, char *out);

// Reads the name of a congestion control: exactly 1 to 15 characters of a-z 0-9 _ -.
bool request_parse_cc(struct scan s, char out[REQUEST_CC]);

DECLS_END
#endif
