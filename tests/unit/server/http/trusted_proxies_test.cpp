// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/http/trusted_proxies.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/net/udp_socket.h"

TEST_CASE("trusted proxies: numeric addresses without a port")
{
    struct {
        const char *text;
        const char *address; // nullptr: refused
    } const table[] = {
        {"192.0.2.7", "192.0.2.7:0"},
        {"2001:db8::7", "[2001:db8::7]:0"},
        {"[2001:db8::7]", "[2001:db8::7]:0"},
        {"::ffff:192.0.2.7", "[::ffff:192.0.2.7]:0"},
        {"192.0.2.7:8554", nullptr},
        {"[::1]:8554", nullptr},
        {"proxy.example", nullptr},
        {"192.0.2.0/24", nullptr},
        {"", nullptr},
    };
    for (const auto &row : table) {
        INFO(row.text);
        trusted_proxies p = {};
        const char *why = trusted_proxies_read(&p, row.text);
        CHECK((why == nullptr) == (row.address != nullptr));
        CHECK(p.count == (row.address ? 1 : 0));
        if (!row.address)
            continue;
        char text[SOCKADDR_TEXT];
        sockaddr_text(reinterpret_cast<sockaddr *>(&p.addresses[0]), text, sizeof(text));
        CHECK(std::string(text) == row.address);
    }
}

TEST_CASE("trusted proxies: at most 16")
{
    trusted_proxies p = {};
    for (int i = 0; i < TRUSTED_PROXIES_MAX; i++)
        CHECK(trusted_proxies_read(&p, "192.0.2.7") == nullptr);
    CHECK(std::string(trusted_proxies_read(&p, "192.0.2.7")) == "at most 16 addresses");
}
