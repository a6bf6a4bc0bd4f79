// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/scenario.h"

#include <catch2/catch.hpp>

#include <string>

#include "common/base/err.h"

static int parse(const char *text, group *g, std::string *why = nullptr)
{
    char error[256] = "";
    int err = group_parse(text, g, error, sizeof(error));
    if (why)
        *why = error;
    return err;
}

TEST_CASE("scenario: groups and their defaults")
{
    group g;
    REQUIRE(parse("reno", &g) == 0);
    CHECK(g.kind == GROUP_TCP);
    CHECK(g.n == 1);
    CHECK(g.from == 0);
    CHECK(g.to == -1);
    CHECK(g.rtt_max == -1);
    CHECK(g.stop == USEC_NEVER);
    CHECK(g.packet_bytes == 1500);
    CHECK(g.initial_window == 2);
    CHECK(g.min_rto == USEC_PER_SEC);
    CHECK(g.delayed_ack == 100000);
    CHECK(g.packets == INT64_MAX);

    REQUIRE(
        parse("sack:n=20,rtt=12.5ms..250ms,start=10s,spread=1s,window=41p,minrto=200ms,delack=0",
              &g) == 0);
    CHECK(g.variant == TCP_SACK);
    CHECK(g.n == 20);
    CHECK(g.rtt_min == 12500);
    CHECK(g.rtt_max == 250000);
    CHECK(g.start == 10 * USEC_PER_SEC);
    CHECK(g.spread == USEC_PER_SEC);
    CHECK(g.window == 41);
    CHECK(g.min_rto == 200000);
    CHECK(g.delayed_ack == 0);

    REQUIRE(parse("mtp:size=300B,full=1200B", &g) == 0);
    CHECK(g.packet_bytes == 300);
    CHECK(g.full_bytes == 1200);

    REQUIRE(parse("cbr:rate=7mbit,on=200s,off=200s,loss=0.5%,access=1gbit,from=1,to=0", &g) == 0);
    CHECK(g.bps == 7000000);
    CHECK(g.on == 200 * USEC_PER_SEC);
    CHECK(g.shape == 0);
    CHECK(g.loss == Approx(0.005));
    CHECK(g.access_bps == 1000000000);
    CHECK(g.to == 0);

    REQUIRE(parse("web:tcp=sack,bytes=20KB,think=2s", &g) == 0);
    CHECK(g.kind == GROUP_WEB);
    CHECK(g.variant == TCP_SACK);
    CHECK(g.object_bytes == 20000);
    CHECK(g.shape == 1.5);

    REQUIRE(parse("mtp", &g) == 0);
    CHECK(g.kind == GROUP_MTP);
    CHECK(g.mode == MTP_STRICT);
    REQUIRE(parse("mtp:mode=resend,n=3,iw=4p,minrto=200ms,ts=1,loss=1%,rtt=60ms", &g) == 0);
    CHECK(g.mode == MTP_RESEND);
    CHECK(g.initial_window == 4);
    CHECK(g.min_rto == 200000);
    CHECK(g.timestamps == 1);
    CHECK(g.loss == Approx(0.01));

    REQUIRE(parse("reno:ca=count,ts=1", &g) == 0);
    CHECK(g.growth == TCP_COUNT_ACKS);
    CHECK(g.timestamps == 1);
    REQUIRE(parse("web:ca=ack", &g) == 0);
    CHECK(g.growth == TCP_PER_ACK);
    REQUIRE(parse("sack:ca=cubic", &g) == 0);
    CHECK(g.growth == TCP_CUBIC);

    REQUIRE(parse("datagram:cc=tfrc:selfclock/damp,rate=500kbit,ect=1", &g) == 0);
    CHECK(std::string(g.cc) == "tfrc:selfclock,damp");
    CHECK(g.bps == 500000);
    CHECK(g.ect == 1);
}

TEST_CASE("scenario: pages, lines and streams")
{
    group g;
    REQUIRE(parse("web:objects=2,pause=exp,local=750kbit,localq=30p", &g) == 0);
    CHECK(g.objects == 2);
    CHECK(g.exponential_think);
    CHECK(g.local_bps == 750000);
    CHECK(g.local_queue == 30);

    REQUIRE(parse("stream:via=minbuf:1/3", &g) == 0);
    CHECK(g.kind == GROUP_STREAM);
    CHECK(std::string(g.via) == "minbuf:1,3");
    CHECK(g.media.ladder.level_count == 7);
    CHECK(g.length == 300 * USEC_PER_SEC);
    CHECK(g.latency == 5500 * USEC_PER_MSEC); // weir-play's
    CHECK(g.queue == SCHEDULER_PRIORITY);
    CHECK(g.limit_bytes == SCHEDULER_LIMIT_BYTES);
    CHECK(g.level == -1);
    CHECK(g.fragment_bytes == 1000);
    CHECK(g.pairs == 1);
    CHECK(g.goddard.upscale_interval == 60);
    CHECK(g.variant == TCP_NEWRENO);
    REQUIRE(
        parse("stream:via=tcp:sndbuf=64KB,tcp=reno,media=layers:3/500,length=20s,latency=5s,"
              "fragment=500B,parts=1,pair=0,goddard=upscale_interval=30/buf_factor=2,window=40p",
              &g) == 0);
    CHECK(g.variant == TCP_RENO);
    CHECK(g.media.ladder.level_count == 3);
    CHECK(g.goddard.upscale_interval == 30);
    CHECK(g.goddard.buf_factor == 2);
    CHECK(g.in_part == 1);
    CHECK(g.as_tcp == 0);
    CHECK(g.pairs == 0);
    CHECK(g.sizes_path[0] == '\0');
    REQUIRE(parse("stream:via=mtp:paper,astcp=1,delack=0s", &g) == 0);
    CHECK(g.as_tcp == 1);
    CHECK(g.delayed_ack == 0);
    REQUIRE(parse("stream:via=udp,sizes=a/film.txt", &g) == 0);
    CHECK(std::string(g.sizes_path) == "a/film.txt");
    CHECK(parse(("stream:via=udp,sizes=" + std::string(256, 'x')).c_str(), &g) == ERR_RANGE);
    REQUIRE(parse("stream:via=tcp,queue=fifo,limit=64KB,level=2", &g) == 0);
    CHECK(g.queue == SCHEDULER_FIFO);
    CHECK(g.limit_bytes == 64000);
    CHECK(g.level == 2);
    CHECK(g.latency == USEC_PER_SEC); // the server's default
    REQUIRE(parse("stream:via=mtp,goddard=play_buf_thresh=2", &g) == 0);
    CHECK(g.latency == 2500 * USEC_PER_MSEC);
    CHECK(parse("stream:via=tcp,queue=random", &g) == ERR_MALFORMED);
    CHECK(parse("stream:via=tcp,level=7", &g) == ERR_RANGE);
    REQUIRE(parse("stream:via=tcp,window=40p", &g) == 0);
    CHECK(g.window == 40);

    CHECK_FALSE(g.has_proxy);
    REQUIRE(parse("stream:via=tfrc,proxy=rate=512kbit/queue=droptail:10p/loss=2%,proxyvia=tcp:"
                  "sndbuf=64KB,proxyrtt=13ms,reflect=marks,target=300ms,queue=fifo",
                  &g) == 0);
    CHECK(g.has_proxy);
    CHECK(g.proxy_link.has_rate);
    CHECK(std::string(g.proxy_via) == "tcp:sndbuf=64KB");
    CHECK(g.proxy_rtt == 13000);
    CHECK(g.reflect == REFLECT_MARKS);
    CHECK(g.target == 300000);
    CHECK(g.queue == SCHEDULER_FIFO);

    std::string why;
    CHECK(parse("stream", &g, &why) == ERR_MALFORMED);
    CHECK(why.find("via=") != std::string::npos);
    CHECK(parse("stream:via=quic", &g) == ERR_NOT_FOUND);
    CHECK(parse("stream:via=tcp:sndbuf=1KB", &g) == ERR_RANGE);
    CHECK(parse("stream:via=tcp:cork", &g) == ERR_MALFORMED);
    CHECK(parse("stream:via=mtp:queue=1", &g) == ERR_RANGE);
    CHECK(parse("stream:via=tfrc:nonsense", &g) == ERR_MALFORMED);
    CHECK(parse("stream:via=udp,media=film", &g) == ERR_MALFORMED);
    CHECK(parse("stream:via=udp,goddard=patience=3", &g) == ERR_MALFORMED);
    CHECK(parse("stream:via=udp,fragment=1201B", &g) == ERR_RANGE);
    CHECK(parse("stream:via=tfrc,proxy=rate=fast", &g) == ERR_MALFORMED);
    CHECK(parse("stream:via=tfrc,proxy=trace=a", &g) == ERR_RANGE);
    CHECK(parse("stream:via=tfrc,proxy=delay=10ms,proxyrtt=19ms", &g) == ERR_RANGE);
    CHECK(parse("stream:via=tfrc,proxy=rate=1mbit,repair=auto", &g) == ERR_MALFORMED);
    CHECK(parse("stream:via=tfrc,proxyvia=quic", &g) == ERR_NOT_FOUND);
    CHECK(parse("stream:via=tfrc,reflect=block", &g, &why) == ERR_MALFORMED);
    CHECK(why.find("off, marks, limit or blocking") != std::string::npos);
    REQUIRE(parse("stream:via=tfrc,reflect=blocking", &g) == 0);
    CHECK(g.reflect == REFLECT_BLOCKING);
    CHECK(parse("stream:via=tfrc,queue=lifo", &g) == ERR_MALFORMED);
    CHECK(parse("web:pause=long", &g) == ERR_MALFORMED);
    CHECK(parse("reno:objects=2", &g) == ERR_MALFORMED);
}

TEST_CASE("scenario: errors are reported")
{
    static const struct {
        const char *text;
        int err;
        const char *says;
    } table[] = {
        {"", ERR_MALFORMED, "is not reno"},
        {"cubic", ERR_MALFORMED, "'cubic' is not reno"},
        {"mtp:mode=lazy", ERR_MALFORMED, "'lazy' is not strict, fill or resend"},
        {"mtp:mode=fill,mode=fill", ERR_MALFORMED, "is given twice"},
        {"mtp:delack=0", ERR_MALFORMED, "unknown key for this KIND"},
        {"mtp:ca=count", ERR_MALFORMED, "unknown key for this KIND"},
        {"reno:ca=bbr", ERR_MALFORMED, "'bbr' is not ack, count, packets or cubic"},
        {"reno:mode=fill", ERR_MALFORMED, "unknown key for this KIND"},
        {"reno:n=0", ERR_RANGE, "from 1 to 10000"},
        {"reno:n=1.5", ERR_MALFORMED, "not a whole number"},
        {"reno:n=99999999999999999999", ERR_RANGE, "from 1 to 10000"},
        {"reno:n=2,n=3", ERR_MALFORMED, "is given twice"},
        {"reno:rtt=250", ERR_MALFORMED, "(us, ms, s)"},
        {"reno:rtt=250ms..10ms", ERR_RANGE, "below the first"},
        {"reno:rtt=10ms..", ERR_MALFORMED, "is not a time"},
        {"reno:rate=1mbit", ERR_MALFORMED, "unknown key for this KIND"},
        {"reno:size=39B", ERR_RANGE, "40B"},
        {"reno:full=1200B", ERR_MALFORMED, "unknown key for this KIND"},
        {"mtp:full=1200B", ERR_RANGE, "full= is below size="},
        {"mtp:size=60B,full=1200B", ERR_RANGE, "100B or more"},
        {"datagram:cc=tfrc,full=1200B", ERR_RANGE, "full= is below size="},
        {"reno:window=10001p", ERR_RANGE, "10000p"},
        {"reno:start=5s,stop=5s", ERR_RANGE, "not after"},
        {"reno:from=1,to=1", ERR_RANGE, "same router"},
        {"web:shape=1", ERR_RANGE, "1.01"},
        {"web:tcp=vegas", ERR_MALFORMED, "vegas"},
        {"cbr", ERR_MALFORMED, "requires rate="},
        {"cbr:rate=1mbit,on=1s", ERR_MALFORMED, "require each other"},
        {"datagram", ERR_MALFORMED, "requires cc="},
        {"datagram:cc=nothing", ERR_NOT_FOUND, "not a rate controller"},
        {"datagram:cc=fixed,size=40B", ERR_RANGE, "above 40B"},
    };
    for (const auto &row : table) {
        CAPTURE(row.text);
        group g;
        std::string why;
        CHECK(parse(row.text, &g, &why) == row.err);
        CHECK(why.find(row.says) != std::string::npos);
        if (row.err)
            CHECK_FALSE(why.empty());
    }
    group g;
    std::string long_name = "datagram:cc=" + std::string(FLOW_CC_MAX, 'x');
    CHECK(parse(long_name.c_str(), &g) == ERR_RANGE);
}
