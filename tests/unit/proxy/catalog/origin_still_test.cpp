// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/catalog/origin_still.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <netinet/in.h>
#include <string>
#include <vector>

#include "common/base/err.h"

namespace
{

struct taker : picture_taker {
    int calls = 0, err = 0;
    std::string jpeg;
    usec_t age = -1;

    taker() : picture_taker{}
    {
        on_picture = [](picture_taker *t, const taken_picture *p, usec_t) {
            auto *self = static_cast<taker *>(t);
            self->calls++;
            self->err = p->err;
            self->age = p->age;
            if (p->jpeg)
                self->jpeg.assign(reinterpret_cast<const char *>(p->jpeg), p->bytes);
        };
    }
};

// An origin that gives one answer to all requests, if it has one.
struct origin {
    uv_loop_t loop;
    uv_tcp_t listener;
    std::vector<std::unique_ptr<uv_tcp_t>> connections;
    std::string answer, requests;
    std::unique_ptr<origin_rules> rules = std::make_unique<origin_rules>();
    transport_list transports = {};
    origin_stills *stills;
    url at = {};

    origin()
    {
        sockaddr_in address;
        int len = sizeof(address);
        REQUIRE(uv_loop_init(&loop) == 0);
        uv_tcp_init(&loop, &listener);
        listener.data = this;
        uv_ip4_addr("127.0.0.1", 0, &address);
        uv_tcp_bind(&listener, reinterpret_cast<sockaddr *>(&address), 0);
        REQUIRE(uv_listen(reinterpret_cast<uv_stream_t *>(&listener), 16, on_connection) == 0);
        uv_tcp_getsockname(&listener, reinterpret_cast<sockaddr *>(&address), &len);
        std::string text =
            "rtsp://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/film.mkv?small";
        const char *reason;
        REQUIRE(url_parse(text.c_str(), &at, &reason) == 0);
        transports.count = 1;
        strcpy(transports.names[0], "minbuf");
        stills = origin_stills_new(&loop, rules.get(), &transports);
        REQUIRE(stills);
    }
    ~origin()
    {
        origin_stills_free(stills);
        uv_close(reinterpret_cast<uv_handle_t *>(&listener), nullptr);
        for (auto &c : connections)
            if (!uv_is_closing(reinterpret_cast<uv_handle_t *>(c.get())))
                uv_close(reinterpret_cast<uv_handle_t *>(c.get()), nullptr);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    static void on_connection(uv_stream_t *listener, int)
    {
        auto *self = static_cast<origin *>(listener->data);
        self->connections.push_back(std::make_unique<uv_tcp_t>());
        auto *c = self->connections.back().get();
        uv_tcp_init(&self->loop, c);
        c->data = self;
        auto *stream = reinterpret_cast<uv_stream_t *>(c);
        uv_accept(listener, stream);
        uv_read_start(
            stream,
            [](uv_handle_t *, size_t, uv_buf_t *buf) {
                static char room[4096];
                *buf = uv_buf_init(room, sizeof(room));
            },
            [](uv_stream_t *s, ssize_t n, const uv_buf_t *buf) {
                auto *o = static_cast<origin *>(s->data);
                if (n < 0) {
                    uv_close(reinterpret_cast<uv_handle_t *>(s), nullptr);
                    return;
                }
                o->requests.append(buf->base, static_cast<size_t>(n));
                uv_buf_t out =
                    uv_buf_init(o->answer.data(), static_cast<unsigned>(o->answer.size()));
                uv_try_write(s, &out, 1);
            });
    }
    stream_media *still()
    {
        stream_media *m = origin_still_new(stills, &at, "RTSP/1.0 me");
        REQUIRE(m);
        return m;
    }
};

std::string reply(const std::string &status, const std::string &type = "",
                  const std::string &body = "")
{
    std::string out = "RTSP/1.0 " + status + "\r\nCSeq: 1\r\nCache-Control: max-age=60\r\n";
    if (!type.empty())
        out +=
            "Content-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
    return out + "\r\n" + body;
}

const std::string JPEG("\xff\xd8\xff\0x", 5);

} // namespace

TEST_CASE("origin_still: what an origin answers")
{
    struct {
        std::string answer;
        int err;
    } const table[] = {
        {reply("200 OK", "image/jpeg", JPEG), 0},
        {reply("200 OK", "image/jpeg", "GIF89a"), ERR_UNSUPPORTED},
        {reply("200 OK", "application/sdp", "v=0\r\n"), ERR_UNSUPPORTED}, // does not know the type
        {reply("300 Multiple Choices", "text/plain", "/a\t1\t\r\n"), ERR_UNSUPPORTED},
        {reply("404 Not Found"), ERR_NOT_FOUND},
        {reply("406 Not Acceptable"), ERR_UNSUPPORTED},
        {reply("401 Unauthorized"), ERR_END},
        {reply("503 Service Unavailable"), ERR_END},
        {"nonsense\r\n\r\n", ERR_END},
    };
    for (const auto &row : table) {
        INFO(row.answer);
        origin o;
        taker t;
        o.answer = row.answer;
        stream_media *m = o.still();
        m->ops->take(m, &t);
        while (!t.calls)
            uv_run(&o.loop, UV_RUN_ONCE);
        CHECK(t.err == row.err);
        CHECK(t.jpeg == (row.err ? "" : JPEG));
        CHECK(t.age == (row.err ? 0 : 60 * USEC_PER_SEC));
        CHECK(o.requests.find("DESCRIBE rtsp://127.0.0.1:") == 0);
        CHECK(o.requests.find("/film.mkv?small RTSP/1.0\r\n") != std::string::npos);
        CHECK(o.requests.find("Accept: image/jpeg\r\n") != std::string::npos);
        CHECK(o.requests.find("Via: RTSP/1.0 me\r\n") != std::string::npos);
        m->ops->free(m);
    }
}

TEST_CASE("origin_still: so many requests at a time, and those that leave make room")
{
    origin o; // without an answer
    std::vector<stream_media *> media;
    std::vector<std::unique_ptr<taker>> takers;
    for (int i = 0; i < ORIGIN_STILLS + 3; i++) {
        media.push_back(o.still());
        takers.push_back(std::make_unique<taker>());
        media.back()->ops->take(media.back(), takers.back().get());
    }
    while (o.connections.size() < ORIGIN_STILLS)
        uv_run(&o.loop, UV_RUN_ONCE);
    uv_run(&o.loop, UV_RUN_NOWAIT);
    CHECK(o.connections.size() == ORIGIN_STILLS);
    media[0]->ops->leave(media[0], takers[0].get());
    media[ORIGIN_STILLS]->ops->leave(media[ORIGIN_STILLS], takers[ORIGIN_STILLS].get());
    while (o.connections.size() < ORIGIN_STILLS + 1)
        uv_run(&o.loop, UV_RUN_ONCE);
    for (auto *m : media)
        m->ops->free(m);
    for (auto &t : takers)
        CHECK(t->calls == 0);
}
