// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/login_sessions.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <string>

#include "common/base/err.h"

namespace
{

struct table {
    std::unique_ptr<login_sessions> s = std::make_unique<login_sessions>();
    uint64_t next = 0;
    table()
    {
        login_sessions_init(s.get());
    }
    std::string add(int user, usec_t now)
    {
        uint8_t random[LOGIN_TOKEN_BYTES] = {0x5a};
        char out[LOGIN_TOKEN_TEXT];
        next++;
        memcpy(random + 8, &next, sizeof(next));
        login_sessions_add(s.get(), random, user, now, out);
        REQUIRE(strlen(out) == LOGIN_TOKEN_TEXT - 1);
        return out;
    }
    int find(const std::string &token, usec_t now) const
    {
        return login_sessions_find(s.get(), {token.data(), token.size()}, now);
    }
    void end(const std::string &token)
    {
        login_sessions_end(s.get(), {token.data(), token.size()});
    }
};

} // namespace

TEST_CASE("login_sessions: a token is good until its time is over, or it is ended")
{
    table t;
    const std::string a = t.add(3, 100), b = t.add(3, 200);
    CHECK(a != b);
    CHECK(t.find(a, 100) == 3);
    CHECK(t.find(a, 100 + LOGIN_SESSION_TIME - 1) == 3);
    CHECK(t.find(a, 100 + LOGIN_SESSION_TIME) == ERR_NOT_FOUND);
    CHECK(t.find(b, 100 + LOGIN_SESSION_TIME) == 3);
    t.end(b);
    t.end(b);
    CHECK(t.find(b, 200) == ERR_NOT_FOUND);
    CHECK(t.find(a, 200) == 3);
}

TEST_CASE("login_sessions: what is no token is none")
{
    table t;
    const std::string good = t.add(0, 0);
    for (std::string bad : {std::string(), std::string(32, 'A'), good.substr(1), good + "A",
                            std::string(32, '='), std::string(32, '\0'), "B" + good.substr(1),
                            good.substr(0, 31) + "_", std::string(9000, 'A')}) {
        INFO(bad.substr(0, 40));
        CHECK(t.find(bad, 0) == ERR_NOT_FOUND);
        t.end(bad);
    }
    CHECK(t.find(good, 0) == 0);
}

TEST_CASE("login_sessions: a user's oldest login gives way to the next one, also of one moment")
{
    table t;
    const std::string other = t.add(1, 0);
    std::string tokens[LOGIN_SESSIONS_OF_USER + 2];
    for (std::string &token : tokens)
        token = t.add(2, 5);
    CHECK(t.find(tokens[0], 5) == ERR_NOT_FOUND);
    CHECK(t.find(tokens[1], 5) == ERR_NOT_FOUND);
    for (int i = 2; i < LOGIN_SESSIONS_OF_USER + 2; i++)
        CHECK(t.find(tokens[i], 5) == 2);
    CHECK(t.find(other, 5) == 1);
}

TEST_CASE("login_sessions: when the table is full the oldest of all gives way, before that an "
          "expired one")
{
    table t;
    std::string first, second;
    for (int i = 0; i < LOGIN_SESSIONS; i++) {
        const std::string token = t.add(i, i);
        if (i < 2)
            (i ? second : first) = token;
    }
    CHECK(t.find(first, LOGIN_SESSIONS) == 0);
    const std::string next = t.add(5000, LOGIN_SESSIONS);
    CHECK(t.find(first, LOGIN_SESSIONS) == ERR_NOT_FOUND);
    CHECK(t.find(second, LOGIN_SESSIONS) == 1);
    // The second one has expired now, and the third one goes on for a microsecond.
    const usec_t late = LOGIN_SESSION_TIME + 1;
    t.add(5001, late);
    CHECK(t.find(next, late) == 5000);
    CHECK(t.find(second, 2) == ERR_NOT_FOUND);
}

TEST_CASE("login_sessions: a user's logins move to another number, or end")
{
    table t;
    const std::string a = t.add(1, 0), b = t.add(1, 0), c = t.add(2, 0);
    login_sessions_move(t.s.get(), 1, 257);
    CHECK(t.find(a, 0) == 257);
    CHECK(t.find(b, 0) == 257);
    login_sessions_move(t.s.get(), 257, -1);
    CHECK(t.find(a, 0) == ERR_NOT_FOUND);
    CHECK(t.find(c, 0) == 2);
}
