// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/audio_session.h"

#include <stdlib.h>

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
    struct stream_receiver *media;      // borrowed; the connection's; NULL: it has no audio yet
    struct audio_clock clock;           // low latency
    struct audio_delay delay;           // live media otherwise
    bool flashed;                       // the last picture was a flash of the test picture
    struct stream_audio_counts before;  // of earlier connections
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
    audio_output_free(s->output);
    free(s);
}

void audio_session_join(struct audio_session *s, const struct sdp *sdp)
{
    s->sdp = sdp;
}

void audio_session_record(struct audio_session *s, struct stream_recording *recording)
{
    s->recording = recording;
}

void audio_session_packet(struct audio_session *s, const struct received_audio *a)
{
    if (!s->media)
        return;
    if (s->sdp->duration < 0)
        audio_delay_packet(&s->delay, audio_usec(a->position), a->arrived);
    stream_recording_audio(s->recording, a);
    audio_output_packet(s->output, a->position, a->data, a->bytes);
}

void audio_session_open(struct audio_session *s, struct stream_receiver *media)
{
    struct audio_output_config config = {.outlet = s->outlet,
                                         .test = s->sdp->source == SDP_SOURCE_TEST,
                                         .volume = s->muted ? 0 : s->volume};
    if (!s->output && !(s->output = audio_output_new(&config)))
        return;
    if (stream_receiver_add_audio(media) != 0)
        log_warn("lost audio is not repaired: out of memory");
    audio_delay_init(&s->delay);
    s->media = media;
}

void audio_session_forget(struct audio_session *s, const struct stream_receiver *media)
{
    if (!s->media || s->media != media)
        return;
    struct stream_audio_counts now = stream_receiver_audio(media);
    s->media = NULL;
    s->before.packets += now.packets;
    s->before.lost += now.lost;
    s->before.repaired += now.repaired;
    s->before.bytes += now.bytes;
}

void audio_session_leave(struct audio_session *s)
{
    s->sdp = NULL;
    if (!s->media)
        return;
    audio_session_forget(s, s->media);
    audio_output_flush(s->output);
    audio_clock_unset(&s->clock);
}

void audio_session_second(struct audio_session *s)
{
    if (s->output)
        audio_clock_underruns(&s->clock, audio_output_underruns(s->output));
}

void audio_session_clock(struct audio_session *s, bool playing, const struct media_clock *clock)
{
    if (!s->output)
        return;
    if (!playing)
        audio_clock_unset(&s->clock);
    if (playing && !clock)
        clock = audio_clock_get(&s->clock);
    else if (playing && s->media && s->sdp->duration < 0)
        clock = audio_delay_follow(&s->delay, clock);
    audio_output_set_clock(s->output, clock);
}

usec_t audio_session_line(struct audio_session *s)
{
    return s->output && s->media ? audio_delay_line(&s->delay) : USEC_NEVER;
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
    struct stream_audio_counts now = {0};
    if (s->media)
        now = stream_receiver_audio(s->media);
    if (!s->output || !(now.started || s->before.packets))
        return;
    struct audio_output_stats f;
    audio_output_read(s->output, &f);
    struct qoe_audio e = {
        .packets = (double)(s->before.packets + now.packets),
        .lost = (double)(s->before.lost + s->before.repaired + now.lost + now.repaired),
        .repaired = (double)(s->before.repaired + now.repaired),
        .late = (double)f.counts.late,
        .bytes = (double)(s->before.bytes + now.bytes),
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
