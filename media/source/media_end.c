// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/media_end.h"

#include <stdbool.h>

#include "media/source/media_input.h"

enum { NEAREST = 1 << 20, FARTHEST = 64 << 20 }; // bytes before the end

// Reads from that place to the end of the file.
static usec_t end_from(struct media_input *in, int64_t at, AVPacket *packet)
{
    usec_t end = INT64_MIN;
    if (media_input_seek(in, -1, at, AVSEEK_FLAG_BYTE) < 0)
        return end;
    while (media_input_read(in, packet) >= 0) {
        const AVStream *s = media_input_format(in)->streams[packet->stream_index];
        bool counts =
            packet->pts != AV_NOPTS_VALUE && (s->codecpar->codec_type == AVMEDIA_TYPE_VIDEO ||
                                              s->codecpar->codec_type == AVMEDIA_TYPE_AUDIO);
        if (counts)
            end = usec_max(end, av_rescale_q(av_sat_add64(packet->pts, packet->duration),
                                             s->time_base, AV_TIME_BASE_Q));
        av_packet_unref(packet);
    }
    return end;
}

// The packets that are read here become entries of libavformat's index, between which it would not
// search any more. So this is another input than that of the film.
usec_t media_end_find(const char *path, struct media_guard *guard)
{
    char reason[MEDIA_INPUT_REASON];
    struct stat st;
    int err;
    usec_t end = INT64_MIN;
    AVPacket *packet = av_packet_alloc();
    struct media_input *in = media_input_open(path, NULL, guard, reason, &err);
    bool has_times = in && media_input_probe(in, reason) == 0 && media_input_stat(in, &st) &&
                     !(media_input_format(in)->iformat->flags & AVFMT_NOTIMESTAMPS);
    for (int64_t back = NEAREST; has_times && packet && end == INT64_MIN && back <= FARTHEST;
         back *= 4) {
        end = end_from(in, back < st.st_size ? st.st_size - back : 0, packet);
        if (back >= st.st_size)
            break;
    }
    media_input_free(in);
    av_packet_free(&packet);
    return end == INT64_MIN ? USEC_NEVER : end;
}
