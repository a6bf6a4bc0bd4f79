// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/prepare_progress.h"

#include <catch2/catch.hpp>
#include <string>

TEST_CASE("prepare progress: progress, speed and remaining time")
{
    auto text = [](prepare_progress p, int64_t done, bool bar, usec_t now) {
        char out[128];
        prepare_progress_text(&p, done, bar, out, sizeof(out), now);
        return std::string(out);
    };
    const usec_t s = USEC_PER_SEC;
    CHECK(text({600, 0, 0}, 300, false, 10 * s) == " 50 %  30.0 frames/s  0:10 left");
    CHECK(text({600, 0, 0}, 300, true, 10 * s) ==
          "[###############---------------]  50 %  30.0 frames/s  0:10 left");
    // 100 of them were there before: 200 in 10 s.
    CHECK(text({4100, 100, 5 * s}, 300, false, 15 * s) == "  7 %  20.0 frames/s  3:10 left");
    CHECK(text({600, 0, 0}, 0, false, 0) == "  0 %  0.0 frames/s");
    CHECK(text({600, 0, 0}, 608, false, 10 * s) == "100 %  60.8 frames/s  0:00 left");
    CHECK(text({0, 0, 0}, 50, true, 10 * s) == "50 frames  5.0 frames/s");
}
