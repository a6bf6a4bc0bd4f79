// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/text_wrap.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

// Each character is one pixel wide.
static int width(void *, const char *text)
{
    return (int)strlen(text);
}

TEST_CASE("text_wrap: breaks at spaces, and leaves nothing out")
{
    static const struct {
        const char *text;
        int width;
        std::vector<std::string> lines;
    } rows[] = {
        {"", 10, {}},
        {"one", 10, {"one"}},
        {"one two three", 13, {"one two three"}},
        {"one two three", 12, {"one two", "three"}},
        {"one two three", 7, {"one two", "three"}},
        {"one  two", 4, {"one ", "two"}},
        {"incomprehensible word", 4, {"incomprehensible", "word"}},
        {"a b c d e f g h", 1, {"a", "b", "c", "d", "e", "f g h"}},
    };
    for (const auto &row : rows) {
        struct wrapped_text w;
        text_wrap(&w, row.text, row.width, width, nullptr);
        std::vector<std::string> lines(w.line, w.line + w.count);
        CHECK(lines == row.lines);
    }
}
