// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/options/options.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

namespace
{

struct parsed {
    proxy_options o;
    options_result result;
    char error[512] = "";

    explicit parsed(std::vector<std::string> words)
    {
        std::vector<char *> argv;
        words.insert(words.begin(), "weir-proxy");
        for (auto &word : words)
            argv.push_back(&word[0]);
        argv.push_back(nullptr);
        result =
            proxy_options_parse((int)words.size(), argv.data(), &o, stdout, error, sizeof(error));
    }
    ~parsed()
    {
        proxy_options_destroy(&o);
    }
};

} // namespace

TEST_CASE("weir-proxy's options: defaults")
{
    auto p = std::make_unique<parsed>(std::vector<std::string>{"--origin", "rtsp://o:554"});
    REQUIRE(p->result == OPTIONS_RUN);
    const proxy_options &o = p->o;
    CHECK(o.rules.has_origin);
    CHECK(o.rules.origin.port == 554);
    CHECK(o.choices.backbone.count == 1);
    CHECK(std::string(o.choices.backbone.names[0]) == "tfrc");
    CHECK(o.choices.films.count == 2);
    CHECK(std::string(o.choices.films.names[0]) == "minbuf");
    CHECK(std::string(o.choices.films.names[1]) == "tfrc");
    CHECK(std::string(o.access.names[0]) == "minbuf");
    CHECK_FALSE(o.has_access);
    CHECK(o.choices.outage == 10 * USEC_PER_SEC);
    CHECK(o.choices.target == 250 * USEC_PER_MSEC);
    CHECK(o.choices.blocking == Approx(1. / 3));
    CHECK(o.choices.reflect == REFLECT_LIMIT);
    CHECK_FALSE(o.choices.keeps_badput);
    CHECK(o.queue == SCHEDULER_PRIORITY);
    CHECK(o.queue_bytes == 4 << 20);
    CHECK(o.max_viewers == 1024);
}

TEST_CASE("weir-proxy's options: values, and the user in either order")
{
    for (bool first : {true, false}) {
        std::vector<std::string> words = {"--origin", "rtsp://o"};
        words.insert(first ? words.begin() : words.end(), {"--origin-user", "anna:a:b"});
        auto p = std::make_unique<parsed>(words);
        REQUIRE(p->result == OPTIONS_RUN);
        CHECK(std::string(p->o.rules.origin.user) == "anna");
        CHECK(std::string(p->o.rules.origin.password) == "a:b");
        CHECK(std::string(p->o.rules.origin.host) == "o");
    }
    auto p = std::make_unique<parsed>(std::vector<std::string>{"--allow",
                                                               "a",
                                                               "--allow",
                                                               "::1",
                                                               "--trust-proxy",
                                                               "192.0.2.7",
                                                               "--access-transport",
                                                               "tcp,minbuf:2,4",
                                                               "--backbone-transport",
                                                               "auto",
                                                               "--queue",
                                                               "fifo",
                                                               "--reflect",
                                                               "off",
                                                               "--target",
                                                               "100",
                                                               "--outage",
                                                               "0.5",
                                                               "--queue-bytes",
                                                               "65536",
                                                               "--badput",
                                                               "forward"});
    REQUIRE(p->result == OPTIONS_RUN);
    CHECK(p->o.rules.host_count == 2);
    CHECK(p->o.proxies.count == 1);
    CHECK_FALSE(p->o.rules.has_origin);
    CHECK(p->o.has_access);
    CHECK(std::string(p->o.access.names[1]) == "minbuf:2,4");
    CHECK(std::string(p->o.choices.backbone.beside) == "scream");
    CHECK(p->o.choices.films.count == p->o.choices.backbone.count); // it is of all media
    CHECK(p->o.queue == SCHEDULER_FIFO);
    CHECK(p->o.choices.reflect == REFLECT_OFF);
    CHECK(p->o.choices.keeps_badput);
    CHECK(p->o.choices.target == 100 * USEC_PER_MSEC);
    CHECK(p->o.choices.outage == USEC_PER_SEC / 2);
}

TEST_CASE("weir-proxy's options: faults, and the allowed values")
{
    struct {
        std::vector<std::string> words;
        const char *said;
    } const table[] = {
        {{}, "requires --origin URL, --parent URL, or --allow HOST[:PORT]"},
        {{"--origin", "http://o"}, "rtsp://"},
        {{"--origin", "rtsp://u:p@o"}, "--origin-user"},
        {{"--origin", "rtsp://o/?x=1"}, "no query"},
        {{"--origin-user", "anna"}, "USER:PASSWORD"},
        {{"--origin-user", ":x"}, "USER:PASSWORD"},
        {{"--allow", "a/b"}, "HOST[:PORT]"},
        {{"--allow", "a:x"}, "HOST[:PORT]"},
        {{"--trust-proxy", "a"}, "numeric address"},
        {{"--queue", "lifo"}, "priority, deadline or fifo"},
        {{"--badput", "keep"}, "drop or forward"},
        {{"--reflect", "yes"}, "limit, marks, blocking or off"},
        {{"--access-blocking", "0"}, "0.01 to 1"},
        {{"--access-blocking", "x"}, "0.01 to 1"},
        {{"--backbone-transport", "pigeons"}, "unknown transport 'pigeons'"},
        {{"--access-transport", "minbuf:0,0"}, "out of range"},
        {{"--outage", "-1"}, "--outage"},
        {{"--listen", "x"}, "ADDR:PORT"},
        {{"--origin", "rtsp://o", "--parent", "rtsp://p"}, "--parent conflicts with --origin"},
        {{"--parent", "http://p"}, "rtsp://"},
        {{"--origin", "rtsp://o", "--access-blocking", "0.5"}, "requires --reflect blocking"},
        {{"--origin", "rtsp://o", "--cache-bytes", "1G"}, "--cache-bytes requires --cache DIR"},
        {{"--origin", "rtsp://o", "--validate", "60"}, "--validate requires --cache DIR"},
        {{"--origin", "rtsp://o", "--prefix", "0"}, "--prefix requires --cache DIR"},
        {{"--origin", "rtsp://o", "--share", "0"}, "--share requires --cache DIR"},
        {{"--origin", "rtsp://o", "--fill-speed", "2"}, "--fill-speed requires --cache DIR"},
        {{"--origin", "rtsp://o", "--prefetch", "f"}, "--prefetch requires --cache DIR"},
        {{"--origin", "rtsp://o", "--fetch-transport", "tcp"},
         "--fetch-transport requires --cache"},
        {{"--origin", "rtsp://o", "--fetch-rate", "0"}, "--fetch-rate requires --cache DIR"},
    };
    for (const auto &row : table) {
        auto p = std::make_unique<parsed>(row.words);
        CHECK(p->result == OPTIONS_BAD);
        INFO(p->error);
        CHECK(strstr(p->error, row.said) != nullptr);
    }
}

TEST_CASE("weir-proxy's options: the cache")
{
    const struct {
        const char *text;
        int64_t bytes; // 0: refused
    } rows[] = {{"1000000", 1000000},
                {"1M", 1000000},
                {"1000k", 1000000},
                {"20G", 20000000000},
                {"1000T", 1000000000000000},
                {"1001T", 0},
                {"999999", 0},
                {"5", 0},
                {"", 0},
                {"5X", 0},
                {"5MM", 0},
                {"-1", 0},
                {"M", 0},
                {"99999999999999999999", 0}};
    for (auto &row : rows) {
        INFO(row.text);
        auto p = std::make_unique<parsed>(std::vector<std::string>{
            "--origin", "rtsp://o", "--cache", "c", "--cache-bytes", row.text});
        CHECK((p->result == OPTIONS_RUN) == (row.bytes != 0));
        if (row.bytes)
            CHECK(p->o.cache_bytes == row.bytes);
    }
    auto p = std::make_unique<parsed>(std::vector<std::string>{"--cache", "c", "--cache-list"});
    CHECK(p->result == OPTIONS_RUN); // without an origin
    p = std::make_unique<parsed>(std::vector<std::string>{"--cache-list", "--origin", "rtsp://o"});
    CHECK(p->result == OPTIONS_BAD);
    p = std::make_unique<parsed>(std::vector<std::string>{"--origin", "rtsp://o"});
    CHECK_FALSE(p->o.cache);
    CHECK(p->o.cache_bytes == 10000000000);
    CHECK(p->o.validate == 60 * USEC_PER_SEC);
    CHECK(p->o.fetch_rate == 0);
    CHECK(std::string(p->o.fetch.names[0]) == "minbuf");
    p = std::make_unique<parsed>(std::vector<std::string>{"--origin", "rtsp://o", "--cache", "c",
                                                          "--validate", "0", "--fetch-rate", "9",
                                                          "--fetch-transport", "tcp"});
    REQUIRE(p->result == OPTIONS_RUN);
    CHECK(p->o.validate == 0);
    CHECK(p->o.fetch_rate == 9);
    CHECK(std::string(p->o.fetch.names[0]) == "tcp");
}
