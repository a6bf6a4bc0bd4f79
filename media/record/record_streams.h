// SPDX-License-Identifier: GPL-2.0-or-later
// The streams of a recording in a container of libavformat: the video is the first one, the audio
// the second one.
#ifndef WEIR_MEDIA_RECORD_RECORD_STREAMS_H
#define WEIR_MEDIA_RECORD_RECORD_STREAMS_H

#include "common/base/decls.h"
#include "media/record/record_packet.h"

DECLS_BEGIN

struct AVFormatContext;

// Adds H.264, or VP9 if `key` has a width. `key`: a key frame. Returns 0; ERR_MALFORMED: the frame
// has no parameter sets; ERR_NO_MEMORY.
int record_streams_video(struct AVFormatContext *format, const struct record_packet *key);
// Adds Opus. Returns 0 or ERR_NO_MEMORY.
int record_streams_audio(struct AVFormatContext *format);

DECLS_END
#endif
