// SPDX-License-Identifier: GPL-2.0-or-later
// Records a stream: one more consumer of its media, of the largest size with all its layers, and of
// the audio. Of VP9 a picture is recorded with all its sizes, of which all but the largest are
// hidden (vp9_hide.h): it is predicted from them. It watches from its begin on, so this size is
// always encoded.
//
// It is no viewer: the only viewer stays alone (media_feed.h), and the encoder follows that
// viewer's network. So while the only viewer watches the largest size on a slow network, the
// recording has the bit rate that this network carries.
//
// It requests a key frame every RECORDER_KEYS, so that players find positions in the files, and
// where a segment ends. When a device is lost, it tries again every RECORDER_RETRY; when a film
// ends, the recording does. Loop thread only.
#ifndef WEIR_SENDER_RECORD_RECORDER_H
#define WEIR_SENDER_RECORD_RECORDER_H

#include <uv.h>

#include "common/base/decls.h"
#include "media/record/policy/record_keep.h"
#include "server/session/stream_media.h"

DECLS_BEGIN

#define RECORDER_KEYS  (5 * USEC_PER_SEC)
#define RECORDER_RETRY (10 * USEC_PER_SEC)
#define RECORDER_END   (2 * USEC_PER_SEC) // max. wait for the disk at the end

struct recorder_config {
    struct stream_media *media; // borrowed: encoded live, H.264 or VP9
    const char *pattern;        // record_name.h
    usec_t segment;             // 0: one file
    struct record_keep keep;
};

struct recorder;

// NULL on failure (logged).
struct recorder *recorder_new(uv_loop_t *loop, const struct recorder_config *config);
// Ends the file. Waits for a slow disk, for `patience` at most. NULL is fine.
void recorder_free(struct recorder *r, usec_t patience);

DECLS_END
#endif
