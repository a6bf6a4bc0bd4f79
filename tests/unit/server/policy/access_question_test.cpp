// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/access_question.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstring>
#include <string>

#include "common/base/err.h"
#include "server/policy/access_rules.h"

TEST_CASE("access_question: URLs of a service")
{
    struct {
        const char *url, *host;
        int port;
        const char *path; // nullptr: refused
    } const table[] = {
        {"http://127.0.0.1:8000/ask", "127.0.0.1", 8000, "/ask"},
        {"http://127.0.0.1", "127.0.0.1", 80, "/"},
        {"http://[::1]:9/a?b=c", "::1", 9, "/a?b=c"},
        {"http://127.0.0.1:/", "", 0, nullptr},
        {"http://127.0.0.1:0/", "", 0, nullptr},
        {"http://127.0.0.1:65536/", "", 0, nullptr},
        {"http://127.0.0.10/", "", 0, nullptr},
        {"http://127.0.0.1.x/", "", 0, nullptr},
        {"http://127.0.0.1@x/", "", 0, nullptr},
        {"http://localhost/", "", 0, nullptr},
        {"https://127.0.0.1/", "", 0, nullptr},
        {"http://127.0.0.1/a b", "", 0, nullptr},
        {"http://127.0.0.1/a\r\nb", "", 0, nullptr},
        {"http://127.0.0.1/\xc3\xa9", "", 0, nullptr},
        {"http://127.0.0.1/#a", "", 0, nullptr},
        {"", "", 0, nullptr},
    };
    for (const auto &row : table) {
        INFO(row.url);
        access_service_url url;
        CHECK((access_service_url_read(row.url, &url) == 0) == (row.path != nullptr));
        if (!row.path)
            continue;
        CHECK(url.host == std::string(row.host));
        CHECK(url.port == row.port);
        CHECK(url.path == std::string(row.path));
    }
}

static int write(const access_question &q, std::string &out, size_t cap = ACCESS_QUESTION_BYTES)
{
    access_service_url url;
    REQUIRE(access_service_url_read("http://[::1]:8000/ask", &url) == 0);
    std::string text(cap, '\0');
    int len = access_question_write(&url, &q, text.data(), cap);
    out = len < 0 ? "" : text.substr(0, static_cast<size_t>(len));
    return len < 0 ? len : 0;
}

TEST_CASE("access_question: the request")
{
    access_question q{};
    std::string out;
    snprintf(q.user, sizeof(q.user), "an\"na");
    snprintf(q.password, sizeof(q.password), "p\\w");
    snprintf(q.address, sizeof(q.address), "192.0.2.7");
    snprintf(q.path, sizeof(q.path), "films/a b.mp4");
    q.right = ACCESS_PUBLISH;
    REQUIRE(write(q, out) == 0);
    std::string body = R"({"user":"an\"na","password":"p\\w","key":null,"address":"192.0.2.7",)"
                       R"("path":"/films/a b.mp4","right":"publish"})";
    CHECK(out == "POST /ask HTTP/1.1\r\nHost: [::1]:8000\r\nContent-Type: application/json\r\n"
                 "Content-Length: " +
                     std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body);
    access_question none{};
    REQUIRE(write(none, out) == 0);
    CHECK_THAT(out, Catch::EndsWith(R"({"user":null,"password":null,"key":null,"address":"",)"
                                    R"("path":"/","right":"watch"})"));
}

TEST_CASE("access_question: what a service cannot tell apart is not asked")
{
    for (const char *text : {"a\nb", "a\rb", "a\x01", "\xff", "\xc3", "a\x7f"}) {
        INFO(text);
        access_question q{};
        std::string out;
        snprintf(q.key, sizeof(q.key), "%s", text);
        CHECK(write(q, out) == ERR_MALFORMED);
    }
}

TEST_CASE("access_question: the longest texts have room")
{
    access_question q{};
    std::string out;
    memset(q.user, '"', sizeof(q.user) - 1);
    memset(q.password, '\\', sizeof(q.password) - 1);
    memset(q.key, '"', sizeof(q.key) - 1);
    memset(q.path, '"', sizeof(q.path) - 1);
    CHECK(write(q, out) == 0);
    CHECK(write(q, out, 2048) == ERR_FULL);
    CHECK(write(q, out, 100) == ERR_FULL);
}

TEST_CASE("access_question: the answer's status")
{
    struct {
        const char *text;
        int result;
    } const table[] = {
        {"HTTP/1.1 200 OK\r\n", 200},
        {"HTTP/1.0 204 \r\n", 204},
        {"HTTP/1.1 401\r\n", 401},
        {"HTTP/1.1 403 Forbidden", 403},
        {"", ERR_AGAIN},
        {"HTTP", ERR_AGAIN},
        {"HTTP/1.1 200", ERR_AGAIN},
        {"HTTP/2 200 OK", ERR_MALFORMED},
        {"HTTP/1.1 2000 O", ERR_MALFORMED},
        {"HTTP/1.1  200 ", ERR_MALFORMED},
        {"HTTP/1.1 2x0 OK", ERR_MALFORMED},
        {"HTTP/1.1 099 OK", ERR_MALFORMED},
        {"SSH-", ERR_MALFORMED},
        {"x", ERR_MALFORMED},
    };
    for (const auto &row : table) {
        INFO(row.text);
        CHECK(access_answer_read(row.text, strlen(row.text)) == row.result);
    }
}
