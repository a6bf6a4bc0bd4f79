// SPDX-License-Identifier: GPL-2.0-or-later
// What a viewer does before media comes; tests/e2e/test_library.py has the rest.
#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <future>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "lib/weir.h"

namespace
{

// A socket on a free port of the loopback.
class port
{
  public:
    explicit port(bool listens)
    {
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        REQUIRE(fd >= 0);
        sockaddr_in at = {};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t len = sizeof(at);
        REQUIRE(bind(fd, reinterpret_cast<sockaddr *>(&at), len) == 0);
        REQUIRE(getsockname(fd, reinterpret_cast<sockaddr *>(&at), &len) == 0);
        url = "rtsp://127.0.0.1:" + std::to_string(ntohs(at.sin_port)) + "/live";
        if (listens)
            REQUIRE(listen(fd, 16) == 0);
    }
    ~port()
    {
        close(fd);
    }

    std::string url;

  private:
    int fd;
};

struct ended {
    std::promise<std::pair<weir_end, std::string>> promise; // a second call would throw
    std::future<std::pair<weir_end, std::string>> future = promise.get_future();
};

void on_end(void *ctx, weir_end end, const char *why)
{
    static_cast<ended *>(ctx)->promise.set_value({end, why});
}

weir_viewer_config config_of(const std::string &url, ended *e)
{
    weir_viewer_config c = {};
    c.size = sizeof(c);
    c.url = url.c_str();
    c.on_end = e ? on_end : nullptr;
    c.ctx = e;
    return c;
}

std::string fault(const weir_viewer_config &c)
{
    char error[300] = "";
    weir_viewer *v = weir_viewer_open(&c, error, sizeof(error));
    CHECK(v == nullptr);
    free(weir_viewer_close(v)); // NULL is fine
    return error;
}

} // namespace

TEST_CASE("viewer: a faulty configuration starts nothing, and says why", "[threads]")
{
    port silent(true);
    std::string other = "ftp://127.0.0.1/";
    weir_viewer_config c = config_of(other, nullptr);
    CHECK(fault(c).find("expects rtsp://") != std::string::npos);
    c = config_of(silent.url, nullptr);
    c.url = nullptr;
    CHECK(fault(c).find("a URL is required") == 0);
    c = config_of(silent.url, nullptr);
    c.size = 0;
    CHECK(fault(c).find("the configuration's size") == 0);
    std::vector<char> later(sizeof(c) + 8);
    c.size = later.size();
    memcpy(later.data(), &c, sizeof(c));
    later.back() = 1;
    CHECK(fault(*reinterpret_cast<weir_viewer_config *>(later.data())).find("the config") == 0);
    const char *const help[] = {"--help", nullptr};
    c = config_of(silent.url, nullptr);
    c.options = help;
    CHECK(fault(c).find("--help") == 0);
    char nothing = '!';
    CHECK(weir_viewer_open(&c, &nothing, 0) == nullptr);
    CHECK(nothing == '!');
}

TEST_CASE("viewer: a server that cannot be reached", "[threads]")
{
    port closed(false);
    ended e;
    weir_viewer_config c = config_of(closed.url, &e);
    char error[300] = "";
    weir_viewer *v = weir_viewer_open(&c, error, sizeof(error));
    REQUIRE(v);
    auto [end, why] = e.future.get();
    CHECK(end == WEIR_END_REFUSED);
    CHECK(why != "");
    weir_viewer_pause(v); // after the end nothing happens
    weir_viewer_seek(v, 3);
    char *report = weir_viewer_close(v);
    REQUIRE(report);
    CHECK(std::string(report).find("\"weir.qoe/1\"") != std::string::npos);
    free(report);
}

TEST_CASE("viewer: closed while it connects, two at once, again and again", "[threads]")
{
    port silent(true);
    for (int i = 0; i < 20; i++) {
        ended e, f;
        weir_viewer_config c = config_of(silent.url, &e), d = config_of(silent.url, &f);
        char error[300] = "";
        weir_viewer *v = weir_viewer_open(&c, error, sizeof(error));
        weir_viewer *w = weir_viewer_open(&d, error, sizeof(error));
        REQUIRE(v);
        REQUIRE(w);
        weir_viewer_set_level(v, -1);
        weir_viewer_resume(w);
        char *report = weir_viewer_close(v);
        CHECK(report);
        free(report);
        free(weir_viewer_close(w));
        CHECK(e.future.get() == std::make_pair(WEIR_END_CLOSED, std::string()));
        CHECK(f.future.get() == std::make_pair(WEIR_END_CLOSED, std::string()));
    }
}

TEST_CASE("viewer: signals are the program's", "[threads]")
{
    port silent(true);
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, nullptr, &before);
    struct sigaction handled[3], now;
    const int numbers[] = {SIGINT, SIGTERM, SIGPIPE};
    for (int i = 0; i < 3; i++)
        sigaction(numbers[i], nullptr, &handled[i]);
    weir_viewer_config c = config_of(silent.url, nullptr);
    char error[300] = "";
    weir_viewer *v = weir_viewer_open(&c, error, sizeof(error));
    REQUIRE(v);
    pthread_sigmask(SIG_SETMASK, nullptr, &after);
    for (int i = 1; i < SIGRTMIN; i++)
        CHECK(sigismember(&before, i) == sigismember(&after, i));
    for (int i = 0; i < 3; i++) {
        sigaction(numbers[i], nullptr, &now);
        CHECK(now.sa_handler == handled[i].sa_handler);
    }
    free(weir_viewer_close(v));
}

TEST_CASE("viewer: NULL in place of an object or a configuration is answered, not followed")
{
    char error[128] = "";
    CHECK(weir_viewer_open(nullptr, error, sizeof(error)) == nullptr);
    CHECK(std::string(error).find("expects a configuration") == 0);
    CHECK(weir_viewer_open(nullptr, nullptr, 0) == nullptr);
    CHECK(weir_viewer_open(nullptr, nullptr, 9) == nullptr); // there is no room for an error
    weir_viewer_config c = {};
    c.size = sizeof(c);
    CHECK(weir_viewer_open(&c, error, sizeof(error)) == nullptr); // no URL
    CHECK(*error);
    CHECK(weir_viewer_open(&c, nullptr, 9) == nullptr);
    weir_viewer_pause(nullptr);
    weir_viewer_resume(nullptr);
    weir_viewer_seek(nullptr, 1);
    weir_viewer_set_level(nullptr, 1);
    weir_viewer_set_level(nullptr, -1);
    CHECK(weir_viewer_close(nullptr) == nullptr);
    weir_log_to(nullptr, nullptr, WEIR_LOG_DEBUG);
}
