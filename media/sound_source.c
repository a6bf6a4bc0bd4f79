// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/sound_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "media/test_tone.h"

static void test_read(struct sound_source *s, int64_t from, int16_t *out, int count)
{
    (void)s;
    test_tone_fill(from, out, count);
}

static void test_free(struct sound_source *s)
{
    free(s);
}

static const struct sound_source_ops test_ops = {.read = test_read, .free = test_free};

struct sound_source *sound_source_test_new(void)
{
    struct sound_source *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->ops = &test_ops;
    snprintf(s->name, sizeof(s->name), "a beep each second");
    return s;
}

// "FORMAT" or "FORMAT:DEVICE": the device, or its default; NULL: another format.
static const char *device_of(const char *name, const char *format)
{
    size_t len = strlen(format);
    if (strncmp(name, format, len) != 0 || (name[len] && name[len] != ':'))
        return NULL;
    return name[len] && name[len + 1] ? name + len + 1 : "default";
}

static const char *const formats[] = {"pulse", "alsa"};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

bool sound_source_is_name(const char *name)
{
    for (int i = 0; i < FORMATS; i++)
        if (device_of(name, formats[i]))
            return true;
    return strcmp(name, "none") == 0;
}

struct sound_source *sound_source_open(const char *name, const struct source *video,
                                       const char *path, struct media_guard *guard, int *err)
{
    *err = ERR_NOT_FOUND;
    for (int i = 0; name && i < FORMATS; i++) {
        const char *device = device_of(name, formats[i]);
        if (device)
            return sound_source_device_open(formats[i], device,
                                            usec_of_frames(1, video->fps.num, video->fps.den), err);
    }
    if (name)
        return NULL;
    if (video->kind == SDP_SOURCE_TEST) {
        *err = ERR_NO_MEMORY;
        return sound_source_test_new();
    }
    return video->kind == SDP_SOURCE_FILE ? sound_source_file_open(path, video->origin, guard, err)
                                          : NULL;
}
