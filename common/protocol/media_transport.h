// SPDX-License-Identifier: GPL-2.0-or-later
// What takes the RTP packets of one viewer: the side of a transport that the sending core
// (stream_sender.h) sees. The transports of the programs (transport.h) embed it, and so do the
// simulated ones. A transport decides *when* the next packet may leave; the sending core decides
// which one.
//
// The owner of a transport has it call back when `room` may have become true after it was false.
//
// Pure.
#ifndef WEIR_PROTOCOL_MEDIA_TRANSPORT_H
#define WEIR_PROTOCOL_MEDIA_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/usec.h"
#include "common/congestion/controller.h"
#include "common/protocol/transport_info.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MEDIA_PACKET_MAX_HEAD = 68, // bytes of RTP header, and of the payload's own
};

// What a packet is of. Both go one way, unless the audio has channels or ports of its own.
enum media_track { TRACK_VIDEO, TRACK_AUDIO, TRACKS };

// One RTP packet, in two parts.
struct media_packet {
    const uint8_t *head; // borrowed for the call; at most MEDIA_PACKET_MAX_HEAD bytes
    size_t head_len;     // 0: all of the packet is in `body`
    const uint8_t *body; // borrowed until `flush`
    size_t body_len;
};

struct media_transport;

struct media_transport_ops {
    // May a packet be handed over now? The answer holds until anything else happens to the
    // transport or its connection: `send` checks again.
    bool (*room)(struct media_transport *t, usec_t now);
    // Hands over one packet. 0: taken; ERR_AGAIN: no room after all, nothing taken; ERR_CLOSED.
    int (*send)(struct media_transport *t, enum media_track track, const struct media_packet *p,
                usec_t now);
    // No more packets follow for now: what `send` kept back to go out together leaves. NULL: keeps
    // nothing back.
    void (*flush)(struct media_transport *t, usec_t now);
    // What each packet is to ask the viewer for. False: nothing. NULL: never anything.
    bool (*wish)(const struct media_transport *t, struct feedback_wish *out);
    // The fastest that this media is meant to leave; a transport without a rate control paces at
    // it. NULL: not interested.
    void (*on_media_rate)(struct media_transport *t, int bitrate_bps, usec_t now);
    void (*info)(struct media_transport *t, struct transport_info *out, usec_t now);
};

struct media_transport { // embedded first
    const struct media_transport_ops *ops;
    size_t max_packet; // bytes of RTP header and payload that fit one segment of the path
    bool reliable;     // what began to go out arrives, in order
    bool responsive;   // its rate answers to what the viewer reports
    bool measures;     // its info tells what arrives, so that the media can follow it
    bool repeats;      // its packets have numbers of their own: it takes an RTP packet twice
};

#ifdef __cplusplus
}
#endif
#endif
