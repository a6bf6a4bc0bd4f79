// SPDX-License-Identifier: GPL-2.0-or-later
// Checks which options conflict.
#include <math.h>
#include <stdarg.h>

#include "player/options/play_options.h"

static bool __attribute__((format(printf, 3, 4)))
fail(char *error, size_t cap, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error, cap, format, args);
    va_end(args);
    return false;
}

// --adapt goddard chooses level and buffer itself: options that set them conflict with it.
static bool check_goddard(struct play_options *o, char *error, size_t cap)
{
    if (o->adapt != ADAPT_GODDARD)
        return !o->has_goddard || fail(error, cap, "--goddard requires --adapt goddard");
    if (o->level >= 0)
        return fail(error, cap,
                    "--adapt goddard chooses the level itself, by what it measures of the "
                    "network: leave --level and ?level= out");
    if (o->has_buffer)
        return fail(error, cap,
                    "--adapt goddard has its own buffer: --goddard play_buf_thresh=SECONDS "
                    "instead of --buffer");
    if (o->low_latency)
        return fail(error, cap,
                    "--low-latency conflicts with --adapt goddard, which fills a buffer");
    if (o->latency)
        return fail(error, cap,
                    "--latency conflicts with --adapt goddard: both say how much the "
                    "buffer holds");
    o->buffer = (usec_t)llround(o->goddard.play_buf_thresh * 1e6);
    return true;
}

bool play_options_check(struct play_options *o, char *error, size_t cap)
{
    if (!o->url.host[0])
        return fail(error, cap, "no URL; expects rtsp://HOST[:PORT]/PATH");
    if (o->level < 0)
        o->level = o->url.level;
    if (o->headless && o->full_screen)
        return fail(error, cap, "--headless conflicts with --full-screen");
    if (o->latency && o->low_latency)
        return fail(error, cap, "--latency conflicts with --low-latency");
    if (o->low_latency && o->has_buffer && o->buffer)
        return fail(error, cap, "--low-latency conflicts with --buffer: it has no buffer");
    if (o->latency && o->has_buffer && o->buffer >= o->latency)
        return fail(error, cap,
                    "--buffer %g s is more than --latency %g ms leaves: expects less than %g s",
                    usec_to_sec(o->buffer), usec_to_msec(o->latency), usec_to_sec(o->latency));
    if (o->reconnect == OPTION_UNSET)
        o->reconnect = o->headless ? OPTION_OFF : OPTION_ON;
    if (o->no_picture && o->reference)
        return fail(error, cap, "--no-picture conflicts with --reference");
    if (o->adu_events && !o->events)
        return fail(error, cap, "--adu-events requires --events FILE");
    if (o->picture_events && (!o->events || o->no_picture))
        return fail(error, cap,
                    "--picture-events requires --events FILE and conflicts with --no-picture");
    return check_goddard(o, error, cap);
}
