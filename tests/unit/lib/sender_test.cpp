// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <pthread.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "common/net/raw_tcp.h"
#include "lib/weir.h"

namespace
{
using handle = std::unique_ptr<weir_sender, decltype(&weir_sender_close)>;

weir_sender_config pushed(const char *const *options)
{
    weir_sender_config c = {};
    c.size = sizeof(c);
    c.width = 320;
    c.height = 180;
    c.fps_num = 30;
    c.fps_den = 1;
    c.options = options;
    return c;
}

handle open(const weir_sender_config &c)
{
    char error[512];
    handle s(weir_sender_open(&c, error, sizeof(error)), weir_sender_close);
    INFO(error);
    CHECK((s != nullptr) == (*error == '\0'));
    REQUIRE(s);
    return s;
}

// Returns why a sender cannot be opened.
std::string fault(const weir_sender_config &c)
{
    char error[512];
    handle s(weir_sender_open(&c, error, sizeof(error)), weir_sender_close);
    CHECK(s == nullptr);
    return error;
}

// Returns the stats, however busy the machine is: one call waits for two seconds only.
std::string stats_of(weir_sender *s)
{
    std::unique_ptr<char, decltype(&free)> stats(nullptr, free);
    for (int i = 0; i < 30 && !stats; i++)
        stats.reset(weir_sender_stats(s));
    REQUIRE(stats);
    return stats.get();
}

bool has(const std::string &text, const std::string &part)
{
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
    return true;
}

const char *const any_port[] = {"--listen", "127.0.0.1:0", nullptr};
} // namespace

TEST_CASE("sender: faults of the configuration say what is wrong")
{
    weir_sender_config c = pushed(any_port);
    c.size = 4;
    has(fault(c), "size");
    c = pushed(any_port);
    c.width = 321;
    has(fault(c), "sizes are even");
    c = pushed(any_port);
    c.fps_den = 0;
    has(fault(c), "fps_den");
    c = pushed(any_port);
    c.source = "/no/such/film.mp4";
    has(fault(c), "/no/such/film.mp4");
    c.has_audio = 1;
    has(fault(c), "has_audio");
    struct {
        std::vector<const char *> options;
        const char *part;
    } rows[] = {
        {{"--bitrate", "3", nullptr}, "'--bitrate'"},
        {{"--timeout", "soon", nullptr}, "--timeout"},
        {{"--list-devices", nullptr}, "--list-devices"},
        {{"--prepare", nullptr}, "--prepare"},
        {{"--invite", "/live", nullptr}, "--invite"},
        {{"--encoder", "list", nullptr}, "--encoder list"},
        {{"--help", nullptr}, "--help"},
        {{"test:", nullptr}, "`source`"},
        {{"--listen", "127.0.0.1:0", "--codec", "hevc", nullptr}, "--codec hevc"},
        {{"--listen", "127.0.0.1:0", "--push-level", "31", "--push", "rtsp://127.0.0.1:9/a",
          nullptr},
         "--push-level expects"},
    };
    for (const auto &row : rows)
        has(fault(pushed(row.options.data())), row.part);
}

TEST_CASE("sender: a port that is in use", "[threads]")
{
    handle first = open(pushed(any_port));
    std::string url = weir_sender_url(first.get());
    std::string at = url.substr(7, url.find('/', 7) - 7);
    const char *const same[] = {"--listen", at.c_str(), nullptr};
    has(fault(pushed(same)), "in use");
}

TEST_CASE("sender: takes pictures and audio of its configuration", "[threads]")
{
    const char *const options[] = {"--listen", "127.0.0.1:0", "--path", "/room", nullptr};
    weir_sender_config c = pushed(options);
    c.has_audio = 1;
    handle s = open(c);
    std::string url = weir_sender_url(s.get());
    CHECK(url.substr(0, 17) == "rtsp://127.0.0.1:");
    CHECK(url.substr(url.size() - 5) == "/room");
    std::vector<uint8_t> plane(320 * 180, 100);
    weir_picture p = {320, 180, {plane.data(), plane.data(), plane.data()}, {320, 160, 160}, 0, 0};
    CHECK(weir_sender_push_picture(s.get(), &p) == 0);
    p.width = 318;
    CHECK(weir_sender_push_picture(s.get(), &p) == -1);
    std::vector<int16_t> pcm(2 * 480);
    CHECK(weir_sender_push_audio(s.get(), pcm.data(), 480, 0) == 0);
    std::string stats = stats_of(s.get());
    has(stats, "\"sessions\":[]");
    has(stats, "pushed pictures");
}

TEST_CASE("sender: a source of its own takes no pushes", "[threads]")
{
    weir_sender_config c = pushed(any_port);
    c.source = "test:320x180@30";
    handle s = open(c);
    std::vector<uint8_t> plane(320 * 180, 100);
    weir_picture p = {320, 180, {plane.data(), plane.data(), plane.data()}, {320, 160, 160}, 0, 0};
    std::vector<int16_t> pcm(2 * 480);
    CHECK(weir_sender_push_picture(s.get(), &p) == -1);
    CHECK(weir_sender_push_audio(s.get(), pcm.data(), 480, 0) == -1);
}

TEST_CASE("sender: opened and closed again and again, and several at once", "[threads]")
{
    weir_sender_close(nullptr);
    for (int i = 0; i < 20; i++)
        open(pushed(any_port));
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([] {
            char error[512];
            weir_sender_config c = pushed(any_port);
            weir_sender *s = weir_sender_open(&c, error, sizeof(error));
            free(s ? weir_sender_stats(s) : nullptr);
            weir_sender_close(s);
        });
    for (std::thread &t : threads)
        t.join();
    handle a = open(pushed(any_port)), b = open(pushed(any_port));
    CHECK(std::string(weir_sender_url(a.get())) != weir_sender_url(b.get()));
}

TEST_CASE("sender: the capability for raw sockets stays the program's", "[threads]")
{
    bool has_it = raw_tcp_has_capability(); // as root has
    handle s = open(pushed(any_port));
    CHECK(raw_tcp_has_capability() == has_it);
}

TEST_CASE("sender: signals stay the program's", "[threads]")
{
    static volatile sig_atomic_t on_thread;
    static pthread_t own;
    own = pthread_self();
    struct sigaction act = {}, before = {};
    act.sa_handler = [](int) { on_thread = pthread_equal(pthread_self(), own) ? 1 : 2; };
    sigaction(SIGUSR1, &act, &before);
    struct sigaction pipe = {}, now = {};
    sigaction(SIGPIPE, nullptr, &pipe);
    handle s = open(pushed(any_port));
    sigaction(SIGPIPE, nullptr, &now);
    CHECK(now.sa_handler == pipe.sa_handler);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    CHECK_FALSE(sigismember(&mask, SIGPIPE)); // of this thread
    kill(getpid(), SIGUSR1);
    CHECK(on_thread == 1);
    sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("sender: NULL in place of an object or a configuration is answered, not followed")
{
    char error[128] = "";
    CHECK(weir_sender_open(nullptr, error, sizeof(error)) == nullptr);
    CHECK(std::string(error) == "expects a configuration");
    CHECK(weir_sender_open(nullptr, nullptr, 0) == nullptr);
    CHECK(weir_sender_open(nullptr, nullptr, 9) == nullptr); // there is no room for an error
    weir_sender_config c = {};
    CHECK(weir_sender_open(&c, nullptr, 9) == nullptr);
    CHECK(weir_sender_url(nullptr) == nullptr);
    CHECK(weir_sender_stats(nullptr) == nullptr);
    weir_picture p = {};
    int16_t samples[2] = {};
    CHECK(weir_sender_push_picture(nullptr, &p) == -1);
    CHECK(weir_sender_push_audio(nullptr, samples, 1, 0) == -1);
    weir_sender_close(nullptr);
}

TEST_CASE("sender: pictures and audio that cannot be read are refused", "[threads]")
{
    weir_sender_config c = pushed(any_port);
    c.has_audio = 1;
    handle s = open(c);
    std::vector<uint8_t> plane(320 * 180);
    const weir_picture good = {
        320, 180, {plane.data(), plane.data(), plane.data()}, {320, 160, 160}, 0, 0};
    const std::vector<void (*)(weir_picture &)> faults = {
        [](weir_picture &p) { p.plane[0] = nullptr; },
        [](weir_picture &p) { p.plane[1] = nullptr; },
        [](weir_picture &p) { p.plane[2] = nullptr; },
        [](weir_picture &p) { p.stride[0] = 0; },
        [](weir_picture &p) { p.stride[0] = 319; },
        [](weir_picture &p) { p.stride[1] = 159; },
        [](weir_picture &p) { p.stride[2] = 0; },
        [](weir_picture &p) { p.stride[0] = -320; },
        [](weir_picture &p) { p.width = 322; },
        [](weir_picture &p) { p.height = 0; },
        [](weir_picture &p) { p.captured = -1; },
        [](weir_picture &p) { p.captured = INT64_MIN; },
    };
    for (auto spoil : faults) {
        weir_picture p = good;
        spoil(p);
        CHECK(weir_sender_push_picture(s.get(), &p) == -1);
    }
    CHECK(weir_sender_push_picture(s.get(), nullptr) == -1);
    CHECK(weir_sender_push_picture(s.get(), &good) == 0);
    weir_picture late = good; // a time of another clock is now
    late.captured = INT64_MAX;
    CHECK(weir_sender_push_picture(s.get(), &late) == 0); // no viewer watches: none is dropped
    std::vector<int16_t> samples(2 * 480);
    CHECK(weir_sender_push_audio(s.get(), nullptr, 480, 0) == -1);
    CHECK(weir_sender_push_audio(s.get(), samples.data(), -1, 0) == -1);
    CHECK(weir_sender_push_audio(s.get(), samples.data(), 48001, 0) == -1);
    CHECK(weir_sender_push_audio(s.get(), samples.data(), 480, -1) == -1);
    CHECK(weir_sender_push_audio(s.get(), nullptr, 0, 0) == 0);
    CHECK(weir_sender_push_audio(s.get(), samples.data(), 480, INT64_MAX) == 0);
}
