// SPDX-License-Identifier: GPL-2.0-or-later
// Drops CAP_NET_RAW, which each thread holds separately. Libraries may have started threads when
// they were loaded; as all threads share one memory, the capability is gone only when no thread
// holds it. The only way to make another thread drop it is a signal (as nptl(7) does for setuid).
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
#define ANSWER_TIMEOUT USEC_PER_SEC // ThreadSanitizer's own thread handles no signals
#else
#define ANSWER_TIMEOUT                                                                             \
    (10 * USEC_PER_SEC) // nor does a thread that reads a library from a busy disk
#endif

static atomic_int dropped; // number of threads that have dropped it

bool raw_tcp_has_capability(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2];
    return syscall(SYS_capget, &head, sets) == 0 &&
           sets[CAP_TO_INDEX(CAP_NET_RAW)].effective & CAP_TO_MASK(CAP_NET_RAW);
}

// Drops the capability of this thread. Returns false with errno set on failure. Safe in a signal
// handler.
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
    set->inheritable &= keep; // which also removes it from the ambient set
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
            return errno == ESRCH; // the thread has ended, perhaps before it handled the signal
        if (clock_now() > end) {
            errno = ETIMEDOUT; // the thread blocks the signal, or failed
            return false;
        }
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000}, NULL);
    }
    return true;
}

// Makes the other threads drop the capability. They run no code of this program and start no
// threads.
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
    if (why == 0) // after a failure a thread may still receive the signal, which must not end the
                  // program
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
