// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/text_encoding.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <iconv.h>
#include <string>

namespace
{

std::string name;

std::string read(const std::string &data)
{
    char guessed[TEXT_ENCODING_NAME];
    size_t len = 0;
    char *text = text_encoding_utf8(data.data(), data.size(), guessed, &len);
    REQUIRE(text);
    std::string out(text, len);
    free(text);
    name = guessed;
    return out;
}

std::string encoded(const char *as, std::string text)
{
    std::string out(4 * text.size() + 4, '\0');
    char *in = text.data(), *to = out.data();
    size_t left = text.size(), room = out.size();
    iconv_t c = iconv_open(as, "UTF-8");
    REQUIRE(c != (iconv_t)-1);
    REQUIRE(iconv(c, &in, &left, &to, &room) != (size_t)-1);
    iconv_close(c);
    out.resize(out.size() - room);
    return out;
}

} // namespace

TEST_CASE("text_encoding: UTF-8 stays, without its mark")
{
    for (const char *text : {"", "plain", "naïve 你好 😀"}) {
        CHECK(read(text) == text);
        CHECK(name.empty());
        CHECK(read("\xef\xbb\xbf" + std::string(text)) == text);
        CHECK(name.empty());
    }
    CHECK(read("cut \xe4\xbd").substr(0, 4) == "cut "); // at the end of what was read
    CHECK(name.empty());
}

TEST_CASE("text_encoding: what is not UTF-8 is guessed")
{
    const std::string times = "1\r\n00:00:01,000 --> 00:00:03,000\r\n";
    static const struct {
        const char *as, *text;
    } rows[] = {
        {"CP1251", "Съешь же ещё этих мягких французских булок, да выпей чаю"},
        {"CP1252", "Voilà, ça y est : l’été où naît cet œuf"},
        {"CP932", "これは日本語の字幕です。ありがとうございます"},
        {"GB18030", "这是中文字幕，谢谢大家的观看，再见"},
        {"BIG5", "這是中文字幕，謝謝大家的觀看，再見，我們明天見"},
        {"EUC-KR", "안녕하세요 이것은 한국어 자막입니다 감사합니다"},
        {"UTF-16LE", "Съешь же ещё этих"},
        {"UTF-16BE", "Voilà, ça y est"},
    };
    for (const auto &row : rows) {
        INFO(row.as);
        const std::string text = times + row.text + "\r\n";
        CHECK(read(encoded(row.as, text)) == text);
        CHECK_FALSE(name.empty());
    }
    const std::string text = times + "你好\r\n";
    CHECK(read("\xff\xfe" + encoded("UTF-16LE", text)) == text);
    CHECK(name == "UTF-16LE");
    CHECK(read("\xfe\xff" + encoded("UTF-16BE", text)) == text);
    CHECK(name == "UTF-16BE");
}

TEST_CASE("text_encoding: bytes that are no text become something that is")
{
    std::string noise;
    uint32_t seed = 1;
    for (int i = 0; i < 5000; i++) {
        seed = seed * 1664525 + 1013904223;
        noise += (char)(seed >> 24);
    }
    read(noise);
    CHECK_FALSE(name.empty());
    read("\xff\xfe\x00"); // half a character
    CHECK(name == "UTF-16LE");
}
