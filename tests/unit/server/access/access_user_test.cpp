// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/access/access_user.h"

#include <catch2/catch.hpp>
#include <crypt.h>
#include <string>

#include "common/base/err.h"
#include "tests/unit/temp_folder.hpp"

TEST_CASE("access_user: names")
{
    for (const std::string &good :
         {std::string("anna"), std::string("a=b"), std::string("\xc3\xa4"), std::string(63, 'a')})
        CHECK(access_user_is_name(good.c_str()));
    for (const std::string &bad :
         {std::string(), std::string("*"), std::string("a b"), std::string("a:b"),
          std::string("a\nallow = a / watch"), std::string(64, 'a'), std::string(9000, 'a')})
        CHECK_FALSE(access_user_is_name(bad.c_str()));
}

TEST_CASE("access_user: the line has a hash of the password, with a salt of its own")
{
    char line[ACCESS_LINE_MAX], again[ACCESS_LINE_MAX];
    REQUIRE(access_user_line("anna", "good", line) == 0);
    REQUIRE(access_user_line("anna", "good", again) == 0);
    CHECK(std::string(line) != again);
    const std::string begin = "user = anna:";
    REQUIRE(std::string(line).find(begin) == 0);
    const char *hash = line + begin.size();
    crypt_data data = {};
    CHECK(std::string(crypt_r("good", hash, &data)) == hash);
    CHECK(std::string(crypt_r("bad", hash, &data)) != hash);
}

TEST_CASE("access_user: a line is appended once, to a file that can be read")
{
    temp_folder t;
    const std::string line = "user = anna:$y$x";
    const std::string fresh = t / "fresh", old = t.write("old", "user = bob:$y$x"),
                      bad = t.write("bad", "nonsense\n");
    CHECK(access_user_append(fresh.c_str(), "anna", line.c_str()) == 0);
    CHECK(t.read("fresh") == line + "\n");
    CHECK(access_user_append(fresh.c_str(), "anna", line.c_str()) == ERR_IO);
    CHECK(temp_folder::logged().find("has a user anna already") != std::string::npos);
    CHECK(access_user_append(old.c_str(), "anna", line.c_str()) == 0);
    CHECK(t.read("old") == "user = bob:$y$x\n" + line + "\n");
    CHECK(access_user_append(bad.c_str(), "anna", line.c_str()) == ERR_IO);
    CHECK(t.read("bad") == "nonsense\n");
    CHECK(access_user_append((t / "none/users").c_str(), "anna", line.c_str()) == ERR_IO);
}
