// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/packet_writer.h"

#include <assert.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "stream/adapt/rate_estimator.h"

// A viewer that shows each frame at once shows it somewhat late, too.
#define LEAST_USEFUL (150 * USEC_PER_MSEC)

enum { RTP_SEQ_AT = 2 }; // offset in the header, RFC 3550, 5.1

// As rtp_encode writes them.
static const struct rtp_ext_ids EXT = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID,
                                       RTP_EXT_MADE_ID};

void packet_writer_init(struct packet_writer *w, uint8_t payload_type, struct rng *rng)
{
    *w = (struct packet_writer){0};
    rtp_sender_init(&w->rtp[TRACK_VIDEO], payload_type, rng);
    w->flow_number = w->rtp[TRACK_VIDEO].next_seq;
}

_Static_assert((int)RTP_MAX_HEADER + (int)RTP_PAYLOAD_MAX_HEAD <= (int)MEDIA_PACKET_MAX_HEAD,
               "a transport takes the head of any packet");

static void stop_repair(struct packet_writer *w)
{
    repair_sender_free(w->repair);
    repair_planner_destroy(&w->planner);
    w->repair = NULL;
    w->is_numbered = false;
    w->parity_room = 0;
}

void packet_writer_destroy(struct packet_writer *w)
{
    stop_repair(w);
    for (int i = 0; i < TRACKS; i++)
        queue_drops_free(w->drops[i]);
}

static int add_drops(struct packet_writer *w, enum media_track track)
{
    if (!w->transport->drops || w->drops[track])
        return 0;
    w->drops[track] = queue_drops_new(w->rtp[track].next_seq);
    return w->drops[track] ? 0 : ERR_NO_MEMORY;
}

int packet_writer_attach(struct packet_writer *w, struct media_transport *transport)
{
    w->transport = transport;
    return add_drops(w, TRACK_VIDEO);
}

int packet_writer_add_audio(struct packet_writer *w, struct rng *rng)
{
    w->has_audio = true;
    rtp_sender_init(&w->rtp[TRACK_AUDIO], RTP_PT_OPUS, rng);
    return add_drops(w, TRACK_AUDIO);
}

// Adds the transport's feedback request to the packet.
static void request_feedback(const struct packet_writer *w, struct rtp_packet *p)
{
    struct feedback_wish wish;
    const struct media_transport_ops *ops = w->transport->ops;
    p->has_feedback = ops->wish && ops->wish(w->transport, &wish);
    if (!p->has_feedback)
        return;
    if (w->reports_often)
        wish.interval = rate_estimator_report_interval(wish.interval);
    usec_t units = usec_min(wish.interval / RTP_FEEDBACK_UNIT_US, UINT16_MAX);
    p->feedback.interval = (uint16_t)usec_max(units, 1);
    p->feedback.packets = (uint8_t)(wish.packets < UINT8_MAX ? wish.packets : UINT8_MAX);
    // A transport that requests reports carries both tracks in one flow.
    p->feedback.has_number =
        w->has_audio || w->is_numbered || w->has_gaps || w->transport->is_numbered;
    p->feedback.number = w->flow_number;
}

size_t packet_writer_payload_room(const struct packet_writer *w, const struct rtp_packet *shape)
{
    struct rtp_packet p = *shape;
    request_feedback(w, &p);
    size_t room = w->transport->max_packet - w->parity_room - rtp_header_bytes(&p);
    return w->max_payload && w->max_payload < room ? w->max_payload : room;
}

// The packet has left.
static void keep(struct packet_writer *w, const struct outgoing_packet *p, uint8_t *head,
                 size_t head_len, usec_t now)
{
    struct repair_media media = {.seq = p->rtp.seq,
                                 .frame = p->number,
                                 .is_last = p->rtp.adu.last,
                                 .is_depended_on = p->is_depended_on,
                                 .deadline = p->captured + w->useful,
                                 .head = head,
                                 .head_len = head_len,
                                 .body = p->payload.body,
                                 .body_len = p->payload.body_len};
    (void)rtp_set_flow_number(head, head_len, EXT, 0); // if it has one
    repair_planner_sent(&w->planner, p->rtp.seq, now);
    repair_sender_sent(w->repair, &media, now);
}

void packet_writer_begin(struct packet_writer *w)
{
    w->instant.known = w->has_begun[TRACK_VIDEO] = w->has_begun[TRACK_AUDIO] = false;
}

// Audio may leave long before the frames of its time, so only one of the tracks tells. The capture
// time of audio may be unknown (0). A frame that had begun to leave before tells nothing.
static void note_instant(struct packet_writer *w, const struct outgoing_packet *p)
{
    if (p->track == TRACK_VIDEO && !p->rtp.has_capture)
        return;
    bool tells = p->track == TRACK_VIDEO || !w->has_begun[TRACK_VIDEO];
    if (tells && p->rtp.capture_wall)
        w->instant = (struct rtp_instant){true, p->pts, p->rtp.capture_wall};
    w->has_begun[p->track] = true;
}

int packet_writer_send(struct packet_writer *w, struct outgoing_packet *p, usec_t now)
{
    struct rtp_sender *rtp = &w->rtp[p->track];
    const struct rtp_payload *payload = &p->payload;
    uint16_t seq = p->rtp.seq;
    rtp_sender_stamp(rtp, p->pts, &p->rtp);
    if (p->is_copy)
        p->rtp.seq = seq;
    request_feedback(w, &p->rtp);
    uint8_t head[RTP_MAX_HEADER + sizeof(payload->head)];
    size_t len = rtp_encode(&p->rtp, head);
    memcpy(head + len, payload->head, payload->head_len);
    struct media_packet packet = {
        .head = head,
        .head_len = len + payload->head_len,
        .body = payload->body,
        .body_len = payload->body_len,
        .deadline = p->captured ? p->captured + usec_max(w->useful, LEAST_USEFUL) : 0,
        .behind = p->behind};
    int err = w->transport->ops->send(w->transport, p->track, &packet, now);
    if (err)
        return err;
    w->flow_number++;
    if (w->repair && p->is_kept)
        keep(w, p, head, packet.head_len, now);
    if (p->is_copy)
        return 0;
    rtp_sender_sent(rtp, &p->rtp, p->number, payload->head_len + payload->body_len);
    note_instant(w, p);
    return 0;
}

// ---- The transport's queue

// Reads the packet, which this writer encoded. Returns its track; -1: the transport's drops are not
// followed.
static int track_of(const struct packet_writer *w, const uint8_t *data, size_t len,
                    struct rtp_packet *p)
{
    int err = rtp_decode(data, len, EXT, p);
    assert(err == 0);
    int track = w->has_audio && p->ssrc == w->rtp[TRACK_AUDIO].ssrc ? TRACK_AUDIO : TRACK_VIDEO;
    return w->drops[track] && p->ssrc == w->rtp[track].ssrc ? track : -1;
}

bool packet_writer_leaves(struct packet_writer *w, uint8_t *rtp, size_t len)
{
    struct rtp_packet p;
    uint16_t wire;
    int track = track_of(w, rtp, len, &p);
    if (track < 0)
        return true;
    if (!queue_drops_leaves(w->drops[track], p.seq, p.timestamp, &wire))
        return false;
    store_be16(rtp + RTP_SEQ_AT, wire);
    return true;
}

bool packet_writer_dropped(struct packet_writer *w, const uint8_t *rtp, size_t len,
                           enum media_track *track, uint16_t *seq)
{
    struct rtp_packet p;
    int of = track_of(w, rtp, len, &p);
    if (of < 0 || !queue_drops_add(w->drops[of], p.seq, p.timestamp))
        return false;
    rtp_sender_unsent(&w->rtp[of], p.payload_len);
    *track = (enum media_track)of;
    *seq = p.seq;
    return true;
}

uint16_t packet_writer_written_seq(const struct packet_writer *w, enum media_track track,
                                   uint16_t wire)
{
    return w->drops[track] ? queue_drops_written(w->drops[track], wire) : wire;
}

uint16_t packet_writer_next_wire_seq(const struct packet_writer *w, enum media_track track)
{
    uint16_t seq = w->rtp[track].next_seq;
    return w->drops[track] ? queue_drops_wire(w->drops[track], seq) : seq;
}

void packet_writer_flush(struct packet_writer *w, usec_t now)
{
    if (w->transport->ops->flush)
        w->transport->ops->flush(w->transport, now);
}

// ---- Repair

// Media packets are as much shorter than parity packets as the headers differ.
static size_t parity_room(const struct packet_writer *w)
{
    struct rtp_packet shape = {0};
    request_feedback(w, &shape);
    return rtp_header_bytes(&shape) + repair_sender_parity_room();
}

int packet_writer_set_repair(struct packet_writer *w, const struct packet_writer_repair *repair,
                             struct rng *rng)
{
    bool is_reported = repair_planner_is_reported(w->transport);
    stop_repair(w);
    w->useful = repair->useful;
    if (repair->mode == REPAIR_MODE_OFF || w->transport->reliable ||
        (is_reported && !repair->is_known))
        return 0;
    bool has_fec = repair->is_known && repair->mode != REPAIR_MODE_RESEND && !w->transport->drops;
    struct repair_sender_config config = {.mode = repair->mode,
                                          .viewer_has_fec = has_fec,
                                          .repairs_all = repair->repairs_all,
                                          .kept_bytes = repair->kept_bytes,
                                          .kept_packets = repair->kept_packets};
    w->repair = repair_sender_new(&config);
    if (!w->repair || repair_planner_init(&w->planner, w->transport) != 0) {
        stop_repair(w);
        return ERR_NO_MEMORY;
    }
    w->is_numbered = is_reported;
    if (has_fec) {
        w->parity_room = parity_room(w);
        w->parity_ssrc = (uint32_t)rng_u64(rng);
        w->parity_seq = (uint16_t)rng_u64(rng);
    }
    return 0;
}

void packet_writer_plan(struct packet_writer *w, const struct repair_planner_frame *frame,
                        usec_t now)
{
    if (w->repair)
        repair_planner_plan(&w->planner, w->repair, frame, now);
}

struct repair_decision packet_writer_lost(struct packet_writer *w, uint16_t seq, usec_t now)
{
    if (!w->repair)
        return (struct repair_decision){.action = REPAIR_NOTHING, .reason = REPAIR_DISABLED};
    struct repair_decision d = repair_sender_lost(w->repair, seq, now);
    if (d.reason != REPAIR_UNDER_WAY) // a viewer may take a late packet for lost
        repair_planner_requested(&w->planner, seq);
    return d;
}

usec_t packet_writer_min_rtt(const struct packet_writer *w)
{
    struct repair_path path = {0};
    if (w->repair)
        path_estimate_fill(&w->planner.path, &path);
    return path.min_rtt;
}

bool packet_writer_has_repair(struct packet_writer *w, usec_t now)
{
    struct repair_packet p;
    return w->repair && repair_sender_next(w->repair, &p, now);
}

// Writes the header of the packet to `head`, of RTP_MAX_HEADER bytes, and describes it in `out`.
static void head_of_repair(const struct packet_writer *w, const struct repair_packet *p,
                           uint8_t *head, struct media_packet *out)
{
    struct rtp_packet rtp = {.payload_type = RTP_PT_FEC,
                             .seq = w->parity_seq,
                             .timestamp = w->rtp[TRACK_VIDEO].last_timestamp,
                             .ssrc = w->parity_ssrc,
                             .payload = p->bytes,
                             .payload_len = p->len};
    size_t len;
    if (p->is_parity) {
        request_feedback(w, &rtp);
        len = rtp_encode(&rtp, head);
    } else {
        int err = rtp_decode(p->bytes, p->len, EXT, &rtp);
        assert(err == 0); // this writer encoded it
        len = (size_t)(rtp.payload - p->bytes);
        memcpy(head, p->bytes, len);
        (void)rtp_set_flow_number(head, len, EXT, w->flow_number); // if it has one
    }
    *out = (struct media_packet){
        .head = head, .head_len = len, .body = rtp.payload, .body_len = rtp.payload_len};
}

int packet_writer_send_repair(struct packet_writer *w, usec_t now)
{
    struct repair_packet p;
    struct media_packet packet;
    uint8_t head[RTP_MAX_HEADER];
    if (!w->repair || !repair_sender_next(w->repair, &p, now))
        return ERR_NOT_FOUND;
    head_of_repair(w, &p, head, &packet);
    int err = w->transport->ops->send(w->transport, TRACK_VIDEO, &packet, now);
    if (err)
        return err;
    packet_writer_flush(w, now); // the next packet may overwrite these bytes
    w->flow_number++;
    w->parity_seq = (uint16_t)(w->parity_seq + p.is_parity);
    repair_sender_done(w->repair, now);
    return 0;
}
