// SPDX-License-Identifier: GPL-2.0-or-later
// A libavcodec without AAC's encoder, for a program that is started with this library in
// LD_PRELOAD.
#include <dlfcn.h>
#include <string.h>

const void *avcodec_find_encoder_by_name(const char *name);

const void *avcodec_find_encoder_by_name(const char *name)
{
    static const void *(*real)(const char *);
    if (strcmp(name, "aac") == 0)
        return NULL;
    if (!real)
        real = (const void *(*)(const char *))dlsym(RTLD_NEXT, "avcodec_find_encoder_by_name");
    return real(name);
}
