// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/segment_follow.h"

void segment_follow_init(struct segment_follow *f, usec_t wanted, usec_t longest, size_t most,
                         usec_t interval)
{
    *f = (struct segment_follow){
        .wanted = wanted, .longest = longest, .most = most, .interval = interval};
}

void segment_follow_break(struct segment_follow *f)
{
    f->has_begun = false;
}

static enum segment_verdict begin(struct segment_follow *f, usec_t time, bool key, size_t bytes)
{
    f->is_cut = !key;
    f->bytes = bytes;
    f->begin = f->asked = f->last = time;
    return SEGMENT_BEGINS;
}

enum segment_verdict segment_follow_frame(struct segment_follow *f, usec_t time, bool key,
                                          size_t bytes)
{
    if (!f->has_begun) {
        f->has_begun = key;
        return key ? begin(f, time, key, bytes) : SEGMENT_LEAVES_OUT;
    }
    usec_t apart = time - f->last;
    if (apart <= 0 || (key && apart > SEGMENT_GAP && apart > 4 * f->interval))
        return SEGMENT_BREAKS;
    f->interval = apart;
    bool is_due = key && (f->is_cut || time - f->begin >= f->wanted - f->wanted / 8);
    if (is_due || time + apart - f->begin > f->longest || f->bytes + bytes > f->most)
        return begin(f, time, key, bytes);
    f->last = time;
    f->bytes += bytes;
    return SEGMENT_CONTINUES;
}

bool segment_follow_wants_key(struct segment_follow *f)
{
    if (!f->has_begun || f->last - f->begin < 2 * f->wanted || f->last - f->asked < USEC_PER_SEC)
        return false;
    f->asked = f->last;
    return true;
}
