// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the HTTP files of a live stream: one more viewer of its media, which takes all sizes of the
// ladder, at the ladder's bit rates. Each level is a rendition "vLEVEL"; the audio is there as Opus
// ("opus", the packets of the RTSP viewers) and AAC-LC ("aac", made of them).
//
// It watches the media from the first request until LIVE_PACKAGER_IDLE after the last, or 1.5 times
// the length of a segment if that is more. While it watches, no RTSP viewer is alone: the encoders
// keep the ladder's rates, and viewers on slow networks get a lower level. It asks for a key frame
// of each size at each segment's begin.
//
// Media that is passed on as it came, a camera's, is one rendition "v0", without an encoder: the
// top level, which is the main stream of a camera with two. Its segments begin at the camera's key
// frames (segment_follow.h).
//
// Loop thread only, except what it serves (http_content.h).
#ifndef WEIR_SENDER_HTTP_LIVE_PACKAGER_H
#define WEIR_SENDER_HTTP_LIVE_PACKAGER_H

#include <uv.h>

#include "common/base/decls.h"
#include "server/http/http_content.h"
#include "server/session/stream_media.h"

DECLS_BEGIN

#define LIVE_PACKAGER_IDLE (10 * USEC_PER_SEC)
#define LIVE_PACKAGER_PART (500 * USEC_PER_MSEC)

enum { LIVE_PACKAGER_AAC_BPS = 96000 };

struct live_packager; // opaque

struct live_packager_config {
    struct stream_media *media; // borrowed; as live_packager_can requires
    const char *mount;          // borrowed; path of the files
    usec_t segment;             // length of a segment
    // New files are there: wakes the server. Loop thread.
    void (*on_change)(void *ctx);
    void *ctx; // borrowed
};

// Returns true if a packager can take the media: H.264 that is encoded here, or passed on.
bool live_packager_can(const struct stream_media *m);
// NULL: no memory, or no codec (logged).
struct live_packager *live_packager_new(uv_loop_t *loop, const struct live_packager_config *config);
// The server that uses its content must have ended. The loop must run until its handles are closed.
// NULL is fine.
void live_packager_free(struct live_packager *p);
struct http_content *live_packager_content(struct live_packager *p);
// Call it about twice a second.
void live_packager_tick(struct live_packager *p, usec_t now);
// Returns true if media that was passed on has ended, and players had LIVE_PACKAGER_IDLE to see
// that: its files are gone.
bool live_packager_is_over(const struct live_packager *p);

DECLS_END
#endif
