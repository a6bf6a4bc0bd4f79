// SPDX-License-Identifier: GPL-2.0-or-later
// The main function of the unit tests. Catch2 prints the name of the running test case on SIGABRT,
// so whatever else ends a test case from outside is turned into SIGABRT: an error that a sanitizer
// finds, and a test case that hangs.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#include <csignal>
#include <cstdlib>
#include <unistd.h>

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

const unsigned LONGEST_CASE_SECONDS = 850; // less than the time that ctest gives a binary

struct time_limit : Catch::TestEventListenerBase {
    using TestEventListenerBase::TestEventListenerBase;

    void testCaseStarting(const Catch::TestCaseInfo &) override
    {
        std::signal(SIGALRM, [](int) { std::abort(); });
        alarm(LONGEST_CASE_SECONDS);
    }
    void testCaseEnded(const Catch::TestCaseStats &) override
    {
        alarm(0);
    }
};

} // namespace

CATCH_REGISTER_LISTENER(time_limit)
