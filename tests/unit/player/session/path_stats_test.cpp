// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/path_stats.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>

#include "common/mtp/mtp_flow.h"

namespace
{

struct world {
    std::unique_ptr<qoe, void (*)(qoe *)> report{qoe_new("rtsp://h/", 0, 0), qoe_free};
    char *text = nullptr;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    struct trace *events = trace_new(out, false, 0);
    struct path_stats *stats = path_stats_new(report.get(), events);

    world()
    {
        REQUIRE(stats);
    }
    ~world()
    {
        path_stats_free(stats);
        trace_free(events);
        fclose(out);
        free(text);
    }
    world(const world &) = delete;
    world &operator=(const world &) = delete;

    // The lines of the trace so far.
    std::string lines()
    {
        fflush(out);
        return {text, len};
    }
};

rtsp_client_answer silent_answer()
{
    rtsp_client_answer a = {};
    transport_info_clear(&a.params.transport);
    a.params.skipped = NAN;
    a.rtt = 30000;
    return a;
}

// A sender's report that MTP is in `mode` for `reason`.
rtsp_client_answer mtp_answer(double mode, double reason)
{
    rtsp_client_answer a = silent_answer();
    snprintf(a.params.transport.variable[0].name, sizeof(a.params.transport.variable[0].name),
             "mode");
    a.params.transport.variable[0].value = mode;
    snprintf(a.params.transport.variable[1].name, sizeof(a.params.transport.variable[1].name),
             "why");
    a.params.transport.variable[1].value = reason;
    return a;
}

} // namespace

TEST_CASE("path_stats: each stat comes from the end that knows it")
{
    struct {
        const char *name;
        bool datagram;
        double sender_rtt_ms, sender_loss; // NaN: not reported
        double rtt, loss;                  // expected
    } rows[] = {
        {"the request's round trip if the sender has none", true, NAN, NAN, 0.030, 0.02},
        {"the sender's round trip goes before", true, 55, NAN, 0.055, 0.02},
        {"the receiver counts lost datagrams", true, 55, 0.5, 0.055, 0.02},
        {"TCP hides loss from the receiver", false, 55, 0.5, 0.055, 0.5},
        {"unknown stays unknown", false, NAN, NAN, 0.030, NAN},
    };
    for (const auto &row : rows) {
        INFO(row.name);
        world w;
        path_stats_setup(w.stats, row.datagram, 0, 0);
        CHECK(path_stats_rtt(w.stats) == 0);
        rtsp_client_answer a = silent_answer();
        a.params.transport.rtt_ms = row.sender_rtt_ms;
        a.params.transport.loss = row.sender_loss;
        a.params.transport.cwnd_packets = 14;
        path_stats_answer(w.stats, &a, USEC_PER_SEC);
        CHECK(path_stats_rtt(w.stats) == std::lround(row.rtt * 1e6));
        CHECK(path_stats_sender(w.stats)->cwnd_packets == 14);
        video_receiver_stats received = {1e6, 0.02, 0.004, 0, 0};
        qoe_transport out;
        path_stats_second(w.stats, &received, &out, USEC_PER_SEC);
        CHECK(out.rtt == Approx(row.rtt));
        if (std::isnan(row.loss))
            CHECK(std::isnan(out.loss));
        else
            CHECK(out.loss == row.loss);
        CHECK(out.rate == 1e6);
        CHECK(out.queue == 0.004);
        CHECK(out.cwnd == 14);
    }
}

TEST_CASE("path_stats: a request that TCP had to send again makes the round trip no longer")
{
    world w;
    path_stats_setup(w.stats, true, 100000, 0);
    rtsp_client_answer a = silent_answer();
    for (usec_t rtt : {usec_t{1100000}, usec_t{104000}}) {
        a.rtt = rtt;
        path_stats_answer(w.stats, &a, USEC_PER_SEC);
        CHECK(path_stats_rtt(w.stats) == 100000);
    }
    for (int minute = 1; minute < 4; minute++) // the path has become another
        path_stats_answer(w.stats, &a, minute * 60 * USEC_PER_SEC);
    CHECK(path_stats_rtt(w.stats) == 104000);
}

TEST_CASE("path_stats: before the sender's first report only the setup's round trip is known")
{
    world w;
    path_stats_setup(w.stats, false, 12000, 0);
    video_receiver_stats received = {NAN, NAN, NAN, 0, 0};
    qoe_transport out;
    path_stats_second(w.stats, &received, &out, USEC_PER_SEC);
    CHECK(out.rtt == Approx(0.012));
    CHECK(std::isnan(out.loss));
    CHECK(std::isnan(out.cwnd));
    CHECK(w.lines().find("\"controller\"") == std::string::npos);
}

TEST_CASE("path_stats: a rate controller's variables are traced if the sender has one")
{
    world w;
    path_stats_setup(w.stats, true, 0, 0);
    rtsp_client_answer a = silent_answer();
    a.params.transport.allowed_bps = 2e6;
    path_stats_answer(w.stats, &a, USEC_PER_SEC);
    video_receiver_stats received = {1e6, 0, 0, 0, 0};
    qoe_transport out;
    path_stats_second(w.stats, &received, &out, USEC_PER_SEC);
    CHECK(w.lines().find("\"allowed\":2000000") != std::string::npos);
}

TEST_CASE("path_stats: MTP's mode is reported when it changes, and at first if it differs from the "
          "request")
{
    const double none = -1;
    struct {
        const char *name;
        double from, from_reason, to, reason; // `from` none: the first report
        const char *line;                     // nullptr: none is written
    } rows[] = {
        {"first, as requested", none, none, MTP_FILL_HOLES, MTP_REASON_ASKED, nullptr},
        {"first, by the probe", none, none, MTP_STRICT, MTP_REASON_PROBE_NOTHING,
         "\"from\":null,\"to\":\"strict\",\"reason\":\"probe: no answer\""},
        {"unchanged", MTP_FILL_HOLES, MTP_REASON_ASKED, MTP_FILL_HOLES, MTP_REASON_ASKED, nullptr},
        {"a step down", MTP_RESEND, MTP_REASON_ASKED, MTP_FILL_HOLES, MTP_REASON_STUCK,
         "\"from\":\"resend\",\"to\":\"fill\",\"reason\":\"recoveries without progress\""},
        {"the same mode for another reason", MTP_FILL_HOLES, MTP_REASON_STUCK, MTP_FILL_HOLES,
         MTP_REASON_RETRY, "\"from\":\"fill\",\"to\":\"fill\",\"reason\":\"another try\""},
        {"a mode that does not exist", MTP_FILL_HOLES, MTP_REASON_ASKED, 7, MTP_REASON_STUCK,
         nullptr},
        {"a reason that does not exist", MTP_FILL_HOLES, MTP_REASON_ASKED, MTP_STRICT, MTP_REASONS,
         nullptr},
    };
    for (const auto &row : rows) {
        INFO(row.name);
        world w;
        if (row.from != none) {
            rtsp_client_answer first = mtp_answer(row.from, MTP_REASON_ASKED);
            path_stats_answer(w.stats, &first, USEC_PER_SEC);
            first = mtp_answer(row.from, row.from_reason);
            path_stats_answer(w.stats, &first, USEC_PER_SEC);
        }
        size_t before = w.lines().size();
        rtsp_client_answer second = mtp_answer(row.to, row.reason);
        path_stats_answer(w.stats, &second, 2 * USEC_PER_SEC);
        std::string line = w.lines().substr(before);
        INFO(line);
        if (row.line)
            CHECK(line.find(row.line) != std::string::npos);
        else
            CHECK(line.empty());
    }
}
