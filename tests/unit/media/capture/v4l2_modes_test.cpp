// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/v4l2_modes.h"

#include <catch2/catch.hpp>

#include <cerrno>

#include "common/base/err.h"

TEST_CASE("v4l2_modes: a device that is not a camera")
{
    struct {
        const char *path;
        int err, reason; // 0: any
    } const table[] = {
        {"/dev/no-such-device", ERR_NOT_FOUND, 0},
        {"/dev/null", ERR_UNSUPPORTED, 0},
        {"/dev", ERR_IO, EISDIR},
    };
    for (const auto &row : table) {
        CAPTURE(row.path);
        char name[32];
        static capture_mode modes[CAPTURE_MAX_MODES];
        int err = v4l2_modes(row.path, name, sizeof(name), modes);
        int reason = errno;
        CHECK(err == row.err);
        if (row.reason)
            CHECK(reason == row.reason);
    }
}
