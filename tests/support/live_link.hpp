// SPDX-License-Identifier: GPL-2.0-or-later
// For tests: a live session that follows its network, over a simulated link: the sender's
// adaptation and scheduler, frames as large as an encoder is asked for, a transport's own code at
// both ends, downloads by TCP beside it. Deterministic; a minute takes some milliseconds.
#ifndef WEIR_TESTS_LIVE_LINK_HPP
#define WEIR_TESTS_LIVE_LINK_HPP

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "common/base/rng.h"
#include "common/protocol/rtp_receiver.h"
#include "common/protocol/rtp_sender.h"
#include "lab/sim/chain.h"
#include "lab/sim/flow_tcp.h"
#include "lab/sim/stream_carrier.h"
#include "media/coded/ladder.h"
#include "stream/adapt/adaptation.h"
#include "stream/playout/reference_tracker.h"
#include "stream/send/retransmit_buffer.h"
#include "stream/send/scheduler.h"

class live_link
{
  public:
    static constexpr double FPS = 30;
    static constexpr usec_t MS = USEC_PER_MSEC;
    static constexpr usec_t BOUND = 400 * MS;

    adaptation a{};
    bool resends;                // what is lost is sent again while it is of use, as over MTP
    bool shared = false;         // others watch what the encoders make, too
    double still_bps = INFINITY; // all that the picture needs at the highest level

    // `link` as weir-link has it; `downloads` by TCP with SACK beside it from `from` on.
    live_link(const std::string &via, const char *link, usec_t rtt, int downloads = 0,
              usec_t from = 0, uint64_t seed = 1)
        : resends(via.rfind("mtp", 0) == 0), r(rng_seeded(seed)), way_back(rtt / 2)
    {
        world_init(&w, 0);
        packet_pool_init(&small, FLOW_SMALL, 100000);
        packet_pool_init(&large, FLOW_LARGE, 100000);
        env.small = &small;
        env.large = &large;
        open_chain(link, downloads);
        open_ladder(rtt);
        open_carrier(via);
        attach(0, &self.flow, rtt);
        for (int i = 0; i < downloads; i++) {
            flow_tcp_config config{};
            config.tcp = tcp();
            config.tcp.packets = INT64_MAX;
            config.packet_bytes = 1500;
            config.delayed_ack = 40 * MS;
            flow *f = flow_tcp_new(&env, &config, static_cast<uint32_t>(i) + 1, from, USEC_NEVER,
                                   seed + static_cast<uint64_t>(i));
            REQUIRE(f);
            others.push_back(f);
            attach(static_cast<uint32_t>(i) + 1, f, rtt);
        }
        node_wake_at(&self.flow.source, 0);
    }
    ~live_link()
    {
        scheduler_clear(&s);
        chain_destroy(&c);
        world_destroy(&w);
        retransmit_buffer_free(again);
        carrier->ops->free(carrier);
        for (flow *f : others)
            f->ops->free(f);
        packet_pool_destroy(&small);
        packet_pool_destroy(&large);
    }
    live_link(const live_link &) = delete;
    live_link &operator=(const live_link &) = delete;

    void run_to(double second)
    {
        world_run(&w, static_cast<usec_t>(second * 1e6));
    }
    double seconds() const
    {
        return usec_to_sec(w.now);
    }
    // Mbit/s that entered the network, between two instants at whole tenths of a second.
    double sent_mbps(double from, double to) const
    {
        return sum(sent, from, to) * 8e-6 / (to - from);
    }
    double got_mbps(double from, double to) const
    {
        return sum(got, from, to) * 8e-6 / (to - from);
    }
    // Capture to last packet of the frames captured between two instants, ms; those that came.
    double late_ms(double quantile, double from, double to) const
    {
        std::vector<double> all;
        for (const frame &f : frames)
            if (f.arrived && f.at >= from * 1e6 && f.at < to * 1e6)
                all.push_back(usec_to_msec(f.arrived - f.at));
        if (all.empty())
            return INFINITY;
        std::sort(all.begin(), all.end());
        return all[static_cast<size_t>(quantile * static_cast<double>(all.size() - 1))];
    }
    // The share of the time in which no new picture came for more than 200 ms; of pictures that
    // come with all they lean on.
    double stalled(double from, double to) const
    {
        std::vector<usec_t> seen(frames.size(), 0); // 0: never
        std::vector<usec_t> shown;
        for (size_t i = 0; i < frames.size(); i++) {
            const frame &f = frames[i];
            bool rests = f.depends_on < 0 || seen[static_cast<size_t>(f.depends_on)];
            if (!f.arrived || !rests)
                continue;
            usec_t ground = f.depends_on < 0 ? 0 : seen[static_cast<size_t>(f.depends_on)];
            seen[i] = std::max(f.arrived, ground);
            while (!shown.empty() && shown.back() > seen[i]) // it passes those before it
                shown.pop_back();
            shown.push_back(seen[i]);
        }
        double last = from * 1e6, total = 0;
        for (usec_t at : shown) {
            auto t = static_cast<double>(at);
            if (t < from * 1e6 || t >= to * 1e6)
                continue;
            total += t - last > 200e3 ? t - last : 0;
            last = t;
        }
        return total * 1e-6 / (to - from);
    }
    // Frames a second that came whole. What is lost, the encoder repairs.
    double shown(double from, double to) const
    {
        int count = 0;
        for (const frame &f : frames)
            count += f.arrived && f.at >= from * 1e6 && f.at < to * 1e6;
        return count / (to - from);
    }
    double mean_level(double from, double to) const
    {
        double total = 0;
        int count = 0;
        for (const frame &f : frames)
            if (f.at >= from * 1e6 && f.at < to * 1e6) {
                total += f.level;
                count++;
            }
        return count ? total / count : 0;
    }
    int switches(double from, double to) const // of the level
    {
        int count = 0;
        for (size_t i = 1; i < frames.size(); i++)
            count += frames[i].at >= from * 1e6 && frames[i].at < to * 1e6 &&
                     frames[i].level != frames[i - 1].level;
        return count;
    }
    // Seconds from `from` until what was sent in the last `width` is below, or above; NaN: never.
    double first_at(double mbps, double from, double to, double width, bool below) const
    {
        for (double t = from; t + 1e-9 < to; t += 0.1) {
            double rate = sent_mbps(t - width + 0.1, t + 0.1);
            if (below ? rate < mbps : rate > mbps)
                return t - from + 0.1;
        }
        return NAN;
    }

  private:
    struct live_flow {
        ::flow flow;
        live_link *owner;
    } self{};
    struct frame {
        usec_t at, arrived;
        size_t bytes;
        int level, temporal_id;
        int64_t depends_on;
        int packets; // -1: the last one has not come
        int came;
    };

    struct nack {
        usec_t at; // when it comes to the sender
        uint16_t seq;
    };
    struct pli { // unless the frame is there by then
        usec_t at;
        int64_t number;
    };

    rng r;
    usec_t way_back;
    world w{};
    packet_pool small{}, large{};
    flow_env env{};
    chain c{};
    link_spec right{}, left{};
    ladder l{};
    scheduler s{};
    stream_carrier *carrier = nullptr;
    rtp_sender rtp{};
    rtp_receiver viewer{};
    retransmit_buffer *again = nullptr;
    std::vector<nack> nacks; // under way
    std::vector<pli> plis;
    std::vector<flow *> others;
    std::vector<frame> frames;
    std::vector<double> sent, got; // bytes by tenth of a second
    const scheduler_frame *leaving = nullptr;
    int64_t leaving_number = -1;
    size_t left_bytes = 0; // of it
    bool repair = false;   // a base frame was dropped
    int packet = 0;        // of it
    double made_bytes = 0;
    double debt = 0; // bits of the encoder beyond its rate: a key frame is paid back
    int size_id = -1;
    usec_t next_frame = 0;

    static tcp_sender_config tcp()
    {
        tcp_sender_config t{};
        t.variant = TCP_SACK;
        t.initial_window = 10;
        t.max_window = 10000;
        t.min_rto = 200 * MS;
        t.timestamps = true;
        t.counts_acks = true;
        return t;
    }
    static void dropped(void *, const struct packet *, link_drop, usec_t) {}
    void open_chain(const char *link, int downloads)
    {
        char why[256] = "";
        REQUIRE(link_spec_parse(link, &right, why, sizeof(why)) == 0);
        REQUIRE(link_spec_parse("", &left, why, sizeof(why)) == 0);
        chain_config config{};
        config.hops = 1;
        config.right.spec = &right;
        config.left.spec = &left;
        config.flows = static_cast<uint32_t>(downloads) + 1;
        config.seed = 1;
        config.on_drop = dropped;
        size_t line = 0;
        REQUIRE(chain_init(&c, &w, &config, &line, 0) == 0);
    }
    // As weir-send begins: half of what a TCP may begin with.
    void open_ladder(usec_t rtt)
    {
        REQUIRE(ladder_default(1280, 720, {30, 1}, 2, &l) == 0);
        adaptation_init(&a, &l, l.level_count - 1, 5 * 8 * 1448 / usec_to_sec(rtt), false);
    }
    void open_carrier(const std::string &via)
    {
        static const node_ops source_ops = {source_push, source_run, nullptr};
        static const node_ops sink_ops = {sink_push, sink_run, nullptr};
        self.owner = this;
        self.flow.env = &env;
        self.flow.stop = USEC_NEVER;
        node_init(&self.flow.source, &source_ops, nullptr);
        node_init(&self.flow.sink, &sink_ops, nullptr);
        rtp_sender_init(&rtp, RTP_PT_H264, &r);
        rtp_receiver_init(&viewer);
        again = retransmit_buffer_new();
        REQUIRE(again);
        stream_carrier_config config{};
        config.via = via.c_str();
        config.flow = &self.flow;
        config.packet_bytes = 1200;
        config.ssrc = rtp.ssrc;
        config.first_seq = rtp.next_seq;
        config.tcp = tcp();
        config.delayed_ack = 40 * MS;
        config.token = 7;
        REQUIRE(stream_carrier_check(via.c_str()) == 0);
        carrier = stream_carrier_new(&config, 0);
        REQUIRE(carrier);
        carrier->on_room = on_room;
        carrier->deliver = deliver;
        carrier->ctx = this;
        scheduler_init(&s, BOUND, 2, carrier->reliable);
    }
    void attach(uint32_t id, flow *f, usec_t rtt)
    {
        chain_path path{};
        path.to = 1;
        path.rtt = rtt;
        path.bps = 100000000;
        REQUIRE(chain_attach(&c, id, &path, &f->source, &f->sink) == 0);
        REQUIRE(world_add(&w, &f->source) == 0);
        REQUIRE(world_add(&w, &f->sink) == 0);
    }

    // ---- Sums

    void count(std::vector<double> &series, double bytes) const
    {
        auto at = static_cast<size_t>(w.now / (100 * MS));
        if (series.size() <= at)
            series.resize(at + 1);
        series[at] += bytes;
    }
    static double sum(const std::vector<double> &series, double from, double to)
    {
        double total = 0;
        for (long i = std::max(0L, std::lround(from * 10)); i < std::lround(to * 10); i++)
            total += i < static_cast<long>(series.size()) ? series[static_cast<size_t>(i)] : 0;
        return total;
    }

    // ---- The session, as sender/session/session_level.c has it

    void follow(usec_t now)
    {
        stream_path path{};
        carrier->ops->path(carrier, &path, now);
        rate_estimator_sample sample{};
        sample.delivered = path.delivered_bytes;
        sample.made = made_bytes;
        sample.unsent = path.unsent_bytes;
        sample.allowed_bps = path.allowed_bps;
        sample.rtt = path.rtt;
        sample.waiting = scheduler_waiting(&s, now);
        adaptation_update(&a, &sample, !shared, now);
    }
    // Bits that the picture needs, of a frame that is no key frame.
    double needs(const level &to, double share)
    {
        return still_bps / FPS * share * to.bitrate_bps / l.levels[l.level_count - 1].bitrate_bps;
    }
    // As layer_rate.h: what a key frame takes beyond its share is paid back over a second.
    size_t encode(const level &to, bool key, int temporal_id)
    {
        double rate = a.encoder_bps ? a.encoder_bps : ladder_size_bitrate(&l, to.size_id);
        int layers = l.sizes[to.size_id].layers;
        double share = layers == 1 ? 1 : temporal_id == 0 ? 2 * 2. / 3 : 2 * 1. / 3;
        double bits = rate / FPS * share * (0.8 + 0.4 * rng_unit(&r)) - debt / FPS;
        debt -= debt / FPS;
        bits = std::min(bits, needs(to, share));
        if (key)
            bits += 0.1 * rate;
        debt += key ? 0.1 * rate : 0;
        return static_cast<size_t>(std::max(bits, 400.0) / 8);
    }
    void make(usec_t now)
    {
        follow(now);
        const level &to = l.levels[a.level];
        int layers = l.sizes[to.size_id].layers;
        auto number = static_cast<int64_t>(frames.size());
        int temporal_id = layers > 1 && number % 2 ? 1 : 0;
        bool key = size_id != to.size_id && temporal_id == 0;
        bool anew = repair && temporal_id == 0 && !key;
        bool alone = key || (repair && temporal_id == 0); // leans on what came before the loss
        int64_t depends = alone ? -1 : temporal_id ? number - 1 : number - (layers > 1 ? 2 : 1);
        repair = repair && !alone;
        frames.push_back({now, 0, 0, a.level, temporal_id, depends, -1, 0});
        if (size_id != to.size_id && !key)
            return;
        if (key) {
            size_id = to.size_id;
            scheduler_set_layers(&s, layers);
        }
        frame &f = frames.back();
        f.bytes = encode(to, key, temporal_id) * (anew ? 2 : 1); // it leans on an older picture
        if (temporal_id > std::min(to.temporal_id, a.top))
            return;
        double bytes = static_cast<double>(f.bytes + (f.bytes / 1136 + 1) * 40);
        made_bytes += bytes;
        scheduler_frame entry{};
        entry.number = number;
        entry.depends_on = depends;
        entry.temporal_id = temporal_id;
        entry.captured = now;
        entry.bytes = f.bytes;
        scheduler_push(&s, &entry, now);
        reap();
    }
    void reap()
    {
        scheduler_frame f;
        drop_cause cause;
        while (scheduler_dropped(&s, &f, &cause)) {
            if (leaving && f.number == leaving_number)
                leaving = nullptr;
            repair =
                repair || (f.temporal_id == 0 && cause != DROP_FLUSHED && cause != DROP_BROKEN);
        }
    }
    void send_packet(usec_t now)
    {
        static const uint8_t zeros[1200] = {};
        uint8_t bytes[STREAM_MAX_RTP];
        const frame &f = frames[static_cast<size_t>(leaving_number)];
        size_t len = std::min<size_t>(left_bytes, 1136);
        rtp_packet p{};
        p.marker = len == left_bytes;
        p.has_adu = true;
        p.adu.frame = static_cast<uint32_t>(leaving_number);
        p.adu.temporal_id = static_cast<uint8_t>(f.temporal_id);
        p.adu.first = packet == 0;
        p.adu.last = p.marker;
        feedback_wish wish{};
        p.has_feedback = carrier->ops->wish && carrier->ops->wish(carrier, &wish);
        if (p.has_feedback) {
            wish.interval = rate_estimator_report_interval(wish.interval);
            p.feedback.interval = static_cast<uint16_t>(
                std::clamp<usec_t>(wish.interval / RTP_FEEDBACK_UNIT_US, 1, UINT16_MAX));
            p.feedback.packets = static_cast<uint8_t>(std::min(wish.packets, 255u));
        }
        rtp_sender_stamp(&rtp, f.at, &p);
        // Which packet of its frame, in place of RTP's time.
        p.timestamp = static_cast<uint32_t>(packet++);
        size_t head = rtp_encode(&p, bytes);
        std::memcpy(bytes + head, zeros, len);
        rtp_sender_sent(&rtp, &p, leaving_number, now, len);
        retransmit_buffer_keep(again, p.seq, f.at, {bytes, head}, {bytes + head, len});
        left_bytes -= len;
        count(sent, static_cast<double>(head + len + 28));
        carrier->ops->send(carrier, bytes, head + len, now);
    }
    // As sender/session/session_feedback.c.
    void missed(uint16_t seq, usec_t now)
    {
        int64_t number = rtp_sender_frame_of(&rtp, seq);
        if (number < 0)
            return;
        const frame &f = frames[static_cast<size_t>(number)];
        int layers = l.sizes[l.levels[f.level].size_id].layers;
        if (f.temporal_id > 0 && layers > 1)
            return;
        if (resends && retransmit_buffer_ask(again, seq, now - BOUND))
            plis.push_back({now + 2 * way_back + REFERENCE_TRACKER_REPAIR, number});
        else
            repair = true;
    }
    void hear(usec_t now)
    {
        for (; !nacks.empty() && nacks.front().at <= now; nacks.erase(nacks.begin()))
            missed(nacks.front().seq, now);
        for (; !plis.empty() && plis.front().at <= now; plis.erase(plis.begin()))
            repair = repair || !frames[static_cast<size_t>(plis.front().number)].arrived;
    }
    void send_again(usec_t now)
    {
        retransmit_buffer_packet p;
        while (retransmit_buffer_next(again, now - BOUND, &p) && carrier->ops->room(carrier, now)) {
            count(sent, static_cast<double>(p.len + 28));
            carrier->ops->send(carrier, p.bytes, p.len, now);
            retransmit_buffer_done(again);
        }
    }
    void pump(usec_t now)
    {
        send_again(now);
        while (s.count > 0 && carrier->ops->room(carrier, now)) {
            const scheduler_frame *next = scheduler_next(&s, now);
            reap();
            if (!next)
                return;
            if (!leaving || leaving_number != next->number) {
                left_bytes = next->bytes;
                packet = 0;
            }
            leaving = next;
            leaving_number = next->number;
            send_packet(now);
            if (left_bytes)
                continue;
            scheduler_done(&s);
            leaving = nullptr;
        }
    }
    void settle(usec_t now)
    {
        usec_t next = std::min(next_frame, carrier->ops->next(carrier, now));
        next = nacks.empty() ? next : std::min(next, nacks.front().at);
        next = plis.empty() ? next : std::min(next, plis.front().at);
        node_wake_at(&self.flow.source, std::max(next, now + 1));
    }
    void arrived(const rtp_packet &p, usec_t now)
    {
        int64_t ext_seq;
        if (rtp_receiver_packet(&viewer, &p, 0, &ext_seq, now) == RTP_DUPLICATE)
            return;
        rtcp_nack holes[8];
        int count = rtp_receiver_holes(&viewer, holes, 8);
        for (int i = 0; i < count; i++)
            for (int k = 0; k <= 16; k++)
                if (k == 0 || holes[i].blp >> (k - 1) & 1)
                    nacks.push_back({now + way_back, static_cast<uint16_t>(holes[i].pid + k)});
        if (count)
            node_wake_at(&self.flow.source, std::min(next_frame, nacks.front().at));
        frame &f = frames[p.adu.frame];
        f.came++;
        if (p.adu.last)
            f.packets = static_cast<int>(p.timestamp) + 1;
        if (f.came != f.packets)
            return;
        f.arrived = now;
    }

    static live_link *of_source(node *n)
    {
        return reinterpret_cast<live_flow *>(n)->owner;
    }
    static live_link *of_sink(node *n)
    {
        return reinterpret_cast<live_flow *>(flow_of_sink(n))->owner;
    }
    static void source_run(node *n, usec_t now)
    {
        live_link *o = of_source(n);
        while (o->next_frame <= now) {
            o->make(now);
            o->next_frame += static_cast<usec_t>(1e6 / FPS);
        }
        o->hear(now);
        o->pump(now);
        o->carrier->ops->run(o->carrier, now);
        o->settle(now);
    }
    static void source_push(node *n, struct packet *p, usec_t now)
    {
        live_link *o = of_source(n);
        o->carrier->ops->back(o->carrier, p, now);
        o->settle(now);
    }
    static void sink_settle(live_link *o, usec_t now)
    {
        usec_t next = o->carrier->ops->sink_next(o->carrier);
        node_wake_at(&o->self.flow.sink, next == USEC_NEVER ? next : std::max(next, now + 1));
    }
    static void sink_run(node *n, usec_t now)
    {
        live_link *o = of_sink(n);
        o->carrier->ops->sink_run(o->carrier, now);
        sink_settle(o, now);
    }
    static void sink_push(node *n, struct packet *p, usec_t now)
    {
        live_link *o = of_sink(n);
        o->count(o->got, p->bytes);
        o->carrier->ops->arrived(o->carrier, p, now);
        sink_settle(o, now);
    }
    static void on_room(void *ctx, usec_t now)
    {
        static_cast<live_link *>(ctx)->pump(now);
    }
    static void deliver(void *ctx, const uint8_t *bytes, size_t len, usec_t now)
    {
        static const rtp_ext_ids ids = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID};
        rtp_packet p;
        REQUIRE(rtp_decode(bytes, len, ids, &p) == 0);
        static_cast<live_link *>(ctx)->arrived(p, now);
    }
};

#endif
