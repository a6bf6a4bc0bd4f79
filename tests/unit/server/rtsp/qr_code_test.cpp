// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/qr_code.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>

#include "common/base/err.h"

namespace
{
std::string printed(const std::string &text, bool colors, int expected)
{
    char *data = nullptr;
    size_t len = 0;
    FILE *to = open_memstream(&data, &len);
    REQUIRE(to);
    CHECK(qr_code_print(text.c_str(), colors, to) == expected);
    fclose(to);
    std::string out(data, len);
    free(data);
    return out;
}

int count(const std::string &in, const std::string &what)
{
    int n = 0;
    for (size_t at = in.find(what); at != std::string::npos; at = in.find(what, at + 1))
        n++;
    return n;
}
} // namespace

TEST_CASE("qr_code: a short URL is a code of version 2, with its margin")
{
    // 26 bytes: version 2 holds 32 at level L, and has 25 modules.
    const std::string dark = printed("https://192.0.2.1:8554/liv", false, 29);
    CHECK(count(dark, "\n") == 15);
    CHECK(count(dark, "\x1b") == 0);
    // The first line is margin: two light rows are full blocks.
    CHECK(dark.substr(0, dark.find('\n')) == std::string([] {
              std::string line;
              for (int i = 0; i < 29; i++)
                  line += "█";
              return line;
          }()));
    // A finder pattern's upper left corner is dark above and, in its second row, dark below.
    const std::string second = dark.substr(dark.find('\n') + 1);
    CHECK(second.substr(0, 7) == "██ ");
    const std::string colors = printed("https://192.0.2.1:8554/liv", true, 29);
    CHECK(count(colors, "\x1b[30;107m") == 15);
    CHECK(count(colors, "\x1b[0m\n") == 15);
    CHECK(colors.substr(0, 9 + 29) == "\x1b[30;107m" + std::string(29, ' '));
}

TEST_CASE("qr_code: no code holds 3 kB")
{
    CHECK(printed(std::string(3000, 'x'), false, ERR_TOO_BIG).empty());
}
