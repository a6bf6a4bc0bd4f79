// SPDX-License-Identifier: GPL-2.0-or-later
// RTP packets of a third party's H.265 (RFC 7798) to access units. A unit ends with the marker bit.
// Packets come in order, as over TCP; where one is missing, or a unit is longer than
// HEVC_MAX_BYTES, all is dropped up to the next key frame (an IRAP picture). Pure.
#ifndef WEIR_SENDER_POLICY_HEVC_FRAMES_H
#define WEIR_SENDER_POLICY_HEVC_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire/rtp.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HEVC_MAX_BYTES = 8 << 20 };

struct hevc_frames { // all zero at first
    uint8_t *data;   // owned; Annex B
    size_t bytes, room;
    uint32_t timestamp; // of the unit
    bool key;
    bool is_broken;   // the unit lacks a part
    bool has_key;     // every unit since a key frame was whole
    bool is_complete; // its marker has come
    bool begun;
    uint16_t next_seq;
};

void hevc_frames_destroy(struct hevc_frames *h);
// Takes a packet. Returns true if that completes a unit: `data`, `bytes`, `key` and `timestamp` are
// its, until the next call.
bool hevc_frames_push(struct hevc_frames *h, const struct rtp_packet *p);

#ifdef __cplusplus
}
#endif
#endif
