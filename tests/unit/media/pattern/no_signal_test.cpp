// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/pattern/no_signal.h"

#include <catch2/catch.hpp>
#include <string>

namespace
{
// Counts a picture's bright pixels and finds the rows that they span.
struct ink {
    int pixels = 0, top = -1, bottom = -1;
};

ink ink_of(const picture *p)
{
    ink found;
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++)
            if (p->plane[0][y * p->stride[0] + x] > 128) {
                found.pixels++;
                found.top = found.top < 0 ? y : found.top;
                found.bottom = y;
            }
    return found;
}
} // namespace

TEST_CASE("the card shows its title and the reason")
{
    picture *p = picture_new(640, 360);
    no_signal_draw(p, "");
    ink title = ink_of(p);
    CHECK(title.pixels > 0);
    CHECK(title.top == 90);         // a quarter down
    CHECK(title.bottom == 90 + 27); // 7 rows, twice as large as the rest, which is 2 times
    CHECK(p->plane[1][0] == 128);
    no_signal_draw(p, "l"); // 5 columns and 7 rows of which the left and the bottom are drawn: 11
    CHECK(ink_of(p).pixels == title.pixels + 11 * 2 * 2);
    picture_unref(p);
}

TEST_CASE("long reasons, small pictures and unknown letters stay within the picture")
{
    const int sizes[][2] = {{16, 16}, {64, 36}, {160, 90}, {256, 144}, {1920, 1080}, {90, 160}};
    const std::string reasons[] = {
        std::string(600, 'w'), std::string(300, ' '), "\xc3\xa9\x01\xff",
        "/dev/video0: it was unplugged, and nobody knows when it returns"};
    for (const auto &size : sizes)
        for (const auto &reason : reasons) {
            picture *p = picture_new(size[0], size[1]);
            no_signal_draw(p, reason.c_str()); // AddressSanitizer watches
            CHECK(ink_of(p).bottom < p->height);
            picture_unref(p);
        }
}
