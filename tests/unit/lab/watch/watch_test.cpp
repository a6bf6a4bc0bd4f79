// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <jansson.h>

#include "common/base/err.h"
#include "lab/watch/watch.h"
#include "tests/unit/lab/watch/clip_file.hpp"

namespace
{

// Of a frame: its number, and whether it could be read. Of a picture: its number, the number of the
// picture on the screen, and whether the two are equal.
using line = std::vector<int>;

// Frames first, then pictures, because two threads write the lines.
std::vector<line> watched(const clip_file &clip, std::string pictures, std::string &end)
{
    int err;
    struct source *s = source_open(clip.path, false, &err);
    REQUIRE(s);
    FILE *in = fmemopen(&pictures[0], pictures.size(), "r");
    char *text = nullptr;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CHECK(watch_run(s, in, out) == 0);
    fclose(in);
    fclose(out);
    std::vector<line> frames, compared;
    std::string rest(text, size);
    free(text);
    for (size_t at = 0, stop; (stop = rest.find('\n', at)) != std::string::npos; at = stop + 1) {
        json_t *o = json_loadb(rest.data() + at, stop - at, 0, nullptr);
        REQUIRE(o);
        std::string event = json_string_value(json_object_get(o, "event"));
        int number = static_cast<int>(json_integer_value(json_object_get(o, "number")));
        if (event == "frame")
            frames.push_back({number, json_is_true(json_object_get(o, "read"))});
        else if (event == "picture")
            compared.push_back({number,
                                static_cast<int>(json_integer_value(json_object_get(o, "shown"))),
                                json_real_value(json_object_get(o, "ssim")) == 1.0});
        else
            end = rest.substr(at, stop - at);
        json_decref(o);
    }
    frames.insert(frames.end(), compared.begin(), compared.end());
    return frames;
}

} // namespace

TEST_CASE("watch: shown frames, and the pictures shown in place of others")
{
    clip_file clip(width, height, 8);
    std::string broken(frame_bytes, '\x80'), end;
    std::string all = broken + clip.picture(1) + clip.picture(2) + clip.picture(5) +
                      clip.picture(4) + clip.picture(5) + clip.picture(7) +
                      clip.picture(0).substr(1);
    CHECK(watched(clip, all, end) == std::vector<line>{
                                         {1, 1},
                                         {2, 1},
                                         {5, 1},
                                         {7, 1},
                                         {1, 1, 1},
                                         {2, 2, 1},
                                         {3, 2, 0},
                                         {4, 2, 0},
                                         {5, 5, 1},
                                         {6, 5, 0},
                                         {7, 7, 1},
                                     });
    CHECK(end == R"({"event":"end","pictures":7,"unreadable":1,"repeated":2,"skipped":0})");
}

TEST_CASE("watch: nothing is compared after the source's end")
{
    clip_file clip(width, height, 2), longer(width, height, 3);
    std::string end;
    auto lines = watched(clip, longer.picture(1) + longer.picture(2), end);
    CHECK(lines == std::vector<line>{{1, 1}, {2, 1}, {1, 1, 1}});
    CHECK(end == R"({"event":"end","pictures":2,"unreadable":0,"repeated":0,"skipped":1})");
}
