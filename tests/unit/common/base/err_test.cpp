// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/err.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <set>
#include <string>

TEST_CASE("err: each code has its own text")
{
    std::set<std::string> texts;
    for (int err = ERR_UNTRUSTED; err <= ERR_OK; err++)
        texts.insert(err_text(err));
    CHECK(texts.size() == 1 - ERR_UNTRUSTED);
    CHECK(texts.count("unknown error") == 0);
    for (int err : {1, ERR_UNTRUSTED - 1, -1000})
        CHECK(err_text(err) == std::string("unknown error"));
}

TEST_CASE("err: a message is truncated to fit, and the code is returned")
{
    char out[9];
    memset(out, 'x', sizeof(out));
    CHECK(err_say(out, 8, ERR_RANGE, "%s %d", "rate", 12345) == ERR_RANGE);
    CHECK(out == std::string("rate 12"));
    CHECK(out[8] == 'x');
}
