// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <string>

#include "common/base/err.h"
#include "lab/traffic/model/request.h"

TEST_CASE("request: well-formed requests are encoded and decoded")
{
    struct {
        const char *line;
        request_kind kind;
        int64_t bytes;
        const char *cc;
        int port;
        int64_t rate_bps;
        int size;
    } const rows[] = {
        {"GET 0\n", REQUEST_GET, 0, "", 0, 0, 0},
        {"GET 20000 reno\n", REQUEST_GET, 20000, "reno", 0, 0, 0},
        {"GET 1000000000000 a_name-of_15c0\n", REQUEST_GET, 1000000000000, "a_name-of_15c0", 0, 0,
         0},
        {"CBR 5004 3000000 1000\n", REQUEST_CBR, 0, "", 5004, 3000000, 1000},
        {"CBR 65535 10000000000 1472\n", REQUEST_CBR, 0, "", 65535, 10000000000, 1472},
        {"CBR 1 1000 1\n", REQUEST_CBR, 0, "", 1, 1000, 1},
    };
    for (const auto &row : rows) {
        INFO(row.line);
        request r;
        CHECK(request_parse(row.line, strlen(row.line), &r) == (int)strlen(row.line));
        CHECK(r.kind == row.kind);
        CHECK(r.bytes == row.bytes);
        CHECK(std::string(r.cc) == row.cc);
        CHECK(r.port == row.port);
        CHECK(r.rate_bps == row.rate_bps);
        CHECK(r.size == row.size);
        char out[REQUEST_MAX];
        CHECK(request_encode(&r, out) == (int)strlen(row.line));
        CHECK(std::string(out) == row.line);
    }
}

TEST_CASE("request: datagrams in on and off periods")
{
    const char *line = "PARETO 5004 500000 1000 500000 1000000 1500 77\n";
    request r;
    CHECK(request_parse(line, strlen(line), &r) == (int)strlen(line));
    CHECK(r.kind == REQUEST_PARETO);
    CHECK(r.port == 5004);
    CHECK(r.rate_bps == 500000);
    CHECK(r.size == 1000);
    CHECK(r.on_us == 500000);
    CHECK(r.off_us == 1000000);
    CHECK(r.shape == 1500);
    CHECK(r.seed == 77);
    char out[REQUEST_MAX];
    CHECK(request_encode(&r, out) == (int)strlen(line));
    CHECK(std::string(out) == line);
}

TEST_CASE("request: malformed requests")
{
    struct {
        const char *line;
        int err;
    } const rows[] = {
        {"\n", ERR_MALFORMED},
        {"GET\n", ERR_MALFORMED},
        {"GET \n", ERR_MALFORMED},
        {"get 1\n", ERR_MALFORMED},
        {" GET 1\n", ERR_MALFORMED},
        {"GET  1\n", ERR_MALFORMED},
        {"GET 1 \n", ERR_MALFORMED},
        {"GET 1\r\n", ERR_MALFORMED},
        {"GET -1\n", ERR_MALFORMED},
        {"GET 01\n", ERR_MALFORMED},
        {"GET 1x\n", ERR_MALFORMED},
        {"GET 1 RENO\n", ERR_MALFORMED},
        {"GET 1 reno x\n", ERR_MALFORMED},
        {"GET 1 a_name_of_16_chr\n", ERR_MALFORMED},
        {"GET 1000000000001\n", ERR_RANGE},
        {"GET 99999999999999999999999999\n", ERR_RANGE},
        {"CBR 5004\n", ERR_MALFORMED},
        {"CBR 5004 3000000\n", ERR_MALFORMED},
        {"CBR 5004 3000000 1000 \n", ERR_MALFORMED},
        {"CBR 0 3000000 1000\n", ERR_RANGE},
        {"CBR 65536 3000000 1000\n", ERR_RANGE},
        {"CBR 5004 999 1000\n", ERR_RANGE},
        {"CBR 5004 10000000001 1000\n", ERR_RANGE},
        {"CBR 5004 3000000 0\n", ERR_RANGE},
        {"CBR 5004 3000000 1473\n", ERR_RANGE},
        {"CBR 5004 3000000 1000 1000\n", ERR_MALFORMED},
        {"PARETO 5004 500000 1000\n", ERR_MALFORMED},
        {"PARETO 5004 500000 1000 999 1000 1500 1\n", ERR_RANGE},
        {"PARETO 5004 500000 1000 1000 3600000001 1500 1\n", ERR_RANGE},
        {"PARETO 5004 500000 1000 1000 1000 1000 1\n", ERR_RANGE},
        {"PARETO 5004 500000 1000 1000 1000 1500 1000000000001\n", ERR_RANGE},
        {"PARETO 5004 500000 1000 1000 1000 1500 1 \n", ERR_MALFORMED},
    };
    for (const auto &row : rows) {
        INFO(row.line);
        request r;
        CHECK(request_parse(row.line, strlen(row.line), &r) == row.err);
    }
}

TEST_CASE("request: bytes arrive in any portions")
{
    const std::string line = "GET 20000 cubic\n";
    request r;
    for (size_t len = 0; len < line.size(); len++)
        CHECK(request_parse(line.data(), len, &r) == ERR_AGAIN);
    CHECK(request_parse((line + "more").data(), line.size() + 4, &r) == (int)line.size());

    const std::string endless(200, 'G');
    CHECK(request_parse(endless.data(), REQUEST_MAX - 1, &r) == ERR_AGAIN);
    CHECK(request_parse(endless.data(), REQUEST_MAX, &r) == ERR_TOO_BIG);
    CHECK(request_parse((endless + "\n").data(), 201, &r) == ERR_TOO_BIG);
}
