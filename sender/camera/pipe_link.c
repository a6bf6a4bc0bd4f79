// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/camera/pipe_link.h"

#include <errno.h>
#include <fcntl.h>
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/log_budget.h"
#include "common/net/clock.h"
#include "common/net/mailbox.h"
#include "common/wire/rtp.h"
#include "media/audio/avcodec_audio.h"
#include "media/coded/audio.h"
#include "media/coded/coded_frame.h"
#include "media/rtp/annexb.h"
#include "media/rtp/depacketiser.h"
#include "media/rtp/h264.h"
#include "media/rtp/nal_unpack.h"
#include "media/source/media_input.h"
#include "sender/policy/pipe_pace.h"

enum {
    WAITING = 256,
    WAITING_BYTES = 16 << 20,
    PIECE = 1920, // samples of L16 in a packet
    TAIL = 64,    // zero bytes after a frame
    MAX_FPS = 240,
    MAX_FPS_TERM = 1001,
    MAX_FAULTS = 1024, // in a row; of MPEG-TS each is 64 KB without a packet
};
#define CHECK_EVERY (50 * USEC_PER_MSEC) // of the guard
#define B_FRAMES                                                                                   \
    "its B frames have no times: write MPEG-TS or Matroska, or encode without them (ffmpeg: -bf "  \
    "0)"

// A message to the loop.
struct item {
    enum { BEGUN, DESCRIBED, PICTURE, AUDIO, ENDED } kind;
    struct received_frame *frame; // owned; PICTURE
    usec_t shown;                 // PICTURE, AUDIO: pipe_time.shown
    usec_t arrived;               // when it was due
    size_t bytes;                 // AUDIO: of `data`
    bool breaks_off;              // ENDED: `why` is the reason
    char why[MEDIA_INPUT_REASON];
    uint8_t data[];
};

struct pipe_link {
    struct camera_link base;           // first
    const struct camera_link_ops *ops; // static
    void (*on_begun)(void *ctx, usec_t now);
    void *ctx;         // borrowed
    const char *path;  // borrowed
    const char *title; // borrowed
    bool has_audio;
    struct media_guard *guard; // one reference
    struct mailbox *mailbox;   // owned
    pthread_t thread;
    struct sdp sdp;          // written by the thread before DESCRIBED
    const char *audio_codec; // the same; static

    bool is_over; // these are the loop's: on_end was called
    bool related; // a picture has told `ahead`
    usec_t ahead; // media time minus `shown`
    usec_t shown; // of the picture that is handed over

    struct log_budget log; // these are the thread's
    struct media_input *input;
    AVStream *video, *audio;       // borrowed; `audio` NULL: none
    AVBSFContext *annexb;          // owned; NULL: the codec has no NAL units
    AVPacket *packet;              // owned
    struct avcodec_audio *decoder; // owned; NULL: Opus, or none
    struct pipe_pace pace;
    int64_t number;      // of the next frame
    usec_t audio_next;   // where the newest audio ends
    bool said_too_large; // a frame
    bool lacks_times;    // it is a bare stream
    bool has_b_frames;   // ... which lacks those that B frames need: it ends
};

// ---- The thread

static void item_free(void *arg)
{
    struct item *item = arg;
    received_frame_free(item->frame);
    free(item);
}

static struct item *item_new(int kind, const void *data, size_t bytes)
{
    struct item *item = calloc(1, sizeof(*item) + bytes);
    if (!item)
        return NULL;
    item->kind = kind;
    item->bytes = bytes;
    if (bytes)
        memcpy(item->data, data, bytes);
    return item;
}

// Takes over the item. Of a loop that does not keep up, media is dropped.
static void post(struct pipe_link *l, struct item *item)
{
    size_t bytes = item ? item->bytes + (item->frame ? item->frame->bytes : 0) : 0;
    if (item && !mailbox_post_bytes(l->mailbox, item, bytes, WAITING_BYTES))
        item_free(item);
}

static void wait_for_loop(void)
{
    struct timespec pause = {.tv_nsec = (long)(10 * USEC_PER_MSEC * 1000)};
    nanosleep(&pause, NULL);
}

// Posts what must not be dropped. Returns false if there is no memory, or the guard ends the wait.
static bool post_surely(struct pipe_link *l, struct item *item)
{
    while (item && !mailbox_post(l->mailbox, item)) {
        if (media_guard_check(l->guard) != 0) {
            item_free(item);
            return false;
        }
        wait_for_loop();
    }
    return item != NULL;
}

// Waits until then. Returns false if the guard ends the wait.
static bool wait_until(struct pipe_link *l, usec_t due)
{
    for (usec_t now; (now = clock_now()) < due;) {
        usec_t wait = usec_min(due - now, CHECK_EVERY);
        struct timespec pause = {.tv_sec = wait / USEC_PER_SEC,
                                 .tv_nsec = wait % USEC_PER_SEC * 1000};
        nanosleep(&pause, NULL);
        if (media_guard_check(l->guard) != 0)
            return false;
    }
    return media_guard_check(l->guard) == 0;
}

static usec_t time_of(const AVStream *s, int64_t t)
{
    return t == AV_NOPTS_VALUE ? PIPE_PACE_NO_TIME : av_rescale_q(t, s->time_base, AV_TIME_BASE_Q);
}

// Start codes become those of four bytes.
static void put_all(struct unpacker *u, const AVPacket *p, bool is_annexb)
{
    if (is_annexb)
        nal_emit(u, p->data, (size_t)p->size);
    else
        unpacker_put(u, p->data, (size_t)p->size);
}

static struct received_frame *frame_of(const AVPacket *p, bool is_annexb)
{
    struct received_frame *f = calloc(1, sizeof(*f));
    struct unpacker length = {.out = NULL};
    put_all(&length, p, is_annexb);
    if (!f || !(f->data = malloc(length.bytes + TAIL))) {
        free(f);
        return NULL;
    }
    struct unpacker u = {.out = f->data};
    put_all(&u, p, is_annexb);
    memset(f->data + u.bytes, 0, TAIL);
    f->bytes = u.bytes;
    f->key = p->flags & AV_PKT_FLAG_KEY;
    return f;
}

static bool has_b_slice(const AVPacket *p)
{
    struct nal nals[CODED_FRAME_MAX_NALS];
    int count = annexb_split(p->data, (size_t)p->size, nals, CODED_FRAME_MAX_NALS);
    for (int i = 0; i < count; i++)
        if (h264_is_b_slice(p->data + nals[i].offset, nals[i].len))
            return true;
    return false;
}

// Gives the picture in l->packet to the loop when it is due. Returns false if nothing more is to be
// read.
static bool give_picture(struct pipe_link *l)
{
    const AVPacket *p = l->packet;
    l->has_b_frames = l->lacks_times && l->sdp.codec == SDP_H264 && has_b_slice(p);
    if (l->has_b_frames)
        return false;
    usec_t decoded = time_of(l->video, p->dts), length = time_of(l->video, p->duration);
    if (decoded == PIPE_PACE_NO_TIME && length > 0)
        decoded = l->pace.file + length; // a bare stream
    struct pipe_time t =
        pipe_pace_picture(&l->pace, decoded, time_of(l->video, p->pts), clock_now());
    if (!wait_until(l, t.due))
        return false;
    int64_t number = l->number++;
    if (p->size > DEPACKETISER_MAX_FRAME) {
        if (!l->said_too_large)
            log_warn("%s: a picture of %d bytes is left out: at most %d are taken", l->title,
                     p->size, DEPACKETISER_MAX_FRAME);
        l->said_too_large = true;
        return true;
    }
    struct item *item = item_new(PICTURE, NULL, 0);
    struct received_frame *f = item ? frame_of(p, l->annexb) : NULL;
    if (!f) {
        free(item);
        return true; // the next ones wait for a key frame
    }
    f->number = number;
    f->depends_on = f->key ? -1 : number - 1;
    f->rtp_timestamp = rtp_ticks(t.shown);
    item->arrived = f->first_arrived = f->last_arrived = clock_now();
    item->shown = t.shown;
    item->frame = f;
    post(l, item);
    return true;
}

// Takes what was read of the video. Returns false at the end.
static bool take_video(struct pipe_link *l)
{
    if (!l->annexb)
        return l->packet->size <= 0 || give_picture(l);
    if (av_bsf_send_packet(l->annexb, l->packet) < 0)
        return true; // a broken one
    bool goes_on = true;
    while (goes_on && av_bsf_receive_packet(l->annexb, l->packet) == 0) {
        goes_on = l->packet->size <= 0 || give_picture(l);
        av_packet_unref(l->packet);
    }
    return goes_on;
}

static void post_audio(struct pipe_link *l, usec_t shown, const void *data, size_t bytes)
{
    struct item *item = item_new(AUDIO, data, bytes);
    if (!item)
        return;
    item->shown = shown;
    item->arrived = clock_now();
    post(l, item);
}

// L16 has the high byte first (RFC 3551, 4.5.11).
static void post_pcm(struct pipe_link *l, usec_t shown, const int16_t *pcm, int count)
{
    uint8_t out[PIECE * AUDIO_CHANNELS * 2];
    for (int at = 0, n; at < count; at += n) {
        n = count - at < PIECE ? count - at : PIECE;
        for (int i = 0; i < n * AUDIO_CHANNELS; i++) {
            uint16_t sample = (uint16_t)pcm[at * AUDIO_CHANNELS + i];
            out[2 * i] = (uint8_t)(sample >> 8);
            out[2 * i + 1] = (uint8_t)sample;
        }
        post_audio(l, shown + audio_usec(at), out, (size_t)n * AUDIO_CHANNELS * 2);
    }
}

// Takes what was read of the audio. Returns false at the end.
static bool take_audio(struct pipe_link *l)
{
    const AVPacket *p = l->packet;
    struct pipe_time t;
    usec_t at = time_of(l->audio, p->pts), length = time_of(l->audio, p->duration);
    at = at == PIPE_PACE_NO_TIME ? l->audio_next : at;
    if (p->size <= 0 || !pipe_pace_audio(&l->pace, at, &t))
        return true;
    l->audio_next = at + usec_max(length, 0);
    if (!wait_until(l, t.due))
        return false;
    if (!l->decoder) {
        if (p->size <= AUDIO_PACKET_MAX_BYTES)
            post_audio(l, t.shown, p->data, (size_t)p->size);
        return true;
    }
    const int16_t *pcm;
    int before, count = avcodec_audio_decode(l->decoder, p->data, (size_t)p->size, &pcm, &before);
    post_pcm(l, t.shown - audio_usec(before), pcm, count);
    return true;
}

// ---- The thread opens the pipe

static int open_pipe(struct pipe_link *l, char *why)
{
    bool is_input = strcmp(l->path, "-") == 0;
    int fd = is_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                      : open(l->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); // does not wait either
    if (fd < 0)
        return err_say(why, MEDIA_INPUT_REASON, ERR_NOT_FOUND, "%s", strerror(errno));
    if (isatty(fd)) {
        close(fd);
        return err_say(why, MEDIA_INPUT_REASON, ERR_UNSUPPORTED,
                       "it is a terminal: a program has to write into a pipe, as in ffmpeg ... -f "
                       "mpegts - | weir-send -");
    }
    int err = media_input_await_pipe(fd, l->guard);
    if (err || !post_surely(l, item_new(BEGUN, NULL, 0))) {
        close(fd);
        return err_say(why, MEDIA_INPUT_REASON, ERR_CLOSED, "opening it was cancelled");
    }
    l->input = media_input_open_pipe(fd, l->guard, why, &err);
    return err ? err : media_input_probe(l->input, why);
}

static enum sdp_codec codec_of(enum AVCodecID id)
{
    return id == AV_CODEC_ID_H264    ? SDP_H264
           : id == AV_CODEC_ID_HEVC  ? SDP_HEVC
           : id == AV_CODEC_ID_VP9   ? SDP_VP9
           : id == AV_CODEC_ID_MJPEG ? SDP_JPEG
                                     : SDP_SYNTHETIC;
}

static int choose_video(struct pipe_link *l, char *why)
{
    AVFormatContext *format = media_input_format(l->input);
    int at = av_find_best_stream(format, AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0);
    if (at < 0)
        return err_say(why, MEDIA_INPUT_REASON, ERR_UNSUPPORTED, "there is no video in it");
    l->video = format->streams[at];
    const AVCodecParameters *p = l->video->codecpar;
    l->sdp.codec = codec_of(p->codec_id);
    if (l->sdp.codec == SDP_SYNTHETIC)
        return err_say(why, MEDIA_INPUT_REASON, ERR_UNSUPPORTED,
                       "its video is %s: write H.264 (ffmpeg: -c:v libx264), H.265, VP9 or JPEG",
                       avcodec_get_name(p->codec_id));
    l->lacks_times = media_input_is_bare(l->input);
    if (l->lacks_times && p->video_delay > 0)
        return err_say(why, MEDIA_INPUT_REASON, ERR_UNSUPPORTED, B_FRAMES);
    AVRational rate = av_guess_frame_rate(format, l->video, NULL);
    struct fps *fps = &l->sdp.ladder.source_fps;
    if (rate.num > 0 && rate.den > 0 && av_q2d(rate) <= MAX_FPS)
        av_reduce(&fps->num, &fps->den, rate.num, rate.den, MAX_FPS_TERM);
    return 0;
}

// Opens the filter that gives each key frame its parameter sets, and start codes.
static int open_annexb(struct pipe_link *l, char *why)
{
    const char *name = l->sdp.codec == SDP_H264   ? "h264_mp4toannexb"
                       : l->sdp.codec == SDP_HEVC ? "hevc_mp4toannexb"
                                                  : NULL;
    const AVBitStreamFilter *filter = name ? av_bsf_get_by_name(name) : NULL;
    if (!name)
        return 0;
    if (!filter || av_bsf_alloc(filter, &l->annexb) < 0 ||
        avcodec_parameters_copy(l->annexb->par_in, l->video->codecpar) < 0)
        return err_say(why, MEDIA_INPUT_REASON, ERR_NO_MEMORY, "libavcodec has no %s", name);
    l->annexb->time_base_in = l->video->time_base;
    return av_bsf_init(l->annexb) < 0
               ? err_say(why, MEDIA_INPUT_REASON, ERR_UNSUPPORTED, "its parameter sets are broken")
               : 0;
}

// Audio that cannot be decoded (logged) is left out.
static void choose_audio(struct pipe_link *l)
{
    AVFormatContext *format = media_input_format(l->input);
    int at = l->has_audio
                 ? av_find_best_stream(format, AVMEDIA_TYPE_AUDIO, -1, l->video->index, NULL, 0)
                 : -1;
    const AVCodecParameters *p = at >= 0 ? format->streams[at]->codecpar : NULL;
    bool is_opus = p && p->codec_id == AV_CODEC_ID_OPUS && p->ch_layout.nb_channels <= 2;
    if (p && !is_opus)
        l->decoder = avcodec_audio_new_of(p);
    if (is_opus || l->decoder) {
        l->audio = format->streams[at];
        l->audio_codec = is_opus ? "Opus" : avcodec_get_name(p->codec_id);
        l->sdp.audio = (struct sdp_audio){.present = true,
                                          .codec = is_opus ? SDP_AUDIO_OPUS : SDP_AUDIO_L16,
                                          .clock_rate = AUDIO_RATE,
                                          .channels = AUDIO_CHANNELS};
    }
    for (unsigned i = 0; i < format->nb_streams; i++)
        if (format->streams[i] != l->video && format->streams[i] != l->audio)
            format->streams[i]->discard = AVDISCARD_ALL;
}

static int open_all(struct pipe_link *l, char *why)
{
    int err = open_pipe(l, why);
    if (!err)
        err = choose_video(l, why);
    if (!err)
        err = open_annexb(l, why);
    if (err)
        return err;
    choose_audio(l);
    l->packet = av_packet_alloc();
    bool is_said = l->packet && post_surely(l, item_new(DESCRIBED, NULL, 0));
    return is_said ? 0 : err_say(why, MEDIA_INPUT_REASON, ERR_NO_MEMORY, "no memory");
}

// A stream of MPEG-TS continues under another PID; in another codec it is not passed on.
static bool is_of(const struct pipe_link *l, const AVStream *stream)
{
    int at = l->packet->stream_index;
    const AVStream *from = media_input_format(l->input)->streams[at];
    return stream && media_input_track(l->input, at) == stream->index &&
           from->codecpar->codec_id == stream->codecpar->codec_id;
}

static void read_all(struct pipe_link *l, struct item *end)
{
    int r = 0, faults = 0;
    for (bool goes_on = true; goes_on;) {
        r = media_input_read(l->input, l->packet);
        if (r == AVERROR_EOF || r == AVERROR_EXIT || (r < 0 && ++faults == MAX_FAULTS))
            break;
        if (r < 0)
            continue;
        faults = 0;
        if (is_of(l, l->video))
            goes_on = take_video(l);
        else if (is_of(l, l->audio))
            goes_on = take_audio(l);
        av_packet_unref(l->packet);
        log_budget_advance(&l->log, clock_now());
    }
    end->breaks_off = l->has_b_frames || (r < 0 && r != AVERROR_EOF);
    snprintf(end->why, sizeof(end->why), "%s",
             l->has_b_frames ? B_FRAMES
             : r == AVERROR_EXIT || r == AVERROR(EAGAIN)
                 ? "no picture came in the last 64 MB: is it still video?"
                 : av_err2str(r));
}

static void *run(void *arg)
{
    struct pipe_link *l = arg;
    log_budget_init(&l->log, clock_now());
    log_bound(&l->log);
    struct item *end = item_new(ENDED, NULL, 0);
    if (end && open_all(l, end->why) == 0)
        read_all(l, end);
    else if (end)
        end->breaks_off = true;
    (void)post_surely(l, end);
    avcodec_audio_free(l->decoder);
    av_packet_free(&l->packet);
    av_bsf_free(&l->annexb);
    media_input_free(l->input);
    return NULL;
}

// ---- The loop

static void give_audio(struct pipe_link *l, const struct item *item, usec_t now)
{
    if (!l->related)
        return;
    struct received_audio a = {.position = audio_samples(item->shown + l->ahead),
                               .arrived = item->arrived,
                               .data = item->data,
                               .bytes = item->bytes};
    l->ops->on_audio(l->ctx, &a, now);
}

static void on_item(void *ctx, void *arg, usec_t now)
{
    struct pipe_link *l = ctx;
    struct item *item = arg;
    if (l->is_over) {
        item_free(item);
        return;
    }
    switch (item->kind) {
    case BEGUN:
        l->on_begun(l->ctx, now);
        break;
    case DESCRIBED:
        l->ops->on_described(l->ctx, &l->sdp, l->audio_codec, now);
        break;
    case PICTURE:
        l->shown = item->shown;
        l->ops->on_stamp(l->ctx, item->frame->rtp_timestamp, now);
        l->ops->on_frame(l->ctx, item->frame, now);
        item->frame = NULL;
        break;
    case AUDIO:
        give_audio(l, item, now);
        break;
    case ENDED:
        l->is_over = true;
        l->ops->on_end(l->ctx, 0, item->breaks_off ? item->why : NULL, now);
        break;
    }
    item_free(item);
}

static void relate(struct camera_link *base, uint32_t rtp_timestamp, usec_t media, usec_t arrived)
{
    struct pipe_link *l = (struct pipe_link *)base;
    (void)rtp_timestamp, (void)arrived;
    l->ahead = media - l->shown;
    l->related = true;
}

static void give_up(struct camera_link *base, const char *why, usec_t now)
{
    struct pipe_link *l = (struct pipe_link *)base;
    if (l->is_over)
        return;
    l->is_over = true;
    media_guard_stop(l->guard);
    l->ops->on_end(l->ctx, 0, why, now);
}

// The writer takes no requests.
static void on_instant(struct camera_link *base, usec_t now)
{
    (void)base, (void)now;
}

static void free_all(struct camera_link *base, usec_t now)
{
    struct pipe_link *l = (struct pipe_link *)base;
    (void)now;
    media_guard_stop(l->guard);
    pthread_join(l->thread, NULL);
    mailbox_free(l->mailbox);
    media_guard_unref(l->guard);
    free(l);
}

struct camera_link *pipe_link_new(const struct pipe_link_config *config)
{
    static const struct camera_link_kind kind = {.free = free_all,
                                                 .second = on_instant,
                                                 .request_key = on_instant,
                                                 .give_up = give_up,
                                                 .picture = relate};
    struct pipe_link *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    *l = (struct pipe_link){.base.kind = &kind,
                            .ops = config->ops,
                            .on_begun = config->on_begun,
                            .ctx = config->ctx,
                            .path = config->path,
                            .title = config->title,
                            .has_audio = config->has_audio,
                            .guard = media_guard_new(USEC_NEVER),
                            .mailbox = mailbox_new(config->loop, WAITING, on_item, item_free, l),
                            .sdp.duration = -1};
    if (l->guard && l->mailbox && pthread_create(&l->thread, NULL, run, l) == 0)
        return &l->base;
    if (l->mailbox)
        mailbox_free(l->mailbox);
    media_guard_unref(l->guard);
    free(l);
    return NULL;
}
