// SPDX-License-Identifier: GPL-2.0-or-later
// The two streams of one IP camera as two levels of one source, "rtsp://CAM/MAIN|rtsp://CAM/SUB".
// Each stream is a size of the ladder (level.h), which the camera has encoded.
//
//   Numbers. Both sizes count the frames of one source rate, of which each takes its own pattern.
//   The camera numbers the pictures of each stream by the time since an instant that both share
//   (camera.h): picture m of a stream of rate f was captured at m / f, and gets the number
//   ceil(m s / f) - 1 at the source rate s, which is the pattern's picture m - 1. So pictures of
//   one instant have about the same number, whatever the rates are; coded_frame.shown_after says
//   the rest.
//
//   Sizes. A stream's frames are those of its size. While the camera does not send one of the two,
//   the other one is sent as both: from a key frame on that comes then, until a key frame of the
//   missing stream comes. The numbers of a size ascend: if that key frame is older than what was
//   sent, as a stream that is always later than the other one is, its group gets numbers further
//   on.
//
// Pure.
#ifndef WEIR_SENDER_POLICY_CAMERA_PAIR_H
#define WEIR_SENDER_POLICY_CAMERA_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/wire/url.h"

DECLS_BEGIN

// The size of each stream.
enum { CAMERA_SUB, CAMERA_MAIN, CAMERA_STREAMS };

// ---- The source

struct camera_pair_urls {
    char text[CAMERA_STREAMS][URL_MAX_TEXT];
};

// Returns true if `source` is the URL of a camera, and has a '|', which no URL has (RFC 3986, 2).
bool camera_pair_is(const char *source);
// Reads such a source. Returns NULL, or what is wrong with it (static; it has no part of a URL).
const char *camera_pair_split(const char *source, struct camera_pair_urls *out);

// ---- Numbers

// Returns the rate at which frames count: the lowest multiple of main's that is one of the sub's,
// too, up to 240 pictures a second; if there is none, the highest multiple of main's up to that. It
// is at least the higher one of the two.
struct fps camera_pair_rate(struct fps main, struct fps sub);
// Returns the number of picture m >= 0 of a stream of rate `size`, at the rate `source`; picture 0
// has -1: it has none.
int64_t camera_pair_number(int64_t m, struct fps size, struct fps source);

// ---- Sizes

struct camera_pair {                // camera_pair.c alone writes the fields
    int from[CAMERA_STREAMS];       // the stream that is sent as the size; -1: none yet
    int64_t newest[CAMERA_STREAMS]; // number of the size's newest frame; -1: none
    struct {
        int64_t begins;      // its key frame, a picture of the stream
        int64_t ahead;       // its numbers are those of as many pictures later
        int64_t before;      // so were those of the group before
    } group[CAMERA_STREAMS]; // the newest one of each stream
};

// A frame of a stream, as the camera has numbered it, and then as both sizes count.
struct camera_pair_frame {
    int64_t number;
    int64_t depends_on; // not of a key frame
    bool key;
};

void camera_pair_init(struct camera_pair *p); // and when the rate has changed
// Gives a frame of a stream of rate `size` its numbers at the rate `source`.
void camera_pair_count(struct camera_pair *p, int stream, struct camera_pair_frame *f,
                       struct fps size, struct fps source);
// A frame that was counted came. `is_away`: the camera does not send the other stream. Returns the
// sizes that it is a frame of, a bit each.
unsigned camera_pair_take(struct camera_pair *p, int stream, const struct camera_pair_frame *f,
                          bool is_away);

DECLS_END
#endif
