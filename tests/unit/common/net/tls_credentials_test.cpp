// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>

#include "common/base/err.h"
#include "common/net/tls_credentials.h"
#include "tests/support/tls_keys.hpp"

using test::ip;

TEST_CASE("tls_credentials: a made key and certificate belong together; the pin is the key's")
{
    test::tls_keys a, b;
    CHECK(a.pin().substr(0, 7) == "sha256:");
    CHECK(a.pin().size() == TLS_PIN_TEXT - 1);
    CHECK(a.pin() != b.pin());
    const std::string key(a.key.begin(), a.key.end());
    CHECK(key.find("-----BEGIN PRIVATE KEY-----") == 0);

    char why[128] = "";
    CHECK_FALSE(tls_credentials_new(a.certificate.data(), a.certificate.size(), b.key.data(),
                                    b.key.size(), why, sizeof(why)));
    CHECK(std::string(why) != "");
    const uint8_t junk[] = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    CHECK_FALSE(
        tls_credentials_new(junk, sizeof(junk) - 1, a.key.data(), a.key.size(), why, sizeof(why)));
}

TEST_CASE("tls_certificate: made again for other addresses it keeps the pin")
{
    test::tls_keys k({ip("127.0.0.1"), ip("192.0.2.7"), ip("2001:db8::1")});
    auto covers = [&](const std::vector<sockaddr_storage> &at) {
        return tls_certificate_covers(k.certificate.data(), k.certificate.size(), k.key.data(),
                                      k.key.size(), at.data(), static_cast<int>(at.size()));
    };
    CHECK(covers({ip("127.0.0.1")}));
    CHECK(covers({ip("2001:db8::1"), ip("192.0.2.7")}));
    CHECK_FALSE(covers({ip("127.0.0.1"), ip("192.0.2.8")}));
    CHECK_FALSE(covers({ip("2001:db8::2")}));

    std::vector<uint8_t> other(8192);
    const sockaddr_storage at = ip("192.0.2.8");
    size_t len = 0;
    REQUIRE(tls_certificate_make(k.key.data(), k.key.size(), &at, 1, other.data(), other.size(),
                                 &len) == 0);
    char why[128];
    tls_credentials *again =
        tls_credentials_new(other.data(), len, k.key.data(), k.key.size(), why, sizeof(why));
    REQUIRE(again);
    CHECK(tls_credentials_pin(again) == k.pin());
    tls_credentials_free(again);

    test::tls_keys stranger;
    CHECK_FALSE(tls_certificate_covers(k.certificate.data(), k.certificate.size(),
                                       stranger.key.data(), stranger.key.size(), &at, 1));
}

TEST_CASE("tls_key_make: what does not fit is refused")
{
    uint8_t few[16];
    size_t len = 0;
    CHECK(tls_key_make(nullptr, few, sizeof(few), &len) == ERR_TOO_BIG);
}
