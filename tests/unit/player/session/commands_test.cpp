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
    display.on_command(display.ctx, DISPLAY_QUIETER);
    display.on_command(display.ctx, DISPLAY_STEP);
    display.on_level(display.ctx, -1);
    CHECK(s.seen.empty()); // on the loop's thread only
    uv_run(&s.loop, UV_RUN_NOWAIT);
    static const command::command_kind kinds[] = {
        command::COMMAND_TOGGLE_PAUSE, command::COMMAND_LEVEL_BY, command::COMMAND_LEVEL_BY,
        command::COMMAND_SNAPSHOT,     command::COMMAND_MUTE,     command::COMMAND_LEVEL,
        command::COMMAND_SEEK,         command::COMMAND_SEEK_BY,  command::COMMAND_TRANSPORT,
        command::COMMAND_FAILED,       command::COMMAND_QUIT,     command::COMMAND_VOLUME_BY,
        command::COMMAND_VOLUME_BY,    command::COMMAND_STEP,     command::COMMAND_AUTOMATIC};
    REQUIRE(s.seen.size() == std::size(kinds));
    for (size_t i = 0; i < s.seen.size(); i++)
        CHECK(s.seen[i].kind == kinds[i]);
    CHECK(s.seen[1].level == 1);
    CHECK(s.seen[2].level == -1);
    CHECK(s.seen[5].level == 4);
    CHECK(s.seen[11].level == 5);
    CHECK(s.seen[12].level == -5);
    CHECK(s.seen[6].seconds == 61.5);
    CHECK(s.seen[7].seconds == -10);
    CHECK(s.seen[8].transport == std::string("minbuf:1,3"));
}

TEST_CASE("commands: commands that a blocked loop cannot accept are lost")
{
    session s;
    struct command mute = {};
    mute.kind = command::COMMAND_MUTE;
    for (int i = 0; i < 1000; i++)
        commands_post(s.commands, &mute);
    uv_run(&s.loop, UV_RUN_NOWAIT);
    CHECK(s.seen.size() == 64);
}

TEST_CASE("commands: the script's steps are due from its start on, and none after it was stopped")
{
    session s;
    for (const char *step : {"0:seek=5", "0:level=2", "0:pause", "1000:go-on"})
        REQUIRE(play_script_add(&s.script, step) == 0);
    commands_start_script(s.commands, 100 * USEC_PER_SEC);
    REQUIRE(s.seen.size() == 3);
    CHECK(s.seen[0].kind == command::COMMAND_SEEK);
    CHECK(s.seen[0].seconds == 5);
    CHECK(s.seen[1].kind == command::COMMAND_LEVEL);
    CHECK(s.seen[1].level == 2);
    CHECK(s.seen[2].kind == command::COMMAND_PAUSE);

    commands_stop_script(s.commands);
    uv_run(&s.loop, UV_RUN_NOWAIT);
    CHECK(s.seen.size() == 3);
}
