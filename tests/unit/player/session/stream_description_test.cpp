// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/stream_description.h"

#include <string>

#include <catch2/catch.hpp>

#include "common/protocol/server_dialect.h"

// A weir-send's test source with two levels, and the options of a plain weir-play.
struct set_up {
    struct sdp sdp = {};
    struct play_options options = {};

    set_up()
    {
        sdp.source = SDP_SOURCE_TEST;
        sdp.codec = SDP_H264;
        sdp.ext.adu = 1;
        sdp.ladder.source_fps = {30, 1};
        sdp.ladder.source_width = 1280;
        sdp.ladder.source_height = 720;
        sdp.ladder.level_count = 2;
        options.level = -1;
    }

    std::string refusal(bool has_display = true) const
    {
        char out[128];
        const char *why = stream_description_refuse(&sdp, &options, has_display, out, sizeof(out));
        return why ? why : "";
    }
};

TEST_CASE("stream_description: reasons why a stream cannot be played")
{
    set_up plain;
    REQUIRE(server_dialect_of(&plain.sdp)->has_levels);
    CHECK(plain.refusal() == "");
    CHECK(plain.refusal(false).find("no display is available") == 0);

    set_up s;
    s.options.level = 1;
    CHECK(s.refusal() == "");
    s.options.level = 2;
    CHECK(s.refusal() == "the stream has no level 2: there are 0 to 1");
    s = {};
    s.options.adapt = ADAPT_GODDARD;
    CHECK(s.refusal() == "");
    s = {};
    s.sdp.ladder.level_count = 0;
    CHECK(s.refusal().find("no levels") == 0);
    s = {};
    s.sdp.source = SDP_SOURCE_STEADY; // packets without frames
    s.sdp.codec = SDP_SYNTHETIC;
    s.options.adapt = ADAPT_GODDARD;
    CHECK(s.refusal() == "--adapt goddard requires a stream of frames");
    s.sdp.ext.adu = 0;
    CHECK(s.refusal().find("no levels, or no frame numbers") == 0);
}

TEST_CASE("stream_description: a server that is not weir-send has no levels to choose from")
{
    set_up s;
    s.sdp.ext.adu = 0;
    s.sdp.ladder.level_count = 0;
    REQUIRE(!server_dialect_of(&s.sdp)->has_levels);
    CHECK(s.refusal() == "");
    s.options.level = 0;
    CHECK(s.refusal() == "");
    s.options.level = 1;
    CHECK(s.refusal().find("this server is not weir-send") == 0);
    s.options.level = -1;
    s.options.adapt = ADAPT_GODDARD;
    CHECK(s.refusal().find("this server is not weir-send") == 0);
}

TEST_CASE("stream_description: the source, as far as it is known")
{
    set_up s;
    char out[STREAM_DESCRIPTION_TEXT];
    stream_description_source(&s.sdp, out);
    CHECK(out == std::string("test 1280x720@30"));
    s.sdp.source = SDP_SOURCE_FILE;
    s.sdp.ladder.source_fps = {30000, 1001};
    stream_description_source(&s.sdp, out);
    CHECK(out == std::string("file 1280x720@29.97"));
    s.sdp.ladder.source_width = 0;
    stream_description_source(&s.sdp, out);
    CHECK(out == std::string("file"));
}
