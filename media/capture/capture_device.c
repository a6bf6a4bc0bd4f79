// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/capture_device.h"

#include <inttypes.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "media/capture/capture_library.h"
#include "media/capture/policy/capture_mode.h"
#include "media/capture/policy/frame_grid.h"
#include "media/capture/v4l2_modes.h"
#include "media/convert/convert.h"

struct capture_device {
    AVFormatContext *format; // owned
    AVCodecContext *codec;   // owned
    AVPacket *packet;        // owned, empty between calls
    bool camera;
    bool ends;      // at least one of the device's JPEGs ended with the EOI marker
    int64_t broken; // pictures that did not decode
};

// Translates a system error into a sentence for the user.
static int explain(const struct capture_target *t, int averror, char *reason, size_t cap)
{
    switch (averror) {
    case AVERROR(ENOENT):
    case AVERROR(ENODEV):
    case AVERROR(ENXIO):
        return err_say(reason, cap, ERR_NOT_FOUND, "%s: no such device", t->name);
    case AVERROR(EBUSY):
        return err_say(reason, cap, ERR_IO, "%s: the device is in use by another program", t->name);
    case AVERROR(EACCES):
    case AVERROR(EPERM):
        return err_say(reason, cap, ERR_IO,
                       "%s: permission denied (is this user in the group video?)", t->name);
    case AVERROR(ENOMEM):
        return err_say(reason, cap, ERR_NO_MEMORY, "%s: no memory", t->name);
    default:
        return err_say(reason, cap, ERR_IO, "%s: %s", t->name, av_err2str(averror));
    }
}

// ---- Which mode to request ----

static void set_geometry(AVDictionary **options, struct geometry g, bool size)
{
    char text[32];
    snprintf(text, sizeof(text), "%dx%d", g.width, g.height);
    if (size)
        av_dict_set(options, "video_size", text, 0);
    snprintf(text, sizeof(text), "%d/%d", g.fps.num, g.fps.den);
    av_dict_set(options, "framerate", text, 0);
}

static int choose_mode(const struct capture_target *t, AVDictionary **options,
                       struct capture_choice *choice, char *reason, size_t cap)
{
    struct capture_mode modes[CAPTURE_MAX_MODES];
    char name[64];
    int count = v4l2_modes(t->name, name, sizeof(name), modes);
    if (count == ERR_NOT_FOUND)
        return explain(t, AVERROR(ENOENT), reason, cap);
    if (count == ERR_IO)
        return explain(t, AVERROR(errno), reason, cap);
    if (count == ERR_UNSUPPORTED)
        return err_say(reason, cap, ERR_UNSUPPORTED, "%s: not a camera", t->name);
    if (!capture_choose(modes, count, t->requested, choice))
        return err_say(reason, cap, ERR_UNSUPPORTED,
                       "%s: the camera offers no format that Weir can read", t->name);
    set_geometry(options, choice->given, true);
    av_dict_set(options, "input_format", choice->format->libav, 0);
    return 0;
}

// Appends the list of modes to `reason`, for a camera that refused a mode that it had offered.
static void add_offers(const struct capture_target *t, char *reason, size_t cap)
{
    struct capture_mode modes[CAPTURE_MAX_MODES];
    char name[64];
    char text[256];
    int count = t->screen ? 0 : v4l2_modes(t->name, name, sizeof(name), modes);
    if (count <= 0)
        return;
    capture_modes_text(modes, count, text, sizeof(text));
    size_t used = strlen(reason);
    snprintf(reason + used, cap - used, "; it offers %s", text);
}

// ---- Opening ----

static int open_decoder(struct capture_device *d)
{
    const AVCodecParameters *p = d->format->streams[0]->codecpar;
    const AVCodec *codec = avcodec_find_decoder(p->codec_id);
    d->codec = codec ? avcodec_alloc_context3(codec) : NULL;
    d->packet = av_packet_alloc();
    if (!d->codec || !d->packet || avcodec_parameters_to_context(d->codec, p) < 0)
        return ERR_UNSUPPORTED;
    d->codec->thread_count = 1; // each frame thread would delay the output by one picture
    return avcodec_open2(d->codec, codec, NULL) < 0 ? ERR_UNSUPPORTED : 0;
}

static void describe(const struct capture_device *d, const struct capture_target *t,
                     const struct capture_choice *choice, struct capture_given *given)
{
    const AVStream *stream = d->format->streams[0];
    AVRational rate = stream->avg_frame_rate;
    if (rate.num <= 0 || rate.den <= 0)
        rate = (AVRational){t->requested.fps.num, t->requested.fps.den};
    // struct source requires 1 .. 240 frames/s and denominators of at most 1001.
    av_reduce(&rate.num, &rate.den, rate.num, rate.den, 240000);
    if (rate.den > 1001 || rate.num > 240 * rate.den || rate.num < rate.den)
        rate = av_make_q(rate.num < rate.den ? 1 : (int)(av_q2d(rate) + 0.5), 1);
    if (rate.num > 240 * rate.den)
        rate = av_make_q(240, 1);
    *given = (struct capture_given){.width = stream->codecpar->width,
                                    .height = stream->codecpar->height,
                                    .fps = {rate.num, rate.den}};
    snprintf(given->format, sizeof(given->format), "%s", t->screen ? "" : choice->format->name);
}

struct capture_device *capture_device_open(const struct capture_target *target,
                                           struct capture_given *given, char *reason, size_t cap,
                                           int *err)
{
    const char *missing = capture_library_load();
    if (missing) {
        *err = err_say(reason, cap, ERR_UNSUPPORTED, "%s: %s", target->name, missing);
        return NULL;
    }
    AVDictionary *options = NULL;
    struct capture_choice choice = {0};
    struct capture_device *d = calloc(1, sizeof(*d));
    *err = ERR_NO_MEMORY;
    if (!d || !(d->format = avformat_alloc_context())) {
        free(d);
        (void)explain(target, AVERROR(ENOMEM), reason, cap);
        return NULL;
    }
    d->camera = !target->screen;
    d->format->flags |= AVFMT_FLAG_NONBLOCK;
    *err = 0;
    if (target->screen)
        set_geometry(&options, target->requested, target->is_requested);
    else
        *err = choose_mode(target, &options, &choice, reason, cap);
    if (*err)
        goto close;
    const AVInputFormat *kind = av_find_input_format(target->screen ? "x11grab" : "v4l2");
    int r = kind ? avformat_open_input(&d->format, target->name, kind, &options)
                 : AVERROR_DEMUXER_NOT_FOUND;
    if (r == AVERROR_PATCHWELCOME && target->screen) {
        *err = err_say(reason, cap, ERR_UNSUPPORTED,
                       "%s: this X display cannot be read: its colour depth is not 24 bits",
                       target->name);
    } else if (r < 0 && target->screen) {
        *err = err_say(reason, cap, ERR_IO, "%s: this X display cannot be read%s", target->name,
                       target->is_requested ? ", or is smaller than the requested size" : "");
    } else if (r < 0) {
        *err = explain(target, r, reason, cap);
        add_offers(target, reason, cap);
    } else if (d->format->nb_streams < 1 || open_decoder(d) != 0) {
        *err = err_say(reason, cap, ERR_UNSUPPORTED, "%s: no decoder for the device's format",
                       target->name);
    } else {
        describe(d, target, &choice, given);
        av_dict_free(&options);
        return d;
    }

close:
    av_dict_free(&options);
    capture_device_close(d);
    return NULL;
}

void capture_device_close(struct capture_device *d)
{
    if (!d)
        return;
    if (d->broken > 1)
        log_info("%s: %" PRId64 " broken pictures skipped", d->format->url, d->broken);
    av_packet_free(&d->packet);
    avcodec_free_context(&d->codec);
    avformat_close_input(&d->format); // frees the context even if opening failed
    free(d);
}

// ---- Reading ----

// Returns true if the packet is complete. The decoder does not report a truncated JPEG, so look for
// the EOI marker (ff d9); drivers pad the JPEG with zeros. Some cameras never write the marker: it
// is required only once the device has shown that it writes one.
static bool is_whole(struct capture_device *d)
{
    const uint8_t *data = d->packet->data;
    int len = d->packet->size;
    if (d->codec->codec_id != AV_CODEC_ID_MJPEG)
        return len > 0;
    while (len > 2 && data[len - 1] == 0)
        len--;
    bool ends = len >= 2 && data[len - 2] == 0xff && data[len - 1] == 0xd9;
    d->ends |= ends;
    return len > 0 && (ends || !d->ends);
}

// Skips a picture that does not decode: cameras start with a partial one, and cables fail.
static int decode(struct capture_device *d, AVFrame *out)
{
    int r = is_whole(d) ? avcodec_send_packet(d->codec, d->packet) : AVERROR_INVALIDDATA;
    if (r >= 0)
        r = avcodec_receive_frame(d->codec, out);
    if (r < 0) {
        if (d->broken++ == 0)
            log_warn("%s: broken picture skipped", d->format->url);
        return ERR_AGAIN;
    }
    // Webcams give no colour space for their YUV, or sRGB. V4L2's default for sRGB is BT.601.
    if (d->camera && out->colorspace == AVCOL_SPC_UNSPECIFIED)
        out->colorspace = AVCOL_SPC_BT470BG;
    return 0;
}

int capture_device_read(struct capture_device *d, AVFrame *out, usec_t *stamp, char *reason,
                        size_t cap)
{
    int r = av_read_frame(d->format, d->packet);
    if (r == AVERROR(EAGAIN))
        return ERR_AGAIN;
    if (r < 0 && !d->camera)
        return err_say(reason, cap, ERR_IO, "%s: this X display is gone or was resized",
                       d->format->url);
    if (r == AVERROR(ENODEV) || r == AVERROR(EIO) || r == AVERROR_EOF)
        return err_say(reason, cap, ERR_IO, "%s: the device was unplugged", d->format->url);
    if (r < 0)
        return err_say(reason, cap, ERR_IO, "%s: %s", d->format->url, av_err2str(r));
    AVStream *stream = d->format->streams[0];
    int64_t pts = av_rescale_q(d->packet->pts, stream->time_base, AV_TIME_BASE_Q);
    *stamp = capture_stamp(pts, clock_now(), clock_wall());
    av_frame_unref(out);
    r = decode(d, out);
    av_packet_unref(d->packet);
    return r;
}
