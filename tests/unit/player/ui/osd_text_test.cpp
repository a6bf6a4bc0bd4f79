// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>

#include "common/base/log.h"
#include "player/ui/osd_text.h"
#include "tests/support/surface.hpp"

namespace
{

const SDL_Color white = {255, 255, 255, 255};

struct fixture : surface {
    struct osd_text *text = osd_text_new(renderer);

    fixture() : surface(400, 100)
    {
        REQUIRE(text);
        osd_text_set_px(text, 20);
    }
    ~fixture()
    {
        osd_text_free(text);
    }
    int width(const std::string &s, osd_size size = OSD_BODY)
    {
        return osd_text_width(text, size, s.c_str());
    }
};

} // namespace

TEST_CASE("osd_text: the sizes follow that of the body")
{
    fixture f;
    CHECK(osd_text_px_now(f.text) == 20);
    CHECK(osd_text_height(f.text, OSD_SMALL) < osd_text_height(f.text, OSD_BODY));
    CHECK(osd_text_height(f.text, OSD_BODY) < osd_text_height(f.text, OSD_BIG));
    int before = f.width("Weir");
    osd_text_set_px(f.text, 40);
    CHECK(f.width("Weir") == Approx(2 * before).margin(4));
}

TEST_CASE("osd_text: a text is as wide as its glyphs")
{
    fixture f;
    CHECK(f.width("") == 0);
    CHECK(f.width("ab") == Approx(f.width("a") + f.width("b")).margin(2));
    CHECK(f.width("a  b") > f.width("ab") + 4); // spaces count
    CHECK(f.width("W") > f.width("i"));
    // Characters, not bytes; one question mark for each control character and what is no UTF-8.
    CHECK(f.width("\xc3\xa4") == Approx(f.width("a")).margin(1));
    CHECK(f.width("\x1b") == f.width("?"));
    CHECK(f.width("\xff\xfe") == f.width("??"));
    // What would be an override or a line end of ASS is text.
    CHECK(f.width("{b}") > f.width("b") + 4);
    CHECK(f.width("a\\Nb") > f.width("ab") + 4);
    CHECK(osd_text_height(f.text, OSD_BODY) < 30);
}

TEST_CASE("osd_text: a text is drawn in its colour between its corner and the returned x")
{
    fixture f;
    int end = osd_text_draw(f.text, OSD_BODY, 50, 30, SDL_Color{255, 0, 0, 255}, "Weir");
    CHECK(end == 50 + f.width("Weir"));
    SDL_Rect r = f.drawn();
    REQUIRE(r.w > 0);
    CHECK(r.x >= 50);
    CHECK(r.x + r.w <= end + 2);
    CHECK(r.y >= 30);
    CHECK(r.y + r.h <= 30 + osd_text_height(f.text, OSD_BODY));
    for (int y = r.y; y < r.y + r.h; y++) {
        for (int x = r.x; x < r.x + r.w; x++)
            CHECK((f.at(x, y) & 0xffff) == 0);
    }
    f.clear();
    CHECK(osd_text_draw(f.text, OSD_BODY, 50, 30, white, "  ") == 50 + f.width("  "));
    CHECK(f.drawn().w == 0);
}

TEST_CASE("osd_text: a text that is too wide ends with dots, others are complete")
{
    fixture f;
    const char *text = "the server was lost";
    int whole = f.width(text);
    osd_text_cut(f.text, OSD_BODY, 0, 0, whole, white, text);
    int fits = f.drawn().w;
    f.clear();
    osd_text_draw(f.text, OSD_BODY, 0, 0, white, text);
    CHECK(f.drawn().w == fits);
    for (int width : {whole - 1, whole / 2, f.width("the...")}) {
        f.clear();
        osd_text_cut(f.text, OSD_BODY, 0, 0, width, white, text);
        CHECK(f.drawn().w <= width);
        CHECK(f.drawn().w > width / 2);
    }
}

TEST_CASE("osd_text: without the font that was requested there is no text")
{
    surface s(10, 10);
    static std::string logged;
    logged.clear();
    log_to([](const log_entry *e) { logged += e->text; }, log_all(LOG_WARN));
    SDL_setenv("WEIR_FONT", "/no-such-font.ttf", 1);
    CHECK(osd_text_new(s.renderer) == nullptr);
    unsetenv("WEIR_FONT");
    log_to(nullptr, log_all(LOG_ERROR));
    CHECK(logged.find("WEIR_FONT") != std::string::npos);
    osd_text_free(nullptr);
}
