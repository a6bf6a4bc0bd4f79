// SPDX-License-Identifier: GPL-2.0-or-later
// An origin, a proxy's catalog and the viewers that it feeds, all on one loop, over the loopback.
// The origin is a real server of one stream, which can go away and return; a viewer is the sink
// that the proxy's sessions are.
#ifndef WEIR_TESTS_RELAY_HPP
#define WEIR_TESTS_RELAY_HPP

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" // functions named as their structs, which C allows
#include "proxy/catalog/origin_catalog.h"
#include "server/rtsp/server.h"
#pragma GCC diagnostic pop

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "common/net/clock.h"
#include "common/net/loop_end.h"
#include "common/net/udp_socket.h"
#include "common/transport/transport_list.h"
#include "server/session/session.h"

namespace relay
{

// Runs the loop until `done` holds. Only a hang reaches the limit.
template <class Done> void run(uv_loop_t *loop, Done done)
{
    const usec_t limit = clock_now() + 600 * USEC_PER_SEC;
    while (!done() && clock_now() < limit)
        uv_run(loop, UV_RUN_ONCE);
    REQUIRE(done());
}

// Runs the loop for a time, in which something must not happen.
inline void run_for(uv_loop_t *loop, usec_t time)
{
    const usec_t end = clock_now() + time;
    uv_timer_t wake;
    uv_timer_init(loop, &wake);
    uv_timer_start(
        &wake, [](uv_timer_t *) {}, 10, 10);
    while (clock_now() < end)
        uv_run(loop, UV_RUN_ONCE);
    bool closed = false;
    wake.data = &closed;
    uv_close(reinterpret_cast<uv_handle_t *>(&wake),
             [](uv_handle_t *h) { *static_cast<bool *>(h->data) = true; });
    while (!closed)
        uv_run(loop, UV_RUN_NOWAIT);
}

// A server of one stream at /live, on an address of this process alone.
class origin
{
  public:
    // Takes over `media`.
    origin(uv_loop_t *on, stream_media *media) : loop(on)
    {
        REQUIRE(media);
        stream_init(&offered, media, nullptr);
        REQUIRE(stream_start(&offered, loop) == 0);
        served = catalog_new_one("/live", &offered);
        REQUIRE(served);
        sockaddr_storage none{};
        none.ss_family = AF_UNSPEC;
        outputs = stats_outputs_new(nullptr, &none, nullptr, served, clock_now());
        REQUIRE(outputs);
        const int pid = getpid();
        at = "127." + std::to_string(1 + pid / 256 / 250 % 250) + "." +
             std::to_string(1 + pid / 250 % 250) + "." + std::to_string(1 + pid % 250) + ":0";
        come();
    }
    ~origin()
    {
        go();
        stats_outputs_free(outputs, clock_now());
        served->ops->free(served);
        stream_destroy(&offered);
    }
    origin(const origin &) = delete;
    origin &operator=(const origin &) = delete;

    // Listens, at the same port as before.
    void come()
    {
        server_config config{};
        REQUIRE(sockaddr_parse(at.c_str(), &config.listen) == 0);
        config.program = "weir-send";
        config.catalog = served;
        config.max_viewers = 16;
        config.telemetry = outputs;
        s = server_new(loop, &config);
        REQUIRE(s);
        char text[SOCKADDR_TEXT];
        server_address(s, text, sizeof(text));
        at = text;
    }
    // Closes its port and all connections.
    void go()
    {
        server_free(s);
        s = nullptr;
    }
    // The sessions that it has.
    int sessions() const
    {
        return offered.sink_count;
    }
    session_stats session(int i) const
    {
        session_stats out;
        (void)offered.sinks[i]->ops->stats(offered.sinks[i], &out, clock_now());
        return out;
    }
    std::string path() const
    {
        return "/" + at + "/live";
    }

    uv_loop_t *loop;
    std::string at; // ADDR:PORT
    stream offered;

  private:
    catalog *served = nullptr;
    stats_outputs *outputs = nullptr;
    server *s = nullptr;
};

// What a proxy offers of its origins.
class proxy
{
  public:
    explicit proxy(uv_loop_t *on, usec_t outage = 60 * USEC_PER_SEC, const char *transports = "tcp")
        : loop(on)
    {
        choices->rules = rules.get();
        choices->outage = outage;
        choices->reflect = REFLECT_LIMIT;
        choices->target = 250 * USEC_PER_MSEC;
        choices->blocking = .5;
        REQUIRE(transport_list_split(transports, &choices->backbone) == 0);
        choices->films = choices->backbone;
        config->loop = loop;
        config->rules = rules.get();
        config->choices = choices.get();
        config->viewer_timeout = 20 * USEC_PER_SEC;
        config->max_viewers = 16;
        config->transports = &choices->backbone;
        snprintf(config->name, sizeof(config->name), "me");
        c = origin_catalog_new(config.get());
        REQUIRE(c);
    }
    ~proxy()
    {
        leave();
        c->ops->free(c);
    }
    proxy(const proxy &) = delete;
    proxy &operator=(const proxy &) = delete;

    // Requests the stream at `path`, which is held until `leave`. Returns what the catalog answers;
    // the refusal is in `hold`.
    int take(const std::string &path)
    {
        bool ready = false;
        hold = std::make_unique<catalog_hold>();
        hold->on_ready = [](void *ctx, usec_t) { *static_cast<bool *>(ctx) = true; };
        hold->ctx = &ready;
        int got = c->ops->take(c, path.c_str(), hold.get(), false, &offered);
        if (got == CATALOG_WAITS) {
            run(loop, [&ready] { return ready; });
            got = c->ops->take(c, path.c_str(), hold.get(), false, &offered);
        }
        hold->on_ready = nullptr;
        return got;
    }
    // The same of an origin's stream, which there is.
    void take(const origin &of)
    {
        REQUIRE(origin_url_allow(rules.get(), of.at.substr(0, of.at.find(':')).c_str()) == nullptr);
        REQUIRE(take(of.path()) == 0);
    }
    void leave()
    {
        if (hold)
            c->ops->leave(c, hold.get());
        hold.reset();
    }

    uv_loop_t *loop;
    std::unique_ptr<origin_rules> rules = std::make_unique<origin_rules>();
    std::unique_ptr<relay_choices> choices = std::make_unique<relay_choices>();
    std::unique_ptr<origin_catalog_config> config = std::make_unique<origin_catalog_config>();
    std::unique_ptr<catalog_hold> hold;
    stream *offered = nullptr;
    catalog *c = nullptr;
};

// A viewer of the proxy: what its session would get, and what that says of the access.
class viewer : public frame_sink
{
  public:
    struct frame {
        int64_t number;
        int size_id, level;
        bool starts;
        bool tells_capture;
    };
    explicit viewer(proxy &p) : frame_sink{}, loop(p.loop)
    {
        static const frame_sink_ops sink_ops = {on_frame,  on_frame, on_audio, on_end, stats,
                                                on_placed, on_lost,  nullptr,  nullptr};
        ops = &sink_ops;
        transport_info_clear(&access.info);
        access.adaptation.level = -1;
        access.adaptation.carried_bps = NAN;
        access.number = 1;
        media_feed_config config = {loop, this, true};
        feed = p.offered->media->ops->feed_new(p.offered->media, &config);
        REQUIRE(feed);
    }
    ~viewer()
    {
        feed->ops->free(feed);
    }
    viewer(const viewer &) = delete;
    viewer &operator=(const viewer &) = delete;

    // PLAY, from `seconds`, at `scale`; NaN: from where it is. Plays, unless it is refused.
    media_placed play(double seconds = NAN, double scale = 1)
    {
        media_seek to{};
        to.seconds = seconds;
        to.scale = scale;
        to.ahead = true;
        const media_seek *seek = std::isnan(seconds) && scale == 1 ? nullptr : &to;
        placed = 0;
        place = {};
        ended = breaks_off = false;
        media_placed got = feed->ops->place(feed, seek, &place, clock_now());
        if (got == MEDIA_WAITS) {
            run(loop, [this] { return placed > 0; });
            got = feed->ops->place(feed, seek, &place, clock_now());
            REQUIRE(got != MEDIA_WAITS);
        }
        if (got != MEDIA_REFUSED)
            feed->ops->play(feed, true);
        return got;
    }
    void pause()
    {
        feed->ops->play(feed, false);
    }
    // Runs until `count` frames more have come.
    void run_frames(size_t count)
    {
        const size_t want = frames.size() + count;
        run(loop, [this, want] { return frames.size() >= want || ended; });
        REQUIRE(frames.size() >= want);
    }
    relay_info info() const
    {
        relay_info out;
        feed->ops->relay_info(feed, &out, clock_now());
        return out;
    }
    // The numbers of its frames ascend, of those of one size after the other: each session has
    // synthetic media of its own, so those of two sizes do not match.
    bool ascends() const
    {
        for (size_t i = 1; i < frames.size(); i++)
            if (frames[i].size_id == frames[i - 1].size_id &&
                frames[i].number <= frames[i - 1].number)
                return false;
        return true;
    }

    uv_loop_t *loop;
    media_feed *feed = nullptr;
    session_stats access{};
    media_place place{};
    std::vector<frame> frames;
    int placed = 0;
    int64_t lost = 0;
    bool ended = false, breaks_off = false;
    std::string why; // it broke off

  private:
    static viewer *of(frame_sink *s)
    {
        return static_cast<viewer *>(s);
    }
    static void on_frame(frame_sink *s, coded_frame *f, usec_t)
    {
        of(s)->frames.push_back(
            {f->number, f->size_id, f->level, coded_frame_starts(f), !f->hides_capture});
    }
    static void on_audio(frame_sink *, coded_audio *, usec_t) {}
    static void on_end(frame_sink *s, const char *text, usec_t)
    {
        of(s)->ended = true;
        of(s)->breaks_off = text != nullptr;
        of(s)->why = text ? text : "";
    }
    static int stats(frame_sink *s, session_stats *out, usec_t)
    {
        *out = of(s)->access;
        return 0;
    }
    static void on_placed(frame_sink *s, usec_t)
    {
        of(s)->placed++;
    }
    static void on_lost(frame_sink *s, int packets, usec_t)
    {
        of(s)->lost += packets;
    }
};

// The loop that all of them are on; it goes last.
struct world {
    uv_loop_t loop;

    world()
    {
        REQUIRE(uv_loop_init(&loop) == 0);
    }
    ~world()
    {
        CHECK(loop_end(&loop, 600 * USEC_PER_SEC));
        CHECK(uv_loop_close(&loop) == 0);
    }
    world(const world &) = delete;
    world &operator=(const world &) = delete;
};

} // namespace relay

#endif
