// SPDX-License-Identifier: GPL-2.0-or-later
// RTP payload formats for H.264 and HEVC, sender's side (RFC 6184, packetization-mode 1; RFC 7798):
// single NAL units, and FU-A or FU. Parameter sets and SEI are sent unchanged. A packetiser is a
// cursor over one frame; any number of cursors may share the bytes.
#ifndef WEIR_MEDIA_RTP_PACKETISER_H
#define WEIR_MEDIA_RTP_PACKETISER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct nal { // one NAL unit inside a frame's bytes, without start code
    uint32_t offset;
    uint32_t len;
};

struct packetiser {
    const uint8_t *data;    // borrowed until done
    const struct nal *nals; // borrowed until done
    int nal_count;
    int nal;         // index of the next NAL unit to send
    uint32_t sent;   // bytes of it that fragments carried so far, with its header
    uint32_t header; // bytes of a NAL unit's header: 1 H.264, 2 HEVC
};

enum { RTP_PAYLOAD_MAX_HEAD = 32 };

struct rtp_payload {
    uint8_t head[RTP_PAYLOAD_MAX_HEAD]; // H.264: FU indicator and FU header; HEVC: payload header
                                        // and FU header
    size_t head_len;                    // H.264: 0 or 2; HEVC: 0 or 3
    const uint8_t *body;                // borrowed from the frame
    size_t body_len;
    bool first; // the frame's first payload
    bool last;  // the frame's last payload: sets the RTP marker
};

// Empty NAL units are skipped. At least one must be non-empty.
void packetiser_init(struct packetiser *p, const uint8_t *data, const struct nal *nals,
                     int nal_count);
// The same for HEVC; a NAL unit has its header at least.
void packetiser_init_hevc(struct packetiser *p, const uint8_t *data, const struct nal *nals,
                          int nal_count);
// Gives the next payload of at most `max` bytes (>= 16) including the head. Returns false at the
// end of the frame.
bool packetiser_next(struct packetiser *p, size_t max, struct rtp_payload *out);
bool packetiser_is_at_first(const struct packetiser *p); // true before the first payload
// Returns how many payloads of at most `max` bytes are left.
int packetiser_left(const struct packetiser *p, size_t max);

DECLS_END
#endif
