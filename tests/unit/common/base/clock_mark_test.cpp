// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>

#include "common/base/clock_mark.h"

static siphash_key key_of(const char *boot_id)
{
    siphash_key key;
    REQUIRE(clock_mark_key(boot_id, &key));
    return key;
}

static std::string mark(const siphash_key &key, uint64_t nonce)
{
    char text[CLOCK_MARK_TEXT];
    clock_mark_write(&key, nonce, text);
    return text;
}

TEST_CASE("clock_mark: the key is the whole boot id")
{
    siphash_key key = key_of("01234567-89ab-cdef-0123-456789abcdef");
    CHECK(key.k[0] == 0x0123456789abcdef);
    CHECK(key.k[1] == 0x0123456789abcdef);
    for (const char *bad :
         {"", "01234567", "01234567-89ab-cdef-0123-456789abcde",
          "01234567-89ab-cdef-0123-456789abcdef0", "0123456789ab-cdef-0123-456789abcdef--",
          "01234567-89AB-cdef-0123-456789abcdef", "01234567-89ab-cdef-0123-456789abcdeg"}) {
        INFO(bad);
        CHECK_FALSE(clock_mark_key(bad, &key));
    }
}

TEST_CASE("clock_mark: a holder of the key recognises the mark, others do not")
{
    siphash_key ours = key_of("01234567-89ab-cdef-0123-456789abcdef");
    siphash_key other = key_of("01234567-89ab-cdef-0123-456789abcdee");
    std::string one = mark(ours, 1), two = mark(ours, 2);
    CHECK(one.size() == CLOCK_MARK_TEXT - 1);
    CHECK(one.substr(0, 17) == "0000000000000001-");
    CHECK(one.substr(17) != two.substr(17));
    for (const std::string &text : {one, two, mark(ours, UINT64_MAX)}) {
        CHECK(clock_mark_is_of(&ours, text.c_str()));
        CHECK_FALSE(clock_mark_is_of(&other, text.c_str()));
    }
}

TEST_CASE("clock_mark: a changed, truncated or older mark is not recognised")
{
    const char *boot = "01234567-89ab-cdef-0123-456789abcdef";
    siphash_key key = key_of(boot);
    std::string good = mark(key, 0x5eed);
    for (size_t i = 0; i < good.size(); i++) {
        std::string bad = good;
        bad[i] = bad[i] == '0' ? '1' : '0';
        CHECK_FALSE(clock_mark_is_of(&key, bad.c_str()));
        CHECK_FALSE(clock_mark_is_of(&key, good.substr(0, i).c_str()));
    }
    CHECK_FALSE(clock_mark_is_of(&key, (good + "0").c_str()));
    CHECK_FALSE(clock_mark_is_of(&key, boot));
}
