// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/video_file.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <libavutil/display.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/parseutils.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/source/audio_track.h"
#include "media/source/deinterlacer.h"
#include "media/source/film_scan.h"
#include "media/source/media_end.h"
#include "media/source/media_input.h"
#include "media/source/track_notes.h"

enum {
    MAX_PIXELS = 8192 * 4352, // of a frame
    NEAR_FRAMES = 4,          // frames before the target of a seek that are decoded in full
    KEY_SEARCH = 1 << 20,     // max. seconds before the target of a seek to search for a key frame
    MAX_IDLE = 5000,          // packets and errors without a picture until the file counts as ended
    MAX_OTHERS = 1 << 20,     // the same of packets of the audio: a picture may stand for hours
    DEFAULT_FPS = 30,
    STILL_FPS = 5, // of a single picture
    MAX_FPS = 120,
    MAX_DELAY = 32,     // pictures by which a decoder delays: 16, and threads
    MAX_TERM = 1001,    // max. term of the rate, so that times of many frames fit usec_of_frames
    CREDIBLE_FPS = 300, // a higher rate is a time base that was mistaken for a rate
};

// A video that ends earlier than the file says by more than both is cut.
static const double MISSING_MIN = 1;     // seconds
static const double MISSING_PART = 0.02; // of the whole

struct video_file {
    char *path;                // owned, for the log
    struct media_input *input; // owned
    AVFormatContext *format;   // borrowed from `input`
    AVCodecContext *codec;     // owned
    int track;
    AVStream *stream; // borrowed from `format`; the one that has the track now
    AVPacket *packet; // owned; while `is_changing`, the first one of the new codec
    // The codec is drained, as the track goes on in another one, or in a way that makes it drop the
    // picture it has: MPEG-2 of another size.
    bool is_changing;
    bool has_only_dts; // no PTS: AVI's
    int sent_count;    // of the packets' DTS, the newest ones, in decoding order
    int64_t sent[MAX_DELAY + 1];
    int coded_size;       // of MPEG-1 and 2: the sequence header's 24 bits; 0: none came since the
                          // opening
    char broken_off[128]; // where and why the file breaks off; "": it does not
    bool is_lost;         // video that cannot be decoded was logged
    enum AVCodecID first_codec;
    // Owned; NULL until an interlaced frame comes, and after a seek. A file that cannot be
    // deinterlaced never has it.
    struct deinterlacer *deinterlacer;
    bool seen_interlaced;  // was logged
    AVRational coded_time; // of a picture without repeated fields
    struct video_info info;
    struct timeline timeline;
    struct clock_marks marks; // owned
    int64_t first_pts;        // target of a rewind: DTS of the first packet, or its PTS
    int64_t next_pts;         // assumed PTS of the next frame, if it has none
    int64_t wanted;           // of frames before this time, decode only those that others depend on
    int64_t broken;           // packets and frames skipped
    bool reported;            // `broken` was logged
    bool is_cover;   // the video is a picture without times, which stands as long as the audio
    double own_end;  // seconds from the start of the video; 0: unknown
    double read_end; // of the last packet read; unless ends_differ, also of the audio
    double read_at;  // of the newest picture
    double stands;   // longest time from one picture to the next one
    bool keeps;      // packets
    int kept_count;
    AVPacket *kept[VIDEO_FILE_KEPT]; // owned; the oldest first
};

// ---- Packets that are kept ----

AVPacket *video_file_take_packet(struct video_file *f)
{
    if (!f->kept_count)
        return NULL;
    AVPacket *first = f->kept[0];
    memmove(f->kept, f->kept + 1, (size_t)--f->kept_count * sizeof(AVPacket *));
    return first;
}

static void drop_kept(struct video_file *f)
{
    while (f->kept_count)
        av_packet_free(&f->kept[--f->kept_count]);
}

static void keep(struct video_file *f)
{
    AVPacket *packet = av_packet_clone(f->packet);
    if (!packet)
        return;
    if (f->stream->codecpar->codec_id != f->first_codec)
        av_shrink_packet(packet, 0); // no unit of what is passed on
    if (f->kept_count == VIDEO_FILE_KEPT) {
        AVPacket *oldest = video_file_take_packet(f);
        av_packet_free(&oldest);
    }
    f->kept[f->kept_count++] = packet;
}

void video_file_keep_packets(struct video_file *f)
{
    f->keeps = true;
}

// ---- Properties of the stream ----

static struct fps credible_fps(AVRational rate)
{
    // Containers with millisecond clocks give 29.9994 for 30; 29.97 and 30 differ by 1/1000.
    static const AVRational common[] = {{24000, 1001}, {24, 1},  {25, 1},        {30000, 1001},
                                        {30, 1},       {48, 1},  {50, 1},        {60000, 1001},
                                        {60, 1},       {100, 1}, {120000, 1001}, {120, 1}};
    double value = rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 0;
    if (value < 1 || value > CREDIBLE_FPS)
        return (struct fps){DEFAULT_FPS, 1};
    for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++) {
        if (fabs(value - av_q2d(common[i])) < value * 0.0004)
            return (struct fps){common[i].num, common[i].den};
    }
    if (value > MAX_FPS)
        return (struct fps){MAX_FPS, 1};
    struct fps fps;
    av_reduce(&fps.num, &fps.den, rate.num, rate.den, MAX_TERM);
    return fps;
}

// The display matrix shows a row of the picture in the direction (m[0], m[1]), a column in
// (m[3], m[4]); x goes to the right, y downwards. av_display_rotation_get looks only at the row.
// The determinant is negative if the column goes the other way round than a rotation brings it.
static bool read_turn(const uint8_t *matrix, size_t size, struct video_turn *out)
{
    int32_t m[9];
    if (!matrix || size < sizeof(m))
        return false;
    memcpy(m, matrix, sizeof(m));
    double degrees = av_display_rotation_get(m); // counterclockwise; NaN if m is singular
    if (!isfinite(degrees))
        return false;
    out->quarters = (int)(lrint(-degrees / 90) & 3);
    out->flipped = (double)m[0] * m[4] < (double)m[1] * m[3];
    return true;
}

bool video_file_turn_of(const AVFrame *frame, struct video_turn *out)
{
    const AVFrameSideData *side = av_frame_get_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX);
    if (side)
        return read_turn(side->data, side->size, out);
    // Exif 2.32, 4.6.4, Orientation: 1 to 8. A later libavcodec has a matrix in its place.
    static const struct video_turn turns[] = {{0, false}, {2, true},  {2, false}, {0, true},
                                              {1, true},  {1, false}, {3, true},  {3, false}};
    const AVDictionaryEntry *exif = av_dict_get(frame->metadata, "Orientation", NULL, 0);
    int value = exif ? atoi(exif->value) : 0;
    if (value < 1 || value > 8)
        return false;
    *out = turns[value - 1];
    return true;
}

static usec_t usec_of(const AVStream *s, int64_t pts)
{
    return av_rescale_q(pts, s->time_base, AV_TIME_BASE_Q);
}

// The duration of the video alone: other tracks of the file may be longer. Returns 0 if it is not
// known.
static double own_duration(const struct video_file *f)
{
    // libavformat shortens the duration of an AVI file that breaks off, not the number of pictures.
    bool is_counted = strcmp(f->format->iformat->name, "avi") == 0;
    if (f->stream->duration != AV_NOPTS_VALUE && f->stream->duration > 0)
        return (double)FFMAX(f->stream->duration, is_counted ? f->stream->nb_frames : 0) *
               av_q2d(f->stream->time_base);
    const AVDictionaryEntry *tag =
        av_dict_get(f->stream->metadata, "DURATION", NULL, 0); // Matroska
    int64_t usec;
    if (!tag || av_parse_time(&usec, tag->value, 1) < 0)
        return 0;
    // It is the end of the track's last block.
    int64_t start =
        f->stream->start_time != AV_NOPTS_VALUE ? usec_of(f->stream, f->stream->start_time) : 0;
    return usec_to_sec(usec - usec_max(start, 0));
}

static bool is_sound(const struct video_file *f, unsigned i)
{
    const AVStream *s = f->format->streams[i];
    return s->codecpar->codec_type == AVMEDIA_TYPE_AUDIO && s->discard != AVDISCARD_ALL;
}

static double seconds_from_start(const struct video_file *f, usec_t at)
{
    const AVStream *v = f->stream;
    return usec_to_sec(at - (v->start_time != AV_NOPTS_VALUE ? usec_of(v, v->start_time) : 0));
}

// ISO files name the end of each stream, and may have one stream after the other. In other
// containers the streams are interleaved, and the end that is known may be that of the longest.
static bool ends_differ(const struct video_file *f)
{
    return av_match_name("mp4", f->format->iformat->name);
}

// Returns the end of an audio stream, or INT64_MIN. AVI names how many bytes or frames there are,
// which is not true if the audio began late when it was written; its index is.
static usec_t end_of_sound(const struct video_file *f, const AVStream *s)
{
    if (s->duration <= 0)
        return INT64_MIN;
    int64_t end = av_sat_add64(s->start_time, s->duration);
    int count = avformat_index_get_entries_count(s);
    if (count > 0 && strcmp(f->format->iformat->name, "avi") == 0) {
        const AVIndexEntry *last = avformat_index_get_entry((AVStream *)(uintptr_t)s, count - 1);
        end = FFMIN(end, last->timestamp);
    }
    return usec_of(s, end);
}

// FLV's clock is that of the stream that was recorded.
static bool clock_jumps(const AVInputFormat *format)
{
    return format->flags & AVFMT_TS_DISCONT || strcmp(format->name, "flv") == 0;
}

// Sets up the time line, and makes the duration that of all streams.
static void read_times(struct video_file *f)
{
    const AVFormatContext *c = f->format;
    const AVStream *v = f->stream;
    struct video_info *info = &f->info;
    bool is_named = c->duration > 0 && c->start_time != AV_NOPTS_VALUE &&
                    c->duration_estimation_method != AVFMT_DURATION_FROM_BITRATE;
    timeline_init(&f->timeline, clock_jumps(c->iformat),
                  is_named ? av_sat_add64(c->start_time, c->duration) : USEC_NEVER);
    usec_t others_end = INT64_MIN;
    info->others_begin = USEC_NEVER;
    for (unsigned i = 0; i < c->nb_streams; i++) {
        const AVStream *s = c->streams[i];
        if (!is_sound(f, i) || s->start_time == AV_NOPTS_VALUE)
            continue;
        info->others_begin = usec_min(info->others_begin, usec_of(s, s->start_time));
        others_end = usec_max(others_end, end_of_sound(f, s));
    }
    if (v->start_time == AV_NOPTS_VALUE || v->duration <= 0)
        return;
    if (info->duration < 0)
        return;
    usec_t begin = usec_of(v, v->start_time),
           end = usec_of(v, av_sat_add64(v->start_time, v->duration));
    usec_t lead = av_sat_sub64(begin, timeline_begin(&f->timeline, begin, info->others_begin));
    usec_t tail = others_end == INT64_MIN ? 0 : av_sat_sub64(others_end, end);
    info->duration += usec_to_sec(lead) + (tail > TIMELINE_SLACK ? usec_to_sec(tail) : 0);
}

static void read_info(struct video_file *f)
{
    struct video_info *info = &f->info;
    info->time_base = f->stream->time_base;
    AVRational rate = av_guess_frame_rate(f->format, f->stream, NULL);
    if (rate.num <= 0 || rate.den <= 0 || av_q2d(rate) > CREDIBLE_FPS)
        rate = f->stream->avg_frame_rate;
    info->fps = credible_fps(rate);
    info->is_faster = info->fps.num == MAX_FPS * info->fps.den && av_q2d(rate) > MAX_FPS * 1.001;
    info->aspect = av_guess_sample_aspect_ratio(f->format, f->stream, NULL);
    if (info->aspect.num <= 0 || info->aspect.den <= 0)
        info->aspect = (AVRational){1, 1};
    size_t size = 0;
    const uint8_t *matrix = av_stream_get_side_data(f->stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
    (void)read_turn(matrix, size, &info->turn);
    info->duration = -1;
    if (f->stream->duration != AV_NOPTS_VALUE && f->stream->duration > 0)
        info->duration = (double)f->stream->duration * av_q2d(f->stream->time_base);
    else if (f->format->duration != AV_NOPTS_VALUE && f->format->duration > 0)
        info->duration = (double)f->format->duration / AV_TIME_BASE;
    if (info->is_still) {
        info->fps = (struct fps){STILL_FPS, 1};
        info->duration = -1;
    }
    f->own_end = f->is_cover ? 0 : own_duration(f);
    read_times(f);
}

// The found rate is measured: it is the common one nearby, of the kind (NTSC's or not) of `named`.
static struct fps dense_fps(double found, struct fps named)
{
    static const int common[] = {30, 48, 50, 60, 100, 120};
    bool is_ntsc = named.den == 1001;
    for (size_t i = 0; i < sizeof(common) / sizeof(*common); i++) {
        if (fabs(found - common[i]) < common[i] * 0.01 && is_ntsc && common[i] % 50)
            return (struct fps){common[i] * 1000, 1001};
        if (fabs(found - common[i]) < common[i] * 0.01)
            return (struct fps){common[i], 1};
    }
    return credible_fps(av_d2q(found, MAX_TERM));
}

// Corrects the rate and the duration, where the container's is another one.
static void scan(struct video_file *f, bool is_glance, struct media_guard *guard)
{
    struct film_scan found;
    struct video_info *info = &f->info;
    bool is_interlaced = f->stream->codecpar->field_order > AV_FIELD_PROGRESSIVE;
    double named = f->is_cover || is_glance ? 0 : fps_value(info->fps);
    film_scan_run(f->path, f->format, f->track, named, f->timeline.clock_jumps, guard, &found);
    f->coded_time = (AVRational){info->fps.den, info->fps.num};
    f->marks = found.marks;
    info->cadence = found.cadence;
    if (found.cadence != CADENCE_NAMED) {
        f->coded_time = (AVRational){2 * found.fields.den, found.fields.num};
        info->fps = found.rate;
        info->is_faster = false;
    } else if (found.dense > 0 && !is_interlaced) { // interlaced fields may come one by one
        info->fps = dense_fps(found.dense, info->fps);
        info->is_faster = found.dense > MAX_FPS * 1.01;
    }
    if (found.length == USEC_NEVER)
        return;
    info->duration = found.length > 0 ? usec_to_sec(found.length) : -1;
    if (fabs(info->duration - f->own_end) > MISSING_MIN)
        f->own_end = 0; // its clock jumps: times do not say where the file breaks off
}

// A file without a duration that has time stamps has an end that can be read, and can be sought in.
static void find_duration(struct video_file *f, struct media_guard *guard)
{
    usec_t end =
        f->info.duration < 0 && !f->info.is_still ? media_end_find(f->path, guard) : USEC_NEVER;
    int64_t start = f->format->start_time;
    if (end != USEC_NEVER && start != AV_NOPTS_VALUE && end > start)
        f->info.duration = usec_to_sec(end - start);
}

// ---- Opening ----

static int open_format(struct video_file *f, struct media_guard *guard)
{
    char reason[MEDIA_INPUT_REASON];
    int err;
    f->input = media_input_open(f->path, NULL, guard, reason, &err);
    if (!err)
        err = media_input_probe(f->input, reason);
    if (err) {
        log_error("%s: %s", f->path, reason);
        return err;
    }
    f->format = media_input_format(f->input);
    return 0;
}

static int first_video(const struct video_file *f)
{
    int i = 0;
    while (i < media_input_tracks(f->input) &&
           f->format->streams[i]->codecpar->codec_type != AVMEDIA_TYPE_VIDEO)
        i++;
    return i;
}

static int choose_stream(struct video_file *f, const AVCodec **codec)
{
    int i = av_find_best_stream(f->format, AVMEDIA_TYPE_VIDEO, -1, -1, codec, 0);
    if (i >= media_input_tracks(f->input)) // it continues one
        i = av_find_best_stream(f->format, AVMEDIA_TYPE_VIDEO, first_video(f), -1, codec, 0);
    if (i == AVERROR_DECODER_NOT_FOUND) {
        log_error("%s: cannot decode the file's video (no decoder)", f->path);
        return ERR_UNSUPPORTED;
    }
    const char *format = f->format->iformat->name;
    if (i < 0 || strcmp(format, "ico") == 0 ||
        strcmp(format, "tty") == 0) { // "tty": text as pictures
        log_error("%s: the file has no video", f->path);
        return ERR_UNSUPPORTED;
    }
    f->track = i;
    f->stream = f->format->streams[i];
    f->info.is_still = media_input_is_picture(format);
    f->is_cover = f->info.is_still || f->stream->disposition & AV_DISPOSITION_ATTACHED_PIC;
    f->first_codec = f->stream->codecpar->codec_id;
    char *left_out = f->info.left_out;
    int tracks = media_input_tracks(f->input);
    track_notes_unused(f->format, tracks, AVMEDIA_TYPE_VIDEO, i, left_out, TRACK_NOTES);
    track_notes_unused(f->format, tracks, AVMEDIA_TYPE_SUBTITLE, -1, left_out, TRACK_NOTES);
    for (int k = 0; k < tracks; k++) {
        if (k != i && !audio_track_is(f->format, k))
            f->format->streams[k]->discard = AVDISCARD_ALL;
    }
    return 0;
}

// Opens the codec of the stream, in place of the one before. Returns 0 or an AVERROR.
static int open_codec(struct video_file *f, const AVStream *stream, const AVCodec *codec)
{
    AVCodecContext *c = codec ? avcodec_alloc_context3(codec) : NULL;
    const AVCodecParameters *p = stream->codecpar;
    int r = !codec ? AVERROR_DECODER_NOT_FOUND : c ? 0 : AVERROR(ENOMEM);
    if (r >= 0)
        r = avcodec_parameters_to_context(c, p);
    if (r >= 0) {
        c->pkt_timebase = stream->time_base;
        c->max_pixels = MAX_PIXELS;
        // One thread decodes 1080p many times faster than real time, and conceals damage
        // deterministically; frame threads do not always.
        c->thread_count = (int64_t)p->width * p->height > 1920 * 1088 ? 0 : 1;
        r = avcodec_open2(c, codec, NULL);
    }
    if (r < 0) {
        avcodec_free_context(&c);
        return r;
    }
    avcodec_free_context(&f->codec);
    f->codec = c;
    return 0;
}

static int open_first(struct video_file *f, const AVCodec *codec)
{
    f->packet = av_packet_alloc();
    int r = f->packet ? open_codec(f, f->stream, codec) : AVERROR(ENOMEM);
    if (r == AVERROR(ENOMEM))
        return ERR_NO_MEMORY;
    const AVCodecParameters *p = f->stream->codecpar;
    if (r < 0 && (int64_t)p->width * p->height > MAX_PIXELS)
        log_error("%s: the file's pictures are too large (%dx%d)", f->path, p->width, p->height);
    else if (r < 0)
        log_error("%s: cannot decode the file's video (%s)", f->path, av_err2str(r));
    return r < 0 ? ERR_UNSUPPORTED : 0;
}

static int open_all(struct video_file *f, bool is_glance, struct media_guard *guard)
{
    const AVCodec *codec = NULL;
    int r = open_format(f, guard);
    if (r == 0)
        r = choose_stream(f, &codec);
    if (r == 0)
        r = open_first(f, codec);
    if (r == 0) {
        read_info(f);
        scan(f, is_glance, guard);
        find_duration(f, guard);
    }
    return r;
}

struct video_file *video_file_open(const char *path, bool is_glance, struct media_guard *guard,
                                   int *err)
{
    struct video_file *f = calloc(1, sizeof(*f));
    *err = ERR_NO_MEMORY;
    if (!f)
        return NULL;
    f->first_pts = AV_NOPTS_VALUE;
    f->wanted = INT64_MIN;
    f->path = strdup(path);
    if (f->path)
        *err = open_all(f, is_glance, guard);
    if (*err < 0) {
        if (*err == ERR_NO_MEMORY)
            log_error("%s: no memory", path);
        video_file_free(f);
        return NULL;
    }
    return f;
}

void video_file_free(struct video_file *f)
{
    if (!f)
        return;
    deinterlacer_free(f->deinterlacer);
    clock_marks_free(&f->marks);
    drop_kept(f);
    av_packet_free(&f->packet);
    avcodec_free_context(&f->codec);
    media_input_free(f->input);
    free(f->path);
    free(f);
}

const struct video_info *video_file_info(const struct video_file *f)
{
    return &f->info;
}

// ---- Reading ----

static void report_broken(struct video_file *f)
{
    if (f->broken > 0 && !f->reported)
        log_warn("%s: skipped %lld broken packets or pictures", f->path, (long long)f->broken);
    f->reported = true;
}

// Returns true if the packet is one of the video.
static bool note_packet(struct video_file *f)
{
    const AVPacket *p = f->packet;
    int64_t pts = p->pts != AV_NOPTS_VALUE ? p->pts : p->dts;
    const AVStream *s = f->format->streams[p->stream_index];
    int track = media_input_track(f->input, p->stream_index);
    if (track == f->track)
        return true;
    if (track >= 0 && is_sound(f, (unsigned)p->stream_index) && pts != AV_NOPTS_VALUE &&
        !(p->flags & AV_PKT_FLAG_DISCARD)) {
        timeline_add(&f->timeline, track, usec_of(s, pts), usec_of(s, p->duration));
        if (!ends_differ(f)) {
            double end = seconds_from_start(f, usec_of(s, av_sat_add64(pts, p->duration)));
            f->read_end = fmax(f->read_end, end);
        }
    }
    return false;
}

struct timeline *video_file_timeline(struct video_file *f)
{
    return &f->timeline;
}

usec_t video_file_duration(const struct video_file *f, const AVFrame *frame)
{
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
    return usec_of(f->stream, frame->duration);
#else
    return usec_of(f->stream, frame->pkt_duration);
#endif
}

static void note_read(struct video_file *f)
{
    int64_t pts = f->packet->pts != AV_NOPTS_VALUE ? f->packet->pts : f->packet->dts;
    if (pts == AV_NOPTS_VALUE)
        return;
    double at = seconds_from_start(f, usec_of(f->stream, pts)),
           end = at + usec_to_sec(usec_of(f->stream, f->packet->duration));
    f->stands = fmax(f->stands, at - f->read_at);
    f->read_at = at;
    f->read_end = fmax(f->read_end, end);
}

// libav reports the end of the file where a truncated one breaks off, too.
static void note_end(struct video_file *f, int r)
{
    if (r == AVERROR_EXIT) // stopped
        return;
    double missing = f->own_end - f->read_end;
    *f->broken_off = '\0';
    if (r != AVERROR_EOF)
        snprintf(f->broken_off, sizeof(f->broken_off), "the film breaks off at %.1f s: %s",
                 f->read_end, av_err2str(r));
    else if (missing > MISSING_MIN + f->stands && missing > f->own_end * MISSING_PART)
        snprintf(f->broken_off, sizeof(f->broken_off),
                 "the film breaks off at %.1f of %.1f s: the file is truncated", f->read_end,
                 f->own_end);
    if (*f->broken_off)
        log_warn("%s: %s", f->path, f->broken_off);
}

// Reads the next packet of the video. Returns 0 or an error of media_input_read.
static int read_packet(struct video_file *f)
{
    for (int i = 0; i < MAX_OTHERS; i++) {
        int r = media_input_read(f->input, f->packet);
        if (r < 0 || note_packet(f))
            return r;
        av_packet_unref(f->packet);
    }
    return AVERROR_EOF;
}

// Returns the presentation time stamp of a frame of a container that has only decoding ones. Its
// pictures are shown in the order of their output, each at the time of a packet. A decoder that
// reorders gives the frame of packet N with the packet N + has_b_frames.
static int64_t time_of_output(const struct video_file *f, const AVFrame *frame)
{
    int i = f->sent_count - 1, delay = f->codec->has_b_frames;
    while (i >= 0 && f->sent[i] != frame->pkt_dts)
        i--;
    return frame->pkt_dts == AV_NOPTS_VALUE || i < delay ? AV_NOPTS_VALUE : f->sent[i - delay];
}

static void note_sent(struct video_file *f)
{
    const AVPacket *p = f->packet;
    if (p->dts == AV_NOPTS_VALUE)
        return;
    if (f->sent_count > MAX_DELAY)
        memmove(f->sent, f->sent + 1, (size_t)--f->sent_count * sizeof(*f->sent));
    f->sent[f->sent_count++] = p->dts;
}

static void send(struct video_file *f)
{
    note_sent(f);
    if (avcodec_send_packet(f->codec, f->packet) < 0)
        f->broken++;
    if (f->keeps)
        keep(f);
    av_packet_unref(f->packet);
}

// Returns true if the packet begins pictures of another size, of MPEG-1 or 2 (ISO/IEC 13818-2,
// 6.2.2.1).
static bool is_resized(struct video_file *f)
{
    const AVPacket *p = f->packet;
    enum AVCodecID codec = f->codec->codec_id;
    bool is_mpeg = codec == AV_CODEC_ID_MPEG1VIDEO || codec == AV_CODEC_ID_MPEG2VIDEO;
    if (!is_mpeg || p->size < 7 || AV_RB32(p->data) != 0x1B3)
        return false;
    int before = f->coded_size;
    f->coded_size = (int)AV_RB24(p->data + 4);
    return before && before != f->coded_size;
}

// AVI has one time of a packet, as Matroska of AVI's codecs: libavformat gives a PTS only where it
// must be the DTS. Any other PTS shows that there are both.
static void note_kind_of_times(struct video_file *f)
{
    const AVPacket *p = f->packet;
    if (f->first_pts == AV_NOPTS_VALUE)
        f->has_only_dts = p->pts == AV_NOPTS_VALUE && p->dts != AV_NOPTS_VALUE &&
                          !media_input_is_bare(f->input); // libavformat counts its times
    f->has_only_dts &= p->pts == AV_NOPTS_VALUE || p->pts == p->dts;
}

// Sends one packet to the decoder; at the end of the file, and before a packet in another codec or
// size, flushes the decoder.
static void feed(struct video_file *f)
{
    int r = read_packet(f);
    if (r < 0) {
        note_end(f, r);
        avcodec_send_packet(f->codec, NULL);
        return;
    }
    bool passes = f->packet->pts != AV_NOPTS_VALUE && f->packet->pts < f->wanted;
    note_kind_of_times(f);
    if (f->first_pts == AV_NOPTS_VALUE)
        f->first_pts = f->packet->dts != AV_NOPTS_VALUE ? f->packet->dts : f->packet->pts;
    note_read(f);
    bool resized = is_resized(f); // also of another stream: it notes the size
    f->is_changing = resized || f->packet->stream_index != f->stream->index ||
                     f->stream->codecpar->codec_id != f->codec->codec_id;
    if (f->is_changing) {
        avcodec_send_packet(f->codec, NULL);
        return;
    }
    f->codec->skip_frame = passes ? AVDISCARD_NONREF : AVDISCARD_DEFAULT;
    send(f);
}

// The track goes on with the packet's stream, and what was decoded before has been taken. The last
// picture stands for one that cannot be decoded.
static void change_codec(struct video_file *f)
{
    AVStream *stream = f->format->streams[f->packet->stream_index];
    int r = open_codec(f, stream, avcodec_find_decoder(stream->codecpar->codec_id));
    f->is_changing = false;
    if (r >= 0) {
        f->stream = stream;
        send(f);
        return;
    }
    if (!f->is_lost)
        log_warn("%s: its video goes on in a way that cannot be decoded (%s): the last picture "
                 "stands from there on",
                 f->path, av_err2str(r));
    f->is_lost = true;
    avcodec_flush_buffers(f->codec);
    av_packet_unref(f->packet);
}

const char *video_file_broken(const struct video_file *f)
{
    return f->broken_off;
}

int video_file_skim(struct video_file *f)
{
    if (read_packet(f) < 0)
        return ERR_END;
    keep(f);
    av_packet_unref(f->packet);
    return 0;
}

const AVCodecParameters *video_file_parameters(const struct video_file *f)
{
    return f->stream->codecpar;
}

// Reads the next frame as it was coded. Returns 0 or ERR_END.
static int read_coded(struct video_file *f, AVFrame *out)
{
    AVRational half_time = {f->coded_time.num, 2 * f->coded_time.den};
    for (int idle = 0; idle < MAX_IDLE; idle++) {
        int r = avcodec_receive_frame(f->codec, out);
        if (r == 0 && !out->decode_error_flags && !(out->flags & AV_FRAME_FLAG_CORRUPT)) {
            out->pts = f->has_only_dts ? time_of_output(f, out) : out->best_effort_timestamp;
            if (out->pts == AV_NOPTS_VALUE)
                out->pts = f->next_pts;
            f->next_pts = av_sat_add64(
                out->pts, av_rescale_q(2 + out->repeat_pict, half_time, f->info.time_base));
            return 0;
        }
        if (r == AVERROR_EOF && f->is_changing) {
            change_codec(f);
            continue;
        }
        if (r == AVERROR_EOF) {
            report_broken(f);
            return ERR_END;
        }
        if (r == AVERROR(EAGAIN))
            feed(f);
        else
            f->broken++;
    }
    log_warn("%s: no picture in %d packets: treating this as the end of the file", f->path,
             MAX_IDLE);
    report_broken(f);
    return ERR_END;
}

// Makes the deinterlacer if there is none for such frames. Returns false if the frame needs none,
// or cannot have one.
static bool has_deinterlacer(struct video_file *f, const AVFrame *frame)
{
    if (f->deinterlacer && deinterlacer_fits(f->deinterlacer, frame))
        return true;
    deinterlacer_free(f->deinterlacer); // its last frame is lost, at a change of the size
    f->deinterlacer = NULL;
    if (!frame->interlaced_frame)
        return false;
    f->deinterlacer = deinterlacer_new(frame, f->info.time_base);
    if (!f->seen_interlaced && f->deinterlacer)
        log_info("%s: interlaced pictures are deinterlaced", f->path);
    else if (!f->seen_interlaced)
        log_warn("%s: interlaced pictures of this format cannot be deinterlaced", f->path);
    f->seen_interlaced = true;
    return f->deinterlacer;
}

int video_file_read(struct video_file *f, AVFrame *out)
{
    for (;;) {
        if (f->deinterlacer && deinterlacer_take(f->deinterlacer, out) == 0)
            return 0;
        int err = read_coded(f, out);
        if (err && f->deinterlacer) { // the last picture comes without a further frame
            (void)deinterlacer_put(f->deinterlacer, NULL);
            return deinterlacer_take(f->deinterlacer, out) == 0 ? 0 : err;
        }
        if (err || !has_deinterlacer(f, out))
            return err;
        if (deinterlacer_put(f->deinterlacer, out) < 0)
            f->broken++;
    }
}

static void flush(struct video_file *f)
{
    avcodec_flush_buffers(f->codec);
    av_packet_unref(f->packet);
    f->is_changing = false;
    f->coded_size = f->sent_count = 0;
    drop_kept(f);
    f->read_at = INFINITY; // what stands until the next picture is not known
    timeline_restart(&f->timeline);
    deinterlacer_free(f->deinterlacer);
    f->deinterlacer = NULL;
}

// Reads packets from the current position. Returns true if a key frame comes before the first
// packet that is later than `pts`.
static bool finds_key(struct video_file *f, int64_t pts)
{
    bool key = false, behind = false;
    for (int i = 0; i < MAX_IDLE && !key && !behind; i++) {
        if (read_packet(f) < 0)
            return false;
        const AVPacket *p = f->packet;
        int64_t at = p->pts != AV_NOPTS_VALUE ? p->pts : p->dts;
        behind = at != AV_NOPTS_VALUE && at > pts;
        key = !behind && p->flags & AV_PKT_FLAG_KEY;
        av_packet_unref(f->packet);
    }
    return key;
}

// Finds the position *at for a seek to `pts`. Decoding begins at a key frame, but in a container
// without an index a seek can lead to any packet. So this goes back until a key frame is found
// before `pts`. Returns 0 or ERR_UNSUPPORTED.
static int find_key(struct video_file *f, int64_t pts, int64_t *at)
{
    AVRational second = {1, 1};
    for (int back = 0; back <= KEY_SEARCH; back = back ? 2 * back : 1) {
        *at = av_sat_sub64(pts, av_rescale_q(back, second, f->info.time_base));
        if (f->first_pts != AV_NOPTS_VALUE && *at < f->first_pts)
            *at = f->first_pts;
        if (media_input_seek(f->input, f->track, *at, AVSEEK_FLAG_BACKWARD) < 0)
            return ERR_UNSUPPORTED;
        if (finds_key(f, pts) || *at == f->first_pts)
            return 0;
    }
    *at = pts;
    return 0;
}

// The cover comes at the beginning, wherever the audio is.
static int seek_cover(struct video_file *f, int64_t pts)
{
    if (media_input_seek(f->input, -1, 0, AVSEEK_FLAG_BACKWARD) < 0 &&
        media_input_seek(f->input, f->track, 0, AVSEEK_FLAG_BYTE) < 0)
        return ERR_UNSUPPORTED;
    flush(f);
    f->next_pts = pts;
    return 0;
}

int64_t video_file_place(const struct video_file *f, int64_t *pts)
{
    usec_t time = av_rescale_q(*pts, f->info.time_base, AV_TIME_BASE_Q);
    const struct clock_mark *m = clock_marks_find(&f->marks, time);
    if (!m)
        return -1;
    *pts = av_rescale_q(m->stamp + time - m->time, AV_TIME_BASE_Q, f->info.time_base);
    return m->byte;
}

int video_file_seek(struct video_file *f, int64_t pts, int64_t place)
{
    // The frame that is visible at `pts` may have an earlier time stamp, and a key frame that has
    // only a DTS is shown later.
    AVRational near = {NEAR_FRAMES * f->info.fps.den, f->info.fps.num};
    int64_t at, early = av_sat_sub64(pts, av_rescale_q(1, near, f->info.time_base));
    if (f->is_cover)
        return seek_cover(f, pts);
    if (place < 0 && find_key(f, f->has_only_dts ? early : pts, &at) < 0)
        return ERR_UNSUPPORTED;
    if (media_input_seek(f->input, f->track, place < 0 ? at : place,
                         place < 0 ? AVSEEK_FLAG_BACKWARD : AVSEEK_FLAG_BYTE) < 0)
        return ERR_UNSUPPORTED;
    flush(f);
    f->next_pts = pts;
    f->wanted = early;
    return 0;
}

int video_file_rewind(struct video_file *f)
{
    int64_t first = f->first_pts == AV_NOPTS_VALUE ? 0 : f->first_pts;
    int64_t place = video_file_place(f, &first);
    if (video_file_seek(f, first, place) == 0)
        return 0;
    // A bare elementary stream has no index: seek to its first byte.
    if (media_input_seek(f->input, f->track, 0, AVSEEK_FLAG_BYTE) < 0)
        return ERR_UNSUPPORTED;
    flush(f);
    f->next_pts = first;
    return 0;
}
