// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <string>

#include "common/wire/service_text.h"

static struct service_text read(std::initializer_list<std::string> strings)
{
    struct service_text text = {"/", false};
    for (const std::string &s : strings)
        service_text_read(&text, s.data(), s.size());
    return text;
}

TEST_CASE("service_text: a name is UTF-8 of at most 63 bytes")
{
    char out[SERVICE_NAME_MAX];
    service_name_clean("Küche", out);
    CHECK(std::string(out) == "Küche");
    service_name_clean("a\x1b[2J\n\xff", out);
    CHECK(std::string(out) == "a?[2J??");
    service_name_clean(std::string(64, 'x').c_str(), out);
    CHECK(std::string(out) == std::string(63, 'x'));
    service_name_clean((std::string(62, 'x') + "ü").c_str(), out);
    CHECK(std::string(out) == std::string(62, 'x'));
}

TEST_CASE("service_text: a path leaves its query and what no URL has out")
{
    const char *const table[][2] = {
        {"/live", "/live"}, {"/live?key=SECRET", "/live"},
        {"/a#b", "/a"},     {"", "/"},
        {"live", "/"},      {"/a b", "/"},
        {"/\x1b[2J", "/"},  {"?key=SECRET", "/"},
        {"/\xc3\xbc", "/"}, {"/a%20b/c", "/a%20b/c"},
    };
    char out[SERVICE_PATH_MAX];
    for (const auto &row : table) {
        service_path_clean(row[0], strlen(row[0]), out);
        CHECK(std::string(out) == row[1]);
    }
    std::string longest = "/" + std::string(199, 'x');
    service_path_clean(longest.data(), longest.size(), out);
    CHECK(out == longest);
    longest += "x";
    service_path_clean(longest.data(), longest.size(), out);
    CHECK(std::string(out) == "/");
}

TEST_CASE("service_text: the strings of a TXT record")
{
    CHECK(std::string(read({"path=/live"}).path) == "/live");
    CHECK_FALSE(read({"path=/live"}).tls);
    CHECK(read({"PATH=/live", "TLS=1"}).tls);
    CHECK(std::string(read({"PATH=/live", "TLS=1"}).path) == "/live");
    CHECK_FALSE(read({"tls=", "tls", "=", "", "other=1", "tls=11"}).tls);
    CHECK(std::string(read({"path", "path=", "pathname=/x"}).path) == "/");
    CHECK(std::string(read({std::string("path=/a\0b", 9)}).path) == "/a");
}

TEST_CASE("service_text: the URL of a server")
{
    char out[URL_MAX_TEXT];
    struct service_text plain = read({"path=/live"}), tls = read({"tls=1"});
    REQUIRE(service_url(&plain, "192.0.2.1", nullptr, 8554, out));
    CHECK(std::string(out) == "rtsp://192.0.2.1:8554/live");
    REQUIRE(service_url(&tls, "2001:db8::1", nullptr, 322, out));
    CHECK(std::string(out) == "rtsps://[2001:db8::1]:322/");
    REQUIRE(service_url(&plain, "fe80::1", "eth0", 8554, out));
    CHECK(std::string(out) == "rtsp://[fe80::1%25eth0]:8554/live");
    CHECK_FALSE(service_url(&plain, "192.0.2.1", nullptr, 0, out));
}
