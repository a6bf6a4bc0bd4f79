// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/compare/contact_sheet.h"

#include <catch2/catch.hpp>

#include "common/base/err.h"

TEST_CASE("contact sheet: at most twenty-four pictures, for any duration")
{
    struct contact_sheet *c = contact_sheet_new();
    REQUIRE(c);
    struct picture *p = picture_new(64, 36);
    for (int i = 0; i < 3; i++) {
        for (int y = 0; y < (i ? 18 : 36); y++)
            std::fill_n(p->plane[i] + y * p->stride[i], i ? 32 : 64, (uint8_t)128);
    }
    CHECK(contact_sheet_write(c, "never-written.png") == ERR_NOT_FOUND);
    int most = 0;
    for (usec_t at = 0; at < 1000 * USEC_PER_SEC; at += USEC_PER_SEC / 10) {
        contact_sheet_add(c, p, at);
        most = std::max(most, contact_sheet_count(c));
    }
    CHECK(most == 24);
    CHECK(contact_sheet_count(c) >= 12); // enough for the sheet at any time
    picture_unref(p);
    contact_sheet_free(c);
}
