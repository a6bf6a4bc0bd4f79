// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/bridge/bridge.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/support/two_sizes.hpp"

namespace
{
const usec_t MS = USEC_PER_MSEC;
const usec_t RTT = 100 * MS;
const usec_t HOLD = 2 * RTT + BRIDGE_REPAIR;

// A bridge whose calls are a text: "F4" forwards frame 4, "L3" three packets lost, "key", "stop".
struct rig {
    ladder l = two_sizes();
    bridge_ops ops{};
    bridge *b = nullptr;
    std::string text;

    explicit rig(bool keeps_badput = false, reflect_mode reflect = REFLECT_OFF)
    {
        ops.forward = [](void *ctx, coded_frame *f, usec_t) { say(ctx, "F", f->number); };
        ops.lost = [](void *ctx, int packets, usec_t) { say(ctx, "L", packets); };
        ops.request_key = [](void *ctx, usec_t) { say(ctx, "key"); };
        ops.limit = [](void *ctx, double bps, usec_t) { say(ctx, "limit ", int64_t(bps)); };
        ops.mark = [](void *ctx, int packets, usec_t) { say(ctx, "mark ", packets); };
        ops.stop_reading = [](void *ctx, bool stop, usec_t) { say(ctx, stop ? "stop" : "go"); };
        bridge_config config{};
        config.ladder = &l;
        config.is_annexb = true;
        config.reflect = reflect;
        config.target = 250 * MS;
        config.blocking = 1.0 / 3;
        config.keeps_badput = keeps_badput;
        config.ops = &ops;
        config.ctx = this;
        b = bridge_new(&config, 0);
        REQUIRE(b);
        bridge_set_rtt(b, RTT);
    }
    ~rig()
    {
        bridge_free(b);
    }
    rig(const rig &) = delete;
    rig &operator=(const rig &) = delete;

    static void say(void *ctx, const char *what)
    {
        auto *r = static_cast<rig *>(ctx);
        r->text += (r->text.empty() ? "" : " ") + std::string(what);
    }
    static void say(void *ctx, const char *what, int64_t number)
    {
        say(ctx, (what + std::to_string(number)).c_str());
    }
    std::string take()
    {
        std::string out;
        out.swap(text);
        return out;
    }
    // Frame `number` of two packets from `first_seq` on; even numbers are the base layer.
    std::string come(int64_t number, int64_t first_seq, usec_t now, int64_t depends_on,
                     int size_id = 0, bool on_lower = false)
    {
        const uint8_t bytes[] = {0, 0, 0, 1, 9, 9, 9, 9, 9, 9};
        auto *f = static_cast<received_frame *>(calloc(1, sizeof(received_frame)));
        REQUIRE(f);
        f->number = number;
        f->size_id = size_id;
        f->temporal_id = number % 2 != 0;
        f->level = size_id * 2;
        f->key = depends_on < 0 && !on_lower;
        f->on_lower = on_lower;
        f->depends_on = depends_on;
        f->first_seq = first_seq;
        f->packets = 2;
        f->data = static_cast<uint8_t *>(malloc(sizeof(bytes)));
        REQUIRE(f->data);
        memcpy(f->data, bytes, sizeof(bytes));
        f->bytes = sizeof(bytes);
        bridge_frame(b, f, now, now);
        return take();
    }
    // The viewer is served a lower level: frame `number`, as above, is left out.
    void leave_out(int64_t number, int64_t first_seq)
    {
        received_frame f{};
        f.number = number;
        f.first_seq = first_seq;
        f.packets = 2;
        bridge_leave_out(b, &f);
    }
    std::string tick(usec_t now)
    {
        bridge_on_timeout(b, now);
        return take();
    }
    bridge_stats stats() const
    {
        bridge_stats out;
        bridge_read(b, &out);
        return out;
    }
};
} // namespace

TEST_CASE("bridge: what arrives whole is forwarded at once")
{
    rig r;
    CHECK(r.come(0, 100, 0, -1) == "F0");
    CHECK(r.come(1, 102, 0, 0) == "F1");
    CHECK(r.come(2, 104, 0, 0) == "F2");
    CHECK(bridge_next_timeout(r.b) == USEC_NEVER);
    CHECK(r.stats().frames == 3);
    CHECK(r.stats().bytes == 30);
    CHECK(r.stats().lost == 0);
}

TEST_CASE("bridge: the frame that repair brings late releases those that wait for it")
{
    rig r;
    r.come(0, 100, 0, -1);
    bridge_nacked(r.b, 0); // of frame 2, numbers 102 and 103
    CHECK(r.come(4, 104, 0, 2).empty());
    CHECK(r.come(5, 106, 0, 4).empty());
    CHECK(r.stats().held == 2);
    CHECK(r.come(2, 102, HOLD - 1, 0) == "F2 F4 F5");
    CHECK(r.stats().lost == 0); // all came, in order
}

TEST_CASE("bridge: a frame whose reference is lost is badput; the gap covers both")
{
    rig r;
    r.come(0, 100, 0, -1);
    bridge_nacked(r.b, 0);
    CHECK(r.come(4, 104, 0, 2).empty()); // frame 2 was lost
    CHECK(r.come(5, 106, MS, 4).empty());
    CHECK(r.tick(HOLD) == "key"); // no repair came
    CHECK(r.stats().badput_frames == 1);
    r.tick(HOLD + MS);
    CHECK(r.stats().badput_frames == 2);
    CHECK(r.stats().badput_bytes == 20);
    CHECK(r.stats().held == 0);
    CHECK(r.come(6, 108, HOLD + 2 * MS, -1) == "L6 F6");
    CHECK(bridge_next_timeout(r.b) == USEC_NEVER); // the key frame came
}

TEST_CASE("bridge: a lost frame on which nothing depends is a gap; repaired later, it is forwarded")
{
    rig r;
    r.come(0, 100, 0, -1);
    CHECK(r.come(2, 104, 0, 0) == "L2 F2"); // frame 1, numbers 102 and 103
    CHECK(r.come(1, 102, 50 * MS, 0) == "F1");
    CHECK(r.come(4, 106, 60 * MS, 2) == "F4");
    CHECK(r.stats().lost == 2);
}

TEST_CASE("bridge: without the drop of badput every frame is forwarded at once")
{
    rig r(true);
    r.come(0, 100, 0, -1);
    CHECK(r.come(4, 104, 0, 2) == "L2 F4 key");
    CHECK(r.come(5, 106, 0, 4) == "F5");
    CHECK(r.stats().badput_frames == 0);
}

TEST_CASE("bridge: the frame of another size is no reference")
{
    rig r;
    r.come(0, 100, 0, -1);
    CHECK(r.come(2, 102, 0, 0, 1) == "key"); // its key frame was lost
    CHECK(r.come(4, 104, 0, -1, 1) == "L2 F4");
    CHECK(r.come(6, 106, 0, 4, 1) == "F6");
}

TEST_CASE("bridge: a frame that lies is dropped")
{
    rig r;
    CHECK(r.come(0, 100, 0, -1, 2).empty()); // the ladder has two sizes
    CHECK(r.stats().malformed == 1);
    CHECK(r.come(0, 102, 0, -1) == "F0");
}

TEST_CASE("bridge: frames that wait are bounded, and forgotten at another session")
{
    rig r;
    r.come(0, 100, 0, -1);
    for (int i = 0; i < BRIDGE_MAX_HELD + 10; i++)
        r.come(2 * i + 4, 104 + 2 * i, 0, 2 * i + 2);
    CHECK(r.stats().held == BRIDGE_MAX_HELD);
    CHECK(r.stats().badput_frames == 10);
    bridge_restart(r.b);
    CHECK(r.stats().held == 0);
    CHECK(r.come(2000, 5, 0, -1) == "F2000"); // other sequence numbers are no gap
}

TEST_CASE("bridge: the state of the access becomes orders for the backbone")
{
    rig r(false, REFLECT_BLOCKING);
    reflect_access full{};
    full.free = 0;
    bridge_access(r.b, &full, 0);
    CHECK(r.take() == "stop");
    full.free = 0.3;
    bridge_access(r.b, &full, 20 * MS);
    CHECK(r.take().empty());
    full.free = 0.34;
    bridge_access(r.b, &full, 40 * MS);
    CHECK(r.take() == "go");
    CHECK(r.stats().stops == 1);
}

TEST_CASE("bridge: a larger size of a picture needs the smaller one, and its own reference")
{
    rig r;
    CHECK(r.come(0, 100, 0, -1) == "F0");
    CHECK(r.come(0, 102, 0, -1, 1, true) == "F0"); // depends on the smaller size alone
    CHECK(r.come(2, 106, 0, 0, 1, true).empty());  // its smaller size is under way
    CHECK(r.come(2, 104, 0, 0) == "F2 F2");
    CHECK(r.come(4, 108, 0, 2) == "F4"); // its larger size, 110 and 111, is lost
    CHECK(r.come(6, 112, 0, 4) == "L2 F6");
    CHECK(r.come(6, 114, 0, 4, 1, true).empty());
    r.tick(HOLD);
    CHECK(r.stats().badput_frames == 1);
    CHECK(r.come(8, 116, HOLD, 6) == "L2 F8");
    CHECK(r.come(8, 118, HOLD, -1, 1, true) == "F8"); // joins again
}

TEST_CASE("bridge: frames that are left out are no gap, what is lost between them is one")
{
    rig r;
    r.come(0, 100, 0, -1);
    r.leave_out(1, 102);
    CHECK(r.come(2, 104, 0, 0) == "F2");
    r.leave_out(3, 108); // 106 and 107 are lost
    CHECK(r.come(4, 110, 0, 2) == "L2 F4");
    r.leave_out(5, 112);
    r.leave_out(7, 116);
    CHECK(r.come(8, 118, 0, 4) == "L2 F8"); // 114 and 115
    bridge_restart(r.b);
    CHECK(r.come(10, 112, 0, -1) == "F10");
    CHECK(r.come(12, 118, 0, 10) == "L4 F12"); // of another session nothing was left out
    CHECK(r.stats().lost == 8);
}

TEST_CASE("bridge: viewers share a frame, each at its level")
{
    rig a, b;
    a.ops.forward = [](void *, coded_frame *f, usec_t) { CHECK(f->level == 1); };
    b.ops.forward = [](void *, coded_frame *f, usec_t) { CHECK(f->level == 0); };
    const uint8_t bytes[] = {0, 0, 1, 9};
    auto *f = static_cast<received_frame *>(calloc(1, sizeof(received_frame)));
    REQUIRE(f);
    f->key = true;
    f->level = 1;
    f->depends_on = -1;
    f->packets = 1;
    f->data = static_cast<uint8_t *>(malloc(sizeof(bytes)));
    REQUIRE(f->data);
    memcpy(f->data, bytes, sizeof(bytes));
    f->bytes = sizeof(bytes);
    shared_frame *s = shared_frame_new(f, &a.l, true, 0);
    REQUIRE(s);
    bridge_shared_frame(a.b, s, 1, 0);
    bridge_shared_frame(b.b, s, 0, 0);
    CHECK(a.stats().frames == 1);
    CHECK(b.stats().frames == 1);
    CHECK(s->references == 1);
    shared_frame_unref(s);
}
