// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/access/access_service.h"

#include <catch2/catch.hpp>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "server/policy/access_rules.h"

namespace
{

// Answers each connection with the text, and counts them.
struct service {
    int fd;
    int port;
    std::string text;
    std::atomic_int asked{0};
    std::thread thread;

    explicit service(std::string answer) : text(std::move(answer))
    {
        sockaddr_in at{};
        socklen_t len = sizeof(at);
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        fd = socket(AF_INET, SOCK_STREAM, 0);
        REQUIRE(bind(fd, reinterpret_cast<sockaddr *>(&at), len) == 0);
        REQUIRE(listen(fd, 16) == 0);
        REQUIRE(getsockname(fd, reinterpret_cast<sockaddr *>(&at), &len) == 0);
        port = ntohs(at.sin_port);
        thread = std::thread([this] {
            for (int c; (c = accept(fd, nullptr, nullptr)) >= 0; close(c)) {
                char request[4096];
                asked++;
                if (recv(c, request, sizeof(request), 0) > 0)
                    (void)!send(c, text.data(), text.size(), MSG_NOSIGNAL);
            }
        });
    }
    ~service()
    {
        shutdown(fd, SHUT_RDWR);
        thread.join();
        close(fd);
    }
    [[nodiscard]] std::string url() const
    {
        return "http://127.0.0.1:" + std::to_string(port) + "/";
    }
};

struct asker {
    uv_loop_t loop;
    access_service *s;
    int result = 0;

    explicit asker(const std::string &url)
    {
        REQUIRE(uv_loop_init(&loop) == 0);
        s = access_service_new(&loop, url.c_str());
        REQUIRE(s);
    }
    ~asker()
    {
        access_service_free(s);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    static void on_result(void *ctx, int result, usec_t)
    {
        static_cast<asker *>(ctx)->result = result;
    }
    int ask(const access_question &q)
    {
        result = 0;
        REQUIRE(access_service_begin(s, place_key{}, &q, on_result, this));
        while (!result)
            uv_run(&loop, UV_RUN_ONCE);
        return result;
    }
};

access_question question(const char *key, unsigned right = ACCESS_WATCH)
{
    access_question q{};
    snprintf(q.key, sizeof(q.key), "%s", key);
    snprintf(q.address, sizeof(q.address), "192.0.2.7");
    q.right = right;
    return q;
}

} // namespace

TEST_CASE("access_service: answers, and how long they count", "[threads]")
{
    struct {
        const char *answer;
        int result;
        usec_t kept; // 0: a pause instead
    } const table[] = {
        {"HTTP/1.1 204 No Content\r\n\r\n", 200, SERVICE_GRANTED},
        {"HTTP/1.1 401 X\r\n\r\n", 401, SERVICE_REFUSED},
        {"HTTP/1.1 403 X\r\n\r\n", 403, SERVICE_REFUSED},
        {"HTTP/1.1 302 X\r\n\r\n", 503, 0},
        {"nonsense", 503, 0},
        {"", 503, 0},
    };
    for (const auto &row : table) {
        INFO(row.answer);
        service http(row.answer);
        asker a(http.url());
        access_question q = question("a"), other = question("a", ACCESS_PUBLISH);
        usec_t before = clock_now();
        CHECK(access_service_known(a.s, &q, before) == ERR_AGAIN);
        CHECK(a.ask(q) == row.result);
        usec_t after = clock_now();
        CHECK(access_service_known(a.s, &q, after) == row.result);
        CHECK(access_service_known(a.s, &other, after) == (row.kept ? ERR_AGAIN : 503));
        if (row.kept) {
            CHECK(access_service_ask(a.s, &q) == row.result); // not asked again
            CHECK(http.asked == 1);
        }
        usec_t end = row.kept ? row.kept : SERVICE_PAUSE;
        CHECK(access_service_known(a.s, &q, before + end - 1) == row.result);
        CHECK(access_service_known(a.s, &q, after + end) == ERR_AGAIN);
    }
}

TEST_CASE("access_service: an answer that means nothing refuses that question alone", "[threads]")
{
    service http("HTTP/1.1 404 X\r\n\r\n");
    asker a(http.url());
    access_question q = question("a");
    CHECK(a.ask(q) == 503);
    CHECK(access_service_known(a.s, &q, clock_now()) == ERR_AGAIN);
}

TEST_CASE("access_service: only the newest answers are remembered", "[threads]")
{
    service http("HTTP/1.1 200 OK\r\n\r\n");
    asker a(http.url());
    for (int i = 0; i <= SERVICE_KNOWN; i++) {
        access_question q = question(std::to_string(i).c_str());
        CHECK(access_service_ask(a.s, &q) == 200);
    }
    access_question first = question("0"), last = question(std::to_string(SERVICE_KNOWN).c_str());
    CHECK(access_service_known(a.s, &first, clock_now()) == ERR_AGAIN);
    CHECK(access_service_known(a.s, &last, clock_now()) == 200);
}

TEST_CASE("access_service: few at once, fewer of one address, and some leave", "[threads]")
{
    service http("HTTP/1.1 200 OK\r\n\r\n");
    asker a(http.url());
    access_question q = question("a");
    int begun = 0;
    for (uint64_t i = 0; i < 10; i++)
        if (access_inquiry *one =
                access_service_begin(a.s, place_key{i / 5, 0}, &q, asker::on_result, &a)) {
            access_service_leave(one);
            begun++;
        }
    CHECK(begun == SERVICE_AT_ONCE);
    while (http.asked == 0)
        std::this_thread::yield();
    uv_run(&a.loop, UV_RUN_NOWAIT);
    CHECK(a.result == 0);
}

TEST_CASE("access_service: none is there", "[threads]")
{
    int port;
    {
        service gone("");
        port = gone.port;
    }
    asker a("http://127.0.0.1:" + std::to_string(port) + "/");
    CHECK(a.ask(question("a")) == 503);
}
