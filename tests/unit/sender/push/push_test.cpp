// SPDX-License-Identifier: GPL-2.0-or-later
// A stream that is pushed over the loopback to a server of the test, which agrees to all but what a
// case says. What the requests are is rtsp_recorder_test.cpp's.
#include "sender/push/push.h"

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/net/clock.h"
#include "common/transport/transport_list.h"
#include "sender/feed/synthetic_media.h"
#include "server/session/catalog.h"

namespace
{

struct Server {
    struct Connection {
        uv_tcp_t tcp;
        Server *server;
        char buffer[65536];
        std::string input;
    };

    uv_tcp_t listener;
    std::vector<std::unique_ptr<Connection>> connections;
    std::vector<std::string> methods; // of all connections
    size_t frames = 0;                // interleaved
    std::string refused;              // the method that gets a 403
    std::string closes_at;            // the method at which the connection is closed
    int port = 0;

    explicit Server(uv_loop_t *loop)
    {
        sockaddr_in at;
        int len = sizeof(at);
        REQUIRE(uv_tcp_init(loop, &listener) == 0);
        listener.data = this;
        REQUIRE(uv_ip4_addr("127.0.0.1", 0, &at) == 0);
        REQUIRE(uv_tcp_bind(&listener, reinterpret_cast<sockaddr *>(&at), 0) == 0);
        REQUIRE(uv_listen(reinterpret_cast<uv_stream_t *>(&listener), 4, on_connection) == 0);
        REQUIRE(uv_tcp_getsockname(&listener, reinterpret_cast<sockaddr *>(&at), &len) == 0);
        port = ntohs(at.sin_port);
    }

    void close()
    {
        uv_close(reinterpret_cast<uv_handle_t *>(&listener), nullptr);
        for (auto &c : connections)
            if (!uv_is_closing(reinterpret_cast<uv_handle_t *>(&c->tcp)))
                uv_close(reinterpret_cast<uv_handle_t *>(&c->tcp), nullptr);
    }

    size_t count(const std::string &method) const
    {
        size_t n = 0;
        for (const std::string &m : methods)
            n += m == method;
        return n;
    }

    static void on_connection(uv_stream_t *listener, int status)
    {
        auto *s = static_cast<Server *>(listener->data);
        REQUIRE(status == 0);
        s->connections.push_back(std::make_unique<Connection>());
        Connection *c = s->connections.back().get();
        c->server = s;
        REQUIRE(uv_tcp_init(listener->loop, &c->tcp) == 0);
        c->tcp.data = c;
        REQUIRE(uv_accept(listener, reinterpret_cast<uv_stream_t *>(&c->tcp)) == 0);
        uv_read_start(
            reinterpret_cast<uv_stream_t *>(&c->tcp),
            [](uv_handle_t *h, size_t, uv_buf_t *out) {
                auto *connection = static_cast<Connection *>(h->data);
                *out = uv_buf_init(connection->buffer, sizeof(connection->buffer));
            },
            on_read);
    }

    static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *)
    {
        auto *c = static_cast<Connection *>(stream->data);
        if (len <= 0) {
            uv_read_stop(stream);
            return;
        }
        c->input.append(c->buffer, (size_t)len);
        while (c->server->take(*c))
            ;
    }

    static std::string header(const std::string &head, const std::string &name)
    {
        size_t at = head.find("\r\n" + name + ": ");
        if (at == std::string::npos)
            return "";
        at += name.size() + 4;
        return head.substr(at, head.find("\r\n", at) - at);
    }

    // Takes a frame or a request. Returns false if there is no whole one.
    bool take(Connection &c)
    {
        std::string &in = c.input;
        if (in.size() >= 4 && in[0] == '$') {
            size_t end = 4 + ((size_t)(uint8_t)in[2] << 8 | (uint8_t)in[3]);
            if (in.size() < end)
                return false;
            in.erase(0, end);
            frames++;
            return true;
        }
        size_t end = in.find("\r\n\r\n");
        if (in.empty() || in[0] == '$' || end == std::string::npos)
            return false;
        std::string head = in.substr(0, end + 2);
        std::string length = header(head, "Content-Length");
        end += 4 + (length.empty() ? 0 : std::stoul(length));
        if (in.size() < end)
            return false;
        in.erase(0, end);
        std::string method = head.substr(0, head.find(' '));
        methods.push_back(method);
        if (method == closes_at) {
            uv_close(reinterpret_cast<uv_handle_t *>(&c.tcp), nullptr);
            return false;
        }
        std::string out = "RTSP/1.0 " + std::string(method == refused ? "403 No" : "200 OK") +
                          "\r\nCSeq: " + header(head, "CSeq") + "\r\nSession: 7\r\n";
        if (method == "SETUP")
            out += "Transport: " + header(head, "Transport") + "\r\n";
        out += "\r\n";
        uv_buf_t buffer = uv_buf_init(out.data(), (unsigned)out.size());
        CHECK(uv_try_write(reinterpret_cast<uv_stream_t *>(&c.tcp), &buffer, 1) == (int)out.size());
        return true;
    }
};

struct World {
    uv_loop_t loop;
    stream pushed{};
    catalog *book = nullptr;
    std::unique_ptr<Server> server;
    push *p = nullptr;
    bool left = false;

    World()
    {
        synthetic goddard;
        REQUIRE(uv_loop_init(&loop) == 0);
        synthetic_goddard(&goddard);
        stream_init(&pushed, synthetic_media_new(&goddard), nullptr);
        REQUIRE(stream_start(&pushed, &loop) == 0);
        book = catalog_new_one("/live", &pushed);
        server = std::make_unique<Server>(&loop);
    }

    ~World()
    {
        push_free(p, clock_now());
        server->close();
        book->ops->free(book);
        stream_destroy(&pushed);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }

    World(const World &) = delete;
    World &operator=(const World &) = delete;

    void start()
    {
        push_config config = {};
        const char *why;
        std::string url = "rtsp://127.0.0.1:" + std::to_string(server->port) + "/live";
        config.loop = &loop;
        config.stream = &pushed;
        config.agent = "weir-send";
        config.level = 6;
        REQUIRE(url_parse(url.c_str(), &config.url, &why) == 0);
        REQUIRE(transport_list_split("minbuf", &config.transports) == 0);
        p = push_new(&config, clock_now());
        REQUIRE(p);
    }

    // Runs the loop until then, for a minute at most.
    void until(const std::function<bool()> &done)
    {
        const usec_t deadline = clock_now() + 600 * USEC_PER_SEC;
        while (!done() && clock_now() < deadline)
            uv_run(&loop, UV_RUN_ONCE);
        REQUIRE(done());
    }
};

} // namespace

TEST_CASE("push: a stream is announced, recorded and left")
{
    World w;
    w.start();
    w.until([&] { return w.server->frames > 20; });
    CHECK(w.server->methods.at(0) == "OPTIONS");
    CHECK(w.server->methods.at(1) == "ANNOUNCE");
    CHECK(w.server->methods.at(2) == "SETUP");
    CHECK(w.server->methods.at(3) == "RECORD");
    CHECK(w.pushed.sink_count == 1); // one more viewer
    push_leave(
        w.p, [](void *ctx) { static_cast<World *>(ctx)->left = true; }, &w, clock_now());
    CHECK_FALSE(w.left);
    CHECK(w.pushed.sink_count == 0);
    w.until([&] { return w.left; });
    CHECK(w.server->methods.back() == "TEARDOWN");
}

TEST_CASE("push: a connection that is lost is followed by another")
{
    World w;
    w.server->closes_at = "RECORD";
    w.start();
    w.until([&] { return w.server->count("RECORD") == 1; });
    w.server->closes_at = "";
    w.until([&] { return w.server->frames > 0; });
    CHECK(w.server->connections.size() == 2);
}

TEST_CASE("push: what the server refuses for good is not tried again")
{
    World w;
    w.server->refused = "ANNOUNCE";
    w.start();
    // The push has ended when nothing of it is left in the loop but the listener and the reader.
    w.until([&] { return w.server->count("ANNOUNCE") == 1; });
    w.until([&] {
        return !uv_is_readable(
                   reinterpret_cast<uv_stream_t *>(&w.server->connections.at(0)->tcp)) ||
               !uv_is_active(reinterpret_cast<uv_handle_t *>(&w.server->connections.at(0)->tcp));
    });
    push_leave(
        w.p, [](void *ctx) { static_cast<World *>(ctx)->left = true; }, &w, clock_now());
    w.until([&] { return w.left; });
    CHECK(w.server->connections.size() == 1);
    CHECK(w.pushed.sink_count == 0);
}
