// SPDX-License-Identifier: GPL-2.0-or-later
// The video of a file, decoded by libav: one frame after the other in display order, and the
// properties needed to show them. The file may be hostile: every search for a picture is bounded,
// and no other file is opened.
#ifndef WEIR_MEDIA_SOURCE_VIDEO_FILE_H
#define WEIR_MEDIA_SOURCE_VIDEO_FILE_H

#include <libavcodec/codec_par.h>
#include <libavcodec/packet.h>
#include <libavutil/frame.h>
#include <libavutil/rational.h>
#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "media/source/cadence.h"
#include "media/source/media_guard.h"
#include "media/source/timeline.h"

DECLS_BEGIN

enum { VIDEO_FILE_KEPT = 64 };

struct video_file;

struct video_turn { // how a picture is shown upright
    int quarters;   // clockwise turns, 0 .. 3
    bool flipped;   // it is turned upside down before (rotate.h)
};

struct video_info {
    AVRational time_base;      // unit of pts
    struct fps fps;            // 1 .. 120; 30 if the container's rate is broken or missing
    bool is_still;             // a single picture, as of a camera: it stands for ever
    bool is_faster;            // the container's rate is above `fps`, which is 120
    enum cadence_kind cadence; // unless CADENCE_NAMED, `fps` is that of the cadence
    AVRational aspect;         // of a pixel; 1/1 if the container does not specify it
    struct video_turn turn;    // the container's
    double duration;           // of the film (timeline.h), seconds, -1 = unknown
    usec_t others_begin;       // the file's time at which its audio begins; USEC_NEVER: it has none
    // The file's other video tracks and its subtitles, which are not read; empty: none.
    char left_out[160];
};

// `guard` and *err: see media_input_open. `is_glance`: no part of the film is looked at for another
// rate, which reads up to 32 MB. Returns NULL on failure, which it logs.
struct video_file *video_file_open(const char *path, bool is_glance, struct media_guard *guard,
                                   int *err);
void video_file_free(struct video_file *f);
const struct video_info *video_file_info(const struct video_file *f);
// Reads the next intact frame and always sets its pts. An interlaced one becomes a whole picture;
// the first one is logged. Returns 0, or ERR_END at the end of the
// file, where it is truncated, or after too many packets without a picture. Broken packets are
// skipped, counted, and logged once at the end.
int video_file_read(struct video_file *f, AVFrame *out);
// With the audio that was read since the beginning or the last seek. Borrowed.
struct timeline *video_file_timeline(struct video_file *f);
// Returns how long the file says that the frame stands; 0: it does not say.
usec_t video_file_duration(const struct video_file *f, const AVFrame *frame);
// Returns true, and sets *out, if the frame itself says how it is turned (H.264, D.2.27; Exif).
bool video_file_turn_of(const AVFrame *frame, struct video_turn *out);
// If the file has ended before the end that it names, or could not be read up to there, returns
// where and why. Otherwise returns "". Borrowed.
const char *video_file_broken(const struct video_file *f);
// From now on, packets that are decoded are kept, too: at most VIDEO_FILE_KEPT, the newest ones. A
// seek drops them.
void video_file_keep_packets(struct video_file *f);
// Returns the oldest packet that is kept, which the caller frees; NULL: none is.
AVPacket *video_file_take_packet(struct video_file *f);
// Reads the next packet of the video without decoding it, into one that is kept. Returns 0, or
// ERR_END at the end of the file or after too many packets of other streams.
int video_file_skim(struct video_file *f);
// Of the video as it is coded; valid as long as the file.
const AVCodecParameters *video_file_parameters(const struct video_file *f);
// Of a film whose clock jumps (clock_marks.h): *pts is of its first clock, as if that had not
// jumped. Sets *pts to the time that the frame has, and returns from which byte of the file on it
// is read. Otherwise returns -1.
int64_t video_file_place(const struct video_file *f, int64_t *pts);
// Seeks so that the next frame is the one at `pts` or an earlier one. `place`: of video_file_place.
// Returns 0, or ERR_UNSUPPORTED without a change.
int video_file_seek(struct video_file *f, int64_t pts, int64_t place);
// Seeks to the first frame. Returns like video_file_seek.
int video_file_rewind(struct video_file *f);

DECLS_END
#endif
