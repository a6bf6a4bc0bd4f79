// SPDX-License-Identifier: GPL-2.0-or-later
// Shared by the transports that carry an MTP flow: takes packets from the session and decides when
// they are sent. A carrier transports the records to the viewer.
#ifndef WEIR_TRANSPORT_MTP_SEND_CORE_H
#define WEIR_TRANSPORT_MTP_SEND_CORE_H

#include "common/base/decls.h"
#include "common/base/rate_meter.h"
#include "common/mtp/mtp_flow.h"
#include "common/transport/transport.h"

DECLS_BEGIN

struct mtp_send_core;

struct mtp_carrier {
    // Returns true if records may be sent. Otherwise no packet is taken from the session.
    bool (*is_open)(const struct mtp_send_core *m);
    // Returns a buffer for the next record, of max_packet + MTP_RECORD_HEAD bytes.
    uint8_t *(*buffer)(struct mtp_send_core *m);
    // Sends the record in that buffer, at the latest with the next flush; it may be lost.
    void (*put)(struct mtp_send_core *m, int64_t slot, size_t len, usec_t now);
    void (*flush)(struct mtp_send_core *m);
    // true if the flow adapts to a path that checks sequence numbers (mtp_flow_adapt)
    bool adapts;
};

struct mtp_send_core { // embedded first
    struct transport base;
    const struct mtp_carrier *carrier; // static
    struct mtp_flow flow;
    struct timer *timer; // owned
    usec_t armed;        // no later than needed
    bool waits;          // the session was refused
    usec_t intake_at;    // bytes of the next packet, if the queue accepts all packets
    int media_bps;       // 0: not said
    struct rate_meter meter;
    transport_room_fn *on_room;
    void *ctx; // borrowed
};

// transport_kind.check.
int mtp_send_core_check(const struct transport_kind *kind, const char *params);
// `params` were checked. 0; ERR_MALFORMED; ERR_RANGE; ERR_NO_MEMORY.
int mtp_send_core_init(struct mtp_send_core *m, const struct mtp_carrier *carrier,
                       const char *params, const struct transport_path *path, size_t max_packet,
                       usec_t now);
void mtp_send_core_destroy(struct mtp_send_core *m);

// The carrier opened, or an acknowledgement arrived. Asks the session first, because a replacement
// carries the session's next packet.
void mtp_send_core_resume(struct mtp_send_core *m, usec_t now);
void mtp_send_core_ack(struct mtp_send_core *m, const struct mtp_ack *ack, usec_t now);

// The functions of the same names in struct transport_ops.
bool mtp_send_core_room(struct media_transport *t, usec_t now);
int mtp_send_core_send(struct media_transport *t, enum media_track track,
                       const struct media_packet *p, usec_t now);
void mtp_send_core_flush(struct media_transport *t, usec_t now);
void mtp_send_core_on_media_rate(struct media_transport *t, int bitrate_bps, usec_t now);
void mtp_send_core_info(struct media_transport *t, struct transport_info *out, usec_t now);

DECLS_END
#endif
