// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/text_script.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>
#include <vector>

#include "common/base/log.h"

namespace
{

const char head[] =
    "[Script Info]\nScriptType: v4.00+\nPlayResX: 640\nPlayResY: 360\n[V4+ Styles]\n"
    "Format: Name, Fontname, Fontsize, PrimaryColour, OutlineColour, BorderStyle, "
    "Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding\n"
    "Style: Default,sans-serif,28,&H00FFFFFF,&H00000000,1,0,0,2,10,10,10,-1\n"
    "Style: Red,sans-serif,28,&H000000FF,&H00000000,1,0,0,2,10,10,10,-1\n";

struct script {
    text_script *s = text_script_new();
    text_image image = {};
    std::vector<subtitle_cue> cues;

    script()
    {
        REQUIRE(s);
        text_script_head(s, head);
        text_script_frame(s, 640, 360, 640, 360, 0);
    }
    ~script()
    {
        text_script_free(s);
        text_image_destroy(&image);
    }
    script(const script &) = delete;
    script &operator=(const script &) = delete;

    void add(usec_t begin, usec_t end, const std::string &text, const char *style = "Default")
    {
        subtitle_cue c = {begin * USEC_PER_SEC, end * USEC_PER_SEC, ""};
        snprintf(c.text, sizeof(c.text), "0,%s,,0,0,0,,%s", style, text.c_str());
        cues.push_back(c);
        text_script_cues(s, cues.data(), (int)cues.size());
    }
    text_rect at(double seconds)
    {
        CHECK(text_script_draw(s, (usec_t)(seconds * 1e6), &image) != TEXT_FAILED);
        return image.area;
    }
    // The highest alpha, and the colour there.
    uint32_t brightest() const
    {
        uint32_t best = 0;
        for (int i = 0; i < image.area.w * image.area.h; i++)
            best = image.pixels[i] >> 24 > best >> 24 ? image.pixels[i] : best;
        return best;
    }
};

} // namespace

TEST_CASE("text_script: a cue is shown from its begin to its end, at its place, in its colour")
{
    script f;
    f.add(1, 3, "below");
    f.add(2, 3, "{\\an8\\pos(320,40)}a sign", "Red");
    CHECK(f.at(0.5).w == 0);
    text_rect r = f.at(1.5);
    CHECK(r.y > 300);
    CHECK(r.x + r.w / 2 == Approx(320).margin(20));
    CHECK(f.brightest() == 0xffffffff);
    CHECK(text_script_draw(f.s, 1600000, &f.image) == TEXT_SAME);
    r = f.at(2.5);
    CHECK(r.y < 60);
    CHECK(r.y + r.h > 330);
    CHECK(f.at(3).w == 0);
    f.cues.erase(f.cues.begin());
    text_script_cues(f.s, f.cues.data(), 1);
    CHECK(f.at(2.5).h < 80);
    CHECK(f.brightest() == 0xffff0000);
}

TEST_CASE("text_script: a fade")
{
    script f;
    f.add(1, 3, "{\\fad(1000,0)}WWW");
    f.at(1.25);
    CHECK(f.brightest() >> 24 < 120);
    CHECK((f.brightest() & 0xffffff) == 0xffffff);
    f.at(2.5);
    CHECK(f.brightest() >> 24 == 255);
}

TEST_CASE("text_script: a cue that stays keeps its place when others go")
{
    script f;
    f.add(1, 3, "first");
    f.at(1);
    f.add(2, 9, "second");
    int y = f.at(2.5).y;
    f.cues.erase(f.cues.begin());
    text_script_cues(f.s, f.cues.data(), 1);
    CHECK(f.at(4).y == Approx(y).margin(12)); // letters of the two differ in height
    CHECK(f.at(4).y + f.at(4).h < 335);
}

TEST_CASE("text_script: what is raised leaves the bottom")
{
    script f;
    f.add(0, 9, "text");
    int y = f.at(1).y;
    text_script_frame(f.s, 640, 360, 640, 360, 20);
    CHECK(f.at(1.1).y < y - 40);
}

TEST_CASE("text_script: a line is measured, whatever is in it")
{
    script f;
    auto width = [&](const char *text, int px = 24) {
        CHECK(text_script_line(f.s, text, px, &f.image) == TEXT_CHANGED);
        CHECK(f.image.area.h < 3 * px);
        return f.image.box.w;
    };
    int one = width("one");
    CHECK(one > 20);
    CHECK(width("one", 48) == Approx(2 * one).margin(4));
    CHECK(width("one one") > 2 * one);
    CHECK(width("") == 0);
    // From the right: the ink of what is written first is at the end.
    CHECK(width("\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d") > 20);
    text_rect hebrew = f.image.area;
    CHECK(width("\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d .") > hebrew.w);
    CHECK(f.image.area.x + f.image.area.w >= hebrew.x + hebrew.w + 4);
    CHECK(width(std::string(5000, 'x').c_str()) < 8192);
    CHECK(width("{\\pos(9,9)}\\N\n\x1b\xff") > 50);
}

TEST_CASE("text_script: scripts that are not well meant")
{
    script f;
    for (const char *bad :
         {"", "[Script Info]\nPlayResX: 99999999\nPlayResY: 1\n", "[V4+ Styles]\nStyle: ,,,,,,\n",
          "[Script Info]\nPlayResX: -5\nPlayResY: 0\n[V4+ Styles]\nFormat: Name, Fontsize\n"
          "Style: Default,1e9\n"}) {
        text_script_head(f.s, bad);
        f.cues.clear();
        f.add(0, 9, "{\\fs1000000\\fscx100000\\blur99999\\frx89}W");
        f.add(0, 9,
              "{\\t(\\fs9999)\\clip(m 0 0 l 99999 0 99999 99999)\\p1}m 0 0 l 9999999 0 0 99999");
        f.add(0, 9, "{\\k1}" + std::string(2000, '{') + "}x", "no such style");
        CHECK(f.at(1).w <= 640);
        CHECK(f.image.area.h <= 360);
    }
    // Glyphs of 100 million pixels in all; what comes before them is shown.
    text_script_head(f.s, head);
    f.cues.clear();
    f.add(0, 9, "small");
    int small = f.at(1).h;
    f.add(0, 9, "{\\an8\\fs300\\t(\\fscx900\\fscy300)}" + std::string(200, 'W'));
    CHECK(f.at(1.1).h == small);
    static const subtitle_cue marked = {0, 9000000, "Marked=0,Default,,0,0,0,,x"};
    text_script_cues(f.s, &marked, 1);
    CHECK(f.at(1).w == 0);
}

TEST_CASE("text_script: no font, or none where one was requested")
{
    static std::string logged;
    for (const char *name : {"WEIR_FONT", "FONTCONFIG_FILE"}) {
        logged.clear();
        log_to([](const log_entry *e) { logged += e->text; }, log_all(LOG_WARN));
        setenv(name, "/no/such.file", 1);
        text_script *s = text_script_new();
        unsetenv(name);
        log_to(nullptr, log_all(LOG_ERROR));
        if (name == std::string("WEIR_FONT"))
            CHECK(s == nullptr); // fontconfig itself may have fonts without its file
        CHECK((s || logged.find("WEIR_FONT") != std::string::npos));
        text_script_free(s);
    }
    text_script_free(nullptr);
}
