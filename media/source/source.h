// SPDX-License-Identifier: GPL-2.0-or-later
// A source of pictures at a constant frame rate. The caller pulls each picture and does the pacing.
// One thread.
#ifndef WEIR_MEDIA_SOURCE_SOURCE_H
#define WEIR_MEDIA_SOURCE_SOURCE_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/wire/sdp.h"
#include "media/coded/coded_video.h"
#include "media/picture/geometry.h"
#include "media/picture/picture.h"
#include "media/source/media_guard.h"

DECLS_BEGIN

struct source;

struct source_ops {
    // Gives the next picture; the caller owns the reference in *out. `number` counts from 0 without
    // gaps; `pts` is its media time, number / fps. Returns 0, ERR_END, or ERR_IO (logged; the
    // source has ended). A live source may wait up to 0.1 s and then return ERR_AGAIN.
    int (*next)(struct source *s, struct picture **out);
    // Seeks to media time `pts`; frame numbers continue. Returns 0 or ERR_UNSUPPORTED. NULL: the
    // source cannot seek.
    int (*seek)(struct source *s, usec_t pts);
    // Closes the device until the next call of `next`, as no viewer watches. NULL: has no device.
    void (*idle)(struct source *s);
    // Any thread. Returns true if it has ended for good, also if no caller has read it until there.
    // NULL: it never does.
    bool (*is_over)(struct source *s);
    void (*free)(struct source *s);
};

struct source { // embedded first by each implementation
    const struct source_ops *ops;
    enum sdp_source kind;
    char name[128]; // shown to the user
    // What of a file is not in its pictures, such as "2 subtitle tracks (eng subrip, deu ass)".
    char left_out[160];
    int width; // pixels, even
    int height;
    struct fps fps;
    double duration;  // seconds, -1 = endless or unknown
    bool is_still;    // a file with a single picture, which stands for as long as it is read
    bool clock_jumps; // of a file: its clock may jump, and media time follows only while it is read
    char broken[128]; // where and why the media broke off; empty if `next` returned ERR_END at its
                      // end
    bool live;     // the source sets the pace: send a picture when it arrives; it has capture_wall
    usec_t origin; // a file's own time at media time 0
    // Set by the caller: a seek leads to a picture whose number is a multiple of this; 0: to the
    // next one.
    int seek_step;
    // Set by the caller: after a seek for which many pictures are to be decoded, some of these come
    // first, as a sign of life.
    bool shows_way;
    // Of a source that was coded: whether its pictures bring its coded frames along
    // (picture.coded). They do so if `coded.passes`, from an IDR on, and pause until the next IDR
    // after a seek or a fault.
    struct coded_video coded;
};

// Opens `test:`, `test:WxH@FPS` (default 1280x720@30), or a file that libavformat reads. On failure
// logs the reason, returns NULL and sets *err: ERR_NOT_FOUND (no such file), ERR_UNSUPPORTED (no
// video, or not decodable), ERR_MALFORMED (bad name) or ERR_NO_MEMORY.
// Frames of a file are resampled to a constant rate, the container's. Anamorphic pixels become
// square, rotation and mirroring are applied, and odd sizes are cut to even. Pictures larger than
// 4096x2304 or 2304x4096 are scaled down (logged), and of more than 120 frames/s some are dropped.
// `loop`: the file starts again at its end; frame numbers continue.
struct source *source_open(const char *name, bool loop, int *err);
// Like source_open, within the limits of `guard`: *err may also be ERR_TIMED_OUT or ERR_CLOSED.
struct source *source_open_guarded(const char *name, bool loop, struct media_guard *guard,
                                   int *err);
struct source *source_pattern_new(int width, int height, struct fps fps);
// See source_open. `guard`: see media_input_open. `coded`: of pass_probe; if it passes, and the
// pictures have the size that is coded, they bring the coded frames along. NULL: they do not.
struct source *source_file_open(const char *path, bool loop, const struct coded_video *coded,
                                struct media_guard *guard, int *err);
// The same for one picture, the size and the duration: it reads less (video_file.h), so parts of a
// film with more pictures/s than the container names may lose some.
struct source *source_file_glance(const char *path, struct media_guard *guard, int *err);
static inline void source_free(struct source *s)
{
    if (s)
        s->ops->free(s);
}

DECLS_END
#endif
