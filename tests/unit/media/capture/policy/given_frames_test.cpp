// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/policy/given_frames.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace
{
const usec_t MS = USEC_PER_MSEC;

// A picture is a number; frames are written as "number:picture", and with "~" if they repeat it.
struct pictures {
    given_frames g;
    std::string current = "none";

    explicit pictures(int fps = 10)
    {
        given_frames_init(&g, {fps, 1});
    }

    static void *at(intptr_t picture)
    {
        return reinterpret_cast<void *>(picture);
    }

    // Returns false if it is refused.
    bool push(intptr_t picture, usec_t stamp_ms, usec_t now_ms)
    {
        return given_frames_push(&g, at(picture), stamp_ms * MS, now_ms * MS) != at(picture);
    }

    // All frames that leave now.
    std::string next(usec_t now_ms)
    {
        std::string all;
        for (;;) {
            given_frame f = given_frames_next(&g, now_ms * MS);
            if (f.turn == GIVEN_WAIT)
                return all;
            if (f.turn == GIVEN_NEW)
                current = std::to_string(reinterpret_cast<intptr_t>(f.picture));
            all += (all.empty() ? "" : " ") + std::to_string(f.number) + ":" + current +
                   (f.turn == GIVEN_REPEAT ? "~" : "");
        }
    }
};
} // namespace

TEST_CASE("given_frames: pictures at the rate are frames, one each")
{
    pictures p;
    CHECK(p.next(1000) == "");
    for (int i = 0; i < 5; i++) {
        CHECK(p.push(i + 1, 1000 + 100 * i, 1003 + 100 * i));
        CHECK(p.next(1004 + 100 * i) == std::to_string(i) + ":" + std::to_string(i + 1));
    }
}

TEST_CASE("given_frames: what is pushed, and which frames leave")
{
    struct {
        const char *what;
        std::vector<usec_t> pushed; // ms, after 1000
        std::string taken;          // y: taken, n: refused
        std::string frames;
    } rows[] = {
        {"at the rate", {0, 100, 200, 300}, "yyyy", "0:1 1:2 2:3 3:4"},
        {"jitter", {0, 140, 180, 330}, "yyyy", "0:1 1:2 2:3 3:4"},
        {"twice the rate: every other one is refused",
         {0, 5, 100, 105, 200, 205},
         "ynynyn",
         "0:1 1:3 2:5"},
        {"half the rate: each is repeated", {0, 200, 400}, "yyy", "0:1 1:1~ 2:2 3:2~ 4:3"},
    };
    for (const auto &row : rows) {
        INFO(row.what);
        pictures p;
        p.next(999);
        std::string taken, frames;
        for (size_t i = 0; i < row.pushed.size(); i++) {
            usec_t at = 1000 + row.pushed[i];
            taken += p.push((intptr_t)i + 1, at, at) ? 'y' : 'n';
            std::string more = p.next(at);
            frames += (frames.empty() || more.empty() ? "" : " ") + more;
        }
        CHECK(taken == row.taken);
        CHECK(frames == row.frames);
    }
}

TEST_CASE("given_frames: a reader that is late finds two pictures; others are refused meanwhile")
{
    pictures p;
    p.next(999);
    CHECK(p.push(1, 1000, 1000));
    CHECK(p.push(2, 1100, 1100));
    CHECK_FALSE(p.push(3, 1200, 1200));
    CHECK_FALSE(p.push(4, 1300, 1300));
    CHECK(p.next(1350) == "0:1 1:2 2:2~"); // the second frame without a picture may still come
    CHECK(p.push(5, 1400, 1400));
    CHECK(p.next(1400) == "3:2~ 4:5");
}

TEST_CASE("given_frames: a program that pauses repeats its picture, and goes on")
{
    pictures p;
    p.next(999);
    CHECK(p.push(1, 1000, 1000));
    CHECK(p.next(1000) == "0:1");
    CHECK(p.next(1200) == ""); // 100 ms for the next one, and 50 ms for its way, are not over yet
    int64_t count = 1;
    for (usec_t now = 1250; now <= 181000; now += 50) {
        given_frame f = given_frames_next(&p.g, now * MS);
        if (f.turn == GIVEN_WAIT)
            continue;
        CHECK(f.turn == GIVEN_REPEAT);
        CHECK(f.number == count++);
        CHECK(f.stamp <= now * MS);
        CHECK(f.stamp > (now - 250) * MS);
    }
    CHECK(count >= 1798); // of three minutes at 10 frames/s
    CHECK(count <= 1801);
    CHECK(p.push(2, 181050, 181050));
    std::string frames = p.next(181050);
    CHECK(frames.substr(frames.size() - 2) == ":2");
    CHECK(p.push(3, 181150, 181150));
}

TEST_CASE("given_frames: without viewers the newest picture is kept, and comes first")
{
    pictures p;
    CHECK(given_frames_push(&p.g, p.at(1), 0, 0) == nullptr);
    CHECK(given_frames_push(&p.g, p.at(2), 100 * MS, 100 * MS) == p.at(1));
    CHECK(p.next(60000) == "0:2");
    CHECK(p.push(3, 60050, 60050));
    CHECK(p.push(4, 60150, 60150));
    CHECK(given_frames_idle(&p.g) == p.at(3)); // which left for no viewer
    CHECK(given_frames_idle(&p.g) == nullptr);
    CHECK(p.next(70000) == "1:4");
    CHECK(given_frames_idle(&p.g) == nullptr);
    // The program pushes nothing any more: a viewer sees what it pushed last.
    CHECK(p.next(80000) == "");
    CHECK(p.next(80300).substr(0, 4) == "2:4~");
}

TEST_CASE("given_frames: media time on the monotonic clock")
{
    pictures p;
    CHECK(given_frames_origin(&p.g) == USEC_NEVER);
    p.next(999);
    CHECK(p.push(1, 1000, 1010));
    CHECK(p.push(2, 1110, 1120)); // the grid stays
    CHECK(given_frames_origin(&p.g) == 1000 * MS);
    CHECK(p.next(1150) == "0:1 1:2");
    given_frames_idle(&p.g);
    CHECK(given_frames_origin(&p.g) == USEC_NEVER);
    given_frames_push(&p.g, p.at(3), 5000 * MS, 5000 * MS);
    CHECK(p.next(5020) == "2:3"); // frame 2 is at 5020 ms
    CHECK(given_frames_origin(&p.g) == 4820 * MS);
}
