// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/emulator/report.h"

#include <catch2/catch.hpp>

#include <jansson.h>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "lab/link/link_spec.h"
#include "tests/unit/temp_folder.hpp"

namespace
{

// Two links without traffic. Tests write into their stats.
struct ways {
    world w;
    node sinks[2] = {};
    struct link links[2] = {};
    extra_drops all[2] = {}, lately[2] = {};
    report_way list[2];

    ways()
    {
        world_init(&w, 0);
        for (int i = 0; i < 2; i++) {
            link_spec spec;
            char error[128];
            REQUIRE(link_spec_parse("rate=1mbit", &spec, error, sizeof(error)) == 0);
            REQUIRE(link_init(&links[i], &w, &spec, nullptr, 0, nullptr, 1, &sinks[i], 0) == 0);
            list[i] = {&links[i], &all[i], &lately[i]};
        }
    }
    ~ways()
    {
        for (struct link &l : links)
            link_destroy(&l);
        world_destroy(&w);
    }
    ways(const ways &) = delete;
    ways &operator=(const ways &) = delete;
};

const char empty_way[] = R"("packets_in":0,"bytes_in":0,"packets_out":0,"bytes_out":0,)"
                         R"("dropped":{"loss":0,"full":0,"aqm":0,"pool":0},"marked":0,)"
                         R"("queue_bytes":0,"queue_delay_ms":{"mean":null,"p95":null,"max":null})";

} // namespace

TEST_CASE("link report: a second's line, with packets that the link's own stats do not contain")
{
    temp_folder t;
    std::string path = t / "stats";
    report r;
    REQUIRE(link_report_open(&r, path.c_str()) == 0);
    ways w;
    link_stats *s = w.links[0].lately;
    s->packets_in = 10;
    s->bytes_in = 1000;
    s->packets_out = 6;
    s->bytes_out = 600;
    s->marked = 2;
    s->dropped[LINK_DROP_LOSS] = 1;
    s->dropped[LINK_DROP_FULL] = 2;
    s->dropped[LINK_DROP_AQM] = 3;
    s->dropped[LINK_DROP_POOL] = 4;
    for (int i = 0; i < 4; i++)
        hist_add(&s->queue_delay, 2000);
    w.lately[0].refused_packets[0] = 5;
    w.lately[0].refused_bytes[0] = 500;
    w.lately[0].unwritten_packets[0] = 1;
    w.lately[0].unwritten_bytes[0] = 100;
    link_report_second(&r, w.list, 3000000, 4250000);
    CHECK(link_report_close(&r) == 0);
    CHECK(t.read("stats") ==
          R"({"t":1.25,"monotonic":4.25,"a_to_b":{"packets_in":15,"bytes_in":1500,)"
          R"("packets_out":5,"bytes_out":500,"dropped":{"loss":1,"full":2,"aqm":3,"pool":10},)"
          R"("marked":2,"queue_bytes":0,"queue_delay_ms":{"mean":2.0,"p95":2.0,"max":2.0}},)"
          R"("b_to_a":{)" +
              std::string(empty_way) + "}}\n");
}

TEST_CASE("link report: the last line counts since the start, and each port")
{
    temp_folder t;
    std::string path = t / "stats";
    report r;
    REQUIRE(link_report_open(&r, path.c_str()) == 0);
    ways w;
    w.links[1].all[0].packets_in = 20;
    w.links[1].all[3].packets_in = 12; // the total, flow 0, flow 1, flow 2: the second port
    w.all[1].refused_packets[3] = 4;
    w.links[1].lately[0].packets_in = 99;
    const uint16_t ports[] = {80, 9000};
    link_report_end(&r, w.list, ports, 2, 0, 2000000);
    CHECK(link_report_close(&r) == 0);
    json_error_t error;
    json_t *o = json_loads(t.read("stats").c_str(), 0, &error);
    REQUIRE(o);
    const char *event;
    double at, monotonic, cpu;
    json_int_t total_a, total_b, first, second;
    json_t *queue;
    CHECK(json_unpack(o,
                      "{s:s, s:F, s:F, s:F, s:{s:I}, s:{s:I}, s:{s:{s:{s:I}}, s:{s:{s:I, s:o}}}}",
                      "event", &event, "t", &at, "monotonic", &monotonic, "cpu_s", &cpu, "a_to_b",
                      "packets_in", &total_a, "b_to_a", "packets_in", &total_b, "flows", "80",
                      "b_to_a", "packets_in", &first, "9000", "b_to_a", "packets_in", &second,
                      "queue_bytes", &queue) == 0);
    CHECK(event == std::string("end"));
    CHECK((at == 2 && monotonic == 2 && cpu >= 0));
    CHECK(total_a == 0);
    CHECK(total_b == 20);
    CHECK(first == 0);
    CHECK(second == 16);
    CHECK(json_is_null(queue)); // a flow has no queue of its own
    json_decref(o);
}

TEST_CASE("link report: without a file nothing is written, a full disk is an error")
{
    temp_folder t;
    report r;
    ways w;
    REQUIRE(link_report_open(&r, nullptr) == 0);
    link_report_second(&r, w.list, 0, 1);
    link_report_end(&r, w.list, nullptr, 0, 0, 1);
    CHECK(link_report_close(&r) == 0);
    CHECK(link_report_open(&r, (t / "no/where").c_str()) == ERR_IO);
    temp_folder::forget_logged();
    REQUIRE(link_report_open(&r, "/dev/full") == 0);
    for (int i = 0; i < 2; i++)
        link_report_second(&r, w.list, 0, 1);
    CHECK(link_report_close(&r) == ERR_IO);
    CHECK(temp_folder::logged() ==
          "cannot write /dev/full: No space left on device (the file ends here)\n");
}
