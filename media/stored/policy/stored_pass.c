// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/policy/stored_pass.h"

bool stored_pass_fits(const int64_t *idrs, int count, int64_t frames, int gop)
{
    int64_t next = 0; // the first frame of the next group
    for (int i = 0; i < count && next < frames && idrs[i] <= next; i++)
        if (idrs[i] == next)
            next += gop;
    return next >= frames;
}
