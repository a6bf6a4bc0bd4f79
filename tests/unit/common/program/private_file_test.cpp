// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <string>
#include <unistd.h>

#include "common/base/err.h"
#include "common/program/private_file.h"
#include "tests/unit/temp_folder.hpp"

TEST_CASE("private_file: who may own it, and what others may do")
{
    struct {
        mode_t mode;
        unsigned owner; // the program's user is 1000
        private_use use;
        const char *reason; // the beginning; nullptr: it is used
    } const table[] = {
        {S_IFREG | 0600, 1000, PRIVATE_SECRET, nullptr},
        {S_IFREG | 0400, 0, PRIVATE_SECRET, nullptr},
        {S_IFREG | 0600, 1001, PRIVATE_SECRET, "another user (1001) owns it"},
        {S_IFREG | 0640, 1000, PRIVATE_SECRET, "other users may read or write it (chmod 600"},
        {S_IFREG | 0604, 1000, PRIVATE_SECRET, "other users may read or write it"},
        {S_IFREG | 0620, 0, PRIVATE_SECRET, "other users may read or write it"},
        {S_IFREG | 0601, 1000, PRIVATE_SECRET, "other users may read or write it"},
        {S_IFREG | 0640, 0, PRIVATE_SHARED, nullptr},
        {S_IFREG | 0600, 1000, PRIVATE_SHARED, nullptr},
        {S_IFREG | 0644, 0, PRIVATE_SHARED, "all users may read it (chmod 600 it, or 640"},
        {S_IFREG | 0660, 0, PRIVATE_SHARED, "other users may write to it (chmod 600"},
        {S_IFREG | 0640, 1001, PRIVATE_SHARED, "another user (1001) owns it"},
        {S_IFREG | 0644, 1000, PRIVATE_OWN, nullptr},
        {S_IFREG | 0664, 1000, PRIVATE_OWN, "other users may write to it"},
        {S_IFREG | 0646, 0, PRIVATE_OWN, "other users may write to it"},
        {S_IFDIR | 0755, 0, PRIVATE_OWN, nullptr},
        {S_IFDIR | 0700, 1000, PRIVATE_OWN, nullptr},
        {S_IFDIR | 0777, 1000, PRIVATE_OWN, "other users may write into it (chmod 700"},
        {S_IFDIR | 01777, 0, PRIVATE_OWN, "other users may write into it"},
        {S_IFDIR | 0775, 1000, PRIVATE_OWN, "other users may write into it"},
        {S_IFDIR | 0700, 33, PRIVATE_OWN, "another user (33) owns it, and can change it (chown it"},
    };
    for (const auto &row : table) {
        CAPTURE(row.mode, row.owner, row.use);
        struct stat st = {};
        char reason[160] = "";
        st.st_mode = row.mode;
        st.st_uid = row.owner;
        int err = private_judge(&st, 1000, row.use, reason, sizeof(reason));
        CHECK(err == (row.reason ? ERR_IO : 0));
        CHECK(std::string(reason).find(row.reason ? row.reason : "") == 0);
    }
}

TEST_CASE("private_file: the log names the file")
{
    temp_folder t;
    const std::string path = t.write("key", "x");
    REQUIRE(chmod(path.c_str(), 0666) == 0);
    int fd = open(path.c_str(), O_RDONLY);
    REQUIRE(fd >= 0);
    CHECK(private_check(fd, path.c_str(), PRIVATE_OWN) == ERR_IO);
    CHECK(temp_folder::logged() == path + " is not used: other users may write to it (chmod 600 "
                                          "it)\n");
    CHECK(private_check(-1, path.c_str(), PRIVATE_OWN) == ERR_IO);
    close(fd);
}
