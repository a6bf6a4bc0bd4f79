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

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "media/convert/convert.h"
#include "media/source/stream_follow.h"

enum {
    IO_BYTES = 32 * 1024,
    CHECK_MS = 50, // of the guard, while a pipe has nothing to read
    AHEAD = 128,   // packets that are read to tell what a new stream continues
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
    int fd;                          // owned
    bool is_pipe;                    // it waits for its writer, and cannot seek
    struct media_guard *guard;       // one reference; NULL: none
    AVIOContext *io;                 // owned
    AVFormatContext *format;         // owned
    int64_t packet_bytes;            // max. bytes of a probe or a packet
    int64_t left;                    // bytes that the current step may still read
    int limit;                       // error of the limit that was hit, or 0
    const AVInputFormat *recognised; // static; by its content; NULL: it was not
    struct stream_follow follow;
    int ahead_count;
    AVPacket *ahead[AHEAD]; // owned; read already, the oldest first
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
    return media_input_is_picture(format);
}

bool media_input_is_picture(const char *format)
{
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

// Returns what is wrong with the index of an MP4: its boxes (ISO/IEC 14496-12, 4.2) need one
// "moov".
static const char *fault_of_mp4(int fd, int64_t bytes)
{
    uint8_t head[16];
    for (int64_t at = 0; at + 8 <= bytes && pread(fd, head, sizeof(head), at) >= 8;) {
        uint64_t size = load_be32(head), header = 8;
        if (size == 1) { // a long box
            size = load_be64(head + 8);
            header = 16;
        }
        bool goes_on = size > (uint64_t)(bytes - at);
        if (memcmp(head + 4, "moov", 4) == 0)
            return goes_on ? "its index is cut off" : NULL;
        if (size < header || goes_on) // 0: to the end of the file
            break;
        at += (int64_t)size;
    }
    return "its index is missing, as its recording or its copy was broken off";
}

// Returns what is missing in a file that libavformat has recognised and cannot read; NULL: nothing.
static const char *fault_of(const struct media_input *in)
{
    struct stat st;
    if (fstat(in->fd, &st) != 0)
        return NULL;
    bool is_mp4 = in->recognised && av_match_name("mp4", in->recognised->name);
    const char *fault = is_mp4 ? fault_of_mp4(in->fd, st.st_size) : NULL;
    bool is_over = in->recognised && lseek(in->fd, 0, SEEK_CUR) >= st.st_size;
    return fault ? fault : is_over ? "it breaks off before its first pictures" : NULL;
}

static int say(const struct media_input *in, int r, char reason[MEDIA_INPUT_REASON])
{
    struct stat st;
    const char *fault = r < 0 && !in->limit && !in->is_pipe ? fault_of(in) : NULL;
    if (r < 0 && !in->is_pipe && fstat(in->fd, &st) == 0 && st.st_size == 0)
        return err_say(reason, MEDIA_INPUT_REASON, ERR_UNSUPPORTED, "the file is empty");
    if (fault)
        return err_say(reason, MEDIA_INPUT_REASON, ERR_UNSUPPORTED, "not a whole film: %s", fault);
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
    // A picture's name makes it a sequence of files. By its content it is one picture.
    if (r >= 0 && strcmp((*out)->name, "image2") == 0 && !in->is_pipe &&
        avio_seek(in->io, 0, SEEK_SET) == 0)
        r = av_probe_input_buffer2(in->io, out, NULL, NULL, 0, 0);
    if (r < 0)
        return say(in, r, reason);
    in->recognised = r > AVPROBE_SCORE_EXTENSION ? *out : NULL;
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
    int r = avformat_open_input(&in->format, path, recognised, NULL); // frees it if it fails
    if (r < 0 || in->limit)
        return say(in, r, reason);
    stream_follow_init(&in->follow, in->format);
    return 0;
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

static void drop_ahead(struct media_input *in)
{
    while (in->ahead_count)
        av_packet_free(&in->ahead[--in->ahead_count]);
}

void media_input_free(struct media_input *in)
{
    if (!in)
        return;
    drop_ahead(in);
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
    stream_follow_probed(&in->follow, in->format);
    return r < 0 || in->limit ? say(in, r, reason) : 0;
}

bool media_input_is_bare(const struct media_input *in)
{
    return is_bare(in->format->iformat->name);
}

int media_input_tracks(const struct media_input *in)
{
    return in->follow.tracks;
}

int media_input_track(const struct media_input *in, int stream)
{
    return stream_follow_track(&in->follow, stream);
}

bool media_input_stat(const struct media_input *in, struct stat *st)
{
    return fstat(in->fd, st) == 0;
}

// ---- Reading

static int read_one(struct media_input *in, AVPacket *packet)
{
    for (;;) {
        int r = over_limit(in) ? AVERROR_EXIT : av_read_frame(in->format, packet);
        if (r < 0 || stream_follow_note(&in->follow, in->format, packet))
            return r;
        av_packet_unref(packet);
    }
}

// Reads on, so that it shows which track the first packet of a stream continues.
static void read_ahead(struct media_input *in)
{
    while (in->ahead_count < AHEAD) {
        AVPacket *p = av_packet_alloc();
        if (!p || read_one(in, p) < 0) {
            av_packet_free(&p);
            return;
        }
        in->ahead[in->ahead_count++] = p;
    }
}

int media_input_read(struct media_input *in, AVPacket *packet)
{
    begin_step(in, in->packet_bytes);
    if (in->ahead_count) {
        av_packet_move_ref(packet, in->ahead[0]);
        av_packet_free(&in->ahead[0]);
        memmove(in->ahead, in->ahead + 1, (size_t)--in->ahead_count * sizeof(*in->ahead));
        return 0;
    }
    int r = read_one(in, packet);
    if (r >= 0 && stream_follow_is_new(&in->follow, packet))
        read_ahead(in);
    return r;
}

// libavformat reads a file without an index from the current position to the target, so no byte
// limit applies: only the guard can stop it.
int media_input_seek(struct media_input *in, int stream, int64_t at, int flags)
{
    begin_step(in, INT64_MAX);
    drop_ahead(in);
    int now = stream_follow_seek(&in->follow, stream, flags & AVSEEK_FLAG_BYTE ? INT64_MIN : at);
    return over_limit(in) ? AVERROR_EXIT : av_seek_frame(in->format, now, at, flags);
}
