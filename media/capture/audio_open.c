// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/audio_open.h"

#include <string.h>

#include "common/base/err.h"
#include "media/capture/audio_source_device.h"

// Returns the DEVICE of "FORMAT:DEVICE", "default" if `name` has none, or NULL if `name` does not
// begin with this format.
static const char *device_of(const char *name, const char *format)
{
    size_t len = strlen(format);
    if (strncmp(name, format, len) != 0 || (name[len] && name[len] != ':'))
        return NULL;
    return name[len] && name[len + 1] ? name + len + 1 : "default";
}

static const char *const formats[] = {"pulse", "alsa"};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

const char *audio_source_track(const char *name)
{
    static const char prefix[] = "track:";
    size_t len = sizeof(prefix) - 1;
    return name && strncmp(name, prefix, len) == 0 && name[len] ? name + len : NULL;
}

bool audio_source_is_name(const char *name)
{
    for (int i = 0; i < FORMATS; i++)
        if (device_of(name, formats[i]))
            return true;
    return strcmp(name, "none") == 0 || audio_source_track(name);
}

struct audio_source *audio_source_open(const char *name, const struct source *video,
                                       const char *path, struct audio_mix mix,
                                       struct media_guard *guard, int *err)
{
    *err = ERR_NOT_FOUND;
    for (int i = 0; name && i < FORMATS; i++) {
        const char *device = device_of(name, formats[i]);
        if (device)
            return audio_source_device_open(formats[i], device,
                                            usec_of_frames(1, video->fps.num, video->fps.den), err);
    }
    const char *track = audio_source_track(name);
    if (name && !track)
        return NULL;
    if (video->kind == SDP_SOURCE_TEST) {
        *err = ERR_NO_MEMORY;
        return audio_source_test_new();
    }
    return video->kind == SDP_SOURCE_FILE
               ? audio_source_file_open(path, video->origin, track, mix, false, guard, err)
               : NULL;
}
