// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/record/recorder.h"

#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "media/record/policy/record_superframe.h"
#include "media/record/policy/record_times.h"
#include "media/record/recording.h"

struct recorder {
    struct frame_sink sink;          // first
    uv_loop_t *loop;                 // borrowed
    struct stream_media *media;      // borrowed
    int size_id;                     // that is recorded
    struct record_superframe *sizes; // owned; of VP9; NULL: H.264
    struct recording *recording;     // owned
    struct media_feed *feed;         // owned; NULL: the media has ended
    bool ended;                      // the feed is freed outside its sink
    struct timer *timer;             // owned: frees the feed, or begins again
    usec_t begun;                    // capture of the first frame, from which the time line counts
    struct record_times times;
};

static struct recorder *of_sink(struct frame_sink *sink)
{
    return (struct recorder *)sink;
}

static void on_frame(struct frame_sink *sink, struct coded_frame *f, usec_t now)
{
    struct recorder *r = of_sink(sink);
    struct record_whole whole = {
        .data = f->data, .bytes = f->bytes, .key = f->key, .depends_on = f->depends_on};
    if (!r->feed || r->ended)
        return;
    if (r->sizes ? !record_superframe_add(r->sizes, f, &whole) : f->size_id != r->size_id)
        return;
    if (!r->begun)
        r->begun = f->captured;
    usec_t time = f->captured - r->begun, decode;
    record_times_frame(&r->times, &time, &decode);
    struct recorded_frame of = {.number = f->number,
                                .depends_on = whole.depends_on,
                                .size_id = f->size_id,
                                .key = whole.key,
                                .time = time,
                                .decode = decode,
                                .wall = f->capture_wall,
                                .data = whole.data,
                                .bytes = whole.bytes};
    if (recording_frame(r->recording, &of, now))
        r->feed->ops->begin(r->feed, r->size_id, f->number + 1);
}

static void on_audio(struct frame_sink *sink, struct coded_audio *c, usec_t now)
{
    (void)now;
    struct recorder *r = of_sink(sink);
    if (!r->feed || r->ended || !r->begun)
        return;
    usec_t time = c->captured - r->begun;
    recording_audio(r->recording, time, record_times_audio(&r->times, time), c->data, c->bytes);
}

static void on_end(struct frame_sink *sink, const char *why, usec_t now)
{
    (void)why;
    struct recorder *r = of_sink(sink);
    if (!r->feed || r->ended)
        return;
    r->ended = true;
    recording_break(r->recording);
    timer_set(r->timer, now); // the feed cannot be freed here
}

static const struct frame_sink_ops sink_ops = {
    .on_frame = on_frame, .on_audio = on_audio, .on_end = on_end};

// Of VP9 the largest size needs the others.
static void watch_pictures(struct recorder *r, int change)
{
    for (int i = r->sizes ? 0 : r->size_id; i <= r->size_id; i++)
        r->feed->ops->watch(r->feed, i, change);
}

static void stop_feed(struct recorder *r)
{
    if (!r->feed)
        return;
    watch_pictures(r, -1);
    if (r->media->audio_bps)
        r->feed->ops->watch_audio(r->feed, -1);
    r->feed->ops->free(r->feed);
    r->feed = NULL;
}

// Returns false if there is no memory.
static bool start_feed(struct recorder *r)
{
    struct media_feed_config config = {.loop = r->loop, .sink = &r->sink};
    r->feed = r->media->ops->feed_new(r->media, &config);
    if (!r->feed)
        return false;
    r->ended = false;
    r->feed->reports_losses = true; // the recording requests key frames itself
    r->feed->takes_any_rate = true;
    watch_pictures(r, 1);
    if (r->media->audio_bps)
        r->feed->ops->watch_audio(r->feed, 1);
    return true;
}

static void on_timer(void *ctx, usec_t now)
{
    struct recorder *r = ctx;
    bool is_film = r->media->duration >= 0;
    if (r->ended) {
        stop_feed(r);
        r->ended = false;
        if (is_film)
            log_info("the film has ended: its recording is complete");
        else
            timer_set(r->timer, now + RECORDER_RETRY);
    } else if (!r->feed && !start_feed(r)) {
        timer_set(r->timer, now + RECORDER_RETRY);
    }
}

struct recorder *recorder_new(uv_loop_t *loop, const struct recorder_config *config)
{
    if (recording_check("--record", config->pattern) != 0)
        return NULL;
    struct recorder *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    *r = (struct recorder){.sink.ops = &sink_ops,
                           .loop = loop,
                           .media = config->media,
                           .size_id = config->media->ladder.size_count - 1};
    if (r->media->kind == SDP_SOURCE_RELAYED) { // a camera that sends B frames
        struct fps fps = r->media->ladder.sizes[r->size_id].fps;
        r->times.delay = usec_of_frames(RECORD_TIMES_REORDERED, fps.num, fps.den);
    }
    struct recording_config recording = {.pattern = config->pattern,
                                         .title = config->media->title,
                                         .segment = config->segment,
                                         .key_every = RECORDER_KEYS,
                                         .keep = config->keep};
    r->recording = recording_new(&recording);
    r->timer = timer_new(loop, on_timer, r);
    bool is_vp9 = config->media->codec == SDP_VP9;
    const struct ladder *ladder = &config->media->ladder;
    r->sizes = is_vp9 ? record_superframe_new(ladder) : NULL;
    if (r->recording && is_vp9)
        recording_describe_vp9(r->recording, ladder->sizes[r->size_id].width,
                               ladder->sizes[r->size_id].height);
    if (r->recording)
        recording_describe(r->recording, config->media->audio_bps > 0,
                           ladder->sizes[r->size_id].fps);
    if (r->recording && r->timer && (r->sizes || !is_vp9) && start_feed(r))
        return r;
    log_error("cannot record: out of memory");
    recorder_free(r, 0);
    return NULL;
}

void recorder_free(struct recorder *r, usec_t patience)
{
    if (!r)
        return;
    stop_feed(r);
    timer_free(r->timer);
    record_superframe_free(r->sizes);
    (void)recording_end(r->recording, patience);
    free(r);
}
