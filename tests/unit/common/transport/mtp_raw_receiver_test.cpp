// SPDX-License-Identifier: GPL-2.0-or-later
// Both ends of MTP in TCP segments on one loop: the server's links and the viewer's connection.
#include <catch2/catch.hpp>

#include <functional>
#include <string>
#include <vector>

#include "common/net/clock.h"
#include "common/net/raw_tcp.h"
#include "common/net/udp_socket.h"
#include "common/transport/mtp_raw.h"
#include "common/transport/mtp_raw_receiver.h"

namespace
{

const uint64_t TOKEN = 0x0123456789abcdef;

struct server {
    mtp_raw *raw = nullptr;
    mtp_raw_link *link = nullptr;
    int opened = 0, ended = 0;
    int64_t window = 0, cum = 0;
};

void on_open(void *ctx, int64_t window, usec_t)
{
    static_cast<server *>(ctx)->opened++;
    static_cast<server *>(ctx)->window = window;
}

void on_ack(void *ctx, const mtp_ack *ack, usec_t)
{
    static_cast<server *>(ctx)->cum = ack->cum;
}

void on_link_end(void *ctx, usec_t)
{
    static_cast<server *>(ctx)->ended++;
}

const mtp_raw_link_ops ops = {on_open, on_ack, on_link_end};

struct viewer {
    mtp_raw_receiver *raw = nullptr;
    std::vector<std::string> came;
    int opened = 0, ended = 0;
    std::string error;
};

void on_rtp(void *ctx, const uint8_t *data, size_t len, usec_t, usec_t)
{
    static_cast<viewer *>(ctx)->came.emplace_back(reinterpret_cast<const char *>(data), len);
}

void on_viewer_open(void *ctx, usec_t)
{
    static_cast<viewer *>(ctx)->opened++;
}

void on_viewer_end(void *ctx, const char *error, usec_t)
{
    static_cast<viewer *>(ctx)->ended++;
    static_cast<viewer *>(ctx)->error = error ? error : "";
}

struct world {
    uv_loop_t loop;
    server s;
    viewer v;

    world()
    {
        uv_loop_init(&loop);
        sockaddr_storage at = address(0);
        s.raw = mtp_raw_new(&loop, reinterpret_cast<sockaddr *>(&at));
        v.raw = mtp_raw_receiver_new(&loop);
        REQUIRE(s.raw);
        REQUIRE(v.raw);
        s.link = mtp_raw_link_new(s.raw, TOKEN, &ops, &s);
        REQUIRE(s.link);
    }
    ~world()
    {
        if (s.link)
            mtp_raw_link_close(s.link, clock_now());
        mtp_raw_free(s.raw);
        mtp_raw_receiver_free(v.raw);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }

    static sockaddr_storage address(int port)
    {
        sockaddr_storage a;
        sockaddr_parse("127.0.0.1:0", &a);
        sockaddr_set_port(reinterpret_cast<sockaddr *>(&a), port);
        return a;
    }
    void connect(viewer &who, uint64_t token)
    {
        sockaddr_storage local = address(0);
        sockaddr_storage to = address(mtp_raw_port(s.raw, reinterpret_cast<sockaddr *>(&local)));
        transport_receiver_path path = {};
        path.local = reinterpret_cast<sockaddr *>(&local);
        path.server = reinterpret_cast<sockaddr *>(&to);
        path.token = token;
        path.on_rtp = on_rtp;
        path.on_open = on_viewer_open;
        path.on_end = on_viewer_end;
        path.ctx = &who;
        REQUIRE(mtp_raw_receiver_connect(who.raw, &path, clock_now()) == 0);
    }
    void until(const std::function<bool()> &done)
    {
        while (!done())
            uv_run(&loop, UV_RUN_ONCE);
    }
    void send(int64_t slot, const std::string &text)
    {
        uint8_t record[MTP_RAW_RECORD];
        mtp_header h = {};
        h.length = static_cast<uint16_t>(text.size());
        h.number = h.slot = static_cast<uint32_t>(slot);
        size_t len =
            mtp_record_encode(&h, TOKEN, reinterpret_cast<const uint8_t *>(text.data()), record);
        mtp_raw_link_send(s.link, slot, record, len, false, false, clock_now());
        mtp_raw_link_flush(s.link);
    }
};

bool lacks_capability()
{
    if (raw_tcp_has_capability())
        return false;
    WARN("CAP_NET_RAW is missing: not tested");
    return true;
}

} // namespace

TEST_CASE("mtp_raw_receiver: a hello, slots, acknowledgements, FINs both ways")
{
    if (lacks_capability())
        return;
    world w;
    CHECK_FALSE(mtp_raw_link_is_open(w.s.link));
    CHECK(mtp_raw_receiver_is_over(w.v.raw));
    w.connect(w.v, TOKEN);
    w.until([&] { return w.s.opened == 1; });
    CHECK(mtp_raw_link_is_open(w.s.link));
    CHECK_FALSE(mtp_raw_receiver_is_over(w.v.raw));
    CHECK(w.s.window >= 16383); // the scale rounds it down
    w.send(0, "zero");
    w.send(1, "one");
    w.until([&] { return w.s.cum == 2; });
    CHECK(w.v.came == std::vector<std::string>{"zero", "one"});
    CHECK(w.v.opened == 1);
    w.send(2, "two");
    w.until([&] { return w.s.cum == 3; }); // by the timer

    mtp_raw_link_close(w.s.link, clock_now());
    w.s.link = nullptr;
    w.until([&] { return w.v.ended > 0; });
    CHECK(w.v.ended == 1);
    CHECK(w.v.error.empty());
    CHECK(mtp_raw_receiver_is_over(w.v.raw));
    CHECK(w.s.ended == 0); // it was the owner's wish
}

TEST_CASE("mtp_raw_receiver: a viewer that takes another way ends its link and hears no more of it")
{
    if (lacks_capability())
        return;
    world w;
    mtp_raw_receiver_abort(w.v.raw); // nothing to end
    w.connect(w.v, TOKEN);
    w.until([&] { return w.s.opened == 1; });
    mtp_raw_receiver_abort(w.v.raw);
    CHECK(mtp_raw_receiver_is_over(w.v.raw));
    w.until([&] { return w.s.ended == 1; });
    CHECK(w.v.ended == 0);
}

TEST_CASE("mtp_raw_receiver: a viewer that goes away ends its link")
{
    if (lacks_capability())
        return;
    world w;
    w.connect(w.v, TOKEN);
    w.until([&] { return w.s.opened == 1; });
    w.send(0, "zero");
    w.until([&] { return w.s.cum == 1; });
    mtp_raw_receiver_free(w.v.raw);
    w.v.raw = nullptr;
    w.until([&] { return w.s.ended > 0; });
    CHECK(w.s.ended == 1);
    CHECK_FALSE(mtp_raw_link_is_open(w.s.link));
    w.send(1, "one"); // lost, without harm
}

TEST_CASE("mtp_raw_receiver: a link is its first viewer's, and nobody's without the token")
{
    if (lacks_capability())
        return;
    world w;
    viewer stranger, second;
    stranger.raw = mtp_raw_receiver_new(&w.loop);
    second.raw = mtp_raw_receiver_new(&w.loop);
    w.connect(stranger, TOKEN + 1);
    w.connect(w.v, TOKEN);
    w.until([&] { return w.s.opened == 1; });
    w.connect(second, TOKEN);
    for (int slot = 0; slot < 20; slot++) { // each a turn of the loop for the others, too
        w.send(slot, "media");
        w.until([&] { return w.s.cum == slot + 1; });
    }
    CHECK(w.s.opened == 1);
    CHECK(w.v.came.size() == 20);
    CHECK(stranger.came.empty());
    CHECK(second.came.empty());
    mtp_raw_receiver_free(stranger.raw);
    mtp_raw_receiver_free(second.raw);
}

TEST_CASE("mtp_raw: the port by the family of the viewer's connection")
{
    sockaddr_storage v4, v6, mapped;
    REQUIRE(sockaddr_parse("127.0.0.1:5", &v4) == 0);
    REQUIRE(sockaddr_parse("[::1]:5", &v6) == 0);
    REQUIRE(sockaddr_parse("[::ffff:127.0.0.1]:5", &mapped) == 0);
    CHECK(mtp_raw_port(nullptr, reinterpret_cast<sockaddr *>(&v4)) == 0);
    if (lacks_capability())
        return;
    world w;
    CHECK(mtp_raw_port(w.s.raw, reinterpret_cast<sockaddr *>(&v4)) > 0);
    CHECK(mtp_raw_port(w.s.raw, reinterpret_cast<sockaddr *>(&v6)) == 0);
    CHECK(mtp_raw_port(w.s.raw, reinterpret_cast<sockaddr *>(&mapped)) ==
          mtp_raw_port(w.s.raw, reinterpret_cast<sockaddr *>(&v4)));
}
