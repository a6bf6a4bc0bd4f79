// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/export/process_stats.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static double seconds(const struct timeval *t)
{
    return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static double resident_bytes(void)
{
    FILE *f = fopen("/proc/self/statm", "re"); // proc(5): size resident ..., in pages
    if (!f)
        return NAN;
    long pages;
    double bytes =
        fscanf(f, "%*d %ld", &pages) == 1 ? (double)pages * (double)sysconf(_SC_PAGESIZE) : NAN;
    fclose(f);
    return bytes;
}

static int open_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    if (!d)
        return -1;
    int count = -3; // ".", ".." and this directory itself
    while (readdir(d))
        count++;
    closedir(d);
    return count;
}

void process_stats_read(struct process_stats *out)
{
    struct rusage use;
    struct rlimit files;
    getrusage(RUSAGE_SELF, &use);
    bool bounded = getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < INT32_MAX;
    *out = (struct process_stats){
        .user_seconds = seconds(&use.ru_utime),
        .system_seconds = seconds(&use.ru_stime),
        .resident_bytes = resident_bytes(),
        .max_resident_bytes = (double)use.ru_maxrss * 1024,
        .open_files = open_files(),
        .max_files = bounded ? (int)files.rlim_cur : -1,
    };
}
