// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <memory>
#include <string>

#include "common/base/err.h"
#include "stream/abr/film_table_parts.h"
#include "tests/support/two_sizes.hpp"

namespace
{
const int GOP = 20;

struct film {
    ladder l = two_sizes();
    int64_t groups;
    film_table *t = nullptr;

    explicit film(int64_t n) : groups(n)
    {
        const film_shape shape = {l.level_count, n, GOP, GOP, l.source_fps, true};
        REQUIRE(film_table_new(&shape, &t) == 0);
        for (int64_t g = 0; g < n; g++)
            for (int level = 0; level < l.level_count; level++)
                REQUIRE(film_table_set(t, g, level, 20000 + (uint64_t)(g % 90) * 300,
                                       100 + level) == 0);
    }
    ~film()
    {
        film_table_free(t);
    }
    film(const film &) = delete;
    film &operator=(const film &) = delete;
};

struct fetch {
    film_table_fetch *f;
    film_table *got = nullptr;

    explicit fetch(const film &of, int64_t more = 0)
        : f(film_table_fetch_new(&of.l, of.groups + more, GOP))
    {
        REQUIRE(f);
    }
    ~fetch()
    {
        film_table_fetch_free(f);
        film_table_free(got);
    }
    fetch(const fetch &) = delete;
    fetch &operator=(const fetch &) = delete;

    std::string request() const
    {
        char out[FILM_TABLE_REQUEST];
        film_table_fetch_request(f, out);
        return out;
    }
    int take(const std::string &body)
    {
        return film_table_fetch_take(f, {body.data(), body.size()}, &got);
    }
};

// The server's answer to a request.
std::string answer(const film &of, const std::string &request)
{
    const std::string value = request.substr(12, request.size() - 14); // "film-table: " and CRLF
    size_t at;
    char out[FILM_TABLE_LINE];
    REQUIRE(film_table_part_at({value.data(), value.size()}, &at));
    const int len = film_table_part_encode(of.t, at, out);
    REQUIRE(len > 0);
    REQUIRE(strlen(out) == (size_t)len);
    return std::string(out) + "\r\n";
}
} // namespace

TEST_CASE("film table parts: a table comes whole, in as many parts as it needs")
{
    for (int64_t groups : {1, 300, 1533, 1534, 10000}) { // 24 + 8 bytes each
        const film of(groups);
        fetch v(of);
        size_t parts = 1;
        while (v.take(answer(of, v.request())) == 0)
            parts++;
        REQUIRE(v.got);
        CHECK(parts == (24 + 8 * (size_t)groups + FILM_TABLE_PART - 1) / FILM_TABLE_PART);
        for (int64_t g = 0; g < groups; g += 97) {
            CHECK(film_table_bytes(v.got, g, 2) == film_table_bytes(of.t, g, 2));
            CHECK(film_table_quality(v.got, g, 3) == 103);
        }
    }
}

TEST_CASE("film table parts: what is not an answer, or no table of this film")
{
    const film of(300);
    const std::string good = answer(of, "film-table: 0\r\n");
    const std::string sizes = good.substr(good.find(' ', 13)); // from the base64's blank on
    const struct {
        const char *what;
        std::string body;
        int64_t more; // groups that the viewer's film has beside the table's
        int err;
    } rows[] = {
        {"good", good, 0, ERR_END},
        {"later", "film-table: later\r\n", 0, ERR_AGAIN},
        {"none", "", 0, ERR_NOT_FOUND},
        {"another parameter", "clock: 12\r\n", 0, ERR_MALFORMED},
        {"no value", "film-table:\r\n", 0, ERR_MALFORMED},
        {"another part", "film-table: 5/2424" + sizes, 0, ERR_MALFORMED},
        {"longer than it says", "film-table: 0/2000" + sizes, 0, ERR_MALFORMED},
        {"shorter than it says", "film-table: 0/3000" + sizes, 0, 0},
        {"nothing in it", "film-table: 0/0 \r\n", 0, ERR_MALFORMED},
        {"no base64", "film-table: 0/2424 ????\r\n", 0, ERR_MALFORMED},
        {"an empty part", "film-table: 0/2424 \r\n", 0, ERR_MALFORMED},
        {"4 GB", "film-table: 0/2147483647" + sizes, 0, ERR_TOO_BIG},
        {"not a table", "film-table: 0/3 AAAA\r\n", 0, ERR_MALFORMED},
        {"of another film", good, 1, ERR_RANGE},
    };
    for (const auto &row : rows) {
        CAPTURE(row.what);
        fetch v(of, row.more);
        CHECK(v.take(row.body) == row.err);
        CHECK((v.got != nullptr) == (row.err == ERR_END));
    }
    fetch changing(of);
    CHECK(changing.take("film-table: 0/3000" + sizes) == 0);
    CHECK(changing.request() == "film-table: 2424\r\n");
    CHECK(changing.take("film-table: 2424/4000 AAAA\r\n") == ERR_MALFORMED);
}

TEST_CASE("film table parts: the server's end")
{
    const film of(2);
    char out[FILM_TABLE_LINE];
    size_t at;
    for (const char *bad : {"", "x", "-1", "1 ", "99999999"})
        CHECK_FALSE(film_table_part_at({bad, strlen(bad)}, &at));
    CHECK(film_table_part_encode(of.t, 39, out) > 0);
    CHECK(film_table_part_encode(of.t, 40, out) == ERR_RANGE);
}
