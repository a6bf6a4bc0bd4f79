// SPDX-License-Identifier: GPL-2.0-or-later
// Which streams of libavformat are one track of the film. Where a broadcast goes on with other PIDs
// or in another codec, libavformat gives a new stream: it continues the track that has its place in
// the programme. As long as the file is open.
//
//   The law. The tracks are the streams with which the file begins. A later stream continues
//     - MPEG-TS: the track of its kind whose place it has in the program map, if the file begins
//       with one programme;
//     - MPEG-PS: the track of its kind whose place it has among the streams that begin with it,
//       unless that track goes on, too;
//     - FLV: the track of its kind, of which there is one.
//   Other containers have no such streams.
#ifndef WEIR_MEDIA_SOURCE_STREAM_FOLLOW_H
#define WEIR_MEDIA_SOURCE_STREAM_FOLLOW_H

#include <libavformat/avformat.h>
#include <stdbool.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum { STREAM_FOLLOW_MAX = 32 }; // streams; further ones continue none

enum stream_follow_rule { FOLLOW_NONE, FOLLOW_PROGRAM, FOLLOW_ORDER, FOLLOW_KIND };

struct stream_follow {
    enum stream_follow_rule rule;
    int tracks; // the first streams of the file
    struct {
        int track;      // which it continues, if `is_known`; -1: none
        bool is_known;  // always of the first streams
        bool has_begun; // of which a packet was read:
        int64_t begin;  // its time, in the stream's units
        int64_t from;   // where it is in the file
        int64_t newest; // and where the newest packet of a track is, since the last seek
    } of[STREAM_FOLLOW_MAX];
};

// Called when the header was read. `format`: borrowed by each call.
void stream_follow_init(struct stream_follow *f, const AVFormatContext *format);
// Called when the streams are known (avformat_find_stream_info).
void stream_follow_probed(struct stream_follow *f, const AVFormatContext *format);
// Notes a packet. Returns false if newer packets of its track were read before: libavformat gives
// the last one of a PID that ends on the way when the PID comes again, or at the end of the file.
bool stream_follow_note(struct stream_follow *f, const AVFormatContext *format,
                        const AVPacket *packet);
// Returns true if the packet, which was noted, is the first one of a stream of which only what
// comes after it shows what it continues.
bool stream_follow_is_new(const struct stream_follow *f, const AVPacket *packet);
// Returns the track of a stream of which a packet was read, or that the file begins with; -1: none.
int stream_follow_track(const struct stream_follow *f, int stream);
// The reading continues at the time `at` of a track. Returns the stream that has it then.
int stream_follow_seek(struct stream_follow *f, int track, int64_t at);

DECLS_END
#endif
