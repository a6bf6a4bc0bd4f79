// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/commands.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace
{

struct session {
    uv_loop_t loop;
    struct play_script script = {};
    struct commands *commands = nullptr;
    std::vector<command> seen;

    session()
    {
        REQUIRE(uv_loop_init(&loop) == 0);
        struct commands_config config = {
            .loop = &loop, .script = &script, .on_command = on_command, .ctx = this};
        commands = commands_new(&config);
        REQUIRE(commands);
    }

    ~session()
    {
        commands_free(commands);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }

    static void on_command(void *ctx, const struct command *c, usec_t)
    {
        static_cast<session *>(ctx)->seen.push_back(*c);
    }
};

} // namespace

TEST_CASE("commands: the window's keys and menus reach the loop in order")
{
    session s;
    struct display_config display = {};
    commands_connect(s.commands, &display);
    display.on_command(display.ctx, DISPLAY_PAUSE);
    display.on_command(display.ctx, DISPLAY_LEVEL_UP);
    display.on_command(display.ctx, DISPLAY_LEVEL_DOWN);
    display.on_command(display.ctx, DISPLAY_SNAPSHOT);
    display.on_command(display.ctx, DISPLAY_MUTE);
    display.on_level(display.ctx, 4);
    display.on_seek(display.ctx, false, 61.5);
    display.on_seek(display.ctx, true, -10);
    display.on_transport(display.ctx, "minbuf:1,3");
    display.on_command(display.ctx, DISPLAY_FAILED);
    display.on_command(display.ctx, DISPLAY_QUIT);
    display.on_command(display.ctx, DISPLAY_LOUDER);
    display.on_command(display.ctx, DISPLAY_STEP);
    display.on_command(display.ctx, DISPLAY_STEP);
    display.on_command(display.ctx, DISPLAY_LOUDER);
    display.on_level(display.ctx, -1);
    display.on_level(display.ctx, 3);
    CHECK(s.seen.empty()); // on the loop's thread only
    uv_run(&s.loop, UV_RUN_NOWAIT);
    static const command_kind kinds[] = {COMMAND_TOGGLE_PAUSE, COMMAND_SNAPSHOT,  COMMAND_MUTE,
                                         COMMAND_SEEK,         COMMAND_SEEK_BY,   COMMAND_TRANSPORT,
                                         COMMAND_FAILED,       COMMAND_QUIT,      COMMAND_STEP,
                                         COMMAND_STEP,         COMMAND_VOLUME_BY, COMMAND_LEVEL};
    REQUIRE(s.seen.size() == std::size(kinds));
    for (size_t i = 0; i < s.seen.size(); i++)
        CHECK(s.seen[i].kind == kinds[i]);
    CHECK(s.seen[3].seconds == 61.5);
    CHECK(s.seen[4].seconds == -10);
    CHECK(s.seen[5].transport == std::string("minbuf:1,3"));
    CHECK(s.seen[10].level == 10);
    CHECK(s.seen[11].level == 3);
    display.on_level(display.ctx, -1);
    uv_run(&s.loop, UV_RUN_NOWAIT);
    CHECK(s.seen.back().kind == COMMAND_AUTOMATIC);
}

TEST_CASE("commands: of a burst the last ones of each kind reach the loop, however slow it is")
{
    session s;
    auto post = [&](command_kind kind, double seconds = 0) {
        struct command c = {};
        c.kind = kind;
        c.seconds = seconds;
        commands_post(s.commands, &c);
    };
    for (int i = 0; i < 20000; i++) {
        post(COMMAND_SEEK, i);
        post(COMMAND_PAUSE);
        post(COMMAND_RESUME);
    }
    uv_run(&s.loop, UV_RUN_NOWAIT);
    REQUIRE(s.seen.size() == 2);
    CHECK(s.seen[0].kind == COMMAND_SEEK);
    CHECK(s.seen[0].seconds == 19999);
    CHECK(s.seen[1].kind == COMMAND_RESUME);
    post(COMMAND_PAUSE);
    uv_run(&s.loop, UV_RUN_NOWAIT);
    REQUIRE(s.seen.size() == 3);
    CHECK(s.seen[2].kind == COMMAND_PAUSE);
}

TEST_CASE("commands: the script's steps are due from its start on, and none after it was stopped")
{
    session s;
    for (const char *step : {"0:seek=5", "0:level=2", "0:pause", "1000:go-on"})
        REQUIRE(play_script_add(&s.script, step) == 0);
    commands_start_script(s.commands, 100 * USEC_PER_SEC);
    REQUIRE(s.seen.size() == 3);
    CHECK(s.seen[0].kind == COMMAND_SEEK);
    CHECK(s.seen[0].seconds == 5);
    CHECK(s.seen[1].kind == COMMAND_LEVEL);
    CHECK(s.seen[1].level == 2);
    CHECK(s.seen[2].kind == COMMAND_PAUSE);

    commands_stop_script(s.commands);
    uv_run(&s.loop, UV_RUN_NOWAIT);
    CHECK(s.seen.size() == 3);
}
