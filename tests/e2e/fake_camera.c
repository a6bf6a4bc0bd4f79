// SPDX-License-Identifier: GPL-2.0-or-later
// A V4L2 camera for a program that is started with this library in LD_PRELOAD: /dev/video0 is
// there as long as the file $WEIR_FAKE_CAMERA is. Its first word says how it behaves: `good`,
// `closed` (to this user), `busy` (cannot be opened to stream), `silent` (streams nothing), `torn`
// and `empty` (every other picture ends in its middle, or has no bytes), `slow` (10 pictures a
// second, whatever it says), or `late` (time stamps are 0.8 s behind).
// It offers YUYV 640x480@30 and 320x240@30, and gives pictures of one colour, which the second word
// says: a luma of 0 to 255. The third word is the number of another /dev/video. With a picture in
// $WEIR_FAKE_CAMERA.jpg it offers MJPG 1280x720@20, too, and gives that one. $WEIR_FAKE_CAMERA.on
// exists while it streams: the light.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { BUFFERS = 4, MAX_BYTES = 1280 * 720 * 2, FPS = 30, JPEG_FPS = 20, SLOW_FPS = 10 };
static const double LATE = 0.8; // seconds

static const struct {
    unsigned width, height;
} sizes[] = {{640, 480}, {320, 240}};

static struct {
    int fd;     // -1: closed
    int number; // of /dev/video
    int opened; // the number then
    int width, height;
    bool jpeg; // else YUYV
    bool streaming;
    bool queued[BUFFERS];
    int next;
    double due;
    unsigned count; // of pictures
    unsigned char *memory;
} camera = {.fd = -1, .width = 640, .height = 480};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// False: unplugged.
static bool look(char *word, size_t cap, int *luma)
{
    char text[64] = "";
    const char *path = getenv("WEIR_FAKE_CAMERA");
    FILE *f = path ? fopen(path, "r") : NULL;
    if (!f)
        return false;
    size_t len = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    text[len] = '\0';
    snprintf(word, cap, "%.*s", (int)strcspn(text, " \n"), text);
    *luma = 128;
    camera.number = 0;
    sscanf(text, "%*s %d %d", luma, &camera.number);
    return true;
}

// The picture's file, or NULL.
static FILE *open_jpeg(void)
{
    char path[512];
    snprintf(path, sizeof(path), "%s.jpg", getenv("WEIR_FAKE_CAMERA"));
    return fopen(path, "r");
}

static bool has_jpeg(void)
{
    FILE *f = open_jpeg();
    if (f)
        fclose(f);
    return f;
}

static void set_light(bool on)
{
    char path[512];
    snprintf(path, sizeof(path), "%s.on", getenv("WEIR_FAKE_CAMERA"));
    if (!on) {
        unlink(path);
        return;
    }
    FILE *f = fopen(path, "w");
    if (f)
        fclose(f);
}

static int fail(int error)
{
    errno = error;
    return -1;
}

static int enumerate_size(struct v4l2_frmsizeenum *e)
{
    bool jpeg = e->pixel_format == V4L2_PIX_FMT_MJPEG && has_jpeg();
    if (e->index >= (jpeg ? 1 : 2) || !(jpeg || e->pixel_format == V4L2_PIX_FMT_YUYV))
        return fail(EINVAL);
    e->type = V4L2_FRMSIZE_TYPE_DISCRETE;
    if (jpeg) {
        e->discrete.width = 1280;
        e->discrete.height = 720;
        return 0;
    }
    e->discrete.width = sizes[e->index].width;
    e->discrete.height = sizes[e->index].height;
    return 0;
}

static int set_format(struct v4l2_format *f, bool set)
{
    int i = f->fmt.pix.width == 320 ? 1 : 0;
    if (set && camera.streaming)
        return fail(EBUSY);
    if (set) {
        camera.jpeg = f->fmt.pix.pixelformat == V4L2_PIX_FMT_MJPEG && has_jpeg();
        camera.width = camera.jpeg ? 1280 : (int)sizes[i].width;
        camera.height = camera.jpeg ? 720 : (int)sizes[i].height;
    }
    f->fmt.pix = (struct v4l2_pix_format){
        .width = (unsigned)camera.width,
        .height = (unsigned)camera.height,
        .pixelformat = camera.jpeg ? V4L2_PIX_FMT_MJPEG : V4L2_PIX_FMT_YUYV,
        .field = V4L2_FIELD_NONE,
        .bytesperline = (unsigned)camera.width * 2,
        .sizeimage = (unsigned)(camera.width * camera.height * 2)};
    return 0;
}

static void describe(struct v4l2_buffer *b)
{
    b->memory = V4L2_MEMORY_MMAP;
    b->length = (unsigned)(camera.width * camera.height * 2);
    b->bytesused = b->length;
    b->m.offset = b->index * MAX_BYTES;
    b->flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
}

static int take_picture(struct v4l2_buffer *b)
{
    char word[16];
    int luma;
    if (!look(word, sizeof(word), &luma) || camera.number != camera.opened)
        return fail(ENODEV);
    if (!camera.queued[camera.next] || now() < camera.due || strcmp(word, "silent") == 0)
        return fail(EAGAIN);
    unsigned char *out = camera.memory + camera.next * MAX_BYTES;
    b->index = (unsigned)camera.next;
    describe(b);
    FILE *f = camera.jpeg ? open_jpeg() : NULL;
    if (f) {
        b->bytesused = (unsigned)fread(out, 1, MAX_BYTES, f);
        fclose(f);
    }
    for (int i = 0; i < camera.width * camera.height && !f; i++) {
        out[2 * i] = (unsigned char)luma;
        out[2 * i + 1] = 128;
    }
    bool odd = camera.count++ % 2;
    if (odd && strcmp(word, "torn") == 0)
        b->bytesused /= 2;
    if (odd && strcmp(word, "empty") == 0)
        b->bytesused = 0;
    double stamp = camera.due - (strcmp(word, "late") == 0 ? LATE : 0);
    b->timestamp.tv_sec = (time_t)stamp;
    b->timestamp.tv_usec = (suseconds_t)((stamp - (double)(time_t)stamp) * 1e6);
    camera.queued[camera.next] = false;
    camera.next = (camera.next + 1) % BUFFERS;
    camera.due += 1.0 / (strcmp(word, "slow") == 0 ? SLOW_FPS : camera.jpeg ? JPEG_FPS : FPS);
    return 0;
}

static int stream(bool on)
{
    char word[16];
    int luma;
    if (on && (!look(word, sizeof(word), &luma) || strcmp(word, "busy") == 0))
        return fail(EBUSY);
    camera.streaming = on;
    camera.due = now() + 1.0 / FPS;
    camera.next = 0;
    set_light(on);
    return 0;
}

static int answer(unsigned long request, void *arg)
{
    struct v4l2_capability *c = arg;
    struct v4l2_fmtdesc *f = arg;
    struct v4l2_frmivalenum *i = arg;
    struct v4l2_streamparm *p = arg;
    struct v4l2_buffer *b = arg;
    switch (request) {
    case VIDIOC_QUERYCAP:
        memset(c, 0, sizeof(*c));
        snprintf((char *)c->card, sizeof(c->card), "A fake camera");
        c->capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
        return 0;
    case VIDIOC_G_INPUT:
        *(int *)arg = 0;
        return 0;
    case VIDIOC_ENUMINPUT:
        return 0;
    case VIDIOC_ENUM_FMT:
        f->pixelformat = f->index ? V4L2_PIX_FMT_MJPEG : V4L2_PIX_FMT_YUYV;
        return f->index < (has_jpeg() ? 2 : 1) ? 0 : fail(EINVAL);
    case VIDIOC_ENUM_FRAMESIZES:
        return enumerate_size(arg);
    case VIDIOC_ENUM_FRAMEINTERVALS:
        i->type = V4L2_FRMIVAL_TYPE_DISCRETE;
        i->discrete =
            (struct v4l2_fract){1, i->pixel_format == V4L2_PIX_FMT_MJPEG ? JPEG_FPS : FPS};
        return i->index == 0 ? 0 : fail(EINVAL);
    case VIDIOC_G_FMT:
        return set_format(arg, false);
    case VIDIOC_S_FMT:
        return set_format(arg, true);
    case VIDIOC_G_PARM:
    case VIDIOC_S_PARM:
        p->parm.capture.capability = V4L2_CAP_TIMEPERFRAME;
        p->parm.capture.timeperframe = (struct v4l2_fract){1, camera.jpeg ? JPEG_FPS : FPS};
        return 0;
    case VIDIOC_REQBUFS:
        ((struct v4l2_requestbuffers *)arg)->count = BUFFERS;
        return 0;
    case VIDIOC_QUERYBUF:
        describe(b);
        return b->index < BUFFERS ? 0 : fail(EINVAL);
    case VIDIOC_QBUF:
        camera.queued[b->index % BUFFERS] = true;
        return 0;
    case VIDIOC_DQBUF:
        return take_picture(b);
    case VIDIOC_STREAMON:
        return stream(true);
    case VIDIOC_STREAMOFF:
        return stream(false);
    default:
        return fail(ENOTTY); // no standards, no controls
    }
}

// ---- What the program calls ----

static int open_any(const char *name, const char *path, int flags, unsigned mode)
{
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);
    char word[16];
    int luma;
    if (strncmp(path, "/dev/video", 10) != 0)
        return real(path, flags, mode);
    if (!look(word, sizeof(word), &luma) || atoi(path + 10) != camera.number)
        return fail(ENOENT);
    camera.opened = camera.number;
    if (strcmp(word, "closed") == 0)
        return fail(EACCES);
    if (!camera.memory)
        camera.memory = mmap(NULL, BUFFERS * MAX_BYTES, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    camera.fd = real("/dev/zero", O_RDWR | O_CLOEXEC, 0);
    return camera.fd;
}

#define DEFINE_OPEN(name)                                                                          \
    int name(const char *path, int flags, ...);                                                    \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        unsigned mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, unsigned) : 0;              \
        va_end(args);                                                                              \
        return open_any(#name, path, flags, mode);                                                 \
    }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

int close(int fd)
{
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "close");
    if (fd >= 0 && fd == camera.fd) {
        camera.fd = -1;
        if (camera.streaming)
            stream(false);
    }
    return real(fd);
}

int ioctl(int fd, unsigned long request, ...);
int ioctl(int fd, unsigned long request, ...)
{
    int (*real)(int, unsigned long, ...) =
        (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
    va_list args;
    va_start(args, request);
    void *arg = va_arg(args, void *);
    va_end(args);
    return fd >= 0 && fd == camera.fd ? answer(request & 0xffffffff, arg) : real(fd, request, arg);
}

#define DEFINE_MMAP(name)                                                                          \
    void *name(void *at, size_t len, int protection, int flags, int fd, off_t offset)              \
    {                                                                                              \
        void *(*real)(void *, size_t, int, int, int, off_t) =                                      \
            (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, #name);              \
        return fd >= 0 && fd == camera.fd ? camera.memory + offset                                 \
                                          : real(at, len, protection, flags, fd, offset);          \
    }
DEFINE_MMAP(mmap)
DEFINE_MMAP(mmap64)

int munmap(void *at, size_t len)
{
    int (*real)(void *, size_t) = (int (*)(void *, size_t))dlsym(RTLD_NEXT, "munmap");
    unsigned char *p = at;
    bool ours = camera.memory && p >= camera.memory && p < camera.memory + BUFFERS * MAX_BYTES;
    return ours ? 0 : real(at, len);
}
