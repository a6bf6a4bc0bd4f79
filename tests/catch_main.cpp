// SPDX-License-Identifier: GPL-2.0-or-later
// The main function of the unit tests. Catch2 prints the name of the running test case on SIGABRT,
// so whatever else ends a test case from outside is turned into SIGABRT: an error that a sanitizer
// finds, and a test case that hangs.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#include <csignal>
#include <cstdlib>
#include <sys/time.h>

#include "tests/support/failing_alloc.hpp"

// The sanitizers' run-time libraries call these, if they are linked, before main.
extern "C" {
const char *__asan_default_options();
const char *__asan_default_options()
{
    return "abort_on_error=1";
}
const char *__ubsan_default_options();
const char *__ubsan_default_options()
{
    return "abort_on_error=1:print_stacktrace=1";
}
}

// The linker sends the allocations of the code under test here (--wrap), not those of libraries.
namespace
{
thread_local int alloc_left = -1; // until one fails; < 0: none does
thread_local bool alloc_failed;

bool fails()
{
    bool now = alloc_left == 0;
    alloc_left -= alloc_left >= 0;
    alloc_failed |= now;
    return now;
}
} // namespace

void failing_alloc_set(int count)
{
    alloc_left = count;
    alloc_failed = false;
}

bool failing_alloc_end()
{
    alloc_left = -1;
    return alloc_failed;
}

extern "C" {
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
    return fails() ? nullptr : __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? nullptr : __real_calloc(count, size);
}
void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? nullptr : __real_realloc(old, size);
}
}

namespace
{

// Of a test case that never ends: of the processor's time, which a busy machine does not shorten,
// and of the clock for one that sleeps. The clock's is less than the time that ctest gives a
// binary.
const int MAX_CPU_SECONDS = 900, MAX_SECONDS = 3000;

struct time_limit : Catch::TestEventListenerBase {
    using TestEventListenerBase::TestEventListenerBase;

    static void set(int cpu_seconds, int seconds)
    {
        const itimerval cpu = {{0, 0}, {cpu_seconds, 0}}, clock = {{0, 0}, {seconds, 0}};
        setitimer(ITIMER_PROF, &cpu, nullptr);
        setitimer(ITIMER_REAL, &clock, nullptr);
    }
    void testCaseStarting(const Catch::TestCaseInfo &) override
    {
        std::signal(SIGPROF, [](int) { std::abort(); });
        std::signal(SIGALRM, [](int) { std::abort(); });
        set(MAX_CPU_SECONDS, MAX_SECONDS);
    }
    void testCaseEnded(const Catch::TestCaseStats &) override
    {
        set(0, 0);
    }
};

} // namespace

CATCH_REGISTER_LISTENER(time_limit)
