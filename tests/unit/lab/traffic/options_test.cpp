// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/traffic/options.h"

#include <catch2/catch.hpp>

#include <string>

#include "common/net/udp_socket.h"
#include "tests/unit/lab/parsed_options.hpp"

namespace
{

using parsed = parsed_options<options, traffic_options_parse>;

int port_of(const options &o)
{
    return sockaddr_port(reinterpret_cast<const sockaddr *>(&o.server));
}

} // namespace

TEST_CASE("weir-traffic's options: defaults")
{
    parsed p({"run", "--server", "10.0.0.1:9000", "elephants"});
    INFO(p.err);
    REQUIRE(p.result == OPTIONS_RUN);
    CHECK_FALSE(p.o.serve);
    CHECK(port_of(p.o) == 9000);
    CHECK(p.o.spec_count == 1);
    CHECK(p.o.flow_count == 1);
    CHECK(p.o.epoch == USEC_NEVER);
    CHECK(p.o.duration == USEC_NEVER);
    CHECK(p.o.seed == 1);
    CHECK(p.o.stats == nullptr);
    CHECK(p.o.log.filter.level == LOG_INFO);
}

TEST_CASE("weir-traffic's options: given values")
{
    parsed p({"run", "--server", "[fd00::1]:9", "--epoch", "12.5", "--duration", "0.25", "--seed",
              "7", "--stats", "s", "--verbose", "elephants:n=7", "mice:bytes=500,n=2"});
    INFO(p.err);
    REQUIRE(p.result == OPTIONS_RUN);
    CHECK(p.o.server.ss_family == AF_INET6);
    CHECK(p.o.epoch == 12500000);
    CHECK(p.o.duration == 250000);
    CHECK(p.o.seed == 7);
    CHECK(p.o.stats == std::string("s"));
    CHECK(p.o.log.filter.level == LOG_DEBUG);
    CHECK(p.o.spec_count == 2);
    CHECK(p.o.flow_count == 9);

    parsed server({"serve", "--listen", "127.0.0.1:0"});
    REQUIRE(server.result == OPTIONS_RUN);
    CHECK(server.o.serve);
    CHECK(port_of(server.o) == 0);
}

TEST_CASE("weir-traffic's options: errors, and the allowed values")
{
    words many = {"run", "--server", "10.0.0.1:9000"}, flows = many;
    for (int i = 0; i <= OPTIONS_SPECS; i++)
        many.push_back("elephants");
    for (int i = 0; i < 5; i++)
        flows.push_back("elephants:n=1000");
    struct {
        words args;
        const char *error;
    } const table[] = {
        {{}, "unknown command \"\": expects serve or run"},
        {{"walk"}, "unknown command \"walk\": expects serve or run"},
        {{"--verbose"}, "no command: expects serve or run"},
        {{"serve"}, "serve requires --listen ADDR:PORT"},
        {{"run"}, "run requires --server ADDR:PORT"},
        {{"run", "--server", "10.0.0.1:9000"}, "run requires a SPEC"},
        {{"serve", "--server", "10.0.0.1:9000"}, "requires the command run"},
        {{"run", "--listen", "10.0.0.1:9000"}, "requires the command serve"},
        {{"serve", "--seed", "1"}, "requires the command run"},
        {{"serve", "elephants"}, "serve expects options only"},
        {{"run", "--server", "10.0.0.1:0"}, "expects ADDR:PORT with a numeric address"},
        {{"run", "--server", "localhost:9"}, "expects ADDR:PORT with a numeric address"},
        {{"run", "--server", "10.0.0.1:9", "cats:"}, "cats"},
        {{"run", "--duration", "0"}, "expects 0.001 to"},
        {many, "at most 32 SPECs"},
        {flows, "at most 4096 flows in total"},
    };
    for (const auto &row : table) {
        parsed p(row.args);
        CAPTURE(row.error, p.err);
        CHECK(p.result == OPTIONS_BAD);
        CHECK(p.err.find(row.error) != std::string::npos);
        CHECK(p.out.empty());
    }
}

TEST_CASE("weir-traffic's options: help and version require no command")
{
    for (const words &args : {words{"--help"}, {"run", "--help"}, {"serve", "-h"}}) {
        parsed p(args);
        CHECK(p.result == OPTIONS_DONE);
        CHECK(p.out.find("Usage: weir-traffic serve") == 0);
    }
    CHECK(parsed({"--version"}).out.find("weir-traffic ") == 0);
}
