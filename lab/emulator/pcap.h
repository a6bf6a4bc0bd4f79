// SPDX-License-Identifier: GPL-2.0-or-later
// A capture file: classic pcap with nanosecond timestamps (draft-ietf-opsawg-pcap), LINKTYPE_RAW.
// Timestamps are of the monotonic clock, in whole microseconds.
#ifndef WEIR_EMULATOR_PCAP_H
#define WEIR_EMULATOR_PCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { PCAP_PATH_MAX = 1024 };

struct pcap {
    FILE *file; // owned; NULL: closed, or abandoned after an error
    uint32_t snap;
    bool failed; // true after a failed write (logged)
    char path[PCAP_PATH_MAX];
};

// Opens "PREFIX-SUFFIX.pcap", replacing an existing file. Returns 0; ERR_RANGE (the path is too
// long), ERR_IO.
int pcap_open(struct pcap *p, const char *prefix, const char *suffix, uint32_t snap);
// Keeps at most `snap` bytes of the packet. Does nothing without a file.
void pcap_write(struct pcap *p, const uint8_t *data, size_t len, usec_t when);
// Makes all written data visible to a reader.
void pcap_flush(struct pcap *p);
// Returns 0; ERR_IO: the file is incomplete.
int pcap_close(struct pcap *p);

DECLS_END
#endif
