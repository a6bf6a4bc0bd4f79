// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/transport/transport_list.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "common/base/err.h"

TEST_CASE("transport list: names and their parameters, commas and all")
{
    struct {
        const char *text;
        std::vector<std::string> names;
    } const table[] = {
        {"tcp", {"tcp"}},
        {"tcp,udp", {"tcp", "udp"}},
        {"minbuf:1,3", {"minbuf:1,3"}},
        {"minbuf:1,3,tcp", {"minbuf:1,3", "tcp"}},
        {"udp,minbuf:2,0,tcp", {"udp", "minbuf:2,0", "tcp"}},
        {"minbuf:auto,20,udp", {"minbuf:auto,20", "udp"}},
        {"minbuf:1,3,pace,udp", {"minbuf:1,3,pace", "udp"}},
        {"minbuf:auto,x", {"minbuf:auto,x"}}, // so that the message names all of what is wrong
        {"minbuf:auto,20,30", {"minbuf:auto,20,30"}},
        {"minbuf,tcp", {"minbuf", "tcp"}},
        {"tfrc:damp,selfclock,udp", {"tfrc:damp,selfclock", "udp"}},
        {"tfrc:damp,smoke:1,psp", {"tfrc:damp", "smoke:1", "psp"}},
        {"tfrc,damp", {"tfrc", "damp"}}, // nobody's parameter
        {"tfrc:komssys,history=8,udp", {"tfrc:komssys,history=8", "udp"}},
        {"arc:report=packet,tcp:notsent=1,psp", {"arc:report=packet", "tcp:notsent=1", "psp"}},
        {"auto", {"minbuf"}},
        {"tfrc:damp,auto,tcp", {"tfrc:damp", "minbuf", "tcp"}},
        {"a,b,c,d,e,f,g,h", {"a", "b", "c", "d", "e", "f", "g", "h"}},
    };
    for (const auto &row : table) {
        INFO(row.text);
        struct transport_list list;
        REQUIRE(transport_list_split(row.text, &list) == 0);
        CHECK(std::vector<std::string>(list.names, list.names + list.count) == row.names);
    }
}

TEST_CASE("transport list: live media moves only where the program may choose")
{
    const struct {
        const char *text;
        std::string beside;
    } table[] = {
        {"auto", "scream"}, {"tfrc,auto", "scream"}, {"minbuf", ""}, {"scream,minbuf", ""}};
    for (const auto &row : table) {
        INFO(row.text);
        struct transport_list list;
        REQUIRE(transport_list_split(row.text, &list) == 0);
        CHECK(list.beside == row.beside);
        CHECK(list.any == !row.beside.empty());
    }
}

TEST_CASE("transport list: what cannot be split")
{
    struct {
        std::string text;
        int err;
    } const table[] = {
        {"", ERR_MALFORMED},
        {",", ERR_MALFORMED},
        {"tcp,", ERR_MALFORMED},
        {",tcp", ERR_MALFORMED},
        {"tcp,,udp", ERR_MALFORMED},
        {"1,3", ERR_MALFORMED},
        {"tfrc:a=" + std::string(TRANSPORT_MAX_NAME, 'x'), ERR_TOO_BIG},
        {"a,b,c,d,e,f,g,h,i", ERR_TOO_BIG},
        {"a,b,c,d,e,f,g,h,auto", ERR_TOO_BIG},
        {std::string(TRANSPORT_MAX_NAME, 'x'), ERR_TOO_BIG},
        {"minbuf:1," + std::string(TRANSPORT_MAX_NAME, '3'), ERR_TOO_BIG},
    };
    for (const auto &row : table) {
        INFO(row.text);
        struct transport_list list;
        CHECK(transport_list_split(row.text.c_str(), &list) == row.err);
    }
}

TEST_CASE("transport list: which need segments of our own")
{
    struct {
        const char *text;
        bool needs;
    } const table[] = {{"minbuf:1,3,udp", false},
                       {"mtp:fill", false},
                       {"mtp-raw", true},
                       {"mtp-raw:fill,1,3,minbuf", true},
                       {"udp,mtp-raw:queue=10ms", true}};
    for (const auto &row : table) {
        INFO(row.text);
        struct transport_list list;
        REQUIRE(transport_list_split(row.text, &list) == 0);
        CHECK(transport_list_needs_raw(&list) == row.needs);
    }
}

TEST_CASE("transport list: what a server that is not weir-send is asked for")
{
    const struct {
        const char *text;
        std::vector<std::string> names;
    } table[] = {
        {"minbuf:1,3", {"tcp"}},  {"udp", {"udp"}},         {"tfrc:damp", {"udp"}},
        {"mtp-raw", {"tcp"}},     {"auto", {"tcp", "udp"}}, {"udp,tcp", {"tcp", "udp"}},
        {"psp,arc,udp", {"udp"}}, {"tcp,minbuf", {"tcp"}},
    };
    for (const auto &row : table) {
        INFO(row.text);
        struct transport_list list;
        REQUIRE(transport_list_split(row.text, &list) == 0);
        struct transport_list plain = transport_list_standard(&list);
        CHECK(std::vector<std::string>(plain.names, plain.names + plain.count) == row.names);
        list.any = true;
        CHECK(transport_list_standard(&list).count == 2);
    }
    transport_list group = {};
    REQUIRE(transport_list_split(TRANSPORT_MULTICAST, &group) == 0);
    group = transport_list_standard(&group);
    CHECK(group.count == 1);
    CHECK(std::string(group.names[0]) == TRANSPORT_MULTICAST);
}
