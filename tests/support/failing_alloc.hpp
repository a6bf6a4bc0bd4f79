// SPDX-License-Identifier: GPL-2.0-or-later
// Lets one allocation of the code under test fail: malloc, calloc and realloc of this thread
// (catch_main.cpp wraps them).
#ifndef WEIR_TESTS_FAILING_ALLOC_HPP
#define WEIR_TESTS_FAILING_ALLOC_HPP

#include <catch2/catch.hpp>

// The allocation after `count` more fails; < 0: none.
void failing_alloc_set(int count);
// Ends that. Returns true if one has failed.
bool failing_alloc_end();

// Calls `make` with its first allocation failing, then its second, and so on until it needs no
// more: each time it must return NULL. What it leaves behind ASan finds. Returns the number of
// allocations.
template <class Make, class Release> int each_allocation_fails(Make make, Release release)
{
    for (int n = 0;; n++) {
        INFO("allocation " << n << " fails");
        failing_alloc_set(n);
        auto *made = make();
        if (failing_alloc_end()) {
            CHECK(made == nullptr);
            if (made)
                release(made);
            continue;
        }
        REQUIRE(made);
        release(made);
        return n;
    }
}

#endif
