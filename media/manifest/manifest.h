// SPDX-License-Identifier: GPL-2.0-or-later
// What playlists (RFC 8216bis) and the MPD (ISO/IEC 23009-1) say of a stream: renditions, each a
// track, with segments and parts. The names of their files, relative to a playlist's own:
//
//   NAME.m3u8                    media playlist
//   TOKEN/NAME.mp4               init segment
//   TOKEN/NAME-NUMBER.m4s        segment
//   TOKEN/NAME-NUMBER.PART.m4s   part
//
// TOKEN names one run of the encoders, so the bytes of a file never change. Of media that is passed
// on, a run begins where times or parameter sets are no longer those of the run before.
#ifndef WEIR_MEDIA_MANIFEST_MANIFEST_H
#define WEIR_MEDIA_MANIFEST_MANIFEST_H

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "media/cmaf/cmaf_track.h"
#include "media/coded/audio.h"

DECLS_BEGIN

enum {
    MANIFEST_MAX_PARTS = 40, // of a segment
    MANIFEST_MAX_RENDITIONS = 34,
    MANIFEST_NAME = 16,  // bytes, with NUL
    MANIFEST_TOKEN = 20, // bytes, with NUL
    MANIFEST_TIME = 48,  // bytes of a date and time, with NUL
};

struct manifest_part {
    int32_t duration; // in the rendition's units
    bool independent; // decoding can start with it
};

struct manifest_run {
    char token[MANIFEST_TOKEN];
    int64_t number; // of runs before it
    usec_t media;   // the media time at which it begins in `start`
    usec_t start;   // on the MPD's time line; both 0 in the first run
};

struct manifest_segment {
    const struct manifest_run *run; // borrowed; NULL: the manifest's
    int64_t number;
    int64_t time;     // in the rendition's units
    int64_t duration; // of all parts, in the rendition's units
    usec_t wall;      // capture time of its first sample; 0: unknown
    bool complete;
    int part_count; // 0: the segment has no parts
    struct manifest_part parts[MANIFEST_MAX_PARTS];
};

struct manifest_rendition {
    char name[MANIFEST_NAME];
    enum cmaf_codec codec;
    char codec_name[CMAF_CODEC_TEXT];
    int width, height; // of video
    double frame_rate; // of video
    int bandwidth_bps; // peak over a segment, of the files
    int average_bps;   // of the files
    uint32_t timescale;
    double part_target; // seconds
    int segment_count;
    struct manifest_segment *segments; // borrowed; numbers ascend by 1; at most the last one is not
                                       // complete
};

struct manifest {
    struct manifest_run run; // the newest
    double segment_seconds;  // usual length of a segment; of media that is passed on the longest
    int segment_parts;       // usual number of parts of a segment; 0: no parts
    usec_t origin;           // wall clock of media time 0 of the first run; 0: unknown
    bool ended;              // no segment follows
    bool stored;             // all segments are there from the start
    bool begins_anywhere;    // decoding cannot start with each segment
    bool silent;             // no audio comes: its renditions are left out
    int rendition_count;
    struct manifest_rendition renditions[MANIFEST_MAX_RENDITIONS];
};

static inline bool manifest_is_video(const struct manifest_rendition *r)
{
    return r->codec == CMAF_H264;
}

static inline bool manifest_leaves_out(const struct manifest *m, const struct manifest_rendition *r)
{
    return m->silent && !manifest_is_video(r);
}

static inline const struct manifest_run *manifest_run_of(const struct manifest *m,
                                                         const struct manifest_segment *s)
{
    return s->run ? s->run : &m->run;
}

// The part that follows the rendition's last one.
struct manifest_next {
    int64_t number;
    int part;
};
struct manifest_next manifest_next_part(const struct manifest *m,
                                        const struct manifest_rendition *r);
// Writes "2026-11-23T12:48:00.123Z" (RFC 3339). `wall` >= 0.
void manifest_time(usec_t wall, char out[MANIFEST_TIME]);

DECLS_END
#endif
