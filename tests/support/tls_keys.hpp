// SPDX-License-Identifier: GPL-2.0-or-later
// Keys and certificates for tests of TLS.
#ifndef WEIR_TEST_TLS_KEYS_HPP
#define WEIR_TEST_TLS_KEYS_HPP

#include <catch2/catch.hpp>

#include <arpa/inet.h>

#include <string>
#include <vector>

#include "common/net/tls_credentials.h"

namespace test
{

inline sockaddr_storage ip(const char *text)
{
    sockaddr_storage out{};
    auto *v4 = reinterpret_cast<sockaddr_in *>(&out);
    auto *v6 = reinterpret_cast<sockaddr_in6 *>(&out);
    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
        out.ss_family = AF_INET;
    } else {
        REQUIRE(inet_pton(AF_INET6, text, &v6->sin6_addr) == 1);
        out.ss_family = AF_INET6;
    }
    return out;
}

struct tls_keys {
    std::vector<uint8_t> key = std::vector<uint8_t>(4096);
    std::vector<uint8_t> certificate = std::vector<uint8_t>(8192);
    tls_credentials *credentials = nullptr;

    explicit tls_keys(const std::vector<sockaddr_storage> &at = {ip("127.0.0.1")})
    {
        size_t len = 0;
        REQUIRE(tls_key_make(nullptr, key.data(), key.size(), &len) == 0);
        key.resize(len);
        REQUIRE(tls_certificate_make(key.data(), key.size(), at.data(), static_cast<int>(at.size()),
                                     certificate.data(), certificate.size(), &len) == 0);
        certificate.resize(len);
        char why[128];
        credentials = tls_credentials_new(certificate.data(), certificate.size(), key.data(),
                                          key.size(), why, sizeof(why));
        REQUIRE(credentials);
    }
    tls_keys(const tls_keys &) = delete;
    tls_keys &operator=(const tls_keys &) = delete;
    ~tls_keys()
    {
        tls_credentials_free(credentials);
    }
    std::string pin() const
    {
        return tls_credentials_pin(credentials);
    }
};

} // namespace test

#endif
