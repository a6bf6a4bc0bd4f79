// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/media_skip.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "stream/playout/live_clock.h"
#include "tests/support/playout_rig.hpp"

TEST_CASE("media_skip: each frame before the target is decoded, dropped or passed over")
{
    struct row {
        const char *name;
        std::vector<int64_t> held;
        int64_t key; // of those
        std::vector<std::string> steps;
    };
    const row table[] = {
        {"frame 4 depends on 2, and nothing on 1 and 3",
         {1, 2, 3, 4},
         -1,
         {"drop", "decode, skipped", "drop"}},
        {"frame 3 is missing", {1, 2, 4}, -1, {"drop", "decode, skipped", "pass 3"}},
        {"frame 4 is a key frame: nothing is needed", {1, 2, 3, 4}, 4, {"drop", "drop", "drop"}},
    };
    for (const row &t : table) {
        INFO(t.name);
        playout_rig r(live_clock);
        r.push(0, true);
        r.begin(0, 0);
        r.take();
        for (int64_t n : t.held)
            r.push(n, n == t.key);
        std::vector<std::string> steps;
        clock_step s;
        while (media_skip_step(4, r.b, &s)) {
            steps.push_back(r.word(s));
            if (s.kind == STEP_PASS) {
                playout_buffer_pass(r.b, s.number, 0);
            } else if (s.kind == STEP_DECODE) {
                r.take();
            } else {
                playout_buffer_pass_to(r.b,
                                       held_frames_at(playout_buffer_held(r.b), 0)->number + 1);
                playout_buffer_drop(r.b, 1);
            }
        }
        CHECK(steps == t.steps);
        CHECK(playout_buffer_next(r.b) == 4);
    }
}
