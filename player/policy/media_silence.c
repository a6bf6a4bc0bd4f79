// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/media_silence.h"

void media_silence_begin(struct media_silence *s, uint64_t packets, usec_t now)
{
    *s = (struct media_silence){.packets = packets, .since = now, .due = true};
}

usec_t media_silence_look(struct media_silence *s, uint64_t packets, bool due, usec_t now)
{
    bool came = packets != s->packets;
    s->packets = packets;
    s->received |= came;
    if (came || !due || !s->due) // media was not due before: the silence starts now
        s->since = now;
    s->due = due;
    return now - s->since;
}
