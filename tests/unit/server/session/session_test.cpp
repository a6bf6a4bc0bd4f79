// SPDX-License-Identifier: GPL-2.0-or-later
// One session on a connection of the loopback, with media of the test: what the viewer receives,
// and what its requests lead to.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" // functions named as their structs, which C allows
#include "server/session/session.h"
#pragma GCC diagnostic pop

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <vector>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "tests/support/failing_alloc.hpp"
#include "tests/support/tcp_pair.hpp"
#include "tests/support/two_sizes.hpp"

namespace
{

// What the feed of the media was asked.
struct asked : media_feed {
    std::vector<std::string> all;
    media_placed placed = MEDIA_NOWHERE;
    media_place at{};
    media_seek to{};
    bool seeks = false;
    bool has_memory = true;
    bool alone = true;

    asked() : media_feed{} {}
    static asked *of(media_feed *f)
    {
        return static_cast<asked *>(f);
    }
    std::string take()
    {
        std::string joined;
        for (const std::string &one : all)
            joined += (joined.empty() ? "" : ", ") + one;
        all.clear();
        return joined;
    }
};

// Media that has every operation which a session itself calls.
struct media : stream_media {
    asked feed;
    frame_sink *sink = nullptr;
    media_feed_ops feed_ops{};
    stream_media_ops media_ops{};

    media() : stream_media{}
    {
        feed_ops.watch = [](media_feed *f, int size_id, int change) {
            asked::of(f)->all.push_back((change > 0 ? "+size " : "-size ") +
                                        std::to_string(size_id));
        };
        feed_ops.watch_audio = [](media_feed *f, int change) {
            asked::of(f)->all.push_back(change > 0 ? "+audio" : "-audio");
        };
        feed_ops.place = [](media_feed *f, const media_seek *to, media_place *out, usec_t) {
            asked::of(f)->seeks = to != nullptr;
            asked::of(f)->to = to ? *to : media_seek{};
            *out = asked::of(f)->at;
            return asked::of(f)->placed;
        };
        feed_ops.is_alone = [](const media_feed *f) {
            return static_cast<const asked *>(f)->alone;
        };
        feed_ops.set_speed = [](media_feed *f, double speed) {
            asked::of(f)->all.push_back("speed " + std::to_string(speed).substr(0, 3));
        };
        feed_ops.set_latency = [](media_feed *f, int ms) {
            asked::of(f)->all.push_back("latency " + std::to_string(ms));
        };
        feed_ops.set_playout = [](media_feed *f, int ms) {
            asked::of(f)->all.push_back("playout " + std::to_string(ms));
        };
        feed_ops.set_audio_track = [](media_feed *f, int track) {
            asked::of(f)->all.push_back("track " + std::to_string(track));
        };
        feed_ops.only = [](media_feed *f, const frame_ranges *) {
            return asked::of(f)->has_memory;
        };
        feed_ops.free = [](media_feed *f) { asked::of(f)->all.push_back("freed"); };
        feed.ops = &feed_ops;
        media_ops.feed_new = [](stream_media *m, const media_feed_config *c) -> media_feed * {
            auto *self = static_cast<media *>(m);
            self->sink = c->sink;
            return self->feed.has_memory ? &self->feed : nullptr;
        };
        media_ops.free = [](stream_media *) {};
        ops = &media_ops;
        ladder = two_sizes();
        kind = SDP_SOURCE_FILE;
        duration = 60;
        audio_bps = 64000;
        audio_track_count = 2;
        codec = SDP_H264;
    }
};

enum media_end { ENDS, BREAKS, BREAKS_UNHEARD };

// An item of what the viewer received: RTP (its sequence number), or RTCP.
struct received {
    int channel;
    std::vector<uint8_t> bytes;
};

struct world {
    test::tcp_pair tcp;
    media m;
    stream offered;
    stats_book book{};
    session_config config{};
    session *s = nullptr;
    std::vector<std::string> stuck, broken;
    int placed = 0;
    std::vector<uint8_t> input; // that is not whole yet

    world()
    {
        stream_init(&offered, &m, nullptr);
        offered.book = &book;
        config.stream = &offered;
        snprintf(config.transport, sizeof(config.transport), "tcp");
        config.path.control = tcp.conn;
        config.path.channel[0] = 0;
        config.path.channel[1] = 1;
        config.path.loop = &tcp.loop;
        config.level = 1;
        config.seed = 7;
        config.start_bps = 1e7;
        snprintf(config.id, sizeof(config.id), "abc");
        config.on_placed = [](void *ctx, usec_t) { static_cast<world *>(ctx)->placed++; };
        config.on_stuck = [](void *ctx, const char *why) {
            static_cast<world *>(ctx)->stuck.push_back(why);
        };
        config.on_broken = [](void *ctx, const char *why, usec_t) {
            static_cast<world *>(ctx)->broken.push_back(why);
        };
        config.ctx = this;
    }
    ~world()
    {
        close();
        stream_destroy(&offered);
    }
    world(const world &) = delete;
    world &operator=(const world &) = delete;

    void open()
    {
        s = session_new(&config, clock_now());
        REQUIRE(s);
    }
    void close()
    {
        session_free(s, clock_now());
        s = nullptr;
    }
    void frame(int64_t number, size_t bytes = 200)
    {
        coded_frame *f = coded_frame_new(bytes);
        REQUIRE(f);
        f->number = number;
        f->depends_on = number ? number - 1 : -1;
        f->key = number == 0;
        f->captured = clock_now();
        f->capture_wall = clock_wall();
        f->nal_count = 1;
        f->nals[0].offset = 4;
        f->nals[0].len = (uint32_t)bytes - 4;
        memset(f->data, 0x33, bytes);
        const uint8_t head[] = {0, 0, 0, 1, uint8_t(number ? 0x41 : 0x65)};
        memcpy(f->data, head, sizeof(head));
        m.sink->ops->on_frame(m.sink, f, clock_now());
        coded_frame_unref(f);
    }
    // What the viewer has received, until `count` items have come.
    std::vector<received> take(size_t count)
    {
        std::vector<received> out;
        while (out.size() < count) {
            uint8_t piece[65536];
            ssize_t n = recv(tcp.other, piece, sizeof(piece), MSG_DONTWAIT);
            if (n > 0)
                input.insert(input.end(), piece, piece + n);
            else
                uv_run(&tcp.loop, UV_RUN_ONCE);
            while (input.size() >= 4) {
                REQUIRE(input[0] == '$');
                const size_t len = (size_t)(input[2] << 8 | input[3]);
                if (input.size() < 4 + len)
                    break;
                out.push_back({input[1], {input.begin() + 4, input.begin() + 4 + (ptrdiff_t)len}});
                input.erase(input.begin(), input.begin() + 4 + (ptrdiff_t)len);
            }
        }
        return out;
    }
    // The kinds of RTCP items of a compound.
    static std::vector<rtcp_item> items(const received &r)
    {
        std::vector<rtcp_item> out;
        rtcp_item item;
        size_t at = 0;
        REQUIRE(r.channel % 2 == 1);
        while (rtcp_next(r.bytes.data(), r.bytes.size(), &at, &item) == 1)
            out.push_back(item);
        return out;
    }
    // The next compound that has an item of this kind.
    rtcp_item until(rtcp_kind kind)
    {
        for (;;)
            for (const received &r : take(1))
                if (r.channel == 1)
                    for (const rtcp_item &item : items(r))
                        if (item.kind == kind)
                            return item;
    }
    void rtcp(const rtcp_item &item)
    {
        uint8_t out[RTCP_MAX_PACKET];
        size_t len = 0;
        rtcp_item rr{};
        rr.kind = RTCP_IS_RR;
        REQUIRE(rtcp_append(&rr, out, sizeof(out), &len) == 0);
        REQUIRE(rtcp_append(&item, out, sizeof(out), &len) == 0);
        session_rtcp(s, out, len, clock_now());
    }
    uint32_t ssrc() const
    {
        uint16_t seq;
        uint32_t stamp, out;
        session_rtp_info(s, &seq, &stamp, &out);
        return out;
    }
    session_stats stats() const
    {
        session_stats out;
        (void)m.sink->ops->stats(m.sink, &out, clock_now());
        return out;
    }
};

} // namespace

TEST_CASE("session: frames leave as RTP, reports as RTCP, and a BYE at the end of the media and "
          "not when it breaks off")
{
    world w;
    const media_end end = GENERATE(ENDS, BREAKS, BREAKS_UNHEARD);
    if (end == BREAKS_UNHEARD)
        w.config.on_broken = nullptr;
    w.open();
    CHECK_FALSE(session_is_playing(w.s));
    uint16_t first;
    uint32_t stamp, ssrc;
    session_rtp_info(w.s, &first, &stamp, &ssrc);
    session_play(w.s, clock_now());
    CHECK(session_is_playing(w.s));
    CHECK(w.m.feed.take() == "+size 0");
    const std::vector<rtcp_item> begin = w.items(w.take(1)[0]);
    CHECK(begin[0].kind == RTCP_IS_SR);
    CHECK(begin[0].ssrc == ssrc);
    CHECK(begin[0].sender.packets == 0);
    CHECK(std::string(begin[1].cname) == "weir-send-abc");
    for (int64_t n = 0; n < 3; n++)
        w.frame(n);
    int packets = 0;
    while (packets < 3)
        for (const received &r : w.take(1)) {
            if (r.channel != 0)
                continue;
            const uint16_t seq = (uint16_t)(r.bytes[2] << 8 | r.bytes[3]);
            CHECK(seq == (uint16_t)(first + packets));
            packets++;
        }
    CHECK(w.stats().packets == 3);
    CHECK(w.stats().playing);
    w.m.sink->ops->on_end(w.m.sink, end == ENDS ? nullptr : "the origin was lost", clock_now());
    if (end == BREAKS) {
        while (w.broken.empty())
            uv_run(&w.tcp.loop, UV_RUN_ONCE);
        CHECK(w.broken == std::vector<std::string>{"the origin was lost"});
    } else {
        CHECK(w.until(RTCP_IS_BYE).ssrc == ssrc);
        CHECK(w.broken.empty());
    }
}

TEST_CASE("session: media that has ended begins again with PLAY, not with another pace")
{
    world w;
    w.open();
    session_play(w.s, clock_now());
    session_pace(w.s, clock_now());
    CHECK(session_is_playing(w.s));
    w.frame(0);
    w.m.sink->ops->on_end(w.m.sink, nullptr, clock_now());
    (void)w.until(RTCP_IS_BYE);
    CHECK(w.m.feed.take() == "+size 0, -size 0");
    // The viewer did not know of the end when it requested another speed.
    session_pace(w.s, clock_now());
    CHECK_FALSE(session_is_playing(w.s));
    CHECK(w.m.feed.take().empty());
    (void)w.until(RTCP_IS_BYE); // again
    session_play(w.s, clock_now());
    CHECK(session_is_playing(w.s));
    CHECK(w.m.feed.take() == "+size 0");
    w.m.sink->ops->on_end(w.m.sink, nullptr, clock_now());
    (void)w.until(RTCP_IS_BYE);
    w.m.feed.placed = MEDIA_SOUGHT; // a seek begins somewhere, too
    media_place at{};
    const session_position to = {10, 1, 0, false};
    CHECK(session_place(w.s, &to, &at, clock_now()) == MEDIA_SOUGHT);
    session_pace(w.s, clock_now());
    CHECK(session_is_playing(w.s));
}

TEST_CASE("session: a viewer that leaves while it plays is told BYE; the feed and its number are "
          "given back")
{
    world w;
    w.open();
    CHECK(w.offered.sink_count == 1);
    CHECK(w.m.sink->number == 1);
    session_play(w.s, clock_now());
    session_pause(w.s);
    CHECK_FALSE(session_is_playing(w.s));
    session_play(w.s, clock_now());
    const uint32_t ssrc = w.ssrc();
    w.m.feed.take();
    w.close();
    CHECK(w.until(RTCP_IS_BYE).ssrc == ssrc);
    CHECK(w.offered.sink_count == 0);
    CHECK(w.m.feed.take() == "-size 0, freed");
    session_free(nullptr, 0);
}

TEST_CASE("session: the bounds of what a viewer may set, and what the media is told")
{
    world w;
    w.open();
    const struct {
        int ms, err;
    } times[] = {{SESSION_LATENCY_MIN_MS - 1, ERR_RANGE},
                 {SESSION_LATENCY_MIN_MS, 0},
                 {SESSION_LATENCY_MAX_MS, 0},
                 {SESSION_LATENCY_MAX_MS + 1, ERR_RANGE}};
    for (const auto &row : times) {
        CAPTURE(row.ms);
        const std::string ms = std::to_string(row.ms);
        w.m.feed.take();
        CHECK(session_set_latency(w.s, row.ms) == row.err);
        CHECK(w.m.feed.take() == (row.err ? "" : "latency " + ms));
        CHECK(session_set_playout(w.s, row.ms) == row.err);
        CHECK(w.m.feed.take() == (row.err ? "" : "playout " + ms));
    }
    CHECK(session_set_max_rate(w.s, SESSION_MIN_MAX_RATE - 1, clock_now()) == ERR_RANGE);
    CHECK(session_set_max_rate(w.s, -1, clock_now()) == ERR_RANGE);
    CHECK(session_set_max_rate(w.s, SESSION_MIN_MAX_RATE, clock_now()) == 0);
    CHECK(session_set_max_rate(w.s, 0, clock_now()) == 0);
    CHECK(session_set_level(w.s, 4, clock_now()) == ERR_RANGE);
    CHECK(session_set_level(w.s, -1, clock_now()) == ERR_RANGE);
    CHECK(session_set_level(w.s, 3, clock_now()) == 0);
    CHECK(session_level(w.s) == 3);
    w.m.feed.take();
    CHECK(session_set_audio_track(w.s, 0) == ERR_NOT_FOUND);
    CHECK(session_set_audio_track(w.s, 3) == ERR_NOT_FOUND);
    CHECK(w.m.feed.take() == "");
    CHECK(session_set_audio_track(w.s, 2) == 0);
    CHECK(w.m.feed.take() == "track 1");
    const frame_ranges ranges{};
    CHECK(session_set_only(w.s, &ranges) == 0);
    w.m.feed.has_memory = false;
    CHECK(session_set_only(w.s, &ranges) == ERR_NO_MEMORY);
    session_set_speed(w.s, 2, clock_now());
    CHECK(w.m.feed.take() == "speed 2.0");
    // Media that lacks the operation.
    w.m.feed_ops.only = nullptr;
    w.m.feed_ops.set_audio_track = nullptr;
    w.m.feed_ops.set_speed = nullptr;
    w.m.feed_ops.set_latency = nullptr;
    w.m.feed_ops.set_playout = nullptr;
    CHECK(session_set_only(w.s, &ranges) == ERR_UNSUPPORTED);
    CHECK(session_set_audio_track(w.s, 1) == ERR_NOT_FOUND);
    CHECK(session_set_latency(w.s, 100) == 0);
    CHECK(session_set_playout(w.s, 100) == 0);
    session_set_speed(w.s, 2, clock_now());
    CHECK(w.m.feed.take() == "");
    CHECK_FALSE(session_owns_time_line(w.s));
}

TEST_CASE("session: the time line belongs to a viewer that is alone on it")
{
    world w;
    w.open();
    CHECK(session_owns_time_line(w.s));
    w.m.feed.alone = false;
    CHECK_FALSE(session_owns_time_line(w.s));
    w.m.feed_ops.is_alone = nullptr; // each viewer has its own
    CHECK(session_owns_time_line(w.s));
}

TEST_CASE(
    "session: a place, a scale and a time of capture are sought; where the media is, nothing is")
{
    world w;
    w.open();
    const struct {
        session_position to;
        bool seeks;
    } rows[] = {{{NAN, 1, 0, false}, false},
                {{5, 1, 0, false}, true},
                {{NAN, 2, 0, false}, true},
                {{NAN, 1, 77, false}, true}};
    for (const auto &row : rows) {
        CAPTURE(row.to.seconds, row.to.scale, row.to.wall);
        media_place out;
        w.m.feed.placed = MEDIA_CONTINUES;
        CHECK(session_place(w.s, &row.to, &out, clock_now()) == MEDIA_CONTINUES);
        CHECK(w.m.feed.seeks == row.seeks);
        CHECK(out.scale == 1); // media that knows only 1 says 0
        CHECK(session_scale(w.s) == 1);
        if (row.seeks) {
            CHECK(w.m.feed.to.ahead); // TCP holds back what is early
            CHECK(w.m.feed.to.level == &w.m.ladder.levels[1]);
        }
    }
    const session_position fast = {NAN, -2, 0, false};
    media_place out;
    w.m.feed.placed = MEDIA_SOUGHT;
    w.m.feed.at.scale = -2;
    w.m.feed.at.frames.first = 40;
    CHECK(session_place(w.s, &fast, &out, clock_now()) == MEDIA_SOUGHT);
    CHECK(session_scale(w.s) == -2);
    w.m.feed.placed = MEDIA_CONTINUES;
    CHECK(session_place(w.s, &fast, &out, clock_now()) == MEDIA_CONTINUES);
    CHECK_FALSE(w.m.feed.seeks); // it plays at that scale
    w.m.feed.placed = MEDIA_WAITS;
    CHECK(session_place(w.s, &fast, &out, clock_now()) == MEDIA_WAITS);
    w.m.sink->ops->on_placed(w.m.sink, clock_now());
    CHECK(w.placed == 1);
    w.m.feed_ops.place = nullptr;
    CHECK(session_place(w.s, &fast, &out, clock_now()) == MEDIA_NOWHERE);
    CHECK(out.scale == 1);
}

TEST_CASE(
    "session: a max rate that is requested by RTCP is confirmed, and one after the other at most")
{
    world w;
    w.open();
    session_play(w.s, clock_now());
    w.frame(0);
    rtcp_item tmmbr{};
    tmmbr.kind = RTCP_IS_TMMBR;
    tmmbr.ssrc = 99;
    tmmbr.media_ssrc = w.ssrc();
    tmmbr.max_rate.bps = 400000;
    w.rtcp(tmmbr);
    const rtcp_item notice = w.until(RTCP_IS_TMMBN);
    CHECK(notice.ssrc == w.ssrc());
    CHECK(notice.media_ssrc == 99);
    CHECK(notice.max_rate.bps == Approx(400000).epsilon(1e-4));

    // Of another source, a REMB, and those beyond the budget get no answer. Reports that follow
    // prove it.
    rtcp_item other = tmmbr, remb{};
    other.media_ssrc++;
    w.rtcp(other);
    remb.kind = RTCP_IS_REMB;
    remb.ssrc = 99;
    remb.ssrc_count = 1;
    remb.ssrcs[0] = w.ssrc();
    remb.max_rate.bps = 500000;
    w.rtcp(remb);
    session_second(w.s, clock_now());
    for (bool more = true; more;)
        for (const received &r : w.take(1))
            if (r.channel == 1) {
                const std::vector<rtcp_item> got = w.items(r);
                CHECK(got[0].kind == RTCP_IS_SR);
                for (const rtcp_item &item : got)
                    CHECK(item.kind != RTCP_IS_TMMBN);
                more = false;
            }
    for (int i = 0; i < 100; i++)
        w.rtcp(tmmbr);
    session_second(w.s, clock_now());
    w.close();
    int notices = 0;
    for (bool more = true; more;)
        for (const received &r : w.take(1))
            if (r.channel == 1)
                for (const rtcp_item &item : w.items(r)) {
                    notices += item.kind == RTCP_IS_TMMBN;
                    more = more && item.kind != RTCP_IS_BYE;
                }
    CHECK(notices >= 1);
    CHECK(notices <= 20); // 10 at once, and 10 a second
}

TEST_CASE("session: receiver reports of its SSRC reach the owner; malformed RTCP is dropped")
{
    static std::vector<double> lost;
    lost.clear();
    world w;
    w.config.on_report = [](void *, const transport_report *r, usec_t) {
        lost.push_back(r->fraction_lost);
    };
    w.open();
    session_play(w.s, clock_now());
    rtcp_item rr{};
    rr.kind = RTCP_IS_RR;
    rr.report_count = 2;
    rr.reports[0].ssrc = w.ssrc() + 1;
    rr.reports[0].fraction_lost = 200;
    rr.reports[1].ssrc = w.ssrc();
    rr.reports[1].fraction_lost = 64;
    uint8_t out[RTCP_MAX_PACKET];
    size_t len = 0;
    REQUIRE(rtcp_append(&rr, out, sizeof(out), &len) == 0);
    session_rtcp(w.s, out, len, clock_now());
    CHECK(lost == std::vector<double>{.25});
    session_rtcp(w.s, out, len - 3, clock_now()); // cut off
    CHECK(lost.size() == 1);
    session_rtcp(w.s, out, 0, clock_now());
    CHECK(w.stuck.empty());
}

TEST_CASE("session: a viewer that takes nothing is reported as stuck after the stream's timeout, "
          "and not before")
{
    const bool is_film = GENERATE(false, true); // its viewer plays from its buffer meanwhile
    const int limit = is_film ? 60 : 20;
    world w;
    if (is_film)
        w.m.feed_ops.drained = [](media_feed *, usec_t) {};
    w.open();
    session_play(w.s, clock_now());
    const usec_t begun = clock_now();
    int64_t n = 0;
    while (w.stats().waiting_bytes == 0 && n < 4000) { // until connection and kernel are full
        w.frame(n++, 100000);
        uv_run(&w.tcp.loop, UV_RUN_NOWAIT);
    }
    REQUIRE(w.stats().waiting_bytes > 0);
    session_second(w.s, begun + (limit - 1) * USEC_PER_SEC);
    CHECK(w.stuck.empty());
    session_second(w.s, clock_now() + (limit + 1) * USEC_PER_SEC);
    REQUIRE(w.stuck.size() == 1);
    CHECK(w.stuck[0] == "it has not taken a byte for " + std::to_string(limit) + " s");
}

TEST_CASE("session: the stream's highest level limits what the viewer gets, and its wish stays")
{
    world w;
    w.config.level = 3;
    w.open();
    session_play(w.s, clock_now());
    CHECK(w.m.feed.take() == "+size 1");
    stream_set_highest(&w.offered, 1, clock_now());
    CHECK(session_level(w.s) == 1);
    CHECK(session_set_level(w.s, 2, clock_now()) == 0); // beyond it
    CHECK(session_level(w.s) == 1);
    stream_set_highest(&w.offered, LADDER_MAX_LEVELS - 1, clock_now());
    CHECK(session_level(w.s) == 2);
}

TEST_CASE(
    "session: levels that a slow machine does not encode are not sent, but to who keeps a size")
{
    for (bool keeps : {false, true}) {
        INFO("keeps its size: " << keeps);
        world w;
        w.config.level = 3;
        w.config.keeps_size = keeps;
        w.open();
        session_play(w.s, clock_now());
        CHECK(session_level(w.s) == 3);
        stream_media *media = w.offered.media;
        media->unencoded = media->ladder.level_count - 2; // all but levels 0 and 1
        frame_sink *sink = w.offered.sinks[0];
        sink->ops->on_highest(sink, clock_now());
        CHECK(session_level(w.s) == (keeps ? 3 : 1));
        CHECK(session_set_level(w.s, 2, clock_now()) == 0);
        CHECK(session_level(w.s) == (keeps ? 2 : 1));
        media->unencoded = 0;
        sink->ops->on_highest(sink, clock_now());
        CHECK(session_level(w.s) == 2);
    }
}

TEST_CASE("session: a viewer of VP9 that keeps its size is sent the smallest one alone")
{
    world w;
    w.m.codec = SDP_VP9;
    w.config.keeps_size = true;
    w.config.level = 3;
    w.open();
    CHECK(session_level(w.s) == 1); // the highest level of size 0
}

TEST_CASE("session: audio alone is sent at once, and the owner may send its own")
{
    static int taken;
    taken = 0;
    world w;
    w.config.audio_only = true;
    w.config.audio_bps = 32000;
    w.config.on_audio = [](void *, coded_audio *, usec_t) { taken++; };
    w.open();
    CHECK_FALSE(session_has_pictures(w.s));
    track_path to{};
    to.channel[0] = 2;
    to.channel[1] = 3;
    session_add_audio(w.s, &to);
    CHECK(session_has_audio(w.s));
    session_play(w.s, clock_now());
    CHECK(w.m.feed.take() == "+audio");
    uint16_t seq, after;
    uint32_t ssrc;
    session_audio_info(w.s, &seq, &ssrc);
    CHECK(ssrc != w.ssrc());
    coded_audio *c = coded_audio_new();
    REQUIRE(c);
    c->bytes = 40;
    c->captured = clock_now();
    c->capture_wall = clock_wall();
    w.m.sink->ops->on_audio(w.m.sink, c, clock_now()); // to the owner, who gives what is sent
    CHECK(taken == 1);
    session_audio_info(w.s, &after, &ssrc);
    CHECK(after == seq);
    session_audio(w.s, c, clock_now());
    coded_audio_unref(c);
    session_audio_info(w.s, &after, &ssrc);
    CHECK(after == (uint16_t)(seq + 1));
    w.close(); // with a BYE: something comes in any case
    int audio = 0;
    for (bool more = true; more;)
        for (const received &r : w.take(1)) {
            audio += r.channel == 2;
            if (r.channel == 3)
                for (const rtcp_item &item : w.items(r))
                    more = more && item.kind != RTCP_IS_BYE;
        }
    CHECK(audio == 1);
}

TEST_CASE("session: pictures are added to audio, and both are watched")
{
    world w;
    w.config.audio_only = true;
    w.open();
    track_path audio{}, pictures{};
    audio.channel[0] = 2;
    audio.channel[1] = 3;
    pictures.channel[1] = 1;
    session_add_audio(w.s, &audio);
    session_add_pictures(w.s, &pictures);
    CHECK(session_has_audio(w.s));
    CHECK(session_has_pictures(w.s));
    session_play(w.s, clock_now());
    const std::string asks = w.m.feed.take();
    CHECK(asks.find("+audio") != std::string::npos);
    CHECK(asks.find("+size 0") != std::string::npos);
}

TEST_CASE("session: without memory there is none, and nothing of it is left")
{
    for (int n = 0;; n++) {
        CAPTURE(n);
        world w;
        failing_alloc_set(n);
        w.s = session_new(&w.config, clock_now());
        if (!failing_alloc_end()) {
            CHECK(w.s);
            CHECK(n >= 5);
            break;
        }
        CHECK(w.s == nullptr);
        CHECK(w.offered.sink_count == 0);
    }
    world w;
    w.m.feed.has_memory = false; // of the media
    CHECK(session_new(&w.config, clock_now()) == nullptr);
    w.m.feed.has_memory = true;
    w.offered.max_viewers = 0;
    CHECK(session_new(&w.config, clock_now()) == nullptr);
    CHECK(w.m.feed.take() == "freed");
}
