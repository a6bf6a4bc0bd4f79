// SPDX-License-Identifier: GPL-2.0-or-later
// Seats in flows whose origin refuses the connection. tests/e2e/test_share.py has the others.
#include "proxy/feed/shared_upstream.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include "common/net/clock.h"
#include "proxy/feed/shared_stream.h"
#include "tests/support/two_sizes.hpp"

namespace
{
// Returns a port of 127.0.0.1 on which nobody listens while `fd` is open.
int closed_port(int *fd)
{
    sockaddr_in at{};
    socklen_t len = sizeof(at);
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *fd = socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(*fd >= 0);
    REQUIRE(bind(*fd, reinterpret_cast<sockaddr *>(&at), sizeof(at)) == 0);
    REQUIRE(getsockname(*fd, reinterpret_cast<sockaddr *>(&at), &len) == 0);
    return ntohs(at.sin_port);
}

struct viewer {
    flow_seat seat{};
    int refused = 0, status = 0;
};

flow_seat_ops seat_ops()
{
    flow_seat_ops ops{};
    ops.on_refused = [](flow_seat *s, const media_refusal *why, usec_t) {
        auto *v = static_cast<viewer *>(s->ctx);
        v->refused++;
        v->status = why->status;
        CHECK(s->u == nullptr);
    };
    return ops;
}
} // namespace

TEST_CASE("shared_upstream: all viewers of a flow learn that the origin refused; no seat is kept")
{
    int fd;
    int port = closed_port(&fd);
    uv_loop_t loop;
    uv_loop_init(&loop);
    auto rules = std::make_unique<origin_rules>();
    auto choices = std::make_unique<relay_choices>();
    auto sdp_ = std::make_unique<struct sdp>();
    auto at = std::make_unique<struct url>();
    const char *wrong;
    REQUIRE(url_parse(("rtsp://127.0.0.1:" + std::to_string(port) + "/live").c_str(), at.get(),
                      &wrong) == 0);
    stream_media media{};
    media.ladder = sdp_->ladder = two_sizes();
    media.duration = sdp_->duration = -1;
    choices->rules = rules.get();
    bool stale = false;
    relay_origin origin{};
    origin.loop = &loop;
    origin.media = &media;
    origin.choices = choices.get();
    origin.url = at.get();
    origin.sdp = sdp_.get();
    origin.via = "RTSP/1.0 me";
    origin.stale = &stale;
    shared_stream *s = shared_stream_new(&origin);
    REQUIRE(s);
    const flow_seat_ops ops = seat_ops();
    viewer viewers[3];
    shared_upstream *low = shared_stream_flow(s, 0), *high = shared_stream_flow(s, 1);
    CHECK_FALSE(shared_stream_is_open(s));
    for (viewer &v : viewers) {
        v.seat.ops = &ops;
        v.seat.ctx = &v;
        v.seat.demand.latency_ms = 1000;
    }
    REQUIRE(shared_upstream_join(high, &viewers[0].seat, clock_now()) == 0);
    REQUIRE(shared_upstream_join(high, &viewers[1].seat, clock_now()) == 0);
    REQUIRE(shared_upstream_join(low, &viewers[2].seat, clock_now()) == 0);
    CHECK(shared_upstream_seats(high) == 2);
    CHECK(shared_stream_is_open(s));
    CHECK_FALSE(shared_upstream_plays(high));
    shared_upstream_leave(&viewers[2].seat, clock_now());
    shared_upstream_leave(&viewers[2].seat, clock_now()); // it is in none
    CHECK(shared_upstream_seats(low) == 0);
    CHECK(shared_upstream_is_open(low)); // for the next viewer
    while (shared_upstream_is_open(high))
        uv_run(&loop, UV_RUN_ONCE);
    CHECK(viewers[0].refused == 1);
    CHECK(viewers[1].refused == 1);
    CHECK(viewers[1].status == 502);
    CHECK(viewers[2].refused == 0);
    CHECK(shared_upstream_seats(high) == 0);
    CHECK(stale);
    shared_stream_free(s);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&loop) == 0);
    close(fd);
}
