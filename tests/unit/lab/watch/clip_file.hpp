// SPDX-License-Identifier: GPL-2.0-or-later
// A clip in a file, made of test pictures.
#ifndef WEIR_TESTS_LAB_CLIP_FILE_HPP
#define WEIR_TESTS_LAB_CLIP_FILE_HPP

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <unistd.h>

#include "lab/watch/clip.h"

inline const int width = 320, height = 720; // no lower: a clip would be enlarged
inline const size_t frame_bytes = size_t(width) * height * 3 / 2;

struct clip_file {
    char path[32] = "/tmp/weir-clip-XXXXXX";
    std::string bytes;

    clip_file(int w, int h, int frames, bool as_is = false)
    {
        FILE *f = fdopen(mkstemp(path), "w+");
        REQUIRE(f);
        struct source *s = source_pattern_new(w, h, {30, 1});
        REQUIRE(s);
        CHECK(clip_write(s, frames, as_is, f) == 0);
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

#endif
