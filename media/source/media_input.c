// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/media_input.h"

#include <errno.h>
#include <fcntl.h>
#include <libavutil/avstring.h>
#include <libavutil/mem.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/convert/convert.h"

enum {
    IO_BYTES = 32 * 1024,
    // A picture of 8K at 8 bytes a pixel takes 253 MB; the index of ten hours at 60 frames a
    // second 52 MB, at 24 bytes a frame.
    ALLOC_BYTES = 256 << 20,
};

// What each step may read. An index of ten hours at 60 frames a second is about 60 MB in AVI and 40
// MB in MP4, and an uncompressed picture of 8K 53 MB. libavformat itself stops a probe after 5 MB
// of packets, but counts whole packets only: of a bare stream without a start code it would read,
// and keep, all.
static const int64_t HEADER_BYTES = (int64_t)256 << 20;
static const int64_t PACKET_BYTES = (int64_t)64 << 20; // also of a probe
static const int64_t BARE_BYTES = (int64_t)16 << 20;   // the same for a stream without a container

struct media_input {
    int fd;                    // owned
    struct media_guard *guard; // a reference
    AVIOContext *io;           // owned
    AVFormatContext *format;   // owned
    int64_t packet_bytes;      // that a probe or a packet may read
    int64_t left;              // bytes that this step may read
    int limit;                 // the error of the limit that was hit, or 0
};

// Containers that hold their media themselves. Not here, of those that libavformat knows: what
// names other files or addresses (hls, dash, concat, imf, sdp, rtsp, image sequences), and text.
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
    // Single pictures ("png_pipe"): the caller finds no film in them.
    size_t len = strlen(format);
    return len > 5 && strcmp(format + len - 5, "_pipe") == 0;
}

// ---- What libavformat calls

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

static int on_read(void *ctx, uint8_t *out, int size)
{
    struct media_input *in = ctx;
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
    log_warn("a media file names another one, which is not opened: %s", url);
    return AVERROR(EACCES);
}

static void begin_step(struct media_input *in, int64_t bytes)
{
    in->left = bytes;
    in->limit = 0;
}

// ---- Opening

static int say(const struct media_input *in, int r, char why[MEDIA_INPUT_WHY])
{
    switch (in->limit) {
    case ERR_TIMED_OUT:
        return err_say(why, MEDIA_INPUT_WHY, ERR_TIMED_OUT,
                       "it takes too long to open; check the disk, or whether the file is whole");
    case ERR_CLOSED:
        return err_say(why, MEDIA_INPUT_WHY, ERR_CLOSED, "its opening was stopped");
    case ERR_TOO_BIG:
        return err_say(why, MEDIA_INPUT_WHY, ERR_UNSUPPORTED,
                       "not a video file that can be read (nothing to play in its first %lld MB)",
                       (long long)(in->packet_bytes >> 20));
    default:
        return err_say(why, MEDIA_INPUT_WHY, r == AVERROR(ENOMEM) ? ERR_NO_MEMORY : ERR_UNSUPPORTED,
                       "not a video file that can be read (%s)", av_err2str(r));
    }
}

static int open_fd(struct media_input *in, const char *path, char why[MEDIA_INPUT_WHY])
{
    struct stat st;
    in->fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC); // a FIFO would wait
    if (in->fd < 0 || fstat(in->fd, &st) != 0)
        return err_say(why, MEDIA_INPUT_WHY, ERR_NOT_FOUND, "%s", strerror(errno));
    return S_ISREG(st.st_mode) ? 0 : err_say(why, MEDIA_INPUT_WHY, ERR_UNSUPPORTED, "not a file");
}

static int recognise(struct media_input *in, const char *path, const char *only,
                     const AVInputFormat **out, char why[MEDIA_INPUT_WHY])
{
    *out = only ? av_find_input_format(only) : NULL;
    int r = *out ? 0 : av_probe_input_buffer2(in->io, out, path, NULL, 0, 0);
    if (r < 0)
        return say(in, r, why);
    in->packet_bytes = is_bare((*out)->name) ? BARE_BYTES : PACKET_BYTES;
    if (media_input_allows((*out)->name))
        return 0;
    return err_say(
        why, MEDIA_INPUT_WHY, ERR_UNSUPPORTED,
        "not a video file that can be read (%s is not a format that holds its own video)",
        (*out)->name);
}

static int open_all(struct media_input *in, const char *path, const char *only,
                    char why[MEDIA_INPUT_WHY])
{
    const AVInputFormat *recognised;
    int err = open_fd(in, path, why);
    if (err)
        return err;
    uint8_t *buffer = av_malloc(IO_BYTES);
    in->io = buffer ? avio_alloc_context(buffer, IO_BYTES, 0, in, on_read, NULL, on_seek) : NULL;
    if (!in->io) {
        av_free(buffer);
        return err_say(why, MEDIA_INPUT_WHY, ERR_NO_MEMORY, "no memory");
    }
    begin_step(in, HEADER_BYTES);
    err = recognise(in, path, only, &recognised, why);
    if (err)
        return err;
    in->format = avformat_alloc_context();
    if (!in->format)
        return err_say(why, MEDIA_INPUT_WHY, ERR_NO_MEMORY, "no memory");
    in->format->pb = in->io;
    in->format->io_open = refuse_other_file;
    in->format->interrupt_callback = (AVIOInterruptCB){on_interrupt, in};
    int r =
        avformat_open_input(&in->format, path, recognised, NULL); // frees the format if it fails
    return r < 0 || in->limit ? say(in, r, why) : 0;
}

struct media_input *media_input_open(const char *path, const char *only, struct media_guard *guard,
                                     char why[MEDIA_INPUT_WHY], int *err)
{
    libav_log_to_log();
    av_max_alloc(ALLOC_BYTES);
    struct media_input *in = calloc(1, sizeof(*in));
    if (!in) {
        *err = err_say(why, MEDIA_INPUT_WHY, ERR_NO_MEMORY, "no memory");
        return NULL;
    }
    in->fd = -1;
    in->guard = media_guard_ref(guard);
    *err = open_all(in, path, only, why);
    if (!*err)
        return in;
    media_input_free(in);
    return NULL;
}

void media_input_free(struct media_input *in)
{
    if (!in)
        return;
    avformat_close_input(&in->format); // which leaves the io to its owner
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

int media_input_probe(struct media_input *in, char why[MEDIA_INPUT_WHY])
{
    begin_step(in, in->packet_bytes);
    int r = avformat_find_stream_info(in->format, NULL);
    return r < 0 || in->limit ? say(in, r, why) : 0;
}

// ---- Reading

int media_input_read(struct media_input *in, AVPacket *packet)
{
    begin_step(in, in->packet_bytes);
    return over_limit(in) ? AVERROR_EXIT : av_read_frame(in->format, packet);
}

// A file without an index is read from where it stands to the place: only the guard ends that.
int media_input_seek(struct media_input *in, int stream, int64_t at, int flags)
{
    begin_step(in, INT64_MAX);
    return over_limit(in) ? AVERROR_EXIT : av_seek_frame(in->format, stream, at, flags);
}
