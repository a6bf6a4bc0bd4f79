// SPDX-License-Identifier: GPL-2.0-or-later
// A recording of one stream: coded frames in decoding order and audio packets in, Matroska files
// out. Chooses the frames (record_gate.h) and gives them to a record_writer, so no call but
// recording_end waits for the disk. While the disk is too slow, the recording has a gap, up to the
// key frame after it; this is logged when it begins and when it ends.
//
// Of one thread, the loop's.
#ifndef WEIR_MEDIA_RECORD_RECORDING_H
#define WEIR_MEDIA_RECORD_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/base/usec.h"
#include "media/record/policy/record_keep.h"

DECLS_BEGIN

struct recording_config {
    const char *pattern; // record_name.h; copied
    const char *title;   // copied; NULL: none
    usec_t segment;      // 0: one file
    usec_t key_every;    // key frames are requested at this interval; 0: they are not
    struct record_keep keep;
};

struct recorded_frame {
    int64_t number;
    int64_t depends_on; // -1: none
    int size_id;
    bool key;
    usec_t time;         // on a time line that ascends, and that audio shares
    usec_t decode;       // at most `time`; ascends from frame to frame
    usec_t wall;         // wall clock at capture; 0: unknown
    const uint8_t *data; // borrowed for the call: H.264, Annex B; or VP9
    size_t bytes;
};

struct recording;

// Returns 0, or ERR_IO: files cannot be made in the pattern's folder (logged, with `option`).
int recording_check(const char *option, const char *pattern);
struct recording *recording_new(const struct recording_config *config); // NULL: no memory
// Describes the stream, before its first frame. `fps`: 0/0: unknown.
void recording_describe(struct recording *r, bool has_audio, struct fps fps);
// The stream is VP9 of this size, not H.264. Call it before the first frame.
void recording_describe_vp9(struct recording *r, int width, int height);
// Returns true if the recording requests a key frame.
bool recording_frame(struct recording *r, const struct recorded_frame *f, usec_t now);
// `time`: of the first sample that the packet yields; `decode`: its place among the frames.
void recording_audio(struct recording *r, usec_t time, usec_t decode, const uint8_t *data,
                     size_t bytes);
// The media ends, or is interrupted: the file ends, and the next key frame begins another one.
void recording_break(struct recording *r);
// As record_writer_end. NULL is fine.
int recording_end(struct recording *r, usec_t patience);

DECLS_END
#endif
