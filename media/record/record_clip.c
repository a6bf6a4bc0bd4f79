// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/record_clip.h"

#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/err.h"
#include "media/coded/audio.h"
#include "media/record/policy/clip_times.h"
#include "media/record/record_past.h"
#include "media/record/record_streams.h"

enum { BUFFER_BYTES = 64 * 1024, VIDEO = 0, AUDIO = 1 };

struct record_clip {
    struct record_past *past; // owned
    usec_t from, to;
    bool has_found;
    AVFormatContext *format; // owned; NULL: no group was read
    AVPacket *packet;        // owned
    struct clip_times times;
    int64_t last_audio; // time of the newest packet
    uint8_t *out;       // owned: what was not handed out
    size_t bytes;
    size_t room;
    bool has_failed; // no memory
    int over;        // what every further call returns: what failed may be half made
};

// ---- The container

static int write_out(void *ctx, uint8_t *data, int size)
{
    struct record_clip *c = ctx;
    if (c->room - c->bytes < (size_t)size) {
        size_t room = 2 * c->room + (size_t)size;
        uint8_t *more = realloc(c->out, room);
        if (!more) {
            c->has_failed = true;
            return AVERROR(ENOMEM);
        }
        c->out = more;
        c->room = room;
    }
    memcpy(c->out + c->bytes, data, (size_t)size);
    c->bytes += (size_t)size;
    return size;
}

static bool has_audio(const struct record_group *g)
{
    for (int i = 0; i < g->count; i++)
        if (g->items[i].is_audio)
            return true;
    return false;
}

static int add_streams(struct record_clip *c, const struct record_group *g,
                       const struct record_past_item *key)
{
    struct record_packet *p = record_packet_new(key->len);
    if (!p)
        return ERR_NO_MEMORY;
    memcpy(p->data, key->data, key->len);
    int err = record_streams_video(c->format, p);
    free(p);
    if (!err && has_audio(g))
        err = record_streams_audio(c->format);
    if (!err && c->format->nb_streams > AUDIO)
        c->format->streams[AUDIO]->codecpar->frame_size = AUDIO_PACKET;
    return err == ERR_MALFORMED ? ERR_UNSUPPORTED : err;
}

static int write_header(struct record_clip *c, usec_t wall)
{
    AVDictionary *options = NULL;
    char text[40] = "";
    struct tm tm;
    time_t seconds = (time_t)(wall / USEC_PER_SEC);
    if (gmtime_r(&seconds, &tm))
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
    av_dict_set(&c->format->metadata, "creation_time", text, 0);
    av_dict_set_int(&options, "video_track_timescale", 1000, 0); // as the recording has
    av_dict_set(&options, "movflags", "empty_moov+frag_custom+default_base_moof", 0);
    int r = avformat_write_header(c->format, &options);
    av_dict_free(&options);
    return r < 0 ? ERR_NO_MEMORY : 0;
}

static int open_output(struct record_clip *c, const struct record_group *g,
                       const struct record_past_item *key)
{
    if (avformat_alloc_output_context2(&c->format, NULL, "mp4", NULL) < 0 ||
        !(c->packet = av_packet_alloc()))
        return ERR_NO_MEMORY;
    uint8_t *buffer = av_malloc(BUFFER_BYTES);
    c->format->pb =
        buffer ? avio_alloc_context(buffer, BUFFER_BYTES, 1, c, NULL, write_out, NULL) : NULL;
    if (!c->format->pb) {
        av_free(buffer);
        return ERR_NO_MEMORY;
    }
    c->format->pb->seekable = 0;
    int err = add_streams(c, g, key);
    return err ? err : write_header(c, key->wall);
}

// ---- Groups

static int write_packet(struct record_clip *c, const struct record_past_item *i, int stream,
                        const struct clip_picture *at, usec_t duration)
{
    static const AVRational us = {1, USEC_PER_SEC};
    AVRational base = c->format->streams[stream]->time_base;
    *c->packet = (AVPacket){.data = i->data,
                            .size = (int)i->len,
                            .stream_index = stream,
                            .dts = av_rescale_q(at->decode, us, base),
                            .pts = av_rescale_q(at->show, us, base),
                            .duration = av_rescale_q(duration, us, base),
                            .pos = -1,
                            .flags = i->is_audio || i->key ? AV_PKT_FLAG_KEY : 0};
    int r = av_write_frame(c->format, c->packet);
    *c->packet = (AVPacket){0}; // the data is borrowed
    return r < 0 || c->has_failed ? ERR_NO_MEMORY : 0;
}

static int write_audio(struct record_clip *c, const struct record_past_item *i)
{
    usec_t time = clip_times_audio(&c->times, i->wall);
    struct clip_picture at = {.decode = time, .show = time};
    if (c->format->nb_streams <= AUDIO || time <= c->last_audio)
        return 0;
    c->last_audio = time;
    return write_packet(c, i, AUDIO, &at, usec_of_frames(AUDIO_PACKET, AUDIO_RATE, 1));
}

// Takes the pictures out of a group. Those before its key frame's that depend on an earlier group
// are left out of the first one. Returns their number.
static int take_pictures(const struct record_clip *c, const struct record_group *g,
                         struct clip_picture *pictures, const struct record_past_item **of)
{
    int count = 0;
    for (int i = 0; i < g->count; i++) {
        const struct record_past_item *item = &g->items[i];
        bool leads = count && !c->times.has_begun && item->wall < of[0]->wall;
        if (item->is_audio || leads || (!count && !item->key && !c->times.has_begun))
            continue;
        pictures[count] = (struct clip_picture){.wall = item->wall};
        of[count++] = item;
    }
    return count;
}

static int write_pictures(struct record_clip *c, const struct clip_picture *pictures, int count,
                          const struct record_past_item *const *of)
{
    int err = 0;
    for (int i = 0; i < count && !err; i++) {
        usec_t next = i + 1 < count ? pictures[i + 1].decode - pictures[i].decode : c->times.apart;
        err = write_packet(c, of[i], VIDEO, &pictures[i], next);
    }
    return err;
}

// Returns 0; ERR_END: the group begins where the clip ends; ERR_AGAIN: it has no pictures.
static int write_group(struct record_clip *c, const struct record_group *g)
{
    size_t room = (size_t)g->count + 1;
    struct clip_picture *pictures = calloc(room, sizeof(*pictures));
    const struct record_past_item **of = calloc(room, sizeof(const struct record_past_item *));
    int count = pictures && of ? take_pictures(c, g, pictures, of) : 0;
    bool is_behind = !count && record_past_file(c->past) >= c->to;
    int err = !pictures || !of ? ERR_NO_MEMORY : is_behind ? ERR_END : !count ? ERR_AGAIN : 0;
    if (!err && of[0]->wall >= c->to)
        err = ERR_END;
    if (!err && !c->format)
        err = open_output(c, g, of[0]);
    if (!err) {
        clip_times_group(&c->times, pictures, count);
        err = write_pictures(c, pictures, count, of);
    }
    for (int i = 0; i < g->count && !err; i++)
        if (g->items[i].is_audio)
            err = write_audio(c, &g->items[i]);
    free(of);
    free(pictures);
    return err;
}

static int hand_out(struct record_clip *c, uint8_t **out, size_t *bytes)
{
    int r = av_write_frame(c->format, NULL); // ends the fragment
    avio_flush(c->format->pb);
    if (r < 0 || c->has_failed)
        return ERR_NO_MEMORY;
    *out = c->out;
    *bytes = c->bytes;
    c->out = NULL;
    c->bytes = c->room = 0;
    return 0;
}

// The group at the key frame before `from` may be one of long before a gap.
static bool is_before(const struct record_clip *c, const struct record_group *g)
{
    return !c->format && g->count && g->items[g->count - 1].wall < c->from;
}

static int next_group(struct record_clip *c, uint8_t **out, size_t *bytes)
{
    int err = c->has_found ? 0 : record_past_find(c->past, c->from);
    c->has_found = true;
    while (!err) {
        struct record_group *g;
        err = record_past_read(c->past, &g);
        if (err)
            break;
        err = is_before(c, g) ? ERR_AGAIN : write_group(c, g);
        record_group_free(g);
        if (!err)
            return hand_out(c, out, bytes);
        err = err == ERR_AGAIN ? 0 : err;
    }
    if (err == ERR_AGAIN || err == ERR_END)
        return c->format ? ERR_END : ERR_NOT_FOUND;
    return err;
}

int record_clip_next(struct record_clip *c, uint8_t **out, size_t *bytes)
{
    if (!c->over)
        c->over = next_group(c, out, bytes);
    return c->over;
}

struct record_clip *record_clip_new(const char *pattern, usec_t from, usec_t to)
{
    struct record_clip *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->from = from;
    c->to = to;
    c->last_audio = -1;
    c->past = record_past_new(pattern);
    if (c->past)
        return c;
    free(c);
    return NULL;
}

void record_clip_free(struct record_clip *c)
{
    if (!c)
        return;
    if (c->format && c->format->pb) {
        av_freep(&c->format->pb->buffer);
        avio_context_free(&c->format->pb);
    }
    avformat_free_context(c->format);
    av_packet_free(&c->packet);
    record_past_free(c->past);
    free(c->out);
    free(c);
}
