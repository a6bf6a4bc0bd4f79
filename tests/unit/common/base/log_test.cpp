// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/log.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace
{

struct line {
    log_level level;
    std::string module, text, key, value;
    const void *place;
};

std::vector<line> lines;

void keep(const log_entry *e)
{
    lines.push_back({e->level, e->module, e->text, e->key ? e->key : "(none)",
                     e->value ? e->value : "(none)", e->place});
}

struct sink {
    explicit sink(const char *filter)
    {
        log_filter f = log_all(LOG_ERROR);
        REQUIRE(log_filter_parse(filter, &f) == 0);
        lines.clear();
        log_to(keep, f);
    }
    ~sink()
    {
        log_to(nullptr, log_all(LOG_ERROR));
    }
    sink(const sink &) = delete;
    sink &operator=(const sink &) = delete;
};

} // namespace

TEST_CASE("log: an entry contains its module and its subject")
{
    sink s("info");
    log_write(LOG_WARN, "sender/rtsp/server.c", "viewer", "7", "viewer %d of %s", 7, "x");
    log_write(LOG_INFO, "common/net/tcp_conn.c", nullptr, nullptr, "plain");
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].level == LOG_WARN);
    CHECK(lines[0].module == "server");
    CHECK(lines[0].text == "viewer 7 of x");
    CHECK(lines[0].key == "viewer");
    CHECK(lines[0].value == "7");
    CHECK(lines[1].module == "tcp");
    CHECK(lines[1].key == "(none)");
}

TEST_CASE("log: the filter decides by level and module")
{
    struct {
        const char *filter, *file;
        log_level level;
        bool passes;
    } const table[] = {
        {"info", "a/server.c", LOG_INFO, true},
        {"info", "a/server.c", LOG_DEBUG, false},
        {"error,server=debug", "a/server.c", LOG_DEBUG, true},
        {"error,server=debug", "a/client.c", LOG_WARN, false},
        {"debug,server=error", "a/server.c", LOG_WARN, false},
        {"debug,server=error", "a/server.c", LOG_ERROR, true},
    };
    for (const auto &row : table) {
        CAPTURE(row.filter, row.file, row.level);
        sink s(row.filter);
        log_write(row.level, row.file, nullptr, nullptr, "text");
        CHECK(lines.size() == (row.passes ? 1 : 0));
    }
}

TEST_CASE("log: call sites are distinguishable")
{
    sink s("info");
    for (int i = 0; i < 2; i++)
        log_info("first %d", i);
    log_info("second");
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].place == lines[1].place);
    CHECK(lines[0].place != lines[2].place);
}

TEST_CASE("log: a long message is truncated, and without a sink all are discarded")
{
    std::string text(LOG_TEXT + 10, 'x');
    {
        sink s("info");
        log_info("%s", text.c_str());
        REQUIRE(lines.size() == 1);
        CHECK(lines[0].text == text.substr(0, LOG_TEXT - 1));
    }
    log_error("%s", text.c_str());
    CHECK(lines.size() == 1);
}

TEST_CASE("log: a thread keeps its first error, whatever the filter says")
{
    sink s("error,secret=error");
    log_errors errors = {{0}};
    log_errors_keep(&errors);
    CHECK(log_errors_kept() == &errors);
    log_warn("no error");
    CHECK(std::string(errors.first).empty());
    log_error("the %s one", "first");
    log_error("the second one");
    CHECK(std::string(errors.first) == "the first one");
    CHECK(lines.size() == 2);
    log_to(nullptr, log_all(LOG_ERROR)); // nobody reads the log
    errors = {{0}};
    log_error("unread");
    CHECK(std::string(errors.first) == "unread");
    log_errors_keep(nullptr);
    log_error("the third one");
    CHECK(std::string(errors.first) == "unread");
}
