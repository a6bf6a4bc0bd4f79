// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/report/viewing_trace.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>

namespace
{

const usec_t ms = USEC_PER_MSEC;

// The lines of one event; the session began at 0.
std::string written(const viewing_event &e)
{
    char *text = nullptr;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    trace *t = trace_new(out, true, 0);
    viewing_trace(t, &e);
    CHECK(trace_free(t) == 0);
    fclose(out);
    std::string copy(text, len);
    free(text);
    return copy;
}

viewing_event event(viewing_kind kind, usec_t at)
{
    viewing_event e{};
    e.kind = kind;
    e.at = at * ms;
    return e;
}

} // namespace

TEST_CASE("viewing_trace: a frame that was shown, with the freeze that it ends")
{
    qoe_freeze_entry freeze{};
    freeze.at = 0.4;
    freeze.duration = 0.301;
    freeze.cause = FREEZE_LATE;
    for (bool known : {true, false}) {
        viewing_event e = event(VIEWING_SHOWN, 261);
        e.shown.figures.number = 3;
        e.shown.figures.level = 0;
        e.shown.figures.latency = known ? 160 * ms : QOE_UNKNOWN;
        e.shown.at = 260 * ms;
        e.shown.arrival = {known, 1, 700, 180 * ms, 0, 0};
        e.freeze = known ? &freeze : nullptr;
        CHECK(
            written(e) ==
            (known
                 ? R"({"t":0.26,"event":"freeze","at":0.4,"duration":0.301,"cause":"late"})"
                   "\n"
                   R"({"t":0.261,"event":"frame","number":3,"level":1,"bytes":700,"arrived":0.18,)"
                   R"("captured":0.1,"shown":0.26})"
                   "\n"
                 : R"({"t":0.261,"event":"frame","number":3,"level":0,"bytes":null,)"
                   R"("arrived":null,"captured":null,"shown":0.26})"
                   "\n"));
    }
}

TEST_CASE("viewing_trace: a frame that was not shown")
{
    for (viewing_kind kind : {VIEWING_NOT_SHOWN, VIEWING_SKIPPED}) {
        viewing_event e = event(kind, 1500);
        e.lost.why = {4, CAUSE_DEPENDENCY, CAUSE_NETWORK, 2};
        e.lost.level = 1;
        CHECK(written(e).find(
                  R"({"t":1.5,"event":"frame","number":4,"level":1,"bytes":null,"arrived":null,)"
                  R"("dropped":"dependency")") == 0);
        e.lost.level = -1;
        CHECK(written(e).find(R"("level":null)") != std::string::npos);
    }
}

TEST_CASE("viewing_trace: a stall, and the mode with it")
{
    viewing_event begin = event(VIEWING_STALL_BEGIN, 1100);
    begin.stall = {STALL_TRANSPORT, 11, 1150 * ms, 150 * ms, 0};
    CHECK(written(begin) ==
          R"({"t":1.1,"event":"rebuffer-start","cause":"transport","number":11,"silence":150})"
          "\n"
          R"({"t":1.1,"event":"mode","mode":"buffering"})"
          "\n");
    viewing_event end = event(VIEWING_STALL_END, 1250);
    end.stall = {STALL_NETWORK, 11, 0, -1, 150 * ms};
    CHECK(written(end) == R"({"t":1.25,"event":"rebuffer-end","duration":0.15,"cause":"network"})"
                          "\n"
                          R"({"t":1.25,"event":"mode","mode":"streaming"})"
                          "\n");
}

TEST_CASE("viewing_trace: the lines of the other facts")
{
    viewing_event left_out = event(VIEWING_LEFT_OUT, 100), missed = event(VIEWING_LIVE_BEGIN, 100),
                  speed = event(VIEWING_SPEED, 100), skip = event(VIEWING_SKIP, 100),
                  budget = event(VIEWING_BUDGET, 100), adu = event(VIEWING_PACKET, 100);
    left_out.range = {13, 20, 7};
    missed.missed = 9;
    speed.speed = {1.05, true};
    skip.media = 500 * ms;
    budget.budget = {72 * ms, 20 * ms, 12500, "auto", true};
    adu.packet.adu = true;
    adu.packet.number = 8;
    const struct {
        viewing_event event;
        const char *part;
    } table[] = {
        {event(VIEWING_START, 100), R"({"t":0.1,"event":"mode","mode":"streaming"})"},
        {event(VIEWING_SEEK, 100), R"({"t":0.1,"event":"mode","mode":"buffering"})"},
        {event(VIEWING_REBUFFER, 100), R"({"t":0.1,"event":"mode","mode":"buffering"})"},
        {left_out, R"("event":"skipped","from":13,"to":20,"frames":7})"},
        {missed, R"("event":"missed","frames":9})"},
        {speed, R"("event":"speed")"},
        {skip, R"("event":"skip")"},
        {budget, R"("event":"budget","target":72.0,"buffer_share":12.5})"},
        {adu, R"("event":"adu")"},
    };
    for (const auto &row : table) {
        INFO(row.part);
        CHECK(written(row.event).find(row.part) != std::string::npos);
    }
}

TEST_CASE("viewing_trace: facts without a line, and a viewing without a trace")
{
    viewing_event speed = event(VIEWING_SPEED, 0); // changed by too little
    CHECK(written(speed).empty());
    CHECK(written(event(VIEWING_PACKET, 0)).empty());
    CHECK(written(event(VIEWING_BUDGET, 0)).empty()); // as the last one
    for (viewing_kind kind :
         {VIEWING_FRAME, VIEWING_LEVEL, VIEWING_LIVE_END, VIEWING_MISSING, VIEWING_STALL_CUT,
          VIEWING_PAUSE, VIEWING_RESUME, VIEWING_TOTALS, VIEWING_SHORT})
        CHECK(written(event(kind, 0)).empty());
    viewing_event start = event(VIEWING_START, 0);
    viewing_trace(nullptr, &start);
}
