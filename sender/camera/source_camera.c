// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/camera/source_camera.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "media/capture/policy/frame_grid.h"
#include "media/decode/decoder.h"
#include "media/pattern/no_signal.h"
#include "sender/policy/decode_gate.h"
#include "sender/policy/frame_group.h"

#define WAIT       (100 * USEC_PER_MSEC) // max. time in `next`
#define SIZE_LIMIT (4 * USEC_PER_SEC)
#define GONE       (2 * USEC_PER_SEC) // without a picture: then the card is shown
enum {
    BEHIND = 2,  // frames: a decoder that is further behind the camera outputs no pictures
    STAMPS = 32, // frames whose capture times are known
    TAIL = 64,   // zero bytes after a frame
};

struct source_camera {
    struct source base;    // first
    struct camera *camera; // owned
    pthread_mutex_t lock;  // guards the members up to `given`
    pthread_cond_t more;
    struct frame_group group; // written by the camera's thread
    bool is_over;             // the same: the media has ended for good
    bool breaks_off;          // ... before its end
    int given;                // frames of it that the decoder has
    struct decoder *decoder;  // owned, as are the next ones
    struct scaler *scaler;
    uint8_t *buffer; // of a frame
    size_t buffer_bytes;
    struct decode_gate gate;
    struct {
        int64_t number;
        usec_t captured;
    } stamps[STAMPS]; // by number % STAMPS
    struct frame_grid grid;
    struct picture *pending; // owned; NULL: none
    usec_t pending_at;       // its capture
    struct picture *current; // owned; the last picture, or the card; NULL: none yet
    bool is_card;            // `current` is the card
    const char *away;        // static; the card's text
    usec_t pictured;         // when the newest picture came
};

// ---- From the camera's thread

static void on_frame(void *ctx, struct coded_frame *f)
{
    struct source_camera *s = ctx;
    pthread_mutex_lock(&s->lock);
    frame_group_add(&s->group, f);
    if (s->group.count <= 1) // a key frame: what the decoder does not have yet is left out
        s->given = 0;
    pthread_cond_signal(&s->more);
    pthread_mutex_unlock(&s->lock);
    coded_frame_unref(f);
}

static void on_picture(void *ctx, const struct camera_picture *p)
{
    (void)ctx, (void)p; // the decoder reads it in the frames
}

static void on_rate(void *ctx, struct fps fps)
{
    (void)ctx, (void)fps; // the grid keeps its rate, and skips pictures
}

static void on_end(void *ctx, const char *why)
{
    struct source_camera *s = ctx;
    pthread_mutex_lock(&s->lock);
    s->is_over = true;
    s->breaks_off = why;
    pthread_cond_signal(&s->more);
    pthread_mutex_unlock(&s->lock);
}

static bool is_over(struct source *base)
{
    struct source_camera *s = (struct source_camera *)base;
    pthread_mutex_lock(&s->lock);
    bool over = s->is_over;
    pthread_mutex_unlock(&s->lock);
    return over;
}

// ---- The source's thread

// Returns the next frame for the decoder, which the caller owns, or NULL. *behind: frames that wait
// after it.
static struct coded_frame *take_frame(struct source_camera *s, int *behind)
{
    struct coded_frame *f = NULL;
    pthread_mutex_lock(&s->lock);
    if (s->given < s->group.count) {
        f = coded_frame_ref(s->group.frames[s->given++]);
        *behind = s->group.count - s->given;
    }
    pthread_mutex_unlock(&s->lock);
    return f;
}

// Returns at once at the end.
static void wait_frame(struct source_camera *s, usec_t until)
{
    struct timespec at = {.tv_sec = until / USEC_PER_SEC, .tv_nsec = until % USEC_PER_SEC * 1000};
    pthread_mutex_lock(&s->lock);
    if (s->given >= s->group.count && !s->is_over)
        pthread_cond_timedwait(&s->more, &s->lock, &at);
    pthread_mutex_unlock(&s->lock);
}

// Keeps the newest picture in `pending`.
static void keep(struct source_camera *s, struct picture *p)
{
    int at = (int)(p->number % STAMPS);
    usec_t captured = s->stamps[at].number == p->number ? s->stamps[at].captured : clock_now();
    picture_unref(s->pending);
    if (!s->base.width) { // the first picture
        s->base.width = p->width & ~1;
        s->base.height = p->height & ~1;
    }
    s->pending = scaler_scaled(s->scaler, p, s->base.width, s->base.height);
    s->pending_at = captured;
    picture_unref(p);
}

static bool copy(struct source_camera *s, const struct coded_frame *f)
{
    if (s->buffer_bytes < f->bytes + TAIL) {
        uint8_t *larger = realloc(s->buffer, f->bytes + TAIL);
        if (!larger)
            return false;
        s->buffer = larger;
        s->buffer_bytes = f->bytes + TAIL;
    }
    memcpy(s->buffer, f->data, f->bytes);
    memset(s->buffer + f->bytes, 0, TAIL);
    return true;
}

// Decodes the next frame, if there is one. Returns false if not.
static bool decode_next(struct source_camera *s)
{
    int behind = 0;
    struct coded_frame *f = take_frame(s, &behind);
    if (!f)
        return false;
    struct picture *p = NULL;
    if (decode_gate_pass(&s->gate, f->number, f->depends_on, f->key) && copy(s, f)) {
        s->stamps[f->number % STAMPS].number = f->number;
        s->stamps[f->number % STAMPS].captured = f->captured;
        if (decoder_decode(s->decoder, s->buffer, f->bytes, f->number, &p) != 0)
            decode_gate_lost(&s->gate);
    }
    if (decode_gate_wants_key(&s->gate, clock_now()))
        camera_request_key(s->camera);
    coded_frame_unref(f);
    for (; p; p = decoder_more(s->decoder)) {
        if (behind > BEHIND && s->base.width)
            picture_unref(p);
        else
            keep(s, p);
    }
    return true;
}

static void show(struct source_camera *s, struct picture *p, bool card)
{
    picture_unref(s->current);
    s->current = p;
    s->is_card = card;
}

static bool show_card(struct source_camera *s)
{
    struct picture *card = picture_new(s->base.width, s->base.height);
    if (!card)
        return false;
    no_signal_draw(card, s->away);
    show(s, card, true);
    return true;
}

// Emits the current picture as the next frame; it was captured at `stamp`.
static int emit(struct source_camera *s, usec_t stamp, struct picture **out)
{
    struct picture *p = picture_alias(s->current);
    if (!p)
        return ERR_AGAIN;
    p->number = frame_grid_take(&s->grid);
    p->pts = usec_of_frames(p->number, s->base.fps.num, s->base.fps.den);
    p->capture_wall = clock_wall() - (clock_now() - stamp);
    *out = p;
    return 0;
}

// Emits the next frame of the pending picture. If that belongs to a later frame, the current one is
// repeated. Returns ERR_AGAIN if there is none.
static int emit_new(struct source_camera *s, struct picture **out)
{
    if (!s->pending)
        return ERR_AGAIN;
    usec_t now = clock_now();
    usec_t stamp = usec_max(s->pending_at, now - CAPTURE_MAX_AGE); // older frames have expired
    int before = frame_grid_place(&s->grid, stamp, now);
    if (before > 0 && s->current)
        return emit(s, frame_grid_instant(&s->grid), out);
    struct picture *p = s->pending;
    s->pending = NULL;
    if (before < 0) {
        picture_unref(p);
        return ERR_AGAIN;
    }
    show(s, p, false);
    s->pictured = now;
    return emit(s, stamp, out);
}

// Emits the next frame after its deadline, if no picture came for it.
static int emit_old(struct source_camera *s, struct picture **out, usec_t now)
{
    bool is_gone = now - s->pictured >= GONE;
    if (is_gone && !s->is_card && !show_card(s))
        return ERR_AGAIN;
    if (!s->current)
        return ERR_AGAIN;
    if (!s->grid.anchored)
        frame_grid_anchor(&s->grid, now);
    return emit(s, usec_min(frame_grid_instant(&s->grid), now), out);
}

static int camera_next(struct source *base, struct picture **out)
{
    struct source_camera *s = (struct source_camera *)base;
    usec_t end = clock_now() + WAIT;
    if (!s->pictured)
        s->pictured = clock_now();
    for (;;) {
        if (emit_new(s, out) == 0)
            return 0;
        usec_t now = clock_now();
        if (now < end && decode_next(s))
            continue;
        if (now < end && is_over(base))
            return s->breaks_off ? ERR_IO : ERR_END;
        usec_t due = s->grid.anchored ? frame_grid_deadline(&s->grid) : end;
        if (now >= due && emit_old(s, out, now) == 0)
            return 0;
        if (now >= end)
            return ERR_AGAIN;
        wait_frame(s, due > now ? usec_min(due, end) : end);
    }
}

// The camera stays connected, so the next viewer need not wait for a key frame.
static void camera_idle(struct source *base)
{
    struct source_camera *s = (struct source_camera *)base;
    if (!s->pictured)
        return;
    frame_grid_restart(&s->grid);
    show(s, NULL, false); // a viewer that returns must not see a picture from minutes ago
    picture_unref(s->pending);
    s->pending = NULL;
    s->pictured = 0;
}

static void source_free_all(struct source *base)
{
    struct source_camera *s = (struct source_camera *)base;
    camera_free(s->camera);
    frame_group_clear(&s->group);
    picture_unref(s->pending);
    picture_unref(s->current);
    decoder_free(s->decoder);
    scaler_free(s->scaler);
    free(s->buffer);
    pthread_cond_destroy(&s->more);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

// Decodes until the pictures' size is known. Returns false if that takes too long.
static bool learn_size(struct source_camera *s)
{
    usec_t deadline = clock_now() + SIZE_LIMIT;
    for (bool more = true; more && !s->base.width && clock_now() < deadline;)
        if (!decode_next(s)) {
            more = !is_over(&s->base);
            wait_frame(s, clock_now() + WAIT);
        }
    if (!s->base.width)
        log_error("%s: its pictures cannot be decoded (larger than 4096x2304?)", s->base.name);
    return s->base.width;
}

struct source *source_camera_new(struct camera *camera)
{
    static const struct source_ops ops = {
        .next = camera_next, .idle = camera_idle, .is_over = is_over, .free = source_free_all};
    static const struct camera_sink sink = {
        .on_frame = on_frame, .on_picture = on_picture, .on_rate = on_rate, .on_end = on_end};
    struct source_camera *s = calloc(1, sizeof(*s));
    if (!s) {
        log_error("cannot decode the camera: out of memory");
        camera_free(camera);
        return NULL;
    }
    struct camera_picture size;
    camera_picture(camera, &size);
    s->camera = camera;
    s->base = (struct source){.ops = &ops,
                              .kind = SDP_SOURCE_CAMERA,
                              .width = size.width & ~1,
                              .height = size.height & ~1,
                              .fps = camera_fps(camera),
                              .duration = -1,
                              .live = true};
    s->away = camera_is_pipe(camera) ? "its writer is away" : "the camera is away";
    snprintf(s->base.name, sizeof(s->base.name), "%s", camera_title(camera));
    pthread_mutex_init(&s->lock, NULL);
    clock_cond_init(&s->more);
    frame_grid_init(&s->grid, s->base.fps);
    decode_gate_init(&s->gate);
    enum decoder_order order = camera_reorders(camera) ? DECODER_AS_SHOWN : DECODER_PLAIN;
    enum sdp_codec codec = camera_codec(camera);
    s->decoder = codec == SDP_HEVC   ? decoder_new_hevc(order)
                 : codec == SDP_JPEG ? decoder_new_jpeg()
                 : codec == SDP_VP9  ? decoder_new_vp9()
                                     : decoder_new(order);
    s->scaler = scaler_new();
    if (s->decoder && s->scaler) {
        camera_attach(camera, &sink, s);
        if (learn_size(s))
            return &s->base;
    }
    source_free_all(&s->base);
    return NULL;
}
