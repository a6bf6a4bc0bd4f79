// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "player/report/trace.h"

namespace
{

const usec_t ms = USEC_PER_MSEC;
int errors_logged;

void count_errors(const log_entry *e)
{
    errors_logged += e->level == LOG_ERROR;
}

// Returns the lines that `tell` writes; the session began at 1000 ms.
template <typename F> std::string written(F tell, bool adus = false)
{
    char *text = nullptr;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    trace *e = trace_new(out, adus, 1000 * ms);
    tell(e);
    CHECK(trace_free(e) == 0);
    fclose(out);
    std::string copy(text, len);
    free(text);
    return copy;
}

} // namespace

TEST_CASE("events: one JSON object a line")
{
    CHECK(
        written([](trace *e) {
            trace_connected(e, "rtsp://h/", "minbuf:1,3", "mtp: silent", 1012 * ms);
            trace_mode(e, "buffering", 1012500);
            trace_seek(e, 61.5, 123456, 1013 * ms);
            trace_control(e, "channel", 1014 * ms);
            trace_channel(e, 2, "rtsp://h/b", 1014 * ms);
            trace_steps steps = {.asked = 900 * ms,
                                 .requested = 901 * ms,
                                 .described = 950 * ms,
                                 .played = 0, // not known
                                 .packet = 955 * ms,
                                 .complete = 960 * ms,
                                 .decoded = 963 * ms,
                                 .shown = 998765};
            trace_channel_shown(e, 2, &steps, 1015 * ms);
            trace_channel_failed(e, 3, "404 \"gone\"", 1016 * ms);
            trace_resume(e, 1500, 1017 * ms);
            trace_reconnect(e, "gone", 3, 2000 * ms, 1050 * ms);
            trace_capacity(e, 1234567.8, "pair", 0, 1100 * ms);
            trace_capacity(e, 654321, "media", 1410 * ms, 1120 * ms);
            qoe_switch first_level = {-1, 2, "capacity"};
            trace_level(e, &first_level, 1150 * ms);
            const qoe_decision d = {"auto", "rate", 3, 12300 * ms, 30000 * ms, 4e6, .125, 100};
            trace_decision(e, &d, 1150 * ms);
            qoe_switch up = {2, 3, "upscale"};
            trace_level(e, &up, 1200 * ms);
            event_stall first = {STALL_OUTAGE, 38, 412 * ms};
            trace_rebuffer_start(e, &first, 1300 * ms);
            trace_rebuffer_end(e, STALL_SENDER, 250 * ms, 1550 * ms);
            event_stall second = {STALL_TRANSPORT, -1, -1};
            trace_rebuffer_start(e, &second, 1560 * ms);
            trace_skipped(e, 40, 60, 10, 1570 * ms);
            qoe_freeze_entry freeze = {0.5, 1.074, FREEZE_OUTAGE};
            trace_freeze(e, &freeze, 1574 * ms);
            trace_freeze(e, nullptr, 1575 * ms);
            trace_missed(e, 15, 1575 * ms);
            trace_missed(e, 0, 1576 * ms);
            trace_picture(e, 12, 10, 0.98765432, 1580 * ms);
            trace_loss(e, 7, 1, 1600 * ms);
            trace_ended(e, QOE_SERVER_LOST, "gone \"away\"", 2000 * ms);
        }) ==
        R"({"t":0.012,"event":"connected","url":"rtsp://h/","transport":"minbuf:1,3","why":"mtp: silent"})"
        "\n"
        R"({"t":0.0125,"event":"mode","mode":"buffering"})"
        "\n"
        R"({"t":0.013,"event":"seek","to":61.5,"first_frame_ms":123.5})"
        "\n"
        R"({"t":0.014,"event":"control","action":"channel"})"
        "\n"
        R"({"t":0.014,"event":"channel","channel":2,"url":"rtsp://h/b"})"
        "\n"
        R"({"t":0.015,"event":"channel-shown","channel":2,"requested_ms":1.0,)"
        R"("described_ms":50.0,"packet_ms":55.0,"complete_ms":60.0,"decoded_ms":63.0,"first_frame_ms":98.8})"
        "\n"
        R"({"t":0.016,"event":"channel-failed","channel":3,"error":"404 \"gone\""})"
        "\n"
        R"({"t":0.017,"event":"resume","first_frame_ms":1.5})"
        "\n"
        R"({"t":0.05,"event":"reconnect","why":"gone","try":3,"in":2.0})"
        "\n"
        R"({"t":0.1,"event":"capacity","capacity":1234568,"by":"pair"})"
        "\n"
        R"({"t":0.12,"event":"capacity","capacity":654321,"by":"media","span":1.41})"
        "\n"
        R"({"t":0.15,"event":"level","from":null,"to":2,"why":"capacity"})"
        "\n"
        R"({"t":0.15,"event":"decision","level":3,"why":"rate","buffer":12.3,"estimate":4000000,)"
        R"("error":0.125,"speed":100.0})"
        "\n"
        R"({"t":0.2,"event":"level","from":2,"to":3,"why":"upscale"})"
        "\n"
        R"({"t":0.3,"event":"rebuffer-start","cause":"outage","number":38,"silence":412})"
        "\n"
        R"({"t":0.55,"event":"rebuffer-end","duration":0.25,"cause":"sender"})"
        "\n"
        R"({"t":0.56,"event":"rebuffer-start","cause":"transport","number":null,"silence":null})"
        "\n"
        R"({"t":0.57,"event":"skipped","from":40,"to":60,"frames":10})"
        "\n"
        R"({"t":0.574,"event":"freeze","at":0.5,"duration":1.074,"cause":"outage"})"
        "\n"
        R"({"t":0.575,"event":"missed","frames":15})"
        "\n"
        R"({"t":0.58,"event":"picture","number":12,"shown":10,"ssim":0.987654})"
        "\n"
        R"({"t":0.6,"event":"loss","packets":7,"loss_events":1})"
        "\n"
        R"({"t":1.0,"event":"ended","ended":"server-lost","error":"gone \"away\""})"
        "\n");
}

TEST_CASE("events: a frame's fate")
{
    auto line = [](event_frame f) {
        return written([&](trace *e) { trace_frame(e, &f, 2000 * ms); });
    };
    const std::string head = R"({"t":1.0,"event":"frame","number":9,"level":)";
    CHECK(line({9, 3, 1200, 1500 * ms, 1400 * ms, 1900 * ms, nullptr}) ==
          head + R"(3,"bytes":1200,"arrived":0.5,"captured":0.4,"shown":0.9})" + "\n");
    CHECK(line({9, 3, 1200, 1500 * ms, QOE_UNKNOWN, 1900 * ms, nullptr}) ==
          head + R"(3,"bytes":1200,"arrived":0.5,"captured":null,"shown":0.9})" + "\n");
    not_shown lost = {9, CAUSE_NETWORK, CAUSE_NETWORK, -1};
    CHECK(line({9, -1, -1, QOE_UNKNOWN, 0, 0, &lost}) ==
          head + R"(null,"bytes":null,"arrived":null,"dropped":"network"})" + "\n");
    not_shown late = {9, CAUSE_LATE, CAUSE_LATE, -1};
    CHECK(line({9, 0, 5, 1500 * ms, 0, 0, &late}) ==
          head + R"(0,"bytes":5,"arrived":0.5,"dropped":"late"})" + "\n");
    not_shown alone = {9, CAUSE_DEPENDENCY, CAUSE_SENDER, 7};
    CHECK(line({9, 0, 5, 1500 * ms, 0, 0, &alone}) ==
          head + R"(0,"bytes":5,"arrived":0.5,"dropped":"dependency","cause":"sender","needs":7})" +
              "\n");
    not_shown skipped = {9, CAUSE_SKIPPED, CAUSE_SKIPPED, -1};
    CHECK(line({9, 0, 5, 1500 * ms, 0, 0, &skipped}) ==
          head + R"(0,"bytes":5,"arrived":0.5,"dropped":"skipped"})" + "\n");
}

TEST_CASE("events: how live media catches up")
{
    CHECK(written([](trace *e) {
              trace_speed(e, 1.04321, 2000 * ms);
              trace_skip(e, 1333333, 2500 * ms);
          }) == R"({"t":1.0,"event":"speed","speed":1.0432})"
                "\n"
                R"({"t":1.5,"event":"skip","media":1.333333})"
                "\n");
}

TEST_CASE("events: what is unknown is null")
{
    CHECK(
        written([](trace *e) {
            qoe_transport t = {0.0204, 1e6, NAN, NAN, NAN};
            trace_transport(e, &t, 3000 * ms);
            trace_ended(e, QOE_DURATION, nullptr, 3000 * ms);
            trace_connected(e, nullptr, nullptr, nullptr, 3000 * ms);
        }) ==
        R"({"t":2.0,"event":"transport","rtt":0.0204,"rate":1000000,"loss":null,"queue":null,"cwnd":null})"
        "\n"
        R"({"t":2.0,"event":"ended","ended":"duration","error":null})"
        "\n"
        R"({"t":2.0,"event":"connected","url":null,"transport":null,"why":null})"
        "\n");
}

TEST_CASE("events: the names of the sender's own figures take the place of no others")
{
    transport_info info;
    transport_info_clear(&info);
    info.allowed_bps = 1e6;
    info.variable[0] = {"p", 0.25};
    info.variable[1] = {"t", 7};
    info.variable[2] = {"event", 8};
    CHECK(written([&](trace *e) { trace_controller(e, &info, 3000 * ms); }) ==
          R"({"t":2.0,"event":"controller","allowed":1000000,"p":0.25})"
          "\n");
}

TEST_CASE("events: a line is in the file as soon as it is reported")
{
    FILE *out = tmpfile();
    REQUIRE(out);
    trace *e = trace_new(out, false, 0);
    trace_mode(e, "streaming", 0);
    char text[100] = "";
    CHECK(pread(fileno(out), text, sizeof(text) - 1, 0) > 0);
    CHECK(std::string(text).back() == '\n');
    trace_free(e);
    fclose(out);
}

TEST_CASE("events: received ADUs, on the monotonic clock")
{
    const event_adu adus[] = {
        {0, 0, 1900 * ms, 1999998, 2000 * ms},
        {4294967295, 7, QOE_UNKNOWN, 86400 * USEC_PER_SEC + 5, 86401 * USEC_PER_SEC},
        {7, 1, QOE_UNKNOWN, QOE_UNKNOWN, QOE_UNKNOWN}, // the clock is not shared
        {8, 0, QOE_UNKNOWN, -1500 * ms, 1}, // a stamp that cannot be true is told as it came
    };
    auto tell = [&](trace *e) {
        for (const event_adu &a : adus)
            trace_adu(e, &a, 2000001);
    };
    CHECK(written(tell, true) ==
          R"({"t":1.000001,"event":"adu","number":0,"size":0,"captured":1.900000,)"
          R"("written":1.999998,"read":2.000000})"
          "\n"
          R"({"t":1.000001,"event":"adu","number":4294967295,"size":7,"captured":null,)"
          R"("written":86400.000005,"read":86401.000000})"
          "\n"
          R"({"t":1.000001,"event":"adu","number":7,"size":1,"captured":null,"written":null,)"
          R"("read":null})"
          "\n"
          R"({"t":1.000001,"event":"adu","number":8,"size":0,"captured":null,)"
          R"("written":-1.500000,"read":0.000001})"
          "\n");
    CHECK(written(tell, false) == "");
}

TEST_CASE("events: with a line an ADU, lines reach the file once a second")
{
    FILE *out = tmpfile();
    REQUIRE(out);
    auto size = [&] { return lseek(fileno(out), 0, SEEK_END); };
    trace *e = trace_new(out, true, 0);
    event_adu adu = {1, 0, 5, 10, 20};
    trace_adu(e, &adu, 20);
    CHECK(size() == 0);
    qoe_transport t = {0.02, 1e6, 0, 0, 10};
    trace_transport(e, &t, 30);
    off_t told = size();
    CHECK(told > 100);
    trace_adu(e, &adu, 40);
    CHECK(size() == told);
    CHECK(trace_free(e) == 0);
    CHECK(size() > told);
    fclose(out);
}

TEST_CASE("events: no trace wanted")
{
    qoe_switch up = {2, 3, "upscale"};
    event_frame f = {9, 3, 1200, 0, 0, 0, nullptr};
    trace_connected(nullptr, "", "", "", 0);
    trace_level(nullptr, &up, 0);
    trace_frame(nullptr, &f, 0);
    event_adu adu = {1, 0, 5, 10, 20};
    trace_adu(nullptr, &adu, 0);
    trace_ended(nullptr, QOE_ERROR, nullptr, 0);
    CHECK(trace_free(nullptr) == 0);
}

TEST_CASE("events: a write error is logged once and reported, and ends nothing")
{
    for (bool adus : {false, true}) {
        FILE *out = fopen("/dev/full", "w");
        REQUIRE(out);
        errors_logged = 0;
        log_to(count_errors, log_all(LOG_ERROR));
        trace *e = trace_new(out, adus, 0);
        event_adu adu = {1, 0, 5, 10, 20};
        for (int i = 0; i < 1000; i++) {
            trace_adu(e, &adu, i);
            trace_mode(e, "streaming", i);
        }
        CHECK(trace_free(e) == ERR_IO);
        log_to(nullptr, log_all(LOG_ERROR));
        CHECK(errors_logged == 1);
        fclose(out);
    }
}
