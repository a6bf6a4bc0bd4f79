// SPDX-License-Identifier: GPL-2.0-or-later
// The sound of the viewing: its packets, the pictures' clock for it, and what of it is measured.
#include <stdlib.h>

#include "common/base/log.h"
#include "media/pattern/pattern_picture.h"
#include "player/session/player_state.h"

// In low latency there is no clock: it is drawn through when pictures were shown, and what is
// further off it than this is a new beginning.
#define ASTRAY (80 * USEC_PER_MSEC)
// How far sound is behind the pictures there: the device wants it in advance. More, while what is
// missing tells that it comes later than they do.
#define LEAST_DELAY (10 * USEC_PER_MSEC)
#define MOST_DELAY  (200 * USEC_PER_MSEC)
#define MORE_DELAY  (10 * USEC_PER_MSEC) // a second

enum { SMOOTH = 16 }; // pictures

void player_audio_open(void *ctx)
{
    struct player *p = ctx;
    if (p->audio) { // another connection
        audio_receiver_init(&p->audio_input, &p->sdp, p->audio, p->audio_random);
        return;
    }
    struct audio_output_config config = {.headless = p->options->headless,
                                         .test = p->sdp.source == SDP_SOURCE_TEST,
                                         .volume = p->options->volume};
    p->audio = audio_output_new(&config);
    if (!p->audio)
        return;
    audio_receiver_init(&p->audio_input, &p->sdp, p->audio, p->audio_random);
    media_clock_init(&p->audio_clock);
    p->audio_delay = LEAST_DELAY;
}

bool player_audio_packet(struct player *p, bool rtcp, const uint8_t *data, size_t len,
                         usec_t arrived)
{
    const struct sdp_audio *s = &p->sdp.audio;
    if (!p->audio) // in datagrams it may come before the answer to what asked for it
        return s->present && !rtcp && len > 1 && (data[1] & 127) == s->payload_type;
    return s->present && audio_receiver_packet(&p->audio_input, rtcp, data, len, arrived);
}

void player_audio_near(struct player *p, int64_t number)
{
    struct fps fps = p->sdp.ladder.source_fps;
    if (p->audio && number >= 0 && number < PLAYOUT_MAX_NUMBER)
        audio_receiver_near(&p->audio_input, usec_of_frames(number, fps.num, fps.den));
}

void player_audio_frame(struct player *p, int64_t number, uint32_t stamp, usec_t arrived)
{
    if (p->audio && number >= 0 && number < PLAYOUT_MAX_NUMBER)
        av_sync_picture(&p->audio_input.sync, stamp, presenter_media_time(p->presenter, number),
                        arrived);
}

void player_audio_clock(void *ctx, bool playing, const struct media_clock *clock)
{
    struct player *p = ctx;
    if (!p->audio)
        return;
    if (!playing)
        p->audio_clocked = false;
    if (playing && !clock && p->audio_clocked)
        clock = &p->audio_clock;
    audio_output_set_clock(p->audio, clock);
}

static void draw_clock(struct player *p, usec_t pts, usec_t shown_at)
{
    usec_t heard_at = shown_at + p->audio_delay;
    usec_t off = heard_at - media_clock_due(&p->audio_clock, pts);
    if (!p->audio_clocked || llabs(off) > ASTRAY)
        media_clock_set(&p->audio_clock, pts, heard_at);
    else
        p->audio_clock.at += off / SMOOTH;
    p->audio_clocked = true;
}

void player_audio_picture(struct player *p, const struct play_frame *f, usec_t pts)
{
    if (!p->audio)
        return;
    if (p->options->low_latency)
        draw_clock(p, pts, f->shown_at);
    bool flash =
        p->sdp.source == SDP_SOURCE_TEST && f->picture && pattern_picture_read_flash(f->picture);
    // The first picture of a flash, which may stand a little behind the full second.
    bool begins = flash && !p->flashed;
    usec_t second = begins ? pts % USEC_PER_SEC : 0;
    audio_output_shown(p->audio, pts, f->shown_at - second, begins);
    p->flashed = flash;
}

void player_audio_second(struct player *p, usec_t now)
{
    if (!p->audio)
        return;
    uint8_t out[RTCP_MAX_PACKET];
    size_t len = audio_receiver_report(&p->audio_input, out, now);
    if (len)
        client_send_rtcp(p->client, true, out, len);
    uint64_t underruns = audio_output_underruns(p->audio);
    if (underruns > p->audio_underruns)
        p->audio_delay = usec_min(p->audio_delay + MORE_DELAY, MOST_DELAY);
    p->audio_underruns = underruns;
}

void player_audio_mute(struct player *p)
{
    if (p->audio)
        log_info("the sound is %s", audio_output_mute(p->audio) ? "off" : "on");
}

void player_audio_drop(struct player *p)
{
    if (!p->audio)
        return;
    audio_output_flush(p->audio);
    p->audio_clocked = false;
    p->audio_before.packets += p->audio_input.receiver.received;
    p->audio_before.lost += rtp_receiver_lost(&p->audio_input.receiver);
    p->audio_before.bytes += p->audio_input.bytes;
    audio_receiver_init(&p->audio_input, &p->sdp, p->audio, 0);
}

void player_audio_end(struct player *p)
{
    if (p->audio)
        audio_output_end(p->audio);
}

void player_audio_read(struct player *p)
{
    if (!p->audio || !(p->audio_input.receiver.started || p->audio_before.packets))
        return;
    struct audio_output_figures f;
    audio_output_read(p->audio, &f);
    struct qoe_audio e = {
        .packets = (double)(p->audio_before.packets + p->audio_input.receiver.received),
        .lost = (double)(p->audio_before.lost + rtp_receiver_lost(&p->audio_input.receiver)),
        .late = (double)f.counts.late,
        .bytes = (double)(p->audio_before.bytes + p->audio_input.bytes),
        .heard = usec_to_sec(audio_usec((int64_t)f.counts.heard)),
        .concealed = usec_to_msec(audio_usec((int64_t)f.counts.concealed)),
        .underruns = (double)f.counts.underruns,
        .jumps = (double)f.counts.jumps,
        .spliced = (double)f.counts.spliced,
        .by_tone = f.by_tone,
        .offset = f.offset,
    };
    qoe_on_audio(p->qoe, &e);
}
