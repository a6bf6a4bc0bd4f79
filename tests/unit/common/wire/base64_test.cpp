// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/base64.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/base/err.h"

namespace
{

std::string encoded(const std::string &data, base64_kind kind)
{
    char out[64];
    size_t len =
        base64_encode(reinterpret_cast<const uint8_t *>(data.data()), data.size(), kind, out);
    CHECK(len == std::string(out).size());
    return out;
}

int decode(const std::string &text, base64_kind kind, std::string &out, size_t cap = 32)
{
    uint8_t data[32];
    int len = base64_decode({text.data(), text.size()}, kind, data, cap);
    out.assign(reinterpret_cast<char *>(data), len > 0 ? static_cast<size_t>(len) : 0);
    return len;
}

} // namespace

TEST_CASE("base64: RFC 4648, 10")
{
    const struct {
        const char *data, *standard, *url;
    } table[] = {{"", "", ""},
                 {"f", "Zg==", "Zg"},
                 {"fo", "Zm8=", "Zm8"},
                 {"foo", "Zm9v", "Zm9v"},
                 {"foob", "Zm9vYg==", "Zm9vYg"},
                 {"fooba", "Zm9vYmE=", "Zm9vYmE"},
                 {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
                 {"\xfb\xff\xbf", "+/+/", "-_-_"}};
    std::string out;
    for (const auto &row : table) {
        CHECK(encoded(row.data, BASE64_STANDARD) == row.standard);
        CHECK(encoded(row.data, BASE64_URL) == row.url);
        const int len = static_cast<int>(std::string(row.data).size());
        CHECK(decode(row.standard, BASE64_STANDARD, out) == len);
        CHECK(out == row.data);
        CHECK(decode(row.url, BASE64_URL, out) == len);
        CHECK(out == row.data);
    }
}

TEST_CASE("base64: other texts are refused")
{
    std::string out;
    for (const char *text :
         {"Z", "Zg", "Zg=", "Zg===", "Z===", "Zm9v=", "Zm 9v", "Zg==Zg==", "-_-_", "Zh==", "Zm9="})
        CHECK(decode(text, BASE64_STANDARD, out) == ERR_MALFORMED);
    for (const char *text : {"Z", "Zg==", "+/+/", "Zh", "Zm9"})
        CHECK(decode(text, BASE64_URL, out) == ERR_MALFORMED);
    CHECK(decode(std::string("Zm9\0", 4), BASE64_URL, out) == ERR_MALFORMED);
    CHECK(decode("Zm9v", BASE64_URL, out, 2) == ERR_FULL);
    CHECK(decode("Zm9v", BASE64_URL, out, 3) == 3);
}
