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
                                         .buffer_target = row.target * s};
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

TEST_CASE("media_progress: pictures are due after 3 s that were not paused")
{
    CHECK(!media_progress_pictures_due(10 * s, false, 13 * s));
    CHECK(media_progress_pictures_due(10 * s, false, 13 * s + 1));
    CHECK(!media_progress_pictures_due(10 * s, true, 60 * s));
}
