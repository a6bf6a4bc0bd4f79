// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/transport/interleaved.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/tcp_conn.h"
#include "common/net/tcp_info.h"
#include "common/net/udp_socket.h"
#include "common/wire/rtcp.h"
#include "common/wire/rtsp.h"

enum {
    FRAMING = RTSP_INTERLEAVED_HEAD,
    // A packet with its framing is one segment of the path (Goel et al. 2002, 2.3), up to the
    // payload of Ethernet without timestamps. Loopback and jumbo frames allow more, but a later hop
    // of the path may not; packets are then as large as on Ethernet with timestamps.
    SEGMENT_MAX = 1460,
    SEGMENT_USUAL = 1448,
    SEGMENT_MIN = 256,
    PARAMETERS = 8, // a parameter set takes at most this part of a segment
};

void interleaved_follow_mss(struct interleaved *i, uint32_t mss)
{
    size_t segment = mss > SEGMENT_MAX ? SEGMENT_USUAL : mss > SEGMENT_MIN ? mss : SEGMENT_MIN;
    // With TLS the segment holds the record of one packet. Several of them share a record.
    size_t overhead = i->conn ? tcp_conn_overhead(i->conn, segment) : 0;
    i->base.media.max_packet = segment - FRAMING - overhead;
}

// Once a program, and not on the loopback, which has no router: which connections use ECN is the
// system's decision.
static void hint_at_ecn(void)
{
    static atomic_flag hinted = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&hinted))
        log_info("media over TCP without ECN: a router that could mark drops packets instead (set "
                 "net.ipv4.tcp_ecn to 1 where the connection begins, to 1 or 2 at the other end)");
}

void interleaved_init(struct interleaved *i, const struct transport_path *path)
{
    i->conn = path->control;
    struct tcp_snapshot s;
    bool known = tcp_info_read(tcp_conn_fd(i->conn), &s) == 0;
    if (known && !s.ecn && !sockaddr_is_loopback((const struct sockaddr *)tcp_conn_peer(i->conn)))
        hint_at_ecn();
    interleaved_follow_mss(i, known ? s.mss : SEGMENT_USUAL);
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
        rate_meter_add(&i->meter, FRAMING + len + tcp_conn_overhead(i->conn, FRAMING + len), now);
    return err;
}

// Returns the marker bit of the RTP header (RFC 6184, 5.1).
static bool is_last_of_frame(const struct media_packet *p)
{
    const uint8_t *rtp = p->head_len ? p->head : p->body;
    return rtp[1] & 0x80;
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
    bool begins = track == TRACK_VIDEO && !is_last_of_frame(p);
    q->last = !begins;
    q->ends = track == TRACK_VIDEO &&
              (!begins || p->head_len + p->body_len > i->base.media.max_packet / PARAMETERS);
}

// A full packet ends a segment by its size. After a shorter one, which is a frame's last as a rule,
// the kernel would fill up the segment with the next packet if both waited, and all later
// boundaries would shift. So a write ends with a short packet, and its segment with it. Parameter
// sets, which are packets before a key frame's own, and audio share the segments of the frame that
// follows, if both wait: the window counts segments, and 50 packets of audio a second would take
// half of one that losses keep small.
int interleaved_flush(struct interleaved *i, usec_t now)
{
    struct iovec all[2 * INTERLEAVED_BATCH];
    int err = 0;
    int parts = 0;
    size_t bytes = 0;
    for (int k = 0; k < i->queued && !err; k++) {
        struct interleaved_packet *p = &i->queue[k];
        size_t len = p->head_len + p->payload.iov_len;
        bool is_short = p->ends && len < i->base.media.max_packet + FRAMING;
        all[parts++] = (struct iovec){p->head, p->head_len};
        all[parts++] = p->payload;
        bytes += len;
        if (!is_short && k < i->queued - 1)
            continue;
        err = tcp_conn_write_packets(i->conn, all, parts, is_short);
        parts = 0;
    }
    if (bytes && !err)
        rate_meter_add(&i->meter, bytes + tcp_conn_overhead(i->conn, bytes), now);
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
    struct iovec all = {out, FRAMING + len};
    // It shares a segment with what follows, if both wait: the window counts segments.
    int err = tcp_conn_write_packets(i->conn, &all, 1, false);
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
    interleaved_follow_mss(i, s.mss);
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
