// SPDX-License-Identifier: GPL-2.0-or-later
// CAP_NET_RAW, which each thread has for itself: a program may already have threads that libraries
// started when they were loaded, and all threads share one memory, so it counts only when none has
// it any more. A thread can be told to give it up by a signal alone (as nptl(7) does for setuid).
#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/raw_tcp.h"

#ifdef __SANITIZE_THREAD__
#define ANSWER_TIMEOUT USEC_PER_SEC // ThreadSanitizer has a thread of its own that takes no signals
#else
#define ANSWER_TIMEOUT                                                                             \
    (10 * USEC_PER_SEC) // one that reads a library from a busy disk takes none either
#endif

static atomic_int dropped; // threads that were told to, and did

bool raw_tcp_has_capability(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2];
    return syscall(SYS_capget, &head, sets) == 0 &&
           sets[CAP_TO_INDEX(CAP_NET_RAW)].effective & CAP_TO_MASK(CAP_NET_RAW);
}

// This thread's. False: errno says why. Safe in a signal's handler.
static bool drop(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2];
    if (syscall(SYS_capget, &head, sets) != 0)
        return false;
    uint32_t keep = ~CAP_TO_MASK(CAP_NET_RAW);
    struct __user_cap_data_struct *set = &sets[CAP_TO_INDEX(CAP_NET_RAW)];
    set->effective &= keep;
    set->permitted &= keep;
    set->inheritable &= keep; // which takes it out of the ambient ones, too
    return syscall(SYS_capset, &head, sets) == 0;
}

static void on_told(int number)
{
    (void)number;
    int saved = errno;
    if (drop())
        atomic_fetch_add(&dropped, 1);
    errno = saved;
}

static bool tell(pid_t thread)
{
    int before = atomic_load(&dropped);
    usec_t end = clock_now() + ANSWER_TIMEOUT;
    for (int number = SIGRTMIN; atomic_load(&dropped) == before; number = 0) {
        if (syscall(SYS_tgkill, getpid(), thread, number) != 0)
            return errno == ESRCH; // it has ended, perhaps before it took the signal
        if (clock_now() > end) {
            errno = ETIMEDOUT; // it blocks the signal, or failed
            return false;
        }
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000}, NULL);
    }
    return true;
}

// Threads that no code of ours has started yet start none either.
static bool tell_the_others(void)
{
    DIR *folder = opendir("/proc/self/task");
    if (!folder)
        return false;
    struct sigaction told = {.sa_handler = on_told, .sa_flags = SA_RESTART}, before;
    int why = sigaction(SIGRTMIN, &told, &before) == 0 ? 0 : errno;
    bool set = why == 0;
    for (struct dirent *d; set && (d = readdir(folder));) {
        pid_t thread = (pid_t)strtol(d->d_name, NULL, 10);
        if (thread > 0 && thread != (pid_t)syscall(SYS_gettid) && !tell(thread))
            why = errno;
    }
    if (why == 0) // else one may still take the signal, which must not end the program
        sigaction(SIGRTMIN, &before, NULL);
    closedir(folder);
    errno = why;
    return why == 0;
}

int raw_tcp_drop_capability(void)
{
    if (drop() && tell_the_others())
        return 0;
#ifdef __SANITIZE_THREAD__
    if (errno == ETIMEDOUT)
        return 0;
#endif
    log_error("cannot give up CAP_NET_RAW: %s", strerror(errno));
    return ERR_IO;
}
