// SPDX-License-Identifier: GPL-2.0-or-later
// The sending core's repair at work: minutes of a live stream over a transport that loses packets
// in both directions, with a viewer that requests what is missing, against the bounds that repair
// is to keep.
#include <catch2/catch.hpp>

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/seq.h"
#include "common/repair/loss_detector.h"
#include "common/wire/fec_header.h"
#include "stream/send/stream_sender.h"
#include "tests/support/sanitized.hpp"
#include "tests/unit/common/repair/fec_packets.hpp"

namespace
{
const usec_t ms = USEC_PER_MSEC;
const usec_t INTERVAL = 33333; // between frames
const usec_t ENCODING = 10 * ms, SHOWING = 20 * ms;
const usec_t GAP = 1500;          // between packets
const size_t BYTES = 1080;        // of a frame in each packet
const int PACKETS[] = {11, 7, 5}; // of a frame, by layer: 1.9 Mbit/s
const rtp_ext_ids EXT = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID, RTP_EXT_MADE_ID};

// Gilbert's chain; random loss is one whose state is new at each packet.
struct channel {
    double fall, rise;
    rng random;
    bool bad = false;
    bool lose()
    {
        bad = rng_unit(&random) < (bad ? 1 - rise : fall);
        return bad;
    }
};

struct scene {
    int rtt_ms, playout_ms;
    double loss, burst;
    repair_mode mode = REPAIR_MODE_AUTO;
    bool is_reported = true; // each packet's fate, as RFC 8888 does; false: requests alone
    int seconds = 60;
    uint64_t seed = 1;
};

struct outcome {
    double missing; // part of the frames that were not whole in time
    repair_stats stats;
    double overhead;
    uint64_t recovered;
    int invalidated; // requests to the encoder
};

class simulation
{
  public:
    explicit simulation(const scene &s)
        : at(s), forth(channel_of(s, s.seed)), back{s.loss, 1 - s.loss, rng_seeded(s.seed + 1000)}
    {
        l.source_fps = {30, 1};
        l.source_width = 1280;
        l.source_height = 720;
        l.size_count = l.level_count = 1;
        l.sizes[0] = {1280, 720, {30, 1}, 3};
        l.levels[0] = {0, 2, 1900000};
        static media_feed_ops feed_ops{};
        feed_ops.watch = [](media_feed *, int, int) {};
        feed_ops.repair = [](media_feed *f, int, int64_t) { of(f)->result.invalidated++; };
        feed.base.ops = &feed_ops;
        feed.owner = this;
        static stream_sender_ops ops{};
        ops.wall = [](void *, usec_t t) { return t; };
        stream_sender_config config{};
        config.ladder = &l;
        config.feed = &feed.base;
        config.codec = SDP_H264;
        config.seed = s.seed;
        config.latency = s.playout_ms * ms;
        config.ops = &ops;
        sender = stream_sender_new(&config, 0);
        REQUIRE(sender);
        static const media_transport_ops transport_ops = {room,    send, nullptr, wish,
                                                          nullptr, info, fate,    nullptr};
        link.base.ops = &transport_ops;
        link.base.max_packet = 1200;
        link.owner = this;
        REQUIRE(stream_sender_attach(sender, &link.base, 0) == 0);
        REQUIRE(stream_sender_set_repair(sender, s.mode) == s.mode);
        stream_sender_set_playout(sender, s.playout_ms * ms);
        stream_sender_play(sender, 0);
        loss_detector_path path{};
        path.rtt = s.rtt_ms * ms;
        path.rtt_variation = 1 * ms;
        loss_detector_set_path(detector.get(), &path);
        loss_detector_set_keep(detector.get(),
                               s.playout_ms * ms - SHOWING - ENCODING - s.rtt_ms * ms / 2);
        frames.resize((size_t)(s.seconds * 30));
    }
    ~simulation()
    {
        stream_sender_free(sender);
    }
    simulation(const simulation &) = delete;
    simulation &operator=(const simulation &) = delete;

    outcome run()
    {
        for (size_t i = 0; i < frames.size(); i++)
            when((usec_t)i * INTERVAL + ENCODING, [this, i] { make_frame(i); });
        while (!events.empty()) {
            now = events.begin()->first;
            auto happens = std::move(events.begin()->second);
            events.erase(events.begin());
            happens();
        }
        for (const frame &f : frames)
            result.missing += !f.is_whole;
        result.missing /= (double)frames.size();
        stream_sender_stats of;
        stream_sender_read(sender, &of, now);
        result.stats = of.repair;
        result.overhead = repair_stats_overhead(&of.repair);
        return result;
    }

  private:
    struct frame {
        int64_t first = -1, last = -1; // sequence numbers, as they left
        int64_t came = 0;
        bool is_whole = false; // in time
    };
    struct own_feed {
        media_feed base;
        simulation *owner;
    };
    struct own_transport {
        media_transport base;
        simulation *owner;
    };

    static simulation *of(media_feed *f)
    {
        return reinterpret_cast<own_feed *>(f)->owner;
    }
    static simulation *of(const media_transport *t)
    {
        return reinterpret_cast<const own_transport *>(t)->owner;
    }
    static channel channel_of(const scene &s, uint64_t seed)
    {
        double rise = s.burst > 1 ? 1 / s.burst : 1 - s.loss;
        return {rise * s.loss / (1 - s.loss), rise, rng_seeded(seed)};
    }
    void when(usec_t t, std::function<void()> what)
    {
        events.emplace(t, std::move(what));
    }

    // ---- The transport: a packet each GAP

    static bool room(media_transport *t, usec_t now)
    {
        simulation *s = of(t);
        if (now >= s->free_at)
            return true;
        if (!s->waits)
            s->when(s->free_at, [s] {
                s->waits = false;
                stream_sender_pump(s->sender, s->now);
                s->settle();
            });
        s->waits = true;
        return false;
    }
    static int send(media_transport *t, media_track, const media_packet *p, usec_t now)
    {
        simulation *s = of(t);
        REQUIRE(p->head_len + p->body_len <= t->max_packet);
        fec_bytes bytes(p->head, p->head + p->head_len);
        bytes.insert(bytes.end(), p->body, p->body + p->body_len);
        s->free_at = now + GAP;
        s->left(bytes);
        bool lost = s->forth.lose();
        s->when(now + s->at.rtt_ms * ms + 20 * ms, [s, lost] { s->fates.push_back(lost); });
        if (!lost)
            s->when(now + s->at.rtt_ms * ms / 2 + (usec_t)rng_below(&s->noise, 1000),
                    [s, bytes] { s->arrives(bytes); });
        return 0;
    }
    static bool wish(const media_transport *t, feedback_wish *out)
    {
        *out = {20 * ms, 0};
        return of(t)->at.is_reported;
    }
    static void info(media_transport *t, transport_info *out, usec_t)
    {
        transport_info_clear(out);
        out->latest_rtt_ms = of(t)->at.rtt_ms;
        out->allowed_bps = 1200 * 8e6 / (double)GAP;
    }
    static bool fate(media_transport *t, bool *lost)
    {
        std::deque<bool> &fates = of(t)->fates;
        if (fates.empty())
            return false;
        *lost = fates.front();
        fates.pop_front();
        return true;
    }

    // ---- The sender

    void settle()
    {
        usec_t next = stream_sender_next_timeout(sender);
        if (next == USEC_NEVER || next == alarm)
            return;
        alarm = next;
        when(std::max(next, now), [this, next] {
            if (alarm != next)
                return;
            alarm = USEC_NEVER;
            stream_sender_on_timeout(sender, now);
            settle();
        });
    }
    void make_frame(size_t i)
    {
        int layer = layer_temporal_id((int64_t)i, 3);
        size_t bytes = (size_t)PACKETS[layer] * BYTES;
        coded_frame *f = coded_frame_new(bytes);
        REQUIRE(f);
        f->number = (int64_t)i;
        f->temporal_id = layer;
        f->key = i == 0;
        f->depends_on = (int64_t)i - (layer == 0 ? 4 : layer == 1 ? 2 : 1);
        f->captured = (usec_t)i * INTERVAL;
        f->capture_wall = f->captured;
        f->nal_count = 1;
        f->nals[0] = {0, (uint32_t)bytes};
        for (size_t k = 0; k < bytes; k++)
            f->data[k] = (uint8_t)rng_below(&noise, 256);
        stream_sender_frame(sender, f, now);
        coded_frame_unref(f);
        settle();
    }
    // A packet left: checks flow numbers, and that a copy is the same packet.
    void left(fec_bytes bytes)
    {
        rtp_packet p;
        REQUIRE(rtp_decode(bytes.data(), bytes.size(), EXT, &p) == 0);
        if (p.feedback.has_number != (at.is_reported && at.mode != REPAIR_MODE_OFF))
            FAIL("flow numbers");
        if (p.feedback.has_number && flow >= 0 && p.feedback.number != (uint16_t)(flow + 1))
            FAIL("flow number " << p.feedback.number << " after " << flow);
        flow = p.feedback.number;
        if (p.payload_type == RTP_PT_FEC)
            return;
        (void)rtp_set_flow_number(bytes.data(), bytes.size(), EXT, 0);
        newest = newest < 0 ? (1 << 16) + p.seq : std::max(newest, seq16_extend(newest, p.seq));
        int64_t seq = seq16_extend(newest, p.seq);
        auto [it, is_new] = packets.emplace(seq, bytes);
        if (!is_new && it->second != bytes)
            FAIL("packet " << seq << " was sent again wrongly");
        frame &f = frames[p.adu.frame];
        f.first = p.adu.first ? seq : f.first;
        f.last = p.adu.last ? seq : f.last;
    }

    // ---- The viewer

    void arrives(fec_bytes bytes)
    {
        rtp_packet p;
        REQUIRE(rtp_decode(bytes.data(), bytes.size(), EXT, &p) == 0);
        if (p.payload_type == RTP_PT_FEC) {
            (void)fec.arrive_parity({p.payload, p.payload + p.payload_len});
        } else {
            int64_t seq = seq16_extend(newest, p.seq);
            if (!take(seq))
                return;
            fec.arrive(seq, packets[seq]);
            // All of a frame leaves within a few milliseconds, before the first packet arrives.
            const frame &f = frames[p.adu.frame];
            loss_detector_packet(detector.get(), seq,
                                 f.last >= 0 ? (int)(f.last - seq) : LOSS_DETECTOR_TAIL_UNKNOWN,
                                 now);
        }
        for (const auto &r : fec.recovered) {
            if (r.second != packets[r.first])
                FAIL("packet " << r.first << " was recovered wrongly");
            result.recovered += take(r.first);
            loss_detector_recovered(detector.get(), r.first, now);
        }
        fec.recovered.clear();
        request();
    }
    // Returns true if it did not come before.
    bool take(int64_t seq)
    {
        rtp_packet p;
        if (!came.insert(seq).second)
            return false;
        REQUIRE(rtp_decode(packets[seq].data(), packets[seq].size(), EXT, &p) == 0);
        frame &f = frames[p.adu.frame];
        f.came++;
        usec_t deadline = (usec_t)p.adu.frame * INTERVAL + at.playout_ms * ms - SHOWING;
        if (f.last >= 0 && f.came == f.last - f.first + 1 && now <= deadline)
            f.is_whole = true;
        return true;
    }
    void request()
    {
        rtcp_nack nacks[16];
        int count = loss_detector_requests(detector.get(), nacks, 16, now);
        for (int i = 0; i < count && !back.lose(); i++) {
            rtcp_nack n = nacks[i];
            when(now + at.rtt_ms * ms / 2, [this, n] {
                rtcp_item item{};
                item.kind = RTCP_IS_NACK;
                item.media_ssrc = stream_sender_rtp(sender, TRACK_VIDEO)->ssrc;
                item.nack_count = 1;
                item.nacks[0] = n;
                stream_sender_feedback(sender, &item, now);
                settle();
            });
        }
        usec_t next = loss_detector_next_timeout(detector.get());
        if (next != USEC_NEVER && next != viewer_alarm) {
            viewer_alarm = next;
            when(std::max(next, now), [this, next] {
                if (viewer_alarm == next) {
                    viewer_alarm = USEC_NEVER;
                    request();
                }
            });
        }
    }

    scene at;
    channel forth, back;
    rng noise = rng_seeded(77);
    ladder l{};
    own_feed feed{};
    own_transport link{};
    stream_sender *sender = nullptr;
    usec_t now = 0, free_at = 0, alarm = USEC_NEVER, viewer_alarm = USEC_NEVER;
    bool waits = false;
    std::multimap<usec_t, std::function<void()>> events;
    std::vector<frame> frames;
    std::map<int64_t, fec_bytes> packets; // that left, by extended number, with flow number 0
    std::set<int64_t> came;
    std::deque<bool> fates; // that the transport knows
    int64_t newest = -1;
    int flow = -1;
    outcome result{};
    fec_pair fec;
    std::unique_ptr<loss_detector, decltype(&loss_detector_free)> detector{loss_detector_new(),
                                                                           loss_detector_free};
};

struct bounds {
    double missing, overhead; // percent
};

outcome check(const scene &s, const bounds &b)
{
    INFO("RTT " << s.rtt_ms << ", playout " << s.playout_ms << ", loss " << s.loss << ", burst "
                << s.burst << ", " << repair_mode_name(s.mode) << ", seed " << s.seed);
    outcome o = simulation(s).run();
    CHECK(o.missing * 100 <= b.missing);
    CHECK(o.overhead * 100 <= b.overhead);
    return o;
}
} // namespace

TEST_CASE("stream repair: packets are sent again while there are rounds", "[long]")
{
    // At most 1.3 x loss + 1 % of the media's bytes with several rounds, 2.2 x loss + 1 % with one.
    struct {
        int rtt_ms, playout_ms;
        double loss, burst;
        bounds most;
    } const table[] = {
        {50, 250, .01, 1, {.1, 2.3}}, {50, 250, .05, 1, {.3, 7.5}},  {100, 250, .01, 1, {.1, 2.3}},
        {100, 250, .05, 1, {.3, 12}}, {100, 400, .05, 1, {.3, 7.5}}, {50, 250, .0385, 4, {.2, 6.0}},
    };
    for (const auto &row : table)
        for (uint64_t seed = 1; seed <= (SANITIZED ? 1 : 2); seed++) {
            scene s{row.rtt_ms, row.playout_ms, row.loss, row.burst};
            s.seed = seed;
            s.seconds = 90;
            CHECK(check(s, row.most).recovered == 0);
        }
}

TEST_CASE("stream repair: without reports the viewer's requests tell how much is lost")
{
    // Some of them are of packets that were late, which makes the loss look larger.
    for (double loss : {.01, .05}) {
        scene s{100, 250, loss, 1};
        s.is_reported = false;
        check(s, loss < .02 ? bounds{.1, 2.3} : bounds{.8, 14});
    }
}

TEST_CASE("stream repair: parity where no round fits")
{
    struct {
        int rtt_ms, playout_ms;
        double loss;
        bounds most;
    } const table[] = {
        {100, 150, .02, {.6, 15.8}}, {100, 150, .05, {1.2, 23.3}}, {200, 250, .05, {.3, 23.3}}};
    for (const auto &row : table)
        CHECK(check({row.rtt_ms, row.playout_ms, row.loss, 1}, row.most).recovered > 100);
}

TEST_CASE("stream repair: modes")
{
    // At 5 %, frames of 5 to 11 packets: without repair 29.6 % of them lack one.
    scene s{100, 250, .05, 1, REPAIR_MODE_OFF};
    s.seconds = 30;
    outcome off = check(s, {33, 0});
    CHECK(off.missing > .26);
    CHECK(off.invalidated > 0);
    s.mode = REPAIR_MODE_RESEND;
    outcome resend = check(s, {.5, 13}); // the first credit is 1.3 % here
    CHECK(resend.stats.fec_packets == 0);
    CHECK(resend.stats.resent > 100);
    s.mode = REPAIR_MODE_FEC;
    outcome fec = check(s, {.5, 24});
    CHECK(fec.stats.resent == 0);
    CHECK(fec.recovered > 100);
    // Loss beyond 28 %: only what other frames depend on is sent again, within the largest share.
    s.mode = REPAIR_MODE_AUTO;
    s.loss = .35;
    CHECK(check(s, {100, 32}).stats.not_resent[REPAIR_CONGESTED] > 300);
}
