// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/feed/encoder_speed.h"

#include <pthread.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "media/encode/x264_engine.h"
#include "media/pattern/pattern_picture.h"

enum {
    WIDTH = 1280,
    HEIGHT = 720,
    RATE = 30, // one thread encodes a size of this rate
    PICTURES = 30,
    MIN_PICTURES = 4,
    QUANTISER = 28, // as of the test picture at 1920 kbit/s
    DPB = 8,
};
#define MAX_CPU  (300 * USEC_PER_MSEC)
#define MAX_TIME USEC_PER_SEC // a busy machine gives little CPU time, and opening has a limit

// Returns the CPU time of the fastest picture but the first, which is a key frame: other programs
// slow a picture down, but never speed it up. Returns 0 if it failed.
static usec_t fastest(struct x264_engine *x264, const struct pattern_picture *pattern)
{
    usec_t least = 0, all = 0;
    usec_t end = clock_now() + MAX_TIME;
    for (int i = 0; i < PICTURES && (i < MIN_PICTURES || (all < MAX_CPU && clock_now() < end));
         i++) {
        struct picture *p = picture_new(WIDTH, HEIGHT);
        if (!p)
            return 0;
        pattern_picture_draw(pattern, i, p);
        usec_t begun = clock_thread_cpu();
        int bytes = x264_engine_encode(x264, p, i, i == 0, QUANTISER);
        usec_t took = clock_thread_cpu() - begun;
        picture_unref(p);
        if (bytes < 0)
            return 0;
        all += took;
        if (i > 0 && (least == 0 || took < least))
            least = took;
    }
    return least;
}

static struct encode_limit measure(void)
{
    struct size_spec size = {WIDTH, HEIGHT, {RATE, 1}, 1};
    struct x264_engine *x264 = x264_engine_new(&size, 0, DPB, false);
    struct pattern_picture *pattern = pattern_picture_new(WIDTH, HEIGHT, size.fps);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    usec_t took = x264 && pattern ? fastest(x264, pattern) : 0;
    pattern_picture_free(pattern);
    x264_engine_free(x264);
    if (took <= 0) {
        log_warn("cannot measure how fast this machine encodes: viewers get at most 1280x720 at 30 "
                 "frames/s (--level sets more)");
        return (struct encode_limit){0};
    }
    double rate = (double)WIDTH * HEIGHT / usec_to_sec(took);
    log_debug("a core encodes %.0f Mpixel/s, of %ld cores", rate / 1e6, cores);
    return encode_limit_of(rate, cores < 1 ? 1 : (int)cores);
}

struct encode_limit encoder_speed_limit(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct encode_limit limit;
    static bool measured;
    pthread_mutex_lock(&lock);
    if (!measured)
        limit = measure();
    measured = true;
    struct encode_limit result = limit;
    pthread_mutex_unlock(&lock);
    return result;
}
