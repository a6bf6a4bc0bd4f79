// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/stream_viewer.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "common/wire/rtp.h"
#include "media/coded/synthetic.h"

namespace
{
const usec_t ms = USEC_PER_MSEC;
const usec_t sec = USEC_PER_SEC;

struct viewer {
    synthetic media;
    stream_viewer v;
    std::vector<stream_wish> wishes;
    std::vector<std::pair<usec_t, stream_event>> events;
    uint16_t seq = 0;

    explicit viewer(bool in_part = false)
    {
        synthetic_goddard(&media);
        stream_viewer_config c{};
        c.level = -1;
        c.ladder = &media.ladder;
        goddard_params_init(&c.params);
        c.loses_frames = true;
        c.in_part = in_part;
        c.transport = "udp";
        c.source = "test";
        c.ask = ask;
        c.event = event;
        c.ctx = this;
        REQUIRE(stream_viewer_init(&v, &c, 0) == 0);
        stream_viewer_start(&v, 0);
    }
    ~viewer()
    {
        stream_viewer_destroy(&v);
    }
    viewer(const viewer &) = delete;
    viewer &operator=(const viewer &) = delete;

    static void ask(void *ctx, const stream_wish *w, usec_t)
    {
        ((viewer *)ctx)->wishes.push_back(*w);
    }
    static void event(void *ctx, stream_event *e, usec_t now)
    {
        ((viewer *)ctx)->events.emplace_back(now, *e);
    }
    void pair(usec_t apart, usec_t now, uint32_t number = 0) // of 1000 bytes
    {
        stream_viewer_pair(&v, number, false, 1000, now - apart);
        stream_viewer_pair(&v, number, true, 1000, now);
    }
    // A packet of a frame of level 0: one packet is one frame.
    void packet(int64_t number, usec_t now, bool first = true, bool last = true)
    {
        run_to(now);
        uint8_t bytes[200] = {};
        rtp_packet p{};
        p.payload_type = RTP_PT_SYNTHETIC;
        p.seq = seq++;
        p.has_adu = true;
        p.adu.frame = (uint32_t)number;
        p.adu.written_us = (uint32_t)(STREAM_WALL + now - 20 * ms);
        p.adu.key = true;
        p.adu.first = first;
        p.adu.last = last;
        p.has_capture = first;
        p.capture_wall = STREAM_WALL + now - 30 * ms;
        size_t len = rtp_encode(&p, bytes);
        bytes[len] = first && last ? 12 : 28; // a NAL unit, or the first fragment of one
        bytes[len + 1] = 0x80 | 12;
        stream_viewer_rtp(&v, bytes, len + 100, now);
    }
    void run_to(usec_t until)
    {
        for (usec_t at; (at = stream_viewer_next(&v)) <= until;)
            stream_viewer_run(&v, at);
    }
    std::vector<usec_t> times(stream_event_kind kind) const
    {
        std::vector<usec_t> all;
        for (auto &e : events)
            if (e.second.kind == kind)
                all.push_back(e.first);
        return all;
    }
};
} // namespace

TEST_CASE("stream_viewer: a pair, a level, a buffer, and playing")
{
    viewer w;
    REQUIRE(w.wishes.size() == 1);
    CHECK(w.wishes[0].pairs == 1);
    CHECK(w.wishes[0].level == -1);
    w.pair(80 * ms, 200 * ms); // 100 kbit/s: level 0, of 80
    REQUIRE(w.wishes.size() == 2);
    CHECK(w.wishes[1].level == 0);
    CHECK(w.wishes[1].speed == 1.5);
    CHECK(w.times(STREAM_EVENT_CAPACITY).size() == 1);
    // Numbers of level 0: 5, 11, 17 ... of 60 a second; they come 66 ms apart, 5 s of them are 50.
    for (int i = 0; i < 50; i++)
        w.packet(5 + 6 * i, sec + i * 66 * ms);
    CHECK(w.times(STREAM_EVENT_START) == std::vector<usec_t>{sec + 49 * 66 * ms});
    CHECK(w.wishes.back().speed == 1);
    // The last frame has its interval and the grace of one more, then playing stops.
    usec_t start = sec + 49 * 66 * ms;
    w.run_to(start + 6 * sec);
    CHECK(w.times(STREAM_EVENT_STALL) == std::vector<usec_t>{start + 5 * sec});
    CHECK(w.wishes.back().speed == 1.5);
    CHECK(w.wishes.back().level == 0);
    stream_viewer_media_end(&w.v, start + 7 * sec);
    CHECK(w.v.ended);
    CHECK(w.times(STREAM_EVENT_END) == std::vector<usec_t>{start + 7 * sec});
    CHECK(stream_viewer_next(&w.v) == USEC_NEVER);
    qoe_json r;
    qoe_read(w.v.qoe, &r, start + 7 * sec);
    CHECK(r.playback.frames_played == 50);
    CHECK(r.jitter.mean == Approx(66).epsilon(0.02));
    CHECK(r.latency.protocol.mean == Approx(20).epsilon(0.02));
    CHECK(r.latency.frame.mean == Approx(30).epsilon(0.02));
    CHECK(r.network.capacity_estimate == Approx(100000));
    // From the last picture, one interval before it stops, to the end of the media.
    CHECK(r.rebuffering.total == Approx(2));
    CHECK(r.freezes.count == 1);
    CHECK(r.freezes.total == Approx(2.1).epsilon(0.01));
    CHECK(r.freezes.by_cause[FREEZE_OUTAGE].total == Approx(r.freezes.total));
}

TEST_CASE("stream_viewer: without a pair another is requested")
{
    viewer w;
    stream_viewer_pair(&w.v, 0, true, 1000, sec); // its first was lost
    CHECK(w.wishes.back().pairs == 1);
    w.run_to(2 * sec);
    CHECK(w.wishes.back().pairs == 2);
    stream_viewer_pair(&w.v, 0, false, 1000, 3 * sec);
    stream_viewer_pair(&w.v, 1, true, 1000, 3 * sec + ms); // of different pairs
    CHECK(w.v.pipeline == nullptr);
    w.pair(ms, 4 * sec, 1); // its second packet came before
    CHECK(w.wishes.back().pairs == 3);
    w.pair(ms, 5 * sec, 2); // 8 Mbit/s
    CHECK(w.wishes.back().level == 6);
}

TEST_CASE("stream_viewer: lost frames are reported at once, and jitter is shared among them")
{
    viewer w;
    w.pair(80 * ms, 100 * ms);
    w.packet(5, 200 * ms);
    w.packet(11, 300 * ms);
    w.packet(29, 600 * ms); // 17 and 23 are missing
    std::vector<double> jitter;
    for (auto &e : w.events)
        if (e.second.kind == STREAM_EVENT_FRAME && e.second.value == e.second.value)
            jitter.push_back(e.second.value);
    CHECK(jitter == std::vector<double>{100, 100});
    CHECK(loss_window_loss_since_decision(&w.v.feed.policy.monitor) == Approx(2 / 5.0));
}

TEST_CASE("stream_viewer: a partial frame counts when it is due")
{
    for (bool in_part : {false, true}) {
        viewer w(in_part);
        w.pair(80 * ms, 100 * ms);
        w.packet(5, 200 * ms, true, false); // its last packet does not come
        w.packet(11, 300 * ms);
        INFO(in_part);
        CHECK(w.times(STREAM_EVENT_FRAME).size() == (in_part ? 2u : 1u));
        CHECK(loss_window_loss_since_decision(&w.v.feed.policy.monitor) ==
              Approx(in_part ? 0 : 0.5));
    }
}

TEST_CASE("stream_viewer: a picture that remains because frames are lost is a freeze, not a stall")
{
    viewer w;
    w.pair(80 * ms, 100 * ms);
    for (int i = 0; i < 100; i++) {
        if (i >= 60 && i < 70) {
            w.seq++; // a second of it
            continue;
        }
        w.packet(5 + 6 * i, sec + i * 100 * ms);
    }
    w.run_to(15500 * ms); // begun with 50 frames, at 5.9 s; lost is what does not come in 2 s
    qoe_json r;
    qoe_read(w.v.qoe, &r, 15500 * ms);
    CHECK(r.rebuffering.count == 0);
    CHECK(r.playback.frames_lost == 10);
    CHECK(r.freezes.count == 1);
    CHECK(r.freezes.longest == Approx(1.1));
    CHECK(r.freezes.by_cause[FREEZE_NETWORK].total == Approx(1.1));
}
