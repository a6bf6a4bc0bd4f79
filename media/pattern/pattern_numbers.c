// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/pattern/pattern_numbers.h"

bool pattern_numbers_see(struct pattern_numbers *p, int64_t number, int64_t read)
{
    if (read < 0)
        return true;
    int64_t shift = read - number;
    bool agrees = p->doubts && shift == p->other && number != p->doubtful;
    if (shift == p->shift || agrees) {
        p->shift = shift;
        p->doubts = false;
        return true;
    }
    p->doubts = true;
    p->doubtful = number;
    p->other = shift;
    return false;
}
