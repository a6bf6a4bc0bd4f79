// SPDX-License-Identifier: GPL-2.0-or-later
// The main function of the unit tests. Catch2 prints the name of the running test case on SIGABRT,
// so whatever else ends a test case from outside is turned into SIGABRT: an error that a sanitizer
// finds, and a test case that hangs.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#include <csignal>
#include <cstdlib>
#include <sys/time.h>

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
