// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the sending core alone: its packets and requests after each input.
// tests/unit/stream/adapt/live_link_test.cpp tests it over a network.
#include "stream/send/audio_queue.h"
#include "stream/send/stream_sender.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "tests/support/open_transport.hpp"
#include "tests/support/two_sizes.hpp"

namespace
{
const usec_t MS = USEC_PER_MSEC;
const usec_t LATENCY = 400 * MS;
const usec_t WALL = 1000 * USEC_PER_SEC;
const size_t SMALL = 500; // bytes of a frame: one packet

enum media { LIVE, PASSED_ON, FILM, STORED, HELD, SYNTHETIC, STEADY, GREEDY, RELAYED };

// The sender's requests to its media and its owner, as text.
struct asked : media_feed {
    std::vector<std::string> all;
    bool alone = true;
    bool has_again = true;
    int playing = 0;
    int drained_times = 0;

    asked() : media_feed{} {}

    std::string take()
    {
        std::string joined;
        for (const std::string &one : all)
            joined += (joined.empty() ? "" : ", ") + one;
        all.clear();
        return joined;
    }
    void say(const std::string &what)
    {
        all.push_back(what);
    }
    static asked *of(media_feed *f)
    {
        return static_cast<asked *>(f);
    }
    static asked *of(void *ctx)
    {
        return static_cast<asked *>(ctx);
    }
    static void watch(media_feed *f, int size_id, int change)
    {
        of(f)->say((change > 0 ? "+size " : "-size ") + std::to_string(size_id));
    }
    static void watch_audio(media_feed *f, int change)
    {
        of(f)->say(change > 0 ? "+audio" : "-audio");
    }
    static void play(media_feed *f, bool plays)
    {
        of(f)->playing += plays ? 1 : -1;
    }
    static void set_bitrate(media_feed *f, int size_id, int bps)
    {
        of(f)->say("size " + std::to_string(size_id) + " at " + std::to_string(bps));
    }
    static void repair(media_feed *f, int size_id, int64_t number)
    {
        of(f)->say("repair " + std::to_string(size_id) + "/" + std::to_string(number));
    }
    static bool give_again(media_feed *f, int size_id, int64_t number, usec_t)
    {
        of(f)->say("again " + std::to_string(size_id) + "/" + std::to_string(number));
        return of(f)->has_again;
    }
    static void request_key(media_feed *f, int size_id, usec_t)
    {
        of(f)->say("key " + std::to_string(size_id));
    }
    static void drained(media_feed *f, usec_t)
    {
        of(f)->drained_times++;
    }
    static void begin(media_feed *f, int size_id, int64_t from)
    {
        of(f)->say("key " + std::to_string(size_id) + " from " + std::to_string(from));
    }
    static void rewind(media_feed *f, int64_t slot)
    {
        of(f)->say("rewind " + std::to_string(slot));
    }
    static void set_level(media_feed *f, int level, bool follows)
    {
        of(f)->say("level " + std::to_string(level) + (follows ? " at most" : ""));
    }
    static bool is_alone(const media_feed *f)
    {
        return static_cast<const asked *>(f)->alone;
    }
    static usec_t wall(void *, usec_t now)
    {
        return WALL + now;
    }
    static void on_begun(void *ctx, media_track track, usec_t)
    {
        of(ctx)->say(track == TRACK_AUDIO ? "audio begun" : "video begun");
    }
    static void on_end(void *ctx, usec_t)
    {
        of(ctx)->say("end");
    }
    static void on_closed(void *ctx, usec_t)
    {
        of(ctx)->say("closed");
    }
};

struct sender {
    ladder l = two_sizes();
    open_transport t;
    asked a;
    stream_sender_ops ops{};
    media_feed_ops asks{};
    stream_sender *s = nullptr;

    explicit sender(media of = LIVE, int level = 1, bool repairs = false, bool follows = false,
                    bool measures = true, bool drops = false, size_t fragment = 0)
    {
        t.base.drops = drops;
        ops.wall = asked::wall;
        ops.on_begun = asked::on_begun;
        ops.on_end = asked::on_end;
        ops.on_closed = asked::on_closed;
        if (of == RELAYED)
            asks.set_level = asked::set_level;
        if (of == LIVE || of == PASSED_ON || of == FILM || of == STORED || of == RELAYED)
            asks.request_key = asked::request_key;
        if (of == LIVE || of == FILM) {
            asks.watch_audio = asked::watch_audio;
            asks.play = asked::play;
            asks.set_bitrate = asked::set_bitrate;
            asks.repair = asked::repair;
            asks.begin = asked::begin;
            asks.is_alone = asked::is_alone;
        }
        a.has_rates = of == PASSED_ON;
        if (of == PASSED_ON)
            asks.is_alone = asked::is_alone;
        if (of == STORED || of == HELD) {
            asks.give_again = asked::give_again;
            asks.rewind = asked::rewind;
        }
        if (of == HELD || of == FILM)
            asks.drained = asked::drained;
        a.is_film = a.stands_still = of == FILM;
        if (of == LIVE || of == PASSED_ON || of == FILM || of == STORED || of == HELD ||
            of == SYNTHETIC)
            asks.watch = asked::watch;
        a.ops = &asks;
        a.reorders = of == STORED || of == HELD;
        a.filler = of == STEADY ? FILLER_STEADY : of == GREEDY ? FILLER_GREEDY : FILLER_NONE;
        t.base.measures = measures;
        stream_sender_config config{};
        config.ladder = &l;
        config.feed = &a;
        config.codec = SDP_H264;
        config.seed = 1;
        config.level = level;
        config.follows = follows;
        config.relays = of == RELAYED;
        config.start_bps = 1e6;
        config.latency = of == HELD || of == FILM ? 3600 * USEC_PER_SEC : LATENCY;
        config.fragment_bytes = fragment;
        config.ops = &ops;
        config.ctx = &a;
        s = stream_sender_new(&config, 0);
        REQUIRE(s);
        REQUIRE(stream_sender_attach(s, &t.base, 0) == 0);
        if (!repairs)
            REQUIRE(stream_sender_set_repair(s, REPAIR_MODE_OFF) == REPAIR_MODE_OFF);
    }
    ~sender()
    {
        stream_sender_free(s);
    }
    sender(const sender &) = delete;
    sender &operator=(const sender &) = delete;

    // Even frames belong to the base layer; each is captured on arrival.
    void frame(int64_t number, usec_t now, bool key = false, int size_id = 0, size_t bytes = SMALL,
               bool again = false, int level = 0, usec_t ahead = 0)
    {
        coded_frame *f = coded_frame_new(bytes + 4);
        REQUIRE(f);
        f->number = number;
        f->size_id = size_id;
        f->temporal_id = number % 2 != 0;
        f->key = key;
        f->level = level;
        f->depends_on = key ? -1 : f->temporal_id ? number - 1 : number - 2;
        f->captured = now + ahead;
        f->capture_wall = WALL + now + ahead;
        f->nal_count = 1;
        f->nals[0] = {4, static_cast<uint32_t>(bytes)};
        f->data[4] = 5;
        again ? stream_sender_frame_again(s, f, now) : stream_sender_frame(s, f, now);
        coded_frame_unref(f);
    }
    void audio(int64_t position, usec_t now, usec_t ahead = 0)
    {
        coded_audio *c = coded_audio_new();
        REQUIRE(c);
        c->position = position;
        c->captured = now + ahead;
        c->bytes = 80;
        stream_sender_audio(s, c, now);
        coded_audio_unref(c);
    }
    void missing(size_t packet, usec_t now) // of those that were sent
    {
        rtcp_item item{};
        item.kind = RTCP_IS_NACK;
        item.media_ssrc = stream_sender_rtp(s, t.all[packet].track)->ssrc;
        item.nack_count = 1;
        item.nacks[0].pid = t.all[packet].rtp.seq;
        stream_sender_feedback(s, &item, now);
    }
    void pli(usec_t now)
    {
        rtcp_item item{};
        item.kind = RTCP_IS_PLI;
        item.media_ssrc = stream_sender_rtp(s, TRACK_VIDEO)->ssrc;
        stream_sender_feedback(s, &item, now);
    }
    stream_sender_stats stats(usec_t now = 0) const
    {
        stream_sender_stats out;
        stream_sender_read(s, &out, now);
        return out;
    }
    std::vector<int> numbers() const // of the frames whose packets left, in order
    {
        std::vector<int> out;
        for (const auto &p : t.all)
            out.push_back(static_cast<int>(p.rtp.adu.frame));
        return out;
    }
};
using list = std::vector<int>;
} // namespace

TEST_CASE("stream_sender: a frame is sent in packets of max size, with its ADU fields")
{
    sender v;
    CHECK(v.t.media_bps == 375000); // 2.5 times the level's rate
    stream_sender_play(v.s, 0);
    CHECK(v.a.take() == "+size 0");
    v.frame(0, 1000, true, 0, 3000);
    REQUIRE(v.t.all.size() == 3);
    CHECK(v.t.all[0].bytes.size() == 1200);
    CHECK(v.t.all[1].bytes.size() == 1200);
    CHECK(v.t.unflushed == 0);
    for (size_t i = 0; i < 3; i++) {
        const rtp_packet &p = v.t.all[i].rtp;
        CHECK(p.adu.key);
        CHECK(p.adu.first == (i == 0));
        CHECK(p.adu.last == (i == 2));
        CHECK(p.marker == (i == 2));
        CHECK(p.has_capture == (i == 0));
        CHECK(p.adu.level == 1);
        CHECK(p.adu.written_us == static_cast<uint32_t>(WALL + 1000));
    }
    CHECK(v.t.all[0].rtp.capture_wall == Approx(WALL + 1000).margin(1));
    v.frame(1, 2000);
    CHECK(v.t.all[3].rtp.adu.depends == 1);
    CHECK(v.t.all[3].rtp.adu.temporal_id == 1);
    CHECK(v.t.all[3].rtp.timestamp - v.t.all[0].rtp.timestamp == 9000); // of 10 frames/s
}

TEST_CASE("stream_sender: a frame is cut into fragments of the server's size")
{
    sender v(LIVE, 1, false, false, true, false, 500);
    stream_sender_play(v.s, 0);
    v.frame(0, 1000, true, 0, 1001); // FU-A packets have the NAL unit's first byte in their heads
    REQUIRE(v.t.all.size() == 2);
    const size_t head = rtp_header_bytes(&v.t.all[1].rtp);
    CHECK(v.t.all[1].bytes.size() == head + 2 + 500);
    v.frame(2, 2000, false, 0, 502); // fits a packet as it is
    CHECK(v.t.all.size() == 3);
    sender large(LIVE, 1, false, false, true, false, 1400); // more than the path allows
    stream_sender_play(large.s, 0);
    large.frame(0, 1000, true, 0, 3000);
    CHECK(large.t.all[0].bytes.size() == 1200);
}

TEST_CASE("stream_sender: frames of unwatched sizes, or during a pause, are not sent")
{
    sender v;
    v.frame(0, 0, true);
    stream_sender_play(v.s, 0);
    v.frame(2, 0); // the key frame has not come
    v.frame(4, 0, true);
    stream_sender_pause(v.s);
    v.frame(5, 0);
    CHECK(v.numbers() == list{4});
    CHECK(v.a.take() == "+size 0, -size 0");
    CHECK_FALSE(stream_sender_is_playing(v.s));
    CHECK(v.t.asked == 1); // a transport is not asked for room that nothing needs
}

TEST_CASE(
    "stream_sender: another size is watched together with the current one until its key frame")
{
    sender v;
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true);
    v.a.take();
    CHECK(stream_sender_set_level(v.s, 4, 0) == ERR_RANGE);
    CHECK(stream_sender_set_level(v.s, 3, 0) == 0);
    CHECK(v.t.media_bps == 1000000);
    CHECK(v.a.take() == "+size 1");
    v.frame(1, 0);
    CHECK(stream_sender_size(v.s) == 0);
    CHECK(stream_sender_set_level(v.s, 0, 0) == 0); // changed its mind
    CHECK(v.a.take() == "-size 1");
    CHECK(stream_sender_set_level(v.s, 2, 0) == 0);
    v.frame(2, 0, true, 1);
    CHECK(v.a.take() == "+size 1, -size 0");
    v.frame(3, 0, false, 1); // above the level
    CHECK(v.numbers() == list{0, 1, 2});
    CHECK(v.t.all[2].rtp.adu.size_id == 1);
    CHECK(v.t.all[2].rtp.adu.level == 2);
    stream_sender_stop(v.s);
    CHECK(v.a.take() == "-size 1");
}

TEST_CASE("stream_sender: media that holds frames back is told when none waits, and loses none")
{
    sender v(HELD);
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true, 0, 3000);
    CHECK(v.a.drained_times == 1);
    v.t.room = 0;
    v.frame(2, 0);
    v.frame(1, 0);
    CHECK(stream_sender_has_waiting(v.s));
    CHECK(v.a.drained_times == 1);
    v.t.room = 1;
    stream_sender_pump(v.s, 300 * USEC_PER_SEC); // five minutes later
    CHECK(v.a.drained_times == 1);
    v.t.room = 2;
    stream_sender_pump(v.s, 600 * USEC_PER_SEC);
    CHECK(v.a.drained_times == 2);
    CHECK(v.numbers() == list{0, 0, 0, 2, 1});
    CHECK(v.stats(600 * USEC_PER_SEC).skipped == 0);
}

TEST_CASE("stream_sender: late frames of such media are dropped once the viewer has set a latency")
{
    sender v(HELD);
    stream_sender_set_latency(v.s, LATENCY);
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true);
    v.frame(2, USEC_PER_SEC);
    v.t.room = 0;
    v.frame(4, 2 * USEC_PER_SEC);
    v.t.room = 2;
    stream_sender_pump(v.s, 10 * USEC_PER_SEC);
    CHECK(v.numbers() == list{0, 2});
    CHECK(v.stats(10 * USEC_PER_SEC).skipped == 1);
}

TEST_CASE("stream_sender: seconds of audio count as waiting media")
{
    sender v(HELD);
    stream_sender_add_audio(v.s, 64000);
    stream_sender_play(v.s, 0);
    v.t.room = 0;
    int packets = 0;
    for (; !stream_sender_has_waiting(v.s) && packets < AUDIO_QUEUE_PACKETS; packets++)
        v.audio(packets * 960, 0);
    CHECK(packets == AUDIO_QUEUE_PACKETS / 2);
    v.t.room = 1 << 30;
    stream_sender_pump(v.s, 60 * USEC_PER_SEC);
    stream_sender_pump(v.s, 60 * USEC_PER_SEC);
    CHECK(v.t.all.size() == static_cast<size_t>(packets));
    CHECK(v.stats().audio_dropped == 0);
}

TEST_CASE("stream_sender: what media that is held back lacks is sent again, however late")
{
    for (media of : {STORED, HELD}) {
        sender v(of, 1, true);
        stream_sender_play(v.s, 0);
        v.frame(0, 0, true);
        v.frame(2, 0);
        v.missing(0, 60 * USEC_PER_SEC);
        CHECK(v.t.all.size() == (of == HELD ? 3 : 2));
    }
}

TEST_CASE("stream_sender: the end of a film and a pause are repaired, a stop is not")
{
    enum { AT_THE_END, IN_A_PAUSE, AFTER_A_STOP };
    for (media of : {LIVE, HELD}) {
        for (int what : {AT_THE_END, IN_A_PAUSE, AFTER_A_STOP}) {
            INFO("media " << of << ", case " << what);
            sender v(of, 1, true);
            stream_sender_add_audio(v.s, 64e3);
            stream_sender_play(v.s, 0);
            v.frame(0, 0, true);
            v.audio(0, 0);
            REQUIRE(v.t.all.size() == 2);
            if (what == AT_THE_END)
                stream_sender_end(v.s, 10 * MS);
            else if (what == IN_A_PAUSE)
                stream_sender_pause(v.s);
            else
                stream_sender_stop(v.s);
            REQUIRE_FALSE(stream_sender_is_playing(v.s));
            v.missing(0, 60 * MS);
            v.missing(1, 60 * MS);
            CHECK(v.t.all.size() == (of == HELD && what != AFTER_A_STOP ? 4 : 2));
        }
    }
}

TEST_CASE("stream_sender: a film's audio is sent again from its last 20 s, until it arrives")
{
    sender v(HELD, 1, true);
    stream_sender_add_audio(v.s, 64e3);
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true);
    for (int n = 0; n < 900; n++) // many times faster than they are heard
        v.audio(n * 960, n * MS);
    size_t sent = v.t.all.size();
    REQUIRE(sent == 901);
    for (int round = 1; round <= 5; round++) {
        v.missing(1, (1000 + round * 100) * MS);
        CHECK(v.t.all.size() == sent + static_cast<size_t>(round));
    }
}

TEST_CASE("stream_sender: a frame that cannot be given again now is requested again from the media")
{
    sender v(STORED);
    v.a.has_again = false;
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true, 0, 3000);
    v.a.take();
    v.missing(1, 10 * MS);
    CHECK(v.a.take() == "again 0/0");
    v.a.has_again = true;
    v.missing(1, 20 * MS);
    v.missing(1, 30 * MS);
    CHECK(v.a.take() == "again 0/0");
}

TEST_CASE("stream_sender: only the newest useful frames wait for room, and a loss is repaired")
{
    sender v;
    stream_sender_play(v.s, 0);
    v.t.room = 0;
    for (int n = 0; n < 10; n++)
        v.frame(n, n * 100 * MS, n == 0);
    CHECK(v.t.all.empty());
    CHECK(v.a.take() == "+size 0, repair 0/0"); // others fell with it
    CHECK(v.stats(900 * MS).waiting_frames == 0);
    v.frame(10, 1000 * MS, true);
    CHECK(v.stats(1050 * MS).waiting == 50 * MS);
    v.t.room = 1;
    stream_sender_pump(v.s, 1100 * MS);
    CHECK(v.numbers() == list{10});
    CHECK(v.stats().skipped == 10);
}

TEST_CASE("stream_sender: a greedy source returns to the loop after 64 packets")
{
    sender v(GREEDY);
    CHECK(v.t.media_bps == 150000); // no frames, so no peaks
    stream_sender_play(v.s, 0);
    CHECK(stream_sender_next_timeout(v.s) == 0);
    stream_sender_on_timeout(v.s, 5);
    CHECK(v.t.all.size() == 64);
    CHECK(stream_sender_next_timeout(v.s) == 5);
    v.t.room = 3;
    stream_sender_on_timeout(v.s, 5);
    CHECK(v.t.all.size() == 67);
    CHECK(stream_sender_next_timeout(v.s) == USEC_NEVER); // until there is room
    CHECK(v.a.take().empty());
}

TEST_CASE("stream_sender: steady filler is sent at its rate")
{
    sender v(STEADY, 3); // 400 kbit/s: 1200 bytes each 24 ms
    stream_sender_play(v.s, 0);
    usec_t now = 0;
    while ((now = stream_sender_next_timeout(v.s)) < USEC_PER_SEC)
        stream_sender_on_timeout(v.s, now);
    CHECK(v.t.all.size() == 42);
    CHECK(v.t.all[41].at == 41 * 24 * MS);
    v.t.room = 0; // for 2 s: what waited longer than the latency is left out
    stream_sender_pump(v.s, 2 * USEC_PER_SEC);
    v.t.room = 1 << 30;
    stream_sender_pump(v.s, 3 * USEC_PER_SEC);
    CHECK(v.t.all.size() == 42 + 17); // of 400 ms
    CHECK(v.t.all[42].rtp.adu.written_us ==
          static_cast<uint32_t>(WALL + v.t.all[42].rtp.adu.frame * 24 * MS));
}

TEST_CASE("stream_sender: a lost live packet is repaired by the encoder")
{
    sender v;
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true);
    v.frame(1, 100 * MS);
    v.frame(2, 200 * MS);
    v.a.take();
    v.missing(1, 300 * MS); // nothing depends on the top layer
    CHECK(v.a.take().empty());
    v.missing(2, 300 * MS);
    CHECK(v.a.take() == "repair 0/2");
    v.pli(300 * MS);
    CHECK(v.a.take() == "key 0");
    rtcp_item other{};
    other.kind = RTCP_IS_PLI;
    other.media_ssrc = stream_sender_rtp(v.s, TRACK_VIDEO)->ssrc + 1;
    stream_sender_feedback(v.s, &other, 300 * MS);
    CHECK(v.a.take().empty());
    other.kind = RTCP_IS_NACK;
    other.media_ssrc = 0;
    other.nack_count = 1;
    stream_sender_feedback(v.s, &other, 300 * MS);
    CHECK(v.a.take().empty());
    for (int i = 0; i < 20; i++)
        v.pli(300 * MS);
    CHECK(v.stats().feedback_dropped == 11);
}

TEST_CASE("stream_sender: a PLI that names no source is for the video, as Janus sends it")
{
    sender v(LIVE, 3);
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true);
    v.a.take();
    rtcp_item pli{};
    pli.kind = RTCP_IS_PLI;
    stream_sender_feedback(v.s, &pli, 300 * MS);
    CHECK(v.a.take() == "key 1");
}

TEST_CASE("stream_sender: the key frame that began a size is lost")
{
    sender v;
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true);
    CHECK(stream_sender_set_level(v.s, 3, 0) == 0);
    v.pli(50 * MS); // the first size is still the one that is sent
    CHECK(v.a.take().find("key 0") != std::string::npos);
    v.frame(2, 100 * MS, true, 1);
    v.frame(3, 150 * MS, false, 1);
    v.a.take();
    v.missing(1, 200 * MS);
    CHECK(v.a.take() == "repair 1/2"); // by a key frame, if the encoder has no other reference
    v.pli(200 * MS);
    CHECK(v.a.take() == "key 1");
    v.frame(4, 250 * MS, true, 1);
    CHECK(v.numbers() == list{0, 2, 3, 4});
}

TEST_CASE("stream_sender: a lost packet is sent again first, as long as it can arrive in time")
{
    sender v(LIVE, 1, true); // the round trip is taken for 50 ms, with 10 ms of jitter
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true);
    v.t.room = 0;
    v.frame(2, 200 * MS);
    v.a.take();
    v.missing(0, 250 * MS);
    CHECK(v.numbers() == list{0});
    v.t.room = 10;
    stream_sender_pump(v.s, 300 * MS);
    CHECK(v.numbers() == list{0, 0, 2});
    CHECK(v.t.all[1].bytes == v.t.all[0].bytes);
    v.missing(0, 349 * MS); // the copy may yet have arrived when the viewer reported
    CHECK(v.numbers() == list{0, 0, 2});
    v.missing(0, 360 * MS);
    CHECK(v.numbers() == list{0, 0, 2, 0});
    CHECK(v.a.take().empty());
    v.missing(0, 676 * MS); // too late: playing does not wait for it longer
    CHECK(v.a.take() == "repair 0/0");
    v.frame(3, 740 * MS);
    v.missing(4, 1150 * MS); // nothing depends on the top layer
    CHECK(v.a.take().empty());
    stream_sender_stats of = v.stats();
    CHECK(of.repair_mode == REPAIR_MODE_RESEND);
    CHECK(of.repair.resent == 2);
    CHECK(of.repair.invalidations == 1);
    CHECK(of.repair.not_resent[REPAIR_TOO_LATE] == 2);
    CHECK(of.repair.not_resent[REPAIR_UNDER_WAY] == 1);
}

TEST_CASE("stream_sender: the viewer's playout is the deadline of repair")
{
    sender v(LIVE, 1, true);
    stream_sender_set_playout(v.s, 200 * MS); // of which 20 ms are for decoding and display
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true);
    v.frame(2, 0);
    v.a.take();
    v.missing(0, 144 * MS); // the last chance: two copies
    CHECK(v.numbers() == list{0, 2, 0, 0});
    v.missing(1, 456 * MS); // 300 ms after it
    CHECK(v.numbers() == list{0, 2, 0, 0});
    CHECK(v.a.take() == "repair 0/2");
}

TEST_CASE("stream_sender: a flood of NACKs gets its share of the bytes, and no more")
{
    sender v(LIVE, 1, true);
    stream_sender_set_playout(v.s, 60 * USEC_PER_SEC);
    stream_sender_play(v.s, 0);
    usec_t now = 0;
    for (int n = 0; n < 3000; n++, now += 10 * MS) {
        v.frame(n, now, n == 0, 0, 1000);
        for (size_t i = v.t.all.size() > 40 ? v.t.all.size() - 40 : 0; i < v.t.all.size(); i++)
            v.missing(i, now);
    }
    const repair_stats of = v.stats(now).repair;
    CHECK(of.media_packets == 3000);
    // 30 % of the media, and the first credit of 96 kB
    CHECK(of.repair_bytes > 10000);
    CHECK(of.repair_bytes <= 0.3 * of.media_bytes + 96000);
    CHECK(v.stats().feedback_dropped > 0);
}

TEST_CASE("stream_sender: repair leaves the encoder what the transport carries without it")
{
    auto encoder_bps = [](bool loses) {
        sender v(LIVE, 3, true, true);
        v.t.base.responsive = true;
        v.t.info.allowed_bps = 130000;
        v.t.info.latest_rtt_ms = 40;
        stream_sender_set_playout(v.s, 2 * USEC_PER_SEC);
        stream_sender_play(v.s, 0);
        double made = 0;
        std::string bps;
        for (int n = 0; n < 200; n++) {
            usec_t now = n * 100 * MS;
            size_t sent = v.t.all.size();
            v.t.info.delivered_bytes = made;
            v.frame(n, now, n % 2 == 0, stream_sender_size(v.s), 1000);
            if (loses && n % 4 == 0 && v.t.all.size() > sent)
                v.missing(sent, now + 60 * MS);
            for (size_t i = sent; i < v.t.all.size(); i++)
                made += static_cast<double>(v.t.all[i].bytes.size());
            std::string said = v.a.take();
            size_t at = said.rfind(" at ");
            bps = at == std::string::npos ? bps : said.substr(at + 4);
        }
        CHECK((v.stats(20 * USEC_PER_SEC).repair_share > 0.1) == loses);
        REQUIRE_FALSE(bps.empty());
        return std::stod(bps);
    };
    double with = encoder_bps(true), without = encoder_bps(false);
    CHECK(with < 0.9 * without);
    CHECK(with > 0.6 * without); // repair takes 30 % at most
}

TEST_CASE("stream_sender: modes of repair, and where there is none")
{
    sender known(LIVE, 1, true);
    known.t.wishes = true;
    known.t.wish = {20000, 0};
    CHECK(stream_sender_set_repair(known.s, REPAIR_MODE_AUTO) == REPAIR_MODE_AUTO);
    stream_sender_play(known.s, 0);
    known.frame(0, 0, true, 0, 3000);
    CHECK(known.t.all[0].bytes.size() < 1170); // its parity fits
    CHECK(known.t.all[0].rtp.feedback.has_number);
    sender filler(STEADY, 1, true);
    CHECK(stream_sender_set_repair(filler.s, REPAIR_MODE_AUTO) == REPAIR_MODE_OFF);
    sender off(LIVE, 1, true);
    CHECK(stream_sender_set_repair(off.s, REPAIR_MODE_OFF) == REPAIR_MODE_OFF);
}

TEST_CASE("stream_sender: a packet of a stored frame is sent again; the frame, once it is not kept")
{
    sender v(STORED, 1, true);
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true, 0, 3000);
    v.a.take();
    v.missing(1, 3000 * MS); // the viewer's buffer is not known: 10 s are assumed
    REQUIRE(v.t.all.size() == 4);
    CHECK(v.t.all[3].bytes == v.t.all[1].bytes);
    CHECK(v.a.take().empty());
    for (int n = 2; v.t.all.size() < 2200; n += 2)
        v.frame(n, 3100 * MS, false, 0, 3000);
    v.missing(2, 3200 * MS);
    CHECK(v.a.take() == "again 0/0");
}

TEST_CASE("stream_sender: a stored frame is sent again whole, once for all its losses")
{
    sender v(STORED);
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true, 0, 3000);
    v.a.take();
    v.missing(1, 10 * MS);
    v.missing(2, 10 * MS);
    CHECK(v.a.take() == "again 0/0");
    v.frame(0, 20 * MS, true, 0, 3000, true);
    CHECK(v.t.all.size() == 6);
    v.pli(30 * MS);
    CHECK(v.a.take() == "key 0");
}

TEST_CASE("stream_sender: a pause returns the waiting frames of a file")
{
    sender v(STORED);
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true);
    v.t.room = 0;
    v.frame(2, 0);
    v.frame(1, 0);
    stream_sender_pause(v.s);
    CHECK(v.a.take() == "+size 0, -size 0, rewind 2");
    CHECK(stream_sender_is_idle(v.s));
    v.t.room = 10;
    stream_sender_play(v.s, 0);
    v.frame(2, 0); // no key frame is needed
    CHECK(v.numbers() == list{0, 2});
}

TEST_CASE("stream_sender: a film that is encoded loses nothing to a pause")
{
    sender v(FILM);
    stream_sender_add_audio(v.s, 64e3);
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true);
    v.t.room = 0;
    v.frame(1, 0);
    v.audio(0, 0);
    stream_sender_pause(v.s);
    v.frame(2, 10 * MS); // was on its way
    v.audio(960, 10 * MS);
    v.t.room = 100;
    stream_sender_pump(v.s, 20 * MS);
    CHECK(v.t.all.size() == 1); // nothing leaves in the pause
    const usec_t later = 2 * 3600 * USEC_PER_SEC;
    SECTION("it goes on")
    {
        stream_sender_play(v.s, later);
        CHECK(stream_sender_next_timeout(v.s) == later);
        stream_sender_on_timeout(v.s, later);
        v.frame(3, later);
        CHECK(v.a.playing == 1);
        CHECK(v.stats().skipped == 0);
        CHECK(v.stats().audio_dropped == 0);
        std::vector<std::string> sent;
        for (const auto &p : v.t.all)
            sent.push_back((p.track == TRACK_AUDIO ? "a" : "v") + std::to_string(p.rtp.adu.frame));
        CHECK(sent == std::vector<std::string>{"v0", "a0", "a960", "v1", "v2", "v3"});
    }
    SECTION("its end was on its way, too")
    {
        stream_sender_end(v.s, 30 * MS);
        v.a.take();
        stream_sender_play(v.s, later);
        CHECK(v.a.take().empty()); // a source that is watched would begin again
        stream_sender_on_timeout(v.s, later);
        CHECK(v.t.all.size() == 5);
        CHECK(v.a.take() == "audio begun, end");
        stream_sender_play(v.s, later + MS);
        CHECK(v.a.take() == "+size 0, +audio");
    }
    SECTION("the viewer goes elsewhere")
    {
        stream_sender_go_to(v.s, 10, false);
        stream_sender_play(v.s, later);
        stream_sender_on_timeout(v.s, later);
        v.frame(3, later);
        v.frame(10, later, true);
        CHECK(v.numbers() == list{0, 10});
    }
    SECTION("another viewer has it run on")
    {
        v.a.alone = false;
        v.frame(3, later);
        v.a.alone = true;
        stream_sender_play(v.s, later);
        stream_sender_on_timeout(v.s, later);
        v.frame(4, later + MS, true);
        const list sent = v.numbers();
        CHECK(std::count(sent.begin(), sent.end(), 3) == 0);
        CHECK(sent.back() == 4);
    }
}

TEST_CASE("stream_sender: a film's frames and audio wait for the network, whatever it follows")
{
    for (bool follows : {false, true}) {
        CAPTURE(follows);
        sender v(FILM, 1, false, follows);
        stream_sender_add_audio(v.s, 64e3);
        stream_sender_play(v.s, 0);
        v.t.room = 0;
        for (int i = 0; i < 40; i++) {
            v.frame(i, i * 100 * MS, i == 0);
            v.audio(i * 4800, i * 100 * MS);
        }
        v.t.room = 1000;
        stream_sender_pump(v.s, 60 * USEC_PER_SEC);
        stream_sender_pump(v.s, 60 * USEC_PER_SEC);
        CHECK(v.t.all.size() == 80);
        CHECK(v.stats().skipped == 0);
        CHECK(v.stats().audio_dropped == 0);
    }
}

TEST_CASE("stream_sender: a frame that has begun to leave still leaves whole")
{
    sender v;
    v.t.base.reliable = true;
    stream_sender_play(v.s, 0);
    v.t.room = 1;
    v.frame(0, 0, true, 0, 3000);
    v.frame(1, 0);
    stream_sender_pause(v.s);
    v.t.room = 10;
    stream_sender_pump(v.s, 100 * MS);
    CHECK(v.numbers() == list{0, 0, 0});
    CHECK(stream_sender_is_idle(v.s));
}

TEST_CASE("stream_sender: a seek")
{
    sender v;
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true);
    v.t.room = 0;
    v.frame(1, 0);
    v.a.take();
    stream_sender_go_to(v.s, 100, false);
    CHECK(v.a.take() == "key 0 from 100");
    v.t.room = 10;
    v.frame(2, 0, true);
    v.a.take();
    v.frame(100, 0);
    CHECK(v.a.take() == "key 0 from 100");
    v.frame(102, 0, true);
    CHECK(v.numbers() == list{0, 102});
}

TEST_CASE("stream_sender: one instant for both tracks, from the frames; audio may not know it")
{
    sender v;
    stream_sender_add_audio(v.s, 64e3);
    stream_sender_play(v.s, 0);
    v.t.room = 100;
    const rtp_instant *of = stream_sender_instant(v.s);
    v.audio(0, 0); // its capture time is not known
    CHECK(!of->known);
    v.frame(0, 30 * MS, true, 0, SMALL, false, 0, 2000 * MS); // sent 2 s before its time
    REQUIRE(of->known);
    CHECK(of->media == 0);
    CHECK(of->wall == WALL + 2030 * MS);
    v.audio(96000, 40 * MS);
    CHECK(of->wall == WALL + 2030 * MS);
    CHECK(v.a.take() == "+size 0, +audio, audio begun, video begun");
    stream_sender_pause(v.s);
    stream_sender_play(v.s, 9000 * MS); // what was known does not hold after a pause
    CHECK(!of->known);
    v.frame(30, 9000 * MS, true);
    CHECK(of->wall == WALL + 9000 * MS);
    CHECK(v.a.take().find("video begun") != std::string::npos);
}

TEST_CASE("stream_sender: audio is sent first, each track is announced, and late audio is dropped")
{
    sender v;
    stream_sender_add_audio(v.s, 64e3);
    stream_sender_play(v.s, 0);
    CHECK(v.a.take() == "+size 0, +audio");
    v.t.room = 0;
    v.frame(0, 0, true);
    v.audio(0, 0);
    v.audio(960, 20 * MS);
    v.t.room = 10;
    stream_sender_pump(v.s, 30 * MS);
    REQUIRE(v.t.all.size() == 3);
    CHECK(v.t.all[0].track == TRACK_AUDIO);
    CHECK(v.t.all[1].rtp.adu.frame == 960);
    CHECK(v.t.all[2].track == TRACK_VIDEO);
    CHECK(v.a.take() == "audio begun, video begun");
    v.t.room = 0;
    v.audio(1920, 40 * MS);
    v.t.room = 10;
    stream_sender_pump(v.s, 40 * MS + LATENCY + 1);
    CHECK(v.t.all.size() == 3);
    CHECK(v.stats().audio_dropped == 1);
    stream_sender_pause(v.s);
    CHECK(v.a.take() == "-audio, -size 0");
}

TEST_CASE("stream_sender: what is sent ahead of its time leaves in the order of the media")
{
    auto order = [&](usec_t pumped) {
        sender v;
        stream_sender_add_audio(v.s, 64e3);
        stream_sender_play(v.s, 0);
        v.t.room = 0;
        for (int i = 0; i < 3; i++) {
            v.audio(i * 1920, 0, i * 40 * MS);
            v.frame(i, 0, i == 0, 0, SMALL, false, 0, i * 40 * MS);
        }
        v.t.room = 10;
        stream_sender_pump(v.s, pumped);
        std::string text;
        for (auto &p : v.t.all)
            text += p.track == TRACK_AUDIO ? "a" : "v";
        return text;
    };
    CHECK(order(0) == "avavav");
    CHECK(order(40 * MS) == "aavvav"); // the time of the second one has come
    CHECK(order(80 * MS) == "aaavvv");

    // It waits from its time on, and does not wait when its queue is half full.
    sender v;
    stream_sender_add_audio(v.s, 64e3);
    stream_sender_play(v.s, 0);
    v.t.room = 0;
    v.frame(0, 0, true);
    for (int i = 0; i < AUDIO_QUEUE_PACKETS / 2; i++)
        v.audio(i * 960, 0, LATENCY + i * 20 * MS);
    v.t.room = 1;
    stream_sender_pump(v.s, 0);
    v.t.room = 1;
    stream_sender_pump(v.s, 0);
    REQUIRE(v.t.all.size() == 2);
    CHECK(v.t.all[0].track == TRACK_AUDIO);
    CHECK(v.t.all[1].track == TRACK_VIDEO);
    v.t.room = 0;
    stream_sender_pump(v.s, 2 * LATENCY);
    CHECK(v.stats().audio_dropped == 0);
    stream_sender_pump(v.s, 2 * LATENCY + 20 * MS + 1);
    CHECK(v.stats().audio_dropped == 1);
}

TEST_CASE("stream_sender: lost audio is sent again, first of all, while it is of use")
{
    for (bool repairs : {true, false}) {
        INFO("repairs " << repairs);
        sender v(LIVE, 1, repairs);
        stream_sender_add_audio(v.s, 64e3);
        stream_sender_play(v.s, 0);
        v.audio(0, 0);
        v.audio(960, 20 * MS);
        v.t.room = 0;
        v.missing(0, 60 * MS);
        v.missing(0, 61 * MS); // the same loss, named twice
        v.audio(1920, 62 * MS);
        v.t.room = 10;
        stream_sender_pump(v.s, 63 * MS);
        REQUIRE(v.t.all.size() == (repairs ? 4 : 3));
        if (!repairs) {
            CHECK(v.t.all[2].rtp.adu.frame == 1920);
            continue;
        }
        const auto &first = v.t.all[0], &copy = v.t.all[2];
        CHECK(copy.track == TRACK_AUDIO);
        CHECK(copy.rtp.seq == first.rtp.seq);
        CHECK(copy.rtp.timestamp == first.rtp.timestamp);
        CHECK(copy.rtp.adu.frame == 0);
        CHECK(copy.rtp.payload_len == first.rtp.payload_len);
        CHECK(v.t.all[3].rtp.seq == static_cast<uint16_t>(first.rtp.seq + 2));
        CHECK(stream_sender_rtp(v.s, TRACK_AUDIO)->packets == 3);
        v.missing(1, LATENCY + USEC_PER_SEC); // too late
        CHECK(v.t.all.size() == 4);
    }
}

TEST_CASE("stream_sender: audio only watches no size, until the video is added")
{
    ladder l = two_sizes();
    sender v;
    stream_sender_config config{};
    config.ladder = &l;
    config.codec = SDP_H264;
    config.start_bps = 1e6;
    config.latency = LATENCY;
    config.audio_only = true;
    config.feed = &v.a;
    config.ops = &v.ops;
    config.ctx = &v.a;
    stream_sender *s = stream_sender_new(&config, 0);
    REQUIRE(s);
    REQUIRE(stream_sender_attach(s, &v.t.base, 0) == 0);
    stream_sender_add_audio(s, 64e3);
    stream_sender_play(s, 0);
    CHECK(v.a.take() == "+audio");
    CHECK_FALSE(stream_sender_has_video(s));
    stream_sender_pause(s);
    stream_sender_add_video(s);
    v.a.take();
    stream_sender_play(s, 0);
    CHECK(v.a.take() == "+size 0, +audio");
    stream_sender_free(s);
}

TEST_CASE("stream_sender: after the end of the media the waiting frames are sent")
{
    sender v;
    stream_sender_play(v.s, 0);
    v.t.room = 0;
    v.frame(0, 0, true);
    v.a.take();
    stream_sender_end(v.s, 0);
    CHECK(v.a.take() == "-size 0"); // the encoder may begin again for others
    CHECK(stream_sender_is_playing(v.s));
    v.t.room = 1;
    stream_sender_pump(v.s, 10 * MS);
    CHECK(v.a.take() == "end");
    CHECK_FALSE(stream_sender_is_playing(v.s));
    CHECK(v.a.playing == 0);
    stream_sender_play(v.s, 20 * MS); // begins again
    CHECK(v.a.take() == "+size 0");
    stream_sender_play(v.s, 20 * MS);
    CHECK(v.a.playing == 1);
    stream_sender_pause(v.s);
    stream_sender_pause(v.s);
    CHECK(v.a.playing == 0);
}

TEST_CASE("stream_sender: a transport that holds what it accepted is blocked, though nothing waits")
{
    sender v;
    stream_sender_play(v.s, 0);
    v.t.info.unsent_bytes = 3000;
    v.t.info.delivered_bytes = 500;
    CHECK(stream_sender_blocked(v.s, 1 * USEC_PER_SEC) == 0); // it delivered since the start
    CHECK(stream_sender_blocked(v.s, 2 * USEC_PER_SEC) == USEC_PER_SEC);
    CHECK(stream_sender_blocked(v.s, 3 * USEC_PER_SEC) == 2 * USEC_PER_SEC);
    v.t.info.delivered_bytes = 600;
    CHECK(stream_sender_blocked(v.s, 4 * USEC_PER_SEC) == 0);
    CHECK(stream_sender_blocked(v.s, 5 * USEC_PER_SEC) == USEC_PER_SEC);
    v.t.info.unsent_bytes = 0;
    CHECK(stream_sender_blocked(v.s, 6 * USEC_PER_SEC) == 0);
}

TEST_CASE("stream_sender: a transport that is closed, and one that accepts nothing")
{
    sender v;
    stream_sender_play(v.s, 0);
    CHECK(stream_sender_blocked(v.s, 30 * USEC_PER_SEC) == 0); // nothing to send
    v.t.room = 0;
    CHECK(stream_sender_blocked(v.s, 31 * USEC_PER_SEC) == USEC_PER_SEC); // all may be dropped
    v.frame(0, 32 * USEC_PER_SEC, true);
    CHECK(stream_sender_blocked(v.s, 33 * USEC_PER_SEC) == 3 * USEC_PER_SEC);
    v.a.take();
    v.t.room = 1;
    v.t.err = ERR_CLOSED;
    stream_sender_pump(v.s, 32 * USEC_PER_SEC);
    CHECK(v.a.take() == "closed");
}

TEST_CASE("stream_sender: a single viewer controls its encoder's rate, several use the levels as "
          "they are")
{
    for (bool alone : {true, false}) {
        sender v(LIVE, 3, false, true);
        v.a.alone = alone;
        stream_sender_play(v.s, 0);
        // The network brings 60 kbit/s, with a delay that grows.
        double delivered = 0;
        std::string said;
        for (int n = 0; n < 40; n++) {
            usec_t now = n * 100 * MS;
            delivered += 60e3 / 8 / 10;
            v.t.info.delivered_bytes = delivered;
            v.t.info.latest_rtt_ms = 20 + 40.0 * n;
            v.frame(n, now, n % 2 == 0, stream_sender_size(v.s), 4000);
            said += v.a.take() + ";";
        }
        INFO(said);
        CHECK(stream_sender_level(v.s) < 3);
        CHECK((said.find(" at ") != std::string::npos) == alone);
        CHECK(v.stats().follows);
        CHECK(v.stats().adaptation.target_bps < 150e3);
        stream_sender_set_follows(v.s, false, 4 * USEC_PER_SEC);
        CHECK(stream_sender_level(v.s) == 3);
        CHECK_FALSE(v.stats().follows);
    }
}

TEST_CASE("stream_sender: of levels that come as they are the network's is sent, from a key frame")
{
    sender v(PASSED_ON, 3, false, true);
    v.a.alone = false;
    CHECK(v.stats().follows);
    stream_sender_play(v.s, 0);
    double delivered = 0;
    std::string said;
    int64_t number = 0;
    // The network brings 200 kbit/s, with a delay that grows; then 2 Mbit/s. Both sizes have a key
    // frame every 10 pictures, those of the small one 5 pictures later.
    for (double rate : {200e3, 2e6})
        for (int n = 0; n < 120; n++, number++) {
            usec_t now = number * 100 * MS;
            delivered += rate / 8 / 10;
            v.t.info.delivered_bytes = delivered;
            v.t.info.latest_rtt_ms = rate < 1e6 ? 20 + 40.0 * n : 20;
            v.frame(number, now, number % 10 == 5, 0, 1500);
            v.frame(number, now, number % 10 == 0, 1, 4500);
            said += v.a.take() + ";";
            if (n == 60 && rate < 1e6)
                CHECK(stream_sender_size(v.s) == 0);
        }
    INFO(said);
    CHECK(stream_sender_size(v.s) == 1);
    CHECK(said.find(" at ") == std::string::npos); // there is no encoder
    CHECK(said.find("+size 0") != std::string::npos);
}

TEST_CASE("stream_sender: a queue on the way back is not the media's, where it is known")
{
    for (bool is_known : {false, true}) {
        sender v(LIVE, 3, false, true);
        stream_sender_play(v.s, 0);
        for (int n = 0; n < 20; n++) {
            v.t.info.delivered_bytes = 4000 * n;
            v.t.info.allowed_bps = 1e6;
            v.t.info.latest_rtt_ms = 20 + 40 * n;
            if (is_known)
                v.t.info.forward_rtt_ms = 20;
            v.frame(n, n * 100 * MS, n % 2 == 0, stream_sender_size(v.s), 4000);
        }
        CHECK((v.stats().adaptation.rise_ms > 100) == !is_known);
    }
}

TEST_CASE("stream_sender: media and transports that do not support adaptation")
{
    sender v(STORED, 3, false, true); // has no encoder
    CHECK_FALSE(v.stats().follows);
    stream_sender_set_follows(v.s, true, 0);
    CHECK_FALSE(v.stats().follows);
    CHECK(stream_sender_level(v.s) == 3);
}

TEST_CASE("stream_sender: the media's speed")
{
    sender v(SYNTHETIC);
    stream_sender_set_speed(v.s, 1.5, 0);
    CHECK(v.t.media_bps == 562500);
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true);
    v.frame(1, 0);
    v.missing(0, 0); // there is no way to repair it
    v.pli(0);
    CHECK(v.a.take() == "+size 0");
    CHECK(v.numbers() == list{0, 1});
}

namespace
{

// A sender of three sizes that are layers of one picture.
struct layered_sender {
    ladder l{};
    open_transport t;
    asked a;
    stream_sender_ops ops{};
    media_feed_ops asks{};
    stream_sender *s = nullptr;

    explicit layered_sender(scheduler_mode mode = SCHEDULER_PRIORITY, size_t limit = 0)
    {
        l.cumulative = true;
        l.source_fps = {25, 1};
        l.source_width = l.source_height = 64;
        l.size_count = l.level_count = 3;
        for (int i = 0; i < 3; i++) {
            l.sizes[i] = {16 << i, 16 << i, {25, 1}, 1};
            l.levels[i] = {i, 0, 100000 * (i + 1)};
        }
        ops.wall = asked::wall;
        ops.on_end = asked::on_end;
        asks.watch = asked::watch;
        asks.repair = asked::repair;
        a.ops = &asks;
        t.base.reliable = true;
        stream_sender_config config{};
        config.ladder = &l;
        config.feed = &a;
        config.codec = SDP_SYNTHETIC;
        config.seed = 1;
        config.level = 2;
        config.start_bps = 1e6;
        config.latency = LATENCY;
        config.queue = mode;
        config.queue_bytes = limit;
        config.ops = &ops;
        config.ctx = &a;
        s = stream_sender_new(&config, 0);
        REQUIRE(s);
        REQUIRE(stream_sender_attach(s, &t.base, 0) == 0);
    }
    ~layered_sender()
    {
        stream_sender_free(s);
    }
    layered_sender(const layered_sender &) = delete;
    layered_sender &operator=(const layered_sender &) = delete;

    void picture(int64_t number, usec_t now)
    {
        for (int size = 0; size < 3; size++) {
            coded_frame *f = coded_frame_new(SMALL + 4);
            REQUIRE(f);
            f->number = number;
            f->size_id = size;
            f->on_lower = size > 0;
            f->key = size == 0;
            f->depends_on = -1;
            f->captured = now;
            f->capture_wall = WALL + now;
            f->nal_count = 1;
            f->nals[0] = {4, SMALL};
            f->data[4] = 12;
            stream_sender_frame(s, f, now);
            coded_frame_unref(f);
        }
    }
    // The frames whose last packet was sent: "number/size" and the level.
    std::string sent()
    {
        std::string out;
        for (const auto &one : t.all)
            if (one.rtp.adu.last) {
                CHECK(one.rtp.adu.on_lower == (one.rtp.adu.size_id > 0));
                out += (out.empty() ? "" : " ") + std::to_string(one.rtp.adu.frame) + "/" +
                       std::to_string(one.rtp.adu.size_id) + "@" +
                       std::to_string(one.rtp.adu.level);
            }
        t.all.clear();
        return out;
    }
};

} // namespace

TEST_CASE("stream_sender: of layered pictures it watches and sends all sizes up to the level's")
{
    layered_sender v;
    stream_sender_play(v.s, 0);
    CHECK(v.a.take() == "+size 0, +size 1, +size 2");
    v.picture(0, 0);
    CHECK(v.sent() == "0/0@2 0/1@2 0/2@2");
    REQUIRE(stream_sender_set_level(v.s, 0, 10 * MS) == 0);
    CHECK(v.a.take() == "-size 1, -size 2");
    v.picture(1, 40 * MS);
    CHECK(v.sent() == "1/0@0");
    REQUIRE(stream_sender_set_level(v.s, 1, 50 * MS) == 0);
    CHECK(v.a.take() == "+size 1");
    v.picture(2, 80 * MS);
    CHECK(v.sent() == "2/0@1 2/1@1");
    stream_sender_pause(v.s);
    CHECK(v.a.take() == "-size 0, -size 1");
}

TEST_CASE(
    "stream_sender: what waits too long loses its largest size first, by the mode of the queue")
{
    // Nothing leaves for 0.8 of the latency; then everything does.
    const struct {
        scheduler_mode mode;
        const char *sent;
    } rows[] = {
        {SCHEDULER_PRIORITY, "0/0@2 1/0@2"},
        {SCHEDULER_DEADLINE, "0/0@2 0/1@2 0/2@2 1/0@2 1/1@2 1/2@2"},
        {SCHEDULER_FIFO, "0/0@2 0/1@2 0/2@2 1/0@2 1/1@2 1/2@2"},
    };
    for (const auto &row : rows) {
        INFO(scheduler_mode_name(row.mode));
        layered_sender v(row.mode);
        stream_sender_play(v.s, 0);
        v.a.take();
        v.t.room = 0;
        v.picture(0, 0);
        v.picture(1, 10 * MS);
        v.t.room = 100;
        stream_sender_pump(v.s, LATENCY * 8 / 10);
        CHECK(v.sent() == row.sent);
        stream_sender_stats stats;
        stream_sender_read(v.s, &stats, LATENCY);
        CHECK(stats.skipped == (row.mode == SCHEDULER_PRIORITY ? 4 : 0));
    }
}

TEST_CASE("stream_sender: a full queue keeps the base layers")
{
    layered_sender v(SCHEDULER_PRIORITY, 3 * (SMALL + 4));
    stream_sender_play(v.s, 0);
    v.t.room = 0;
    for (int64_t n = 0; n < 3; n++)
        v.picture(n, n * 10 * MS);
    v.t.room = 100;
    stream_sender_pump(v.s, 40 * MS);
    CHECK(v.sent() == "0/0@2 1/0@2 2/0@2");
}

TEST_CASE("stream_sender: relayed frames are all sent, at the level that their origin tells")
{
    sender v(RELAYED, 3, false, true);
    CHECK(v.a.take() == "level 3 at most");
    stream_sender_play(v.s, 0);
    CHECK(v.a.take().empty()); // no size is watched
    auto relay = [&](int64_t number, int level, bool key) {
        v.frame(number, 0, key, level / 2, SMALL, false, level);
    };
    relay(0, 3, false); // the viewer could not decode it
    CHECK(v.a.take() == "key 1");
    relay(2, 1, true);
    relay(3, 1, false); // a larger size before its key frame, which was lost, and back
    relay(4, 3, false);
    relay(6, 2, true);
    relay(8, 0, false);
    relay(10, 99, true); // there is no such level
    CHECK(v.numbers() == list{2, 3, 4, 6, 8});
    std::vector<int> levels, sizes;
    for (const auto &p : v.t.all) {
        levels.push_back(p.rtp.adu.level);
        sizes.push_back(p.rtp.adu.size_id);
    }
    CHECK(levels == list{1, 1, 3, 2, 0});
    CHECK(sizes == list{0, 0, 1, 1, 0});
    CHECK(stream_sender_level(v.s) == 0);
    CHECK(v.t.media_bps == 250000);
    CHECK(v.stats().skipped == 0);
    CHECK_FALSE(v.stats().follows); // the origin adapts
}

TEST_CASE("stream_sender: the viewer's requests for a level are the origin's")
{
    sender v(RELAYED, 1);
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true, 0, SMALL, false, 1);
    CHECK(v.a.take() == "level 1");
    CHECK(stream_sender_set_level(v.s, 4, 0) == ERR_RANGE);
    CHECK(stream_sender_set_level(v.s, 2, 0) == 0);
    CHECK(stream_sender_level(v.s) == 1); // until its frames come
    stream_sender_set_follows(v.s, true, 0);
    v.pli(0);
    CHECK(v.a.take() == "level 2, level 2 at most, key 0");
    stream_sender_pause(v.s);
    stream_sender_play(v.s, 0);
    v.frame(2, 0, false, 0, SMALL, false, 1); // frames between may have been dropped
    CHECK(v.a.take() == "key 0");
    CHECK(v.numbers() == list{0});
}

TEST_CASE("stream_sender: what was lost upstream is a gap of numbers, in order; what is dropped "
          "here is none")
{
    sender v(RELAYED);
    stream_sender_play(v.s, 0);
    stream_sender_lost(v.s, 7); // before the first packet
    v.frame(0, 0, true);
    v.t.room = 1;
    v.frame(2, 0);
    v.frame(4, 0); // waits, as do all that follow
    stream_sender_lost(v.s, 3);
    v.frame(6, 0);
    v.frame(7, 0);
    stream_sender_lost(v.s, 2);
    stream_sender_lost(v.s, 1);
    v.frame(8, 300 * MS);
    v.t.room = 2;
    stream_sender_pump(v.s, 300 * MS); // too late for the upper layer, frame 7
    stream_sender_lost(v.s, 5000);
    v.t.room = 10;
    v.frame(10, 300 * MS);
    CHECK(v.numbers() == list{0, 2, 4, 6, 8, 10});
    std::vector<int> steps;
    for (size_t i = 1; i < v.t.all.size(); i++)
        steps.push_back(static_cast<uint16_t>(v.t.all[i].rtp.seq - v.t.all[i - 1].rtp.seq));
    CHECK(steps == list{1, 1, 1 + 3, 1 + 3, 1 + STREAM_SENDER_MAX_GAP});
    CHECK(v.stats().skipped == 1);
    v.missing(5, 300 * MS); // its neighbour's number was never sent
    CHECK(stream_sender_rtp(v.s, TRACK_VIDEO)->packets == 6);
}

TEST_CASE("stream_sender: reports on relayed packets count what left, not the gaps")
{
    sender v(RELAYED);
    v.t.wishes = true;
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true);
    stream_sender_lost(v.s, 9);
    v.frame(2, 0);
    REQUIRE(v.t.all.size() == 2);
    const rtp_packet &first = v.t.all[0].rtp, &second = v.t.all[1].rtp;
    CHECK(static_cast<uint16_t>(second.seq - first.seq) == 10);
    REQUIRE(first.feedback.has_number);
    CHECK(first.feedback.number == first.seq);
    CHECK(static_cast<uint16_t>(second.feedback.number - first.feedback.number) == 1);
}

TEST_CASE("stream_sender: what the transport carries beside relayed media")
{
    sender v(RELAYED, 2);
    stream_sender_play(v.s, 0);
    stream_sender_stats stats;
    stream_sender_read(v.s, &stats, 0);
    CHECK(stats.wanted_bps == 300000);
    CHECK(stats.overhead_bps == 0);
    for (int n = 0; n < 40; n++)
        v.frame(n, n * 50 * MS, n == 0);
    stream_sender_read(v.s, &stats, 2000 * MS);
    CHECK(stats.overhead_bps == Approx(20 * 40 * 8).epsilon(0.1)); // of 20 packets a second
    stream_sender_set_speed(v.s, 2, 2000 * MS);
    stream_sender_read(v.s, &stats, 2000 * MS);
    CHECK(stats.wanted_bps == 600000);
}

TEST_CASE("stream_sender: the max rate of stored media is the highest level within it")
{
    sender v(STORED, 3); // 100, 150, 300 and 400 kbit/s
    stream_sender_play(v.s, 0);
    stream_sender_set_max_rate(v.s, 320000, 0);
    CHECK(v.t.max_bps == 1.05 * 320000 + 32000); // with headers
    v.t.base.responsive = true;
    stream_sender_set_max_rate(v.s, 320000, 0);
    CHECK(v.t.max_bps == 1.25 * 320000 + 32000); // a queue of it becomes shorter
    CHECK(stream_sender_level(v.s) == 2);
    CHECK(v.t.media_bps == 750000);
    CHECK(stream_sender_set_level(v.s, 1, 0) == 0);
    CHECK(stream_sender_level(v.s) == 1);
    CHECK(stream_sender_set_level(v.s, 3, 0) == 0);
    CHECK(stream_sender_level(v.s) == 2);
    stream_sender_set_max_rate(v.s, 0, 0);
    CHECK(stream_sender_level(v.s) == 3);
    CHECK(v.t.max_bps == 0);
}

TEST_CASE("stream_sender: of a limit that counts headers, these are subtracted")
{
    sender v(STORED, 3); // 100, 150, 300 and 400 kbit/s
    v.t.base.responsive = true;
    stream_sender_play(v.s, 0);
    const rate_limit_flow flow = {level_frame_rate(&v.l, 3), 1200 - 12, 0, 0};
    const struct {
        double bps, header_bytes;
        int level;
    } rows[] = {{325000, 40, 1}, {325000, 0, 2}, {345000, 40, 2}, {420001, 0, 3}, {8000, 40, 0}};
    for (const auto &row : rows) {
        CAPTURE(row.bps, row.header_bytes);
        const rate_limit limit = {row.bps, row.header_bytes};
        stream_sender_limit(v.s, &limit, 0);
        CHECK(stream_sender_level(v.s) == row.level);
        CHECK(v.t.max_bps == Approx(rate_limit_divide(&limit, &flow).rtp_bps));
        CHECK(v.t.max_bps < row.bps + 50 * 12 * 8 * (row.header_bytes == 0));
    }
    const rate_limit none = {0, 40};
    stream_sender_limit(v.s, &none, 0);
    CHECK(stream_sender_level(v.s) == 3);
    CHECK(v.t.max_bps == 0);
    const rate_limit limit = {345000, 40};
    stream_sender_limit(v.s, &limit, 0);
    stream_sender_set_max_rate(v.s, 0, 0); // takes it back, too
    CHECK(stream_sender_set_level(v.s, 3, 0) == 0);
    CHECK(stream_sender_level(v.s) == 3);
    CHECK(v.t.max_bps == 0);
}

TEST_CASE("stream_sender: a live encoder follows the max rate also where nothing is measured")
{
    sender v(LIVE, 3, false, true, false);
    stream_sender_set_max_rate(v.s, 200000, 0); // does not play yet
    CHECK(v.a.take().find("at") == std::string::npos);
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true, 1);
    v.a.take();
    stream_sender_set_max_rate(v.s, 200000, 100 * MS);
    CHECK(v.a.take() == "size 1 at 200000");
    CHECK(stream_sender_level(v.s) == 3);
    stream_sender_set_max_rate(v.s, 120000, 200 * MS);
    CHECK(v.a.take() == "size 1 at 160000"); // of which the level is three quarters
    CHECK(stream_sender_level(v.s) == 2);
    v.a.alone = false;
    stream_sender_set_max_rate(v.s, 350000, 300 * MS);
    CHECK(v.a.take() == "size 1 at 0");
    CHECK(stream_sender_level(v.s) == 2);
    stream_sender_set_max_rate(v.s, 0, 400 * MS);
    CHECK(v.a.take().empty());
    CHECK(stream_sender_level(v.s) == 3);
}

TEST_CASE("stream_sender: where nothing is measured, the encoder is set free when a viewer joins")
{
    sender v(LIVE, 3, false, true, false);
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true, 1);
    stream_sender_set_max_rate(v.s, 350000, 100 * MS);
    v.a.take();
    v.a.alone = false;
    stream_sender_confirm(v.s, 200 * MS);
    CHECK(v.a.take() == "size 1 at 0");
    CHECK(stream_sender_level(v.s) == 2);
    stream_sender_confirm(v.s, 300 * MS);
    CHECK(v.a.take().empty());
    v.a.alone = true;
    stream_sender_confirm(v.s, 400 * MS);
    CHECK(v.a.take() == "size 1 at 350000");
    CHECK(stream_sender_level(v.s) == 3);
    stream_sender_stop(v.s);
    v.a.take();
    stream_sender_confirm(v.s, 500 * MS);
    CHECK(v.a.take().empty());
}

TEST_CASE("stream_sender: a live encoder follows the max rate")
{
    sender v(LIVE, 3, false, true);
    stream_sender_play(v.s, 0);
    for (int n = 0; n < 20; n++)
        v.frame(n, n * 100 * MS, n == 0, 1);
    v.a.take();
    stream_sender_set_max_rate(v.s, 350000, 2000 * MS);
    v.t.info.delivered_bytes = 1e6;
    v.frame(20, 2000 * MS, false, 1);
    CHECK(v.a.take() == "size 1 at 350000");
    CHECK(stream_sender_level(v.s) == 3);
}

TEST_CASE("stream_sender: what the transport's queue dropped is known at once")
{
    struct queueing : sender {
        queueing() : sender(LIVE, 1, false, false, true, true) {}
        bool leaves(size_t i)
        {
            open_transport::sent &p = t.all[i];
            return t.base.queue->leaves(t.base.queue_ctx, p.bytes.data(), p.bytes.size());
        }
        uint16_t seq(size_t i) // on the wire
        {
            return load_be16(t.all[i].bytes.data() + 2);
        }
        void drop(size_t i)
        {
            const open_transport::sent &p = t.all[i];
            t.base.queue->dropped(t.base.queue_ctx, p.bytes.data(), p.bytes.size());
        }
    } v;
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true, 0, 3000);
    v.frame(1, 33 * MS, false, 0, 2000);
    v.frame(2, 66 * MS, false, 0, 2000);
    REQUIRE(v.t.all.size() == 7);
    v.a.take();
    uint16_t first = v.seq(0);
    for (size_t i = 0; i < 3; i++)
        CHECK(v.leaves(i));
    v.drop(3);
    CHECK(v.a.take() == ""); // no frame depends on the top layer's
    CHECK(v.stats().queue_dropped == 1);
    v.drop(4);
    CHECK(v.leaves(5));
    CHECK(v.seq(5) == static_cast<uint16_t>(first + 3)); // no gap
    v.drop(6);
    CHECK(v.a.take() == "repair 0/2");
    CHECK(v.stats().queue_dropped == 2);
    CHECK(v.stats().skipped == 2);
    CHECK(stream_sender_next_seq(v.s, TRACK_VIDEO) == static_cast<uint16_t>(first + 4));
    // What depends on the dropped frame is dropped by the scheduler, until the encoder follows.
    v.frame(4, 133 * MS);
    CHECK(v.t.all.size() == 7);
    CHECK(v.stats().frames.dropped[DROP_BROKEN][0] == 1);
    v.frame(6, 200 * MS, true);
    REQUIRE(v.t.all.size() == 8);
    CHECK(v.leaves(7));
    CHECK(v.seq(7) == static_cast<uint16_t>(first + 4));
    // The viewer's requests use the numbers that it sees.
    v.t.all[7].rtp.seq = v.seq(7);
    v.missing(7, 210 * MS);
    CHECK(v.a.take() == "repair 0/6");
}

TEST_CASE("stream_sender: a drop of long ago is not held against the frame that leaves now")
{
    sender v(LIVE, 1, false, false, true, true);
    stream_sender_play(v.s, 0);
    usec_t now = 0;
    int64_t n = 0;
    for (; v.t.all.size() <= RTP_SENDER_HISTORY; n += 2, now += MS) {
        v.t.room = 1000;
        v.frame(n, now, true, 0, 50000);
        stream_sender_pump(v.s, now);
    }
    REQUIRE(v.stats().waiting_frames == 0);
    v.t.room = 1;
    v.frame(n, now, true, 0, 5000);
    REQUIRE(v.stats().waiting_frames == 1);
    uint64_t skipped = v.stats().skipped;
    size_t begun = v.t.all.size();
    v.a.take();
    const auto &old = v.t.all[0];
    v.t.base.queue->dropped(v.t.base.queue_ctx, old.bytes.data(), old.bytes.size());
    CHECK(v.a.take() == "");
    v.t.room = 10;
    stream_sender_pump(v.s, now);
    CHECK(v.t.all.size() > begun);
    CHECK(v.stats().skipped == skipped);
}

TEST_CASE("stream_sender: the rest of a frame that the transport's queue cut does not leave")
{
    sender v(LIVE, 1, false, false, true, true);
    stream_sender_play(v.s, 0);
    v.t.room = 2;
    v.frame(0, 0, true, 0, 5000);
    REQUIRE(v.t.all.size() == 2);
    const auto &p = v.t.all[1];
    v.t.base.queue->dropped(v.t.base.queue_ctx, p.bytes.data(), p.bytes.size());
    v.t.room = 10;
    stream_sender_pump(v.s, 10 * MS);
    CHECK(v.t.all.size() == 2);
    CHECK(v.stats().skipped == 1); // once
    CHECK(v.stats().waiting_frames == 0);
}

// ---- Moves

namespace
{

// A second transport, over datagrams that the viewer reports.
struct beside : open_transport {
    beside()
    {
        wishes = true;
        base.responsive = base.measures = true;
    }
};

void move(sender &v, open_transport &to, usec_t lost_since, usec_t now)
{
    sender_move m{};
    m.transport = &to.base;
    m.repair = to.base.reliable ? REPAIR_MODE_OFF : REPAIR_MODE_AUTO;
    m.lost_since = lost_since;
    REQUIRE(stream_sender_move(v.s, &m, now) == 0);
    stream_sender_pump(v.s, now);
}

} // namespace

TEST_CASE("stream_sender: a move goes on with the next number, and loses nothing")
{
    sender v;
    beside u;
    v.t.base.reliable = true;
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true, 0, 3000);
    v.t.room = 0;
    v.frame(2, 100 * MS); // waits
    v.a.take();
    REQUIRE(stream_sender_may_move(v.s));
    const uint16_t flow = stream_sender_next_flow_number(v.s);
    move(v, u, USEC_NEVER, 110 * MS);
    v.frame(4, 200 * MS);
    CHECK(v.numbers() == list{0, 0, 0});
    REQUIRE(u.all.size() == 2);
    CHECK(u.all[0].rtp.adu.frame == 2);
    CHECK(u.all[0].rtp.seq == static_cast<uint16_t>(v.t.all[2].rtp.seq + 1));
    CHECK(u.all[0].rtp.ssrc == v.t.all[2].rtp.ssrc);
    CHECK(u.all[0].rtp.timestamp - v.t.all[2].rtp.timestamp == 18000);
    CHECK(u.all[0].rtp.feedback.number == flow);
    CHECK(u.all[1].rtp.adu.frame == 4);
    CHECK(v.a.take().empty());

    v.missing(2, 210 * MS); // left before the move: it comes
    CHECK(v.a.take().empty());
    CHECK(u.all.size() == 2);
}

TEST_CASE("stream_sender: a frame of which a part has left stays on its transport")
{
    sender v;
    beside u;
    v.t.base.max_packet = 1448;
    stream_sender_play(v.s, 0);
    v.t.room = 1;
    v.frame(0, 0, true, 0, 3000);
    CHECK_FALSE(stream_sender_may_move(v.s));
    v.t.room = 5;
    stream_sender_pump(v.s, 1000);
    CHECK(stream_sender_may_move(v.s));
    // One that was cut but did not leave is cut again: packets of 1448 bytes would not pass.
    v.t.room = 0;
    v.frame(2, 2000, false, 0, 3000);
    REQUIRE(stream_sender_may_move(v.s));
    move(v, u, USEC_NEVER, 3000);
    CHECK(u.all.size() == 3);
    CHECK(u.all[0].bytes.size() <= 1200);
}

TEST_CASE("stream_sender: from a path that is lost it goes on with frames that need none of it")
{
    sender v;
    beside u;
    v.t.base.reliable = true;
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true);
    move(v, u, USEC_NEVER, 10 * MS);
    v.frame(2, 100 * MS); // has arrived
    v.frame(3, 150 * MS); // no other depends on it
    v.frame(4, 200 * MS);
    v.frame(6, 300 * MS);
    u.room = 1;
    v.frame(8, 400 * MS, false, 0, 3000); // begins to leave
    v.frame(10, 410 * MS);                // waits
    v.a.take();
    move(v, v.t, 150 * MS, 420 * MS);
    CHECK(v.a.take() == "repair 0/4, repair 0/6, repair 0/8, repair 0/10");
    CHECK(stream_sender_is_idle(v.s));
    v.frame(12, 500 * MS);
    REQUIRE(v.t.all.size() == 2);
    CHECK(v.t.all[1].rtp.adu.frame == 12);
    CHECK(v.t.all[1].rtp.seq == static_cast<uint16_t>(u.all.back().rtp.seq + 1));

    v.a.take();
    rtcp_item item{}; // the viewer notices what it lacks: that was dealt with
    item.kind = RTCP_IS_NACK;
    item.media_ssrc = stream_sender_rtp(v.s, TRACK_VIDEO)->ssrc;
    item.nack_count = 1;
    item.nacks[0].pid = u.all.back().rtp.seq;
    stream_sender_feedback(v.s, &item, 510 * MS);
    CHECK(v.a.take().empty());
    CHECK(v.t.all.size() == 2);
}

TEST_CASE("stream_sender: relayed media goes on with a key frame from a path that is lost")
{
    sender v(RELAYED);
    beside u;
    stream_sender_play(v.s, 0);
    v.frame(0, 0, true);
    move(v, u, USEC_NEVER, 10 * MS);
    v.frame(2, 100 * MS);
    v.a.take();
    move(v, v.t, 50 * MS, 300 * MS);
    CHECK(v.a.take() == "key 0");
}

TEST_CASE("stream_sender: a max rate holds on the next transport, too")
{
    sender v;
    beside u;
    stream_sender_play(v.s, 0);
    stream_sender_set_max_rate(v.s, 100e3, 0);
    const double max = v.t.max_bps;
    REQUIRE(max > 100e3);
    move(v, u, USEC_NEVER, 1000);
    CHECK(u.max_bps > 100e3);
    CHECK(u.max_bps >= max); // it has rate control
    CHECK(u.media_bps == v.t.media_bps);
}
