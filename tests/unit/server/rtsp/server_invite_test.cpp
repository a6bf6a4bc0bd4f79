// SPDX-License-Identifier: GPL-2.0-or-later
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" // functions named as their structs, which C allows
#include "server/rtsp/server_invite.h"
#pragma GCC diagnostic pop

#include <catch2/catch.hpp>

TEST_CASE("server_invite: the journal is what the variable names, by device and inode")
{
    struct stat file {
    };
    file.st_dev = 9;
    file.st_ino = 1234567;
    CHECK(server_invite_is_journal("9:1234567", &file));
    for (const char *other : {"", "9", "9:", "9:123456", "9:12345678", "8:1234567", "1234567:9",
                              " 9:1234567", "9:1234567 "})
        CHECK_FALSE(server_invite_is_journal(other, &file));
    CHECK_FALSE(server_invite_is_journal(nullptr, &file));
}
