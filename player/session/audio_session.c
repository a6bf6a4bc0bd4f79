// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/audio_session.h"

#include <stdlib.h>

#include "client/receive/audio_receiver.h"
#include "common/base/log.h"
#include "media/pattern/pattern_picture.h"
#include "player/audio/audio_output.h"
#include "player/session/stream_recording.h"
#include "stream/audio/audio_clock.h"
#include "stream/audio/audio_delay.h"
#include "stream/playout/playout.h"

struct audio_session {
    const struct play_options *options; // borrowed
    struct audio_outlet outlet;
    struct audio_output *output; // owned; NULL: no connection had audio yet
    int volume;                  // percent
    bool muted;
    struct stream_recording *recording; // borrowed; NULL: none
    const struct sdp *sdp;              // borrowed from the connection; NULL: no connection
    uint64_t random;
    bool open;     // true if `receiver` is the connection's
    bool requests; // the connection's lost packets
    struct audio_receiver receiver;
    struct audio_clock clock; // low latency
    struct audio_delay delay; // live media otherwise
    bool flashed;             // the last picture was a flash of the test picture
    struct {                  // totals of earlier connections
        uint64_t packets;
        uint64_t lost;
        uint64_t repaired;
        uint64_t bytes;
    } before;
};

struct audio_session *audio_session_new(const struct play_options *options,
                                        const struct audio_outlet *outlet)
{
    struct audio_session *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->options = options;
    s->outlet = *outlet;
    s->volume = options->volume;
    audio_clock_init(&s->clock);
    audio_delay_init(&s->delay);
    return s;
}

void audio_session_free(struct audio_session *s)
{
    if (!s)
        return;
    if (s->open)
        audio_receiver_destroy(&s->receiver);
    audio_output_free(s->output);
    free(s);
}

void audio_session_join(struct audio_session *s, const struct sdp *sdp, uint64_t random)
{
    s->sdp = sdp;
    s->random = random;
}

void audio_session_record(struct audio_session *s, struct stream_recording *recording)
{
    s->recording = recording;
}

static void set_repair(struct audio_session *s)
{
    if (audio_receiver_set_repair(&s->receiver, s->requests) != 0)
        log_warn("lost audio is not repaired: out of memory");
}

static void on_packet(void *ctx, const struct received_audio *a)
{
    struct audio_session *s = ctx;
    if (s->sdp->duration < 0)
        audio_delay_packet(&s->delay, audio_usec(a->position), a->arrived);
    stream_recording_audio(s->recording, a);
    audio_output_packet(s->output, a->position, a->data, a->bytes);
}

void audio_session_open(struct audio_session *s)
{
    struct audio_output_config config = {.outlet = s->outlet,
                                         .test = s->sdp->source == SDP_SOURCE_TEST,
                                         .volume = s->muted ? 0 : s->volume};
    if (!s->output && !(s->output = audio_output_new(&config)))
        return;
    audio_receiver_init(&s->receiver, s->sdp, on_packet, s, s->random);
    audio_delay_init(&s->delay);
    s->open = true;
    set_repair(s);
}

void audio_session_set_repair(struct audio_session *s, bool requests)
{
    s->requests = requests;
    if (s->open)
        set_repair(s);
}

void audio_session_set_path(struct audio_session *s, usec_t rtt, usec_t keep)
{
    if (s->open)
        audio_receiver_set_path(&s->receiver, rtt, keep);
}

void audio_session_leave(struct audio_session *s)
{
    s->sdp = NULL;
    s->requests = false;
    if (!s->open)
        return;
    s->open = false;
    audio_receiver_destroy(&s->receiver);
    audio_output_flush(s->output);
    audio_clock_unset(&s->clock);
    s->before.packets += s->receiver.receiver.received;
    s->before.lost += rtp_receiver_lost(&s->receiver.receiver);
    s->before.repaired += s->receiver.repaired;
    s->before.bytes += s->receiver.bytes;
}

bool audio_session_packet(struct audio_session *s, bool rtcp, const uint8_t *data, size_t len,
                          usec_t arrived)
{
    if (!s->sdp || !s->sdp->audio.present)
        return false;
    // Datagrams may arrive before the SETUP response that they depend on: those are dropped.
    if (!s->open)
        return !rtcp && len > 1 && (data[1] & 127) == s->sdp->audio.payload_type;
    return audio_receiver_packet(&s->receiver, rtcp, data, len, arrived);
}

void audio_session_near(struct audio_session *s, int64_t number)
{
    if (!s->open || number < 0 || number >= PLAYOUT_MAX_NUMBER)
        return;
    struct fps fps = s->sdp->ladder.source_fps;
    audio_receiver_near(&s->receiver, usec_of_frames(number, fps.num, fps.den));
}

void audio_session_frame(struct audio_session *s, uint32_t stamp, usec_t media, usec_t arrived)
{
    if (s->open)
        av_sync_picture(&s->receiver.sync, stamp, media, arrived);
}

void audio_session_video_report(struct audio_session *s, uint64_t ntp, uint32_t stamp)
{
    if (s->open)
        av_sync_report(&s->receiver.sync, false, ntp, stamp);
}

uint64_t audio_session_packets(const struct audio_session *s)
{
    return s->open ? s->receiver.receiver.received : 0;
}

size_t audio_session_requests(struct audio_session *s, uint8_t *out, usec_t now)
{
    return s->open ? audio_receiver_requests(&s->receiver, out, now) : 0;
}

size_t audio_session_second(struct audio_session *s, uint8_t *out, usec_t now)
{
    if (!s->output)
        return 0;
    audio_clock_underruns(&s->clock, audio_output_underruns(s->output));
    return s->open ? audio_receiver_report(&s->receiver, out, now) : 0;
}

void audio_session_clock(struct audio_session *s, bool playing, const struct media_clock *clock)
{
    if (!s->output)
        return;
    if (!playing)
        audio_clock_unset(&s->clock);
    if (playing && !clock)
        clock = audio_clock_get(&s->clock);
    else if (playing && s->open && s->sdp->duration < 0)
        clock = audio_delay_follow(&s->delay, clock);
    audio_output_set_clock(s->output, clock);
}

usec_t audio_session_line(struct audio_session *s)
{
    return s->output && s->open ? audio_delay_line(&s->delay) : USEC_NEVER;
}

void audio_session_picture(struct audio_session *s, const struct play_frame *f, usec_t pts)
{
    if (!s->output)
        return;
    if (s->options->low_latency)
        audio_clock_picture(&s->clock, pts, f->shown_at);
    bool flash = s->sdp && s->sdp->source == SDP_SOURCE_TEST && f->picture &&
                 pattern_picture_read_flash(f->picture);
    // The first picture of a flash is not always exactly at the full second. Its own number tells
    // how far from it: that of the stream does not if this shows the past, or its origin began
    // again.
    int64_t number = flash && !s->flashed ? pattern_picture_read(f->picture) : -1;
    bool begins = number >= 0;
    usec_t second = begins ? pattern_picture_past_second(number, s->sdp->ladder.source_fps) : 0;
    audio_output_shown(s->output, pts, f->shown_at - second, begins);
    s->flashed = flash;
}

static void apply_volume(const struct audio_session *s)
{
    if (s->output)
        audio_output_set_volume(s->output, s->muted ? 0 : s->volume);
}

void audio_session_mute(struct audio_session *s)
{
    s->muted = !s->muted;
    apply_volume(s);
    log_info("audio is %s", s->muted ? "off" : "on");
}

void audio_session_volume_by(struct audio_session *s, int by)
{
    int volume = s->volume + by;
    s->volume = volume < 0 ? 0 : volume > 100 ? 100 : volume;
    s->muted = false;
    apply_volume(s);
}

struct key_volume audio_session_volume(const struct audio_session *s)
{
    return (struct key_volume){.present = s->output, .muted = s->muted, .percent = s->volume};
}

void audio_session_end(struct audio_session *s)
{
    if (s->output)
        audio_output_end(s->output);
}

void audio_session_read(struct audio_session *s, struct qoe *qoe)
{
    bool started = s->open && s->receiver.receiver.started;
    if (!s->output || !(started || s->before.packets))
        return;
    struct audio_output_stats f;
    audio_output_read(s->output, &f);
    const struct rtp_receiver *now = s->open ? &s->receiver.receiver : NULL;
    struct qoe_audio e = {
        .packets = (double)(s->before.packets + (now ? now->received : 0)),
        .lost = (double)(s->before.lost + s->before.repaired +
                         (now ? rtp_receiver_lost(now) + s->receiver.repaired : 0)),
        .repaired = (double)(s->before.repaired + (now ? s->receiver.repaired : 0)),
        .late = (double)f.counts.late,
        .bytes = (double)(s->before.bytes + (now ? s->receiver.bytes : 0)),
        .heard = usec_to_sec(audio_usec((int64_t)f.counts.heard)),
        .concealed = usec_to_msec(audio_usec((int64_t)f.counts.concealed)),
        .underruns = (double)f.counts.underruns,
        .jumps = (double)f.counts.jumps,
        .spliced = (double)f.counts.spliced,
        .by_tone = f.by_tone,
        .offset = f.offset,
    };
    qoe_on_audio(qoe, &e);
}
