// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>

#include "common/base/log_json.h"

static std::string string_of(const char *text)
{
    char out[256];
    put p = put_into(out, sizeof(out));
    log_json_string(&p, text);
    REQUIRE(!p.full);
    return out;
}

TEST_CASE("log_json: strings")
{
    struct {
        const char *text, *json;
    } rows[] = {
        {"", "\"\""},
        {"a \"b\" \\ c", "\"a \\\"b\\\" \\\\ c\""},
        {"a\nb\t\x7f", "\"a\\u000ab\\u0009\\u007f\""},
        {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8e\xa5",
         "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8e\xa5\""},
        {"\xc2\x9b\xc2\xa0", "\"\\u009b\xc2\xa0\""}, // C1 CSI; a no-break space
        {"\xff", "\"\\ufffd\""},
        {"\xc3", "\"\\ufffd\""},                                  // cut off
        {"\xc3(", "\"\\ufffd(\""},                                //
        {"\xc0\x80", "\"\\ufffd\\ufffd\""},                       // NUL in two bytes
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},            // half of a UTF-16 pair
        {"\xe0\x9f\xbf", "\"\\ufffd\\ufffd\\ufffd\""},            // longer than it need be
        {"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""}, // beyond U+10FFFF
    };
    for (const auto &row : rows)
        CHECK(string_of(row.text) == row.json);
}

TEST_CASE("log_json: a message with and without a field")
{
    char out[256];
    put p = put_into(out, sizeof(out));
    log_entry e = {LOG_WARN, "session", "it's late", nullptr, nullptr, nullptr};
    log_json(&p, &e, "2026-01-02T03:04:05.000006Z");
    CHECK(std::string(out) == "{\"ts\":\"2026-01-02T03:04:05.000006Z\",\"level\":\"warn\","
                              "\"module\":\"session\",\"msg\":\"it's late\"}");
    p = put_into(out, sizeof(out));
    e = {LOG_DEBUG, "tcp", "x", "viewer", "[::1]:5", nullptr};
    log_json(&p, &e, "T");
    CHECK(std::string(out) == "{\"ts\":\"T\",\"level\":\"debug\",\"module\":\"tcp\",\"msg\":\"x\","
                              "\"viewer\":\"[::1]:5\"}");
}
