// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/source_changes.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/base/err.h"

TEST_CASE("source_changes: what a control client may name")
{
    struct {
        const char *path, *source;
        bool exists, good;
    } const table[] = {
        {"/front", "rtsp://10.0.0.7/h264", false, true},
        {"/front", "RTSPS://anna:pw@cam.example:322/x?y=1", false, true},
        {"/front", "rtsp://10.0.0.7/main|rtsp://10.0.0.7/sub", false, true},
        {"/front", "rtsp://10.0.0.7/main|/etc/passwd", false, false},
        {"/front", "test:", false, true},
        {"/front", "test:640x360@30", false, true},
        {"/front", "publish:", false, true},
        {"/front", "publish:x", false, false},
        {"/front", "/etc/passwd", false, false},
        {"/front", "film.mkv", false, false},
        {"/front", "file:///etc/passwd", false, false},
        {"/front", "http://127.0.0.1/", false, false},
        {"/front", "-", false, false},
        {"/front", "camera:", false, false},
        {"/front", "screen:", false, false},
        {"/front", "synthetic:greedy", false, false},
        {"/front", "rtsp://", false, false},
        {"/front", "rtsp://host:0/x", false, false},
        {"/a/b", "test:", false, false},
        {"/a/b", "test:", true, true}, // a path of --publish
        {"/a.b", "test:", false, false},
        {"/..", "test:", false, false},
        {"/", "test:", false, false},
        {"front", "test:", false, false},
        {"/cams/*", "test:", true, false},
        {"/123456789012345678901234567890123", "test:", false, false},
    };
    for (const auto &row : table) {
        INFO(row.path << " " << row.source);
        CHECK((source_change_fault(row.path, row.source, row.exists) == nullptr) == row.good);
    }
    std::string longest = "rtsp://h/" + std::string(SOURCE_TEXT_MAX, 'x');
    CHECK(source_change_fault("/front", longest.c_str(), false) != nullptr);
}

TEST_CASE("source_changes: the last one of a path counts")
{
    source_changes c{};
    CHECK(source_changes_set(&c, "/a", "test:", false) == 0);
    CHECK(source_changes_set(&c, "/a", "publish:", false) == 0);
    CHECK(source_changes_set(&c, "/given", nullptr, true) == 0);
    CHECK(c.count == 2);
    CHECK(source_changes_find(&c, "/a")->source == std::string("publish:"));
    CHECK(source_changes_find(&c, "/given")->source == std::string());
    CHECK(source_changes_set(&c, "/a", nullptr, false) == 0); // it is forgotten
    CHECK(source_changes_set(&c, "/none", nullptr, false) == 0);
    CHECK(c.count == 1);
    CHECK(source_changes_find(&c, "/a") == nullptr);
    for (int i = 1; i < SOURCE_CHANGES_MAX; i++)
        CHECK(source_changes_set(&c, ("/n" + std::to_string(i)).c_str(), "test:", false) == 0);
    CHECK(source_changes_set(&c, "/one-more", "test:", false) == ERR_FULL);
    CHECK(source_changes_set(&c, "/given", "test:", true) == 0);
}
