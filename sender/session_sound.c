// SPDX-License-Identifier: GPL-2.0-or-later
// The sound of a session: which packets, and how they leave.

#include "common/base/err.h"
#include "common/net/clock.h"
#include "sender/session_state.h"

void session_add_sound(struct session *s, const struct transport_place *to)
{
    s->sound.is_set_up = true;
    s->transport->sound = *to;
    rtp_sender_init(&s->sound.rtp, RTP_PT_OPUS, &s->rng);
    adaptation_set_beside(&s->adaptation, s->config.stream->sound_bps);
}

void session_add_pictures(struct session *s, const struct transport_place *to)
{
    s->config.sound_only = false;
    s->transport->video = *to;
}

bool session_has_pictures(const struct session *s)
{
    return !s->config.sound_only;
}

bool session_has_sound(const struct session *s)
{
    return s->sound.is_set_up;
}

void session_sound_info(const struct session *s, uint16_t *seq, uint32_t *ssrc)
{
    *seq = s->sound.rtp.next_seq;
    *ssrc = s->sound.rtp.ssrc;
}

void session_hear(struct session *s, bool hear)
{
    if (!s->sound.is_set_up || hear == s->sound.is_heard)
        return;
    s->sound.is_heard = hear;
    if (s->config.stream->engine)
        engine_watch_sound(s->config.stream->engine, hear ? 1 : -1);
}

void session_clear_sound(struct session *s)
{
    struct coded_sound *c;
    while ((c = sound_queue_take(&s->sound.queue)))
        coded_sound_unref(c);
}

void session_on_sound(struct session *s, struct coded_sound *c, usec_t now)
{
    if (!s->sound.is_heard)
        return;
    s->made += (double)(c->bytes + SESSION_PACKET_HEADERS);
    coded_sound_unref(sound_queue_push(&s->sound.queue, coded_sound_ref(c), now));
    session_pump(s, now);
}

bool session_sound_waits(struct session *s, usec_t now)
{
    struct coded_sound *late;
    while ((late = sound_queue_expired(&s->sound.queue, s->latency, now)))
        coded_sound_unref(late);
    return s->sound.queue.count > 0 && s->playing;
}

int session_send_sound(struct session *s, usec_t now)
{
    struct coded_sound *c = sound_queue_front(&s->sound.queue);
    struct rtp_packet p = {
        .has_adu = true,
        .adu = {.frame = (uint32_t)c->position,
                .written_us = (uint32_t)clock_wall(),
                .key = true,
                .first = true,
                .last = true},
    };
    struct rtp_payload payload = {.body = c->data, .body_len = c->bytes};
    struct session_packet packet = {.track = TRACK_SOUND,
                                    .rtp = &p,
                                    .payload = &payload,
                                    .number = -1,
                                    .pts = sound_usec(c->position),
                                    .capture_wall = c->capture_wall};
    int err = session_send_packet(s, &packet, now);
    if (err)
        return err;
    session_flush(s, now);
    coded_sound_unref(sound_queue_take(&s->sound.queue));
    return 0;
}
