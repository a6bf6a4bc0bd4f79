// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/v4l2_modes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/base/err.h"

enum { MAX_INDEX = 64 }; // max. formats, sizes or rates; a faulty driver may never end its list

static const struct {
    uint32_t fourcc;
    struct capture_format format;
} formats[] = {
    {V4L2_PIX_FMT_YUYV, {"YUYV", "yuyv422", false}},
    {V4L2_PIX_FMT_UYVY, {"UYVY", "uyvy422", false}},
    {V4L2_PIX_FMT_YUV420, {"YU12", "yuv420p", false}},
    {V4L2_PIX_FMT_NV12, {"NV12", "nv12", false}},
    {V4L2_PIX_FMT_YUV422P, {"422P", "yuv422p", false}},
    {V4L2_PIX_FMT_RGB24, {"RGB", "rgb24", false}},
    {V4L2_PIX_FMT_BGR24, {"BGR", "bgr24", false}},
    {V4L2_PIX_FMT_GREY, {"GREY", "gray", false}},
    {V4L2_PIX_FMT_MJPEG, {"MJPEG", "mjpeg", true}},
    {V4L2_PIX_FMT_JPEG, {"JPEG", "mjpeg", true}},
};

static const struct capture_format *format_of(uint32_t fourcc)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (formats[i].fourcc == fourcc)
            return &formats[i].format;
    return NULL;
}

struct list {
    struct capture_mode *out;
    int count;
};

static void add(struct list *l, const struct capture_mode *mode)
{
    if (l->count < CAPTURE_MAX_MODES)
        l->out[l->count++] = *mode;
}

// Returns the reciprocal of an interval, or 0/1 (unknown) for an absurd one.
static struct fps rate_of(struct v4l2_fract interval)
{
    if (!interval.numerator || !interval.denominator || interval.numerator > 1000000 ||
        interval.denominator > 100000000)
        return (struct fps){0, 1};
    return (struct fps){(int)interval.denominator, (int)interval.numerator};
}

static void add_rates(struct list *l, int fd, uint32_t fourcc, struct capture_mode mode)
{
    struct v4l2_frmivalenum e = {.pixel_format = fourcc,
                                 .width = (uint32_t)mode.max_width,
                                 .height = (uint32_t)mode.max_height};
    mode.slowest = mode.fastest = (struct fps){0, 1};
    int found = 0;
    for (; e.index < MAX_INDEX && ioctl(fd, VIDIOC_ENUM_FRAMEINTERVALS, &e) == 0; e.index++) {
        bool discrete = e.type == V4L2_FRMIVAL_TYPE_DISCRETE;
        mode.fastest = rate_of(discrete ? e.discrete : e.stepwise.min);
        mode.slowest = rate_of(discrete ? e.discrete : e.stepwise.max);
        add(l, &mode);
        found++;
        if (!discrete)
            break;
    }
    if (!found)
        add(l, &mode);
}

static bool is_size(uint32_t width, uint32_t height)
{
    return width >= 16 && height >= 16 && width <= 16384 && height <= 16384;
}

static void add_sizes(struct list *l, int fd, uint32_t fourcc, const struct capture_format *format)
{
    struct v4l2_frmsizeenum e = {.pixel_format = fourcc};
    for (; e.index < MAX_INDEX && ioctl(fd, VIDIOC_ENUM_FRAMESIZES, &e) == 0; e.index++) {
        bool discrete = e.type == V4L2_FRMSIZE_TYPE_DISCRETE;
        struct v4l2_frmsize_stepwise s = e.stepwise;
        if (discrete)
            s = (struct v4l2_frmsize_stepwise){e.discrete.width,  e.discrete.width,  1,
                                               e.discrete.height, e.discrete.height, 1};
        if (is_size(s.min_width, s.min_height) && is_size(s.max_width, s.max_height))
            add_rates(l, fd, fourcc,
                      (struct capture_mode){.format = format,
                                            .min_width = (int)s.min_width,
                                            .max_width = (int)s.max_width,
                                            .step_width = (int)(s.step_width & 0x3fff),
                                            .min_height = (int)s.min_height,
                                            .max_height = (int)s.max_height,
                                            .step_height = (int)(s.step_height & 0x3fff)});
        if (!discrete)
            break;
    }
}

int v4l2_modes(const char *path, char *name, size_t cap, struct capture_mode out[CAPTURE_MAX_MODES])
{
    int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ENODEV || errno == ENXIO ? ERR_NOT_FOUND : ERR_IO;
    struct v4l2_capability capability;
    memset(&capability, 0, sizeof(capability));
    uint32_t caps = 0;
    if (ioctl(fd, VIDIOC_QUERYCAP, &capability) == 0)
        caps = capability.capabilities & V4L2_CAP_DEVICE_CAPS ? capability.device_caps
                                                              : capability.capabilities;
    if (!(caps & V4L2_CAP_VIDEO_CAPTURE) || !(caps & V4L2_CAP_STREAMING)) {
        close(fd);
        return ERR_UNSUPPORTED;
    }
    snprintf(name, cap, "%.*s", (int)sizeof(capability.card), (const char *)capability.card);
    struct list list = {.out = out};
    struct v4l2_fmtdesc e = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    for (; e.index < MAX_INDEX && ioctl(fd, VIDIOC_ENUM_FMT, &e) == 0; e.index++) {
        const struct capture_format *format = format_of(e.pixelformat);
        if (format)
            add_sizes(&list, fd, e.pixelformat, format);
    }
    close(fd);
    return list.count;
}
