// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/audio/av_sync.h"

#include <catch2/catch.hpp>

#include "common/wire/rtp.h"
#include "media/coded/audio.h"

namespace
{
const usec_t SEC = 1000000;

// Returns the position in ms, rounded; -1: none.
int64_t place(struct av_sync *s, uint32_t stamp, usec_t arrived)
{
    int64_t position;
    if (!av_sync_place(s, stamp, arrived, &position))
        return -1;
    return (position + AUDIO_RATE / 2000) / (AUDIO_RATE / 1000);
}
} // namespace

TEST_CASE("without reports, packets that arrive together belong together")
{
    struct av_sync s = {};
    CHECK(place(&s, 4294967000u, 0) == -1); // no picture yet
    av_sync_picture(&s, 7, 100 * SEC, 10 * SEC);
    CHECK(place(&s, 4294967000u, 10 * SEC + 20000) == 100020);
    CHECK(place(&s, 4294967000u + 960, 10 * SEC + 90000) == 100040); // late: its place stays
    CHECK(place(&s, 4294967000u - 960, 10 * SEC + 90000) == 100000); // out of order
    // Another source, or a clock that was set.
    CHECK(place(&s, 500000, 10 * SEC + 120000) == 100120);
    CHECK(place(&s, 500960, 10 * SEC + 120000) == 100140);
}

TEST_CASE("reports of both tracks give the offset")
{
    const uint64_t then = ntp_of_wall(1700000000 * SEC);
    struct av_sync s = {};
    av_sync_picture(&s, 450000, 5 * SEC, 20 * SEC);
    CHECK(place(&s, 436800, 20 * SEC + 300000) == 5300);
    av_sync_report(&s, false, then, 450000); // with the picture, at 5 s
    CHECK(place(&s, 437760, 20 * SEC + 320000) == 5320);
    av_sync_report(&s, true, then, 432000); // audio with the picture, at the same time
    CHECK(place(&s, 438720, 20 * SEC + 340000) == 5140);
    av_sync_picture(&s, 540000, 6 * SEC, 21 * SEC);
    CHECK(place(&s, 480000, 21 * SEC) == 6000);

    const struct {
        usec_t later; // the report says that sound is later by
        int64_t at;
    } table[] = {
        {8000, 6020},         // near enough
        {12000, 6052},        // moved
        {5 * SEC, 11060},     // 5 s off what came together: it may be
        {11 * SEC, 11080},    // cannot be; what came together is within 10 s
        {-3600 * SEC, 11100}, // nor this
    };
    for (int i = 0; i < 5; i++) {
        INFO(i);
        av_sync_report(&s, true, ntp_of_wall(1700000000 * SEC + table[i].later), 432000);
        CHECK(place(&s, 480960 + 960u * (uint32_t)i, 21 * SEC + 20000 * (i + 1)) == table[i].at);
    }
}

TEST_CASE("audio of another clock rate is placed in samples of 48 kHz")
{
    for (int rate : {8000, 16000, 44100}) {
        struct av_sync s = {};
        s.rate = rate;
        av_sync_picture(&s, 7, 100 * SEC, 10 * SEC);
        const uint32_t first = 4294967000u; // it wraps soon
        CHECK(place(&s, first, 10 * SEC) == 100000);
        CHECK(place(&s, first + (uint32_t)rate / 10, 10 * SEC + 300000) == 100100);
        CHECK(place(&s, first + (uint32_t)rate * 5, 15 * SEC) == 105000);
        // Reports: the audio is 0.5 s later than it seemed.
        const uint64_t then = ntp_of_wall(1700000000 * SEC);
        av_sync_picture(&s, 450000, 105 * SEC, 15 * SEC);
        av_sync_report(&s, false, then, 450000);
        av_sync_report(&s, true, then, first + (uint32_t)rate * 9 / 2);
        CHECK(place(&s, first + (uint32_t)rate * 5, 15 * SEC) == 105500);
    }
}
