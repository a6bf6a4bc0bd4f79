// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/export/process_stats.h"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

TEST_CASE("process_stats: the resources of this process")
{
    process_stats p;
    process_stats_read(&p);
    CHECK(p.user_seconds >= 0);
    CHECK(p.system_seconds >= 0);
    CHECK(p.resident_bytes > 100e3);
    CHECK(p.max_resident_bytes > 100e3);
}

TEST_CASE("process_stats: open files are counted, and the limit is the soft one")
{
    process_stats before, with, limited;
    process_stats_read(&before);
    int fds[] = {open("/dev/null", O_RDONLY), open("/dev/null", O_RDONLY)};
    process_stats_read(&with);
    CHECK(with.open_files == before.open_files + 2);
    for (int fd : fds)
        close(fd);
    rlimit limit;
    REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    rlimit lower = limit;
    lower.rlim_cur = 100;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &lower) == 0);
    process_stats_read(&limited);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(limited.max_files == 100);
}
