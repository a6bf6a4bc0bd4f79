// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/command_queue.h"

#include <catch2/catch.hpp>
#include <climits>
#include <iterator>
#include <string>
#include <vector>

namespace
{

const char *const names[] = {
    "quit",     "failed",    "toggle",    "pause",      "resume",  "level",  "auto",
    "level+",   "seek",      "seek+",     "normal",     "scale",   "scale+", "speed",
    "speed+",   "transport", "snapshot",  "mute",       "volume+", "step",   "channel",
    "channel+", "stop",      "subtitles", "subtitles+", "track",   "track+", "retry"};
static_assert(std::size(names) == COMMAND_KINDS, "a kind has no name here");

// "seek 5": a kind, and its level and seconds.
command read(const std::string &text)
{
    std::string name = text.substr(0, text.find(' '));
    command c = {};
    int k = 0;
    while (k < COMMAND_KINDS && name != names[k])
        k++;
    REQUIRE(k < COMMAND_KINDS);
    c.kind = (command_kind)k;
    if (name != text) {
        c.level = std::stoi(text.substr(name.size()));
        c.seconds = c.level;
    }
    return c;
}

std::string drain(command_queue &q)
{
    std::string out;
    command c;
    while (command_queue_take(&q, &c))
        out += (out.empty() ? "" : ", ") + std::string(names[c.kind]) +
               (c.level ? " " + std::to_string(c.level) : "");
    return out;
}

} // namespace

TEST_CASE("command_queue: what remains of the requests, in order")
{
    struct {
        std::vector<std::string> posted;
        const char *taken;
    } const table[] = {
        {{}, ""},
        {{"pause"}, "pause"},
        {{"pause", "resume"}, "resume"},
        {{"pause", "resume", "pause"}, "pause"},
        {{"speed 2", "speed+ 1", "speed+ 1"}, "speed 2, speed+ 2"},
        {{"speed+ 1", "speed 2"}, "speed 2"},
        {{"speed+ 1", "scale 4", "normal"}, "normal"},
        {{"toggle"}, "toggle"},
        {{"toggle", "toggle"}, ""},
        {{"toggle", "toggle", "toggle"}, "toggle"},
        {{"toggle", "pause"}, "pause"},
        {{"pause", "toggle"}, "pause, toggle"},
        {{"mute", "pause", "mute"}, "pause"},
        {{"level 1", "level 2"}, "level 2"},
        {{"level 1", "level+ 1", "level+ 1"}, "level 1, level+ 2"},
        {{"level+ 1", "level+ -1"}, "level+"}, // the level of now, chosen by the viewer
        {{"level 1", "level+ 1", "auto"}, "auto"},
        {{"auto", "level 3"}, "level 3"},
        {{"seek 5", "seek 9"}, "seek 9"},
        {{"seek+ 10", "seek+ 10", "seek 9"}, "seek 9"},
        {{"seek 9", "seek+ 10", "seek+ 10"}, "seek 9, seek+ 20"},
        {{"pause", "seek 5", "resume"}, "seek 5, resume"},
        {{"seek 5", "pause", "seek 6"}, "pause, seek 6"},
        {{"scale 2", "scale+ 1", "normal"}, "normal"},
        {{"normal", "scale+ 1", "scale+ 1"}, "normal, scale+ 2"},
        {{"normal", "seek 4"}, "normal, seek 4"},
        {{"volume+ 5", "volume+ 5", "volume+ -5"}, "volume+ 5"},
        {{"step", "pause", "step"}, "pause, step, step"},
        {{"subtitles+ 1", "track+ 1", "subtitles+ 1", "subtitles+ 1"}, "track+ 1, subtitles+ 3"},
        {{"subtitles+ 1", "subtitles 2", "track+ 1", "track 1"}, "subtitles 2, track 1"},
        {{"seek 5", "channel 2"}, "channel 2"}, // of the channel before
        {{"seek+ 5", "channel+ 1", "seek 6", "channel+ 1"}, "channel+ 2"},
        {{"channel 2", "seek 5"}, "channel 2, seek 5"},
        {{"channel+ 1", "channel 7", "channel+ 1"}, "channel 7, channel+ 1"},
        {{"snapshot", "snapshot"}, "snapshot"},
        {{"quit", "retry", "stop", "quit"}, "retry, stop, quit"},
        {{"level+ 2147483647", "level+ 2147483647"}, "level+ 2147483647"},
        {{"level+ -2147483648", "level+ -1"}, "level+ -2147483648"},
    };
    for (const auto &row : table) {
        command_queue q = {};
        INFO(row.taken);
        for (const auto &text : row.posted) {
            command c = read(text);
            command_queue_add(&q, &c);
        }
        CHECK(drain(q) == row.taken);
    }
}

TEST_CASE("command_queue: there is a place for each kind, and the last command is never lost")
{
    command_queue q = {};
    for (int round = 0; round < 1000; round++)
        for (int k = 0; k < COMMAND_KINDS; k++) {
            command c = {};
            c.kind = (command_kind)k;
            command_queue_add(&q, &c);
            REQUIRE(q.count <= COMMAND_KINDS);
            // What was posted last is the last one, unless it has cancelled itself.
            bool cancels = round % 2 && (k == COMMAND_MUTE);
            if (!cancels && k != COMMAND_TOGGLE_PAUSE)
                REQUIRE(q.waiting[q.count - 1].command.kind == k);
        }
}
