// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/path_change.h"

#include <catch2/catch.hpp>

TEST_CASE("path change: media leaves no address that reports come from")
{
    const usec_t MS = USEC_PER_MSEC;
    const struct {
        bool is_reported;
        usec_t unheard;
        uint64_t packets;
        bool may;
    } table[] = {
        {true, 0, 0, false}, // nothing is outstanding: a pause
        {true, 99 * MS, 5, false},   {true, 100 * MS, 5, true},
        {true, 100 * MS, 1, true}, // a packet in a tenth of a second: all there is
        {true, 5000 * MS, 0, false}, {false, 0, 0, true}, // no report tells of silence
    };
    for (const auto &row : table) {
        INFO(row.is_reported << " " << row.unheard << " " << row.packets);
        transport_info info;
        transport_info_clear(&info);
        info.is_reported = row.is_reported;
        info.unheard = row.unheard;
        info.unheard_packets = row.packets;
        CHECK(path_may_change(&info) == row.may);
    }
    CHECK(path_may_change(nullptr)); // media goes elsewhere
}

TEST_CASE("path change: how the media goes on")
{
    const struct {
        bool is_in_use, other_host, other_port, was_lost, home_stands;
        path_step step;
    } table[] = {
        {true, false, false, false, false, PATH_STEP_NONE}, // the same address once more
        {true, false, true, false, false, PATH_STEP_GOES_ON},
        {true, true, false, false, false, PATH_STEP_ANEW},
        {true, true, true, false, false, PATH_STEP_ANEW},
        {false, true, true, false, false, PATH_STEP_NONE}, // media was never lost there
        {false, true, true, true, false, PATH_STEP_NONE},  // the connection carries it
        {false, false, false, true, true, PATH_STEP_BACK}, // the path was silent, and is not now
        {false, false, true, true, true, PATH_STEP_BACK},
        {false, true, true, true, true, PATH_STEP_BACK},
        {false, true, true, false, true, PATH_STEP_NONE},
    };
    for (const auto &row : table) {
        INFO(row.is_in_use << row.other_host << row.other_port << row.was_lost << row.home_stands);
        const path_change c = {row.is_in_use, row.other_host, row.other_port, row.was_lost,
                               row.home_stands};
        CHECK(path_step_of(&c) == row.step);
    }
}
