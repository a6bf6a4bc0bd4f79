// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/stored_file.h"

#include <libavformat/avformat.h>
#include <libavutil/base64.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "media/rtp/hevc_payload.h"
#include "media/source/media_input.h"
#include "media/source/track_notes.h"

enum {
    MAX_FRAME = 16 << 20,  // bytes
    MAX_GROUP = 256 << 20, // bytes
    LENGTH = 4,            // bytes of the length before each NAL unit
    MAX_STRAY = 64 * 1024, // max. packets of earlier groups to skip
    AVCC_HEAD = 5,         // bytes of avcC before the SPS count (ISO/IEC 14496-15, 5.2.4.1)
    HVCC_HEAD = 22,        // bytes of hvcC before the number of arrays (8.3.3.1)
};

struct stored_file {
    char *path;                  // owned
    struct media_input *input;   // owned
    AVFormatContext *format;     // borrowed from `input`
    AVPacket *packet;            // owned
    int audio[SDP_AUDIO_TRACKS]; // streams of the audio tracks
    struct stored_info info;
    const AVCodecParameters *table; // borrowed from `format`; NULL: there is none
    int64_t next;                   // group at the file's read position; -1: unknown
    bool has_pending;               // `packet` is the first packet of group `next`
};

bool stored_file_is(const char *path)
{
    size_t len = strlen(path), suffix = strlen(STORED_SUFFIX);
    return len > suffix && strcmp(path + len - suffix, STORED_SUFFIX) == 0;
}

// ---- Opening

static int read_tags(struct stored_file *f)
{
    const AVDictionaryEntry *origin = av_dict_get(f->format->metadata, STORED_TAG_ORIGIN, NULL, 0);
    const AVDictionaryEntry *sdp = av_dict_get(f->format->metadata, STORED_TAG_SDP, NULL, 0);
    struct stored_info *info = &f->info;
    if (!origin || !sdp || stored_origin_decode(origin->value, &info->origin) != 0 ||
        sdp_decode(sdp->value, strlen(sdp->value), &info->sdp) != 0 ||
        info->sdp.ladder.level_count == 0 ||
        (info->sdp.codec != SDP_H264 && info->sdp.codec != SDP_HEVC) ||
        stored_plan_init(&info->plan, &info->sdp.ladder) != 0 ||
        info->origin.frames % info->plan.period != 0)
        return ERR_UNSUPPORTED;
    stored_plan_end(&info->plan, &info->sdp.ladder, info->origin.frames);
    info->sdp.source = SDP_SOURCE_FILE;
    info->has_own = av_dict_get(f->format->metadata, STORED_TAG_OWN, NULL, 0) != NULL;
    info->sdp.duration = (double)info->origin.frames / fps_value(info->sdp.ladder.source_fps);
    return 0;
}

// Appends `count` parameter sets, each with its length before it, as base64. Returns false if they
// are malformed or do not fit.
static bool put_sets(struct bytes *in, int count, char *out, size_t cap)
{
    while (count-- > 0) {
        if (bytes_left(in) < 2)
            return false;
        size_t len = bytes_u16(in), used = strlen(out);
        if (len == 0 || len > bytes_left(in) || used + 2 + AV_BASE64_SIZE(len) > cap)
            return false;
        if (used)
            out[used++] = ',';
        av_base64_encode(out + used, (int)(cap - used), bytes_take(in, len), (int)len);
    }
    return true;
}

// Converts a track's hvcC (ISO/IEC 14496-15, 8.3.3.1) to the SDP's format: VPS, SPS and PPS, which
// is the order of libavformat's arrays.
static int read_sets_hevc(struct stored_file *f, int size_id)
{
    const AVCodecParameters *p = f->format->streams[size_id]->codecpar;
    char *sprop = f->info.sizes[size_id].sprop;
    if (p->codec_id != AV_CODEC_ID_HEVC || p->extradata_size <= HVCC_HEAD || p->extradata[0] != 1 ||
        (p->extradata[21] & 3) != LENGTH - 1)
        return ERR_UNSUPPORTED;
    snprintf(f->info.sizes[size_id].profile, sizeof(f->info.sizes[size_id].profile), "%02x%02x%02x",
             p->extradata[1] & 0x1f, p->extradata[1] >> 5 & 1, p->extradata[12]);
    struct bytes in = bytes_of(p->extradata + HVCC_HEAD, (size_t)(p->extradata_size - HVCC_HEAD));
    for (int arrays = bytes_u8(&in), type = HEVC_VPS; arrays > 0; arrays--) {
        if (bytes_left(&in) < 3 || (bytes_u8(&in) & 0x3f) != type)
            return type > HEVC_PPS ? 0 : ERR_UNSUPPORTED; // SEI may follow
        int count = bytes_u16(&in);
        if (count != 1 || !put_sets(&in, count, sprop, sizeof(f->info.sizes[size_id].sprop)))
            return ERR_UNSUPPORTED;
        type++;
    }
    return 0;
}

// Converts a track's avcC (ISO/IEC 14496-15, 5.2.4.1) to the SDP's format (RFC 6184, 8.1).
static int read_sets(struct stored_file *f, int size_id)
{
    if (f->info.sdp.codec == SDP_HEVC)
        return read_sets_hevc(f, size_id);
    const AVCodecParameters *p = f->format->streams[size_id]->codecpar;
    char *sprop = f->info.sizes[size_id].sprop;
    size_t cap = sizeof(f->info.sizes[size_id].sprop);
    if (p->codec_id != AV_CODEC_ID_H264 || p->extradata_size < AVCC_HEAD + 2 ||
        p->extradata[0] != 1 || (p->extradata[4] & 3) != LENGTH - 1)
        return ERR_UNSUPPORTED;
    snprintf(f->info.sizes[size_id].profile, sizeof(f->info.sizes[size_id].profile), "%02x%02x%02x",
             p->extradata[1], p->extradata[2], p->extradata[3]);
    struct bytes in = bytes_of(p->extradata + AVCC_HEAD, (size_t)(p->extradata_size - AVCC_HEAD));
    if (!put_sets(&in, bytes_u8(&in) & 0x1f, sprop, cap) || bytes_left(&in) < 1 ||
        !put_sets(&in, bytes_u8(&in), sprop, cap))
        return ERR_UNSUPPORTED;
    return 0;
}

// Another file at this path has another size or another time of change.
static void set_validator(struct stored_file *f)
{
    struct stat st;
    if (media_input_stat(f->input, &st))
        snprintf(f->info.validator, sizeof(f->info.validator), "bytes=%lld mtime=%lld.%09ld",
                 (long long)st.st_size, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

static int open_all(struct stored_file *f, struct media_guard *guard)
{
    char reason[MEDIA_INPUT_REASON];
    int err;
    f->input = media_input_open(f->path, "matroska", guard, reason, &err);
    if (err)
        return err;
    f->format = media_input_format(f->input);
    f->packet = av_packet_alloc();
    err = f->packet ? read_tags(f) : ERR_NO_MEMORY;
    if (!err && (int)f->format->nb_streams < f->info.sdp.ladder.size_count)
        err = ERR_UNSUPPORTED;
    for (int i = 0; !err && i < f->info.sdp.ladder.size_count; i++)
        err = read_sets(f, i);
    // The Opus tracks after the sizes' tracks are the audio; further tracks are discarded.
    for (int i = f->info.sdp.ladder.size_count; !err && i < (int)f->format->nb_streams; i++) {
        AVStream *s = f->format->streams[i];
        int track = f->info.audio_track_count;
        if (track < SDP_AUDIO_TRACKS && s->codecpar->codec_id == AV_CODEC_ID_OPUS) {
            track_notes_name(s, f->info.audio_tracks[track], SDP_TRACK_NAME);
            f->audio[f->info.audio_track_count++] = i;
        } else {
            const AVDictionaryEntry *name = av_dict_get(s->metadata, "filename", NULL, 0);
            if (s->codecpar->codec_type == AVMEDIA_TYPE_ATTACHMENT && name &&
                strcmp(name->value, STORED_TABLE_NAME) == 0)
                f->table = s->codecpar;
            s->discard = AVDISCARD_ALL;
        }
    }
    f->info.audio = f->info.audio_track_count > 0;
    set_validator(f);
    return err;
}

struct stored_file *stored_file_open(const char *path, struct media_guard *guard, int *err)
{
    struct stored_file *f = calloc(1, sizeof(*f));
    *err = ERR_NO_MEMORY;
    if (!f)
        return NULL;
    f->path = strdup(path);
    f->next = -1;
    if (f->path)
        *err = open_all(f, guard);
    if (!*err)
        return f;
    log_error("%s: %s", path,
              *err == ERR_UNSUPPORTED ? "not a readable prepared file" : err_text(*err));
    stored_file_free(f);
    return NULL;
}

void stored_file_free(struct stored_file *f)
{
    if (!f)
        return;
    av_packet_free(&f->packet);
    media_input_free(f->input);
    free(f->path);
    free(f);
}

const struct stored_info *stored_file_info(const struct stored_file *f)
{
    return &f->info;
}

const uint8_t *stored_file_table(const struct stored_file *f, size_t *bytes)
{
    *bytes = f->table ? (size_t)f->table->extradata_size : 0;
    return *bytes ? f->table->extradata : NULL;
}

// ---- Reading

// Replaces the length before each NAL unit by a start code, in place, and fills in the frame's
// nals.
static int set_nals(struct coded_frame *f)
{
    for (size_t at = 0; at < f->bytes;) {
        struct bytes in = bytes_of(f->data + at, f->bytes - at);
        if (bytes_left(&in) < LENGTH || f->nal_count == CODED_FRAME_MAX_NALS)
            return ERR_MALFORMED;
        uint32_t len = bytes_u32(&in);
        if (len == 0 || len > bytes_left(&in))
            return ERR_MALFORMED;
        f->nals[f->nal_count++] = (struct nal){(uint32_t)at + LENGTH, len};
        memcpy(f->data + at, (const uint8_t[]){0, 0, 0, 1}, LENGTH);
        at += LENGTH + len;
    }
    return f->nal_count ? 0 : ERR_MALFORMED;
}

static const struct stored_shape *shape_of(const struct stored_file *f,
                                           const struct stored_group *g)
{
    return stored_plan_shape(&f->info.plan, g->index);
}

static int take_packet(const struct stored_file *f, struct stored_group *g, int size_id, int at)
{
    const struct stored_place *place = &shape_of(f, g)->places[size_id][at];
    size_t bytes = (size_t)f->packet->size;
    if (place->depends == STORED_NO_FRAME || g->at[size_id][at] || f->packet->size <= 0 ||
        bytes > MAX_FRAME || g->bytes + bytes > MAX_GROUP)
        return ERR_MALFORMED;
    struct coded_frame *frame = coded_frame_new(bytes);
    if (!frame)
        return ERR_NO_MEMORY;
    memcpy(frame->data, f->packet->data, bytes);
    frame->size_id = size_id;
    frame->temporal_id = place->temporal_id;
    frame->key = place->depends < 0;
    frame->reorder = place->slot - at;
    g->at[size_id][at] = frame;
    g->bytes += bytes;
    return set_nals(frame);
}

// Returns the audio track of the packet, from 0; -1: it is none.
static int track_of(const struct stored_file *f)
{
    int track = f->info.audio_track_count - 1;
    while (track >= 0 && f->audio[track] != f->packet->stream_index)
        track--;
    return track;
}

// Adds an audio packet to the group; skips packets that are too large or too many.
static void take_audio(const struct stored_file *f, struct stored_group *g, int track)
{
    const AVPacket *p = f->packet;
    struct stored_audio_list *other = track ? &g->other_audio[track - 1] : NULL;
    int *count = other ? &other->count : &g->audio_count;
    if (p->size <= 0 || p->size > AUDIO_PACKET_MAX_BYTES || p->pts == AV_NOPTS_VALUE ||
        *count == STORED_MAX_AUDIO)
        return;
    struct coded_audio *c = coded_audio_new();
    if (!c)
        return;
    c->position = av_rescale_q(p->pts, f->format->streams[f->audio[track]]->time_base,
                               (AVRational){1, AUDIO_RATE});
    c->bytes = (size_t)p->size;
    memcpy(c->data, p->data, c->bytes);
    c->track = track;
    (other ? other->at : g->audio)[(*count)++] = c;
}

// Reads the next packet into f->packet. *number: its source frame number; negative if it is not of
// a size's track. Returns 0, ERR_END, ERR_CLOSED or ERR_IO.
static int next_packet(struct stored_file *f, int64_t *number)
{
    struct fps fps = f->info.sdp.ladder.source_fps;
    if (!f->has_pending) {
        av_packet_unref(f->packet);
        int r = media_input_read(f->input, f->packet);
        if (r < 0)
            return r == AVERROR_EOF ? ERR_END : r == AVERROR_EXIT ? ERR_CLOSED : ERR_IO;
    }
    f->has_pending = false;
    int i = f->packet->stream_index;
    *number = -1;
    if (i < f->info.sdp.ladder.size_count && f->packet->pts != AV_NOPTS_VALUE)
        *number = av_rescale_q(f->packet->pts, f->format->streams[i]->time_base,
                               (AVRational){fps.den, fps.num});
    return 0;
}

// Reads the group's packets up to the first packet of a later group, which stays pending, or to the
// end.
static int read_packets(struct stored_file *f, struct stored_group *g)
{
    int64_t begin = g->index * f->info.plan.gop;
    for (int stray = 0; stray < MAX_STRAY;) {
        int64_t number;
        int err = next_packet(f, &number);
        if (err)
            return err == ERR_END ? 0 : err;
        if (number >= begin + f->info.plan.gop) {
            f->has_pending = true;
            f->next = g->index + 1;
            return 0;
        }
        int track = track_of(f);
        if (track >= 0)
            take_audio(f, g, track);
        else if (number < begin)
            stray++;
        else if ((err = take_packet(f, g, f->packet->stream_index, (int)(number - begin))) != 0)
            return err;
    }
    return ERR_MALFORMED;
}

// Returns the place of a size's first frame in each group.
static int first_place(const struct stored_plan *plan, int size_id)
{
    int at = 0;
    while (plan->full.places[size_id][at].depends == STORED_NO_FRAME)
        at++;
    return at;
}

// Seeks to the first packet of the group: the key frame of the size whose first frame is earliest.
static int go_to(struct stored_file *f, int64_t group)
{
    if (f->next == group)
        return 0;
    const struct ladder *l = &f->info.sdp.ladder;
    int first = 0;
    for (int i = 1; i < l->size_count; i++)
        if (first_place(&f->info.plan, i) < first_place(&f->info.plan, first))
            first = i;
    int64_t number = group * f->info.plan.gop + first_place(&f->info.plan, first);
    int64_t at = av_rescale_q(number, (AVRational){l->source_fps.den, l->source_fps.num},
                              f->format->streams[first]->time_base);
    f->has_pending = false;
    return media_input_seek(f->input, first, at, AVSEEK_FLAG_BACKWARD) < 0 ? ERR_IO : 0;
}

// Returns true if the group has every frame of the plan.
static bool is_whole(const struct stored_file *f, const struct stored_group *g)
{
    for (int size = 0; size < f->info.sdp.ladder.size_count; size++)
        for (int at = 0; at < g->frames; at++)
            if (!g->at[size][at] && shape_of(f, g)->places[size][at].depends != STORED_NO_FRAME)
                return false;
    return true;
}

int stored_file_read(struct stored_file *f, int64_t group, struct stored_group **out)
{
    const struct stored_plan *plan = &f->info.plan;
    struct fps fps = f->info.sdp.ladder.source_fps;
    *out = NULL;
    struct stored_group *g = calloc(1, sizeof(*g));
    if (!g)
        return ERR_NO_MEMORY;
    g->index = group;
    g->frames = stored_plan_shape(plan, group)->frames;
    int err = go_to(f, group);
    f->next = -1;
    err = err ? err : read_packets(f, g);
    if (!err && !is_whole(f, g))
        err = ERR_MALFORMED;
    if (!err) {
        *out = g;
        return 0;
    }
    if (err != ERR_CLOSED) // ERR_CLOSED: the caller stopped the reading
        log_error("%s: the prepared file is damaged at %.0f s (%s)", f->path,
                  (double)(group * plan->gop) / fps_value(fps), err_text(err));
    stored_group_free(g);
    return err == ERR_NO_MEMORY ? err : ERR_IO;
}
