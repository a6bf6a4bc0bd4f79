// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/media_progress.h"

#include <catch2/catch.hpp>

static const usec_t s = USEC_PER_SEC;

TEST_CASE("media_progress: the verdict, seconds after PLAY")
{
    static const struct {
        int after;   // seconds
        int packets; // received
        int span;    // seconds of media in them
        bool pictures, paused;
        int decoded;
        int target; // seconds held back before the first picture
        enum media_progress_verdict verdict;
    } table[] = {
        {3, 0, 0, true, false, 0, 0, MEDIA_PROGRESS_FINE},
        {4, 0, 0, true, false, 0, 0, MEDIA_PROGRESS_NO_PACKET},
        {4, 0, 0, false, false, 0, 0, MEDIA_PROGRESS_NO_PACKET},
        {60, 0, 0, true, false, 0, 0,
         MEDIA_PROGRESS_NO_PACKET}, // never: no media, so no verdict on it
        {4, 1, 0, true, false, 0, 0, MEDIA_PROGRESS_FINE},
        {10, 900, 10, true, false, 0, 0, MEDIA_PROGRESS_FINE},
        {11, 900, 11, true, false, 0, 0, MEDIA_PROGRESS_NO_PICTURE},
        {11, 900, 11, true, false, 1, 0, MEDIA_PROGRESS_FINE},
        {11, 900, 11, true, true, 0, 0, MEDIA_PROGRESS_FINE},
        {11, 900, 11, false, false, 0, 0, MEDIA_PROGRESS_FINE}, // packets without frames
        {60, 900, 10, true, false, 0, 0, MEDIA_PROGRESS_FINE},  // a slow network
        {15, 900, 15, true, false, 0, 5, MEDIA_PROGRESS_FINE},
        {16, 900, 16, true, false, 0, 5, MEDIA_PROGRESS_NO_PICTURE},
    };
    for (const auto &row : table) {
        struct media_progress m = {};
        media_progress_begin(&m, 100 * s);
        struct media_progress_facts f = {.packets = (uint64_t)row.packets,
                                         .span = row.span * s,
                                         .pictures = row.pictures,
                                         .paused = row.paused,
                                         .decoded = (uint64_t)row.decoded,
                                         .buffer_target = row.target * s,
                                         .level = -1};
        INFO(row.after << " s, " << row.packets << " packets");
        CHECK(media_progress_check(&m, &f, (100 + row.after) * s) == row.verdict);
    }
}

TEST_CASE("media_progress: warns once a connection, and counts from the last PLAY")
{
    struct media_progress m = {};
    struct media_progress_facts f = {};
    media_progress_begin(&m, 0);
    media_progress_begin(&m, 50 * s);
    CHECK(media_progress_check(&m, &f, 53 * s) == MEDIA_PROGRESS_FINE);
    CHECK(media_progress_check(&m, &f, 54 * s) == MEDIA_PROGRESS_NO_PACKET);
    CHECK(media_progress_check(&m, &f, 55 * s) == MEDIA_PROGRESS_FINE);
}

TEST_CASE("media_progress: each lower level has 10 s of media for its first picture")
{
    static const struct {
        int at, level;
        enum media_progress_verdict verdict;
    } table[] = {
        {1, 6, MEDIA_PROGRESS_FINE},        {9, 6, MEDIA_PROGRESS_FINE},
        {10, 5, MEDIA_PROGRESS_FINE},       {20, 5, MEDIA_PROGRESS_FINE},
        {20, 4, MEDIA_PROGRESS_FINE}, // the end would have been due at 21 s
        {25, 6, MEDIA_PROGRESS_FINE}, // a higher one does not count, nor the same one again
        {26, 4, MEDIA_PROGRESS_FINE},       {30, 4, MEDIA_PROGRESS_FINE},
        {31, 4, MEDIA_PROGRESS_NO_PICTURE},
    };
    struct media_progress m = {};
    media_progress_begin(&m, 0);
    for (const auto &row : table) {
        struct media_progress_facts f = {};
        f.packets = 900;
        f.pictures = true;
        f.span = row.at * s;
        f.level = row.level;
        INFO(row.at << " s, level " << row.level);
        CHECK(media_progress_check(&m, &f, row.at * s) == row.verdict);
    }
}

TEST_CASE("media_progress: pictures are due after 3 s that were not paused")
{
    CHECK(!media_progress_pictures_due(10 * s, false, 13 * s));
    CHECK(media_progress_pictures_due(10 * s, false, 13 * s + 1));
    CHECK(!media_progress_pictures_due(10 * s, true, 60 * s));
}
