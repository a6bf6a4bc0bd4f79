// SPDX-License-Identifier: GPL-2.0-or-later
// What a connection owns and what it shares with the next one. Whole connections are tested end to
// end: tests/e2e/test_reconnect.py.
#include "player/session/connection.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <vector>

#include "common/net/clock.h"
#include "player/video/render_queue.h"

namespace
{

struct world {
    uv_loop_t loop;
    std::vector<int64_t> skipped;
    render_queue *show = render_queue_new(on_skipped, this);
    qoe *report = qoe_new("rtsp://h/", 0, 0);
    play_options options{};

    world()
    {
        const char *why;
        REQUIRE(uv_loop_init(&loop) == 0);
        REQUIRE(show);
        REQUIRE(url_parse("rtsp://127.0.0.1:1/live", &options.url, &why) == 0);
        REQUIRE(transport_list_split("tcp", &options.transports) == 0);
    }
    ~world()
    {
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
        render_queue_close(show);
        render_queue_free(show);
        qoe_free(report);
    }
    world(const world &) = delete;
    world &operator=(const world &) = delete;

    static void on_skipped(void *ctx, play_frame *f)
    {
        static_cast<world *>(ctx)->skipped.push_back(f->number);
        play_frame_free(f);
    }
    connection *attempt(unsigned number)
    {
        static const connection_ops ops{};
        connection_config config{};
        config.loop = &loop;
        config.options = &options;
        config.qoe = report;
        config.show = show;
        config.ops = &ops;
        config.number = number;
        config.again = number > 0;
        config.transport = "tcp";
        connection *c = connection_new(&config, clock_now());
        REQUIRE(c);
        return c;
    }
};

} // namespace

TEST_CASE("connection: an attempt that fails leaves the pictures of the lost connection queued")
{
    world w;
    auto *f = static_cast<play_frame *>(calloc(1, sizeof(play_frame)));
    f->number = 7;
    f->show_at = 100;
    REQUIRE(render_queue_push(w.show, f));
    connection_free(w.attempt(1)); // before its stream is described
    CHECK(w.skipped.empty());
    usec_t next;
    play_frame *due = render_queue_due(w.show, &next, 100);
    REQUIRE(due);
    CHECK(due->number == 7);
    play_frame_free(due);
}
