// SPDX-License-Identifier: GPL-2.0-or-later
// A sanitizer looks at how each run treats its memory, ten times as slowly: there, tests of
// thousands of seeds or patterns take a part of them. The plain build takes all, and holds figures
// that are means over them.
#pragma once

#ifndef __has_feature // only clang has it, and not gcc's macros
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool SANITIZED = true;
#else
constexpr bool SANITIZED = false;
#endif

// How many of so many seeds a test takes.
constexpr int seeds_of(int all)
{
    return SANITIZED ? 1 : all;
}

// CHECK, of a figure that is a mean over seeds.
#define CHECK_MEAN(...)                                                                            \
    do {                                                                                           \
        if (!SANITIZED)                                                                            \
            CHECK(__VA_ARGS__);                                                                    \
    } while (0)
