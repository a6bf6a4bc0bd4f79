// SPDX-License-Identifier: GPL-2.0-or-later
// A library that starts a thread when the program loads it, as numerical libraries do, for a
// program that is started with it in LD_PRELOAD.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *wait_for_ever(void *arg)
{
    for (;;)
        pause();
    return arg;
}

__attribute__((constructor)) static void start(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
        abort();
    pthread_setname_np(thread, "early");
}
