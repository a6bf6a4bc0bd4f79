// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/http/http_connection.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "common/net/tcp_conn.h"

namespace
{

constexpr usec_t FIRST = USEC_PER_SEC, IDLE = 15 * USEC_PER_SEC, LIMIT = 40 * USEC_PER_SEC;

// A connection whose handler echoes the path and the body; /wait waits, and /big has `big`.
struct rig {
    uv_loop_t loop;
    int other = -1;
    http_connection *c = nullptr;
    bool ready = false;     // what /wait waits for
    bool has_places = true; // for requests that wait
    usec_t deadline = USEC_NEVER;
    http_body *big = nullptr;
    std::vector<std::string> parts; // of /parts, that are there
    int rest = ERR_AGAIN;           // what follows them
    std::vector<std::string> asked;
    std::vector<usec_t> begun;
    int served = 0;
    size_t bytes = 0;
    bool ended = false;

    rig()
    {
        static const http_handler_ops ops = {body_max, serve, more, refuse};
        int pair[2];
        uv_loop_init(&loop);
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
        other = pair[1];
        http_connection_config config{};
        config.loop = &loop;
        config.ops = &ops;
        config.handler = config.ctx = this;
        config.first = FIRST;
        config.idle = IDLE;
        config.limit = LIMIT;
        config.may_wait = [](void *ctx, const http_connection *, const http_request *) {
            return static_cast<rig *>(ctx)->has_places;
        };
        config.on_served = [](void *ctx, size_t sent) {
            static_cast<rig *>(ctx)->served++;
            static_cast<rig *>(ctx)->bytes += sent;
        };
        config.on_end = [](void *ctx, http_connection *) { static_cast<rig *>(ctx)->ended = true; };
        c = http_connection_new(pair[0], &config, clock_now());
        REQUIRE(c);
        std::string text(1 << 20, 'b');
        big = http_body_copy(text.data(), text.size());
    }
    rig(const rig &) = delete;
    rig &operator=(const rig &) = delete;
    ~rig()
    {
        http_connection_free(c);
        close(other);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
        CHECK(big->references == 1);
        http_body_unref(big);
    }

    static size_t body_max(void *, const http_request *r)
    {
        return r->method == HTTP_PUT ? HTTP_BODY_MAX : 0;
    }
    static bool serve(void *ctx, const http_exchange *x, http_response *out, usec_t *deadline,
                      usec_t)
    {
        rig *self = static_cast<rig *>(ctx);
        std::string path(x->request->path.at, x->request->path.len);
        self->asked.push_back(path);
        self->begun.push_back(x->begun);
        *deadline = self->deadline;
        if (path == "/wait" && !self->ready)
            return false;
        if (x->body)
            path += " " + std::string(reinterpret_cast<const char *>(x->body), x->body_len);
        http_head_begin(&out->head, x->body ? 200 : 413, nullptr, 0);
        if (path == "/parts ") {
            out->in_parts = true;
            out->bytes = SIZE_MAX;
            return true;
        }
        out->body =
            path == "/big " ? http_body_ref(self->big) : http_body_copy(path.data(), path.size());
        out->bytes = out->body->bytes;
        return true;
    }
    static int more(void *ctx, http_body **out, usec_t)
    {
        rig *self = static_cast<rig *>(ctx);
        if (self->parts.empty())
            return self->rest;
        *out = http_body_copy(self->parts[0].data(), self->parts[0].size());
        self->parts.erase(self->parts.begin());
        return 0;
    }
    static void refuse(void *, const http_request *, int status, http_response *out)
    {
        http_head_begin(&out->head, status, nullptr, 0);
    }

    void turn()
    {
        for (int i = 0; i < 4; i++)
            uv_run(&loop, UV_RUN_NOWAIT);
    }
    void send(const std::string &text)
    {
        REQUIRE(write(other, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
        turn();
    }
    // Returns what has come; "<end>" is the stream's end.
    std::string received()
    {
        std::string all;
        char some[65536];
        ssize_t n;
        while ((n = recv(other, some, sizeof(some), MSG_DONTWAIT)) > 0) {
            all.append(some, static_cast<size_t>(n));
            turn();
        }
        return n == 0 ? all + "<end>" : all;
    }
    std::string ask(const std::string &text)
    {
        send(text);
        return received();
    }
    void tick(usec_t later)
    {
        http_connection_tick(c, clock_now() + later);
        turn();
    }
};

const std::string OK = "HTTP/1.1 200 OK\r\nContent-Length: ";
const std::string END = "Content-Length: 0\r\nConnection: close\r\n\r\n<end>";

std::string get(const char *path)
{
    return std::string("GET ") + path + " HTTP/1.1\r\nHost: a\r\n\r\n";
}

} // namespace

TEST_CASE("http_connection: a response in parts")
{
    struct {
        const char *version;
        int rest; // after three parts
        const char *head, *text;
    } table[] = {{"1.1", ERR_END, "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
                  "3\r\nabc\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n<end>"},
                 {"1.0", ERR_END, "Connection: close\r\n\r\n", "abcdef<end>"},
                 {"1.1", ERR_IO, "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
                  "3\r\nabc\r\n2\r\nde\r\n1\r\nf"}};
    for (auto &t : table) {
        CAPTURE(t.version, t.rest);
        rig r;
        r.send("GET /parts HTTP/" + std::string(t.version) + "\r\nHost: a\r\n\r\n");
        std::string got = r.received();
        usec_t now = clock_now();
        http_connection_tick(r.c, now + 2 * LIMIT); // who waits for a part is the handler's matter
        CHECK_FALSE(r.ended);
        r.parts = {"abc", "de"};
        http_connection_wake(r.c, now + 2 * LIMIT);
        got += r.received();
        r.parts = {"f"};
        r.rest = t.rest;
        http_connection_wake(r.c, now + 3 * LIMIT);
        got += r.received();
        CHECK(got == "HTTP/1.1 200 OK\r\n" + std::string(t.head) + t.text);
        r.turn();
        CHECK(r.ended == (t.rest == ERR_IO));
        CHECK(r.served == (t.rest == ERR_END));
    }
}

TEST_CASE(
    "http_connection: large parts go out as they are read, and a reader that stops is dropped")
{
    rig r;
    std::string want;
    for (int i = 0; i < 8; i++) {
        r.parts.push_back(std::string(1 << 19, (char)('a' + i)));
        want += r.parts.back();
    }
    r.rest = ERR_END;
    r.send("GET /parts HTTP/1.0\r\nHost: a\r\n\r\n");
    CHECK(r.parts.size() >= 6); // the next ones are not made before there is room
    std::string got = r.received();
    CHECK(got.substr(got.find("\r\n\r\n") + 4) == want + "<end>");
    rig slow;
    slow.parts.push_back(std::string(1 << 22, 'a'));
    slow.send("GET /parts HTTP/1.0\r\nHost: a\r\n\r\n");
    http_connection_tick(slow.c, clock_now() + IDLE + USEC_PER_SEC);
    slow.turn();
    CHECK(slow.ended);
}

TEST_CASE("http_connection: requests that arrive together, or in pieces, are served in order")
{
    rig r;
    std::string all, expected;
    for (int i = 0; i < 30; i++) {
        all += get(("/" + std::to_string(10 + i)).c_str());
        expected += OK + "4\r\n\r\n/" + std::to_string(10 + i) + " ";
    }
    r.send(all);
    for (int i = 0; i < 10; i++)
        r.turn();
    CHECK(r.received() == expected);
    CHECK(r.served == 30);
    CHECK(r.bytes == 120);
    for (char one : get("/a"))
        r.send(std::string(1, one));
    CHECK(r.received() == OK + "3\r\n\r\n/a ");
    CHECK(r.ask("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n") == OK + "3\r\n\r\n");
    CHECK(r.bytes == 123);
    CHECK(r.ask("GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" + get("/b")) ==
          OK + "3\r\nConnection: close\r\n\r\n/a <end>");
    CHECK(r.asked.size() == 33);
    close(r.other);
    r.other = -1;
    r.turn();
    CHECK(r.ended);
}

TEST_CASE("http_connection: a request that is refused ends the connection, and none follows it")
{
    const struct {
        const char *request, *status;
    } rows[] = {
        {"GET / HTTP/1.1\r\n\r\n", "400 Bad Request"},
        {"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "411 Length Required"},
        {"PUT / HTTP/1.1\r\nHost: a\r\nExpect: x\r\nContent-Length: 1\r\n\r\n",
         "417 Expectation Failed"},
        {"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x\r\n\r\n", "501 Not Implemented"},
        {"GET / HTTP/3.0\r\nHost: a\r\n\r\n", "505 HTTP Version Not Supported"},
    };
    for (const auto &row : rows) {
        INFO(row.request);
        rig r;
        CHECK(r.ask(row.request + get("/smuggled")) ==
              std::string("HTTP/1.1 ") + row.status + "\r\n" + END);
        CHECK(r.asked.empty());
    }
    for (const char *body : {"Content-Length: 3", "Content-Length: 99999999999999999999999",
                             "Transfer-Encoding: chunked"}) {
        rig r; // a body that the handler does not take is not read as a request, either
        CHECK(r.ask(std::string("GET /a HTTP/1.1\r\nHost: a\r\n") + body + "\r\n\r\n" +
                    get("/smuggled")) ==
              "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\n"
              "/a<end>");
        CHECK(r.asked.size() == 1);
    }
}

TEST_CASE("http_connection: a body")
{
    rig r;
    const std::string put = "PUT /p HTTP/1.1\r\nHost: a\r\nContent-Length: ";
    CHECK(r.ask(put + "4\r\n\r\n12").empty());
    CHECK(r.ask("34" + get("/a")) == OK + "7\r\n\r\n/p 1234" + OK + "3\r\n\r\n/a ");
    CHECK(r.ask(put + "4\r\nExpect: 100-continue\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
    CHECK(r.ask("12").empty());
    CHECK(r.ask("34") == OK + "7\r\n\r\n/p 1234");
    CHECK(r.ask(put + "4\r\nExpect: 100-continue\r\n\r\n1234") == OK + "7\r\n\r\n/p 1234");
    const std::string most(HTTP_BODY_MAX, 'x');
    const std::string fill = "X: " + std::string(HTTP_HEAD_MAX - 200, 'y') + "\r\n";
    CHECK(r.ask(put + "512\r\n" + fill + "\r\n" + most) == OK + "515\r\n\r\n/p " + most);
    CHECK(r.ask(put + "513\r\nExpect: 100-continue\r\n\r\n") ==
          "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\n"
          "/p<end>");
}

TEST_CASE("http_connection: a request waits until it is woken, or its deadline")
{
    rig r;
    CHECK(r.ask(get("/wait") + get("/next")).empty());
    CHECK(http_connection_waits(r.c));
    http_connection_wake(r.c, clock_now());
    CHECK(http_connection_waits(r.c));
    r.tick(10 * LIMIT); // it has no limit but its deadline
    CHECK_FALSE(r.ended);
    r.ready = true;
    http_connection_wake(r.c, clock_now());
    CHECK(r.received() == OK + "6\r\n\r\n/wait " + OK + "6\r\n\r\n/next ");
    CHECK(r.begun[0] == r.begun[2]); // of the same request
    CHECK(r.begun[3] > r.begun[2]);

    r.ready = false;
    r.deadline = clock_now() + 100 * USEC_PER_SEC;
    CHECK(r.ask(get("/wait")).empty());
    r.tick(99 * USEC_PER_SEC);
    CHECK(r.received().empty());
    r.tick(101 * USEC_PER_SEC);
    CHECK(r.received() == "HTTP/1.1 503 Service Unavailable\r\n" + END);
}

TEST_CASE("http_connection: without a place to wait the response is 503")
{
    rig r;
    r.has_places = false;
    CHECK(r.ask(get("/wait")) == "HTTP/1.1 503 Service Unavailable\r\n" + END);
}

TEST_CASE("http_connection: a peer that leaves frees its place at once")
{
    rig r;
    CHECK(r.ask(get("/wait")).empty());
    close(r.other);
    r.other = -1;
    r.turn();
    CHECK(r.ended);
    CHECK_FALSE(http_connection_waits(r.c));
}

TEST_CASE("http_connection: a waiting peer cannot fill the memory")
{
    rig r;
    CHECK(r.ask(get("/wait")).empty());
    const std::string much(8192, 'x');
    while (send(r.other, much.data(), much.size(), MSG_DONTWAIT) > 0)
        r.turn();
    r.ready = true;
    http_connection_wake(r.c, clock_now());
    CHECK(r.received().find(OK + "6\r\n\r\n/wait ") == 0);
}

TEST_CASE("http_connection: a large body is shared, not copied, and a slow reader loses it")
{
    rig r;
    const std::string head = OK + "1048576\r\n\r\n";
    CHECK(r.ask(get("/big") + get("/a")) == head + std::string(1 << 20, 'b') + OK + "3\r\n\r\n/a ");
    CHECK(r.big->references == 1);

    r.send(get("/big")); // reads nothing
    CHECK(r.big->references == 2);
    r.tick(IDLE - USEC_PER_SEC);
    CHECK_FALSE(r.ended);
    r.tick(IDLE + USEC_PER_SEC);
    CHECK(r.ended);
}

TEST_CASE("http_connection: a reader of a few bytes at a time has a limit")
{
    rig r;
    r.send(get("/big"));
    usec_t begun = clock_now();
    char some[1000];
    usec_t now = begun;
    for (; !r.ended && now - begun < 2 * LIMIT; now += USEC_PER_SEC) {
        CHECK(recv(r.other, some, sizeof(some), MSG_DONTWAIT) > 0);
        r.turn();
        http_connection_tick(r.c, now);
        r.turn();
    }
    CHECK(r.ended);
    CHECK(now - begun <= LIMIT + 2 * USEC_PER_SEC);
}

TEST_CASE("http_connection: silence ends it, before the first request sooner")
{
    for (bool begins : {false, true}) {
        rig r;
        if (begins)
            r.send("GET / HT");
        r.tick(FIRST - USEC_PER_SEC / 2);
        CHECK_FALSE(r.ended);
        r.tick(FIRST + USEC_PER_SEC);
        CHECK(r.ended);
    }
    rig r;
    r.ask(get("/a"));
    r.tick(IDLE - USEC_PER_SEC);
    CHECK_FALSE(r.ended);
    r.tick(IDLE + USEC_PER_SEC);
    CHECK(r.ended);
}

TEST_CASE("http_connection: one that is turned away has a response, and does not stay")
{
    rig r;
    http_connection_turn_away(r.c, clock_now());
    CHECK(r.ask(get("/a")) == "HTTP/1.1 503 Service Unavailable\r\n" + END);
    CHECK(r.asked.empty());
    CHECK(r.served == 0);
    r.tick(USEC_PER_SEC);
    CHECK_FALSE(r.ended);
    r.tick(3 * USEC_PER_SEC);
    CHECK(r.ended);
}

TEST_CASE("http_connection: a response is not cut while the peer takes of what the kernel holds")
{
    rig r;
    const bool reads = GENERATE(true, false);
    r.send(get("/big"));
    for (int i = 1; i <= 20; i++) {
        char some[4096];
        if (reads)
            REQUIRE(recv(r.other, some, sizeof(some), MSG_WAITALL) == sizeof(some));
        r.turn();
        r.tick(i * USEC_PER_SEC);
    }
    CHECK(r.ended == !reads);
    r.tick(LIMIT + 2 * USEC_PER_SEC); // it may not take forever, though
    CHECK(r.ended);
}

TEST_CASE("http_connection: over a connection of the owner's, which 101 gives back")
{
    struct owner {
        tcp_conn *tcp = nullptr;
        http_connection *c = nullptr;
        std::string rest; // input after the upgrade
        bool ended = false, closed = false;
    } o;
    static const tcp_conn_ops ops = {
        nullptr,
        [](void *ctx, const uint8_t *data, size_t len, usec_t now) {
            owner *self = static_cast<owner *>(ctx);
            size_t used = 0;
            if (!http_connection_is_upgraded(self->c))
                used = static_cast<size_t>(http_connection_input(self->c, data, len, now));
            if (!http_connection_is_upgraded(self->c))
                return static_cast<int>(used);
            self->rest.append(reinterpret_cast<const char *>(data) + used, len - used);
            return static_cast<int>(len);
        },
        [](void *ctx, usec_t now) { http_connection_room(static_cast<owner *>(ctx)->c, now); },
        [](void *ctx, int, usec_t) { static_cast<owner *>(ctx)->closed = true; }};
    static const http_handler_ops handler = {
        nullptr,
        [](void *, const http_exchange *, http_response *out, usec_t *, usec_t) {
            http_head_begin(&out->head, 101, nullptr, 0);
            out->ends = true; // which does not count
            return true;
        },
        nullptr,
        [](void *, const http_request *, int status, http_response *out) {
            http_head_begin(&out->head, status, nullptr, 0);
        }};
    uv_loop_t loop;
    int pair[2];
    uv_loop_init(&loop);
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    o.tcp = tcp_conn_new(&loop, pair[0], 65536, &ops, &o);
    REQUIRE(o.tcp);
    http_connection_config config{};
    config.loop = &loop;
    config.tcp = o.tcp;
    config.ops = &handler;
    config.ctx = &o;
    config.first = config.idle = config.limit = USEC_PER_SEC;
    config.on_served = [](void *, size_t) {};
    config.on_end = [](void *ctx, http_connection *) { static_cast<owner *>(ctx)->ended = true; };
    o.c = http_connection_new(-1, &config, clock_now());
    REQUIRE(o.c);
    const std::string text = get("/socket") + "frames";
    REQUIRE(write(pair[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    for (int i = 0; i < 4; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    char answer[256];
    ssize_t len = recv(pair[1], answer, sizeof(answer), MSG_DONTWAIT);
    CHECK(std::string(answer, len > 0 ? static_cast<size_t>(len) : 0) ==
          "HTTP/1.1 101 Switching Protocols\r\n\r\n");
    CHECK(o.rest == "frames");
    http_connection_tick(o.c, clock_now() + 3 * USEC_PER_SEC);
    CHECK(o.ended);
    http_connection_free(o.c);
    CHECK_FALSE(o.closed); // it is the owner's
    tcp_conn_free(o.tcp);
    close(pair[1]);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&loop) == 0);
}
