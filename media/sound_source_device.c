// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/err.h"
#include "media/sound_source.h"
struct sound_source *sound_source_device_open(const char *format, const char *device,
                                              usec_t interval, int *err)
{
    (void)format;
    (void)device;
    (void)interval;
    *err = ERR_UNSUPPORTED;
    return NULL;
}
