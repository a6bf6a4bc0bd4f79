// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/ui_feed.h"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

namespace
{

struct screen {
    struct display display; // first
    std::vector<std::string> titles;
    std::vector<osd_state> osds;
    int windows = 0;

    static const display_ops ops;

    screen() : display()
    {
        display.ops = &ops;
    }
    static screen *of(struct display *d)
    {
        return reinterpret_cast<screen *>(d);
    }
};

const display_ops screen::ops = {
    .run = [](struct display *) { return 0; },
    .expect = [](struct display *d, int, int) { screen::of(d)->windows++; },
    .set_status = [](struct display *d,
                     const char *text) { screen::of(d)->titles.push_back(text); },
    .set_osd = [](struct display *d,
                  const osd_state *state) { screen::of(d)->osds.push_back(*state); },
    .free = [](struct display *) {},
};

struct fixture {
    play_options options = {};
    screen to;
    std::unique_ptr<qoe, void (*)(qoe *)> report{qoe_new("rtsp://h/", 0, 0), qoe_free};
    struct reconnect state;
    qoe_transport second = {};
    struct ui_feed *feed = nullptr;
    bool other = false;

    explicit fixture(bool headless = false)
    {
        options.headless = headless;
        snprintf(options.url.host, sizeof(options.url.host), "camera.example");
        reconnect_init(&state, true, false);
        ui_feed_config config = {.options = &options, .display = &to.display, .qoe = report.get()};
        feed = ui_feed_new(&config);
        REQUIRE(feed);
    }
    ~fixture()
    {
        ui_feed_free(feed);
    }
    // No stream is described yet.
    void tick(usec_t now)
    {
        ui_facts facts = {.shown = nullptr,
                          .reconnect = &state,
                          .reason = "",
                          .transport = "minbuf",
                          .channel = "The Weather",
                          .host = "camera.example",
                          .second = &second,
                          .volume = {},
                          .raw = true,
                          .other = other,
                          .channels = nullptr,
                          .number = 1,
                          .chooses = 0,
                          .list = false};
        ui_feed_tick(feed, &facts, now);
    }
};

const usec_t TICK = USEC_PER_SEC / UI_FEED_TICKS;

} // namespace

TEST_CASE("ui_feed: a window opens for the message if the server does not respond soon")
{
    fixture f;
    for (int i = 0; i < 2; i++)
        f.tick(i * TICK);
    CHECK(f.to.windows == 0);
    for (int i = 2; i < 10; i++)
        f.tick(i * TICK);
    CHECK(f.to.windows == 1);
    CHECK(f.to.titles.back() == "weir-play: connecting to camera.example");
    const osd_state &o = f.to.osds.back();
    CHECK(std::string(o.message.text).find("camera.example") != std::string::npos);
    CHECK(o.samples == 10);
    CHECK(o.level == -1);
    CHECK(o.raw);
    CHECK(o.duration == -1);
    CHECK(std::isnan(o.position));
    CHECK_FALSE(o.may_choose);
    CHECK_FALSE(o.ended);
}

TEST_CASE("ui_feed: a channel is named while it is opened, when it cannot be, and after a stop")
{
    static const struct {
        enum reconnect_state state;
        const char *text;
    } rows[] = {{RECONNECT_SELECTING, "Changing to The Weather"},
                {RECONNECT_TUNING, "Changing to The Weather"},
                {RECONNECT_STOPPED, "Stopped: The Weather"}};
    for (const auto &row : rows) {
        fixture f;
        f.state.state = row.state;
        f.other = true;
        f.tick(0);
        CHECK(std::string(f.to.osds.back().message.text) == row.text);
    }
}

TEST_CASE("ui_feed: nothing is drawn over a picture that is not displayed")
{
    fixture f(true);
    f.tick(0);
    CHECK(f.to.osds.empty());
    CHECK(f.to.titles.size() == 1);
}

TEST_CASE("ui_feed: each toast is counted, and the next tick shows it")
{
    fixture f;
    f.tick(0);
    CHECK(f.to.osds.back().toasts == 0);
    ui_feed_toast(f.feed, "No %s: %s", "mtp", "refused");
    ui_feed_toast(f.feed, "Snapshot: %s", "a.png");
    f.tick(TICK);
    CHECK(f.to.osds.back().toasts == 2);
    CHECK(std::string(f.to.osds.back().toast) == "Snapshot: a.png");
    f.tick(2 * TICK);
    CHECK(f.to.osds.back().toasts == 2);
    ui_feed_toast(f.feed, "%s", std::string(1000, 'x').c_str());
    f.tick(3 * TICK);
    CHECK(std::string(f.to.osds.back().toast) == std::string(199, 'x'));
}

TEST_CASE("ui_feed: the last message states how the viewing ended")
{
    struct {
        const char *error;
        const char *text; // part of the message or its cause
    } rows[] = {{nullptr, "End of stream"}, {"the server was lost", "the server was lost"}};
    for (const auto &row : rows) {
        fixture f;
        f.tick(0);
        ui_feed_end(f.feed, row.error);
        const osd_state &o = f.to.osds.back();
        CHECK(o.ended);
        std::string all = std::string(o.message.text) + " " + o.message.cause;
        INFO(all);
        CHECK(all.find(row.text) != std::string::npos);
        CHECK(std::isnan(o.position));
    }
}

TEST_CASE("ui_feed: what is opened first, or tried again, is connected to")
{
    for (auto state : {RECONNECT_TUNING, RECONNECT_SELECTING}) {
        fixture f;
        f.state.state = state;
        f.tick(0);
        CHECK(std::string(f.to.osds.back().message.text) == "Connecting to camera.example");
    }
    fixture f;
    f.state.state = RECONNECT_STOPPED;
    f.tick(0);
    CHECK(f.to.titles.back() == "weir-play: cannot open camera.example");
}
