// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/two_paths.h"

#include <catch2/catch.hpp>

#include <memory>
#include <vector>

#include "common/base/err.h"
#include "common/wire/rtp.h"

namespace
{

const usec_t ms = USEC_PER_MSEC;
const usec_t T0 = 1000 * ms;
const rtp_ext_ids EXT = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID, RTP_EXT_MADE_ID};

// A path whose room and reports the test sets.
struct fake_path {
    media_transport media = {}; // first
    bool has_room = true;
    uint64_t settled = 0;
    double bps = 10e6;
    std::vector<uint16_t> seq, number;
};

fake_path *of(media_transport *t)
{
    return reinterpret_cast<fake_path *>(t);
}

bool fake_room(media_transport *t, usec_t)
{
    return of(t)->has_room;
}

int fake_send(media_transport *t, media_track, const media_packet *p, usec_t)
{
    std::vector<uint8_t> bytes(p->head, p->head + p->head_len);
    bytes.insert(bytes.end(), p->body, p->body + p->body_len);
    rtp_packet rtp;
    REQUIRE(of(t)->has_room);
    REQUIRE(rtp_decode(bytes.data(), bytes.size(), EXT, &rtp) == 0);
    of(t)->seq.push_back(rtp.seq);
    of(t)->number.push_back(rtp.feedback.number);
    return 0;
}

void fake_info(media_transport *t, transport_info *out, usec_t)
{
    transport_info_clear(out);
    out->allowed_bps = of(t)->bps;
    out->settled = of(t)->settled;
    out->delivered_bytes = static_cast<double>(of(t)->settled);
}

bool fake_wish(const media_transport *, feedback_wish *out)
{
    *out = feedback_wish{20 * ms, 0};
    return true;
}

bool fake_fate(media_transport *, bool *)
{
    return false;
}

const media_transport_ops *fake_ops()
{
    static media_transport_ops ops;
    ops.room = fake_room;
    ops.send = fake_send;
    ops.info = fake_info;
    ops.wish = fake_wish;
    ops.fate = fake_fate;
    return &ops;
}

struct pair {
    fake_path path[2];
    two_paths *t = nullptr;
    usec_t now = T0;
    uint16_t seq = 100;

    explicit pair(double share = TWO_PATHS_SHARE)
    {
        two_paths_config config = {};
        for (int i = 0; i < 2; i++) {
            path[i].media.ops = fake_ops();
            path[i].media.max_packet = 1200;
            path[i].media.responsive = path[i].media.measures = true;
            config.path[i] = &path[i].media;
        }
        config.first_number[0] = 7;
        config.first_number[1] = 50000;
        config.share = share;
        t = two_paths_new(&config, now);
        REQUIRE(t);
    }
    ~pair()
    {
        two_paths_free(t);
    }
    pair(const pair &) = delete;
    pair &operator=(const pair &) = delete;

    // Sends a packet of 1000 bytes, due `budget` from now; 0: it has no deadline.
    int send(usec_t budget, size_t behind = 0)
    {
        uint8_t head[RTP_MAX_HEADER];
        std::vector<uint8_t> body(1000);
        rtp_packet rtp = {};
        rtp.payload_type = 96;
        rtp.seq = seq;
        rtp.has_feedback = true;
        rtp.feedback.interval = 1;
        rtp.feedback.has_number = true;
        media_packet p = {};
        p.head = head;
        p.head_len = rtp_encode(&rtp, head);
        p.body = body.data();
        p.body_len = body.size();
        p.deadline = budget ? now + budget : 0;
        p.behind = behind;
        media_transport *m = two_paths_media(t);
        int err = m->ops->send(m, TRACK_VIDEO, &p, now);
        seq = static_cast<uint16_t>(seq + !err);
        m->ops->flush(m, now);
        return err;
    }
    void report(int which, uint64_t settled)
    {
        path[which].settled = settled;
        two_paths_on_event(t, now);
    }
    void wait(usec_t time)
    {
        for (usec_t end = now + time; now < end; now += ms)
            if (two_paths_next_timeout(t) <= now)
                two_paths_on_timeout(t, now);
    }
    // Media of a packet each 10 ms, reported after 40 ms over each path.
    void play(int packets)
    {
        for (int i = 0; i < packets; i++) {
            REQUIRE(send(300 * ms) == 0);
            wait(10 * ms);
            report(0, path[0].seq.size() > 4 ? path[0].seq.size() - 4 : 0);
            report(1, path[1].seq.size());
        }
        wait(40 * ms);
        for (int k = 0; k < 2; k++)
            report(k, path[k].seq.size());
    }
    two_paths_stats stats()
    {
        two_paths_stats s;
        two_paths_read(t, &s, now);
        return s;
    }
};

} // namespace

TEST_CASE("two_paths: the first carries all, the second a copy each second")
{
    pair p;
    p.play(500); // 5 s
    CHECK(p.path[0].seq.size() == 500);
    CHECK(p.path[1].seq.size() >= 5);
    CHECK(p.path[1].seq.size() <= 7);
    CHECK(p.stats().silences == 0);
    CHECK(p.stats().copies == p.path[1].seq.size());
}

TEST_CASE("two_paths: each path has its own flow numbers, and both the packets' numbers")
{
    pair p;
    p.play(300);
    for (size_t i = 0; i < p.path[0].number.size(); i++)
        CHECK(p.path[0].number[i] == 7 + i);
    for (size_t i = 0; i < p.path[1].number.size(); i++)
        CHECK(p.path[1].number[i] == 50000 + i);
    CHECK(p.path[1].seq.front() == 100); // the first packet, at once: the round trip is measured
}

TEST_CASE("two_paths: a packet waits for the first path until the last instant of the second")
{
    pair p;
    p.play(300);
    p.path[0].has_room = false;
    size_t before = p.path[1].seq.size();
    usec_t sent_at = p.now;
    usec_t deadline = p.now + 300 * ms;
    while (p.send(deadline - p.now) == ERR_AGAIN) {
        REQUIRE(p.now < deadline);
        usec_t next = two_paths_next_timeout(p.t);
        REQUIRE(next > p.now);
        p.now = next;
        two_paths_on_timeout(p.t, p.now);
    }
    CHECK(p.path[1].seq.size() == before + 1);
    CHECK(p.now - sent_at > 150 * ms); // the second path takes some 20 ms
    CHECK(p.now - sent_at < 280 * ms);
}

TEST_CASE("two_paths: what follows of a frame is sent in time, too")
{
    usec_t left[2];
    for (int large : {0, 1}) {
        pair p;
        p.play(300);
        p.path[0].has_room = false;
        p.path[1].bps = 1e6;
        p.report(1, p.path[1].seq.size());
        CHECK(p.send(300 * ms, large ? 10000 : 0) == ERR_AGAIN);
        left[large] = two_paths_next_timeout(p.t) - p.now;
    }
    CHECK(left[0] - left[1] == Approx(80 * ms).margin(ms)); // 10 kB at 1 Mbit/s
}

TEST_CASE("two_paths: what the first path has not reported at the last instant is copied")
{
    pair p;
    p.play(300);
    size_t before = p.path[1].seq.size();
    for (int i = 0; i < 5; i++)
        CHECK(p.send(300 * ms) == 0);
    p.report(0, p.path[0].seq.size() - 5);
    p.wait(100 * ms);
    CHECK(p.path[1].seq.size() <= before + 3); // the first, to see whether the viewer runs
    p.wait(180 * ms);
    CHECK(p.path[1].seq.size() >= before + 5);
    CHECK(p.stats().silences == 0); // the second path has reported nothing either
}

TEST_CASE("two_paths: a silence counts only if the second path is heard")
{
    pair p(1e-9); // the bucket gives nothing after TWO_PATHS_CREDIT
    p.play(300);
    size_t before = p.path[1].seq.size();
    for (int i = 0; i < 20; i++)
        CHECK(p.send(5000 * ms) == 0);
    p.wait(120 * ms);
    CHECK(p.path[1].seq.size() == before + 1); // the proof
    CHECK_FALSE(p.stats().is_silent);
    p.report(1, before + 1);
    CHECK(p.stats().is_silent);
    CHECK(p.path[1].seq.size() >= before + 20); // all that is open, at once
    size_t copied = p.path[1].seq.size();
    CHECK(p.send(5000 * ms) == 0); // new packets, too, and the first path as its probe
    CHECK(p.path[1].seq.size() == copied + 1);
    CHECK(p.path[0].seq.size() == 321);
    p.path[0].has_room = false;
    CHECK(p.send(5000 * ms) == 0);
    CHECK(p.path[1].seq.size() == copied + 2);
    p.wait(500 * ms);
    p.report(0, p.path[0].seq.size());
    CHECK_FALSE(p.stats().is_silent);
    CHECK(p.stats().silent == Approx(500 * ms).margin(10 * ms));
    CHECK(p.stats().silences == 1);
}

TEST_CASE("two_paths: if both are silent, little is sent over the second")
{
    pair p;
    p.play(300);
    size_t before = p.path[1].seq.size();
    CHECK(p.send(0) == 0);
    p.wait(3000 * ms);
    CHECK(p.stats().silences == 0);
    CHECK(p.path[1].seq.size() - before <= 3000 / 20 + 4); // a proof once a bound
}

TEST_CASE("two_paths: the bucket holds the second path's bytes to the share")
{
    pair p;
    int refused = 0, sent = 0;
    for (int i = 0; i < 20000; i++) { // 200 s: the first path has room for half of the packets
        p.path[0].has_room = i % 2 == 0;
        int err = p.send(20 * ms); // at once, or never
        refused += err == ERR_AGAIN;
        sent += err == 0;
        p.wait(10 * ms);
        for (int k = 0; k < 2; k++)
            p.report(k, p.path[k].seq.size());
    }
    two_paths_stats s = p.stats();
    double all = static_cast<double>(s.bytes[0] + s.bytes[1]);
    CHECK(static_cast<double>(s.bytes[1]) <= 0.12 * all + int{TWO_PATHS_CREDIT} + 2000);
    CHECK(static_cast<double>(s.bytes[1]) >= 0.1 * all);
    CHECK(refused > 5000);
    CHECK(sent > 10000);
}

TEST_CASE("two_paths: reports of packets that were never sent change nothing")
{
    pair p;
    p.play(100);
    p.report(0, UINT64_MAX);
    p.report(1, UINT64_MAX);
    CHECK(p.send(300 * ms) == 0);
    CHECK_FALSE(p.stats().is_silent);
}

TEST_CASE("two_paths: the media follows the path that carries it, and arrives over both")
{
    pair p;
    p.play(300);
    p.path[0].bps = 5e6;
    p.path[1].bps = 1e6;
    media_transport *m = two_paths_media(p.t);
    transport_info info;
    m->ops->info(m, &info, p.now);
    CHECK(info.allowed_bps == 5e6);
    CHECK(info.delivered_bytes == static_cast<double>(p.path[0].settled + p.path[1].settled));
    p.send(300 * ms);
    p.wait(120 * ms);
    p.report(1, p.path[1].seq.size());
    REQUIRE(p.stats().is_silent);
    m->ops->info(m, &info, p.now);
    CHECK(info.allowed_bps == 1e6);
}
