// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/stored_mux.h"

#include <errno.h>
#include <libavformat/avformat.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/rtp/h264.h"
#include "media/rtp/hevc_payload.h"
#include "media/stored/stored_audio.h"
#include "media/stored/stored_parts.h"

enum { OUT_BYTES = 64 * 1024 };

struct muxing {
    const struct stored_mux *m;
    AVFormatContext *format; // owned
    AVPacket *packet;        // owned
    FILE *out;               // owned
    FILE *group;             // owned: the part being read
    int64_t next_group;
    // The next record of each; the data is owned, NULL at the end.
    struct stored_record video_head;
    uint8_t *video;
    struct {
        FILE *file; // owned
        struct stored_record head;
        uint8_t *data;
    } audio[SDP_AUDIO_TRACKS];
};

static int next_video(struct muxing *x)
{
    free(x->video);
    x->video = NULL;
    for (;;) {
        int err = x->group ? stored_part_next(x->group, &x->video_head, &x->video) : ERR_END;
        if (!err && x->video_head.track == STORED_QUALITY) {
            free(x->video);
            x->video = NULL;
            continue;
        }
        if (err != ERR_END)
            return err;
        if (x->group)
            fclose(x->group);
        x->group = NULL;
        if (x->next_group == x->m->groups)
            return 0;
        x->group = stored_part_read(x->m->folder, x->next_group++);
        if (!x->group)
            return ERR_IO;
    }
}

static int next_audio(struct muxing *x, int track)
{
    free(x->audio[track].data);
    x->audio[track].data = NULL;
    int err = stored_part_next(x->audio[track].file, &x->audio[track].head, &x->audio[track].data);
    return err == ERR_END ? 0 : err;
}

static bool is_parameter_set(enum sdp_codec codec, uint8_t first_byte)
{
    if (codec == SDP_HEVC) {
        enum hevc_nal_type type = hevc_nal_type_of(first_byte);
        return type >= HEVC_VPS && type <= HEVC_PPS;
    }
    enum h264_nal_type type = h264_nal_type_of(first_byte);
    return type == H264_SPS || type == H264_PPS;
}

// Moves the parameter sets of a key frame (Annex B, which the muxer accepts) to its beginning; a
// film's own frames may have others before and between them. Returns their length.
static size_t gather_parameters(enum sdp_codec codec, uint8_t *data, size_t len)
{
    size_t used = 0;
    for (size_t at = 0, next; at + 5 <= len; at = next) {
        next = at + 5;
        while (next + 4 <= len && memcmp(data + next, (const uint8_t[]){0, 0, 0, 1}, 4) != 0)
            next++;
        if (next + 4 > len)
            next = len;
        if (!is_parameter_set(codec, data[at + 4]))
            continue;
        memmove(data + used, data + at, next - at);
        used += next - at;
    }
    return used;
}

static int set_extradata(AVStream *s, const uint8_t *data, size_t len)
{
    s->codecpar->extradata = av_mallocz(len + AV_INPUT_BUFFER_PADDING_SIZE);
    if (!s->codecpar->extradata)
        return ERR_NO_MEMORY;
    memcpy(s->codecpar->extradata, data, len);
    s->codecpar->extradata_size = (int)len;
    return 0;
}

static int add_video(struct muxing *x, int size_id)
{
    const struct size_spec *size = &x->m->sdp->ladder.sizes[size_id];
    AVStream *s = avformat_new_stream(x->format, NULL);
    if (!s)
        return ERR_NO_MEMORY;
    s->codecpar->codec_type = AVMEDIA_TYPE_VIDEO;
    s->codecpar->codec_id = x->m->sdp->codec == SDP_HEVC ? AV_CODEC_ID_HEVC : AV_CODEC_ID_H264;
    s->codecpar->width = size->width;
    s->codecpar->height = size->height;
    s->time_base = (AVRational){1, 1000};
    s->avg_frame_rate = (AVRational){size->fps.num, size->fps.den};
    if (size_id == x->m->sdp->ladder.size_count - 1)
        s->disposition = AV_DISPOSITION_DEFAULT;
    return 0;
}

// Takes each size's parameter sets from its first frame.
static int find_parameters(struct muxing *x)
{
    FILE *f = stored_part_read(x->m->folder, 0);
    int missing = x->m->sdp->ladder.size_count, err = f ? 0 : ERR_IO;
    while (!err && missing > 0) {
        struct stored_record r;
        uint8_t *data;
        err = stored_part_next(f, &r, &data);
        if (!err && r.track >= (uint32_t)x->m->sdp->ladder.size_count) {
            free(data);
            err = ERR_IO;
        }
        if (err)
            break;
        AVStream *s = x->format->streams[r.track];
        if (!s->codecpar->extradata) {
            err = set_extradata(s, data, gather_parameters(x->m->sdp->codec, data, r.bytes));
            missing--;
        }
        free(data);
    }
    if (f)
        fclose(f);
    return err;
}

// The name has the language and the title, as of track_notes_name: a language has three letters.
static int set_name(AVStream *s, const char *name)
{
    size_t letters = strcspn(name, ",");
    bool has_language = letters == 3 && (!name[3] || name[4] == ' ');
    char language[4];
    snprintf(language, sizeof(language), "%.3s", name);
    const char *title = !has_language ? name : name[3] ? name + 5 : "";
    if (has_language && av_dict_set(&s->metadata, "language", language, 0) < 0)
        return ERR_NO_MEMORY;
    return !*title || av_dict_set(&s->metadata, "title", title, 0) >= 0 ? 0 : ERR_NO_MEMORY;
}

static int add_audio(struct muxing *x, int track)
{
    struct stored_record head;
    uint8_t *data;
    FILE *in = x->audio[track].file = stored_part_read(x->m->folder, x->m->audio[track].part);
    if (!in || stored_part_next(in, &head, &data) != 0)
        return ERR_IO;
    AVStream *s = avformat_new_stream(x->format, NULL);
    int err = s ? set_extradata(s, data, head.bytes) : ERR_NO_MEMORY;
    int channels = head.bytes > 9 ? data[9] : 2; // RFC 7845, 5.1
    free(data);
    if (err)
        return err;
    s->codecpar->codec_type = AVMEDIA_TYPE_AUDIO;
    s->codecpar->codec_id = AV_CODEC_ID_OPUS;
    s->codecpar->sample_rate = STORED_AUDIO_RATE;
    s->codecpar->initial_padding = (int)head.at;
    av_channel_layout_default(&s->codecpar->ch_layout, channels);
    s->time_base = (AVRational){1, 1000};
    s->disposition = track ? 0 : AV_DISPOSITION_DEFAULT;
    return set_name(s, x->m->audio[track].name);
}

static int add_table(struct muxing *x)
{
    AVStream *s = x->m->table ? avformat_new_stream(x->format, NULL) : NULL;
    if (!s)
        return x->m->table ? ERR_NO_MEMORY : 0;
    s->codecpar->codec_type = AVMEDIA_TYPE_ATTACHMENT;
    bool good = av_dict_set(&s->metadata, "filename", STORED_TABLE_NAME, 0) >= 0 &&
                av_dict_set(&s->metadata, "mimetype", "application/octet-stream", 0) >= 0;
    return good ? set_extradata(s, x->m->table, x->m->table_bytes) : ERR_NO_MEMORY;
}

struct times { // in units of `base`
    int64_t pts;
    int64_t dts;
    AVRational base;
};

static int write_packet(struct muxing *x, const struct stored_record *r, const uint8_t *data,
                        int stream, const struct times *at, bool key)
{
    AVStream *s = x->format->streams[stream];
    av_packet_unref(x->packet);
    if (av_new_packet(x->packet, (int)r->bytes) < 0)
        return ERR_NO_MEMORY;
    memcpy(x->packet->data, data, r->bytes);
    x->packet->stream_index = stream;
    x->packet->pts = av_rescale_q(at->pts, at->base, s->time_base);
    x->packet->dts = av_rescale_q(at->dts, at->base, s->time_base);
    x->packet->flags = key ? AV_PKT_FLAG_KEY : 0;
    int err = av_write_frame(x->format, x->packet);
    if (err < 0)
        log_error("%s: cannot write the file (%s)", x->m->path, av_err2str(err));
    return err < 0 ? ERR_IO : 0;
}

// Frames are in decoding order. The DTS is the slot's time minus an offset that makes each DTS at
// most the frame's PTS.
static int write_video(struct muxing *x)
{
    const struct ladder *l = &x->m->sdp->ladder;
    const struct size_spec *size = &l->sizes[x->video_head.track];
    int64_t gop = x->m->plan->gop, number = x->video_head.at;
    const struct stored_place *place =
        &stored_plan_shape(x->m->plan, number / gop)->places[x->video_head.track][number % gop];
    int64_t apart = (int64_t)ceil(fps_value(l->source_fps) / fps_value(size->fps));
    struct times at = {.pts = number,
                       .dts = number - number % gop + place->slot - (size->layers - 1) * apart,
                       .base = {l->source_fps.den, l->source_fps.num}};
    return write_packet(x, &x->video_head, x->video, (int)x->video_head.track, &at,
                        place->depends == -1);
}

// Returns the audio track whose next packet is the earliest; -1: none has one.
static int earliest_audio(const struct muxing *x)
{
    int first = -1;
    for (int i = 0; i < x->m->audio_count; i++)
        if (x->audio[i].data && (first < 0 || x->audio[i].head.at < x->audio[first].head.at))
            first = i;
    return first;
}

static int write_all(struct muxing *x)
{
    struct fps fps = x->m->sdp->ladder.source_fps;
    AVRational video = {fps.den, fps.num}, audio = {1, STORED_AUDIO_RATE};
    int err = next_video(x);
    for (int i = 0; i < x->m->audio_count && !err; i++)
        err = next_audio(x, i);
    for (int next; !err && ((next = earliest_audio(x)) >= 0 || x->video);) {
        const struct stored_record *head = next < 0 ? NULL : &x->audio[next].head;
        if (head && (!x->video || av_compare_ts(head->at, audio, x->video_head.at, video) < 0)) {
            struct times at = {head->at, head->at, audio};
            err = write_packet(x, head, x->audio[next].data, x->m->sdp->ladder.size_count + next,
                               &at, true);
            err = err ? err : next_audio(x, next);
            continue;
        }
        err = write_video(x);
        err = err ? err : next_video(x);
    }
    return err;
}

static int set_tags(struct muxing *x)
{
    char origin[STORED_TAG_MAX];
    char *sdp = malloc(SDP_MAX_BYTES);
    bool good = sdp && stored_origin_encode(&x->m->origin, origin, sizeof(origin)) > 0 &&
                sdp_encode(x->m->sdp, false, sdp, SDP_MAX_BYTES) > 0 &&
                av_dict_set(&x->format->metadata, STORED_TAG_ORIGIN, origin, 0) >= 0 &&
                av_dict_set(&x->format->metadata, STORED_TAG_SDP, sdp, 0) >= 0;
    if (good && x->m->sdp->ladder.passes) // the SDP does not tell
        good = av_dict_set(&x->format->metadata, STORED_TAG_OWN, "1", 0) >= 0;
    free(sdp);
    return good ? 0 : ERR_NO_MEMORY;
}

// ---- The output file. Not opened by libavformat, which would follow a symbolic link.

static int write_out(void *ctx, uint8_t *data, int size)
{
    struct muxing *x = ctx;
    return fwrite(data, 1, (size_t)size, x->out) == (size_t)size ? size : AVERROR(errno);
}

static int64_t seek_out(void *ctx, int64_t at, int whence)
{
    struct muxing *x = ctx;
    struct stat st;
    if (whence & AVSEEK_SIZE)
        return fflush(x->out) == 0 && fstat(fileno(x->out), &st) == 0 ? st.st_size : AVERROR(errno);
    return fseeko(x->out, at, whence & ~AVSEEK_FORCE) == 0 ? ftello(x->out) : AVERROR(errno);
}

static int open_out(struct muxing *x, const char *path)
{
    x->out = stored_work_open(path, true);
    if (!x->out)
        return ERR_IO;
    uint8_t *buffer = av_malloc(OUT_BYTES);
    x->format->pb =
        buffer ? avio_alloc_context(buffer, OUT_BYTES, 1, x, NULL, write_out, seek_out) : NULL;
    if (!x->format->pb)
        av_free(buffer);
    return x->format->pb ? 0 : ERR_NO_MEMORY;
}

// Flushes the file to the disk. The caller renames it and removes the parts only after that:
// otherwise a power cut could lose both.
static int close_out(struct muxing *x, const char *path, int err)
{
    if (x->format && x->format->pb) {
        avio_flush(x->format->pb);
        if (!err && x->format->pb->error < 0) {
            log_error("%s: cannot write the file (%s)", path, av_err2str(x->format->pb->error));
            err = ERR_IO;
        }
        av_freep(&x->format->pb->buffer);
        avio_context_free(&x->format->pb);
    }
    if (!x->out)
        return err;
    bool good = fflush(x->out) == 0 && fdatasync(fileno(x->out)) == 0;
    int reason = errno;
    good &= fclose(x->out) == 0;
    if (good || err)
        return err;
    log_error("%s: %s", path, strerror(reason));
    return ERR_IO;
}

static int run(struct muxing *x, const char *path)
{
    if (avformat_alloc_output_context2(&x->format, NULL, "matroska", NULL) < 0 ||
        !(x->packet = av_packet_alloc()))
        return ERR_NO_MEMORY;
    x->format->avoid_negative_ts =
        AVFMT_AVOID_NEG_TS_DISABLED; // the encoder's delay puts the first audio before 0
    int err = set_tags(x);
    for (int i = 0; i < x->m->sdp->ladder.size_count && !err; i++)
        err = add_video(x, i);
    err = err ? err : find_parameters(x);
    for (int i = 0; i < x->m->audio_count && !err; i++)
        err = add_audio(x, i);
    err = err ? err : add_table(x);
    if (err)
        return err;
    err = open_out(x, path);
    if (err)
        return err;
    int r = avformat_write_header(x->format, NULL);
    if (r < 0) {
        log_error("%s: cannot write the file (%s)", path, av_err2str(r));
        return ERR_IO;
    }
    err = write_all(x);
    r = av_write_trailer(x->format);
    if (!err && r < 0) {
        log_error("%s: cannot write the file (%s)", path, av_err2str(r));
        err = ERR_IO;
    }
    return err;
}

int stored_mux_run(const struct stored_mux *m)
{
    char path[PATH_MAX];
    struct muxing x = {.m = m};
    if (snprintf(path, sizeof(path), "%s.new", m->path) >= (int)sizeof(path))
        return ERR_IO;
    int err = run(&x, path);
    free(x.video);
    if (x.group)
        fclose(x.group);
    for (int i = 0; i < m->audio_count; i++) {
        free(x.audio[i].data);
        if (x.audio[i].file)
            fclose(x.audio[i].file);
    }
    bool made = x.out;
    err = close_out(&x, path, err);
    avformat_free_context(x.format);
    av_packet_free(&x.packet);
    if (!err && rename(path, m->path) != 0) {
        log_error("%s: %s", m->path, strerror(errno));
        err = ERR_IO;
    }
    if (err && made)
        unlink(path);
    return err;
}
