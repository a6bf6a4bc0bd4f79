// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <string>

#include "common/base/err.h"
#include "common/base/log_filter.h"

TEST_CASE("log_filter: which messages pass")
{
    struct {
        const char *filter;
        log_level level;
        const char *file;
        bool passes;
    } rows[] = {
        {"info", LOG_INFO, "sender/session/session.c", true},
        {"info", LOG_DEBUG, "sender/session/session.c", false},
        {"warn", LOG_INFO, "a.c", false},
        {"error", LOG_ERROR, "a.c", true},
        // A rule matches the first word of the file's name ...
        {"info,session=debug", LOG_DEBUG, "sender/session/session_send.c", true},
        {"info,session=debug", LOG_DEBUG, "/x/y/sender/session.c", true},
        {"info,session=debug", LOG_DEBUG, "sender/sessions.c", false},
        {"debug,session=error", LOG_WARN, "sender/session/session.c", false},
        // ... or a folder above it; the last matching rule applies.
        {"info,sender=debug", LOG_DEBUG, "/x/sender/viewer.c", true},
        {"info,sender=debug", LOG_DEBUG, "sender/net/viewer.c", true},
        {"info,send=debug", LOG_DEBUG, "sender/net/viewer.c", false},
        {"info,net=debug", LOG_DEBUG, "sender/net/viewer.c", true},
        {"info,sender=debug,session=warn", LOG_INFO, "sender/session/session.c", false},
        {"info,session=warn,sender=debug", LOG_DEBUG, "sender/session/session.c", true},
        // Without a LEVEL the level is unchanged: warn.
        {"tcp=debug", LOG_INFO, "net/udp_socket.c", false},
        {"tcp=debug", LOG_WARN, "net/udp_socket.c", true},
        {"tcp=debug", LOG_DEBUG, "net/tcp_conn.c", true},
        {"tcp=debug,error", LOG_WARN, "net/udp_socket.c", false},
    };
    for (const auto &row : rows) {
        INFO(row.filter << " " << row.file);
        log_filter f = log_all(LOG_WARN);
        REQUIRE(log_filter_parse(row.filter, &f) == 0);
        CHECK(log_filter_passes(&f, row.level, row.file) == row.passes);
    }
}

TEST_CASE("log_filter: malformed filters")
{
    for (const char *text : {"", "loud", "Info", "info,", ",info", "info,session", "info,=debug",
                             "session=", "session=loud", "sender/session=debug", "a=b=info",
                             "session_send=info", "abcdefghijklmnopqrstuvwx=info", " info"}) {
        INFO("\"" << text << "\"");
        log_filter f = log_all(LOG_WARN);
        CHECK(log_filter_parse(text, &f) == ERR_MALFORMED);
    }
    std::string many = "info";
    for (int i = 0; i < LOG_RULES; i++)
        many += ",a=info";
    log_filter f = log_all(LOG_WARN);
    CHECK(log_filter_parse(many.c_str(), &f) == 0);
    CHECK(f.count == LOG_RULES);
    CHECK(log_filter_parse((many + ",a=info").c_str(), &f) == ERR_FULL);
}

TEST_CASE("log_filter: modules of files")
{
    struct {
        const char *file, *module;
    } rows[] = {
        {"sender/session/session_send.c", "session"},
        {"/a/common/net/tcp_conn.c", "tcp"},
        {"main.c", "main"},
        {"x264_engine.c", "x264"},
        {"", ""},
        {"a/", ""},
        {"abcdefghijklmnopqrstuvwxyz.c", "abcdefghijklmnopqrstuvw"},
    };
    for (const auto &row : rows) {
        char out[LOG_MODULE];
        log_module(row.file, out);
        CHECK(std::string(out) == row.module);
    }
}
