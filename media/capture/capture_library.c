// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/capture_library.h"

#include <dlfcn.h>
#include <libavdevice/avdevice.h>
#include <pthread.h>
#include <stdio.h>

#include "media/convert/convert.h"

#define MAJOR AV_STRINGIFY(LIBAVDEVICE_VERSION_MAJOR)

static char failed[512]; // the reason why loading failed, or ""; written once

// The library is never unloaded: libav keeps pointers to the devices that it registers.
static void load(void)
{
    void (*register_all)(void) = NULL;
    libav_log_to_log();
    void *library = dlopen("libavdevice.so." MAJOR, RTLD_NOW | RTLD_LOCAL);
    if (library)
        *(void **)&register_all = dlsym(library, "avdevice_register_all");
    if (register_all)
        register_all();
    else
        snprintf(failed, sizeof(failed),
                 "devices require libavdevice (Debian: install libavdevice" MAJOR "): %s",
                 dlerror());
}

const char *capture_library_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return failed[0] ? failed : NULL;
}
