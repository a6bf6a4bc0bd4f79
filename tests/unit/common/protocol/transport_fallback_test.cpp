// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/transport_fallback.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/transport/transport_list.h"

namespace
{

const usec_t T0 = 7 * USEC_PER_SEC;
const usec_t MS = USEC_PER_MSEC;

transport_fallback choice_of(const char *text)
{
    transport_list list;
    REQUIRE(transport_list_split(text, &list) == 0);
    transport_fallback c;
    transport_fallback_init(&c, &list);
    return c;
}

} // namespace

TEST_CASE("transport choice: the time limit of each transport")
{
    struct {
        const char *list;
        usec_t rtt;
        usec_t wait[3]; // -1: for ever
    } const table[] = {
        {"mtp", 10 * MS, {-1}},
        {"mtp,minbuf", 10 * MS, {500 * MS, -1}},
        {"mtp,mtp-raw,minbuf", 10 * MS, {500 * MS, 500 * MS, -1}},
        // 1500 ms from the first SETUP on: minus 200 ms for each of three, then half of the rest.
        {"mtp,mtp-raw,minbuf", 200 * MS, {450 * MS, 450 * MS, -1}},
        // A response takes at least a round trip, so a shorter limit is useless.
        {"mtp,mtp-raw,minbuf", 400 * MS, {600 * MS, 600 * MS, -1}},
    };
    for (const auto &row : table) {
        INFO(row.list << " " << row.rtt);
        transport_fallback c = choice_of(row.list);
        usec_t now = T0 + row.rtt;
        for (usec_t wait : row.wait) {
            usec_t until = transport_fallback_given(&c, c.left.names[0], row.rtt, now);
            CHECK(until == (wait < 0 ? USEC_NEVER : now + wait));
            if (wait < 0)
                break;
            transport_fallback_failed(&c, "silent");
            now = until + row.rtt;
        }
        CHECK(c.left.count == 1);
    }
}

TEST_CASE("transport choice: all in 1.5 s, and their last SETUP")
{
    for (usec_t rtt : {usec_t{0}, 20 * MS, 100 * MS, 200 * MS}) {
        transport_fallback c = choice_of("scream,mtp,mtp-raw,minbuf");
        usec_t now = T0 + rtt;
        usec_t until;
        while ((until = transport_fallback_given(&c, c.left.names[0], rtt, now)) != USEC_NEVER) {
            transport_fallback_failed(&c, "silent");
            now = until + rtt;
        }
        INFO(rtt);
        CHECK(std::string(c.left.names[0]) == "minbuf");
        CHECK(now <= T0 + TRANSPORT_FALLBACK_TIME);
    }
}

TEST_CASE("transport choice: what one SETUP offers")
{
    transport_fallback c = choice_of("mtp,mtp-raw,minbuf");
    for (int left = 3; left > 0; left--) {
        CHECK(transport_fallback_offer(&c, true).count == left);
        transport_list one = transport_fallback_offer(&c, false);
        CHECK(one.count == 1);
        CHECK(std::string(one.names[0]) == c.left.names[0]);
        transport_fallback_rule_out(&c, one.names[0], "refused");
    }
    CHECK(transport_fallback_offer(&c, false).count == 0);
}

TEST_CASE("transport choice: UDP is tried once")
{
    transport_fallback c = choice_of("scream,mtp,mtp-raw,minbuf");
    usec_t until = transport_fallback_given(&c, "scream", 100 * MS, T0);
    CHECK(until == T0 + 500 * MS); // as much as if there were no other over UDP
    transport_fallback_failed(&c, "silent");
    CHECK(std::string(transport_fallback_why(&c)) == "scream: silent; mtp: silent");
    CHECK(std::string(c.left.names[0]) == "mtp-raw");
    transport_fallback_failed(&c, "refused");
    CHECK(c.left.count == 1);
    CHECK(std::string(c.left.names[0]) == "minbuf");

    transport_fallback udp = choice_of("tfrc,udp"); // none after it: it has no deadline
    CHECK(transport_fallback_given(&udp, "tfrc", 100 * MS, T0) == USEC_NEVER);
}

TEST_CASE("transport choice: a server that does not know the first")
{
    transport_fallback c = choice_of("scream,mtp,minbuf");
    transport_fallback_given(&c, "mtp", 10 * MS, T0);
    transport_fallback_heard(&c, T0 + 12 * MS);
    CHECK(std::string(transport_fallback_why(&c)) ==
          "scream: the server did not choose it; mtp: the server responded after 12 ms");
}

TEST_CASE("transport choice: the texts")
{
    transport_fallback c = choice_of("mtp,mtp-raw,minbuf,tcp");
    transport_fallback_rule_out(&c, "mtp-raw", "not to be had here");
    transport_fallback_rule_out(&c, "nosuch", "never heard of it");
    transport_fallback_given(&c, "minbuf", 10 * MS, T0);
    transport_fallback_heard(&c, T0 + 12 * MS);
    CHECK(std::string(transport_fallback_why(&c)) ==
          "mtp-raw: not to be had here; mtp: the server did not choose it; "
          "minbuf: the server responded after 12 ms");
    CHECK(c.left.count == 2);

    transport_fallback one = choice_of("mtp");
    transport_fallback_given(&one, "mtp", 10 * MS, T0);
    transport_fallback_heard(&one, T0);
    CHECK(std::string(transport_fallback_why(&one)).empty());
}

TEST_CASE("transport choice: texts that do not fit are truncated")
{
    transport_fallback c = choice_of("a,b,c,d,e,f,g,h");
    for (char name = 'a'; name <= 'h'; name++)
        transport_fallback_rule_out(&c, std::string(1, name).c_str(),
                                    std::string(200, 'x').c_str());
    CHECK(c.left.count == 0);
    CHECK(std::string(transport_fallback_why(&c)).size() == TRANSPORT_FALLBACK_TEXT - 1);
}
