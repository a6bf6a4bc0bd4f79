// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstdlib>
#include <memory>
#include <string>

#include "player/video/stall_reporter.h"

namespace
{

const usec_t ms = USEC_PER_MSEC;

// One packet a frame every 100 ms, written 20 ms before it comes; the session began at 0.
struct viewing {
    std::unique_ptr<frame_outcomes, void (*)(frame_outcomes *)> ledger{frame_outcomes_new(),
                                                                       frame_outcomes_free};
    std::unique_ptr<qoe, void (*)(qoe *)> q{qoe_new("u", 0, 0), qoe_free};
    char *text = nullptr;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    struct trace *trace = trace_new(out, false, 0);
    stall_reporter t;
    int64_t seq = 100;

    viewing()
    {
        ladder none{};
        qoe_setup setup = {"udp", "", "test", &none, true};
        qoe_on_setup(q.get(), &setup, 0);
        stall_reporter_init(&t, ledger.get(), q.get(), trace, 100 * ms);
        for (int64_t n = 0; n <= 10; n++)
            packet(n, 100 * n);
    }
    viewing(const viewing &) = delete;
    viewing &operator=(const viewing &) = delete;
    ~viewing()
    {
        trace_free(trace);
        fclose(out);
        free(text);
    }
    void packet(int64_t number, usec_t at, int64_t lost = 0)
    {
        rtp_packet p{};
        p.has_adu = true;
        p.adu.frame = static_cast<uint32_t>(number);
        p.adu.first = p.adu.last = true;
        p.adu.written_us = static_cast<uint32_t>((at - 20) * ms);
        seq += lost;
        frame_outcomes_packet(ledger.get(), &p.adu, seq);
        stall_classifier_packet(&t.watch, &p, seq++, at * ms);
    }
    std::string traced()
    {
        fflush(out);
        return std::string(text, len);
    }
    qoe_json report(usec_t at)
    {
        qoe_json r;
        qoe_read(q.get(), &r, at * ms);
        return r;
    }
};

} // namespace

TEST_CASE("stall_reporter: the end has the cause that counts")
{
    viewing v;
    // Packets come all the time, so nothing but a slow path is known; then the frame has a gap.
    stall_reporter_begin(&v.t, 11, 1100 * ms, 1150 * ms);
    CHECK(v.t.awaited == 11);
    v.packet(12, 1200, 1);
    stall_reporter_end(&v.t, 150 * ms, 1250 * ms);
    CHECK(v.traced() ==
          R"({"t":1.1,"event":"rebuffer-start","cause":"transport","number":11,"silence":150})"
          "\n"
          R"({"t":1.1,"event":"mode","mode":"buffering"})"
          "\n"
          R"({"t":1.25,"event":"rebuffer-end","duration":0.15,"cause":"network"})"
          "\n"
          R"({"t":1.25,"event":"mode","mode":"streaming"})"
          "\n");
    qoe_json r = v.report(1300);
    CHECK(r.rebuffering.count == 1);
    CHECK(r.rebuffering.by_cause[STALL_NETWORK].total == Approx(0.15));
}

TEST_CASE("stall_reporter: a viewing that ends within a stall has it in its figures alone")
{
    viewing v;
    stall_reporter_begin(&v.t, 11, 1100 * ms, 1600 * ms);
    size_t before = v.traced().size();
    stall_reporter_stop(&v.t, 1700 * ms);
    CHECK(v.traced().size() == before);
    qoe_json r = v.report(5000);
    CHECK(r.rebuffering.by_cause[STALL_OUTAGE].count == 1);
    CHECK(r.rebuffering.total == Approx(0.6));
}
