// SPDX-License-Identifier: GPL-2.0-or-later
// The sound of a session: which packets, and how they leave.

#include "common/base/err.h"
#include "common/net/clock.h"
#include "sender/session/session_state.h"

void session_add_audio(struct session *s, const struct track_path *to)
{
    s->audio.is_set_up = true;
    s->transport->tracks[TRACK_AUDIO] = *to;
    rtp_sender_init(&s->audio.rtp, RTP_PT_OPUS, &s->rng);
    adaptation_set_beside(&s->adaptation, s->config.stream->audio_bps);
}

void session_add_pictures(struct session *s, const struct track_path *to)
{
    s->config.audio_only = false;
    s->transport->tracks[TRACK_VIDEO] = *to;
}

bool session_has_pictures(const struct session *s)
{
    return !s->config.audio_only;
}

bool session_has_audio(const struct session *s)
{
    return s->audio.is_set_up;
}

void session_audio_info(const struct session *s, uint16_t *seq, uint32_t *ssrc)
{
    *seq = s->audio.rtp.next_seq;
    *ssrc = s->audio.rtp.ssrc;
}

void session_hear(struct session *s, bool hear)
{
    if (!s->audio.is_set_up || hear == s->audio.is_heard)
        return;
    s->audio.is_heard = hear;
    if (s->config.stream->engine)
        live_feed_watch_audio(s->config.stream->engine, hear ? 1 : -1);
}

void session_clear_audio(struct session *s)
{
    struct coded_audio *c;
    while ((c = audio_queue_take(&s->audio.queue)))
        coded_audio_unref(c);
}

void session_on_audio(struct session *s, struct coded_audio *c, usec_t now)
{
    if (!s->audio.is_heard)
        return;
    s->made += (double)(c->bytes + SESSION_PACKET_HEADERS);
    coded_audio_unref(audio_queue_push(&s->audio.queue, coded_audio_ref(c), now));
    session_pump(s, now);
}

bool session_audio_waits(struct session *s, usec_t now)
{
    struct coded_audio *late;
    while ((late = audio_queue_expired(&s->audio.queue, s->latency, now)))
        coded_audio_unref(late);
    return s->audio.queue.count > 0 && s->playing;
}

int session_send_audio(struct session *s, usec_t now)
{
    struct coded_audio *c = audio_queue_front(&s->audio.queue);
    struct rtp_packet p = {
        .has_adu = true,
        .adu = {.frame = (uint32_t)c->position,
                .written_us = (uint32_t)clock_wall(),
                .key = true,
                .first = true,
                .last = true},
    };
    struct rtp_payload payload = {.body = c->data, .body_len = c->bytes};
    struct session_packet packet = {.track = TRACK_AUDIO,
                                    .rtp = &p,
                                    .payload = &payload,
                                    .number = -1,
                                    .pts = audio_usec(c->position),
                                    .capture_wall = c->capture_wall};
    int err = session_send_packet(s, &packet, now);
    if (err)
        return err;
    session_flush(s, now);
    coded_audio_unref(audio_queue_take(&s->audio.queue));
    return 0;
}
