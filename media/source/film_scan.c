// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/film_scan.h"

#include <libavutil/avstring.h>
#include <libavutil/common.h>
#include <math.h>

#include "media/source/audio_track.h"
#include "media/source/dense_rate.h"
#include "media/source/media_input.h"
#include "media/source/timeline.h"

enum {
    WHOLE = 32 << 20,    // bytes of a file that is read to its end
    BEGINNING = 8 << 20, // of a longer one
    PLACES = 8,
    PLACE = 3 << 20, // bytes
    WINDOW = 10,     // seconds, of film
    WINDOW_OF_RATE = 3,
    MIN_BYTES_PER_S = 500 // of a film; less is a clock that jumps
};

struct scan {
    struct media_input *in; // owned
    AVPacket *packet;       // owned
    int track;
    bool has_fields;
    struct cadence cadence;
    struct dense_rate dense;
    struct timeline timeline;
    usec_t first;     // time of the first picture read; USEC_NEVER: none was read
    usec_t last;      // of the newest one
    usec_t last_ends; // by its duration
    usec_t others;    // of the first audio
    usec_t length;    // from the first picture to the newest
    struct clock_marks marks;
};

// Returns true and sets *fields if the video may repeat fields.
static bool may_repeat(const AVStream *s, bool clock_jumps, struct fps *fields)
{
    static const struct fps common[] = {{60000, 1001}, {60, 1}, {50, 1}};
    enum AVCodecID codec = s->codecpar->codec_id;
    double named = av_q2d(s->r_frame_rate);
    bool is_broadcast = clock_jumps && (codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_VC1);
    if (codec != AV_CODEC_ID_MPEG2VIDEO && !is_broadcast)
        return false;
    for (size_t i = 0; i < sizeof(common) / sizeof(*common); i++) {
        double rate = (double)common[i].num / common[i].den;
        *fields = common[i];
        if (fabs(named - rate) < rate * 0.0004 || fabs(2 * named - rate) < rate * 0.0004)
            return true;
    }
    return false;
}

static usec_t usec_of(const AVStream *s, int64_t t)
{
    return av_rescale_q(t, s->time_base, AV_TIME_BASE_Q);
}

// Adds a picture that is decoded at `at`.
static void add_picture(struct scan *s, usec_t at, usec_t duration)
{
    if (s->first == USEC_NEVER) {
        s->first = at;
    } else {
        usec_t step = timeline_step(&s->timeline, s->last, at);
        bool jumps = step != av_sat_sub64(at, s->last);
        s->length += jumps ? usec_max(step, av_sat_sub64(s->last_ends, s->last)) : step;
        s->marks.jumps |= jumps;
    }
    s->last = at;
    s->last_ends = av_sat_add64(at, duration);
    dense_rate_add(&s->dense, at);
    if (s->has_fields)
        cadence_add(&s->cadence, at);
}

// Adds what comes from the current place on, at most so many bytes, and seconds of pictures.
// Returns true at the end of the file.
static bool add(struct scan *s, int64_t bytes, int seconds)
{
    const AVFormatContext *format = media_input_format(s->in);
    AVPacket *p = s->packet;
    cadence_break(&s->cadence);
    dense_rate_break(&s->dense);
    usec_t from = s->length, until = from + seconds * USEC_PER_SEC;
    while (bytes > 0 && s->length < until) {
        if (media_input_read(s->in, p) < 0)
            return true;
        const AVStream *stream = format->streams[p->stream_index];
        int track = media_input_track(s->in, p->stream_index);
        int64_t dts = p->dts != AV_NOPTS_VALUE ? p->dts : p->pts;
        bytes -= p->size;
        if (track == s->track && dts != AV_NOPTS_VALUE) {
            usec_t at = usec_of(stream, dts);
            usec_t stamp = p->pts != AV_NOPTS_VALUE ? usec_of(stream, p->pts) : at;
            add_picture(s, at, usec_of(stream, p->duration));
            if (p->flags & AV_PKT_FLAG_KEY && p->pos >= 0)
                clock_marks_add(&s->marks,
                                (struct clock_mark){
                                    p->pos, stamp,
                                    av_sat_add64(s->first + s->length, av_sat_sub64(stamp, at))});
        } else if (track >= 0 && dts != AV_NOPTS_VALUE && audio_track_is(format, p->stream_index)) {
            s->others = s->others == USEC_NEVER ? usec_of(stream, dts) : s->others;
            timeline_add(&s->timeline, track, usec_of(stream, dts), usec_of(stream, p->duration));
        }
        av_packet_unref(p);
    }
    return false;
}

// Returns the length of the film, all of which was read.
static usec_t length_of(const struct scan *s)
{
    usec_t end = timeline_end(&s->timeline, s->last);
    return s->first - timeline_begin(&s->timeline, s->first, s->others) + s->length +
           usec_max(end, s->last_ends) - s->last;
}

// Returns true if a seek reads little: the format has times to search in, or the file has an index,
// which is read with the first seek.
static bool seeks_well(struct scan *s, int64_t start, int64_t length)
{
    const AVFormatContext *format = media_input_format(s->in);
    AVStream *stream = format->streams[s->track];
    if (format->iformat->flags & AVFMT_TS_DISCONT)
        return true;
    if (media_input_seek(s->in, s->track, start, AVSEEK_FLAG_BACKWARD) < 0)
        return false;
    int count = avformat_index_get_entries_count(stream);
    const AVIndexEntry *last = avformat_index_get_entry(stream, count - 1);
    return last && last->timestamp > av_sat_add64(start, length / 2);
}

static void scan_places(struct scan *s)
{
    const AVFormatContext *format = media_input_format(s->in);
    const AVStream *stream = format->streams[s->track];
    int64_t start = stream->start_time != AV_NOPTS_VALUE ? stream->start_time : 0,
            length = stream->duration > 0
                         ? stream->duration
                         : av_rescale_q(format->duration, AV_TIME_BASE_Q, stream->time_base);
    if (length <= 0 || !seeks_well(s, start, length))
        return;
    for (int i = 1; i <= PLACES; i++) {
        int64_t at = av_sat_add64(start, length / (PLACES + 1) * i);
        timeline_restart(&s->timeline);
        s->first = USEC_NEVER;
        if (media_input_seek(s->in, s->track, at, AVSEEK_FLAG_BACKWARD) >= 0)
            (void)add(s, PLACE, s->has_fields ? WINDOW : WINDOW_OF_RATE);
    }
}

// Adds the times in the index, if it has those of the whole film. Returns false if it does not.
static bool add_index(struct scan *s, const AVFormatContext *format)
{
    AVStream *stream = format->streams[s->track];
    int count = avformat_index_get_entries_count(stream);
    const AVIndexEntry *last = avformat_index_get_entry(stream, count - 1);
    if (!av_match_name("mp4", format->iformat->name) || !last || stream->nb_frames <= 0 ||
        stream->nb_frames > count)
        return false;
    for (int i = 0; i < count; i++)
        dense_rate_add(&s->dense, usec_of(stream, avformat_index_get_entry(stream, i)->timestamp));
    return true;
}

void film_scan_run(const char *path, const AVFormatContext *format, int track, double named,
                   bool clock_jumps, struct media_guard *guard, struct film_scan *out)
{
    char reason[MEDIA_INPUT_REASON];
    struct stat st;
    int err;
    struct scan s = {.track = track, .first = USEC_NEVER, .others = USEC_NEVER};
    *out = (struct film_scan){.cadence = CADENCE_NAMED, .length = USEC_NEVER};
    s.has_fields = may_repeat(format->streams[track], clock_jumps, &out->fields);
    dense_rate_init(&s.dense);
    bool seeks_rate = named > 0 && !add_index(&s, format);
    out->dense = named > 0 ? dense_rate_above(&s.dense, named) : 0;
    if (!seeks_rate && !s.has_fields && !clock_jumps)
        return;
    cadence_init(&s.cadence, out->fields);
    timeline_init(&s.timeline, clock_jumps, USEC_NEVER);
    s.packet = av_packet_alloc();
    s.in = media_input_open(path, NULL, guard, reason, &err);
    if (s.packet && s.in && media_input_probe(s.in, reason) == 0 && media_input_stat(s.in, &st) &&
        track < media_input_tracks(s.in)) {
        bool is_short = st.st_size <= WHOLE, is_whole = false;
        if (is_short || clock_jumps || s.has_fields)
            is_whole = add(&s, is_short ? WHOLE : BEGINNING, INT32_MAX);
        double length = format->duration > 0 ? usec_to_sec(format->duration) : 0;
        if (clock_jumps && is_whole && s.first != USEC_NEVER)
            out->length = length_of(&s);
        else if (clock_jumps && (double)st.st_size < length * MIN_BYTES_PER_S)
            out->length = 0;
        if (clock_jumps && is_whole && s.marks.jumps) {
            out->marks = s.marks;
            s.marks = (struct clock_marks){0};
        }
        if (!is_whole && (seeks_rate || s.has_fields))
            scan_places(&s);
    }
    out->cadence = cadence_rate(&s.cadence, &out->rate);
    out->dense = named > 0 ? dense_rate_above(&s.dense, named) : 0;
    clock_marks_free(&s.marks);
    media_input_free(s.in);
    av_packet_free(&s.packet);
}
