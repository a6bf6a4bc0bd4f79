// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>

#include "common/base/utf8.h"

static std::string copy_of(const char *text, size_t cap)
{
    char out[64];
    utf8_copy(text, out, cap);
    return out;
}

TEST_CASE("utf8_copy: invalid characters, and truncation")
{
    struct {
        const char *text;
        size_t cap;
        const char *copy;
    } rows[] = {
        {"", 64, ""},
        {"abc", 4, "abc"},
        {"abc", 3, "ab"},
        {"abc", 1, ""},
        {"gr\xc3\xbc\xc3\x9f", 64, "gr\xc3\xbc\xc3\x9f"},
        {"gr\xc3\xbc\xc3\x9f", 6, "gr\xc3\xbc"}, // not half of the last one
        {"f\xe9.mkv", 64, "f?.mkv"},             // Latin-1
        {"\xff\xc3", 64, "??"},
        {"a\x1b[2J\n\x7f", 64, "a?[2J??"},
        {"\xc2\x9b"
         "2J\xc2\xa0",
         64, "?2J\xc2\xa0"},              // C1: CSI; a space that does not break
        {"\xed\xa0\x80", 64, "???"},      // half of a UTF-16 pair
        {"\xc0\x80", 64, "??"},           // NUL in two bytes
        {"\xf4\x90\x80\x80", 64, "????"}, // beyond U+10FFFF
    };
    for (const auto &row : rows)
        CHECK(copy_of(row.text, row.cap) == row.copy);
}
