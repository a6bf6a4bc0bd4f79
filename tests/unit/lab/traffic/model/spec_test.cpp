// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>

#include "common/base/err.h"
#include "lab/traffic/model/spec.h"

static spec parsed(const char *text)
{
    spec s;
    char error[256] = "";
    INFO(text);
    CHECK(spec_parse(text, &s, error, sizeof(error)) == 0);
    CHECK(std::string(error) == "");
    return s;
}

TEST_CASE("spec: the five kinds")
{
    spec s = parsed("elephants:n=7,cc=reno,start=5,stop=60");
    CHECK(s.kind == SPEC_ELEPHANTS);
    CHECK(s.n == 7);
    CHECK(std::string(s.cc) == "reno");
    CHECK(s.bytes == 0);
    CHECK(s.start == 5 * USEC_PER_SEC);
    CHECK(s.stop == 60 * USEC_PER_SEC);

    s = parsed("mice:stop=75,bytes=20000,n=40,start=20.25");
    CHECK(s.kind == SPEC_MICE);
    CHECK(s.n == 40);
    CHECK(s.bytes == 20000);
    CHECK(s.start == 20250000);

    s = parsed("cbr:rate=3mbit,size=1000,start=40,stop=75");
    CHECK(s.kind == SPEC_CBR);
    CHECK(s.rate_bps == 3000000);
    CHECK(s.size == 1000);

    s = parsed("udp-pareto:n=20,rate=500kbit,size=500,on=0.25,off=2,shape=1.9");
    CHECK(s.kind == SPEC_PARETO);
    CHECK(s.n == 20);
    CHECK(s.rate_bps == 500000);
    CHECK(s.size == 500);
    CHECK(s.on == 250000);
    CHECK(s.off == 2000000);
    CHECK(s.shape == Approx(1.9));

    s = parsed("web:n=10,cc=cubic,mean=60000,shape=1.3,off=0.5,start=0,stop=60");
    CHECK(s.kind == SPEC_WEB);
    CHECK(s.mean == 60000);
    CHECK(s.shape == Approx(1.3));
    CHECK(s.off == 500000);
}

TEST_CASE("spec: defaults")
{
    for (const char *text : {"elephants", "elephants:n=1"}) {
        spec s = parsed(text);
        CHECK(s.n == 1);
        CHECK(std::string(s.cc) == "");
        CHECK(s.start == 0);
        CHECK(s.stop == USEC_NEVER);
        CHECK(s.text == text);
    }
    CHECK(parsed("cbr:rate=1.5gbit").size == 1000);
    spec s = parsed("udp-pareto:rate=1mbit");
    CHECK(s.size == 1000);
    CHECK(s.on == USEC_PER_SEC / 2);
    CHECK(s.off == USEC_PER_SEC);
    CHECK(s.shape == Approx(1.5));
    s = parsed("web");
    CHECK(s.mean == 50000);
    CHECK(s.shape == Approx(1.2));
    CHECK(s.off == USEC_PER_SEC);
}

TEST_CASE("spec: rates")
{
    struct {
        const char *text;
        int64_t bps;
    } const rows[] = {{"cbr:rate=1000bit", 1000},
                      {"cbr:rate=1kbit", 1000},
                      {"cbr:rate=2.5mbit", 2500000},
                      {"cbr:rate=0.001gbit", 1000000},
                      {"cbr:rate=10gbit", 10000000000}};
    for (const auto &row : rows)
        CHECK(parsed(row.text).rate_bps == row.bps);
}

TEST_CASE("spec: errors are reported")
{
    struct {
        const char *text;
        int err;
        const char *says;
    } const rows[] = {
        {"", ERR_MALFORMED, "elephants:"},
        {"lions:n=1", ERR_MALFORMED, "elephants:"},
        {"Mice:bytes=1", ERR_MALFORMED, "elephants:"},
        {"elephants:", ERR_MALFORMED, "available: n cc start stop"},
        {"elephants:n=1,", ERR_MALFORMED, "available: n cc start stop"},
        {"elephants:bytes=5", ERR_MALFORMED, "no \"bytes\""},
        {"cbr:rate=1mbit,cc=reno", ERR_MALFORMED, "no \"cc\""},
        {"elephants:n=1,n=2", ERR_MALFORMED, "n is given twice"},
        {"mice:n=4", ERR_MALFORMED, "mice requires bytes="},
        {"cbr:size=100", ERR_MALFORMED, "cbr requires rate="},
        {"elephants:n", ERR_RANGE, "1 to 1000"},
        {"elephants:n=0", ERR_RANGE, "1 to 1000"},
        {"elephants:n=1001", ERR_RANGE, "1 to 1000"},
        {"elephants:n=-1", ERR_RANGE, "1 to 1000"},
        {"elephants:n=1x", ERR_RANGE, "1 to 1000"},
        {"elephants:n= 1", ERR_RANGE, "1 to 1000"},
        {"elephants:cc=", ERR_RANGE, "congestion control"},
        {"elephants:cc=re no", ERR_RANGE, "congestion control"},
        {"elephants:cc=0123456789abcdef", ERR_RANGE, "congestion control"},
        {"mice:bytes=0", ERR_RANGE, "bytes"},
        {"mice:bytes=1000000000001", ERR_RANGE, "bytes"},
        {"cbr:rate=3", ERR_RANGE, "1kbit to 10gbit"},
        {"cbr:rate=3mbps", ERR_RANGE, "1kbit to 10gbit"},
        {"cbr:rate=999bit", ERR_RANGE, "1kbit to 10gbit"},
        {"cbr:rate=11gbit", ERR_RANGE, "1kbit to 10gbit"},
        {"cbr:rate=nan", ERR_RANGE, "1kbit to 10gbit"},
        {"cbr:rate=1mbit,size=1473", ERR_RANGE, "1 to 1472"},
        {"udp-pareto:n=2", ERR_MALFORMED, "udp-pareto requires rate="},
        {"udp-pareto:rate=1mbit,on=0", ERR_RANGE, "0.001 to 3600"},
        {"udp-pareto:rate=1mbit,off=0", ERR_RANGE, "0.001 to 3600"},
        {"udp-pareto:rate=1mbit,cc=reno", ERR_MALFORMED, "n rate size shape on off start stop"},
        {"cbr:rate=1mbit,on=1", ERR_MALFORMED, "no \"on\""},
        {"web:shape=1", ERR_RANGE, "1.01 to 100"},
        {"web:shape=1.", ERR_RANGE, "1.01 to 100"},
        {"web:mean=0", ERR_RANGE, "1 to 1000000000"},
        {"web:off=3601", ERR_RANGE, "3600"},
        {"elephants:start=-1", ERR_RANGE, "seconds"},
        {"elephants:start=1e3", ERR_RANGE, "seconds"},
        {"elephants:start=5,stop=5", ERR_RANGE, "stop must come after start"},
    };
    for (const auto &row : rows) {
        INFO(row.text);
        spec s;
        char error[256] = "";
        CHECK(spec_parse(row.text, &s, error, sizeof(error)) == row.err);
        CHECK_THAT(error, Catch::Contains(row.says));
    }
}
