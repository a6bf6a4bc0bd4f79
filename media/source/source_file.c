// SPDX-License-Identifier: GPL-2.0-or-later
// A file as a source. Frames of any rate become frames of a constant rate, as in FFmpeg's fps
// filter: a frame belongs to the nearest tick of the output. A tick without a frame repeats the
// previous one; of two frames in one tick the later one is used. Then each picture is turned
// upright and scaled to square pixels and to the size that was determined at opening.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/convert/convert.h"
#include "media/picture/picture_fit.h"
#include "media/picture/rotate.h"
#include "media/source/source.h"
#include "media/source/video_file.h"

enum {
    MAX_UNITS = VIDEO_FILE_KEPT,
    MAX_GAP = 60,     // max. seconds between frames; a larger gap is a clock jump and is skipped
    MAX_BACKWARD = 1, // max. seconds that a frame may be late; more is a clock jump
};

struct unit {         // an access unit that was read
    AVPacket *packet; // owned
    int64_t tick;     // in which it is shown
};

struct source_file {
    struct source base;
    struct video_file *file; // owned
    bool loop;
    bool ended;
    bool seeking;     // after a seek: skip frames before the next tick
    AVFrame *current; // owned; the frame of the next tick, if have_current
    AVFrame *pending; // owned; the frame after it, if have_pending
    bool have_current;
    bool have_pending;
    int64_t next;         // the next tick
    int64_t pending_tick; // the tick of `pending`
    int64_t first_pts;    // the file's time at media time 0
    int64_t origin_pts;   // the file's time at tick `origin_tick`
    int64_t origin_tick;
    struct converter converter;
    // While base.coded.passes: what was decoded and not passed on yet, in decoding order.
    struct coded_units coded;
    int unit_count;
    struct unit units[MAX_UNITS];
    struct picture *unturned; // owned; the picture before rotate_run; NULL if the file is upright
    int quarters;
    bool flipped;
};

static usec_t usec_of_pts(const struct source_file *s, int64_t pts)
{
    return av_rescale_q(pts, video_file_info(s->file)->time_base, (AVRational){1, 1000000});
}

static int emit(struct source_file *s, struct picture **out)
{
    struct picture *p = picture_new(s->base.width, s->base.height);
    if (!p) {
        log_error("%s: no memory for a picture", s->base.name);
        return ERR_IO;
    }
    struct image from = image_of_frame(s->current);
    struct image to = image_of_picture(s->unturned ? s->unturned : p);
    int r = converter_run(&s->converter, &from, &to);
    if (r < 0) {
        log_error("%s: cannot convert a picture (%s)", s->base.name, err_text(r));
        picture_unref(p);
        return ERR_IO;
    }
    if (s->unturned)
        rotate_run(s->unturned, s->quarters, s->flipped, p);
    p->number = s->next++;
    p->pts = usec_of_frames(p->number, s->base.fps.num, s->base.fps.den);
    p->shift = usec_of_pts(s, av_sat_sub64(s->origin_pts, s->first_pts)) +
               usec_of_frames(p->number - s->origin_tick, s->base.fps.num, s->base.fps.den) -
               p->pts;
    *out = p;
    return 0;
}

// ---- Constant frame rate ----

static void set_origin(struct source_file *s, int64_t pts, int64_t tick)
{
    s->origin_pts = pts;
    s->origin_tick = tick;
}

static int64_t tick_of(const struct source_file *s, int64_t pts)
{
    const int64_t limit = (int64_t)1
                          << 40; // larger than any gap that is not a jump; avoids overflow
    AVRational tick = {s->base.fps.den, s->base.fps.num};
    int64_t n =
        av_rescale_q(av_sat_sub64(pts, s->origin_pts), video_file_info(s->file)->time_base, tick);
    return s->origin_tick + (n < -limit ? -limit : n > limit ? limit : n);
}

// Computes the tick of the frame just read. The current frame, if any, is shown at s->next, so a
// frame after a clock jump gets the tick after that.
static void place_pending(struct source_file *s)
{
    int64_t pts = s->pending->pts, tick = tick_of(s, pts), after = s->next + s->have_current;
    int64_t rate = (s->base.fps.num + s->base.fps.den - 1) / s->base.fps.den;
    bool jumps = tick > s->next + MAX_GAP * rate || tick < s->next - MAX_BACKWARD * rate;
    if (s->seeking && tick <= s->next)
        jumps = false;
    else if (s->seeking && !s->have_current)
        jumps = true; // the first frame after the seek is later than the target
    else
        s->seeking = false;
    if (jumps) {
        set_origin(s, pts, after);
        tick = after;
        s->seeking = false;
    }
    s->pending_tick = tick;
    s->have_pending = true;
}

// ---- The coded frames that are passed on

static void drop_unit(struct source_file *s)
{
    av_packet_free(&s->units[0].packet);
    memmove(s->units, s->units + 1, (size_t)--s->unit_count * sizeof(*s->units));
}

static void break_units(struct source_file *s)
{
    coded_units_break(&s->coded);
}

// Takes over what was read for the last picture. A unit without a tick is a fault.
static void collect_units(struct source_file *s)
{
    AVPacket *packet;
    while ((packet = video_file_take_packet(s->file))) {
        bool is_shown = packet->pts != AV_NOPTS_VALUE && !(packet->flags & AV_PKT_FLAG_DISCARD);
        if (s->unit_count == MAX_UNITS) {
            drop_unit(s);
            break_units(s);
        }
        int64_t tick = is_shown ? tick_of(s, packet->pts) : INT64_MIN;
        s->units[s->unit_count++] = (struct unit){packet, tick};
    }
}

// Returns the coded frame whose turn to be decoded is that of the picture of tick `slot` to be
// shown; NULL: there is none, or none before the next IDR. As many frames are decoded as are shown,
// so each new picture takes the next unit. `fresh`: how many pictures came in this tick.
static struct coded_frame *next_coded(struct source_file *s, int64_t slot, int fresh)
{
    struct coded_frame *frame = NULL;
    if (fresh > 1) // pictures were left out
        break_units(s);
    // Until an IDR comes in its turn, units of earlier ticks are left behind.
    while (!s->coded.begun && s->unit_count && s->units[0].tick < slot)
        drop_unit(s);
    bool is_due = s->unit_count && (s->coded.begun || s->units[0].tick == slot);
    if (!fresh || !is_due)
        return NULL;
    const struct unit *unit = &s->units[0];
    bool was_begun = s->coded.begun;
    int err = unit->tick < 0
                  ? ERR_MALFORMED
                  : coded_units_take(&s->coded, unit->packet->data, (size_t)unit->packet->size,
                                     unit->tick, slot, &frame);
    if (err)
        break_units(s);
    if (err && was_begun)
        log_warn("%s: at %.1f s its video cannot be passed on as it is: its level continues at the "
                 "next IDR picture",
                 s->base.name, usec_to_sec(usec_of_frames(slot, s->base.fps.num, s->base.fps.den)));
    if (frame)
        frame->pts = usec_of_frames(unit->tick, s->base.fps.num, s->base.fps.den);
    drop_unit(s);
    return frame;
}

static void drop_units(struct source_file *s)
{
    while (s->unit_count)
        drop_unit(s);
    break_units(s);
}

// ---- Reading

static void load_pending(struct source_file *s)
{
    if (video_file_read(s->file, s->pending) == 0) {
        place_pending(s);
        collect_units(s);
        return;
    }
    collect_units(s); // a rewind would drop them
    // A loop without any picture would never end, so one must follow the rewind.
    if (!s->loop || video_file_rewind(s->file) < 0 || video_file_read(s->file, s->pending) < 0) {
        s->ended = true;
        return;
    }
    s->seeking = false;
    set_origin(s, s->pending->pts, s->next + s->have_current);
    place_pending(s);
    collect_units(s);
}

static int file_next(struct source *base, struct picture **out)
{
    struct source_file *s = (struct source_file *)base;
    int fresh = 0;
    for (;;) {
        if (!s->have_pending && !s->ended)
            load_pending(s);
        if (!s->have_pending || s->pending_tick > s->next)
            break;
        AVFrame *shown = s->current;
        s->current = s->pending;
        s->pending = shown;
        s->have_current = true;
        s->have_pending = false;
        fresh++;
    }
    s->base.is_cut = video_file_is_cut(s->file);
    if (!s->have_current)
        return ERR_END;
    if (s->ended)
        s->have_current = false;
    int err = emit(s, out);
    if (!err && s->base.coded.passes)
        (*out)->coded = next_coded(s, (*out)->number, fresh);
    return err;
}

static int file_seek(struct source *base, usec_t pts)
{
    struct source_file *s = (struct source_file *)base;
    int64_t offset = av_rescale_q(pts < 0 ? 0 : pts, (AVRational){1, 1000000},
                                  video_file_info(s->file)->time_base);
    int64_t target = av_sat_add64(s->first_pts, offset);
    // A file without time stamps can still go to its beginning.
    if (video_file_seek(s->file, target) < 0 && (offset > 0 || video_file_rewind(s->file) < 0))
        return ERR_UNSUPPORTED;
    drop_units(s);
    s->have_current = s->have_pending = s->ended = false;
    s->seeking = true;
    set_origin(s, target, s->next);
    return 0;
}

// ---- Opening ----

static void file_free(struct source *base)
{
    struct source_file *s = (struct source_file *)base;
    converter_destroy(&s->converter);
    drop_units(s);
    picture_unref(s->unturned);
    av_frame_free(&s->pending);
    av_frame_free(&s->current);
    video_file_free(s->file);
    free(s);
}

static const struct source_ops file_ops = {.next = file_next, .seek = file_seek, .free = file_free};

// Reads the first frame, which determines the size; later frames of other sizes are scaled to it.
static int begin(struct source_file *s, const char *path)
{
    const struct video_info *info = video_file_info(s->file);
    char colours[COLOURS_NOTE];
    int width, height;
    if (video_file_read(s->file, s->pending) < 0) {
        log_error("%s: the file has no decodable video", path);
        return ERR_UNSUPPORTED;
    }
    if (!picture_fit(s->pending->width, s->pending->height, info->aspect.num, info->aspect.den,
                     &width, &height)) {
        log_error("%s: the file's pictures are too small (%dx%d)", path, s->pending->width,
                  s->pending->height);
        return ERR_UNSUPPORTED;
    }
    if (width < (s->pending->width & ~1) && height < (s->pending->height & ~1))
        log_info("%s: pictures of %dx%d are scaled to %dx%d, the largest size", path,
                 s->pending->width, s->pending->height, width, height);
    colours_note(s->pending, colours);
    if (*colours)
        log_info("%s: %s", path, colours);
    s->first_pts = s->pending->pts;
    s->base.origin = usec_of_pts(s, s->first_pts);
    set_origin(s, s->first_pts, 0);
    place_pending(s);
    s->quarters = info->quarters;
    s->flipped = info->flipped;
    s->base.width = s->quarters % 2 ? height : width;
    s->base.height = s->quarters % 2 ? width : height;
    if (!s->quarters && !s->flipped)
        return 0;
    s->unturned = picture_new(width, height);
    return s->unturned ? 0 : ERR_NO_MEMORY;
}

// The pictures must be those that are coded.
static void begin_passing(struct source_file *s, const struct coded_video *coded)
{
    collect_units(s);
    const AVCodecParameters *p = video_file_parameters(s->file);
    bool is_whole =
        s->base.width == p->width && s->base.height == p->height && p->extradata_size >= 0;
    if (!is_whole || coded_units_init(&s->coded, p->extradata, (size_t)p->extradata_size) != 0)
        return;
    s->base.coded = *coded;
}

struct source *source_file_open(const char *path, bool loop, const struct coded_video *coded,
                                struct media_guard *guard, int *err)
{
    struct video_file *file = video_file_open(path, guard, err);
    if (!file)
        return NULL;
    struct source_file *s = calloc(1, sizeof(*s));
    if (!s) {
        video_file_free(file);
        *err = ERR_NO_MEMORY;
        return NULL;
    }
    s->base.ops = &file_ops;
    s->file = file;
    s->loop = loop;
    const struct video_info *info = video_file_info(file);
    const char *slash = strrchr(path, '/');
    s->base.kind = SDP_SOURCE_FILE;
    s->base.fps = info->fps;
    s->base.duration = loop ? -1 : info->duration;
    snprintf(s->base.name, sizeof(s->base.name), "%s", slash ? slash + 1 : path);
    snprintf(s->base.left_out, sizeof(s->base.left_out), "%s", info->left_out);
    s->current = av_frame_alloc();
    s->pending = av_frame_alloc();
    if (coded && coded->passes)
        video_file_keep_packets(file);
    *err = s->current && s->pending ? begin(s, path) : ERR_NO_MEMORY;
    if (*err < 0) {
        file_free(&s->base);
        return NULL;
    }
    if (coded && coded->passes)
        begin_passing(s, coded);
    return &s->base;
}
