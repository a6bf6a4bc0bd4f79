// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/feed/live_feed.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/mailbox.h"
#include "sender/feed/audio_thread.h"
#include "sender/feed/encoder_thread.h"
#include "sender/feed/live_control.h"
#include "sender/policy/encode_load.h"

enum { WAITING_FRAMES = 256 };

// A message to the loop: a frame, an audio packet, the end of the source, or the end of the feed's
// threads.
struct item {
    struct coded_frame *frame; // one reference, or NULL
    struct coded_audio *audio; // one reference, or NULL
    struct picture *picture;   // one reference, or NULL
    const char *broken; // if none of them: why the source broke off; borrowed from it, or NULL
    int own;            // 1: the size that passes goes on, -1: it pauses
    bool gone;          // the last item: the threads have ended
};

struct live_feed {
    pthread_t thread;
    bool started;
    bool closed;           // live_feed_free was called; loop thread only
    struct source *source; // owned; used by the source thread
    struct ladder ladder;
    struct live_control *control; // owned; of the encoders' viewers
    int encoder_count;
    int encoder_of_size[LADDER_MAX_SIZES];
    struct encoder_thread *encoders[LADDER_MAX_SIZES]; // owned
    bool lowers; // what a machine that does not keep up encodes; the next four: loop thread only
    struct encode_load load;
    bool own_pauses;      // of the size that passes; loop thread only
    int own_missing;      // pictures without its frame since the last one; source thread only
    bool own_is_out;      // the loop was told that it pauses; source thread only
    usec_t lowered_since; // USEC_NEVER: all is encoded
    usec_t lowered;       // how long it was before that, together
    char name[128];       // of the source
    int silent[LADDER_MAX_SIZES]; // viewers of each encoder that report no losses; loop thread only
    int track_count;              // of the audio
    struct audio_thread *audio[SDP_AUDIO_TRACKS]; // owned
    struct mailbox *mailbox;                      // owned; NULL before live_feed_start
    const struct live_feed_events *events;        // static
    void *ctx;                                    // borrowed
};

static void item_free(void *arg)
{
    struct item *item = arg;
    coded_frame_unref(item->frame);
    coded_audio_unref(item->audio);
    picture_unref(item->picture);
    free(item);
}

// Frees the encoder and audio threads and the source. Only the source thread is left then.
static void free_parts(struct live_feed *e)
{
    for (int i = 0; i < e->encoder_count; i++)
        encoder_thread_free(e->encoders[i]);
    for (int i = 0; i < e->track_count; i++)
        audio_thread_free(e->audio[i]);
    source_free(e->source);
}

static void free_rest(struct live_feed *e)
{
    mailbox_free(e->mailbox);
    live_control_free(e->control);
    free(e);
}

static struct encoder_thread *encoder_of(const struct live_feed *e, int size_id)
{
    return e->encoders[e->encoder_of_size[size_id]];
}

// ---- A machine that does not keep up

static void note_begin(struct live_feed *e, usec_t now)
{
    log_warn("%s: this machine does not keep up with encoding: viewers get fewer frames, and if "
             "that is not enough smaller pictures, until it does",
             e->name);
    e->lowered_since = now;
}

static void note_end(struct live_feed *e, usec_t now)
{
    usec_t lasted = now - e->lowered_since;
    log_info("%s: this machine keeps up with encoding again, after %.0f s: viewers get all frames "
             "and sizes",
             e->name, usec_to_sec(lasted));
    e->lowered += lasted;
    e->lowered_since = USEC_NEVER;
}

// Reports the largest size that has frames now.
static void apply_top(struct live_feed *e, usec_t now)
{
    int top = e->lowers ? encode_load_top(&e->load) : e->ladder.size_count - 1;
    while (top > 0 && e->own_pauses && ladder_size_passes(&e->ladder, top))
        top--;
    if (e->events->on_top)
        e->events->on_top(e->ctx, top, now);
}

static void apply_load(struct live_feed *e, usec_t now)
{
    const struct encode_load *l = &e->load;
    bool is_lowered = encode_load_steps(l) > 0, was_lowered = e->lowered_since != USEC_NEVER;
    if (is_lowered && !was_lowered)
        note_begin(e, now);
    if (was_lowered && !is_lowered)
        note_end(e, now);
    log_debug("%s: step %d: up to %dx%d, every picture of %d", e->name, encode_load_steps(l),
              e->ladder.sizes[encode_load_top(l)].width, e->ladder.sizes[encode_load_top(l)].height,
              encode_load_every(l, encode_load_top(l)));
    for (int i = 0; i < e->ladder.size_count; i++)
        live_control_set_every(e->control, e->encoder_of_size[i], encode_load_every(l, i));
    apply_top(e, now);
}

static void note_load(struct live_feed *e, const struct coded_frame *f, usec_t now)
{
    // A device sets the time of capture: how late it delivers is no matter of this machine's load.
    usec_t took = f->encode_time;
    struct encode_load_frame frame = {
        .size_id = f->size_id, .took = took, .late = e->source->live ? took : now - f->captured};
    if (encode_load_came(&e->load, &frame, now))
        apply_load(e, now);
}

static void on_item(void *ctx, void *arg, usec_t now)
{
    struct live_feed *e = ctx;
    struct item *item = arg;
    if (item->gone) {
        pthread_join(e->thread, NULL); // returns at once: the thread posts this item last
        free_rest(e);
    } else if (e->closed) {
        item_free(item);
        return;
    } else if (item->frame) {
        if (e->lowers)
            note_load(e, item->frame, now);
        item->frame->made = usec_max(0, now - item->frame->captured);
        item->frame->is_slow = e->lowered_since != USEC_NEVER;
        e->events->on_frame(e->ctx, item->frame, now);
    } else if (item->audio)
        e->events->on_audio(e->ctx, item->audio, now);
    else if (item->picture)
        e->events->on_picture(e->ctx, item->picture, now);
    else if (item->own) {
        e->own_pauses = item->own < 0;
        apply_top(e, now);
    } else if (live_control_end_is_current(e->control))
        e->events->on_end(e->ctx, item->broken, now);
    item_free(item);
}

// ---- The other threads

// A device does not wait for a queue that is full; a file does, and nothing of it is left out.
// Returns false if there is nothing to try again.
static bool waits(struct live_feed *e)
{
    return !e->source->live && live_control_wait_loop(e->control);
}

// Takes over the references in `content`, even on failure. Returns false if the mailbox is full, or
// on lack of memory.
static bool post(struct live_feed *e, struct item content)
{
    struct item *item = malloc(sizeof(*item));
    if (!item) {
        coded_frame_unref(content.frame);
        coded_audio_unref(content.audio);
        picture_unref(content.picture);
        return false;
    }
    *item = content;
    bool posted;
    while (!(posted = mailbox_post(e->mailbox, item)) && waits(e))
        ;
    if (!posted)
        item_free(item);
    return posted;
}

static bool on_coded(void *ctx, struct coded_frame *f)
{
    return post(ctx, (struct item){.frame = f});
}

static void on_audio(void *ctx, struct coded_audio *c)
{
    (void)post(ctx, (struct item){.audio = c});
}

static void on_done(void *ctx)
{
    live_control_done(((struct live_feed *)ctx)->control);
}

static const struct encoder_thread_events video_events = {.on_coded = on_coded, .on_done = on_done};
static const struct audio_thread_events audio_events = {.on_audio = on_audio, .on_done = on_done};

// Returns the index of the frame in the encoder's sizes; -1: they have none at this number. Sizes
// of one encoder have the same frames.
static int64_t index_of(const struct live_feed *e, int encoder, int64_t number)
{
    int size_id = 0;
    while (e->encoder_of_size[size_id] != encoder)
        size_id++;
    return size_index_of_frame(e->ladder.sizes[size_id].fps, e->ladder.source_fps, number);
}

// Returns false if the encoder does not get the picture.
static bool push(struct live_feed *e, int encoder, struct picture *p, usec_t captured)
{
    while (!encoder_thread_push(e->encoders[encoder], p, captured))
        if (!waits(e))
            return false;
    return true;
}

static bool push_audio(struct live_feed *e, int track, struct picture *p, usec_t captured)
{
    while (!audio_thread_push(e->audio[track], p, captured))
        if (!waits(e))
            return false;
    return true;
}

// Queues the picture for the encoders that have viewers and a frame at this number. Returns false
// if there is none, though some encoder has a frame at this number.
static bool encode(struct live_feed *e, struct picture *p, usec_t captured)
{
    int coded = 0, begun = 0;
    for (int i = 0; i < e->encoder_count; i++) {
        int64_t index = index_of(e, i, p->number);
        if (index < 0)
            continue;
        coded++;
        if (!live_control_begin_picture(e->control, i, index))
            continue;
        begun++;
        if (!push(e, i, p, captured))
            live_control_done(e->control);
    }
    return begun || !coded;
}

// A picture may bring no frame of the size that passes: it stands, or has another shape. Viewers
// get the size below until the next IDR. After a seek they do so by themselves (level_switch.h).
static void note_own(struct live_feed *e, const struct picture *p, bool sought)
{
    if (sought)
        e->own_missing = INT_MIN;
    if (p->coded)
        e->own_missing = 0;
    else if (e->own_missing <= CODED_VIDEO_MAX_REORDER)
        e->own_missing++;
    bool is_out = e->own_missing > CODED_VIDEO_MAX_REORDER || (e->own_is_out && !p->coded);
    if (is_out != e->own_is_out && post(e, (struct item){.own = is_out ? -1 : 1}))
        e->own_is_out = is_out;
}

// Gives the picture to all that want it, and its audio to listeners. A file's picture whose only
// viewer has just paused is the first one after the pause.
static void distribute(struct live_feed *e, struct picture *p, usec_t captured)
{
    while (!encode(e, p, captured) && !e->source->live && live_control_wait_back(e->control))
        ;
    if (live_control_take_picture(e->control) && !post(e, (struct item){.picture = picture_ref(p)}))
        live_control_want_picture(e->control, true); // the mailbox is full: the next one
    for (int i = 0; i < e->track_count; i++)
        if (live_control_begin_audio(e->control, i) && !push_audio(e, i, p, captured))
            live_control_done(e->control);
}

// The source has ended: waits for the encoders, posts the end to the loop, and waits until the
// viewers have left. Then a file starts again for the next viewers.
static void finish(struct live_feed *e, const char *broken)
{
    if (!live_control_end(e->control))
        return;
    while (!post(e, (struct item){.broken = broken})) // mailbox full: it drains
        if (!live_control_wait_loop(e->control))
            return;
    live_control_wait_left(e->control);
}

static void *run(void *arg)
{
    struct live_feed *e = arg;
    struct source *source = e->source;
    bool held = true; // media time was interrupted
    usec_t seek_to, lead;
    while (live_control_wait_viewer(e->control, source, &held, &seek_to, &lead)) {
        bool seeks = seek_to != USEC_NEVER && source->ops->seek;
        held |= seeks;
        bool sought = seeks && source->ops->seek(source, seek_to) == 0;
        struct picture *p = NULL;
        int err = source->ops->next(source, &p); // pulled before it is due
        if (err == ERR_AGAIN)
            continue;
        if (err) {
            const char *broken = err == ERR_END ? source->broken : "the source fails";
            finish(e, *broken ? broken : NULL);
            held = true;
            continue;
        }
        if (held)
            live_control_begin_pace(e->control, lead);
        held = false;
        usec_t captured = clock_now();
        if (source->live) {
            captured = usec_min(captured, captured - (clock_wall() - p->capture_wall));
        } else if (!live_control_wait_pace(e->control, p->number, &captured)) {
            picture_unref(p);
            continue;
        }
        if (!p->capture_wall)
            p->capture_wall = clock_wall() - (clock_now() - captured);
        if (e->ladder.passes)
            note_own(e, p, sought);
        live_control_advance(e->control, p->pts, p->number, sought ? seek_to : USEC_NEVER);
        distribute(e, p, captured);
        picture_unref(p);
    }
    free_parts(e);
    while (!post(e, (struct item){.gone = true})) // mailbox full: it drains
        (void)live_control_wait_loop(e->control);
    return NULL;
}

// ---- The loop's thread

// Returns false on failure.
static bool add_encoder(struct live_feed *e, struct video_encoder *encoder)
{
    if (!encoder)
        return false;
    for (int i = 0; i < encoder->size_count; i++)
        e->encoder_of_size[encoder->first_size + i] = e->encoder_count;
    e->encoders[e->encoder_count] = encoder_thread_new(encoder, &video_events, e);
    return e->encoders[e->encoder_count++] != NULL;
}

static bool add_encoders(struct live_feed *e, enum sdp_codec codec,
                         const struct video_engine *engine)
{
    if (codec == SDP_VP9)
        return add_encoder(e, video_encoder_new_vp9(&e->ladder));
    for (int i = 0; i < e->ladder.size_count; i++) {
        struct video_encoder *encoder =
            ladder_size_passes(&e->ladder, i)
                ? video_encoder_new_passed(&e->ladder, i, &e->source->coded)
                : video_engine_open(engine, &e->ladder, i);
        if (!add_encoder(e, encoder))
            return false;
    }
    return true;
}

struct live_feed *live_feed_new(struct source *source, const struct ladder *ladder,
                                enum sdp_codec codec, const struct video_engine *engine,
                                const struct live_feed_events *events, void *ctx)
{
    struct live_feed *e = calloc(1, sizeof(*e));
    if (!e) {
        source_free(source);
        return NULL;
    }
    e->source = source;
    e->ladder = *ladder;
    e->events = events;
    e->ctx = ctx;
    e->lowered_since = USEC_NEVER;
    snprintf(e->name, sizeof(e->name), "%s", source->name);
    if (add_encoders(e, codec, engine))
        e->control = live_control_new(e->encoder_count, ladder->source_fps);
    if (e->control)
        return e;
    log_error("cannot create the encoders");
    live_feed_free(e);
    return NULL;
}

void live_feed_lower_when_slow(struct live_feed *e)
{
    e->lowers = true;
    encode_load_init(&e->load, &e->ladder);
}

int live_feed_start(struct live_feed *e, uv_loop_t *loop)
{
    e->mailbox = mailbox_new(loop, WAITING_FRAMES, on_item, item_free, e);
    e->started = e->mailbox && pthread_create(&e->thread, NULL, run, e) == 0;
    if (e->started)
        return 0;
    log_error("cannot start the encoders");
    return ERR_IO;
}

int live_feed_add_audio(struct live_feed *e, struct audio_source *source, int bitrate_bps)
{
    if (e->track_count == SDP_AUDIO_TRACKS) {
        audio_source_free(source);
        return ERR_FULL;
    }
    struct audio_thread *t = audio_thread_new(source, e->track_count, e->ladder.source_fps,
                                              bitrate_bps, &audio_events, e);
    if (!t)
        return ERR_NO_MEMORY;
    e->audio[e->track_count++] = t;
    return 0;
}

void live_feed_free(struct live_feed *e)
{
    if (!e)
        return;
    if (!e->started) {
        free_parts(e);
        free_rest(e);
        return;
    }
    e->closed = true;
    live_control_stop(e->control);
}

const char *live_feed_sprop(const struct live_feed *e, int size_id)
{
    return encoder_thread_sprop(encoder_of(e, size_id));
}

const char *live_feed_profile(const struct live_feed *e, int size_id)
{
    return encoder_thread_profile(encoder_of(e, size_id));
}

void live_feed_watch_audio(struct live_feed *e, int track, int change)
{
    live_control_watch_audio(e->control, track, change);
}

void live_feed_watch(struct live_feed *e, int size_id, const struct live_feed_viewer *viewer,
                     int change)
{
    int i = e->encoder_of_size[size_id];
    if (change > 0)
        encoder_thread_begin(e->encoders[i], size_id, viewer->account, 0);
    e->silent[i] += viewer->reports_losses ? 0 : change;
    encoder_thread_set_viewers(e->encoders[i], live_control_viewers(e->control, i) + change,
                               e->silent[i]);
    live_control_watch(e->control, i, change);
    int viewers = live_control_viewers(e->control, i);
    if (e->lowers && (viewers == 0 || viewers == change))
        encode_load_watch(&e->load, size_id, viewers > 0);
}

void live_feed_take(struct live_feed *e, bool wanted)
{
    live_control_want_picture(e->control, wanted);
}

void live_feed_set_full(struct live_feed *e, bool full)
{
    live_control_set_full(e->control, full);
}

void live_feed_begin(struct live_feed *e, int size_id, int account, int64_t from)
{
    encoder_thread_begin(encoder_of(e, size_id), size_id, account, from);
}

void live_feed_request_key(struct live_feed *e, int size_id, int account, usec_t now)
{
    encoder_thread_request_key(encoder_of(e, size_id), size_id, account, now);
}

void live_feed_set_bitrate(struct live_feed *e, int size_id, int bitrate_bps)
{
    if (!bitrate_bps)
        bitrate_bps = ladder_size_bitrate(&e->ladder, size_id);
    encoder_thread_set_bitrate(encoder_of(e, size_id), size_id, bitrate_bps);
}

void live_feed_repair(struct live_feed *e, int size_id, int64_t number, int account)
{
    const struct size_spec *size = &e->ladder.sizes[size_id];
    int64_t index = size_index_of_frame(size->fps, e->ladder.source_fps, number);
    bool shared = live_control_viewers(e->control, e->encoder_of_size[size_id]) > 1;
    if (!shared || layer_temporal_id(index, size->layers) == 0)
        encoder_thread_repair(encoder_of(e, size_id), size_id, number, account);
}

int64_t live_feed_seek(struct live_feed *e, usec_t pts, bool ahead)
{
    return e->source->ops->seek ? live_control_seek(e->control, pts, ahead) : ERR_UNSUPPORTED;
}

void live_feed_set_speed(struct live_feed *e, double speed)
{
    live_control_set_speed(e->control, speed);
}

usec_t live_feed_position(struct live_feed *e, int64_t *number)
{
    return live_control_position(e->control, number);
}

void live_feed_stats_of_size(struct live_feed *e, int size_id, struct live_feed_size_stats *out)
{
    encoder_thread_stats(encoder_of(e, size_id), size_id, out);
    if (!out->bitrate_bps)
        out->bitrate_bps = ladder_size_bitrate(&e->ladder, size_id);
    out->lowered = e->lowered;
    if (e->lowered_since != USEC_NEVER)
        out->lowered += clock_now() - e->lowered_since;
}

bool live_feed_is_over(const struct live_feed *e)
{
    return e->source->ops->is_over && e->source->ops->is_over(e->source);
}

bool live_feed_stats_of_audio(struct live_feed *e, struct live_feed_audio_stats *out)
{
    *out = (struct live_feed_audio_stats){0};
    for (int i = 0; i < e->track_count; i++) {
        struct live_feed_audio_stats of;
        audio_thread_stats(e->audio[i], &of);
        out->packets += of.packets;
        out->bytes += of.bytes;
        out->busy += of.busy;
        out->overload += of.overload;
    }
    return e->track_count > 0;
}
