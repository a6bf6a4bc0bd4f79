// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/transport/interleaved.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "common/base/err.h"
#include "common/net/tcp_conn.h"
#include "common/net/tcp_info.h"
#include "common/wire/rtcp.h"
#include "common/wire/rtsp.h"

enum {
    FRAMING = RTSP_INTERLEAVED_HEAD,
    // A packet with its framing is one segment of the path. 1448 is the payload of Ethernet with
    // timestamps. Loopback and jumbo frames allow more, but a later hop of the path may not.
    SEGMENT_MAX = 1448,
    SEGMENT_MIN = 256,
};

void interleaved_init(struct interleaved *i, const struct transport_path *path)
{
    i->conn = path->control;
    struct tcp_snapshot s;
    size_t segment = SEGMENT_MAX;
    if (tcp_info_read(tcp_conn_fd(i->conn), &s) == 0 && s.mss < segment)
        segment = s.mss > SEGMENT_MIN ? s.mss : SEGMENT_MIN;
    i->base.media.max_packet = segment - FRAMING;
}

void interleaved_destroy(struct interleaved *i)
{
    tcp_conn_want_room(i->conn, false);
}

static const int *channel_of(const struct interleaved *i, enum media_track track)
{
    return i->base.tracks[track].channel;
}

int interleaved_send(struct media_transport *t, enum media_track track,
                     const struct media_packet *p, usec_t now)
{
    struct interleaved *i = (struct interleaved *)t;
    uint8_t head[FRAMING];
    size_t len = p->head_len + p->body_len;
    struct iovec all[3] = {{head, FRAMING}, transport_head(p), transport_body(p)};
    rtsp_interleaved_encode(head, channel_of(i, track)[0], len);
    int err = tcp_conn_write_packet(i->conn, all, 3);
    if (!err)
        rate_meter_add(&i->meter, FRAMING + len, now);
    return err;
}

void interleaved_queue(struct interleaved *i, enum media_track track, const struct media_packet *p)
{
    assert(i->queued < INTERLEAVED_BATCH && p->head_len <= MEDIA_PACKET_MAX_HEAD);
    struct interleaved_packet *q = &i->queue[i->queued++];
    q->payload = transport_body(p);
    rtsp_interleaved_encode(q->head, channel_of(i, track)[0], p->head_len + p->body_len);
    if (p->head_len)
        memcpy(q->head + FRAMING, p->head, p->head_len);
    q->head_len = FRAMING + p->head_len;
}

int interleaved_flush(struct interleaved *i, usec_t now)
{
    struct iovec all[2 * INTERLEAVED_BATCH];
    size_t bytes = 0;
    for (int k = 0; k < i->queued; k++) {
        struct interleaved_packet *p = &i->queue[k];
        all[2 * k] = (struct iovec){p->head, p->head_len};
        all[2 * k + 1] = p->payload;
        bytes += p->head_len + p->payload.iov_len;
    }
    int err = i->queued ? tcp_conn_write_packets(i->conn, all, 2 * i->queued) : 0;
    if (i->queued && !err)
        rate_meter_add(&i->meter, bytes, now);
    i->queued = 0;
    return err;
}

int interleaved_send_rtcp(struct transport *t, enum media_track track, const uint8_t *data,
                          size_t len, usec_t now)
{
    (void)now;
    struct interleaved *i = (struct interleaved *)t;
    uint8_t out[FRAMING + RTCP_MAX_PACKET];
    assert(len <= RTCP_MAX_PACKET);
    rtsp_interleaved_encode(out, channel_of(i, track)[1], len);
    memcpy(out + FRAMING, data, len);
    int err =
        tcp_conn_send(i->conn, out, FRAMING + len); // the batch is written completely or not at all
    return err == ERR_FULL ? ERR_AGAIN : err;
}

void interleaved_info(struct media_transport *t, struct transport_info *out, usec_t now)
{
    struct interleaved *i = (struct interleaved *)t;
    transport_info_clear(out);
    out->rate_bps = rate_meter_bps(&i->meter, now);
    struct tcp_snapshot s;
    if (tcp_info_read(tcp_conn_fd(i->conn), &s) != 0)
        return;
    if (s.srtt) {
        out->rtt_ms = usec_to_msec(s.srtt);
        out->window_bps = s.cwnd * 8.0 * s.mss / usec_to_sec(s.srtt);
    }
    if (s.segments_out)
        out->loss = (double)s.retransmissions / (double)s.segments_out;
    out->unsent_bytes = s.notsent_bytes;
    out->flight_bytes = ((double)s.unacked - (double)s.sacked - (double)s.lost) * s.mss;
    // SACKed data has arrived too: otherwise a loss would look like a lack of room for a whole
    // round trip.
    out->delivered_bytes = (double)s.bytes_acked + (double)s.sacked * s.mss;
    out->cwnd_packets = s.cwnd;
    double used = out->unsent_bytes + fmax(0, out->flight_bytes);
    double buffer = used > 0 ? tcp_send_buffer(tcp_conn_fd(i->conn)) : 1;
    if (buffer > 0)
        out->buffer_free = fmax(0, 1 - used / buffer);
}
