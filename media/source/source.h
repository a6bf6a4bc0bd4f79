// SPDX-License-Identifier: GPL-2.0-or-later
// Where pictures come from. A source is pulled: it has frame n ready when asked, at a constant
// frame rate; pacing is the caller's business. One thread.
#ifndef WEIR_MEDIA_SOURCE_SOURCE_H
#define WEIR_MEDIA_SOURCE_SOURCE_H

#include <stdbool.h>

#include "common/base/level.h"
#include "common/wire/sdp.h"
#include "media/picture/geometry.h"
#include "media/picture/picture.h"
#include "media/source/media_guard.h"

#ifdef __cplusplus
extern "C" {
#endif

struct source;

struct source_ops {
    // The next picture: number counts from 0 without gaps, pts is the media time it shows (number /
    // fps). 0, ERR_END, or ERR_IO (logged; the source is over). *out gets a reference that the
    // caller owns. A live source may wait up to 0.1 s, and then says ERR_AGAIN.
    int (*next)(struct source *s, struct picture **out);
    // Go to media time `pts`; frame numbers go on counting. 0 or ERR_UNSUPPORTED. NULL: cannot.
    int (*seek)(struct source *s, usec_t pts);
    // Nobody watches: let go of the device, until next is called again. NULL: there is none.
    void (*idle)(struct source *s);
    void (*free)(struct source *s);
};

struct source { // embedded first by each implementation
    const struct source_ops *ops;
    enum sdp_source kind;
    char name[128]; // for people
    int width;      // pixels, even
    int height;
    struct fps fps;
    double duration; // seconds, -1 = endless or unknown
    bool live;       // it paces itself: a picture is due when it is there, and has its capture_wall
    usec_t origin;   // what a file's own clock says at media time 0
};

// `test:` or `test:WxH@FPS` (default 1280x720@30), or a path that libavformat reads. NULL: logged,
// and *err says which: ERR_NOT_FOUND no such file, ERR_UNSUPPORTED no video in it or not decodable,
// ERR_MALFORMED bad name, ERR_NO_MEMORY. Files: the frame rate is the container's, resampled to
// constant; anamorphic pixels become square; rotation is applied; odd sizes are cut to even; what
// is larger than 1920x1080, either way up, is made smaller. `loop`: begins again at the end, frame
// numbers going on.
struct source *source_open(const char *name, bool loop, int *err);
// The same, of a file within the limits of `guard`: *err is ERR_TIMED_OUT or ERR_CLOSED, too.
struct source *source_open_guarded(const char *name, bool loop, struct media_guard *guard,
                                   int *err);
struct source *source_pattern_new(int width, int height, struct fps fps);
// `guard`: as media_input_open.
struct source *source_file_open(const char *path, bool loop, struct media_guard *guard, int *err);
static inline void source_free(struct source *s)
{
    if (s)
        s->ops->free(s);
}

#ifdef __cplusplus
}
#endif
#endif
