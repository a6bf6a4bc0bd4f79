// SPDX-License-Identifier: GPL-2.0-or-later
// A connection that stands by, over the loopback: when it is tended is an argument.
#include "client/rtsp/rtsp_standby.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <netinet/in.h>
#include <string>
#include <unistd.h>

#include "common/net/clock.h"
#include "common/net/tcp_conn.h"
#include "common/wire/url.h"

namespace
{

const usec_t T0 = 1000 * USEC_PER_SEC;

struct World {
    uv_loop_t loop;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int peer = -1;
    sockaddr_storage at = {};
    link_tls tls = {};
    rtsp_standby *s = nullptr;

    World()
    {
        REQUIRE(uv_loop_init(&loop) == 0);
        REQUIRE(uv_ip4_addr("127.0.0.1", 0, reinterpret_cast<sockaddr_in *>(&at)) == 0);
        REQUIRE(bind(listener, reinterpret_cast<sockaddr *>(&at), sizeof(sockaddr_in)) == 0);
        socklen_t len = sizeof(at);
        REQUIRE(getsockname(listener, reinterpret_cast<sockaddr *>(&at), &len) == 0);
        REQUIRE(listen(listener, 8) == 0);
    }
    ~World()
    {
        rtsp_standby_free(s);
        close(listener);
        hang_up();
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    World(const World &) = delete;
    World &operator=(const World &) = delete;

    void begin()
    {
        s = rtsp_standby_new(&loop, &at, "h", 554, &tls, T0);
        REQUIRE(s);
    }
    // The next connection arrives, and the standby learns that it is open.
    void open()
    {
        hang_up();
        peer = accept(listener, nullptr, nullptr);
        REQUIRE(peer >= 0);
        uv_run(&loop, UV_RUN_ONCE);
    }
    void hang_up()
    {
        if (peer >= 0)
            close(peer);
        peer = -1;
    }
    std::string received()
    {
        char text[1024];
        ssize_t n = read(peer, text, sizeof(text));
        return std::string(text, n > 0 ? (size_t)n : 0);
    }
    // Returns false if the standby has closed the connection.
    bool is_connected()
    {
        char text[1024];
        uv_run(&loop, UV_RUN_NOWAIT);
        ssize_t n;
        while ((n = recv(peer, text, sizeof(text), MSG_DONTWAIT)) > 0)
            ;
        return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    }
    tcp_conn *take(int *cseq)
    {
        link_tls out;
        return rtsp_standby_take(s, &out, cseq, T0);
    }
};

} // namespace

TEST_CASE("standby: is taken when it is open, and another follows")
{
    World w;
    int cseq = -1;
    w.begin();
    CHECK(w.take(&cseq) == nullptr); // not open yet
    w.open();
    tcp_conn *conn = w.take(&cseq);
    REQUIRE(conn);
    CHECK(cseq == 0);
    CHECK(w.take(&cseq) == nullptr);
    REQUIRE(tcp_conn_send(conn, "hello", 5) == 0);
    CHECK(w.received() == "hello");
    tcp_conn_abort(conn);
    char end;
    uv_run(&w.loop, UV_RUN_NOWAIT);
    CHECK(read(w.peer, &end, 1) == -1); // a reset, no end
    CHECK(errno == ECONNRESET);
    CHECK(rtsp_standby_tend(w.s, T0) == 0);
    w.open();
    conn = w.take(&cseq);
    REQUIRE(conn);
    tcp_conn_free(conn);
}

TEST_CASE("standby: requests keep it")
{
    World w;
    w.begin();
    w.open();
    usec_t now = T0 + 5 * USEC_PER_SEC; // at least: it is open since a moment of the loop's clock
    while (rtsp_standby_tend(w.s, now) == 0)
        now += USEC_PER_SEC;
    rtsp_standby_send(w.s, "OPTIONS", 7);
    CHECK(w.received() == "OPTIONS");
    CHECK(rtsp_standby_tend(w.s, now + 19 * USEC_PER_SEC) == 0);
    // A response and a half: what takes the connection finds the beginning of the second.
    const std::string response = "RTSP/1.0 200 OK\r\nCSeq: 1\r\n\r\n";
    const std::string both = response + response.substr(0, 10);
    REQUIRE(write(w.peer, both.data(), both.size()) == (ssize_t)both.size());
    uv_run(&w.loop, UV_RUN_ONCE);
    CHECK(rtsp_standby_tend(w.s, now + 20 * USEC_PER_SEC) == 2);
    int cseq;
    tcp_conn *conn = w.take(&cseq);
    REQUIRE(conn);
    CHECK(cseq == 2);
    static std::string rest;
    static const tcp_conn_ops ops = {nullptr,
                                     [](void *, const uint8_t *data, size_t len, usec_t) {
                                         rest.assign(reinterpret_cast<const char *>(data), len);
                                         return (int)len;
                                     },
                                     nullptr, [](void *, int, usec_t) {}};
    tcp_conn_set_owner(conn, &ops, nullptr);
    const std::string later = response.substr(10);
    REQUIRE(write(w.peer, later.data(), later.size()) == (ssize_t)later.size());
    uv_run(&w.loop, UV_RUN_ONCE);
    CHECK(rest == response);
    tcp_conn_free(conn);
}

TEST_CASE("standby: one that ends is made again after a while, then later")
{
    World w;
    int cseq;
    usec_t now = T0;
    w.begin();
    for (int wait : {10, 20, 40, 80, 160, 300, 300}) {
        INFO("after " << wait << " s");
        w.open();
        w.hang_up();
        uv_run(&w.loop, UV_RUN_ONCE);
        CHECK(w.take(&cseq) == nullptr);
        CHECK(rtsp_standby_tend(w.s, now) == 0);
        CHECK(rtsp_standby_tend(w.s, now + (wait - 1) * USEC_PER_SEC) == 0);
        uv_run(&w.loop, UV_RUN_NOWAIT);
        CHECK(w.take(&cseq) == nullptr);
        now += wait * USEC_PER_SEC;
        CHECK(rtsp_standby_tend(w.s, now) == 0);
    }
    w.open();
    tcp_conn *conn = w.take(&cseq);
    CHECK(conn);
    tcp_conn_free(conn);
}

TEST_CASE("standby: a server that does not answer TLS's handshake is given up")
{
    World w;
    int cseq;
    w.tls.wanted = true;
    w.begin();
    w.open();                          // and says nothing
    CHECK_FALSE(w.received().empty()); // the client's hello
    usec_t now = clock_now();
    (void)rtsp_standby_tend(w.s, now + 4 * USEC_PER_SEC);
    CHECK(w.is_connected());
    (void)rtsp_standby_tend(w.s, now + 6 * USEC_PER_SEC);
    CHECK_FALSE(w.is_connected());
    CHECK(w.take(&cseq) == nullptr);
    CHECK(rtsp_standby_tend(w.s, now + 17 * USEC_PER_SEC) == 0); // the next attempt
    w.open();
    CHECK_FALSE(w.received().empty());
}

TEST_CASE("standby: leads to a server")
{
    World w;
    w.begin();
    link_tls secure = {};
    secure.wanted = true;
    CHECK(rtsp_standby_leads_to(w.s, "H", 554, &w.tls));
    CHECK_FALSE(rtsp_standby_leads_to(w.s, "g", 554, &w.tls));
    CHECK_FALSE(rtsp_standby_leads_to(w.s, "h", 555, &w.tls));
    CHECK_FALSE(rtsp_standby_leads_to(w.s, "h", 554, &secure));
}
