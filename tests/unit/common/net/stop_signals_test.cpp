// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/stop_signals.h"

#include <catch2/catch.hpp>

#include <csignal>
#include <string>
#include <vector>

namespace
{

struct watch {
    uv_loop_t loop;
    stop_signals signals;
    std::vector<std::string> names;

    watch()
    {
        REQUIRE(uv_loop_init(&loop) == 0);
        stop_signals_watch(
            &signals, &loop,
            [](void *ctx, const char *name) { static_cast<watch *>(ctx)->names.push_back(name); },
            this);
    }
    ~watch()
    {
        stop_signals_close(&signals);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    watch(const watch &) = delete;
    watch &operator=(const watch &) = delete;
};

bool is_default(int number)
{
    struct sigaction now;
    return sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_DFL;
}

} // namespace

TEST_CASE("stop_signals: the first signal is reported, the second has its default effect")
{
    struct {
        int number;
        const char *name;
    } const table[] = {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}};
    for (const auto &row : table) {
        CAPTURE(row.name);
        auto before = signal(row.number, SIG_DFL);
        {
            watch w;
            CHECK_FALSE(is_default(row.number));
            raise(row.number);
            while (w.names.empty())
                uv_run(&w.loop, UV_RUN_ONCE);
            CHECK(w.names == std::vector<std::string>{row.name});
            for (const auto &other : table)
                CHECK(is_default(other.number));
        }
        signal(row.number, before);
    }
}

TEST_CASE("stop_signals: SIGHUP stays ignored if it was (nohup), SIGINT does not")
{
    auto hup = signal(SIGHUP, SIG_IGN), interrupt = signal(SIGINT, SIG_IGN);
    {
        watch w;
        raise(SIGHUP);
        raise(SIGINT);
        while (w.names.empty())
            uv_run(&w.loop, UV_RUN_ONCE);
        CHECK(w.names == std::vector<std::string>{"SIGINT"});
    }
    signal(SIGHUP, hup);
    signal(SIGINT, interrupt);
}

TEST_CASE("stop_signals: a SIGHUP before the watch is held back")
{
    auto before = signal(SIGHUP, SIG_DFL);
    stop_signals_hold_hangup();
    raise(SIGHUP); // would end this process
    raise(SIGHUP);
    {
        watch w;
        stop_signals_on_hangup(
            &w.signals, [](void *ctx) { static_cast<watch *>(ctx)->names.push_back("hangup"); });
        CHECK(w.names.empty());
        stop_signals_release_hangup();
        while (w.names.empty())
            uv_run(&w.loop, UV_RUN_ONCE);
        CHECK(w.names == std::vector<std::string>{"hangup"});
    }
    signal(SIGHUP, before);
}

TEST_CASE("stop_signals: SIGHUP may mean something else, each time")
{
    auto before = signal(SIGHUP, SIG_DFL), terminate = signal(SIGTERM, SIG_DFL);
    {
        watch w;
        stop_signals_on_hangup(
            &w.signals, [](void *ctx) { static_cast<watch *>(ctx)->names.push_back("hangup"); });
        for (size_t i = 1; i <= 2; i++) {
            raise(SIGHUP);
            while (w.names.size() < i)
                uv_run(&w.loop, UV_RUN_ONCE);
        }
        raise(SIGTERM);
        while (w.names.size() < 3)
            uv_run(&w.loop, UV_RUN_ONCE);
        CHECK(w.names == std::vector<std::string>{"hangup", "hangup", "SIGTERM"});
        CHECK(is_default(SIGHUP));
    }
    signal(SIGHUP, before);
    signal(SIGTERM, terminate);
}
