// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <string>

#include "common/base/err.h"
#include "common/transport/transport.h"

TEST_CASE("transports: a name is found with its parameters, and has its number")
{
    std::set<std::string> names;
    for (int i = 0; transport_kinds[i]; i++) {
        const char *name = transport_kinds[i]->name;
        CAPTURE(name);
        names.insert(name);
        CHECK(transport_number(transport_kinds[i]) == i);
        const transport_kind *kind = nullptr;
        const char *params = nullptr;
        REQUIRE(transport_find(name, &kind, &params) == 0);
        CHECK(kind == transport_kinds[i]);
        CHECK(params == std::string());
        CHECK(transport_needs_raw(name) == (name == std::string("mtp-raw")));
        std::string tcp[] = {"minbuf", "tcp", "mtp-raw"};
        CHECK(transport_needs_udp(name) == (std::find(tcp, tcp + 3, name) == tcp + 3));
    }
    CHECK(names.count("minbuf"));
    CHECK(names.count("mtp-raw"));
    CHECK(transport_kinds[names.size()] == nullptr); // no name twice
}

TEST_CASE("transports: what is no transport")
{
    struct {
        std::string text;
        int err;
        const char *name, *params;
    } const table[] = {
        {"minbuf:1,3", 0, "minbuf", "1,3"},
        {"mtp:fill", 0, "mtp", "fill"},
        {"", ERR_NOT_FOUND, "", ""},
        {"minbu", ERR_NOT_FOUND, "", ""},
        {"minbuff", ERR_NOT_FOUND, "", ""},
        {"MINBUF", ERR_NOT_FOUND, "", ""},
        {":minbuf", ERR_NOT_FOUND, "", ""},
        {"minbuf:nonsense", ERR_MALFORMED, "", ""},
        {"tcp:" + std::string(TRANSPORT_MAX_NAME - 4, 'x'), ERR_MALFORMED, "", ""},
    };
    for (const auto &row : table) {
        CAPTURE(row.text);
        const transport_kind *kind;
        const char *params;
        int err = transport_find(row.text.c_str(), &kind, &params);
        CHECK(err == row.err);
        if (err == 0 && row.err == 0) {
            CHECK(kind->name == std::string(row.name));
            CHECK(params == std::string(row.params));
        }
        CHECK_FALSE(transport_needs_raw(row.text.c_str()));
    }
}

TEST_CASE("transports: the list of names for messages, cut to fit")
{
    std::string expected;
    for (int i = 0; transport_kinds[i]; i++)
        expected += std::string(i ? ", " : "") + transport_kinds[i]->name;
    char all[1024], some[12];
    transport_names(all, sizeof(all));
    CHECK(all == expected);
    transport_names(some, sizeof(some));
    CHECK(some == expected.substr(0, sizeof(some) - 1));
}
