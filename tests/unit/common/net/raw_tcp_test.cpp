// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "common/net/raw_tcp.h"
#include "common/net/udp_socket.h"

namespace
{

struct end {
    raw_tcp *raw = nullptr;
    std::vector<std::string> received;
    tcp_segment last = {};
    int idles = 0;
    bool answers = false;
};

void on_segment(void *ctx, const tcp_segment *s, usec_t)
{
    end *e = (end *)ctx;
    e->received.emplace_back((const char *)s->data, s->len);
    e->last = *s;
    if (!e->answers)
        return;
    tcp_segment back = *s;
    back.path = tcp_path_reversed(&s->path);
    raw_tcp_send(e->raw, &back);
    raw_tcp_flush(e->raw);
}

void on_idle(void *ctx, usec_t)
{
    ((end *)ctx)->idles++;
}

sockaddr_storage address(const char *text)
{
    sockaddr_storage a;
    REQUIRE(sockaddr_parse(text, &a) == 0);
    return a;
}

void send_numbered(raw_tcp *r, tcp_segment s, int count)
{
    for (int i = 0; i < count; i++) {
        s.seq = (uint32_t)i;
        s.data = (const uint8_t *)"0123456789" + i % 10;
        s.len = 1;
        raw_tcp_send(r, &s);
    }
    raw_tcp_flush(r);
}

} // namespace

TEST_CASE("raw_tcp: paths")
{
    sockaddr_storage a = address("10.1.2.3:4"), b = address("10.5.6.7:8");
    tcp_path p = raw_tcp_path((sockaddr *)&a, (sockaddr *)&b);
    CHECK_FALSE(p.v6);
    CHECK(p.source.address[3] == 3);
    CHECK(p.source.port == 4);
    CHECK(p.destination.address[1] == 5);
    CHECK(p.destination.port == 8);
    a = b = address("[fd00::1:2]:443");
    p = raw_tcp_path((sockaddr *)&a, (sockaddr *)&b);
    CHECK(p.v6);
    CHECK(p.source.address[15] == 2);
}

TEST_CASE("raw_tcp: segments over the loopback, if permitted")
{
    for (const char *text : {"127.0.0.1:0", "[::1]:0"}) {
        INFO(text);
        uv_loop_t loop;
        uv_loop_init(&loop);
        sockaddr_storage at = address(text);
        end ends[2];
        int result =
            raw_tcp_open(&loop, (sockaddr *)&at, on_segment, on_idle, &ends[0], &ends[0].raw);
        if (result == 0) {
            REQUIRE(raw_tcp_open(&loop, (sockaddr *)&at, on_segment, on_idle, &ends[1],
                                 &ends[1].raw) == 0);
            sockaddr_storage from = at, to = at;
            sockaddr_set_port((sockaddr *)&from, raw_tcp_port(ends[0].raw));
            sockaddr_set_port((sockaddr *)&to, raw_tcp_port(ends[1].raw));
            tcp_segment s = {};
            s.path = raw_tcp_path((sockaddr *)&from, (sockaddr *)&to);
            s.flags = TCP_SEGMENT_ACK;
            s.scale = TCP_SEGMENT_NO_SCALE;
            const int count = RAW_TCP_BATCH + 6; // more than one batch
            send_numbered(ends[0].raw, s, count);
            while ((int)ends[1].received.size() < count)
                uv_run(&loop, UV_RUN_ONCE);
            CHECK(ends[1].received[count - 1] == "9");
            CHECK(ends[1].last.seq == (uint32_t)count - 1);
            CHECK(ends[1].last.sum == TCP_SUM_GOOD);
            CHECK(tcp_path_same(&ends[1].last.path, &s.path));
            CHECK(ends[1].idles > 0);
            CHECK(ends[0].received.empty()); // and no reset came: the shield holds
            CHECK(raw_tcp_counts_of(ends[0].raw).unsent == 0);
            CHECK(raw_tcp_counts_of(ends[0].raw).calls == 2);
            ends[1].answers = true; // each is flushed, and yet they leave together
            send_numbered(ends[0].raw, s, count);
            while ((int)ends[0].received.size() < count)
                uv_run(&loop, UV_RUN_ONCE);
            CHECK(ends[0].last.seq == (uint32_t)count - 1);
            CHECK(raw_tcp_counts_of(ends[1].raw).calls == 2);
            raw_tcp_free(ends[0].raw);
            raw_tcp_free(ends[1].raw);
        } else {
            CHECK((result == ERR_UNSUPPORTED || result == ERR_IO)); // no capability, no IPv6
        }
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    raw_tcp_free(nullptr);
}
