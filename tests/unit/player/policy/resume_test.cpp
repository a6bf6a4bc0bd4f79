// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/resume.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

static std::string written(const struct resume &r)
{
    static char text[RESUME_MAX_TEXT];
    size_t len = resume_write(&r, text);
    return std::string(text, len);
}

TEST_CASE("resume: where a film goes on")
{
    struct {
        double position;
        double duration;
        unsigned found;
    } const table[] = {
        {14.9, 7200, 0}, // the first 15 s
        {15, 7200, 15},     {3600.7, 7200, 3600},
        {6839, 7200, 6839},                // 361 s are left
        {6841, 7200, 0},                   // 359 s: less than 5 %, the credits
        {169, 200, 169},    {171, 200, 0}, // 29 s are left
        {60, 119, 0},                      // a short film
        {-1, 7200, 0},      {__builtin_nan(""), 7200, 0},
        {100, -1, 0}, // live
        {100, 1e12, 0},
    };
    for (const auto &row : table) {
        struct resume r = {};
        resume_set(&r, 7, 50, 7200); // what is kept gives way
        resume_set(&r, 7, row.position, row.duration);
        CAPTURE(row.position, row.duration);
        CHECK(resume_find(&r, 7) == row.found);
        CHECK(r.count == (row.found ? 1 : 0));
    }
}

TEST_CASE("resume: another film behind the URL is another one")
{
    uint64_t id = resume_id("rtsp://h/live", "film", 7200.2);
    CHECK(resume_id("rtsp://h/live", "film", 7200.4) == id);
    CHECK(resume_id("rtsp://h/live", "film", 7201) != id);
    CHECK(resume_id("rtsp://h/live", "other", 7200) != id);
    CHECK(resume_id("rtsp://h/livef", "ilm", 7200) != id);
}

TEST_CASE("resume: reads what it writes, and skips lines that are not its own")
{
    struct resume r = {};
    resume_set(&r, 0x12ab, 100, 7200);
    resume_set(&r, 0xffffffffffffffff, 200, 7200);
    CHECK(written(r) == "00000000000012ab 100\nffffffffffffffff 200\n");
    const std::string text = "\n"
                             "garbage\n"
                             "00000000000012ab 100\n"
                             "00000000000012AB 101\n"  // capitals
                             "00000000000012ab 102 \n" // more than a number
                             "12ab 103\n"
                             "00000000000012ab -4\n"
                             "00000000000012ab 99999999\n" // three years
                             "ffffffffffffffff 5\n"
                             "ffffffffffffffff 200"; // the last one counts; no newline
    struct resume again = {};
    resume_read(&again, text.data(), text.size());
    CHECK(written(again) == written(r));
    std::string zeros(100, '\0');
    resume_read(&again, zeros.data(), zeros.size());
    CHECK(again.count == 2);
}

TEST_CASE("resume: the oldest film goes")
{
    struct resume r = {};
    for (unsigned i = 0; i < RESUME_FILMS + 3; i++)
        resume_set(&r, i, 100 + i, 7200);
    CHECK(r.count == RESUME_FILMS);
    CHECK(resume_find(&r, 2) == 0);
    CHECK(resume_find(&r, 3) == 103);
    resume_set(&r, 3, 500, 7200); // is the latest now
    resume_set(&r, 9999, 100, 7200);
    CHECK(resume_find(&r, 3) == 500);
    CHECK(resume_find(&r, 4) == 0);
    CHECK(written(r).size() < RESUME_MAX_TEXT);
}
