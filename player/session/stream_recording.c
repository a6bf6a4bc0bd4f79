// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/stream_recording.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/protocol/server_dialect.h"
#include "media/coded/audio.h"
#include "media/record/policy/record_order.h"
#include "media/record/policy/record_timeline.h"
#include "media/record/recording.h"

// Decoding times are that many frames before the times at which frames are shown, if these have
// another order.
enum { REORDER_FRAMES = 16, HELD_AUDIO = 64 };

struct held { // a frame that waits
    struct recorded_frame frame;
    struct record_turn turn;
    usec_t media; // its time in decoding order
    usec_t pts;
    uint8_t data[];
};

struct held_audio { // waits as long as the frames
    usec_t due;
    int64_t position;
    size_t bytes;
    uint8_t data[AUDIO_PACKET_MAX_BYTES];
};

struct stream_recording {
    struct recording *recording; // owned
    const struct sdp *sdp;       // borrowed; NULL: no stream, or one that is not recorded
    bool refused;                // a stream was not recorded
    bool third_party;            // so packets tell the order of decoding
    bool from_stamps;            // a third party's frames, whoever sends them: numbers are in
                                 // decoding order, and the time stamps tell when they are shown
    usec_t apart;                // between two frames of the source
    usec_t ahead;                // of decoding times
    usec_t newest;               // media time of the last frame
    usec_t shown;                // latest time of presentation so far, on the recording's time line
    struct held *taken;          // owned: stream_recording_push follows
    struct record_order order;
    struct record_timeline line;
    struct held_audio audio[HELD_AUDIO]; // ring
    int audio_first, audio_count;
};

struct stream_recording *stream_recording_new(const char *file)
{
    struct stream_recording *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    record_order_init(&s->order, STREAM_RECORDING_HOLD);
    s->recording = recording_new(&(struct recording_config){.pattern = file});
    if (s->recording)
        return s;
    free(s);
    return NULL;
}

static usec_t frames(const struct stream_recording *s, int64_t count)
{
    struct fps fps = s->sdp->ladder.source_fps;
    return usec_of_frames(count, fps.num, fps.den);
}

static void record_first_audio(struct stream_recording *s)
{
    const struct held_audio *a = &s->audio[s->audio_first];
    usec_t decode = record_timeline_near(&s->line, audio_usec(a->position));
    if (decode >= 0)
        recording_audio(s->recording, decode + s->ahead, decode, a->data, a->bytes);
    s->audio_first = (s->audio_first + 1) % HELD_AUDIO;
    s->audio_count--;
}

// Gives a frame its times. Where the size changes, a frame may have the place of another one, or
// its picture again: then it follows 1 ms after, so that no time comes twice and none is moved.
static void set_times(struct stream_recording *s, struct held *h, int64_t before)
{
    if (!s->from_stamps && s->line.has_begun)
        h->media = usec_max(h->media, s->line.last + USEC_PER_MSEC);
    if (before >= 0)
        h->pts = usec_min(h->pts, frames(s, before) - USEC_PER_MSEC);
    h->frame.decode = record_timeline_frame(&s->line, h->media, s->apart);
    h->frame.time = usec_max(h->frame.decode, h->frame.decode + s->ahead + h->pts - h->media);
    if (h->frame.key && !s->from_stamps)
        h->frame.time = usec_max(h->frame.time, s->shown + USEC_PER_MSEC);
    s->shown = usec_max(s->shown, h->frame.time);
}

// Records what is due. Returns true if a key frame is needed.
static bool drain(struct stream_recording *s, bool all, usec_t now)
{
    bool needs_key = false;
    struct record_leaving next;
    while (record_order_pull(&s->order, all, now, &next)) {
        struct held *h = next.frame;
        if (!next.gives_way) {
            set_times(s, h, next.before);
            needs_key |= recording_frame(s->recording, &h->frame, now);
        }
        free(h);
    }
    while (s->audio_count && (all || now >= s->audio[s->audio_first].due))
        record_first_audio(s);
    return needs_key;
}

static void leave(struct stream_recording *s, usec_t now)
{
    if (!s->sdp)
        return;
    (void)drain(s, true, now);
    free(s->taken);
    s->taken = NULL;
    s->audio_count = 0;
    s->sdp = NULL;
    recording_break(s->recording);
}

void stream_recording_open(struct stream_recording *s, const struct sdp *sdp, bool has_audio,
                           usec_t now)
{
    if (!s || !s->recording)
        return;
    leave(s, now);
    if (sdp->codec != SDP_H264 || !sdp_has_pictures(sdp)) {
        log_error("--record records H.264; this stream has none, and is not recorded");
        s->refused = true;
        return;
    }
    s->sdp = sdp;
    s->third_party = server_dialect_of(sdp)->numbers_from_stamps;
    s->from_stamps = s->third_party || sdp->source == SDP_SOURCE_RELAYED;
    s->apart = usec_max(1, frames(s, 1));
    s->ahead = s->from_stamps || sdp->reorders ? frames(s, REORDER_FRAMES) : 0;
    s->newest = 0;
    s->shown = -USEC_PER_MSEC; // times begin at 0
    s->line = (struct record_timeline){0};
    record_order_init(&s->order, STREAM_RECORDING_HOLD);
    recording_describe(s->recording, has_audio,
                       s->from_stamps ? (struct fps){0} : sdp->ladder.source_fps);
}

void stream_recording_close(struct stream_recording *s, const struct sdp *sdp, usec_t now)
{
    if (s && s->sdp == sdp)
        leave(s, now);
}

void stream_recording_take(struct stream_recording *s, const struct received_frame *f)
{
    if (!s || !s->sdp)
        return;
    free(s->taken);
    s->taken = malloc(sizeof(*s->taken) + f->bytes);
    if (!s->taken)
        return;
    memcpy(s->taken->data, f->data, f->bytes);
    s->taken->frame = (struct recorded_frame){.number = f->number,
                                              .depends_on = f->depends_on,
                                              .size_id = f->size_id,
                                              .key = f->key,
                                              .wall = f->capture_wall,
                                              .data = s->taken->data,
                                              .bytes = f->bytes};
    s->taken->turn =
        (struct record_turn){.slot = s->third_party ? f->first_seq : received_frame_slot(f),
                             .number = f->number,
                             .size_id = f->size_id,
                             .key = f->key,
                             .written_us = f->last_written_us,
                             .frame = s->taken};
}

bool stream_recording_push(struct stream_recording *s, usec_t pts, usec_t now)
{
    if (!s || !s->taken)
        return false;
    struct held *h = s->taken;
    s->taken = NULL;
    h->pts = pts;
    if (!s->from_stamps) {
        h->pts = frames(s, h->frame.number);
        h->media = frames(s, h->turn.slot);
    } else { // a B frame is earlier than the frame before it; a jump is more than that
        bool is_jump = pts < s->newest - RECORD_TIMELINE_HOLE;
        h->media = is_jump ? pts : usec_max(pts, s->newest + USEC_PER_MSEC);
    }
    s->newest = h->media;
    if (!record_order_push(&s->order, &h->turn, now))
        free(h);
    return drain(s, false, now);
}

void stream_recording_audio(struct stream_recording *s, const struct received_audio *a)
{
    if (!s || !s->sdp || a->bytes > AUDIO_PACKET_MAX_BYTES)
        return;
    if (s->audio_count == HELD_AUDIO)
        record_first_audio(s);
    struct held_audio *h = &s->audio[(s->audio_first + s->audio_count++) % HELD_AUDIO];
    *h = (struct held_audio){
        .due = a->arrived + STREAM_RECORDING_HOLD, .position = a->position, .bytes = a->bytes};
    memcpy(h->data, a->data, a->bytes);
}

int stream_recording_finish(struct stream_recording *s, usec_t now)
{
    if (!s || !s->recording)
        return 0;
    leave(s, now);
    int err = recording_end(s->recording, STREAM_RECORDING_END);
    s->recording = NULL;
    return s->refused ? ERR_IO : err;
}

void stream_recording_free(struct stream_recording *s, usec_t now)
{
    (void)stream_recording_finish(s, now);
    free(s);
}
