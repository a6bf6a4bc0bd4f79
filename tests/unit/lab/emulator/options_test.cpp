// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <arpa/inet.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "lab/emulator/options.h"
#include "tests/unit/lab/parsed_options.hpp"

namespace
{

const words good = {"--ns-a",   "left",        "--ns-b",   "pid:7",      "--addr-a", "10.0.0.1/30",
                    "--addr-b", "10.0.0.2/30", "--a-to-b", "rate=1mbit", "--b-to-a", ""};

using parsed = parsed_options<link_options, link_options_parse>;

words operator+(words a, const words &b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

std::string address_of(const struct ip_prefix &p)
{
    char text[INET6_ADDRSTRLEN];
    return std::string(inet_ntop(p.family, p.address, text, sizeof(text))) + "/" +
           std::to_string(p.bits);
}

} // namespace

TEST_CASE("weir-link's options: defaults")
{
    parsed p(good);
    INFO(p.err);
    REQUIRE(p.result == OPTIONS_RUN);
    const struct link_options &o = p.o;
    CHECK(o.ends[0].netns == std::string("left"));
    CHECK(o.ends[1].netns == std::string("pid:7"));
    CHECK(o.ends[0].device == std::string("weir-a"));
    CHECK(o.ends[1].device == std::string("weir-b"));
    REQUIRE(o.ends[0].address_count == 1);
    CHECK(address_of(o.ends[0].addresses[0]) == "10.0.0.1/30");
    CHECK(address_of(o.ends[1].addresses[0]) == "10.0.0.2/30");
    CHECK(o.specs[0].has_rate);
    CHECK_FALSE(o.specs[1].has_rate);
    CHECK(o.mtu == 1500);
    CHECK(o.snap == 65535);
    CHECK_FALSE(o.pcap_rest);
    CHECK(o.seed == 1);
    CHECK(o.duration == USEC_NEVER);
    CHECK(o.flow_count == 0);
    CHECK((o.changes == nullptr && o.stats == nullptr && o.pcap == nullptr));
    CHECK((p.out.empty() && p.err.empty()));
}

TEST_CASE("weir-link's options: given values")
{
    parsed p(good + words{"--dev-a",   "x0",         "--addr-b", "fd00::2/64", "--mtu=9000",
                          "--changes", "c",          "--stats",  "s",          "--pcap",
                          "p",         "--snap",     "96",       "--flow",     "80",
                          "--flow",    "65535",      "--seed",   "0",          "--duration",
                          "0.25",      "--pcap-rest"});
    INFO(p.err);
    REQUIRE(p.result == OPTIONS_RUN);
    const struct link_options &o = p.o;
    CHECK(o.ends[0].device == std::string("x0"));
    REQUIRE(o.ends[1].address_count == 2);
    CHECK(address_of(o.ends[1].addresses[1]) == "fd00::2/64");
    CHECK(o.mtu == 9000);
    CHECK(o.changes == std::string("c"));
    CHECK(o.stats == std::string("s"));
    CHECK(o.pcap == std::string("p"));
    CHECK(o.snap == 96);
    CHECK(o.pcap_rest);
    REQUIRE(o.flow_count == 2);
    CHECK((o.flow_ports[0] == 80 && o.flow_ports[1] == 65535));
    CHECK(o.seed == 0);
    CHECK(o.duration == 250000);
}

TEST_CASE("weir-link's options: values that are refused, and the allowed ones")
{
    struct row {
        const char *option, *value, *says;
    };
    const row rows[] = {
        {"--mtu", "575", "expects a number from 576 to 9000"},
        {"--mtu", "9001", "expects a number from 576 to 9000"},
        {"--mtu", "1500x", "expects a number from 576 to 9000"},
        {"--mtu", "", "expects a number from 576 to 9000"},
        {"--mtu", "-1500", "expects a number from 576 to 9000"},
        {"--snap", "0", "expects a number from 1 to 65535"},
        {"--snap", "65536", "expects a number from 1 to 65535"},
        {"--flow", "0", "expects a number from 1 to 65535"},
        {"--flow", "99999999999999999999", "expects a number from 1 to 65535"},
        {"--seed", "-1", "expects a whole number below 9e17"},
        {"--seed", "1000000000000000000", "expects a whole number below 9e17"},
        {"--duration", "0", "expects 0.001 to 2592000 seconds"},
        {"--duration", "1s", "expects 0.001 to 2592000 seconds"},
        {"--duration", ".", "expects 0.001 to 2592000 seconds"},
        {"--duration", "2592001", "expects 0.001 to 2592000 seconds"},
        {"--dev-a", "", "expects a device's name of 1 to 15 characters"},
        {"--dev-b", "sixteen-letters-", "expects a device's name of 1 to 15 characters"},
        {"--dev-b", "a/b", "expects a device's name of 1 to 15 characters"},
        {"--dev-b", "a%d", "expects a device's name of 1 to 15 characters"},
        {"--addr-a", "10.0.0.1", "expects ADDR/BITS, such as 10.0.0.1/30 or fd00::1/64"},
        {"--addr-a", "10.0.0.1/0", "expects ADDR/BITS, such as 10.0.0.1/30 or fd00::1/64"},
        {"--addr-a", "10.0.0.1/33", "expects ADDR/BITS, such as 10.0.0.1/30 or fd00::1/64"},
        {"--addr-a", "10.0.0/24", "expects ADDR/BITS, such as 10.0.0.1/30 or fd00::1/64"},
        {"--addr-a", "fd00::1/129", "expects ADDR/BITS, such as 10.0.0.1/30 or fd00::1/64"},
        {"--addr-a", "fd00::1/64 ", "expects ADDR/BITS, such as 10.0.0.1/30 or fd00::1/64"},
        {"--a-to-b", "rate=1mbit,rate=2mbit", "rate"},
        {"--b-to-a", "banana", "banana"},
    };
    for (const row &r : rows) {
        CAPTURE(r.option, r.value);
        parsed p(good + words{r.option, r.value});
        CHECK(p.result == OPTIONS_BAD);
        std::string start = std::string(r.option) + " '" + r.value + "': ";
        CHECK(p.err.substr(0, start.size()) == start);
        CHECK(p.err.find(r.says, start.size()) != std::string::npos);
        CHECK(p.err.find('\n') == std::string::npos);
        CHECK(p.out.empty());
    }
}

TEST_CASE("weir-link's options: missing and conflicting options")
{
    const words names = {"--ns-a", "--ns-b", "--addr-a", "--addr-b", "--a-to-b", "--b-to-a"};
    for (size_t i = 0; i < names.size(); i++) {
        CAPTURE(names[i]);
        words some = good;
        some.erase(some.begin() + 2 * static_cast<long>(i),
                   some.begin() + 2 * static_cast<long>(i) + 2);
        parsed p(some);
        CHECK(p.result == OPTIONS_BAD);
        CHECK(p.err == names[i] + " is required");
    }
    struct row {
        words more;
        const char *says;
    };
    words flows, addresses;
    for (int i = 0; i < 8; i++) {
        flows = flows + words{"--flow", std::to_string(i + 1)};
        addresses = addresses + words{"--addr-a", "10.0.1.1/24"};
    }
    const row rows[] = {
        {{"--nonsense"}, "unknown option '--nonsense'"},
        {{"--mtu"}, "--mtu requires a value"},
        {{"word"}, "expects options only, not \"word\""},
        {{"--mtu", "1279", "--addr-a", "fd00::1/64"}, "IPv6 addresses require --mtu 1280 or more"},
        {flows, "--flow '8': at most 7 ports"},
        {addresses, "at most 8 addresses"},
    };
    for (const row &r : rows) {
        CAPTURE(r.says);
        parsed p(good + r.more);
        CHECK(p.result == OPTIONS_BAD);
        CHECK(p.err.find(r.says) != std::string::npos);
    }
}

TEST_CASE("weir-link's options: help and version require no other option")
{
    for (const char *option : {"--help", "-h", "--version"}) {
        parsed p({option});
        CHECK(p.result == OPTIONS_DONE);
        CHECK(p.err.empty());
        CHECK(p.out.find(option == std::string("--version") ? "weir-link 0" : "Usage: weir-link") ==
              0);
    }
}
