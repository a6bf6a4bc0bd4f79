// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/key_message.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>

TEST_CASE("key_message: the volume")
{
    static const struct {
        key_volume volume;
        const char *text;
    } rows[] = {{{true, false, 80}, "Volume 80 %"},
                {{true, true, 80}, "Muted (volume 80 %)"},
                {{true, false, 0}, "Volume 0 %"},
                {{false, true, 80}, "No audio"}};
    for (const auto &row : rows) {
        char text[200];
        key_message_volume(&row.volume, text, sizeof(text));
        CHECK(std::string(text) == row.text);
    }
}

TEST_CASE("key_message: the subtitles")
{
    static const struct {
        key_subtitles subtitles;
        const char *text;
    } rows[] = {{{false, 0, 0, ""}, "No stream plays yet"},
                {{true, 0, 0, ""}, "This stream has no text subtitles"},
                {{true, 0, 2, ""}, "Subtitles off"},
                {{true, 1, 2, "eng, All"}, "Subtitles 1 of 2: eng, All"},
                {{true, 2, 2, ""}, "Subtitles 2 of 2"}};
    for (const auto &row : rows) {
        char text[200];
        key_message_subtitles(&row.subtitles, text, sizeof(text));
        CHECK(std::string(text) == row.text);
    }
}

TEST_CASE("key_message: the level, or why it cannot be chosen")
{
    struct ladder ladder = {};
    ladder.source_fps = {30, 1};
    ladder.size_count = 1;
    ladder.sizes[0] = {640, 360, {30, 1}, 1};
    ladder.level_count = 1;
    ladder.levels[0] = {0, 0, 960000};
    struct ladder none = {};
    static const struct {
        const struct ladder *ladder;
        bool may_choose, policy;
        int level;
        const char *text;
    } rows[] = {{&ladder, true, false, 0, "Level 0: 640x360, 30 frames/s, 0.96 Mbit/s"},
                {&ladder, true, false, 1, "Level 0 is the highest"},
                {&ladder, true, false, -1, "Level 0 is the lowest"},
                {&ladder, false, false, 0, "The level cannot be chosen now: no media arrives"},
                {&ladder, false, true, 0, "The level cannot be chosen: --adapt goddard chooses it"},
                {&none, false, false, 0, "The level cannot be chosen: this server offers none"},
                {nullptr, false, false, 0, "No stream plays yet"}};
    for (const auto &row : rows) {
        char text[200];
        struct key_level l = {row.ladder, row.may_choose, row.policy, row.level};
        key_message_level(&l, text, sizeof(text));
        CHECK(std::string(text) == row.text);
    }
}

TEST_CASE("key_message: a seek")
{
    static const struct {
        key_seek seek;
        const char *text;
    } rows[] = {{{true, true, 42, 245}, "0:42 of 4:05"},
                {{true, true, -3, 3723}, "0:00 of 1:02:03"},
                {{true, true, 300, 245}, "4:05 of 4:05"},
                {{true, false, 0, 60}, "Cannot seek: the server does not report the position"},
                {{false, false, 0, 0}, "No stream plays yet"}};
    for (const auto &row : rows) {
        char text[200];
        key_message_seek(&row.seek, text, sizeof(text));
        CHECK(std::string(text) == row.text);
    }
}

TEST_CASE("key_message: back in live video")
{
    static const struct {
        key_live live;
        const char *text;
    } rows[] = {{{false, false, true, 0, 0}, "Cannot rewind live video: the server keeps no past"},
                {{false, false, false, 0, 0}, "Live video is at its end"},
                {{true, false, true, 60, 10}, "0:10 behind live"},
                {{true, false, false, 7200, 3723}, "1:02:03 behind live"},
                {{true, false, false, 60, 0}, "Live"},
                {{true, true, false, 60, 0}, "Live"},
                {{true, true, true, 60, 63}, "The server keeps only 1:00"}};
    for (const auto &row : rows) {
        char text[200];
        key_message_live(&row.live, text, sizeof(text));
        CHECK(std::string(text) == row.text);
    }
}

TEST_CASE("key_message: the audio track")
{
    static const struct {
        key_audio_track track;
        const char *text;
    } rows[] = {{{false, false, 0, 0, ""}, "No stream plays yet"},
                {{true, false, 0, 0, ""}, "This stream has no audio"},
                {{true, true, 0, 0, ""}, "This stream has one audio track"},
                {{true, true, 2, 3, ""}, "Audio track 2 of 3"},
                {{true, true, 3, 3, "deu, Kommentar"}, "Audio track 3 of 3: deu, Kommentar"}};
    for (const auto &row : rows) {
        char text[200];
        key_message_audio_track(&row.track, text, sizeof(text));
        CHECK(std::string(text) == row.text);
    }
}
