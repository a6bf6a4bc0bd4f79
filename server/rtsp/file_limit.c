// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/file_limit.h"

#include <sys/resource.h>

#include "common/base/log.h"
#include "server/policy/file_budget.h"

// Raises the limit of open files. The usual soft limit of 1024 exists for programs that use
// select(). Only root can raise the hard limit.
void file_limit_raise(int max_viewers, int each, int others)
{
    rlim_t wanted = file_budget_of(max_viewers * each) + (rlim_t)others;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    rlim_t most = limit.rlim_max;
    limit.rlim_cur = wanted;
    limit.rlim_max = wanted > most ? wanted : most;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
        return;
    limit.rlim_cur = limit.rlim_max = most;
    setrlimit(RLIMIT_NOFILE, &limit);
    uint64_t left = most > (rlim_t)others ? most - (rlim_t)others : 0;
    log_warn("the system allows %llu open files: of %d viewers only %d fit if all are third-party "
             "players with audio over UDP (raise the limit to %llu with ulimit -Hn, or lower "
             "--max-viewers)",
             (unsigned long long)most, max_viewers, file_budget_viewers(left) / each,
             (unsigned long long)wanted);
}
