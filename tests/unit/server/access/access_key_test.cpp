// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/access/access_key.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "common/base/err.h"

namespace
{

const uint8_t secret[ACCESS_SECRET_BYTES] = {1, 2, 3};

std::string make(const char *path, unsigned rights = ACCESS_WATCH, uint32_t expires = 0)
{
    char text[ACCESS_KEY_TEXT];
    access_key key = {rights, expires};
    REQUIRE(access_key_make(secret, &key, path, text) == 0);
    return text;
}

int read(const std::string &text, const char *path, access_key &key, size_t &scope)
{
    return access_key_read(secret, {text.data(), text.size()}, path, &key, &scope);
}

} // namespace

TEST_CASE("access key: valid for its path and what is below it")
{
    struct {
        const char *of, *path;
        bool is_valid;
    } const table[] = {
        {"live", "live", true},
        {"live", "live/x", true},
        {"live", "live2", false},
        {"live", "liv", false},
        {"live", "", false},
        {"live", "other", false},
        {"a/b", "a/b/c/d.mp4", true},
        {"a/b", "a", false},
        {"a/b", "a/c", false},
        {"", "anything", true},
        {"", "", true},
        {"", "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18", true},
        {"1", "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18", false}, // too deep
    };
    for (const auto &row : table) {
        INFO(row.of << " for " << row.path);
        access_key key;
        size_t scope;
        CHECK((read(make(row.of), row.path, key, scope) == 0) == row.is_valid);
        if (row.is_valid)
            CHECK(scope == strlen(row.of));
    }
}

TEST_CASE("access key: carries rights and expiry, and no bit can be changed")
{
    const std::string text = make("live", ACCESS_METRICS, 0x80000001);
    access_key key;
    size_t scope;
    REQUIRE(text.size() == ACCESS_KEY_TEXT - 1);
    REQUIRE(read(text, "live", key, scope) == 0);
    CHECK(key.rights == ACCESS_METRICS);
    CHECK(key.expires == 0x80000001);
    for (size_t i = 0; i < text.size(); i++) {
        std::string other = text;
        other[i] = other[i] == 'A' ? 'B' : 'A';
        CHECK(read(other, "live", key, scope) == ERR_MALFORMED);
    }
    uint8_t another[ACCESS_SECRET_BYTES] = {1, 2, 4};
    CHECK(access_key_read(another, {text.data(), text.size()}, "live", &key, &scope) ==
          ERR_MALFORMED);
}

TEST_CASE("access key: other texts are no keys")
{
    access_key key;
    size_t scope;
    for (const std::string &text :
         {std::string(), std::string("x"), std::string(27, 'A'), std::string(29, 'A'),
          std::string(28, '+'), std::string(28, '\0'), std::string(100000, 'A')})
        CHECK(read(text, "live", key, scope) == ERR_MALFORMED);
}
