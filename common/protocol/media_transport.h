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

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/congestion/controller.h"
#include "common/protocol/transport_info.h"

DECLS_BEGIN

enum {
    MEDIA_PACKET_MAX_HEAD = 96, // bytes of RTP header, and of the payload's own
};

// What a packet is of. Both go one way, unless the audio has channels or ports of its own.
enum media_track { TRACK_VIDEO, TRACK_AUDIO, TRACKS };

// One RTP packet, in two parts.
struct media_packet {
    const uint8_t *head; // borrowed for the call; at most MEDIA_PACKET_MAX_HEAD bytes
    size_t head_len;     // 0: all of the packet is in `body`
    const uint8_t *body; // borrowed until `flush`
    size_t body_len;
    usec_t deadline; // by which it must have arrived; 0: none is known
    size_t behind;   // bytes of its frame that follow
};

struct media_transport;

struct media_transport_ops {
    // Returns true if a packet may be sent now. The result is valid until the next event of the
    // transport or its connection; `send` checks again.
    bool (*room)(struct media_transport *t, usec_t now);
    // Sends one packet. Returns 0 if the transport took it; ERR_AGAIN if it has no room and took
    // nothing; ERR_CLOSED.
    int (*send)(struct media_transport *t, enum media_track track, const struct media_packet *p,
                usec_t now);
    // Sends the packets that `send` collected into a batch; the caller has no more packets for now.
    // NULL: the transport makes no batches.
    void (*flush)(struct media_transport *t, usec_t now);
    // Returns the feedback to request from the viewer in each packet; false if none is requested.
    // NULL: the transport never requests feedback.
    bool (*wish)(const struct media_transport *t, struct feedback_wish *out);
    // The max rate of this media; a transport without rate control paces at this rate. NULL: not
    // used.
    void (*on_media_rate)(struct media_transport *t, int bitrate_bps, usec_t now);
    void (*info)(struct media_transport *t, struct transport_info *out, usec_t now);
    // Takes the fate of the next packet in the order of sending, of a transport that requests
    // feedback (`wish`). Returns false if none is known. NULL: the transport never knows.
    bool (*fate)(struct media_transport *t, bool *lost);
    // Sends at most `bps` of RTP packets from now on; 0: as much as it would. NULL: it cannot be
    // limited.
    void (*set_max_rate)(struct media_transport *t, double bps, usec_t now);
};

// What a transport reports of the packets that wait in a queue of its own, at once. Called inside
// the transport's functions; must not call the transport. `rtp`: the packet as `send` took it.
struct media_queue_events {
    // The packet leaves for the network. May rewrite its RTP header. If it returns false, the
    // transport drops the packet, and `dropped` follows.
    bool (*leaves)(void *ctx, uint8_t *rtp, size_t len);
    // The queue dropped the packet, of which nothing has left.
    void (*dropped)(void *ctx, const uint8_t *rtp, size_t len);
};

struct media_transport { // embedded first
    const struct media_transport_ops *ops;
    // Set by the sending core of a transport that `drops`, else NULL; static. Its argument:
    // borrowed until the sending core is freed, which calls nothing of the transport afterwards.
    const struct media_queue_events *queue;
    void *queue_ctx;
    size_t max_packet; // bytes of RTP header and payload that fit one segment of the path
    bool reliable;     // a packet that began to leave arrives, in order
    bool responsive;   // its rate depends on the viewer's reports
    bool measures;     // its info reports arrivals, so that the media can adapt to the network
    bool is_numbered;  // each packet carries a flow number, which the transport sets
    bool drops;        // it has a queue that may drop packets that `send` took; it reports them
};

DECLS_END
#endif
