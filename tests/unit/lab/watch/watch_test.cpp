// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <jansson.h>
#include <unistd.h>

#include "common/base/err.h"
#include "lab/watch/clip.h"
#include "lab/watch/watch.h"
#include "media/pattern/pattern_picture.h"

namespace
{

const int width = 320, height = 720; // no lower: a clip would be enlarged
const size_t frame_bytes = size_t(width) * height * 3 / 2;

struct clip_file {
    char path[32] = "/tmp/weir-clip-XXXXXX";
    std::string bytes;

    clip_file(int w, int h, int frames)
    {
        FILE *f = fdopen(mkstemp(path), "w+");
        REQUIRE(f);
        struct source *s = source_pattern_new(w, h, {30, 1});
        REQUIRE(s);
        CHECK(clip_write(s, frames, f) == 0);
        source_free(s);
        bytes.resize(static_cast<size_t>(ftell(f)));
        rewind(f);
        REQUIRE(fread(&bytes[0], 1, bytes.size(), f) == bytes.size());
        fclose(f);
    }
    ~clip_file()
    {
        unlink(path);
    }
    std::string picture(size_t n) const
    {
        size_t header = bytes.find('\n') + 1, marker = strlen("FRAME\n");
        return bytes.substr(header + n * (marker + frame_bytes) + marker, frame_bytes);
    }
};

// Of a frame: number, could it be read. Of a picture: number, that of what stood there, are they
// the same.
using line = std::vector<int>;

// Frames first, then pictures: they come from two threads.
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

TEST_CASE("clip: raw pictures that carry their numbers")
{
    clip_file clip(width, height, 3);
    const std::string header = "YUV4MPEG2 W320 H720 F30:1 Ip A1:1 C420mpeg2 XCOLORRANGE=LIMITED\n";
    CHECK(clip.bytes.substr(0, header.size() + 6) == header + "FRAME\n");
    CHECK(clip.bytes.size() == header.size() + 3 * (6 + frame_bytes));
    struct picture *p = picture_new(width, height);
    std::string luma = clip.picture(2);
    for (int y = 0; y < height; y++)
        memcpy(p->plane[0] + y * p->stride[0], &luma[size_t(y) * width], width);
    CHECK(pattern_picture_read(p) == 2);
    picture_unref(p);
}

TEST_CASE("clip: a small source is enlarged to 720 lines, of even width")
{
    clip_file clip(258, 180, 1);
    CHECK(clip.bytes.substr(0, 20) == "YUV4MPEG2 W1032 H720");
    clip_file odd(242, 242, 1); // 720.0
    CHECK(odd.bytes.substr(0, 19) == "YUV4MPEG2 W720 H720");
}

TEST_CASE("watch: what was shown, and what stood in the place of what was not")
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

TEST_CASE("watch: beyond the source's end nothing is compared")
{
    clip_file clip(width, height, 2), longer(width, height, 3);
    std::string end;
    auto lines = watched(clip, longer.picture(1) + longer.picture(2), end);
    CHECK(lines == std::vector<line>{{1, 1}, {2, 1}, {1, 1, 1}});
    CHECK(end == R"({"event":"end","pictures":2,"unreadable":0,"repeated":0,"skipped":1})");
}
