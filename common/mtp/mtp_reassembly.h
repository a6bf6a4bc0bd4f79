// SPDX-License-Identifier: GPL-2.0-or-later
// Assembles slots from byte ranges: a middlebox may split and join TCP segments, so a receiver
// takes arbitrary pieces of the byte sequence and returns each slot when its last byte has arrived.
//
//   A piece that contains a whole slot is passed through without a copy, even if parts of the slot
//   were collected before. Other pieces are collected in a bounded number of slots; when all are in
//   use, the lowest one is discarded. Bytes that differ from those collected before restart the
//   slot (a fill took its place). Halves of two versions that do not overlap cannot be told apart
//   here: the caller must authenticate the slot.
#ifndef WEIR_MTP_MTP_REASSEMBLY_H
#define WEIR_MTP_MTP_REASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    MTP_PARTIAL_SLOTS = 32,
    MTP_SLOT_PIECES = 8, // max ranges collected in one slot
    MTP_MAX_SLOT_BYTES = 9000,
};

struct mtp_partial {
    int64_t slot; // -1: unused
    int count;
    struct {
        uint16_t begin, end;
    } have[MTP_SLOT_PIECES]; // ascending, neither overlapping nor touching
};

struct mtp_reassembly {
    size_t slot_bytes;
    uint8_t *bytes; // owned; partial[i] uses the bytes from i * slot_bytes
    struct mtp_partial partial[MTP_PARTIAL_SLOTS];
};

// A piece of the byte sequence; mtp_reassembly_next() consumes it.
struct mtp_piece {
    int64_t offset;      // offset in the sequence; 0: the first byte of slot 0
    const uint8_t *data; // borrowed
    size_t len;
};

// Returns 0; ERR_NO_MEMORY.
int mtp_reassembly_init(struct mtp_reassembly *s, size_t slot_bytes);
void mtp_reassembly_destroy(struct mtp_reassembly *s);

// Consumes the part of the piece that completes one slot: returns true, with *slot and its
// slot_bytes bytes at *bytes, valid until the next call. Returns false when the piece is used up.
// Bytes before offset 0 or beyond 2^62 are skipped.
bool mtp_reassembly_next(struct mtp_reassembly *s, struct mtp_piece *piece, int64_t *slot,
                         const uint8_t **bytes);

DECLS_END
#endif
