// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/net/random.h"

static usec_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (usec_t)t.tv_sec * USEC_PER_SEC + t.tv_nsec / 1000;
}

usec_t clock_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

usec_t clock_wall(void)
{
    return read_clock(CLOCK_REALTIME);
}

static usec_t wall_ahead; // of CLOCK_MONOTONIC, at the first call

static void begin_steady(void)
{
    wall_ahead = clock_wall() - clock_now();
}

usec_t clock_wall_steady(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin_steady);
    return wall_ahead + clock_now();
}

usec_t clock_thread_cpu(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void clock_wait_until(usec_t when)
{
    struct timespec t = {.tv_sec = when / USEC_PER_SEC, .tv_nsec = when % USEC_PER_SEC * 1000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

void clock_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

// One boot of a kernel has one CLOCK_REALTIME, in all namespaces, so its boot id identifies the
// clock.
static bool read_boot_key(struct siphash_key *out)
{
    char id[64] = "";
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (!f)
        return false;
    if (fgets(id, sizeof(id), f))
        id[strcspn(id, "\n")] = '\0';
    fclose(f);
    return clock_mark_key(id, out);
}

void clock_identity(char out[CLOCK_MARK_TEXT])
{
    struct siphash_key key;
    uint64_t nonce;
    if (read_boot_key(&key) && random_fill(&nonce, sizeof(nonce)))
        clock_mark_write(&key, nonce, out);
    else
        out[0] = '\0';
}

bool clock_is_ours(const char *identity)
{
    struct siphash_key key;
    return read_boot_key(&key) && clock_mark_is_of(&key, identity);
}
