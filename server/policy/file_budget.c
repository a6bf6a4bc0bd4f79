// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/file_budget.h"

#include <limits.h>

uint64_t file_budget_of(int viewers)
{
    return (uint64_t)viewers * FILE_BUDGET_VIEWER + FILE_BUDGET_OTHERS;
}

int file_budget_viewers(uint64_t limit)
{
    uint64_t viewers =
        limit > FILE_BUDGET_OTHERS ? (limit - FILE_BUDGET_OTHERS) / FILE_BUDGET_VIEWER : 0;
    return viewers < INT_MAX ? (int)viewers : INT_MAX;
}
