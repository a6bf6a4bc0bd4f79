// SPDX-License-Identifier: GPL-2.0-or-later
// A capture file: classic pcap with nanosecond time stamps (draft-ietf-opsawg-pcap), LINKTYPE_RAW.
// Time stamps are of the monotonic clock, whole microseconds.
#ifndef WEIR_EMULATOR_PCAP_H
#define WEIR_EMULATOR_PCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PCAP_PATH_MAX = 1024 };

struct pcap {
    FILE *file; // owned; NULL: closed, or given up after an error
    uint32_t snap;
    bool failed; // a write has failed; the log says why
    char path[PCAP_PATH_MAX];
};

// "PREFIX-SUFFIX.pcap", replaced if it exists. 0; ERR_RANGE (the path is too long), ERR_IO.
int pcap_open(struct pcap *p, const char *prefix, const char *suffix, uint32_t snap);
// At most `snap` bytes of it are kept. Does nothing without a file.
void pcap_write(struct pcap *p, const uint8_t *data, size_t len, usec_t when);
// So that a reader sees all that was written.
void pcap_flush(struct pcap *p);
// 0; ERR_IO: the file is not whole.
int pcap_close(struct pcap *p);

#ifdef __cplusplus
}
#endif
#endif
