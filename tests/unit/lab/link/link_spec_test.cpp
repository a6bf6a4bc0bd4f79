// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "common/base/err.h"
#include "tests/unit/lab/link/parsed_link.hpp"

TEST_CASE("link_spec: an empty text is a perfect link")
{
    struct link_spec s = parsed("");
    CHECK(!s.has_rate);
    CHECK(std::string(s.trace) == "");
    CHECK(s.overhead == 0);
    CHECK(s.loss.kind == LOSS_NONE);
    CHECK(s.delay == 0);
    CHECK(s.jitter == 0);
    CHECK(s.reorder == 0);
    CHECK(s.queue.kind == QUEUE_DROPTAIL);
    CHECK(is(s.queue.limit, 0, 1000));
    CHECK(is(s.queue.mark, 0, 0));
    CHECK(s.as_time.limit == USEC_NEVER);
}

TEST_CASE("link_spec: all keys, in any order")
{
    struct link_spec s = parsed("loss=0.5%,queue=droptail:375000B,overhead=38,jitter=1500us,"
                                "reorder=2%:10ms,delay=0.05s,rate=30mbit");
    CHECK(s.has_rate);
    CHECK(s.rate.count == 1);
    CHECK(s.rate.steps[0].at == 0);
    CHECK(s.rate.steps[0].bps == 30e6);
    CHECK(s.rate.loop == 0);
    CHECK(s.overhead == 38);
    CHECK(is(s.queue.limit, 375000, 0));
    CHECK(s.loss.kind == LOSS_IID);
    CHECK(s.loss.probability == Approx(0.005));
    CHECK(s.delay == 50000);
    CHECK(s.jitter == 1500);
    CHECK(s.reorder == 0.02);
    CHECK(s.reorder_by == 10000);
}

TEST_CASE("link_spec: a schedule of rates")
{
    struct link_spec s = parsed("rate=10mbit:0@1s:2.5mbit@1500ms:loop=30s");
    CHECK(s.rate.count == 3);
    CHECK(s.rate.steps[1].at == 1000000);
    CHECK(s.rate.steps[1].bps == 0);
    CHECK(s.rate.steps[2].at == 1500000);
    CHECK(s.rate.steps[2].bps == 2.5e6);
    CHECK(s.rate.loop == 30000000);
    CHECK(parsed("rate=1mbit:2mbit@2592000s").rate.steps[1].at == 30 * 86400 * USEC_PER_SEC);

    std::string steps = "rate=1mbit";
    for (int i = 1; i < RATE_STEPS_MAX; i++)
        steps += ":2mbit@" + std::to_string(i) + "s";
    CHECK(parsed(steps).rate.count == RATE_STEPS_MAX);
}

TEST_CASE("link_spec: a trace is a path, which may contain colons")
{
    struct link_spec s = parsed("trace=a dir/x:1=2.down,queue=codel");
    CHECK(!s.has_rate);
    CHECK(std::string(s.trace) == "a dir/x:1=2.down");
    CHECK(s.queue.kind == QUEUE_CODEL);
    CHECK(std::string(parsed("trace=" + std::string(LINK_PATH_MAX - 1, 'x')).trace).size() == 1023);
}

#define RATES "a rate from 1kbit to 100gbit (bit, kbit, mbit, gbit)"
#define TIMES "a time from 0 to 3600s (us, ms, s)"
#define SIZES "a size from 1B to 1GB (B, KB, MB, GB), from 1p to 1000000p, or a time up to 3600s"
#define KEYS  "rate, trace, overhead, queue, loss, delay, jitter, reorder"
#define KINDS "droptail, drophead, red, dred, drd, codel, dualpi2"

TEST_CASE("link_spec: errors, and the allowed values")
{
    const struct {
        const char *text;
        int err;
        const char *error;
    } table[] = {
        {"speed=1mbit", ERR_MALFORMED, "speed=1mbit: 'speed' is not one of " KEYS},
        {"Rate=1mbit", ERR_MALFORMED, "Rate=1mbit: 'Rate' is not one of " KEYS},
        {" delay=1s", ERR_MALFORMED, " delay=1s: ' delay' is not one of " KEYS},
        {"delay", ERR_MALFORMED, "delay: 'delay' requires a value: KEY=VALUE"},
        {"delay=1s,", ERR_MALFORMED, "an empty part; a link is KEY=VALUE[,KEY=VALUE...]"},
        {",", ERR_MALFORMED, "an empty part; a link is KEY=VALUE[,KEY=VALUE...]"},
        {"delay=1s,delay=1s", ERR_MALFORMED, "delay=1s: 'delay' more than once"},
        {"=", ERR_MALFORMED, "=: '' is not one of " KEYS},

        {"rate=", ERR_MALFORMED, "rate=: '' is not " RATES},
        {"rate=30", ERR_MALFORMED, "rate=30: '30' is not " RATES},
        {"rate=30mbits", ERR_MALFORMED, "rate=30mbits: '30mbits' is not " RATES},
        {"rate=-3mbit", ERR_MALFORMED, "rate=-3mbit: '-3mbit' is not " RATES},
        {"rate=1.mbit", ERR_MALFORMED, "rate=1.mbit: '1.mbit' is not " RATES},
        {"rate=1e3kbit", ERR_MALFORMED, "rate=1e3kbit: '1e3kbit' is not " RATES},
        {"rate=999bit", ERR_RANGE, "rate=999bit: '999bit' is not " RATES},
        {"rate=0", ERR_RANGE, "rate=0: '0' is not " RATES},
        {"rate=100.1gbit", ERR_RANGE, "rate=100.1gbit: '100.1gbit' is not " RATES},
        {"rate=1mbit:2mbit", ERR_MALFORMED,
         "rate=1mbit:2mbit: '2mbit' is not RATE@TIME, nor loop=TIME at the end"},
        {"rate=1mbit:1bit@1s", ERR_RANGE, "rate=1mbit:1bit@1s: '1bit' is not 0 or " RATES},
        {"rate=1mbit:2mbit@0", ERR_RANGE,
         "rate=1mbit:2mbit@0: '0' is not a time from 1us to 2592000s, 30 days (us, ms, s)"},
        {"rate=1mbit:2mbit@2s:3mbit@2s", ERR_RANGE,
         "rate=1mbit:2mbit@2s:3mbit@2s: '3mbit@2s' is not after the rate before it"},
        {"rate=1mbit:2mbit@2s:loop=2s", ERR_RANGE,
         "rate=1mbit:2mbit@2s:loop=2s: loop must be after the last rate"},
        {"rate=1mbit:loop=2s:2mbit@1s", ERR_MALFORMED,
         "rate=1mbit:loop=2s:2mbit@1s: 'loop=2s' is not RATE@TIME, nor loop=TIME at the end"},
        {"rate=1mbit,trace=x", ERR_MALFORMED, "rate conflicts with trace"},
        {"trace=", ERR_MALFORMED, "trace=: '' is not a path of 1 to 1023 characters"},
        {"overhead=1001", ERR_RANGE,
         "overhead=1001: '1001' is not a number of bytes from 0 to 1000"},
        {"queue=red", ERR_MALFORMED, "queue and overhead require a rate or a trace"},

        {"delay=5", ERR_MALFORMED, "delay=5: '5' is not " TIMES},
        {"delay=5 ms", ERR_MALFORMED, "delay=5 ms: '5 ms' is not " TIMES},
        {"delay=3601s", ERR_RANGE, "delay=3601s: '3601s' is not " TIMES},
        {"jitter=5m", ERR_MALFORMED, "jitter=5m: '5m' is not " TIMES},
        {"loss=0.5", ERR_MALFORMED, "loss=0.5: '0.5' is not a percentage from 0% to 100%"},
        {"loss=101%", ERR_RANGE, "loss=101%: '101%' is not a percentage from 0% to 100%"},
        {"loss=ge:p=1%", ERR_MALFORMED, "loss=ge:p=1%: ge requires p= and r="},
        {"loss=ge:p=1%:q=1%", ERR_MALFORMED,
         "loss=ge:p=1%:q=1%: 'q' is not one of p=, r=, good=, bad="},
        {"loss=ge:p=1%:p=1%", ERR_MALFORMED, "loss=ge:p=1%:p=1%: 'p' more than once"},
        {"loss=mask:", ERR_MALFORMED,
         "loss=mask:: '' is not 1 to 1024 of 0 and 1 (1: lost), with * at the end to repeat"},
        {"loss=mask:012", ERR_MALFORMED,
         "loss=mask:012: '012' is not 1 to 1024 of 0 and 1 (1: lost), with * at the end to repeat"},
        {"reorder=1%", ERR_MALFORMED, "reorder=1%: '1%' is not PERCENT:TIME, as in 1%:10ms"},
        {"reorder=1%:5", ERR_MALFORMED, "reorder=1%:5: '5' is not " TIMES},

        {"queue=fifo", ERR_MALFORMED, "queue=fifo: 'fifo' is not one of " KINDS},
        {"queue=droptail:", ERR_MALFORMED,
         "queue=droptail:: '' is not one of droptail's limit, ecn"},
        {"queue=droptail:0p", ERR_RANGE, "queue=droptail:0p: '0p' is not " SIZES},
        {"queue=droptail:2GB", ERR_RANGE, "queue=droptail:2GB: '2GB' is not " SIZES},
        {"queue=droptail:1000001p", ERR_RANGE, "queue=droptail:1000001p: '1000001p' is not " SIZES},
        {"queue=droptail:100", ERR_MALFORMED, "queue=droptail:100: '100' is not " SIZES},
        {"queue=droptail:9p:limit=9p", ERR_MALFORMED,
         "queue=droptail:9p:limit=9p: 'limit' more than once"},
        {"queue=droptail:ecn", ERR_MALFORMED,
         "queue=droptail:ecn: 'ecn' requires a value: KEY=VALUE"},
        {"queue=droptail:min=5p", ERR_MALFORMED,
         "queue=droptail:min=5p: 'min' is not one of droptail's limit, ecn"},
        {"queue=red:ecn=5p", ERR_MALFORMED, "queue=red:ecn=5p: 'ecn' takes no value"},
        {"queue=red:min=5p:90p", ERR_MALFORMED,
         "queue=red:min=5p:90p: '90p' is not one of red's limit, ecn, min, max, pmax, weight, "
         "gentle"},
        {"queue=red:min=5p:max=5p", ERR_RANGE, "queue=red:min=5p:max=5p: min must be below max"},
        {"queue=red:min=5p:max=5KB", ERR_MALFORMED,
         "queue=red:min=5p:max=5KB: min and max must both be bytes, packets or times"},
        {"queue=red:weight=0", ERR_RANGE,
         "queue=red:weight=0: '0' is not a number from 0.000001 to 1"},
        {"queue=dred", ERR_MALFORMED, "queue=dred: dred requires a limit, as in dred:64KB"},
        {"queue=drd:pmin=96%", ERR_RANGE, "queue=drd:pmin=96%: pmin must not be above pmax"},
        {"queue=codel:target=0", ERR_RANGE,
         "queue=codel:target=0: '0' is not a time from 1us to 3600s (us, ms, s)"},
        {"queue=dualpi2:interval=99us", ERR_RANGE,
         "queue=dualpi2:interval=99us: '99us' is not a time from 100us to 3600s (us, ms, s)"},
        {"queue=dualpi2:k=1001", ERR_RANGE,
         "queue=dualpi2:k=1001: '1001' is not 0 or a number from 0.001 to 1000"},
    };
    for (auto &t : table) {
        struct link_spec s;
        char error[256];
        INFO(t.text);
        CHECK(link_spec_parse(t.text, &s, error, sizeof(error)) == t.err);
        CHECK(std::string(error) == t.error);
    }
}

TEST_CASE("link_spec: long and unprintable texts")
{
    struct link_spec s;
    char error[256];
    std::string nines(400, '9'); // beyond a double
    CHECK(link_spec_parse(("delay=" + nines + "s").c_str(), &s, error, sizeof(error)) == ERR_RANGE);
    CHECK(std::string(error) ==
          "delay=" + nines.substr(0, 38) + "...: '" + nines.substr(0, 44) + "...' is not " TIMES);
    CHECK(link_spec_parse("\n\x1b[2J\xff", &s, error, sizeof(error)) == ERR_MALFORMED);
    CHECK(std::string(error) == "??[2J?: '??[2J?' is not one of " KEYS);

    std::string text = "delay=1" + std::string(LINK_SPEC_TEXT_MAX - 9, '0') + "us";
    CHECK(link_spec_parse((text + "x").c_str(), &s, error, sizeof(error)) == ERR_RANGE);
    CHECK(std::string(error) == "more than 4096 characters");
    text = "delay=0." + std::string(LINK_SPEC_TEXT_MAX - 9, '0') + "s";
    REQUIRE(text.size() == LINK_SPEC_TEXT_MAX);
    CHECK(link_spec_parse(text.c_str(), &s, error, sizeof(error)) == 0);

    std::string steps = "rate=1mbit";
    for (int i = 1; i <= RATE_STEPS_MAX; i++)
        steps += ":2mbit@" + std::to_string(i) + "s";
    CHECK(link_spec_parse(steps.c_str(), &s, error, sizeof(error)) == ERR_RANGE);
    CHECK(link_spec_parse(("loss=mask:" + std::string(1025, '0')).c_str(), &s, error,
                          sizeof(error)) == ERR_RANGE);
    CHECK(link_spec_parse(("trace=" + std::string(1024, 'x')).c_str(), &s, error, sizeof(error)) ==
          ERR_RANGE);

    char few[10];
    CHECK(link_spec_parse("spam=1", &s, few, sizeof(few)) == ERR_MALFORMED);
    CHECK(std::string(few) == "spam=1: '");
    CHECK(link_spec_parse("spam=1", &s, nullptr, 0) == ERR_MALFORMED);
}

TEST_CASE("link_spec: changes")
{
    struct link_change c;
    char error[256];
    REQUIRE(link_change_parse("rate=2mbit,loss=mask:1", &c, error, sizeof(error)) == 0);
    CHECK(c.rate);
    CHECK(c.loss);
    CHECK(!c.delay);
    CHECK(!c.jitter);
    CHECK(!c.reorder);
    CHECK(c.spec.rate.steps[0].bps == 2e6);
    CHECK(c.spec.loss.mask_packets == 1);
    REQUIRE(link_change_parse("delay=1ms,jitter=0,reorder=0%:0", &c, error, sizeof(error)) == 0);
    CHECK(!c.rate);
    CHECK(c.delay);
    CHECK(c.jitter);
    CHECK(c.reorder);
    CHECK(c.spec.delay == 1000);
    REQUIRE(link_change_parse("rate=0", &c, error, sizeof(error)) == 0);
    CHECK(c.spec.rate.steps[0].bps == 0);
    CHECK(link_change_parse("", &c, error, sizeof(error)) == 0);
    CHECK(!c.rate);

    const struct {
        const char *text;
        int err;
        const char *error;
    } table[] = {
        {"queue=red", ERR_MALFORMED,
         "queue=red: 'queue' is not one of rate, loss, delay, jitter, reorder, which can change"},
        {"rate=1mbit:2mbit@1s", ERR_MALFORMED, "rate=1mbit:2mbit@1s: a change takes one rate"},
        {"rate=1bit", ERR_RANGE, "rate=1bit: '1bit' is not 0 or " RATES},
        {"delay=1", ERR_MALFORMED, "delay=1: '1' is not " TIMES},
    };
    for (auto &t : table) {
        INFO(t.text);
        CHECK(link_change_parse(t.text, &c, error, sizeof(error)) == t.err);
        CHECK(std::string(error) == t.error);
    }
}
