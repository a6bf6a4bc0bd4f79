// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/options/unused_options.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace
{
std::string unused(std::vector<std::string> args, bool is_folder)
{
    struct options o;
    char error[512] = "";
    std::vector<char *> argv;
    args.insert(args.begin(), "weir-send");
    for (auto &arg : args)
        argv.push_back(&arg[0]);
    argv.push_back(nullptr);
    if (options_parse((int)args.size(), argv.data(), &o, stdout, error, sizeof(error)) !=
        OPTIONS_RUN)
        return error;
    const char *list[UNUSED_OPTIONS];
    std::string all;
    for (int i = 0, count = unused_options(&o, is_folder, list); i < count; i++)
        all += std::string(list[i]).substr(0, std::string(list[i]).find(':')) + ";";
    options_destroy(&o);
    return all;
}
} // namespace

TEST_CASE("unused_options: an option for which there is no source of its kind")
{
    const struct {
        std::vector<std::string> args;
        const char *unused;
        bool is_folder;
    } table[] = {
        {{}, "", false},
        {{"film.mkv", "--loop", "--no-passthrough", "--passthrough-rate", "900"}, "", false},
        {{"films", "--loop", "--no-passthrough", "--passthrough-rate", "900"}, "", true},
        {{"test:", "--level", "320x180@30:300", "--sound-rate", "32", "--path", "/a"}, "", false},
        {{"test:", "--loop"}, "--loop has no effect;", false},
        {{"test:", "--no-passthrough"}, "--no-passthrough has no effect;", false},
        {{"test:", "--passthrough-rate", "900"}, "--passthrough-rate has no effect;", false},
        {{"test:", "--lfe-mix-level", "-6"}, "the levels of a downmix have no effect;", false},
        {{"film.mkv", "--center-mix-level", "0"}, "", false},
        {{"camera:", "--loop", "--capture", "640x480@30"}, "--loop has no effect;", false},
        {{"rtsp://h/a", "--capture", "640x480@30"}, "--capture has no effect;", false},
        {{"synthetic:goddard", "--level", "320x180@30:300"}, "--level has no effect;", false},
        {{"synthetic:greedy", "--sound-rate", "32"}, "--sound-rate has no effect;", false},
        {{"synthetic:greedy", "--profile", "baseline"}, "--profile has no effect;", false},
        {{"synthetic:greedy", "--temporal-layers", "2"}, "--temporal-layers has no effect;", false},
        {{"films", "--path", "/a"}, "--path has no effect;", true},
        {{"films", "--rewind", "60s"}, "--rewind has no effect;", true},
        {{"films", "--rewind", "60s", "--loop"}, "", true},
        {{"a=test:", "b=film.mkv", "--loop", "--capture", "640x480@30"},
         "--capture has no effect;",
         false},
        {{"a=test:", "b=camera:", "--loop", "--capture", "640x480@30"},
         "--loop has no effect;",
         false},
    };
    for (const auto &row : table) {
        CAPTURE(row.args);
        CHECK(unused(row.args, row.is_folder) == row.unused);
    }
}
