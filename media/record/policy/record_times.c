// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/policy/record_times.h"

void record_times_frame(struct record_times *t, usec_t *time, usec_t *decode)
{
    if (!t->begun)
        t->first = *time;
    *time = usec_max(*time, t->first);
    *decode = *time - t->delay;
    if (t->begun)
        *decode = usec_max(*decode, t->decoded + RECORD_TIMES_APART);
    *time = usec_max(*time, *decode);
    t->begun = true;
    t->decoded = *decode;
}

usec_t record_times_audio(const struct record_times *t, usec_t time)
{
    return time - t->delay;
}
