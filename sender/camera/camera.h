// SPDX-License-Identifier: GPL-2.0-or-later
// An IP camera (rtsp://[USER:PASSWORD@]HOST[:PORT]/PATH, or rtsps://) on a thread and a loop of its
// own. It is connected as long as the object lives, and again whenever it is lost (camera_retry.h).
// Its video comes out bit for bit, one frame a picture, with numbers and capture times of this
// machine (camera_clock.h); its audio as Opus (camera_audio.h). Key frames have their parameter
// sets: if the camera sends none, those of its description are put before them.
//
// What a program writes into a pipe (pipe_link.h) is a camera, too: "-" is the standard input, and
// the path of a FIFO that. It ends with its writer, or waits for the next one. So is what a client
// publishes to this server (publisher.h): it ends with the client's session.
//
// Limits: RTSP messages of 16 KB, frames of 4 MB, and a time without a picture after which the
// camera counts as lost (camera_pace.h).
#ifndef WEIR_SENDER_CAMERA_CAMERA_H
#define WEIR_SENDER_CAMERA_CAMERA_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/wire/sdp.h"
#include "media/coded/coded_audio.h"
#include "media/coded/coded_frame.h"
#include "media/source/media_guard.h"

DECLS_BEGIN

struct camera; // opaque
struct camera_line;
struct publisher;

// What the camera's pictures are, if they are H.264.
struct camera_picture {
    int width; // pixels
    int height;
    char sprop[SDP_MAX_PARAMETER_SETS];
    char profile_level_id[8];
};

// Called on the camera's thread, or inside camera_attach. They must not block, nor call camera_*.
struct camera_sink {
    void (*on_frame)(void *ctx, struct coded_frame *f);            // takes over the reference
    void (*on_audio)(void *ctx, struct coded_audio *c);            // the same; NULL: no audio
    void (*on_picture)(void *ctx, const struct camera_picture *p); // the next frames are like that
    // Numbers and media times count intervals of this rate from now on; it has risen, or is the one
    // at the beginning. Numbers ascend all the same.
    void (*on_rate)(void *ctx, struct fps fps);
    // The media has ended for good; it may wait for another thread. `why`: it broke off, and why,
    // for people; NULL: it did not.
    void (*on_end)(void *ctx, const char *why);
};

// Returns true if the name of a source is the URL of a camera, or a pipe.
bool camera_is(const char *source);

struct camera_config {
    const char *source; // borrowed for the call
    const char *name;   // of the source, for people; NULL: it has none
    const char *stream; // which of the camera's, for people; NULL: it is the only one
    bool has_audio;     // false: the camera is not asked for its audio
    bool waits;         // a FIFO whose writer ends waits for the next one
    // That two streams share: media times are those of capture since its origin. The camera takes a
    // reference. NULL: media time 0 is the first picture's capture.
    struct camera_line *line;
    int size; // camera_pair.h; with `line`
};

// Starts to open a camera. NULL: logs the reason, without password; *err is ERR_MALFORMED,
// ERR_NOT_FOUND, or ERR_NO_MEMORY.
struct camera *camera_start(const struct camera_config *config, int *err);
// Waits until the camera has said what its pictures are, at most 20 s after its start (of a pipe:
// after its first bytes), and as long as `guard` (borrowed for the call; NULL: no limit) allows.
// Takes over the camera, which may be NULL. On failure logs the reason, without password, and
// returns NULL; *err is ERR_UNSUPPORTED, ERR_IO, ERR_TIMED_OUT, ERR_CLOSED or ERR_NO_MEMORY.
struct camera *camera_await(struct camera *c, struct media_guard *guard, int *err);
// The same for what a client publishes; the camera takes a reference of `p`. It is open within 20
// s, or fails.
struct camera *camera_open_published(struct publisher *p, bool has_audio, struct media_guard *guard,
                                     int *err);
// "NAME (camera at HOST)", "camera at HOST", "standard input", "pipe NAME" or a publisher's name:
// for people. It has no path, in which some cameras expect a password. Of one of two streams it
// also says which.
const char *camera_title(const struct camera *c);
// Writes the title without the stream.
void camera_name(const struct camera *c, char *out, size_t cap);
bool camera_is_pipe(const struct camera *c);
usec_t camera_origin(const struct camera *c); // of its line; 0: it has none
struct fps camera_fps(struct camera *c);      // any thread
int camera_bitrate(const struct camera *c);   // bit/s, measured while it was opened
// Of codecs other than H.264 the pictures' size is not known; a picture of JPEG is a file, of which
// libavcodec knows the Huffman tables.
enum sdp_codec camera_codec(const struct camera *c);
bool camera_reorders(const struct camera *c); // it sends B frames
// Returns the name of its audio's codec, which comes as Opus; NULL: it has no audio. Static.
const char *camera_audio_codec(const struct camera *c);
void camera_picture(struct camera *c, struct camera_picture *out); // any thread

// From now on frames go to the sink, first those since the last key frame. `sink` is static.
void camera_attach(struct camera *c, const struct camera_sink *sink, void *ctx);
// Any thread. The camera is asked for a key frame, if it takes such requests.
void camera_request_key(struct camera *c);
// The sink is not called any more. When the thread has closed the connection it calls `on_gone`, on
// itself, as its last act; then the caller calls camera_free.
void camera_stop(struct camera *c, void (*on_gone)(void *ctx), void *ctx);
void camera_free(struct camera *c); // stops it, if it is not, and joins the thread. NULL is fine

struct camera_stats {
    bool is_away;
    usec_t away_since; // with is_away; a time of clock.h
    char why[96];      // with is_away: the reason, for viewers (away_reason.h); may be empty
    uint64_t frames;
    double fps;      // of the last second
    double rate_bps; // of the last second
};
void camera_stats(struct camera *c, struct camera_stats *out); // any thread

DECLS_END
#endif
