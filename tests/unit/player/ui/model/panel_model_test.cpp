// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/panel_model.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace
{
const double nan_ = std::nan("");

struct panel_sample with(enum panel_row row, double value)
{
    struct panel_sample s;
    panel_sample_clear(&s);
    s.levels = 7;
    s.value[row] = value;
    return s;
}

std::string value_text(enum panel_row row, double value)
{
    struct panel_history h;
    char text[PANEL_TEXT];
    panel_history_init(&h);
    h.levels = 7;
    panel_value_text(&h, row, value, text, sizeof(text));
    return text;
}
} // namespace

TEST_CASE("panel: the last 30 s of a stat, the newest first")
{
    struct panel_history h;
    panel_history_init(&h);
    CHECK(std::isnan(panel_value(&h, PANEL_RTT, 0)));
    for (int i = 0; i < PANEL_SAMPLES + 10; i++) {
        struct panel_sample s = with(PANEL_RTT, i);
        panel_history_push(&h, &s);
    }
    CHECK(panel_value(&h, PANEL_RTT, 0) == PANEL_SAMPLES + 9);
    CHECK(panel_value(&h, PANEL_RTT, 1) == PANEL_SAMPLES + 8);
    CHECK(panel_value(&h, PANEL_RTT, PANEL_SAMPLES - 1) == 10);
    CHECK(std::isnan(panel_value(&h, PANEL_RTT, PANEL_SAMPLES)));
    CHECK(std::isnan(panel_value(&h, PANEL_RTT, -1)));
    CHECK(std::isnan(panel_value(&h, PANEL_LOSS, 0)));
}

TEST_CASE("panel: rows are those of stats known recently, in their order")
{
    struct panel_history h;
    enum panel_row rows[PANEL_ROWS];
    panel_history_init(&h);
    CHECK(panel_rows(&h, rows) == 0);
    struct panel_sample s = with(PANEL_LOSS, 0);
    s.value[PANEL_LEVEL] = 2;
    std::strcpy(s.name[0], "p");
    s.value[PANEL_VARIABLE] = 0.1;
    std::strcpy(s.name[1], "why"); // a number without a size
    s.value[PANEL_VARIABLE + 1] = 1;
    panel_history_push(&h, &s);
    REQUIRE(panel_rows(&h, rows) == 3);
    CHECK(rows[0] == PANEL_LEVEL);
    CHECK(rows[1] == PANEL_LOSS);
    CHECK(rows[2] == PANEL_VARIABLE);
    CHECK(std::string(panel_label(&h, rows[1])) == "Loss");
    CHECK(std::string(panel_label(&h, rows[2])) == "p");

    struct panel_sample other = with(PANEL_LOSS, nan_); // known no more, but still in the graph
    std::strcpy(other.name[0], "cwnd");                 // another transport's
    panel_history_push(&h, &other);
    REQUIRE(panel_rows(&h, rows) == 2);
    CHECK(rows[1] == PANEL_LOSS);
    for (int i = 0; i < PANEL_SAMPLES; i++)
        panel_history_push(&h, &other);
    CHECK(panel_rows(&h, rows) == 0);
}

TEST_CASE("panel: a graph's upper edge is the next of 1, 2, 5 times a power of ten")
{
    static const struct {
        double value, top;
        const char *scale;
    } table[] = {
        {0, 1, "1 ms"},          {0.3, 0.5, "0.5 ms"}, {1, 1, "1 ms"},    {1.01, 2, "2 ms"},
        {2.5, 5, "5 ms"},        {7, 10, "10 ms"},     {10, 10, "10 ms"}, {184, 200, "200 ms"},
        {2001, 5000, "5000 ms"}, {nan_, 1, "1 ms"},
    };
    for (const auto &row : table) {
        struct panel_history h;
        char text[PANEL_TEXT];
        panel_history_init(&h);
        struct panel_sample s = with(PANEL_LATENCY, row.value);
        panel_history_push(&h, &s);
        s.value[PANEL_LATENCY] = row.value / 2;
        panel_history_push(&h, &s);
        INFO(row.value);
        CHECK(panel_graph_top(&h, PANEL_LATENCY) == Approx(row.top));
        CHECK(panel_graph_top(&h, PANEL_LEVEL) == 6);   // the highest there is
        CHECK(panel_graph_top(&h, PANEL_LOSS) == 0.01); // nothing known, or lost
        panel_scale_text(&h, PANEL_LATENCY, text, sizeof(text));
        CHECK(std::string(text) == row.scale);
    }
}

TEST_CASE("panel: stats with their units")
{
    CHECK(value_text(PANEL_LEVEL, 4) == "4 of 6");
    CHECK(value_text(PANEL_FRAME_RATE, 29.96) == "30.0 /s");
    CHECK(value_text(PANEL_BUFFER, 0.423) == "0.42 s");
    CHECK(value_text(PANEL_LATENCY, 184.4) == "184 ms");
    CHECK(value_text(PANEL_RTT, 0.27) == "0.3 ms");
    CHECK(value_text(PANEL_RATE, 1823000) == "1.82 Mbit/s");
    CHECK(value_text(PANEL_RATE, 999499) == "999 kbit/s");
    CHECK(value_text(PANEL_ALLOWED, 999500) == "1.00 Mbit/s");
    CHECK(value_text(PANEL_LOSS, 0.0023) == "0.23 %");
    CHECK(value_text(PANEL_CWND, 12) == "12.0 packets");
    CHECK(value_text(PANEL_RTT, nan_) == "-");

    struct panel_history h;
    panel_history_init(&h);
    struct panel_sample s = with(PANEL_VARIABLE, 1);
    std::strcpy(s.name[0], "mode");
    std::strcpy(s.name[1], "X");
    panel_history_push(&h, &s);
    char text[PANEL_TEXT];
    panel_value_text(&h, PANEL_VARIABLE, 1, text, sizeof(text));
    CHECK(std::string(text) == "fill");
    panel_value_text(&h, PANEL_VARIABLE, 99, text, sizeof(text));
    CHECK(std::string(text) == "99");
    panel_value_text(&h, (enum panel_row)(PANEL_VARIABLE + 1), 1234567, text, sizeof(text));
    CHECK(std::string(text) == "1.235 M");
    panel_scale_text(&h, PANEL_VARIABLE, text, sizeof(text));
    CHECK(std::string(text) == "1");
}

TEST_CASE("panel: lost frames by cause, stalls and freezes")
{
    struct panel_sample s;
    char text[PANEL_TEXT];
    panel_sample_clear(&s);
    panel_losses_text(&s, text, sizeof(text));
    CHECK(std::string(text).empty());
    panel_stalls_text(&s, text, sizeof(text));
    CHECK(std::string(text).empty());
    s.expected = 1830;
    s.stalls = 0;
    panel_losses_text(&s, text, sizeof(text));
    CHECK(std::string(text) == "none of 1830 frames");
    panel_stalls_text(&s, text, sizeof(text));
    CHECK(std::string(text) == "none");
    s.not_shown[CAUSE_NETWORK] = 7;
    s.not_shown[CAUSE_LATE] = 5;
    s.stalls = 2;
    s.stalled = 1.34;
    s.reconnects = 1;
    panel_losses_text(&s, text, sizeof(text));
    CHECK(std::string(text) == "12 of 1830 frames: 7 network, 5 late");
    panel_stalls_text(&s, text, sizeof(text));
    CHECK(std::string(text) == "2, together 1.3 s; connected again 1 x");
    panel_freezes_text(&s, text, sizeof(text));
    CHECK(std::string(text).empty());
    s.freezes = 0;
    panel_freezes_text(&s, text, sizeof(text));
    CHECK(std::string(text) == "none");
    s.freezes = 3;
    s.frozen = 8.42;
    s.longest_freeze = 8;
    panel_freezes_text(&s, text, sizeof(text));
    CHECK(std::string(text) == "3, together 8.4 s, longest 8.0 s");
    panel_losses_text(&s, text, 12); // cut, never beyond
    CHECK(std::string(text) == "12 of 1830 ");
}

TEST_CASE("panel: the compact form has the most important fields, without unknown ones")
{
    struct panel_history h;
    struct panel_sample s;
    char text[512];
    panel_history_init(&h);
    panel_sample_clear(&s);
    panel_history_push(&h, &s);
    panel_line_text(&h, &s, PANEL_FIELDS, text, sizeof(text));
    CHECK(std::string(text).empty());
    snprintf(s.level, sizeof(s.level), "1280x720@30, 1.80 Mbit/s");
    s.value[PANEL_FRAME_RATE] = 30;
    s.value[PANEL_BUFFER] = 1.25;
    s.value[PANEL_LOSS] = 0.015;
    s.freezes = 1;
    panel_history_push(&h, &s);
    static const char *const known[] = {
        "",
        "1280x720@30",
        "1280x720@30   30.0 frames/s",
        "1280x720@30   30.0 frames/s   1.2 s buffered",
        "1280x720@30   30.0 frames/s   1.2 s buffered",
        "1280x720@30   30.0 frames/s   1.2 s buffered   1.5 % lost",
        "1280x720@30   30.0 frames/s   1.2 s buffered   1.5 % lost   1 freeze"};
    for (int fields = 0; fields <= PANEL_FIELDS; fields++) {
        panel_line_text(&h, &s, fields, text, sizeof(text));
        CHECK(std::string(text) == known[fields]);
    }
    s.value[PANEL_LATENCY] = 312;
    s.value[PANEL_RATE] = 1.82e6;
    s.freezes = 2;
    panel_history_push(&h, &s);
    panel_line_text(&h, &s, PANEL_FIELDS, text, sizeof(text));
    CHECK(std::string(text) ==
          "1280x720@30   30.0 frames/s   0.31 s behind   1.82 Mbit/s   1.5 % lost   2 freezes");
}

TEST_CASE("panel: a text too wide loses its last details one by one")
{
    char text[] = "12 of 1830 frames: 7 network, 5 late; rest";
    static const char *const steps[] = {"12 of 1830 frames: 7 network, 5 late",
                                        "12 of 1830 frames: 7 network", "12 of 1830 frames"};
    for (const char *step : steps) {
        CHECK(panel_shorten(text));
        CHECK(std::string(text) == step);
    }
    CHECK_FALSE(panel_shorten(text));
    CHECK(std::string(text) == "12 of 1830 frames");
    char none[] = "";
    CHECK_FALSE(panel_shorten(none));
}
