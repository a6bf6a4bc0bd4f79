// SPDX-License-Identifier: GPL-2.0-or-later
// RTP payload format for H.264, sender's side (RFC 6184, packetization-mode 1): single NAL units
// and FU-A. Parameter sets and SEI go as they come. A packetiser is a cursor over one frame; many
// cursors may walk the same bytes.
#ifndef WEIR_MEDIA_RTP_PACKETISER_H
#define WEIR_MEDIA_RTP_PACKETISER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nal { // one NAL unit inside a frame's bytes, without start code
    uint32_t offset;
    uint32_t len;
};

struct packetiser {
    const uint8_t *data;    // borrowed until done
    const struct nal *nals; // borrowed until done
    int nal_count;
    int nal; // next one to send
    uint32_t
        sent; // payload bytes of it that FU-A packets carried so far (its header byte counts as 1)
};

struct rtp_payload {
    uint8_t head[2]; // FU indicator and FU header, head_len 2 or 0
    size_t head_len;
    const uint8_t *body; // borrowed from the frame
    size_t body_len;
    bool first; // of the frame
    bool last;  // of the frame: RTP marker
};

// Empty NAL units are skipped. At least one must be non-empty.
void packetiser_init(struct packetiser *p, const uint8_t *data, const struct nal *nals,
                     int nal_count);
// The next payload of at most `max` bytes (>= 16), head included. false when the frame is done.
bool packetiser_next(struct packetiser *p, size_t max, struct rtp_payload *out);
bool packetiser_is_at_first(const struct packetiser *p); // no payload was taken yet

#ifdef __cplusplus
}
#endif
#endif
