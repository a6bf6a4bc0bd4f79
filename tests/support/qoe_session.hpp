// SPDX-License-Identifier: GPL-2.0-or-later
// A session of which every figure can be computed by hand; qoe_test.cpp has the computation.
#ifndef WEIR_TESTS_QOE_SESSION_HPP
#define WEIR_TESTS_QOE_SESSION_HPP

#include <memory>

#include "stream/qoe/qoe.h"
#include "tests/support/two_levels.hpp"

namespace qoe_session
{

const usec_t ms = USEC_PER_MSEC;
const usec_t started_wall = 1700000000250000; // 2023-11-14 22:13:20.250 UTC

using pointer = std::unique_ptr<qoe, void (*)(qoe *)>;

inline pointer begun(bool pictures)
{
    pointer q(qoe_new("rtsp://[::1]:8554/live", started_wall, 1000 * ms), qoe_free);
    qoe_on_connected(q.get(), 1020 * ms);
    ladder l = two_levels();
    qoe_setup setup = {"minbuf:1,3", "mtp: silent", "test 640x360@10", "", &l, pictures};
    qoe_on_setup(q.get(), &setup, 1030 * ms);
    return q;
}

inline void packet(qoe *q, usec_t at, size_t bytes, usec_t latency)
{
    qoe_packet e = {bytes, latency == QOE_UNKNOWN ? latency : latency * ms};
    qoe_on_packet(q, &e, at * ms);
}

inline void frame(qoe *q, usec_t at, int64_t number, int level, usec_t latency)
{
    qoe_frame e = {number, level, 700, latency * ms, 10 * ms, (latency - 10) * ms};
    qoe_on_frame(q, &e, at * ms);
}

inline void shown(qoe *q, usec_t at, int64_t number, int level, usec_t latency)
{
    qoe_shown e = {number,  level, 600, latency * ms, 40 * ms, 5 * ms, 3 * ms, 10 * ms,
                   50 * ms, 0,     0,   false,        {}};
    qoe_on_shown(q, &e, at * ms);
}

inline void network(qoe *q)
{
    packet(q, 1100, 1000, 100);
    packet(q, 1200, 1000, 200);
    packet(q, 1300, 500, 300);
    packet(q, 3100, 1500, 600);
    frame(q, 1100, 0, 1, 50);
    frame(q, 1200, 1, 1, 50);
    frame(q, 1400, 3, 1, 60);
    frame(q, 1410, 2, 1, 60);
    frame(q, 1600, 5, 1, 80);
    qoe_receiver counts = {200, 10, 3, 4, -1, -1};
    qoe_on_receiver(q, &counts);
    qoe_transport first = {0.020, 1e6, 0.05, 0.001, 12};
    qoe_transport second = {0.040, 1e6, 0, 0.001, 14};
    qoe_on_transport(q, &first);
    qoe_on_transport(q, &second);
    qoe_on_capacity(q, 2e6);
    qoe_clock clock = {false, 1500};
    qoe_on_clock(q, &clock);
}

// Returns the session up to, but without, its end at 5700 ms.
inline pointer watched()
{
    pointer q = begun(true);
    qoe_on_start(q.get(), 1500 * ms);
    network(q.get());
    shown(q.get(), 1500, 0, 1, 100);
    shown(q.get(), 1600, 1, 1, 100);
    shown(q.get(), 1700, 2, 1, 200);
    qoe_on_stall_begin(q.get(), STALL_OUTAGE, 1800 * ms);
    qoe_on_stall_end(q.get(), STALL_TRANSPORT, 2300 * ms);
    shown(q.get(), 2300, 3, 1, 300);
    qoe_on_not_shown(q.get(), QOE_LOST);
    qoe_on_not_shown(q.get(), QOE_LATE);
    qoe_on_not_shown(q.get(), QOE_UNDECODABLE);
    qoe_on_speed(q.get(), 1.05, 2350 * ms);
    qoe_on_skip(q.get());
    qoe_on_not_shown(q.get(), QOE_SKIPPED);
    qoe_on_not_shown(q.get(), QOE_SKIPPED);
    qoe_budget budget = {500 * ms, 450 * ms, 350 * ms, "fixed", false};
    qoe_on_budget(q.get(), &budget);
    qoe_on_pause(q.get(), true, 2400 * ms);
    qoe_on_pause(q.get(), false, 5400 * ms);
    qoe_switch down = {1, 0, "capacity"};
    qoe_on_switch(q.get(), &down, 5450 * ms);
    shown(q.get(), 5500, 8, 0, 300);
    qoe_on_picture(q.get(), 10, 0.9);
    qoe_on_picture(q.get(), 30, 0.8);
    qoe_on_sender_skipped(q.get(), 3);
    // 5 of 8 frames are shown: 4 is lost, 6 is late, and 7 depends on 4.
    frame_totals frames = {8, 5, {1, 1, 0, 1, 0, 0, 0}, {2, 1, 0, 0, 0, 0, 0}};
    qoe_on_frames(q.get(), &frames);
    qoe_cpu cpu = {1.25, 0.5, 1e7};
    qoe_on_cpu(q.get(), &cpu);
    return q;
}

} // namespace qoe_session

#endif
