// SPDX-License-Identifier: GPL-2.0-or-later
// The files of a live stream on HTTP, between the loop's thread, which adds parts and segments, and
// the HTTP server's thread, which serves them. Playlists are made once for all viewers, when a part
// is added.
//
// A *run* begins with the first request and ends when the media ends, or some seconds after the
// last request. Of media that is passed on, live_library_next_run begins another one, and playlists
// have segments of both, with a discontinuity between them. A run's files have a token of their
// own, so a cache may keep them for long. Numbers of segments, and of discontinuities, ascend
// through all runs (RFC 8216, 6.2.2). Those of a library begin with the wall clock, so that they
// are above those of the library that served the path before, also in another process.
//
// A playlist has LIVE_WINDOW complete segments. Of large ones it has fewer (segment_window.h), so
// that all files of the library have at most LIVE_BYTES; but they last three target durations at
// least. Those that left it are served as long as RFC 8216 says, at most LIVE_KEPT in all.
#ifndef WEIR_SENDER_HTTP_LIVE_LIBRARY_H
#define WEIR_SENDER_HTTP_LIVE_LIBRARY_H

#include "common/base/decls.h"
#include "media/cmaf/cmaf_segmenter.h"
#include "media/manifest/manifest.h"
#include "server/http/http_content.h"

DECLS_BEGIN

enum {
    LIVE_WINDOW = 6,
    LIVE_KEPT = 2 * LIVE_WINDOW + 1,
};

#define LIVE_BYTES ((size_t)64 << 20)

struct live_library; // opaque; embeds a struct http_content first

struct live_library_events {
    // The first request after a run ended; the server's thread.
    void (*on_request)(void *ctx);
    // Waiting requests may be served; the loop's thread.
    void (*on_change)(void *ctx);
};

// `about`: everything of the manifest but token and segments. `mount`: the path of its files,
// borrowed. `events` is static. NULL: no memory.
struct live_library *live_library_new(const struct manifest *about, const char *mount,
                                      const struct live_library_events *events, void *ctx);
void live_library_free(struct live_library *l); // NULL is fine
struct http_content *live_library_content(struct live_library *l);

// ---- The loop's thread

// Returns the time of the last request; 0: there was none since the last run ended.
usec_t live_library_asked(struct live_library *l);
// A run begins. `wall`: clock_wall_steady.
void live_library_begin(struct live_library *l, usec_t wall);
// The run's last parts follow, and then live_library_next_run. The playlist of a rendition shows
// the end of its last segment with the first part of the next run.
void live_library_end_run(struct live_library *l);
// The run has ended, and the next one begins, whose segments continue the numbers. Of `about`, the
// codecs and sizes of the renditions count.
void live_library_next_run(struct live_library *l, const struct manifest *about, usec_t wall);
// Before the first segment is complete: `seconds` is manifest.segment_seconds, and `part_targets`
// those of the renditions.
void live_library_settle(struct live_library *l, double seconds, const double *part_targets);
// A rendition's init segment; takes over `data`.
void live_library_init(struct live_library *l, int rendition, uint8_t *data, size_t bytes);
// A part; takes over p->data.
void live_library_part(struct live_library *l, int rendition, const struct cmaf_part *p);
void live_library_segment(struct live_library *l, int rendition, int64_t segment);
// No audio comes, though it was announced: playlists are without it, and its files are gone, until
// each of its renditions has a segment again, or live_library_end.
void live_library_leave_out_audio(struct live_library *l);
// The media has ended: the playlists say so until the run ends.
void live_library_finish(struct live_library *l);
// The run ends; drops its files. `for_good`: no other one begins, and nothing is found from now on.
void live_library_end(struct live_library *l, bool for_good);

DECLS_END
#endif
