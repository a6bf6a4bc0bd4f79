// SPDX-License-Identifier: GPL-2.0-or-later
// The begin of stored media over datagrams whose rate control knows nothing yet: minutes of
// simulated starts, in which the sender drops nothing that the viewer's buffer leaves time for.
#include <catch2/catch.hpp>

#include <map>
#include <string>

#include "common/base/rng.h"
#include "lab/sim/sim_transport.h"
#include "stream/send/stream_sender.h"

namespace
{
const usec_t ms = USEC_PER_MSEC;
const usec_t INTERVAL = 33333; // between frames
const usec_t LEAD = 2 * USEC_PER_SEC;
const int GOP = 60;

struct scene {
    const char *via;
    int rtt_ms;
    int bps;
    double loss;
    bool audio;
    uint64_t seed;
};

// A stored film of two temporal layers as stored_feed gives it: at twice its pace until it is LEAD
// early. Key frames are eight times as large as other frames.
class start
{
  public:
    explicit start(const scene &s) : at(s), random(rng_seeded(s.seed))
    {
        packet_pool_init(&small, FLOW_SMALL, 10000);
        packet_pool_init(&large, FLOW_LARGE, 10000);
        env.small = &small;
        env.large = &large;
        f.env = &env;
        static const node_ops nodes = {push, nullptr, nullptr};
        for (int i = 0; i < 2; i++) {
            node_init(&ends[i].n, &nodes, nullptr);
            ends[i].owner = this;
            ends[i].way = i;
        }
        node_init(&f.source, nullptr, &ends[0].n);
        node_init(&f.sink, nullptr, &ends[1].n);
        l.source_fps = {30, 1};
        l.source_width = 640;
        l.source_height = 360;
        l.size_count = 1;
        l.level_count = 2;
        l.sizes[0] = {640, 360, {30, 1}, 2};
        l.levels[0] = {0, 0, s.bps * 2 / 3};
        l.levels[1] = {0, 1, s.bps};
        static media_feed_ops feed_ops{};
        feed_ops.watch = [](media_feed *, int, int) {};
        feed_ops.give_again = [](media_feed *, int, int64_t, usec_t) { return true; };
        feed.ops = &feed_ops;
        feed.reorders = true;
        static stream_sender_ops ops{};
        ops.wall = [](void *, usec_t now) { return now; };
        ops.on_begun = [](void *, media_track, usec_t) {};
        stream_sender_config config{};
        config.ladder = &l;
        config.feed = &feed;
        config.codec = SDP_H264;
        config.level = 1;
        config.seed = s.seed;
        config.latency = 1500 * ms;
        config.ops = &ops;
        sender = stream_sender_new(&config, 0);
        REQUIRE(sender);
        const rtp_sender *rtp = stream_sender_rtp(sender, TRACK_VIDEO);
        sim_transport_config transport{};
        transport.via = s.via;
        transport.flow = &f;
        transport.packet_bytes = 1200;
        transport.ssrc = rtp->ssrc;
        transport.first_seq = rtp->next_seq;
        transport.token = 9;
        t = sim_transport_new(&transport, 0);
        REQUIRE(t);
        t->on_room = [](void *ctx, usec_t now) {
            stream_sender_pump(static_cast<start *>(ctx)->sender, now);
        };
        t->deliver = [](void *, const uint8_t *, size_t, usec_t) {};
        t->ctx = this;
        REQUIRE(stream_sender_attach(sender, &t->media, 0) == 0);
        if (s.audio)
            stream_sender_add_audio(sender, 40000);
    }
    ~start()
    {
        stream_sender_free(sender);
        for (auto &way : on_way)
            for (auto &p : way)
                packet_free(p.second);
        t->ops->free(t);
        packet_pool_destroy(&small);
        packet_pool_destroy(&large);
    }
    start(const start &) = delete;
    start &operator=(const start &) = delete;

    // Returns how many frames the sender dropped in the first seconds.
    int dropped(int seconds)
    {
        stream_sender_play(sender, 0);
        for (usec_t now = 0; now < seconds * USEC_PER_SEC; now += ms) {
            while (given_at(number) <= now)
                give(now);
            for (int way = 0; way < 2; way++)
                arrive(way, now);
            if (t->ops->next(t, now) <= now)
                t->ops->run(t, now);
            if (t->ops->sink_next(t) <= now)
                t->ops->sink_run(t, now);
            if (stream_sender_next_timeout(sender) <= now)
                stream_sender_on_timeout(sender, now);
            stream_sender_pump(sender, now);
        }
        stream_sender_stats stats;
        stream_sender_read(sender, &stats, seconds * USEC_PER_SEC);
        CHECK(stats.frames.queued[0] + stats.frames.queued[1] == (uint64_t)number);
        return (int)stats.skipped + (int)stats.audio_dropped;
    }

  private:
    struct end {
        node n; // first
        start *owner;
        int way;
    };

    static void push(node *n, packet *p, usec_t now)
    {
        const end *e = (end *)n;
        start *s = e->owner;
        if (rng_unit(&s->random) < s->at.loss)
            packet_free(p);
        else
            s->on_way[e->way].emplace(now + s->at.rtt_ms * ms / 2, p);
    }
    void arrive(int way, usec_t now)
    {
        auto &packets = on_way[way];
        while (!packets.empty() && packets.begin()->first <= now) {
            packet *p = packets.begin()->second;
            packets.erase(packets.begin());
            way == 0 ? t->ops->arrived(t, p, now) : t->ops->back(t, p, now);
        }
    }
    static usec_t given_at(int64_t n)
    {
        return std::max(n * INTERVAL / 2, n * INTERVAL - LEAD);
    }
    void give(usec_t now)
    {
        const double frame = at.bps / 8.0 / 30 * GOP / (GOP + 7);
        bool key = number % GOP == 0;
        coded_frame *c = coded_frame_new((size_t)(key ? 8 * frame : frame));
        c->nal_count = 1;
        c->nals[0] = {4, (uint32_t)c->bytes - 4};
        memset(c->data, 0x41, c->bytes);
        c->number = number;
        c->temporal_id = (int)(number % 2);
        c->key = key;
        c->depends_on = key ? -1 : c->temporal_id ? number - 1 : number - 2;
        c->captured = c->capture_wall = number * INTERVAL;
        coded_audio *a = coded_audio_new();
        a->bytes = 100;
        a->captured = c->captured;
        if (at.audio)
            stream_sender_audio(sender, a, now);
        coded_audio_unref(a);
        stream_sender_frame(sender, c, now);
        coded_frame_unref(c);
        number++;
    }

    scene at;
    rng random;
    packet_pool small{}, large{};
    flow_env env{};
    flow f{};
    end ends[2]{};
    std::multimap<usec_t, packet *> on_way[2]; // to the viewer, to the sender
    ladder l{};
    media_feed feed{};
    stream_sender *sender = nullptr;
    sim_transport *t = nullptr;
    int64_t number = 0;
};

} // namespace

TEST_CASE("stored start: nothing is dropped while the rate control learns the path's rate")
{
    const struct {
        const char *via;
        int max_bps; // ARC starts with a packet a round trip, and adds one in each
    } rows[] = {{"tfrc", 3000000},
                {"tfrc:komssys", 3000000},
                {"scream", 3000000},
                {"psp", 3000000},
                {"arc", 500000}};
    for (const auto &row : rows)
        for (int rtt_ms : {2, 20, 50, 100, 200, 300})
            for (int bps : {140000, 500000, 1500000, 3000000})
                for (bool audio : {false, true}) {
                    if (bps > row.max_bps)
                        continue;
                    INFO(row.via << ", " << rtt_ms << " ms, " << bps << " bit/s, audio " << audio);
                    start s({row.via, rtt_ms, bps, 0, audio, 1});
                    CHECK(s.dropped(6) == 0);
                }
}

TEST_CASE("stored start: on a path that loses 1 %, only losses that come together cost frames")
{
    // The audio's packets make the mean packet small, and so the rate that TFRC's law gives: at
    // 500 kbit/s and 100 ms it would not suffice, and at 300 not after three losses in a second.
    for (int rtt_ms : {10, 40, 100})
        for (int bps : {140000, 300000}) {
            int starts_that_dropped = 0;
            for (uint64_t seed = 1; seed <= 40; seed++) {
                INFO(rtt_ms << " ms, " << bps << " bit/s, seed " << seed);
                start s({"tfrc", rtt_ms, bps, 0.01, true, seed});
                int dropped = s.dropped(6);
                CHECK(dropped <= 20);
                starts_that_dropped += dropped > 0;
            }
            INFO(rtt_ms << " ms, " << bps << " bit/s");
            CHECK(starts_that_dropped <= (rtt_ms == 100 && bps == 300000 ? 1 : 0));
        }
}
