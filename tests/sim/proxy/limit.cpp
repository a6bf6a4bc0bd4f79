// SPDX-License-Identifier: GPL-2.0-or-later
// A limit where there is none to tell, and where there is: viewers with any level of three kinds of
// live media, next to an access that is idle or too slow. In virtual time.
#include <cstdio>
#include <cstdlib>

#include "tests/sim/proxy/proxy_session.hpp"
#include "tests/support/sanitized.hpp"

namespace
{
constexpr double LENGTH = 60;

enum kind {
    ENCODED,  // the default ladder: an encoder a size, which the limit steers
    LAYERED,  // synthetic:layers:8,1024,11: frames of equal size, each level a layer more
    SCALABLE, // as VP9's: three sizes in each picture, with key frames
};

const synthetic *media_of(kind k)
{
    static synthetic layered, scalable;
    if (k == ENCODED)
        return nullptr;
    REQUIRE(synthetic_parse("layers:8,1024,11", &layered) == 0);
    REQUIRE(synthetic_parse("layers:3,1024,15", &scalable) == 0);
    const int kbps[] = {100, 250, 600};
    for (int i = 0; i < 3; i++)
        scalable.ladder.levels[i].bitrate_bps = kbps[i] * 1000;
    return k == LAYERED ? &layered : &scalable;
}

class session : public proxy_session
{
    kind which;

  public:
    session(kind k, const proxy_setting &setting) : proxy_session(setting), which(k) {}

    void give(int size_id, int64_t number, usec_t now) override
    {
        if (which == ENCODED) {
            proxy_session::give(size_id, number, now);
            return;
        }
        coded_frame *f = which == LAYERED ? synthetic_frame(media_of(LAYERED), size_id, number)
                                          : scalable_frame(size_id, number);
        REQUIRE(f);
        f->captured = f->capture_wall = now;
        stream_sender_frame(s, f, now);
        coded_frame_unref(f);
    }
    // Of the layers that were captured between two instants: how many arrived, and the longest time
    // from capture, ms.
    std::pair<int, double> layers_between(double from, double to) const
    {
        std::pair<int, double> out{};
        for (const arrival &a : arrivals)
            if (a.captured >= from * 1e6 && a.captured < to * 1e6 && a.decodable) {
                out.first++;
                out.second = std::max(out.second, usec_to_msec(a.arrived - a.captured));
            }
        return out;
    }

  private:
    // A key picture each two seconds has three times the mean bytes.
    coded_frame *scalable_frame(int size_id, int64_t number) const
    {
        bool key = number % 30 == 0;
        double lower = size_id ? l.levels[size_id - 1].bitrate_bps : 0;
        double mean = (l.levels[size_id].bitrate_bps - lower) / 8 / 15;
        auto bytes = static_cast<size_t>(mean * (key ? 3 : 27. / 29));
        coded_frame *f = coded_frame_new(bytes);
        if (!f)
            return nullptr;
        f->number = number;
        f->size_id = size_id;
        f->key = key && size_id == 0;
        f->starts = key;
        f->on_lower = size_id > 0;
        f->depends_on = key ? -1 : number - 1;
        f->nal_count = 1;
        f->nals[0] = {0, static_cast<uint32_t>(bytes)};
        memset(f->data, 0x55, bytes);
        f->data[0] = f->key ? 0x65 : 0x41;
        return f;
    }
};

proxy_setting setting(kind k, int level, const char *link, reflect_mode mode = REFLECT_LIMIT)
{
    proxy_setting s;
    s.media.media = media_of(k);
    s.level = level;
    s.link = link;
    s.reflect = mode;
    s.length = LENGTH;
    return s;
}

const char *const IDLE = "rate=100mbit,queue=droptail:1000p";
const kind kinds[] = {ENCODED, LAYERED, SCALABLE};

int levels_of(kind k)
{
    return session(k, setting(k, -1, IDLE)).levels().level_count;
}

// What a viewer does; the same with and without reflection.
using script = std::function<void(session &)>;

void check_idle(const proxy_setting &with, kind k, const script &act)
{
    proxy_setting without = with;
    without.reflect = REFLECT_OFF;
    session n(k, with), off(k, without);
    act(n);
    act(off);
    n.run_to(LENGTH);
    off.run_to(LENGTH);
    CHECK(n.told.empty());
    for (double from = 2; from < LENGTH; from += LENGTH - 12) { // and at the end
        auto got = n.layers_between(from, from + 10),
             expected = off.layers_between(from, from + 10);
        CHECK(got.first == expected.first);
        CHECK(std::abs(got.second - expected.second) < 5);
    }
}
} // namespace

TEST_CASE("limit: an idle access is none, whatever level the viewer has")
{
    for (kind k : kinds)
        for (int level = 0; level < levels_of(k); level += SANITIZED ? 3 : 1)
            for (const char *backbone : {"tfrc", "scream", "udp"}) {
                INFO(k << " level " << level << " over " << backbone);
                proxy_setting s = setting(k, level, IDLE);
                s.backbone = backbone;
                check_idle(s, k, [](session &) {});
            }
}

TEST_CASE("limit: an idle access is none while the viewer changes its level")
{
    for (kind k : kinds) {
        INFO(k);
        int top = levels_of(k) - 1;
        check_idle(setting(k, top, IDLE), k, [top](session &n) {
            const int levels[] = {0, top, 1, top / 2, top, 0, top - 1};
            double at = 5;
            for (int level : levels) {
                n.run_to(at += 5);
                n.choose(level);
            }
        });
    }
}

TEST_CASE("limit: an idle access is none after a pause")
{
    for (kind k : kinds) {
        INFO(k);
        check_idle(setting(k, 1, IDLE), k, [](session &n) {
            n.run_to(15);
            n.pause_all();
            n.run_to(25);
            n.play_all();
        });
    }
}

// Frames come late and in bursts where the backbone repairs its losses, or has a queue of its own.
TEST_CASE("limit: what the backbone delays is no queue of the access")
{
    for (kind k : kinds)
        for (double loss : {0., 0.01}) {
            INFO(k << " loss " << loss);
            proxy_setting s = setting(k, levels_of(k) - 1, IDLE);
            s.backbone_loss = loss;
            s.backbone_mbps = loss > 0 ? 10 : 0.7;
            session n(k, s);
            n.run_to(LENGTH);
            CHECK(n.told.empty());
        }
}

// The access carries 0.7 of each level's rate.
TEST_CASE("limit: an access that is too slow keeps a short queue at every level")
{
    for (kind k : kinds)
        for (int level = 1; level < levels_of(k); level++) {
            proxy_setting s = setting(k, level, "");
            session any(k, setting(k, level, IDLE));
            const struct level *rates = any.levels().levels;
            double mbps = 0.7e-6 * rates[level].bitrate_bps;
            if (mbps < 1.2e-6 * rates[0].bitrate_bps)
                continue; // it carries no level
            s.link =
                "rate=" + std::to_string(static_cast<int>(mbps * 1000)) + "kbit,queue=droptail:10p";
            INFO(k << " level " << level << " " << s.link);
            session n(k, s);
            n.run_to(LENGTH);
            if (std::getenv("WEIR_PROXY_PRINT"))
                std::printf("%d level %d of %.3f: backbone %.3f access %.3f Mbit/s, short queue "
                            "%.3f, %.0f ms then %.0f ms, told %zu\n",
                            k, level, mbps, n.backbone_mbps(15, 60), n.access_mbps(15, 60),
                            n.below(s.target + 100 * USEC_PER_MSEC, 15, 60),
                            n.layers_between(15, 25).second, n.layers_between(49, 59).second,
                            n.told.size());
            CHECK_FALSE(n.told.empty());
            CHECK(n.backbone_mbps(15, 60) < 1.1 * n.access_mbps(15, 60));
            CHECK(n.below(s.target + 100 * USEC_PER_MSEC, 15, 60) > 0.95);
        }
}

TEST_CASE("limit: a limit ends when the viewer asks for what the access carries")
{
    for (kind k : kinds) {
        INFO(k);
        std::string link = k == SCALABLE ? "rate=540kbit" : "rate=400kbit";
        proxy_setting s = setting(k, levels_of(k) - 1, (link + ",queue=droptail:10p").c_str());
        auto lower = [](session &n) {
            n.run_to(30);
            n.choose(1);
            n.run_to(LENGTH);
        };
        session n(k, s);
        lower(n);
        REQUIRE_FALSE(n.told.empty());
        CHECK(n.told.back() == 0);
        s.reflect = REFLECT_OFF;
        session off(k, s);
        lower(off);
        auto got = n.layers_between(48, 59), expected = off.layers_between(48, 59);
        CHECK(got.first == expected.first);
        CHECK(std::abs(got.second - expected.second) < 5);
    }
}
