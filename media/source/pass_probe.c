// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/pass_probe.h"

#include <libavcodec/avcodec.h>
#include <libavutil/pixfmt.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "media/source/video_file.h"

enum { MAX_SECONDS = 40, MAX_BYTES = 64 << 20 };

static struct pass_video properties_of(const struct video_file *f)
{
    const AVCodecParameters *p = video_file_parameters(f);
    const struct video_info *info = video_file_info(f);
    return (struct pass_video){
        .is_h264 = p->codec_id == AV_CODEC_ID_H264,
        .is_420 = p->format == AV_PIX_FMT_YUV420P || p->format == AV_PIX_FMT_YUVJ420P,
        .is_interlaced = p->field_order > AV_FIELD_PROGRESSIVE,
        .is_upright = info->turn.quarters == 0 && !info->turn.flipped,
        .is_square = info->aspect.num == info->aspect.den,
        .width = p->width,
        .height = p->height,
        .fps = info->fps,
        .is_fast = info->is_faster,
    };
}

static int add_key(struct pass_keys *k, int64_t number)
{
    if (k->count == k->room) {
        int room = k->room ? 2 * k->room : 256;
        int64_t *at = realloc(k->at, (size_t)room * sizeof(*at));
        if (!at)
            return ERR_NO_MEMORY;
        k->at = at;
        k->room = room;
    }
    k->at[k->count++] = number;
    return 0;
}

// Adds the file's units, all of them if `keys` is not NULL. The first one, an IDR, is also the
// first one that is shown.
static int add_units(struct video_file *f, struct coded_units *u, struct pass_check *c,
                     struct pass_keys *keys)
{
    AVRational base = video_file_info(f)->time_base;
    struct fps fps = video_file_info(f)->fps;
    double interval = (double)fps.den / fps.num / av_q2d(base); // in units of the time base
    int64_t first = AV_NOPTS_VALUE;
    bool goes_on = true;
    size_t bytes = 0;
    int err = 0;
    while (goes_on && !err &&
           (keys || (c->count * fps.den < (int64_t)MAX_SECONDS * fps.num && bytes < MAX_BYTES)) &&
           video_file_skim(f) == 0) {
        AVPacket *p = video_file_take_packet(f);
        if (!p)
            return ERR_NO_MEMORY;
        first = first == AV_NOPTS_VALUE ? p->pts : first;
        struct pass_frame frame = {
            .is_key = p->flags & AV_PKT_FLAG_KEY,
            .is_hidden = p->flags & AV_PKT_FLAG_DISCARD,
            .has_time = p->pts != AV_NOPTS_VALUE,
            .bytes = (size_t)p->size,
        };
        frame.time = frame.has_time ? (double)av_sat_sub64(p->pts, first) / interval : 0;
        size_t len;
        const uint8_t *config = av_packet_get_side_data(p, AV_PKT_DATA_NEW_EXTRADATA, &len);
        if (config)
            (void)coded_units_configure(u, config, len);
        frame.is_whole = coded_units_look(u, p->data, (size_t)p->size, &frame.unit) == 0;
        if (keys && frame.is_whole && frame.unit.idr)
            err = add_key(keys, c->count);
        goes_on = pass_check_add(c, &frame);
        bytes += frame.bytes;
        av_packet_free(&p);
    }
    if (keys)
        keys->frames = c->count;
    return err;
}

static int probe(const char *path, int max_bps, struct media_guard *guard, struct pass_probe *out,
                 struct pass_keys *keys)
{
    int err;
    struct video_file *f = video_file_open(path, false, guard, &err);
    *out = (struct pass_probe){0};
    if (!f)
        return err;
    struct pass_video video = properties_of(f);
    struct pass_check check;
    struct coded_units units;
    const AVCodecParameters *p = video_file_parameters(f);
    bool is_read = p->extradata_size >= 0 &&
                   coded_units_init(&units, p->extradata, (size_t)p->extradata_size) == 0 &&
                   coded_units_describe(&units, &out->coded) == 0;
    pass_check_init(&check, &video);
    if (is_read && check.verdict == PASS_YES)
        err = add_units(f, &units, &check, keys);
    out->verdict = pass_check_end(&check, &out->coded.bitrate_bps);
    if (check.verdict == PASS_YES && !is_read)
        out->verdict = PASS_BROKEN;
    if (p->bit_rate > out->coded.bitrate_bps && p->bit_rate < INT32_MAX) // of the whole film
        out->coded.bitrate_bps = (int)p->bit_rate;
    if (out->verdict == PASS_YES && out->coded.bitrate_bps > max_bps)
        out->verdict = PASS_HIGH_RATE;
    out->coded.reorders = check.reorders;
    out->coded.passes = out->verdict == PASS_YES;
    video_file_free(f);
    return err;
}

int pass_probe_file(const char *path, int max_bps, struct media_guard *guard,
                    struct pass_probe *out)
{
    return probe(path, max_bps, guard, out, NULL);
}

int pass_probe_whole(const char *path, int max_bps, struct media_guard *guard,
                     struct pass_probe *out, struct pass_keys *keys)
{
    *keys = (struct pass_keys){0};
    return probe(path, max_bps, guard, out, keys);
}

void pass_keys_free(struct pass_keys *keys)
{
    free(keys->at);
    *keys = (struct pass_keys){0};
}
