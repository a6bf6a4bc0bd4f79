// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/media_input.h"

#include <errno.h>
#include <libavutil/avstring.h>
#include <libavutil/mem.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/convert/convert.h"

enum {
    FOLLOWED = 32, // streams whose places are followed
    IO_BYTES = 32 * 1024,
    CHECK_MS = 50, // of the guard, while a pipe has nothing to read
    // An 8K picture at 8 bytes per pixel takes 253 MB. The index of ten hours at 60 frames per
    // second takes 52 MB, at 24 bytes per frame.
    ALLOC_BYTES = 256 << 20,
};

// Max. bytes that each step may read. An index of ten hours at 60 frames per second is about 60 MB
// in AVI and 40 MB in MP4; an uncompressed 8K picture has 53 MB. libavformat itself stops a probe
// after 5 MB of packets, but counts only whole packets. It would read and keep all of a bare stream
// without a start code.
static const int64_t HEADER_BYTES = (int64_t)256 << 20;
static const int64_t PACKET_BYTES = (int64_t)64 << 20; // of a packet or a probe
static const int64_t BARE_BYTES = (int64_t)16 << 20;   // of a packet or probe without a container

// What a pipe has not shown within so much is not known: its pictures wait meanwhile.
#define PIPE_ANALYSED AV_TIME_BASE
enum { PIPE_FPS_FRAMES = 3 };

struct media_input {
    int fd;                    // owned
    bool is_pipe;              // it waits for its writer, and cannot seek
    struct media_guard *guard; // one reference; NULL: none
    AVIOContext *io;           // owned
    AVFormatContext *format;   // owned
    int64_t packet_bytes;      // max. bytes of a probe or a packet
    int64_t left;              // bytes that the current step may still read
    int limit;                 // error of the limit that was hit, or 0
    bool merges;               // streams continue with other PIDs
    // With `merges`: where in the file the newest packet of each stream begins; 0: none was read.
    int64_t place[FOLLOWED];
};

// Containers that hold their media themselves. libavformat's other formats are excluded: those that
// refer to other files or addresses (hls, dash, concat, imf, sdp, rtsp, image sequences), and text.
static const char *const allowed[] = {
    "3gp", "aiff", "apng",   "asf", "avi", "caf", "dv",  "flv", "gif", "ivf",         "matroska",
    "mov", "mpeg", "mpegts", "mxf", "nut", "ogg", "w64", "wav", "wtv", "yuv4mpegpipe"};
// Bare streams of one codec.
static const char *const bare[] = {"aac", "ac3",   "eac3", "flac",      "h263", "h264", "hevc",
                                   "m4v", "mjpeg", "mp3",  "mpegvideo", "obu",  "vc1"};

static bool is_among(const char *format, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (av_match_name(names[i], format))
            return true;
    return false;
}

static bool is_bare(const char *format)
{
    return is_among(format, bare, sizeof(bare) / sizeof(bare[0]));
}

bool media_input_allows(const char *format)
{
    if (is_bare(format) || is_among(format, allowed, sizeof(allowed) / sizeof(allowed[0])))
        return true;
    // Single pictures ("png_pipe") are harmless; the caller finds no video in them.
    size_t len = strlen(format);
    return len > 5 && strcmp(format + len - 5, "_pipe") == 0;
}

// ---- Callbacks of libavformat

static int over_limit(struct media_input *in)
{
    int err = media_guard_check(in->guard);
    if (!err && in->left <= 0)
        err = ERR_TOO_BIG;
    if (err)
        in->limit = err;
    return err;
}

static int on_interrupt(void *ctx)
{
    return over_limit(ctx) != 0;
}

bool media_input_is_pipe(const char *path)
{
    struct stat st;
    return strcmp(path, "-") == 0 || (stat(path, &st) == 0 && S_ISFIFO(st.st_mode));
}

int media_input_await_pipe(int fd, struct media_guard *guard)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    int err;
    while ((err = media_guard_check(guard)) == 0 && poll(&ready, 1, CHECK_MS) == 0)
        ;
    return err;
}

static int on_read(void *ctx, uint8_t *out, int size)
{
    struct media_input *in = ctx;
    if (in->is_pipe)
        (void)media_input_await_pipe(in->fd, in->guard);
    if (over_limit(in))
        return AVERROR_EXIT;
    ssize_t n;
    do
        n = read(in->fd, out, (size_t)size);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return AVERROR(errno);
    in->left -= n;
    return n ? (int)n : AVERROR_EOF;
}

static int64_t on_seek(void *ctx, int64_t at, int whence)
{
    struct media_input *in = ctx;
    struct stat st;
    if (over_limit(in))
        return AVERROR_EXIT;
    if (whence & AVSEEK_SIZE)
        return fstat(in->fd, &st) == 0 ? st.st_size : AVERROR(errno);
    off_t place = lseek(in->fd, at, whence & ~AVSEEK_FORCE);
    return place < 0 ? AVERROR(errno) : place;
}

static int refuse_other_file(AVFormatContext *format, AVIOContext **io, const char *url, int flags,
                             AVDictionary **options)
{
    (void)format;
    (void)io;
    (void)flags;
    (void)options;
    log_warn("a media file refers to another file, which Weir does not open: %s", url);
    return AVERROR(EACCES);
}

static void begin_step(struct media_input *in, int64_t bytes)
{
    in->left = bytes;
    in->limit = 0;
}

// ---- Opening

static int say(const struct media_input *in, int r, char reason[MEDIA_INPUT_REASON])
{
    switch (in->limit) {
    case ERR_TIMED_OUT:
        return err_say(reason, MEDIA_INPUT_REASON, ERR_TIMED_OUT,
                       "opening it takes too long (is the disk slow, or the file incomplete?)");
    case ERR_CLOSED:
        return err_say(reason, MEDIA_INPUT_REASON, ERR_CLOSED, "opening it was cancelled");
    case ERR_TOO_BIG:
        return err_say(reason, MEDIA_INPUT_REASON, ERR_UNSUPPORTED,
                       "not a readable video file (no media in its first %lld MB)",
                       (long long)(in->packet_bytes >> 20));
    default:
        return err_say(reason, MEDIA_INPUT_REASON,
                       r == AVERROR(ENOMEM) ? ERR_NO_MEMORY : ERR_UNSUPPORTED,
                       "not a readable video file (%s)", av_err2str(r));
    }
}

static int open_fd(struct media_input *in, const char *path, char reason[MEDIA_INPUT_REASON])
{
    struct stat st;
    int fd = media_guard_open(in->guard, path, &st);
    if (fd >= 0) {
        in->fd = fd;
        return 0;
    }
    return fd == ERR_UNSUPPORTED
               ? err_say(reason, MEDIA_INPUT_REASON, ERR_UNSUPPORTED, "not a file")
               : err_say(reason, MEDIA_INPUT_REASON, ERR_NOT_FOUND, "%s", strerror(errno));
}

static int recognise(struct media_input *in, const char *path, const char *only,
                     const AVInputFormat **out, char reason[MEDIA_INPUT_REASON])
{
    *out = only ? av_find_input_format(only) : NULL;
    int r = *out ? 0 : av_probe_input_buffer2(in->io, out, path, NULL, 0, 0);
    if (r < 0)
        return say(in, r, reason);
    in->packet_bytes = is_bare((*out)->name) ? BARE_BYTES : PACKET_BYTES;
    if (media_input_allows((*out)->name))
        return 0;
    return err_say(reason, MEDIA_INPUT_REASON, ERR_UNSUPPORTED,
                   "not a readable video file (%s is not a format that contains its own video)",
                   (*out)->name);
}

static int open_all(struct media_input *in, const char *path, const char *only,
                    char reason[MEDIA_INPUT_REASON])
{
    const AVInputFormat *recognised;
    int err = in->is_pipe ? 0 : open_fd(in, path, reason);
    if (err)
        return err;
    uint8_t *buffer = av_malloc(IO_BYTES);
    in->io = buffer ? avio_alloc_context(buffer, IO_BYTES, 0, in, on_read, NULL,
                                         in->is_pipe ? NULL : on_seek)
                    : NULL;
    if (!in->io) {
        av_free(buffer);
        return err_say(reason, MEDIA_INPUT_REASON, ERR_NO_MEMORY, "no memory");
    }
    begin_step(in, in->is_pipe ? PACKET_BYTES : HEADER_BYTES); // a pipe has no index
    err = recognise(in, path, only, &recognised, reason);
    if (err)
        return err;
    in->format = avformat_alloc_context();
    if (!in->format)
        return err_say(reason, MEDIA_INPUT_REASON, ERR_NO_MEMORY, "no memory");
    in->format->pb = in->io;
    in->format->io_open = refuse_other_file;
    in->format->interrupt_callback = (AVIOInterruptCB){on_interrupt, in};
    if (in->is_pipe) {
        in->format->max_analyze_duration = PIPE_ANALYSED;
        in->format->fps_probe_size = PIPE_FPS_FRAMES;
    }
    // A broadcast that continues with other PIDs has the same streams, as in a television set.
    AVDictionary *options = NULL;
    in->merges = strcmp(recognised->name, "mpegts") == 0;
    if (in->merges)
        av_dict_set(&options, "merge_pmt_versions", "1", 0);
    int r = avformat_open_input(&in->format, path, recognised, &options); // frees the format if
    av_dict_free(&options);                                               // it fails
    return r < 0 || in->limit ? say(in, r, reason) : 0;
}

// `fd`: of a pipe, which is taken over; -1: none.
static struct media_input *open_any(const char *path, int fd, const char *only,
                                    struct media_guard *guard, char reason[MEDIA_INPUT_REASON],
                                    int *err)
{
    libav_log_to_log();
    av_max_alloc(ALLOC_BYTES);
    struct media_input *in = calloc(1, sizeof(*in));
    if (!in) {
        if (fd >= 0)
            close(fd);
        *err = err_say(reason, MEDIA_INPUT_REASON, ERR_NO_MEMORY, "no memory");
        return NULL;
    }
    in->fd = fd;
    in->is_pipe = fd >= 0;
    in->guard = media_guard_ref(guard);
    *err = open_all(in, path, only, reason);
    if (!*err)
        return in;
    media_input_free(in);
    return NULL;
}

struct media_input *media_input_open(const char *path, const char *only, struct media_guard *guard,
                                     char reason[MEDIA_INPUT_REASON], int *err)
{
    return open_any(path, -1, only, guard, reason, err);
}

struct media_input *media_input_open_pipe(int fd, struct media_guard *guard,
                                          char reason[MEDIA_INPUT_REASON], int *err)
{
    return open_any("", fd, NULL, guard, reason, err);
}

void media_input_free(struct media_input *in)
{
    if (!in)
        return;
    avformat_close_input(&in->format); // does not free a custom `pb`
    if (in->io)
        av_freep(&in->io->buffer);
    avio_context_free(&in->io);
    if (in->fd >= 0)
        close(in->fd);
    media_guard_unref(in->guard);
    free(in);
}

AVFormatContext *media_input_format(const struct media_input *in)
{
    return in->format;
}

int media_input_probe(struct media_input *in, char reason[MEDIA_INPUT_REASON])
{
    begin_step(in, in->packet_bytes);
    int r = avformat_find_stream_info(in->format, NULL);
    return r < 0 || in->limit ? say(in, r, reason) : 0;
}

bool media_input_is_bare(const struct media_input *in)
{
    return is_bare(in->format->iformat->name);
}

bool media_input_stat(const struct media_input *in, struct stat *st)
{
    return fstat(in->fd, st) == 0;
}

// ---- Reading

// Returns true if newer packets of the stream were read before this one: libavformat hands out the
// last packet of a PID that ends on the way at the end of the file.
static bool is_leftover(struct media_input *in, const AVPacket *packet)
{
    if (!in->merges || packet->pos < 0 || packet->stream_index >= FOLLOWED)
        return false;
    int64_t *place = &in->place[packet->stream_index];
    bool is_late = packet->pos < *place;
    *place = is_late ? *place : packet->pos;
    return is_late;
}

int media_input_read(struct media_input *in, AVPacket *packet)
{
    begin_step(in, in->packet_bytes);
    for (;;) {
        int r = over_limit(in) ? AVERROR_EXIT : av_read_frame(in->format, packet);
        if (r < 0 || !is_leftover(in, packet))
            return r;
        av_packet_unref(packet);
    }
}

// libavformat reads a file without an index from the current position to the target, so no byte
// limit applies: only the guard can stop it.
int media_input_seek(struct media_input *in, int stream, int64_t at, int flags)
{
    begin_step(in, INT64_MAX);
    memset(in->place, 0, sizeof(in->place));
    return over_limit(in) ? AVERROR_EXIT : av_seek_frame(in->format, stream, at, flags);
}
