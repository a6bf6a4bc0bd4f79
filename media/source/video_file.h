// SPDX-License-Identifier: GPL-2.0-or-later
// The video of a file, decoded by libav: one frame after the other, in the order of display, with
// what it takes to show them. The file may be hostile: every search for a next picture is bounded,
// and nothing but this one file is opened.
#ifndef WEIR_MEDIA_SOURCE_VIDEO_FILE_H
#define WEIR_MEDIA_SOURCE_VIDEO_FILE_H

#include <libavutil/frame.h>
#include <libavutil/rational.h>

#include "common/base/level.h"
#include "media/source/media_guard.h"

#ifdef __cplusplus
extern "C" {
#endif

struct video_file;

struct video_info {
    AVRational time_base; // of pts
    struct fps fps;       // 1 .. 60; 30 when the container's is broken or missing
    AVRational aspect;    // of a pixel, as the container says; 1/1 when it does not say
    int quarters;         // clockwise turns to show it upright, 0 .. 3
    double duration;      // seconds, -1 = unknown
};

// `guard`: as media_input_open. NULL: logged; *err: as media_input_open.
struct video_file *video_file_open(const char *path, struct media_guard *guard, int *err);
void video_file_free(struct video_file *f);
const struct video_info *video_file_info(const struct video_file *f);
// The next frame that is whole; its pts is always set. 0, or ERR_END: at the end, where the file
// breaks off, or after too many packets without a picture. Broken packets are skipped, counted, and
// logged once at the end.
int video_file_read(struct video_file *f, AVFrame *out);
// The next frame read is the one of `pts` or an earlier one. 0, or ERR_UNSUPPORTED: it stays where
// it is.
int video_file_seek(struct video_file *f, int64_t pts);
int video_file_rewind(struct video_file *f); // the same, to the first frame

#ifdef __cplusplus
}
#endif
#endif
