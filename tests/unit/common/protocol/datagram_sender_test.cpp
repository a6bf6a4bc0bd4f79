// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "common/base/rng.h"
#include "common/protocol/datagram_sender.h"

namespace
{

// A controller that sends a packet at `send_at` and records its inputs.
struct recorder {
    struct controller base;
    usec_t send_at, timer;
    int rtos, timeouts;
    std::vector<struct cc_packet> *news;
    std::vector<struct cc_sent> *sent;
    std::vector<struct cc_feedback> *feedback;
};

recorder *of(struct controller *c)
{
    return reinterpret_cast<recorder *>(c);
}

const struct controller_ops recorder_ops = {
    .sent = [](struct controller *c, const struct cc_sent *s,
               usec_t) { of(c)->sent->push_back(*s); },
    .feedback =
        [](struct controller *c, const struct cc_feedback *f, usec_t) {
            of(c)->feedback->push_back(*f);
            of(c)->news->insert(of(c)->news->end(), f->packets, f->packets + f->count);
        },
    .rto = [](struct controller *c, int, usec_t) { of(c)->rtos++; },
    .next_send = [](struct controller *c,
                    usec_t now) { return of(c)->send_at > now ? of(c)->send_at : now; },
    .next_timeout =
        [](const struct controller *c) { return reinterpret_cast<const recorder *>(c)->timer; },
    .timeout =
        [](struct controller *c, usec_t) {
            of(c)->timer = USEC_NEVER;
            of(c)->timeouts++;
        },
    .media_rate = nullptr,
    .info = nullptr,
};

const usec_t MS = USEC_PER_MSEC;
const usec_t AHEAD = 5000 * USEC_PER_SEC; // the receiver's clock is ahead by this

struct flow {
    struct datagram_sender s;
    recorder *c;
    std::vector<struct cc_packet> news;
    std::vector<struct cc_sent> sent;
    std::vector<struct cc_feedback> feedback;
    struct ccfb report = {};

    explicit flow(size_t history = 0, uint16_t first_seq = 65530, usec_t max_rto = 0,
                  bool goes_on = false)
    {
        c = static_cast<recorder *>(calloc(1, sizeof(*c)));
        c->base.ops = &recorder_ops;
        c->timer = USEC_NEVER;
        c->news = &news;
        c->sent = &sent;
        c->feedback = &feedback;
        datagram_sender_config config = {first_seq, history, max_rto, goes_on};
        REQUIRE(datagram_sender_init(&s, &c->base, &config, 0) == 0);
    }
    ~flow()
    {
        datagram_sender_destroy(&s);
    }
    flow(const flow &) = delete;
    flow &operator=(const flow &) = delete;

    // `count` packets of 1000 bytes, 10 ms apart, the first at `from`.
    void send(int count, usec_t from = 0)
    {
        for (int i = 0; i < count; i++) {
            REQUIRE(datagram_sender_room(&s, from + i * 10 * MS));
            datagram_sender_sent(&s, 1000, from + i * 10 * MS);
        }
    }
    // A report of packets from number `begin`: '+' arrived, 'c' with CE, '?' at an unknown time,
    // 'o' long ago, '.' not arrived. They arrived `held` before the report, which was made at `at`
    // of our clock.
    void hear(int begin, const std::string &what, usec_t held, usec_t at, usec_t now)
    {
        report.begin_seq = (uint16_t)(s.first_seq + begin);
        report.count = (uint16_t)what.size();
        report.timestamp = ccfb_timestamp(at + AHEAD);
        for (size_t i = 0; i < what.size(); i++) {
            int offset = what[i] == '?'   ? (int)CCFB_NO_OFFSET
                         : what[i] == 'o' ? (int)CCFB_LONG_AGO
                                          : ccfb_offset(held);
            bool there = what[i] != '.';
            report.metric[i] = {there, (uint8_t)(what[i] == 'c' ? 3 : 0),
                                (uint16_t)(there ? offset : 0)};
        }
        datagram_sender_feedback(&s, &report, now);
    }
    // "0+ 1x 2c": arrived, lost, CE; in the order of the controller's feedback.
    std::string told() const
    {
        std::string text;
        for (const auto &p : news)
            text += (text.empty() ? "" : " ") + std::to_string(p.number) +
                    (p.lost ? "x"
                     : p.ce ? "c"
                            : "+");
        return text;
    }
};

} // namespace

TEST_CASE("datagram sender: the fate of packets by the reports")
{
    struct step {
        int begin;
        std::string what;
    };
    const struct {
        const char *name;
        std::vector<step> reports;
        std::string told;
        uint64_t lost, late, unreported, flight, lies;
        int64_t oldest;
    } cases[] = {
        {"all arrived", {{0, "++++++++++"}}, "0+ 1+ 2+ 3+ 4+ 5+ 6+ 7+ 8+ 9+", 0, 0, 0, 0, 0, 10},
        {"told twice", {{0, "+++"}, {0, "++++c"}}, "0+ 1+ 2+ 3+ 4c", 0, 0, 0, 5000, 0, 5},
        {"a hole with two after it waits", {{0, "+.++"}}, "0+ 2+ 3+", 0, 0, 0, 6000, 0, 1},
        {"a third makes it a loss",
         {{0, "+.++"}, {2, "+++"}},
         "0+ 2+ 3+ 1x 4+",
         1,
         0,
         0,
         5000,
         0,
         5},
        {"at once", {{0, "+..+++"}}, "0+ 1x 2x 3+ 4+ 5+", 2, 0, 0, 4000, 0, 6},
        {"reordered", {{0, "+.++"}, {0, "++++"}}, "0+ 2+ 3+ 1+", 0, 0, 0, 6000, 0, 4},
        {"late", {{0, "+.+++"}, {0, "+++++"}}, "0+ 1x 2+ 3+ 4+", 1, 1, 0, 5000, 0, 5},
        {"a report got lost", {{0, "++"}, {4, "++"}}, "0+ 1+ 4+ 5+", 0, 0, 2, 4000, 0, 6},
        {"a later one says they are missing after all: too late",
         {{4, "++"}, {0, "....++"}},
         "4+ 5+",
         0,
         0,
         4,
         4000,
         0,
         6},
        {"beyond what was sent", {{8, "+++"}}, "8+ 9+", 0, 0, 8, 0, 1, 10},
    };
    for (const auto &t : cases) {
        INFO(t.name);
        flow f;
        f.send(10);
        usec_t at = 100 * MS;
        for (const auto &r : t.reports) {
            f.hear(r.begin, r.what, 5 * MS, at, at + 10 * MS);
            at += 20 * MS;
        }
        CHECK(f.told() == t.told);
        CHECK(f.s.counts.lost == t.lost);
        CHECK(f.s.counts.late == t.late);
        CHECK(f.s.counts.unreported == t.unreported);
        CHECK(f.s.flight_bytes == t.flight);
        CHECK(f.s.counts.lies == t.lies);
        CHECK(f.s.oldest == t.oldest);
    }
}

TEST_CASE("datagram sender: large packets that were lost since one arrived are counted")
{
    flow f;
    for (int i = 0; i < 12; i++) // the even ones are large
        datagram_sender_sent(&f.s, i % 2 ? 1200 : 1201, i * 10 * MS);
    f.hear(0, ".+.+.+", 0, 60 * MS, 70 * MS);
    CHECK(f.s.counts.large_lost == 1);
    f.hear(6, ".+.+", 0, 100 * MS, 110 * MS);
    CHECK(f.s.counts.large_lost == 3);
    CHECK(f.s.counts.largest_arrived == 1200);
    f.hear(10, "+", 0, 120 * MS, 130 * MS);
    CHECK(f.s.counts.large_lost == 0);
    CHECK(f.s.counts.largest_arrived == 1201);
}

TEST_CASE("datagram sender: fates are told once, in the order of sending")
{
    flow f;
    auto fates = [&f] {
        std::string all;
        bool lost;
        while (datagram_sender_fate(&f.s, &lost))
            all += lost ? 'x' : '+';
        return all;
    };
    CHECK(fates().empty());
    f.send(12);
    f.hear(0, "+.++", 0, 150 * MS, 150 * MS);
    CHECK(fates() == "+"); // 1 may be late
    f.hear(0, "+.++..+", 0, 160 * MS, 160 * MS);
    CHECK(fates() == "x++");
    f.hear(9, "+++", 0, 170 * MS, 170 * MS); // no report covers 7 and 8
    CHECK(fates() == "xx++++");
    CHECK(fates().empty());
}

TEST_CASE("datagram sender: round trip, arrival times, flight")
{
    flow f;
    f.send(5); // the last at 40 ms
    f.hear(0, "++c", 12 * MS, 70 * MS, 90 * MS);
    REQUIRE(f.feedback.size() == 1);
    const struct cc_feedback b = f.feedback[0];
    CHECK(b.rtt == Approx(90000 - 20000 - 12000).margin(489)); // packet 2 left at 20 ms
    CHECK(b.srtt == b.rtt);
    CHECK(b.highest_sent == 4);
    CHECK(b.highest_arrived == 2);
    CHECK(b.flight_bytes == 2000);
    CHECK(f.news[2].sent_at == 20 * MS);
    CHECK(f.s.counts.ce == 1);
    CHECK(f.s.counts.bytes_arrived == 3000);
    f.hear(3, "o?", 0, 8300 * MS, 8301 * MS); // no sample
    REQUIRE(f.news.size() == 5);
    CHECK(f.feedback[1].rtt == 0);
    CHECK(f.feedback[1].srtt == b.srtt);
    CHECK(f.news[4].arrived_at - f.news[2].arrived_at == Approx(8300000 - 58000).margin(510));
    CHECK(f.news[4].arrived_at - f.news[3].arrived_at == Approx(7997070).margin(2));
}

TEST_CASE("datagram sender: a queue on the way back is not in the forward round trip")
{
    const struct {
        usec_t out, back; // time on the way to the receiver, and of the report
        usec_t rtt, forward;
    } table[] = {
        {20 * MS, 20 * MS, 40 * MS, 40 * MS},   {20 * MS, 120 * MS, 140 * MS, 40 * MS},
        {70 * MS, 20 * MS, 90 * MS, 90 * MS},   {70 * MS, 120 * MS, 190 * MS, 90 * MS},
        {15 * MS, 120 * MS, 135 * MS, 40 * MS}, // the way has become shorter: nothing waits
        {20 * MS, 20 * MS, 40 * MS, 45 * MS},
    };
    flow f;
    CHECK(datagram_sender_forward_rtt(&f.s) == 0);
    int number = 0;
    usec_t now = 0;
    for (const auto &row : table) {
        INFO(row.out << " there, " << row.back << " back");
        f.send(1, now);
        usec_t arrived = now + row.out;
        f.hear(number++, "+", 0, arrived, arrived + row.back);
        CHECK(std::abs(f.s.rto.latest - row.rtt) <= MS);
        CHECK(std::abs(datagram_sender_forward_rtt(&f.s) - row.forward) <= MS);
        now += USEC_PER_SEC;
    }
    // The least are forgotten within a minute.
    for (int i = 0; i < 61; i++, now += USEC_PER_SEC) {
        f.send(1, now);
        f.hear(number++, "+", 0, now + 70 * MS, now + 190 * MS);
    }
    CHECK(std::abs(datagram_sender_forward_rtt(&f.s) - 190 * MS) <= MS);
}

TEST_CASE("datagram sender: rounding does not bias the round trip")
{
    flow f;
    struct rng r = rng_seeded(3);
    double sum = 0;
    const int count = 2000;
    for (int i = 0; i < count; i++) {
        usec_t at = i * 100 * MS, held = (usec_t)rng_below(&r, 50000);
        datagram_sender_sent(&f.s, 1000, at);
        f.hear(i, "+", held, at + 20 * MS + held, at + 40 * MS + held);
        usec_t error = f.feedback.back().rtt - 40 * MS;
        REQUIRE(std::abs(error) <= 489);
        sum += (double)error;
    }
    CHECK(std::abs(sum / count) < 30);
    CHECK(f.s.counts.lies == 0);
}

TEST_CASE("datagram sender: a round trip shorter than the rounding is accepted")
{
    flow f;
    f.send(1);
    f.hear(0, "+", 1600, 1620, 1640); // 1600 us are told as 2/1024 s
    CHECK(f.s.counts.lies == 0);
    CHECK(f.feedback.at(0).rtt == 1);
}

TEST_CASE("datagram sender: reports of what another sender sent before are no lies, and no news")
{
    flow f(0, 65530, 0, true);
    f.send(4);
    f.hear(-4, "+++.++", 5 * MS, 100 * MS, 110 * MS);
    CHECK(f.s.counts.lies == 0);
    CHECK(f.told() == "0+ 1+");
    f.hear(2, "++++", 5 * MS, 120 * MS, 130 * MS); // two that never left
    CHECK(f.s.counts.lies == 1);
}

TEST_CASE("datagram sender: false reports change nothing that honest loss would not")
{
    const struct {
        const char *what;
        int begin;
        std::string metrics;
        usec_t held, at;
    } lies[] = {
        {"packets never sent", 20, "++++", 5 * MS, 120 * MS},
        {"before the first", -8, "++++", 5 * MS, 120 * MS},
        {"a jump of the sequence number", 30000, "+", 5 * MS, 120 * MS},
        {"a jump back", -30000, "+", 5 * MS, 120 * MS},
        {"512 that never left", 10, std::string(512, '+'), 5 * MS, 120 * MS},
        {"512 losses that never left", 10, std::string(512, '.'), 0, 120 * MS},
        {"held for longer than since it left", 4, "++", 5000 * MS, 120 * MS},
        {"arrived long ago", 4, "oo", 0, 120 * MS},
        {"made in an hour", 4, "++", 5 * MS, 3600 * USEC_PER_SEC},
    };
    for (const auto &l : lies) {
        INFO(l.what);
        flow f;
        f.send(10);
        f.hear(0, "++++", 5 * MS, 100 * MS, 110 * MS);
        const usec_t srtt = f.s.rto.srtt, rto_at = f.s.rto_at, reported = f.s.reported_at;
        f.hear(l.begin, l.metrics, l.held, l.at, 130 * MS);
        CHECK(f.s.counts.lies == 1);
        CHECK(f.feedback.size() == 1);
        CHECK(f.s.rto.srtt == srtt);
        CHECK(f.s.rto_at == rto_at);
        CHECK(f.s.reported_at == reported);
        CHECK(f.s.flight_bytes == 6000);
        // The truth is still taken.
        f.hear(4, "++++++", 5 * MS, 140 * MS, 150 * MS);
        CHECK(f.told() == "0+ 1+ 2+ 3+ 4+ 5+ 6+ 7+ 8+ 9+");
        CHECK(f.s.counts.lies == 1);
        CHECK(f.s.oldest == 10);
        CHECK(f.s.rto_at == USEC_NEVER);
    }
}

TEST_CASE("datagram sender: one probe per RTO in silence; only a new report ends it")
{
    flow f;
    f.send(4);
    f.hear(0, "++", 5 * MS, 50 * MS, 60 * MS);
    struct ccfb old = f.report;
    CHECK(datagram_sender_next_timeout(&f.s) == 1060 * MS);
    datagram_sender_timeout(&f.s, 1060 * MS);
    CHECK(f.c->rtos == 1);
    CHECK(f.s.silent == 1);
    f.c->send_at = USEC_NEVER; // whatever the controller says
    CHECK(datagram_sender_next_send(&f.s, 1060 * MS) == 1060 * MS);
    REQUIRE(datagram_sender_room(&f.s, 1060 * MS));
    datagram_sender_sent(&f.s, 1000, 1060 * MS);
    f.c->send_at = 0;
    CHECK_FALSE(datagram_sender_room(&f.s, 1061 * MS));
    CHECK(datagram_sender_next_send(&f.s, 1061 * MS) == USEC_NEVER);
    CHECK(datagram_sender_next_timeout(&f.s) == 3060 * MS); // doubled
    datagram_sender_timeout(&f.s, 3060 * MS);
    CHECK(f.c->rtos == 2);
    REQUIRE(datagram_sender_room(&f.s, 3060 * MS));
    datagram_sender_sent(&f.s, 1000, 3060 * MS);
    CHECK(f.sent.back().backlogged);
    CHECK(f.s.counts.probes == 2);
    CHECK(datagram_sender_next_timeout(&f.s) == 7060 * MS);

    datagram_sender_feedback(&f.s, &old, 3070 * MS); // a repeated report
    f.hear(0, "++", 5 * MS, 40 * MS, 3070 * MS);     // an older one
    f.hear(2, "..", 0, 3069 * MS, 3070 * MS);        // tells of nothing that came
    f.hear(6, "+", 0, 3069 * MS, 3070 * MS);         // of what never left
    CHECK(f.s.silent == 2);
    CHECK(f.feedback.size() == 1);

    SECTION("news")
    {
        f.hear(5, "+", 0, 3090 * MS, 3100 * MS);
        CHECK(f.feedback.size() == 2);
        CHECK(f.feedback[1].rtt == 40 * MS);
    }
    SECTION("no news, but newer")
    {
        f.hear(0, "++", 2000 * MS, 3090 * MS, 3100 * MS);
        CHECK(f.feedback.size() == 2);
        CHECK(f.feedback[1].count == 0);
    }
    CHECK(f.s.silent == 0);
    CHECK(datagram_sender_room(&f.s, 3100 * MS));
}

TEST_CASE("datagram sender: probes of a dead path, by the limit of doubling")
{
    const struct {
        usec_t most; // 0: 60 s
        std::vector<usec_t> expected;
    } rows[] = {
        {0, {1, 3, 7, 15, 31, 63, 123, 183}},
        {RTO_MAX_LIVE, {1, 3, 5, 7, 9, 11, 13, 15}},
    };
    for (const auto &row : rows) {
        flow f(0, 0, row.most);
        f.send(2);
        f.hear(0, "+", 0, 40 * MS, 50 * MS);
        std::vector<usec_t> left;
        while (left.size() < row.expected.size()) {
            usec_t at = datagram_sender_next_timeout(&f.s);
            datagram_sender_timeout(&f.s, at);
            REQUIRE(datagram_sender_room(&f.s, at));
            datagram_sender_sent(&f.s, 1000, at);
            CHECK_FALSE(datagram_sender_room(&f.s, at));
            left.push_back((at - 50 * MS) / USEC_PER_SEC);
        }
        CHECK(left == row.expected);
    }
}

TEST_CASE("datagram sender: a receiver's clock that jumped is accepted after one RTO")
{
    flow f;
    f.send(3);
    f.hear(0, "+", 0, 40 * MS, 50 * MS);
    const usec_t hour = 3600 * USEC_PER_SEC;
    f.hear(1, "+", 0, hour + 60 * MS, 70 * MS);
    CHECK(f.s.counts.lies == 1);
    CHECK(f.news.size() == 1);
    datagram_sender_timeout(&f.s, 1050 * MS);
    f.hear(1, "++", 0, hour + 1060 * MS, 1070 * MS);
    CHECK(f.s.counts.lies == 1);
    CHECK(f.told() == "0+ 1+ 2+");
    CHECK(f.s.silent == 0);
}

TEST_CASE("datagram sender: a full sent map stops it, and a dead path is still probed")
{
    flow f(8);
    f.send(8);
    CHECK_FALSE(datagram_sender_room(&f.s, 80 * MS));
    CHECK(datagram_sender_next_send(&f.s, 80 * MS) == USEC_NEVER);
    datagram_sender_timeout(&f.s, 1000 * MS);
    REQUIRE(datagram_sender_room(&f.s, 1000 * MS));
    datagram_sender_sent(&f.s, 1000, 1000 * MS);
    CHECK(f.s.counts.unreported == 1);
    CHECK(f.s.flight_bytes == 1000);
    f.hear(1, "+......+", 0, 1010 * MS, 1020 * MS);
    CHECK(f.told() == "1+ 8+");
    CHECK(f.s.flight_bytes == 0);
    CHECK(f.s.oldest == 2);
    f.send(1, 1020 * MS);
    CHECK_FALSE(datagram_sender_room(&f.s, 1020 * MS)); // 2 to 9
    f.hear(8, "++", 0, 1040 * MS, 1050 * MS);
    CHECK(f.told() == "1+ 8+ 9+"); // two came later than 2 to 7: not lost yet, and still full
    datagram_sender_timeout(&f.s, 2050 * MS);
    f.send(1, 2050 * MS);
    f.hear(10, "+", 0, 2060 * MS, 2070 * MS);
    CHECK(f.told() == "1+ 8+ 9+ 3x 4x 5x 6x 7x 10+");
    CHECK(f.s.counts.unreported == 2);
}

TEST_CASE("datagram sender: after an outage, what was lost in it holds no window shut")
{
    flow f;
    f.send(6);
    f.hear(0, "+", 0, 60 * MS, 70 * MS);
    CHECK(f.feedback.back().flight_bytes == 5000);
    datagram_sender_timeout(&f.s, 1070 * MS);
    CHECK(f.s.flight_bytes == 0);
    f.send(1, 1070 * MS); // the probe
    // The queue in front of the outage kept one packet; the others are lost, and none behind them
    // can tell.
    f.hear(1, "+", 0, 1090 * MS, 1100 * MS);
    CHECK(f.feedback.back().flight_bytes == 1000);
    f.send(3, 1100 * MS);
    CHECK(f.s.flight_bytes == 4000);
    f.hear(2, "....+++.", 0, 1140 * MS, 1150 * MS);
    CHECK(f.told() == "0+ 1+ 2x 3x 4x 5x 6+ 7+ 8+");
    CHECK(f.s.flight_bytes == 1000);
}

TEST_CASE("datagram sender: the sent map grows with the outstanding packets, and forgets none")
{
    flow f;
    for (int i = 0; i < 100; i++) // resolved before they grow
        datagram_sender_sent(&f.s, 1000, 0);
    f.hear(0, std::string(100, '+'), 0, 10 * MS, 10 * MS);
    const size_t least = f.s.ring;
    for (int i = 100; i < 5000; i++) {
        REQUIRE(datagram_sender_room(&f.s, 20 * MS));
        datagram_sender_sent(&f.s, 1000, 20 * MS);
    }
    CHECK(least < 2048);
    CHECK(f.s.ring == 16384); // twice 4900 is beyond 8192
    CHECK(f.s.flight_bytes == 4900 * 1000);
    std::string what(500, '+');
    what[7] = '.';
    for (int i = 100; i < 4600; i += 500)
        f.hear(i, what, 0, 30 * MS + i, 30 * MS + i);
    CHECK(f.s.counts.arrived == 100 + 9 * 499);
    CHECK(f.s.counts.lost == 9);
    CHECK(f.s.counts.lies == 0);
    CHECK(f.s.flight_bytes == 400 * 1000);
    f.hear(107, "+", 0, 40 * MS, 40 * MS); // late, still known
    CHECK(f.s.counts.late == 1);
}

TEST_CASE("datagram sender: the controller's own timer, pacing and requested feedback")
{
    flow f;
    f.c->timer = 30 * MS;
    f.c->send_at = 20 * MS;
    CHECK(datagram_sender_next_timeout(&f.s) == 30 * MS);
    CHECK_FALSE(datagram_sender_room(&f.s, 10 * MS));
    CHECK(datagram_sender_next_send(&f.s, 10 * MS) == 20 * MS);
    f.send(2, 20 * MS);
    CHECK(f.sent[0].backlogged);
    CHECK_FALSE(f.sent[1].backlogged);
    datagram_sender_timeout(&f.s, 30 * MS);
    CHECK(f.c->timeouts == 1);
    CHECK(f.c->rtos == 0);
    CHECK(datagram_sender_next_timeout(&f.s) == 1020 * MS);

    CHECK(datagram_sender_wish(&f.s).interval == 20 * MS);
    f.hear(0, "+", 0, 60 * MS, 80 * MS);
    CHECK(datagram_sender_wish(&f.s).interval == 60 * MS); // SRTT
    const usec_t wishes[][2] = {{1, 5 * MS}, {30 * MS, 30 * MS}, {9000 * MS, 1000 * MS}};
    for (const auto &w : wishes) {
        f.c->base.wish = {w[0], 7};
        CHECK(datagram_sender_wish(&f.s).interval == w[1]);
        CHECK(datagram_sender_wish(&f.s).packets == 7);
    }
}

// The sent map is consistent for any sequence of reports: each packet is reported once, in
// ascending order within a feedback, and every sent packet is accounted for.
TEST_CASE("datagram sender: the sent map is consistent for random reports")
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        INFO("seed " << seed);
        struct rng r = rng_seeded(seed);
        flow f(64, (uint16_t)rng_u64(&r));
        usec_t now = 0;
        for (int i = 0; i < 3000; i++) {
            now += (usec_t)rng_below(&r, 5000);
            if (now >= datagram_sender_next_timeout(&f.s))
                datagram_sender_timeout(&f.s, now);
            if (rng_below(&r, 3) && datagram_sender_room(&f.s, now))
                datagram_sender_sent(&f.s, 1000, now);
            if (rng_below(&r, 3) == 0) {
                std::string what;
                for (uint64_t k = rng_below(&r, 40); k > 0; k--)
                    what += "+++.c?o"[rng_below(&r, 7)];
                int begin = (int)f.s.next_number - 50 + (int)rng_below(&r, 60);
                f.hear(begin, what, (usec_t)rng_below(&r, 40000), now - (usec_t)rng_below(&r, 9000),
                       now);
            }
            const struct datagram_counts &c = f.s.counts;
            int64_t open = (int64_t)(c.packets - c.arrived - c.lost - c.unreported);
            REQUIRE(open >= 0);
            REQUIRE(open <= f.s.next_number - f.s.oldest);
            REQUIRE(f.s.flight_bytes <= (uint64_t)open * 1000);
            REQUIRE(c.arrived + c.lost == f.news.size());
        }
        std::vector<bool> told((size_t)f.s.next_number);
        size_t at = 0;
        for (const auto &b : f.feedback) {
            for (size_t k = 0; k < b.count; k++, at++) {
                int64_t n = f.news[at].number;
                REQUIRE((n >= 0 && n < f.s.next_number && !told[(size_t)n]));
                REQUIRE((k == 0 || n > f.news[at - 1].number));
                told[(size_t)n] = true;
            }
        }
        CHECK(at == f.news.size());
        CHECK(f.s.counts.lost > 0);
    }
}
