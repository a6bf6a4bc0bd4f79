// SPDX-License-Identifier: GPL-2.0-or-later
#include <assert.h>
#include <string.h>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "sender/session/session_state.h"

enum { BATCH = 64 }; // packets a wake-up: a greedy session must leave the loop to the others

// Has the packet ask for the feedback that the transport wants.
static void ask_feedback(const struct session *s, struct rtp_packet *p)
{
    struct feedback_wish wish;
    p->has_feedback = s->transport->ops->wish && s->transport->ops->wish(s->transport, &wish);
    if (!p->has_feedback)
        return;
    if (s->follows)
        wish.interval = rate_estimator_report_interval(wish.interval);
    usec_t units = usec_min(wish.interval / RTP_FEEDBACK_UNIT_US, UINT16_MAX);
    p->feedback.interval = (uint16_t)usec_max(units, 1);
    p->feedback.packets = (uint8_t)(wish.packets < UINT8_MAX ? wish.packets : UINT8_MAX);
    p->feedback.has_number = s->audio.is_set_up; // what asks for reports has one flow for both
    p->feedback.number = s->flow_number;
}

void session_flush(struct session *s, usec_t now)
{
    if (s->transport->ops->flush)
        s->transport->ops->flush(s->transport, now);
}

int session_send_packet(struct session *s, const struct session_packet *packet, usec_t now)
{
    struct rtp_sender *rtp = packet->track == TRACK_AUDIO ? &s->audio.rtp : &s->rtp;
    struct rtp_packet *p = packet->rtp;
    const struct rtp_payload *payload = packet->payload;
    rtp_sender_stamp(rtp, packet->pts, p);
    ask_feedback(s, p);
    uint8_t head[RTP_MAX_HEADER + sizeof(payload->head)];
    size_t len = rtp_encode(p, head);
    memcpy(head + len, payload->head, payload->head_len);
    struct iovec parts[2] = {{head, len + payload->head_len}, {NULL, payload->body_len}};
    parts[1].iov_base = (uint8_t *)(uintptr_t)payload->body; // read only
    int err = s->transport->ops->send(s->transport, packet->track, parts, 2, now);
    if (err)
        return err;
    s->flow_number++;
    if (s->resend && packet->captured)
        retransmit_buffer_keep(s->resend, p->seq, packet->captured,
                               (struct retransmit_buffer_packet){head, parts[0].iov_len},
                               (struct retransmit_buffer_packet){payload->body, payload->body_len});
    rtp_sender_sent(rtp, p, packet->number, packet->capture_wall,
                    payload->head_len + payload->body_len);
    s->last_progress = now;
    if (s->audio.is_set_up && rtp->packets == 1) {
        session_flush(s, now);
        session_report_track(s, packet->track, false, now);
    }
    return 0;
}

// What the next packet of the frame that leaves may carry: packets are as large as they may be, all
// but the last of one size, so that several can leave in one go.
static size_t payload_room(const struct session *s)
{
    struct rtp_packet shape = {.has_adu = true,
                               .adu = {.reorder = (int16_t)s->leaving->reorder},
                               .has_capture = packetiser_is_at_first(&s->packets)};
    ask_feedback(s, &shape);
    return s->transport->max_packet - rtp_header_bytes(&shape);
}

// The next packet of the frame that leaves, or of the one the scheduler picks now. False: none.
static bool prepare(struct session *s, const struct coded_frame **frame, usec_t now)
{
    const struct scheduler_frame *f = scheduler_next(&s->scheduler, now);
    session_reap(s);
    if (!f)
        return false;
    *frame = f->data;
    if (s->leaving != *frame) {
        packetiser_init(&s->packets, (*frame)->data, (*frame)->nals, (*frame)->nal_count);
        s->leaving = *frame;
        s->leaving_level = f->level;
        s->has_packet = false;
    }
    if (!s->has_packet) {
        s->has_packet = packetiser_next(&s->packets, payload_room(s), &s->payload);
        assert(s->has_packet);
    }
    return true;
}

static int send_media(struct session *s, usec_t now)
{
    const struct coded_frame *f;
    if (!prepare(s, &f, now))
        return ERR_NOT_FOUND;
    struct rtp_packet p = {
        .marker = s->payload.last,
        .has_adu = true,
        .adu = {.frame = (uint32_t)f->number,
                .written_us = (uint32_t)clock_wall(),
                .size_id = (uint8_t)f->size_id,
                .temporal_id = (uint8_t)f->temporal_id,
                .key = f->key,
                .first = s->payload.first,
                .last = s->payload.last,
                .level = (uint8_t)s->leaving_level,
                .depends = f->depends_on >= 0 ? (int16_t)(f->number - f->depends_on) : 0,
                .reorder = (int16_t)f->reorder},
        .has_capture = s->payload.first,
        .capture_wall = f->capture_wall,
    };
    // Media time on the wire counts frames, so it goes on evenly through seeks and pauses.
    usec_t pts = usec_of_frames(f->number, session_ladder(s)->source_fps.num,
                                session_ladder(s)->source_fps.den);
    struct session_packet packet = {.track = TRACK_VIDEO,
                                    .rtp = &p,
                                    .payload = &s->payload,
                                    .number = f->number,
                                    .pts = pts,
                                    .capture_wall = f->capture_wall};
    if (session_is_leaned_on(s, f->size_id, f->temporal_id))
        packet.captured = f->captured;
    int err = session_send_packet(s, &packet, now);
    if (err)
        return err;
    s->has_packet = false;
    if (p.adu.last) {
        session_flush(s, now); // what the transport kept back leans on the frame
        scheduler_done(&s->scheduler);
        s->leaving = NULL;
        coded_frame_unref((struct coded_frame *)(uintptr_t)f);
    }
    return 0;
}

// Between two packets of steady filler; 0: greedy.
static usec_t filler_interval(const struct session *s)
{
    if (session_is_greedy(s))
        return 0;
    usec_t bits = (usec_t)s->transport->max_packet * 8;
    return usec_max(bits * USEC_PER_SEC / session_level_now(s)->bitrate_bps, 1);
}

// Of steady filler the oldest are left out, once they waited for the viewer's latency.
static void drop_stale_filler(struct session *s, usec_t interval, usec_t now)
{
    usec_t late = now - s->latency - s->due_at;
    if (late <= 0)
        return;
    int64_t count = late / interval + 1;
    s->filler += count;
    s->due_at += count * interval;
}

static int send_filler(struct session *s, usec_t now)
{
    static const uint8_t zeros[65536];
    size_t len = s->transport->max_packet - RTP_MAX_HEADER;
    usec_t interval = filler_interval(s);
    if (interval > 0)
        drop_stale_filler(s, interval, now);
    struct rtp_payload payload = {.body = zeros,
                                  .body_len = len < sizeof(zeros) ? len : sizeof(zeros)};
    usec_t written_at = interval > 0 ? s->due_at : now;
    usec_t wall = clock_wall() - (now - written_at);
    struct rtp_packet p = {
        .marker = true,
        .has_adu = true,
        .adu = {.frame = (uint32_t)s->filler,
                .written_us = (uint32_t)wall,
                .key = true,
                .first = true,
                .last = true},
        .has_capture = true,
        .capture_wall = wall,
    };
    struct session_packet packet = {.track = TRACK_VIDEO,
                                    .rtp = &p,
                                    .payload = &payload,
                                    .number = s->filler,
                                    .pts = written_at - s->begun_at,
                                    .capture_wall = wall};
    int err = session_send_packet(s, &packet, now);
    if (err)
        return err;
    s->filler++;
    s->due_at += interval;
    return 0;
}

void session_tell_end(struct session *s, usec_t now)
{
    if (!s->ending || s->scheduler.count || s->audio.queue.count)
        return;
    session_send_report(s, true, now);
    session_stop_playing(s);
}

static bool has_lost(struct session *s, usec_t now)
{
    struct retransmit_buffer_packet p;
    return s->resend && s->playing && retransmit_buffer_next(s->resend, now - s->latency, &p);
}

static int send_lost(struct session *s, usec_t now)
{
    struct retransmit_buffer_packet p;
    (void)retransmit_buffer_next(s->resend, now - s->latency, &p);
    struct iovec part = {NULL, p.len};
    part.iov_base = (uint8_t *)(uintptr_t)p.bytes; // read only
    int err = s->transport->ops->send(s->transport, TRACK_VIDEO, &part, 1, now);
    if (!err)
        retransmit_buffer_done(s->resend);
    return err;
}

static bool has_packets(struct session *s, usec_t now)
{
    if (has_lost(s, now))
        return true;
    if (session_audio_waits(s, now))
        return true;
    if (session_is_filler(s))
        return s->playing && (session_is_greedy(s) || now >= s->due_at);
    return s->scheduler.count > 0 && (s->playing || s->leaving);
}

// What was lost goes first, as all that follows waits for it; then sound: it is little, and what is
// missing of it is heard at once.
static int send_next(struct session *s, usec_t now)
{
    if (has_lost(s, now))
        return send_lost(s, now);
    if (session_audio_waits(s, now))
        return session_send_audio(s, now);
    return session_is_filler(s) ? send_filler(s, now) : send_media(s, now);
}

void session_pump(struct session *s, usec_t now)
{
    int sent = 0;
    bool more = has_packets(s, now);
    while (more && sent < BATCH && s->transport->ops->room(s->transport, now)) {
        int err = send_next(s, now);
        if (err == ERR_NOT_FOUND)
            s->last_progress = now;
        if (err == ERR_CLOSED)
            s->config.on_stuck(s->config.ctx, "its connection is gone");
        more = !err && has_packets(s, now);
        sent += !err;
    }
    session_flush(s, now);
    if (sent == BATCH)
        timer_set(s->timer, now);
    else if (session_is_filler(s) && s->playing && s->due_at > now)
        timer_set(s->timer, s->due_at);
    session_tell_end(s, now);
}
