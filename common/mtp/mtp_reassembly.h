// SPDX-License-Identifier: GPL-2.0-or-later
// Byte ranges to slots: a middlebox may cut and join TCP segments as it likes, so a receiver takes
// arbitrary pieces of the byte sequence and hands out each slot when its last byte is there.
//
//   A piece that holds a whole slot is passed through without a copy, whatever was there before.
//   Others are collected in a bounded number of slots; the lowest one gives way.
//   Bytes that differ from those collected before begin the slot anew (a fill took its place).
//   Halves of two versions that do not overlap cannot be told apart here: what is in the slot must
//   be authenticated by its owner.
#ifndef WEIR_MTP_MTP_REASSEMBLY_H
#define WEIR_MTP_MTP_REASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MTP_PARTIAL_SLOTS = 32,
    MTP_SLOT_PIECES = 8, // ranges collected in one slot
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
    uint8_t *bytes; // owned; those of partial[i] from i * slot_bytes on
    struct mtp_partial partial[MTP_PARTIAL_SLOTS];
};

// A piece of the byte sequence; mtp_reassembly_next moves it on.
struct mtp_piece {
    int64_t offset;      // 0: the first byte of slot 0
    const uint8_t *data; // borrowed
    size_t len;
};

// 0; ERR_NO_MEMORY.
int mtp_reassembly_init(struct mtp_reassembly *s, size_t slot_bytes);
void mtp_reassembly_destroy(struct mtp_reassembly *s);

// Takes of the piece what is needed to complete one slot: true, and *slot with its slot_bytes bytes
// at *bytes, good until the next call. False: the piece is used up. What lies before offset 0 or
// beyond 2^62 is skipped.
bool mtp_reassembly_next(struct mtp_reassembly *s, struct mtp_piece *piece, int64_t *slot,
                         const uint8_t **bytes);

#ifdef __cplusplus
}
#endif
#endif
