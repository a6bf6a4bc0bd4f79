// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <string>

#include "common/base/err.h"
#include "common/base/ip_literal.h"

TEST_CASE("ip_literal: addresses and zones, in both notations")
{
    struct row {
        const char *text, *address, *zone;
    };
    const row table[] = {
        {"::1", "::1", ""},
        {"2001:db8::1", "2001:db8::1", ""},
        {"fe80::1%eth0", "fe80::1", "eth0"},
        {"fe80::1%25eth0", "fe80::1", "eth0"},
        {"FEBF::1%25lo", "FEBF::1", "lo"},
        {"fe80::1%2", "fe80::1", "2"},
        {"fe80::1%25", "fe80::1", "25"},   // the 25th interface
        {"fe80::1%2525", "fe80::1", "25"}, // the same in a URL
        {"fe80::1%25250", "fe80::1", "250"},
        {"fe80::1%abcdefghijklmno", "fe80::1", "abcdefghijklmno"},
        {"fe8::1", "fe8::1", ""}, // 0fe8
        {"fec0::1", "fec0::1", ""},
        {"nonsense", "nonsense", ""}, // inet_pton's to refuse
    };
    for (const row &r : table) {
        ip_literal out;
        const char *why = "";
        INFO(r.text);
        REQUIRE(ip_literal_read(r.text, std::strlen(r.text), &out, &why) == 0);
        CHECK(std::string(out.address) == r.address);
        CHECK(std::string(out.zone) == r.zone);
    }
}

TEST_CASE("ip_literal: a malformed literal gives a reason")
{
    struct row {
        const char *text, *why;
    };
    const row table[] = {
        {"fe80::1", "a link-local address requires its network interface"},
        {"fe80:1:2:3:4:5:6:7", "a link-local address requires"},
        {"Feb0::1", "a link-local address requires"},
        {"::1%lo", "only a link-local address (fe80::) has a network interface"},
        {"::1%25lo", "only a link-local address"},
        {"2001:db8::1%1", "only a link-local address"},
        {"::ffff:127.0.0.1%lo", "only a link-local address"},
        {"fec0::1%lo", "only a link-local address"},
        {"fe8::1%lo", "only a link-local address"},
        {"nonsense%lo", "only a link-local address"},
        {"fe80::1%", "no name of a network interface"},
        {"fe80::1%a b", "no name of a network interface"},
        {"fe80::1%a/b", "no name of a network interface"},
        {"fe80::1%25a%b", "no name of a network interface"},
        {"fe80::1%abcdefghijklmnop", "no name of a network interface"},
        {"0000:0000:0000:0000:0000:0000:0000:0000:0000:0000", "too long"},
    };
    for (const row &r : table) {
        ip_literal out;
        const char *why = "";
        INFO(r.text);
        CHECK(ip_literal_read(r.text, std::strlen(r.text), &out, &why) == ERR_MALFORMED);
        CHECK(std::string(why).find(r.why) != std::string::npos);
    }
}
