// SPDX-License-Identifier: GPL-2.0-or-later
// For tests: a live session that adapts to its network over a simulated link. It consists of the
// sending core, an encoder model that makes frames of the requested size, a transport's own code at
// both ends, and competing TCP downloads. Deterministic; a minute takes some milliseconds.
#ifndef WEIR_TESTS_LIVE_LINK_HPP
#define WEIR_TESTS_LIVE_LINK_HPP

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/rng.h"
#include "common/protocol/rtp_receiver.h"
#include "lab/sim/chain.h"
#include "lab/sim/flow_tcp.h"
#include "lab/sim/sim_transport.h"
#include "media/coded/ladder.h"
#include "media/coded/synthetic.h"
#include "stream/playout/reference_tracker.h"
#include "stream/send/stream_sender.h"

// What a live session meets, if it is not the default.
struct live_setting {
    enum tcp { SACK, RENO, CUBIC }; // RENO, CUBIC: as Linux's
    tcp downloads;
    std::vector<level_request> levels; // none: the default ladder
    const struct synthetic *media =
        nullptr;        // borrowed; its ladder and frame rate; a test makes the frames
    usec_t latency = 0; // of the sender's queue; 0: BOUND
    tcp own = RENO;     // below the media, over tcp and minbuf
    bool sound = false; // 50 packets a second beside the video, as the programs' own audio
};

// The network of one live session or several, and of TCP flows beside them.
class live_network
{
  public:
    static constexpr usec_t MS = USEC_PER_MSEC;

    world w{};
    packet_pool small{}, large{};
    flow_env env{};
    chain c{};

    // `links`: of each hop to the right, in weir-link's syntax, without a delay; `back`: of every
    // hop to the left. `trace`: the text of the trace that links[0] names. `flows`: max number of
    // flows.
    live_network(const std::vector<std::string> &links, const char *back, uint32_t flows,
                 uint64_t seed, const std::string &trace = "")
    {
        world_init(&w, 0);
        packet_pool_init(&small, FLOW_SMALL, 100000);
        packet_pool_init(&large, FLOW_LARGE, 100000);
        env.small = &small;
        env.large = &large;
        std::vector<link_spec> specs(links.size() + 1);
        std::vector<chain_link> right(links.size());
        char why[256] = "";
        for (size_t i = 0; i < links.size(); i++) {
            INFO(links[i]);
            REQUIRE(link_spec_parse(links[i].c_str(), &specs[i], why, sizeof(why)) == 0);
            right[i] = {&specs[i], i || trace.empty() ? nullptr : trace.c_str(),
                        i ? 0 : trace.size()};
        }
        REQUIRE(link_spec_parse(back, &specs.back(), why, sizeof(why)) == 0);
        chain_config config{};
        config.hops = static_cast<int>(links.size());
        config.right = right[0];
        config.each_right = right.data();
        config.left.spec = &specs.back();
        config.flows = flows;
        config.seed = seed;
        config.on_drop = dropped;
        size_t line = 0;
        REQUIRE(chain_init(&c, &w, &config, &line, 0) == 0);
    }
    ~live_network()
    {
        close();
        for (flow *f : tcps)
            f->ops->free(f);
        packet_pool_destroy(&small);
        packet_pool_destroy(&large);
    }
    live_network(const live_network &) = delete;
    live_network &operator=(const live_network &) = delete;

    // Ends the network, whose packets go back to their pools. A session that is freed does it: then
    // no session of the network runs any more.
    void close()
    {
        if (!c.world)
            return;
        chain_destroy(&c);
        world_destroy(&w);
    }
    void attach(uint32_t id, flow *f, usec_t rtt, int from = 0, int to = 1)
    {
        chain_path path{};
        path.from = from;
        path.to = to;
        path.rtt = rtt;
        path.bps = 100000000;
        REQUIRE(chain_attach(&c, id, &path, &f->source, &f->sink) == 0);
        REQUIRE(world_add(&w, &f->source) == 0);
        REQUIRE(world_add(&w, &f->sink) == 0);
    }
    flow *add_tcp(const flow_tcp_config &config, uint32_t id, usec_t from, uint64_t seed,
                  usec_t rtt, int to = 1)
    {
        flow *f = flow_tcp_new(&env, &config, id, from, USEC_NEVER, seed);
        REQUIRE(f);
        tcps.push_back(f);
        attach(id, f, rtt, 0, to);
        return f;
    }

  private:
    std::vector<flow *> tcps; // owned

    static void dropped(void *, const struct packet *, link_drop, usec_t) {}
};

// Where a session is in a network.
struct live_path {
    uint32_t id;
    int from, to; // routers
    usec_t rtt;
};

class live_link
{
  public:
    static constexpr double FPS = 30;
    static constexpr usec_t MS = USEC_PER_MSEC;
    static constexpr usec_t BOUND = 400 * MS;
    static constexpr int SOUND_BYTES = 160; // of a packet of 20 ms

    bool shared = false;         // other viewers share the encoders
    double still_bps = INFINITY; // max bitrate that the picture needs at the highest level
    std::function<void(const uint8_t *bytes, size_t len, usec_t now)>
        on_rtp; // a packet arrived at the viewer

    // `link`: a link in weir-link's syntax. `downloads`: number of competing TCP downloads (SACK),
    // which start at `from`. `resends`: over MTP, lost packets are retransmitted while they are
    // useful.
    live_link(const std::string &via, const char *link, usec_t rtt, int downloads = 0,
              usec_t from = 0, uint64_t seed = 1, bool resends = true, const char *back = "",
              const live_setting &setting = {live_setting::SACK, {}})
        : live_link(via,
                    std::make_unique<live_network>(std::vector<std::string>{link}, back,
                                                   static_cast<uint32_t>(downloads) + 1, seed),
                    rtt, seed, resends, setting)
    {
        for (int i = 0; i < downloads; i++) {
            flow_tcp_config config{};
            config.tcp = tcp();
            config.tcp.packets = INT64_MAX;
            config.tcp.as_linux = setting.downloads != live_setting::SACK;
            config.tcp.growth =
                setting.downloads == live_setting::CUBIC ? TCP_CUBIC : TCP_COUNT_ACKS;
            config.packet_bytes = 1500;
            config.delayed_ack = 40 * MS;
            others.push_back(owned->add_tcp(config, static_cast<uint32_t>(i) + 1, from,
                                            seed + static_cast<uint64_t>(i), rtt));
        }
    }
    // A session that begins now, in a network that it shares, and that outlives it.
    live_link(const std::string &via, live_network &network, const live_path &path, uint64_t seed,
              const live_setting &setting)
        : the_network(network), w(network.w), r(rng_seeded(seed)), way_back(path.rtt / 2),
          next_frame(network.w.now)
    {
        open(via, path, seed, true, setting);
    }
    virtual ~live_link()
    {
        stream_sender_free(s);
        the_network.close();
        carrier->ops->free(carrier);
    }
    live_link(const live_link &) = delete;
    live_link &operator=(const live_link &) = delete;

    // The viewer cannot decode anything: the next base frames are key frames.
    void request_key()
    {
        for (encoder &e : encoders)
            e.key = e.key || e.watchers > 0;
    }
    void run_to(double second)
    {
        world_run(&the_network.w, static_cast<usec_t>(second * 1e6));
    }
    void pause() // the viewer's request
    {
        stream_sender_pause(s);
    }
    void play()
    {
        stream_sender_play(s, w.now);
    }
    double seconds() const
    {
        return usec_to_sec(w.now);
    }
    // The sender serves this level from now on, whatever the network carries.
    void set_level(int level)
    {
        stream_sender_set_follows(s, false, w.now);
        REQUIRE(stream_sender_set_level(s, level, w.now) == 0);
    }
    int64_t marked() const // packets with the CE mark that reached the viewer
    {
        return carrier->ops->marked(carrier);
    }
    stream_sender_stats stats(double second) const
    {
        stream_sender_stats out;
        stream_sender_read(s, &out, static_cast<usec_t>(second * 1e6));
        return out;
    }
    // Returns the Mbit/s that entered the network between two instants at whole tenths of a second.
    double sent_mbps(double from, double to) const
    {
        return sum(sent, from, to) * 8e-6 / (to - from);
    }
    double got_mbps(double from, double to) const
    {
        return sum(got, from, to) * 8e-6 / (to - from);
    }
    // Returns a quantile of the time from capture to arrival of the last packet, in ms, of the
    // frames that were captured between two instants and arrived.
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
    // Returns the fraction of the time during which no new decodable picture arrived for more than
    // 200 ms.
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
            while (!shown.empty() && shown.back() > seen[i]) // a later picture replaces earlier
                                                             // ones
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
    // Returns the frames per second that arrived whole. The encoder repairs losses.
    double shown(double from, double to) const
    {
        int count = 0;
        for (const frame &f : frames)
            count += f.arrived && f.at >= from * 1e6 && f.at < to * 1e6;
        return count / (to - from);
    }
    // Returns the share of the frames of the levels served that arrived whole within the bound.
    double of_level(double from, double to) const
    {
        int came = 0, all = 0;
        for (size_t i = 0; i < frames.size(); i++) {
            const frame &f = frames[i];
            const level &v = l.levels[f.level];
            bool halved = l.sizes[v.size_id].fps.num * 2 == 30 || v.temporal_id == 0;
            if (f.at < from * 1e6 || f.at >= to * 1e6 || (halved && i % 2))
                continue;
            all++;
            came += f.arrived && f.arrived - f.at < BOUND;
        }
        return all ? static_cast<double>(came) / all : 0;
    }
    // Returns the longest time without a frame that arrived later than all before, ms.
    double longest_gap_ms(double from, double to) const
    {
        usec_t last = static_cast<usec_t>(from * 1e6), longest = 0;
        for (const frame &f : frames) {
            if (!f.arrived || f.arrived <= last || f.arrived >= to * 1e6)
                continue;
            longest = std::max(longest, f.arrived - last);
            last = f.arrived;
        }
        return usec_to_msec(longest);
    }
    const struct ladder &levels() const
    {
        return l;
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
    int switches(double from, double to) const // number of level switches
    {
        int count = 0;
        for (size_t i = 1; i < frames.size(); i++)
            count += frames[i].at >= from * 1e6 && frames[i].at < to * 1e6 &&
                     frames[i].level != frames[i - 1].level;
        return count;
    }
    // Returns the seconds from `from` until the rate sent during the last `width` seconds is below,
    // or above, `mbps`; NaN: never.
    double first_at(double mbps, double from, double to, double width, bool below) const
    {
        for (double t = from; t + 1e-9 < to; t += 0.1) {
            double rate = sent_mbps(t - width + 0.1, t + 0.1);
            if (below ? rate < mbps : rate > mbps)
                return t - from + 0.1;
        }
        return NAN;
    }

  protected: // a test may replace the encoders and the viewer
    struct live_flow {
        ::flow flow;
        live_link *owner;
    } self{};
    struct frame {
        usec_t at, arrived;
        int level;
        int64_t depends_on;
        int size_id;         // size of the packets that arrived
        int64_t first, last; // sequence numbers of the frame's first and last packet; -1: not
                             // arrived
        int came;
    };
    struct encoder { // the encoder of one size
        int watchers = 0;
        int bps = 0;         // 0: the ladder's rate
        bool key = false;    // the next base frame is a key frame
        bool repair = false; // the next frame depends on an older picture, because a base frame was
                             // lost
        double debt = 0;     // bits beyond the rate, which later frames pay back
    };
    // Counts the packets that the sender passes to the transport.
    struct tap {
        media_transport media;
        live_link *owner;
    } handed{};
    struct encoded { // the sender's media feed
        media_feed base;
        live_link *owner;
    };

    enum request { ASKED_BEGIN, ASKED_REPAIR, ASKED_KEY };
    // The sender asks an encoder for a key frame, or to repair the loss of frame `number`.
    virtual void asked(int /*size_id*/, request /*what*/, int64_t /*number*/) {}
    // An RTP packet reached the viewer.
    virtual void received(const uint8_t *bytes, size_t len, usec_t now)
    {
        static const rtp_ext_ids ids = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID, RTP_EXT_MADE_ID};
        rtp_packet p;
        REQUIRE(rtp_decode(bytes, len, ids, &p) == 0);
        if (p.ssrc == stream_sender_rtp(s, TRACK_VIDEO)->ssrc)
            arrived(p, now);
    }
    // When the viewer next has something to do, and does it; and when feedback next reaches the
    // sender, and its arrival.
    virtual usec_t viewer_next() const
    {
        return USEC_NEVER;
    }
    virtual void viewer_run(usec_t /*now*/) {}
    // Returns true if the source gives a frame at this time.
    virtual bool makes(usec_t /*now*/) const
    {
        return true;
    }
    // A packet of the sender reached the viewer's host.
    virtual void packet_arrived(const struct packet * /*p*/, usec_t /*now*/) {}
    virtual usec_t feedback_next() const
    {
        usec_t next = nacks.empty() ? USEC_NEVER : nacks.front().at;
        return plis.empty() ? next : std::min(next, plis.front().at);
    }

    struct missing {
        usec_t at; // time at which the NACK arrives at the sender
        uint16_t seq;
    };
    struct impatience { // a PLI that is sent unless the frame has arrived by then
        usec_t at;
        int64_t number;
    };

    std::unique_ptr<live_network> owned; // none if it shares one
    live_network &the_network;
    world &w; // of `the_network`
    rng r;
    usec_t way_back;
    usec_t next_frame = 0;
    bool has_sound = false;
    int64_t sound_packets = 0; // given to the sender
    ladder l{};
    double fps = FPS; // of the source
    stream_sender *s = nullptr;
    sim_transport *carrier = nullptr;
    rtp_receiver viewer{};
    struct hole { // at the viewer
        int64_t seq;
        int later; // packets with a higher number that arrived since
    };
    std::vector<hole> holes;    // not reported yet
    std::vector<missing> nacks; // NACKs on their way to the sender
    std::vector<impatience> plis;
    std::vector<flow *> others;
    std::vector<frame> frames;
    std::vector<double> sent, got; // bytes in each tenth of a second
    encoded media{};
    encoder encoders[LADDER_MAX_SIZES];
    bool repaired = false; // true if the sender has requested a repair since this was cleared

    live_link(const std::string &via, std::unique_ptr<live_network> network, usec_t rtt,
              uint64_t seed, bool resends, const live_setting &setting)
        : owned(std::move(network)), the_network(*owned), w(the_network.w), r(rng_seeded(seed)),
          way_back(rtt / 2)
    {
        open(via, {0, 0, 1, rtt}, seed, resends, setting);
    }
    void open(const std::string &via, const live_path &path, uint64_t seed, bool resends,
              const live_setting &setting)
    {
        open_ladder(setting);
        has_sound = setting.sound;
        open_sender(via, path.rtt, seed, resends, setting.latency ? setting.latency : BOUND,
                    setting.own);
        self.flow.id = path.id;
        the_network.attach(path.id, &self.flow, path.rtt, path.from, path.to);
        node_wake_at(&self.flow.source, w.now);
    }

    static tcp_sender_config tcp()
    {
        tcp_sender_config t{};
        t.variant = TCP_SACK;
        t.initial_window = 10;
        t.max_window = 10000;
        t.min_rto = 200 * MS;
        t.timestamps = true;
        t.growth = TCP_COUNT_ACKS;
        return t;
    }
    void open_ladder(const live_setting &setting)
    {
        const std::vector<level_request> &v = setting.levels;
        if (setting.media) {
            l = setting.media->ladder;
            fps = static_cast<double>(l.source_fps.num) / l.source_fps.den;
            return;
        }
        int err = v.empty() ? ladder_default(1280, 720, {30, 1}, 2, nullptr, &l)
                            : ladder_from_requests(v.data(), static_cast<int>(v.size()), 1280, 720,
                                                   {30, 1}, 2, &l);
        REQUIRE(err == 0);
    }
    void open_sender(const std::string &via, usec_t rtt, uint64_t seed, bool resends,
                     usec_t latency, live_setting::tcp own)
    {
        static const node_ops source_ops = {source_push, source_run, nullptr};
        static const node_ops sink_ops = {sink_push, sink_run, nullptr};
        self.owner = this;
        self.flow.env = &the_network.env;
        self.flow.stop = USEC_NEVER;
        node_init(&self.flow.source, &source_ops, nullptr);
        node_init(&self.flow.sink, &sink_ops, nullptr);
        rtp_receiver_init(&viewer);
        stream_sender_config sender{};
        sender.ladder = &l;
        media.owner = this;
        media.base.ops = media_ops();
        sender.feed = &media.base;
        sender.codec = SDP_H264;
        sender.seed = seed;
        sender.level = l.level_count - 1;
        sender.follows = true;
        // half of a TCP's initial window per round trip
        sender.start_bps = 5 * 8 * 1448 / usec_to_sec(rtt);
        sender.latency = latency;
        sender.ops = sender_ops();
        sender.ctx = this;
        s = stream_sender_new(&sender, w.now);
        REQUIRE(s);
        sim_transport_config config{};
        config.via = via.c_str();
        config.flow = &self.flow;
        config.packet_bytes = 1200;
        config.ssrc = stream_sender_rtp(s, TRACK_VIDEO)->ssrc;
        config.first_seq = stream_sender_rtp(s, TRACK_VIDEO)->next_seq;
        config.tcp = tcp();
        config.tcp.as_linux = true;
        config.tcp.growth = own == live_setting::CUBIC ? TCP_CUBIC : TCP_COUNT_ACKS;
        config.delayed_ack = 40 * MS;
        config.token = 7;
        REQUIRE(sim_transport_check(via.c_str()) == 0);
        carrier = sim_transport_new(&config, w.now);
        REQUIRE(carrier);
        carrier->on_room = on_room;
        carrier->deliver = deliver;
        carrier->ctx = this;
        handed.media = carrier->media;
        handed.media.ops = tap_ops();
        handed.owner = this;
        REQUIRE(stream_sender_attach(s, &handed.media, w.now) == 0);
        if (has_sound)
            stream_sender_add_audio(s, SOUND_BYTES * 8 * 50);
        carrier->media.queue = handed.media.queue;
        carrier->media.queue_ctx = handed.media.queue_ctx;
        if (!resends)
            REQUIRE(stream_sender_set_repair(s, REPAIR_MODE_OFF) == REPAIR_MODE_OFF);
        stream_sender_play(s, w.now);
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

    // ---- The encoders, and the sender's requests to them

    static live_link *of(void *ctx)
    {
        return static_cast<live_link *>(ctx);
    }
    static live_link *of(media_feed *f)
    {
        return reinterpret_cast<encoded *>(f)->owner;
    }
    static void watch(media_feed *f, int size_id, int change)
    {
        encoder &e = of(f)->encoders[size_id];
        e.watchers += change;
        e.key = e.key || change > 0;
        if (change > 0)
            of(f)->asked(size_id, ASKED_BEGIN, -1);
    }
    static void set_bitrate(media_feed *f, int size_id, int bps)
    {
        of(f)->encoders[size_id].bps = bps;
    }
    static void repair(media_feed *f, int size_id, int64_t number)
    {
        of(f)->encoders[size_id].repair = of(f)->repaired = true;
        of(f)->asked(size_id, ASKED_REPAIR, number);
    }
    static void request_key(media_feed *f, int size_id, usec_t)
    {
        of(f)->encoders[size_id].key = true;
        of(f)->asked(size_id, ASKED_KEY, -1);
    }
    static bool is_alone(const media_feed *f)
    {
        return !reinterpret_cast<const encoded *>(f)->owner->shared;
    }
    static void on_begun(void *, media_track, usec_t) {}
    static usec_t wall(void *, usec_t now)
    {
        return now;
    }
    static const media_feed_ops *media_ops()
    {
        static media_feed_ops ops{};
        ops.watch = watch;
        ops.set_bitrate = set_bitrate;
        ops.repair = repair;
        ops.request_key = request_key;
        ops.is_alone = is_alone;
        return &ops;
    }
    static const stream_sender_ops *sender_ops()
    {
        static stream_sender_ops ops{};
        ops.wall = wall;
        ops.on_begun = on_begun;
        return &ops;
    }
    // Returns the bits that the picture needs in a frame that is not a key frame.
    double needs(int bps, double share)
    {
        return still_bps / FPS * share * bps / l.levels[l.level_count - 1].bitrate_bps;
    }
    // Returns the share of a size's bits in its base frames. A level of these alone takes two
    // thirds. Otherwise, as in layer_rate.h, a picture that has about its ladder's rate has frames
    // of even size.
    double base_share(int size_id, double rate) const
    {
        for (int i = 0; i < l.level_count; i++)
            if (l.levels[i].size_id == size_id && l.levels[i].temporal_id == 0)
                return 2. / 3;
        double x = (rate / ladder_size_bitrate(&l, size_id) - 0.65) / 0.35;
        return 2. / 3 - (2. / 3 - 0.56) * std::min(std::max(x, 0.), 1.);
    }
    // As in layer_rate.h, the excess of a key frame is paid back over a second.
    size_t encode(int size_id, bool key, int temporal_id)
    {
        encoder &e = encoders[size_id];
        double rate = e.bps ? e.bps : ladder_size_bitrate(&l, size_id);
        double base = base_share(size_id, rate);
        double share = 2 * (temporal_id == 0 ? base : 1 - base);
        double bits = rate / FPS * share * (0.8 + 0.4 * rng_unit(&r)) - e.debt / FPS;
        e.debt -= e.debt / FPS;
        bits = std::min(bits, needs(ladder_size_bitrate(&l, size_id), share));
        if (key)
            bits += 0.1 * rate;
        e.debt += key ? 0.1 * rate : 0;
        return static_cast<size_t>(std::max(bits, 400.0) / 8);
    }
    // The viewer's end reads nothing now: no report leaves.
    virtual bool blocks() const
    {
        return false;
    }
    // Takes over a packet that cannot be read now, or returns false.
    virtual bool hold(struct packet *)
    {
        return false;
    }
    virtual void give(int size_id, int64_t number, usec_t now)
    {
        encoder &e = encoders[size_id];
        REQUIRE(l.sizes[size_id].layers == 2);
        int temporal_id = number % 2 ? 1 : 0;
        bool base = temporal_id == 0;
        bool key = base && e.key;
        bool anew = base && e.repair && !key;
        if (e.key && !key) // no key frame precedes it
            return;
        // A repair depends on an older picture, so it is larger.
        size_t bytes = encode(size_id, key, temporal_id) * (anew ? 2 : 1);
        coded_frame *f = coded_frame_new(bytes);
        REQUIRE(f);
        f->number = number;
        f->size_id = size_id;
        f->temporal_id = temporal_id;
        f->key = key;
        f->depends_on = key || anew ? -1 : number - (base ? 2 : 1);
        f->captured = now;
        f->nal_count = 1;
        f->nals[0] = {0, static_cast<uint32_t>(bytes)};
        f->data[0] = key ? 0x65 : 0x41; // the header of a slice
        if (base)
            e.key = e.repair = false;
        stream_sender_frame(s, f, now);
        coded_frame_unref(f);
    }
    usec_t next_sound() const
    {
        return has_sound ? sound_packets * 20 * MS : USEC_NEVER;
    }
    void make_sound(usec_t now)
    {
        coded_audio *a = coded_audio_new();
        REQUIRE(a);
        a->position = sound_packets++ * AUDIO_PACKET;
        a->captured = a->capture_wall = now;
        a->bytes = SOUND_BYTES;
        stream_sender_audio(s, a, now);
        coded_audio_unref(a);
    }
    void make(usec_t now)
    {
        auto number = static_cast<int64_t>(frames.size());
        frames.push_back({now, 0, 0, -1, -1, -1, -1, 0});
        for (int i = 0; i < l.size_count; i++)
            if (encoders[i].watchers)
                give(i, number, now);
        frames.back().level = stream_sender_level(s);
    }

    // ---- The transport, which counts packets

    static tap *tap_of(media_transport *t)
    {
        return reinterpret_cast<tap *>(t);
    }
    static media_transport *below(const media_transport *t)
    {
        return &reinterpret_cast<const tap *>(t)->owner->carrier->media;
    }
    static bool tap_room(media_transport *t, usec_t now)
    {
        return below(t)->ops->room(below(t), now);
    }
    static int tap_send(media_transport *t, media_track track, const media_packet *p, usec_t now)
    {
        live_link *o = tap_of(t)->owner;
        int err = below(t)->ops->send(below(t), track, p, now);
        if (!err)
            o->count(o->sent, static_cast<double>(p->head_len + p->body_len + 28));
        return err;
    }
    static bool tap_wish(const media_transport *t, feedback_wish *out)
    {
        return below(t)->ops->wish && below(t)->ops->wish(below(t), out);
    }
    static void tap_media_rate(media_transport *t, int bps, usec_t now)
    {
        if (below(t)->ops->on_media_rate)
            below(t)->ops->on_media_rate(below(t), bps, now);
    }
    static void tap_info(media_transport *t, transport_info *out, usec_t now)
    {
        below(t)->ops->info(below(t), out, now);
    }
    static void tap_max_rate(media_transport *t, double bps, usec_t now)
    {
        if (below(t)->ops->set_max_rate)
            below(t)->ops->set_max_rate(below(t), bps, now);
    }
    static bool tap_fate(media_transport *t, bool *lost)
    {
        return below(t)->ops->fate && below(t)->ops->fate(below(t), lost);
    }
    static const media_transport_ops *tap_ops()
    {
        static const media_transport_ops ops = {tap_room,       tap_send, nullptr,  tap_wish,
                                                tap_media_rate, tap_info, tap_fate, tap_max_rate};
        return &ops;
    }

    // ---- Feedback of the viewer

    rtcp_item item(rtcp_kind kind) const
    {
        rtcp_item i{};
        i.kind = kind;
        i.media_ssrc = stream_sender_rtp(s, TRACK_VIDEO)->ssrc;
        return i;
    }
    // The viewer reports a loss. It also requests a key frame if the retransmission does not arrive
    // either.
    void missed(uint16_t seq, usec_t now)
    {
        int64_t number = rtp_sender_frame_of(stream_sender_rtp(s, TRACK_VIDEO), seq);
        rtcp_item nack = item(RTCP_IS_NACK);
        nack.nack_count = 1;
        nack.nacks[0].pid = seq;
        repaired = false;
        stream_sender_feedback(s, &nack, now);
        if (number >= 0 && number % 2 == 0 && !repaired)
            plis.push_back({now + 2 * way_back + REFERENCE_TRACKER_REPAIR, number});
    }
    virtual void hear(usec_t now)
    {
        for (; !nacks.empty() && nacks.front().at <= now; nacks.erase(nacks.begin()))
            missed(nacks.front().seq, now);
        for (; !plis.empty() && plis.front().at <= now; plis.erase(plis.begin())) {
            rtcp_item pli = item(RTCP_IS_PLI);
            if (!frames[static_cast<size_t>(plis.front().number)].arrived)
                stream_sender_feedback(s, &pli, now);
        }
    }
    void settle(usec_t now)
    {
        usec_t next = std::min(next_frame, carrier->ops->next(carrier, now));
        next = std::min({next, next_sound(), stream_sender_next_timeout(s)});
        next = std::min(next, feedback_next());
        node_wake_at(&self.flow.source, std::max(next, now + 1));
    }
    // Packet `seq` arrived, where `next` was the first number that had not. A hole is reported when
    // RTP_REORDER_PACKETS later packets have arrived.
    void note_holes(int64_t next, int64_t seq, usec_t now)
    {
        for (; next < seq; next++)
            holes.push_back({next, 0});
        size_t before = nacks.size();
        for (size_t i = 0; i < holes.size();) {
            bool fills = holes[i].seq == seq;
            bool is_lost = !fills && holes[i].seq < seq && ++holes[i].later == RTP_REORDER_PACKETS;
            if (is_lost)
                nacks.push_back({now + way_back, static_cast<uint16_t>(holes[i].seq)});
            if (fills || is_lost)
                holes.erase(holes.begin() + static_cast<std::ptrdiff_t>(i));
            else
                i++;
        }
        if (nacks.size() > before)
            node_wake_at(&self.flow.source, std::min(next_frame, nacks.front().at));
    }
    void arrived(const rtp_packet &p, usec_t now)
    {
        int64_t ext_seq, next = viewer.started ? viewer.highest_seq + 1 : INT64_MAX;
        if (rtp_receiver_packet(&viewer, &p, 0, &ext_seq, now) == RTP_DUPLICATE)
            return;
        note_holes(next, ext_seq, now);
        frame &f = frames[p.adu.frame];
        if (f.size_id != p.adu.size_id) { // at a switch a frame may arrive in both sizes
            f.size_id = p.adu.size_id;
            f.first = f.last = -1;
            f.came = 0;
        }
        f.came++;
        f.first = p.adu.first ? ext_seq : f.first;
        f.last = p.adu.last ? ext_seq : f.last;
        f.depends_on = p.adu.depends ? static_cast<int64_t>(p.adu.frame) - p.adu.depends : -1;
        if (f.first >= 0 && f.last >= 0 && f.came == f.last - f.first + 1)
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
            if (o->makes(now))
                o->make(now);
            o->next_frame += static_cast<usec_t>(1e6 / o->fps);
        }
        while (o->next_sound() <= now)
            o->make_sound(now);
        o->hear(now);
        if (stream_sender_next_timeout(o->s) <= now)
            stream_sender_on_timeout(o->s, now);
        o->carrier->ops->run(o->carrier, now);
        o->settle(now);
    }
    static void source_push(node *n, struct packet *p, usec_t now)
    {
        live_link *o = of_source(n);
        o->carrier->ops->back(o->carrier, p, now);
        o->settle(now);
    }
    void read_packet(struct packet *p, usec_t now)
    {
        carrier->ops->arrived(carrier, p, now);
        sink_settle(this, now);
    }
    static void sink_settle(live_link *o, usec_t now)
    {
        usec_t next = o->viewer_next();
        if (!o->blocks())
            next = std::min(next, o->carrier->ops->sink_next(o->carrier));
        node_wake_at(&o->self.flow.sink, next == USEC_NEVER ? next : std::max(next, now + 1));
    }
    static void sink_run(node *n, usec_t now)
    {
        live_link *o = of_sink(n);
        if (!o->blocks())
            o->carrier->ops->sink_run(o->carrier, now);
        o->viewer_run(now);
        sink_settle(o, now);
    }
    static void sink_push(node *n, struct packet *p, usec_t now)
    {
        live_link *o = of_sink(n);
        o->count(o->got, p->bytes);
        o->packet_arrived(p, now);
        if (!o->hold(p))
            o->read_packet(p, now);
    }
    static void on_room(void *ctx, usec_t now)
    {
        stream_sender_pump(static_cast<live_link *>(ctx)->s, now);
    }
    static void deliver(void *ctx, const uint8_t *bytes, size_t len, usec_t now)
    {
        auto *o = static_cast<live_link *>(ctx);
        o->received(bytes, len, now);
        if (o->on_rtp)
            o->on_rtp(bytes, len, now);
    }
};

#endif
