// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/base/err.h"
#include "media/source/source.h"

TEST_CASE("source_open: names of test pictures")
{
    struct {
        const char *name;
        int err, width, height, num, den;
    } table[] = {
        {"test:", 0, 1280, 720, 30, 1},
        {"test:640x360@25", 0, 640, 360, 25, 1},
        {"test:160x90@30000/1001", 0, 160, 90, 30000, 1001},
        {"test:160x90@1", 0, 160, 90, 1, 1},
        {"test:158x90@30", ERR_MALFORMED, 0, 0, 0, 0},
        {"test:160x88@30", ERR_MALFORMED, 0, 0, 0, 0},
        {"test:161x90@30", ERR_MALFORMED, 0, 0, 0, 0},
        {"test:4098x90@30", ERR_MALFORMED, 0, 0, 0, 0},
        {"test:640x360@0", ERR_MALFORMED, 0, 0, 0, 0},
        {"test:640x360@241", ERR_MALFORMED, 0, 0, 0, 0},
        {"test:640x360@1/2", ERR_MALFORMED, 0, 0, 0, 0},
        {"test:640x360@60000/1002", ERR_MALFORMED, 0, 0, 0, 0},
        {"test:640x360@30/", ERR_MALFORMED, 0, 0, 0, 0},
        {"test:640x360@30 ", ERR_MALFORMED, 0, 0, 0, 0},
        {"test:640x360", ERR_MALFORMED, 0, 0, 0, 0},
        {"test:+640x360@30", ERR_MALFORMED, 0, 0, 0, 0},
        {"test:99999999999999999999x360@30", ERR_MALFORMED, 0, 0, 0, 0},
        {"test:x", ERR_MALFORMED, 0, 0, 0, 0},
        {"", ERR_MALFORMED, 0, 0, 0, 0},
        {"no/such/file.mp4", ERR_NOT_FOUND, 0, 0, 0, 0},
    };
    for (auto &row : table) {
        int err = 1;
        struct source *s = source_open(row.name, false, &err);
        CAPTURE(row.name);
        CHECK(err == row.err);
        REQUIRE(!!s == !row.err);
        if (!s)
            continue;
        CHECK(s->width == row.width);
        CHECK(s->height == row.height);
        CHECK(s->fps.num == row.num);
        CHECK(s->fps.den == row.den);
        CHECK(s->duration == -1);
        CHECK(s->kind == SDP_SOURCE_TEST);
        source_free(s);
    }
    source_free(nullptr);
}
