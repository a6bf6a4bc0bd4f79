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
#include "media/coded/audio.h"
#include "media/convert/convert.h"
#include "media/picture/picture_fit.h"
#include "media/picture/rotate.h"
#include "media/source/source.h"
#include "media/source/video_file.h"

enum {
    MAX_UNITS = VIDEO_FILE_KEPT,
    MAX_BACKWARD = 1, // max. seconds that a frame may be late; more is a clock jump
    // Frames that are decoded for a seek until one is shown, and then between two that are: 720p
    // takes one to two milliseconds a frame.
    WAY = 1000,
    WAY_STEP = 200,
};

struct place {    // of the file's time on the time line
    int64_t pts;  // the file's time at `tick`
    int64_t tick; // of the output
    int64_t byte; // of video_file_place, of the last seek
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
    bool seeking;     // after a seek: skip frames before the target
    int64_t target;   // the tick of the first frame, or of a seek's target; it stands before, too
    int fresh;        // frames that became `current` since the last turn of a coded frame
    int way;          // frames to skip until one is shown
    AVFrame *current; // owned; the frame of the next tick, if have_current
    AVFrame *pending; // owned; the frame after it, if have_pending
    bool have_current;
    bool have_pending;
    int64_t next;            // the next tick
    int64_t pending_tick;    // the tick of `pending`
    int64_t end_tick;        // at which the last frame ends, if `ended`
    int64_t first_pts;       // the file's time at media time 0
    int64_t first_picture;   // the file's time of the first frame
    struct place origin;     // of the frame that was read last
    struct place shown;      // the origin of `current`
    struct place last;       // of the frame that was read last
    usec_t last_stands;      // how long the file says that it stands
    AVRational first_aspect; // of a pixel of the first frame, as it is coded; 0/1: it is unknown
    struct converter converter;
    // While base.coded.passes: what was decoded and not passed on yet, in decoding order.
    struct coded_units coded;
    int unit_count;
    struct unit units[MAX_UNITS];
    struct picture *still;    // owned; of a single picture, what was made of it; NULL: nothing yet
    struct picture *unturned; // owned; the picture before rotate_run; NULL until one is turned
    struct video_turn turn;   // of `current`
};

static usec_t usec_of_pts(const struct source_file *s, int64_t pts)
{
    return av_rescale_q(pts, video_file_info(s->file)->time_base, (AVRational){1, 1000000});
}

// Returns the shape of the current frame, as the aspect of a pixel. The container's goes first, as
// long as that of the coded video stays.
static AVRational aspect_of(const struct source_file *s, const AVFrame *f)
{
    AVRational own = f->sample_aspect_ratio;
    bool changed = own.num > 0 && own.den > 0 &&
                   av_cmp_q(own, s->first_aspect.num ? s->first_aspect : (AVRational){1, 1}) != 0;
    return changed ? own : video_file_info(s->file)->aspect;
}

// Returns the part of `p` that the frame fills, with borders if its shape is not the first one's.
static struct image place_in(const struct source_file *s, struct picture *p, const AVFrame *f)
{
    struct image to = image_of_picture(p);
    AVRational aspect = aspect_of(s, f);
    int width, height;
    if (!picture_fit(f->width, f->height, aspect.num, aspect.den, &width, &height))
        return to;
    struct picture_place at = picture_place_in(p, width, height, to.plane);
    to.width = at.width;
    to.height = at.height;
    return to;
}

// ---- Turns

static bool is_turned(const struct source_file *s)
{
    return s->turn.quarters || s->turn.flipped;
}

// Sets the turn of `current`. What a frame says holds until a key frame says nothing; libavcodec
// has what a key frame says at the frame after it.
static void update_turn(struct source_file *s)
{
    if (video_file_turn_of(s->current, &s->turn) || !s->current->key_frame)
        return;
    if (!s->have_pending || s->pending->key_frame || !video_file_turn_of(s->pending, &s->turn))
        s->turn = video_file_info(s->file)->turn;
}

// Makes the picture that is turned, which has the source's size after it. Returns false if there is
// no memory (logged).
static bool has_unturned(struct source_file *s)
{
    bool lies = s->turn.quarters % 2;
    int width = lies ? s->base.height : s->base.width,
        height = lies ? s->base.width : s->base.height;
    if (s->unturned && s->unturned->width == width && s->unturned->height == height)
        return true;
    picture_unref(s->unturned);
    s->unturned = picture_new(width, height);
    if (!s->unturned)
        log_error("%s: no memory for a picture", s->base.name);
    return s->unturned;
}

// Sets where the picture is in the source.
static void set_place(const struct source_file *s, struct picture *p)
{
    struct fps fps = s->base.fps;
    bool is_over = s->have_pending && usec_of_frames(s->pending_tick, fps.num, fps.den) <=
                                          p->pts + audio_usec(AUDIO_AHEAD);
    struct place from = is_over ? s->origin : s->shown;
    p->shift = usec_of_pts(s, av_sat_sub64(from.pts, s->first_pts)) +
               usec_of_frames(p->number - from.tick, fps.num, fps.den) - p->pts;
    p->place = from.byte;
}

// Makes a picture of the current frame.
static int make(struct source_file *s, struct picture **out)
{
    struct picture *p = picture_new(s->base.width, s->base.height);
    if (!p) {
        log_error("%s: no memory for a picture", s->base.name);
        return ERR_IO;
    }
    bool turns = is_turned(s);
    if (turns && !has_unturned(s)) {
        picture_unref(p);
        return ERR_IO;
    }
    struct image from = image_of_frame(s->current);
    struct image to = place_in(s, turns ? s->unturned : p, s->current);
    int r = converter_run(&s->converter, &from, &to);
    if (r < 0) {
        log_error("%s: cannot convert a picture (%s)", s->base.name, err_text(r));
        picture_unref(p);
        return ERR_IO;
    }
    if (turns)
        rotate_run(s->unturned, s->turn.quarters, s->turn.flipped, p);
    *out = p;
    return 0;
}

static int emit(struct source_file *s, struct picture **out)
{
    struct picture *p = s->still ? picture_alias(s->still) : NULL;
    int err = p ? 0 : make(s, &p);
    if (err)
        return err;
    if (s->base.is_still && !s->still)
        s->still = picture_ref(p);
    p->number = s->next++;
    p->pts = usec_of_frames(p->number, s->base.fps.num, s->base.fps.den);
    set_place(s, p);
    *out = p;
    return 0;
}

// ---- Constant frame rate ----

// Returns how many ticks a time of the file takes.
static int64_t ticks_of(const struct source_file *s, int64_t pts, AVRational base)
{
    const int64_t limit = (int64_t)1
                          << 40; // larger than any gap that is not a jump; avoids overflow
    AVRational tick = {s->base.fps.den, s->base.fps.num};
    int64_t n = av_rescale_q(pts, base, tick);
    return n < -limit ? -limit : n > limit ? limit : n;
}

static int64_t tick_of(const struct source_file *s, int64_t pts)
{
    return s->origin.tick +
           ticks_of(s, av_sat_sub64(pts, s->origin.pts), video_file_info(s->file)->time_base);
}

// Returns the tick at which the last frame that was read ends.
static int64_t end_tick(const struct source_file *s)
{
    usec_t at = usec_of_pts(s, s->last.pts);
    int64_t after = s->next + s->have_current;
    if (s->seeking && after <= s->target)
        after = s->target + 1;
    usec_t stands = timeline_end(video_file_timeline(s->file), at) - at;
    if (s->last_stands > TIMELINE_SLACK && s->last_stands < TIMELINE_SILENCE)
        stands = usec_max(stands, s->last_stands);
    int64_t end = s->last.tick + ticks_of(s, stands, AV_TIME_BASE_Q);
    return end > after ? end : after;
}

// Two pictures of film have the same nearest tick if the cadence goes on out of step. Returns true
// if the frame at `pts`, the second one, is not before that tick.
static bool has_next_tick(const struct source_file *s, int64_t pts)
{
    const struct video_info *info = video_file_info(s->file);
    AVRational tick = {s->base.fps.den, s->base.fps.num};
    int64_t since = av_sat_sub64(pts, s->origin.pts);
    return info->cadence != CADENCE_NAMED &&
           s->last.tick <=
               s->origin.tick + av_rescale_q_rnd(since, info->time_base, tick, AV_ROUND_DOWN);
}

// Computes the tick of the frame just read. The current frame, if any, is shown at s->next, so a
// frame after a clock jump gets at least the tick after that. Before the first frame of the film it
// stands, too.
static void place_pending(struct source_file *s)
{
    int64_t pts = s->pending->pts, tick = tick_of(s, pts), after = s->next + s->have_current;
    int64_t rate = (s->base.fps.num + s->base.fps.den - 1) / s->base.fps.den;
    usec_t at = usec_of_pts(s, pts), before = usec_of_pts(s, s->last.pts);
    bool jumps = false;
    s->seeking &= tick <= s->target || !s->have_current;
    if (s->seeking && tick > s->target) { // the first frame after the seek is later than the target
        jumps = pts > s->first_picture;
        s->last.tick = s->origin.tick;
        before = at;
    } else if (!s->seeking) {
        usec_t step = timeline_step(video_file_timeline(s->file), before, at);
        jumps = step != at - before || tick < s->next - MAX_BACKWARD * rate;
        before = at - step;
    }
    if (jumps) {
        tick = s->last.tick + ticks_of(s, at - before, AV_TIME_BASE_Q);
        tick = tick > after ? tick : after;
        s->origin = (struct place){pts, tick, s->origin.byte};
    }
    s->seeking &= tick <= s->target && !jumps;
    if (!jumps && !s->seeking && tick == s->last.tick && s->have_current && has_next_tick(s, pts))
        tick++;
    s->last = (struct place){pts, tick, s->origin.byte};
    s->last_stands = video_file_duration(s->file, s->pending);
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

// Applies the parameter sets that came with the packet, outside of the stream.
static int configure(struct source_file *s, const AVPacket *packet)
{
    size_t len;
    const uint8_t *config = av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &len);
    return config ? coded_units_configure(&s->coded, config, len) : 0;
}

// Returns true if the frame has the size and shape of the level that passes, and is upright.
static bool is_whole(const struct source_file *s, const AVFrame *f)
{
    AVRational aspect = aspect_of(s, f);
    return f->width == s->base.width && f->height == s->base.height && aspect.num == aspect.den &&
           !is_turned(s);
}

// Returns the coded frame whose turn to be decoded is that of the picture of tick `slot` to be
// shown; NULL: there is none, or none before the next IDR. As many frames are decoded as are shown,
// so each new picture takes the next unit. `fresh`: how many pictures came in this tick.
static struct coded_frame *next_coded(struct source_file *s, int64_t slot, int fresh)
{
    struct coded_frame *frame = NULL;
    bool fits = is_whole(s, s->current);
    if (fresh > 1 || !fits) // pictures were left out, or are not those that are coded
        break_units(s);
    // Until an IDR comes in its turn, units of earlier ticks are left behind.
    while (!s->coded.begun && s->unit_count && s->units[0].tick < slot) {
        (void)configure(s, s->units[0].packet); // a fault shows at the next unit
        drop_unit(s);
    }
    bool is_due = s->unit_count && (s->coded.begun || s->units[0].tick == slot);
    if (!fresh || !is_due)
        return NULL;
    const struct unit *unit = &s->units[0];
    bool was_begun = s->coded.begun;
    int err = configure(s, unit->packet);
    if (!err && fits)
        err = unit->tick < 0
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
    s->end_tick = s->base.is_still ? INT64_MAX : end_tick(s);
    // A loop without any picture would never end, so one must follow the rewind.
    if (s->base.is_still || !s->loop || video_file_rewind(s->file) < 0 ||
        video_file_read(s->file, s->pending) < 0) {
        s->ended = true;
        return;
    }
    s->seeking = false;
    int64_t first = s->first_pts;
    s->origin = s->last = (struct place){first, s->end_tick, video_file_place(s->file, &first)};
    place_pending(s);
    collect_units(s);
}

static int file_next(struct source *base, struct picture **out)
{
    struct source_file *s = (struct source_file *)base;
    for (;;) {
        if (!s->have_pending && !s->ended)
            load_pending(s);
        int64_t until = s->seeking ? s->target : s->next;
        if (!s->have_pending || (s->have_current && s->pending_tick > until))
            break;
        if (s->have_current)
            update_turn(s);
        AVFrame *shown = s->current;
        s->current = s->pending;
        s->pending = shown;
        s->shown = s->origin;
        s->have_current = true;
        s->have_pending = false;
        s->fresh++;
        if (s->seeking && s->base.shows_way && --s->way <= 0) {
            s->way = WAY_STEP;
            break;
        }
    }
    if (!s->have_current) {
        snprintf(s->base.broken, sizeof(s->base.broken), "%s", video_file_broken(s->file));
        return ERR_END;
    }
    update_turn(s);
    if (s->ended && s->next + 1 >= s->end_tick)
        s->have_current = false;
    int err = emit(s, out);
    if (err || (*out)->number < s->target)
        return err;
    if (s->base.coded.passes)
        (*out)->coded = next_coded(s, (*out)->number, s->fresh);
    s->fresh = 0;
    return 0;
}

static int file_seek(struct source *base, usec_t pts)
{
    struct source_file *s = (struct source_file *)base;
    if (base->is_still)
        return ERR_UNSUPPORTED;
    int64_t offset = av_rescale_q(pts < 0 ? 0 : pts, (AVRational){1, 1000000},
                                  video_file_info(s->file)->time_base);
    int64_t target = av_sat_add64(s->first_pts, offset), byte = video_file_place(s->file, &target);
    // A file without time stamps can still go to its beginning.
    if (video_file_seek(s->file, target, byte) < 0 &&
        (offset > 0 || video_file_rewind(s->file) < 0))
        return ERR_UNSUPPORTED;
    drop_units(s);
    s->have_current = s->have_pending = s->ended = false;
    s->seeking = true;
    s->way = WAY;
    s->fresh = 0;
    int64_t step = s->base.seek_step > 1 ? s->base.seek_step : 1;
    s->target = (s->next + step - 1) / step * step;
    s->origin = s->last = (struct place){target, s->target, byte};
    return 0;
}

// ---- Opening ----

static void file_free(struct source *base)
{
    struct source_file *s = (struct source_file *)base;
    converter_destroy(&s->converter);
    drop_units(s);
    picture_unref(s->unturned);
    picture_unref(s->still);
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
    if (info->cadence != CADENCE_NAMED)
        log_info("%s: its pictures stand for two and three fields in turn%s: it has %.3f "
                 "pictures/s",
                 path, info->cadence == CADENCE_FIELDS ? " in parts of it" : "",
                 (double)info->fps.num / info->fps.den);
    colours_note(s->pending, colours);
    if (*colours)
        log_info("%s: %s", path, colours);
    s->first_pts = s->first_picture = s->pending->pts;
    s->first_aspect = s->pending->sample_aspect_ratio;
    usec_t picture = usec_of_pts(s, s->first_pts);
    s->base.origin = timeline_begin(video_file_timeline(s->file), picture, info->others_begin);
    if (s->base.origin != picture)
        s->first_pts = av_rescale_q(s->base.origin, AV_TIME_BASE_Q, info->time_base);
    s->origin = s->last = (struct place){s->first_pts, 0, -1};
    place_pending(s);
    s->target = s->pending_tick;
    s->turn = info->turn;
    (void)video_file_turn_of(s->pending, &s->turn);
    s->base.width = s->turn.quarters % 2 ? height : width;
    s->base.height = s->turn.quarters % 2 ? width : height;
    return 0;
}

// The pictures must be those that are coded.
static void begin_passing(struct source_file *s, const struct coded_video *coded)
{
    collect_units(s);
    const AVCodecParameters *p = video_file_parameters(s->file);
    if (!is_whole(s, s->pending) || p->extradata_size < 0 ||
        coded_units_init(&s->coded, p->extradata, (size_t)p->extradata_size) != 0)
        return;
    s->base.coded = *coded;
}

static struct source *open_file(const char *path, bool is_glance, bool loop,
                                const struct coded_video *coded, struct media_guard *guard,
                                int *err)
{
    struct video_file *file = video_file_open(path, is_glance, guard, err);
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
    s->base.is_still = info->is_still;
    s->base.clock_jumps = video_file_timeline(file)->clock_jumps;
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

struct source *source_file_open(const char *path, bool loop, const struct coded_video *coded,
                                struct media_guard *guard, int *err)
{
    return open_file(path, false, loop, coded, guard, err);
}

struct source *source_file_glance(const char *path, struct media_guard *guard, int *err)
{
    return open_file(path, true, false, NULL, guard, err);
}
