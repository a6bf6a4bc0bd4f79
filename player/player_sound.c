// SPDX-License-Identifier: GPL-2.0-or-later
// The sound of the viewing: its packets, the pictures' clock for it, and what of it is measured.
#include <stdlib.h>

#include "common/base/log.h"
#include "media/test_picture.h"
#include "player/player_state.h"

// In low latency there is no clock: it is drawn through when pictures were shown, and what is
// further off it than this is a new beginning.
#define ASTRAY (80 * USEC_PER_MSEC)
// How far sound is behind the pictures there: the device wants it in advance. More, while what is
// missing tells that it comes later than they do.
#define LEAST_DELAY (10 * USEC_PER_MSEC)
#define MOST_DELAY  (200 * USEC_PER_MSEC)
#define MORE_DELAY  (10 * USEC_PER_MSEC) // a second

enum { SMOOTH = 16 }; // pictures

void player_sound_open(void *ctx)
{
    struct player *p = ctx;
    if (p->sound) { // another connection
        sound_input_init(&p->sound_input, &p->sdp, p->sound, p->sound_random);
        return;
    }
    struct sound_player_config config = {.headless = p->options->headless,
                                         .test = p->sdp.source == SDP_SOURCE_TEST,
                                         .volume = p->options->volume};
    p->sound = sound_player_new(&config);
    if (!p->sound)
        return;
    sound_input_init(&p->sound_input, &p->sdp, p->sound, p->sound_random);
    media_clock_init(&p->sound_clock);
    p->sound_delay = LEAST_DELAY;
}

bool player_sound_packet(struct player *p, bool rtcp, const uint8_t *data, size_t len,
                         usec_t arrived)
{
    const struct sdp_sound *s = &p->sdp.sound;
    if (!p->sound) // in datagrams it may come before the answer to what asked for it
        return s->present && !rtcp && len > 1 && (data[1] & 127) == s->payload_type;
    return s->present && sound_input_packet(&p->sound_input, rtcp, data, len, arrived);
}

void player_sound_near(struct player *p, int64_t number)
{
    struct fps fps = p->sdp.ladder.source_fps;
    if (p->sound && number >= 0 && number < PLAYOUT_MAX_NUMBER)
        sound_input_near(&p->sound_input, usec_of_frames(number, fps.num, fps.den));
}

void player_sound_frame(struct player *p, int64_t number, uint32_t stamp, usec_t arrived)
{
    if (p->sound && number >= 0 && number < PLAYOUT_MAX_NUMBER)
        sound_sync_picture(&p->sound_input.sync, stamp, presenter_media_time(p->presenter, number),
                           arrived);
}

void player_sound_clock(void *ctx, bool playing, const struct media_clock *clock)
{
    struct player *p = ctx;
    if (!p->sound)
        return;
    if (!playing)
        p->sound_clocked = false;
    if (playing && !clock && p->sound_clocked)
        clock = &p->sound_clock;
    sound_player_set_clock(p->sound, clock);
}

static void draw_clock(struct player *p, usec_t pts, usec_t shown_at)
{
    usec_t heard_at = shown_at + p->sound_delay;
    usec_t off = heard_at - media_clock_due(&p->sound_clock, pts);
    if (!p->sound_clocked || llabs(off) > ASTRAY)
        media_clock_set(&p->sound_clock, pts, heard_at);
    else
        p->sound_clock.at += off / SMOOTH;
    p->sound_clocked = true;
}

void player_sound_picture(struct player *p, const struct play_frame *f, usec_t pts)
{
    if (!p->sound)
        return;
    if (p->options->low_latency)
        draw_clock(p, pts, f->shown_at);
    bool flash =
        p->sdp.source == SDP_SOURCE_TEST && f->picture && test_picture_read_flash(f->picture);
    // The first picture of a flash, which may stand a little behind the full second.
    bool begins = flash && !p->flashed;
    usec_t second = begins ? pts % USEC_PER_SEC : 0;
    sound_player_shown(p->sound, pts, f->shown_at - second, begins);
    p->flashed = flash;
}

void player_sound_second(struct player *p, usec_t now)
{
    if (!p->sound)
        return;
    uint8_t out[RTCP_MAX_PACKET];
    size_t len = sound_input_report(&p->sound_input, out, now);
    if (len)
        client_send_rtcp(p->client, true, out, len);
    uint64_t underruns = sound_player_underruns(p->sound);
    if (underruns > p->sound_underruns)
        p->sound_delay = usec_min(p->sound_delay + MORE_DELAY, MOST_DELAY);
    p->sound_underruns = underruns;
}

void player_sound_mute(struct player *p)
{
    if (p->sound)
        log_info("the sound is %s", sound_player_mute(p->sound) ? "off" : "on");
}

void player_sound_drop(struct player *p)
{
    if (!p->sound)
        return;
    sound_player_flush(p->sound);
    p->sound_clocked = false;
    p->sound_before.packets += p->sound_input.receiver.received;
    p->sound_before.lost += rtp_receiver_lost(&p->sound_input.receiver);
    p->sound_before.bytes += p->sound_input.bytes;
    sound_input_init(&p->sound_input, &p->sdp, p->sound, 0);
}

void player_sound_end(struct player *p)
{
    if (p->sound)
        sound_player_end(p->sound);
}

void player_sound_read(struct player *p)
{
    if (!p->sound || !(p->sound_input.receiver.started || p->sound_before.packets))
        return;
    struct sound_player_figures f;
    sound_player_read(p->sound, &f);
    struct qoe_audio e = {
        .packets = (double)(p->sound_before.packets + p->sound_input.receiver.received),
        .lost = (double)(p->sound_before.lost + rtp_receiver_lost(&p->sound_input.receiver)),
        .late = (double)f.counts.late,
        .bytes = (double)(p->sound_before.bytes + p->sound_input.bytes),
        .heard = usec_to_sec(sound_usec((int64_t)f.counts.heard)),
        .concealed = usec_to_msec(sound_usec((int64_t)f.counts.concealed)),
        .underruns = (double)f.counts.underruns,
        .jumps = (double)f.counts.jumps,
        .spliced = (double)f.counts.spliced,
        .by_tone = f.by_tone,
        .offset = f.offset,
    };
    qoe_on_audio(p->qoe, &e);
}
