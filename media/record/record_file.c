// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libavformat/avformat.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/err.h"
#include "media/record/policy/record_name.h"
#include "media/record/record_streams.h"

enum { BUFFER_BYTES = 64 * 1024, VIDEO = 0, AUDIO = 1 };

struct record_file {
    struct record_file_config config;
    AVFormatContext *format; // owned
    AVPacket *packet;        // owned
    bool has_audio;
    uint8_t *head; // owned: bytes of the file before it exists
    size_t head_bytes;
    int fd;       // -1: it does not exist yet
    usec_t begun; // time of the first frame, and its wall clock
    usec_t wall;
    int64_t last[2]; // DTS of the last packet of each stream
    int64_t good;    // bytes up to the end of the last cluster
    usec_t synced;
    int fault; // errno; 0: none
    char path[PATH_MAX];
};

// ---- The bytes

static bool write_all(int fd, const uint8_t *data, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        data += n;
        len -= (size_t)n;
    }
    return true;
}

static int fail(struct record_file *f, int reason)
{
    if (!f->fault)
        f->fault = reason ? reason : EIO;
    return ERR_IO;
}

static int write_out(void *ctx, uint8_t *data, int size)
{
    struct record_file *f = ctx;
    if (f->fd >= 0) {
        if (!f->fault && write_all(f->fd, data, (size_t)size))
            return size;
        fail(f, errno);
        return AVERROR(f->fault);
    }
    uint8_t *more = realloc(f->head, f->head_bytes + (size_t)size);
    if (!more) {
        fail(f, ENOMEM);
        return AVERROR(ENOMEM);
    }
    f->head = more;
    memcpy(f->head + f->head_bytes, data, (size_t)size);
    f->head_bytes += (size_t)size;
    return size;
}

static int64_t seek_out(void *ctx, int64_t at, int whence)
{
    struct record_file *f = ctx;
    struct stat st;
    if (f->fd < 0)
        return whence & AVSEEK_SIZE ? (int64_t)f->head_bytes : AVERROR(ESPIPE);
    if (whence & AVSEEK_SIZE)
        return fstat(f->fd, &st) == 0 ? st.st_size : AVERROR(errno);
    off_t to = lseek(f->fd, at, whence & ~AVSEEK_FORCE);
    return to >= 0 ? to : AVERROR(errno);
}

// ---- The name

static struct record_time local_time(usec_t wall)
{
    struct tm tm;
    time_t seconds = (time_t)(wall / USEC_PER_SEC);
    if (!localtime_r(&seconds, &tm))
        return (struct record_time){.year = 1970, .month = 1, .day = 1};
    return (struct record_time){tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
                                tm.tm_hour,        tm.tm_min,     tm.tm_sec};
}

// Gives the file `fd`, which has no name yet, the file's path. Returns false with errno.
static bool give_name(int fd, const char *path)
{
    char from[64];
    snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

// Creates the file with its head under `path`. A file without a name gets it when it has its head;
// a process that is killed before leaves nothing. Some file systems have no such files: there, the
// file may be without its head for a moment. Returns the descriptor, or -1 with errno; EEXIST: the
// name is taken.
static int create(const struct record_file *f, const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
    if (fd >= 0) {
        if (write_all(fd, f->head, f->head_bytes) && give_name(fd, f->path))
            return fd;
        int reason = errno;
        close(fd);
        errno = reason;
        if (reason == EEXIST || reason == ENOSPC || reason == EDQUOT || reason == EIO)
            return -1;
    }
    fd = open(f->path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0644);
    if (fd < 0 || write_all(fd, f->head, f->head_bytes))
        return fd;
    int reason = errno;
    close(fd);
    unlink(f->path);
    errno = reason;
    return -1;
}

static int place(struct record_file *f)
{
    char folder[PATH_MAX];
    struct record_time t = local_time(f->wall);
    if (record_name_folder(f->config.pattern, folder, sizeof(folder)) != 0)
        return fail(f, ENAMETOOLONG);
    for (int copy = 1; copy <= RECORD_NAME_COPIES; copy++) {
        if (record_name_make(f->config.pattern, &t, copy, f->path, sizeof(f->path)) != 0)
            return fail(f, ENAMETOOLONG);
        if (access(f->path, F_OK) == 0)
            continue;
        f->fd = create(f, folder);
        if (f->fd < 0 && errno == EEXIST)
            continue;
        if (f->fd < 0) {
            f->path[0] = '\0';
            return fail(f, errno);
        }
        free(f->head);
        f->head = NULL;
        return 0;
    }
    f->path[0] = '\0';
    return fail(f, EEXIST);
}

// ---- The container

static int set_tags(struct record_file *f)
{
    char text[40];
    struct tm tm;
    time_t seconds = (time_t)(f->wall / USEC_PER_SEC);
    if (!gmtime_r(&seconds, &tm))
        return 0;
    size_t len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text + len, sizeof(text) - len, ".%06dZ", (int)(f->wall % USEC_PER_SEC));
    AVDictionary **tags = &f->format->metadata;
    return av_dict_set(tags, "creation_time", text, 0) >= 0 &&
                   (!f->config.title || av_dict_set(tags, "title", f->config.title, 0) >= 0)
               ? 0
               : ERR_NO_MEMORY;
}

static int open_output(struct record_file *f)
{
    uint8_t *buffer = av_malloc(BUFFER_BYTES);
    f->format->pb =
        buffer ? avio_alloc_context(buffer, BUFFER_BYTES, 1, f, NULL, write_out, seek_out) : NULL;
    if (f->format->pb)
        return 0;
    av_free(buffer);
    return ERR_NO_MEMORY;
}

// The writer ends clusters itself (record_cluster.h).
static int write_header(struct record_file *f)
{
    AVDictionary *options = NULL;
    av_dict_set_int(&options, "cluster_time_limit", 30000, 0);
    av_dict_set_int(&options, "cluster_size_limit", INT_MAX, 0);
    int r = avformat_write_header(f->format, &options);
    av_dict_free(&options);
    return r < 0 ? ERR_NO_MEMORY : 0; // nothing is written to the disk yet
}

int record_file_new(const struct record_file_config *config, const struct record_packet *key,
                    struct record_file **out)
{
    struct record_file *f = calloc(1, sizeof(*f));
    if (!f)
        return ERR_NO_MEMORY;
    f->config = *config;
    f->fd = -1;
    f->begun = key->time;
    f->wall = key->wall;
    f->has_audio = key->has_audio;
    f->last[VIDEO] = f->last[AUDIO] = INT64_MIN;
    int err = ERR_NO_MEMORY;
    if (avformat_alloc_output_context2(&f->format, NULL, "matroska", NULL) < 0 ||
        !(f->packet = av_packet_alloc()))
        goto fail;
    // The decoding times of reordered frames begin before 0.
    f->format->avoid_negative_ts = AVFMT_AVOID_NEG_TS_DISABLED;
    err = set_tags(f);
    err = err ? err : record_streams_video(f->format, key);
    if (!err && f->has_audio)
        err = record_streams_audio(f->format);
    err = err ? err : open_output(f);
    err = err ? err : write_header(f);
    if (err)
        goto fail;
    *out = f;
    return 0;

fail:
    record_file_free(f);
    return err;
}

// ---- Clusters

static int64_t to_msec(usec_t t)
{
    return (t + (t < 0 ? -500 : 500)) / USEC_PER_MSEC;
}

// Two packets of a stream may not have one time.
static int write_packet(struct record_file *f, const struct record_packet *p)
{
    int stream = p->is_audio ? AUDIO : VIDEO;
    if (p->is_audio && (p->time < f->begun || !f->has_audio))
        return 0;
    int64_t pts = to_msec(p->time - f->begun);
    int64_t dts = p->is_audio ? pts : to_msec(p->decode - f->begun);
    if (p->is_audio && f->last[stream] != INT64_MIN && dts <= f->last[stream])
        return 0; // repaired too late
    if (f->last[stream] != INT64_MIN && dts <= f->last[stream])
        dts = f->last[stream] + 1;
    f->last[stream] = dts;
    *f->packet = (AVPacket){.data = p->data,
                            .size = (int)p->bytes,
                            .stream_index = stream,
                            .dts = dts,
                            .pts = pts < dts ? dts : pts,
                            .pos = -1,
                            .flags = p->is_audio || p->key ? AV_PKT_FLAG_KEY : 0};
    return av_write_frame(f->format, f->packet) < 0 ? fail(f, EINVAL) : 0;
}

int record_file_write(struct record_file *f, struct record_packet *const *packets, int count,
                      usec_t now)
{
    if (f->fault)
        return ERR_IO;
    for (int i = 0; i < count; i++)
        if (write_packet(f, packets[i]) != 0)
            return ERR_IO;
    if (av_write_frame(f->format, NULL) < 0) // ends the cluster
        return fail(f, EINVAL);
    avio_flush(f->format->pb);
    if (f->fault || (f->fd < 0 && place(f) != 0))
        return ERR_IO;
    f->good = lseek(f->fd, 0, SEEK_CUR);
    if (f->synced && now - f->synced < RECORD_FILE_SYNC)
        return 0;
    f->synced = now;
    return fdatasync(f->fd) == 0 || errno == EINVAL ? 0 : fail(f, errno);
}

const char *record_file_fault(const struct record_file *f)
{
    return f->fault == EEXIST ? "all names of this time are taken" : strerror(f->fault);
}

int record_file_finish(struct record_file *f)
{
    if (f->fault || f->fd < 0)
        return f->fault ? ERR_IO : 0;
    int r = av_write_trailer(f->format);
    avio_flush(f->format->pb);
    if (f->fault || r < 0)
        return fail(f, EINVAL);
    f->good = lseek(f->fd, 0, SEEK_END);
    return fdatasync(f->fd) == 0 || errno == EINVAL ? 0 : fail(f, errno);
}

void record_file_free(struct record_file *f)
{
    if (!f)
        return;
    // Part of a cluster would be readable, but says less than it seems to.
    if (f->fault && f->fd >= 0 && f->good > 0 && ftruncate(f->fd, f->good) != 0)
        f->good = 0;
    if (f->format && f->format->pb) {
        av_freep(&f->format->pb->buffer);
        avio_context_free(&f->format->pb);
    }
    avformat_free_context(f->format);
    if (f->packet)
        *f->packet = (AVPacket){0}; // the data was borrowed
    av_packet_free(&f->packet);
    if (f->fd >= 0)
        close(f->fd);
    free(f->head);
    free(f);
}

const char *record_file_path(const struct record_file *f)
{
    return f->path;
}

int64_t record_file_bytes(const struct record_file *f)
{
    return f->good;
}
