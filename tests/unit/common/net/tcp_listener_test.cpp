// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/tcp_listener.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include "common/net/udp_socket.h"
#include "tests/unit/temp_folder.hpp"

namespace
{

sockaddr_storage parsed(const std::string &text)
{
    sockaddr_storage at;
    REQUIRE(sockaddr_parse(text.c_str(), &at) == 0);
    return at;
}

struct rig {
    uv_loop_t loop;
    std::vector<int> clients, accepted;
    std::vector<std::string> peers;
    tcp_listener *l;

    explicit rig(const std::string &text)
    {
        uv_loop_init(&loop);
        const sockaddr_storage at = parsed(text);
        tcp_listener_config config = {};
        config.loop = &loop;
        config.at = reinterpret_cast<const sockaddr *>(&at);
        config.option = "--listen";
        config.whom = "a guest";
        config.on_accepted = [](void *ctx, int fd, const sockaddr *peer, usec_t) {
            char name[SOCKADDR_TEXT];
            sockaddr_text(peer, name, sizeof(name));
            static_cast<rig *>(ctx)->accepted.push_back(fd);
            static_cast<rig *>(ctx)->peers.push_back(name);
        };
        config.ctx = this;
        l = tcp_listener_new(&config);
    }
    rig(const rig &) = delete;
    rig &operator=(const rig &) = delete;
    ~rig()
    {
        tcp_listener_free(l);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
        for (const auto *fds : {&clients, &accepted})
            for (int fd : *fds)
                close(fd);
    }
    std::string address() const
    {
        char text[SOCKADDR_TEXT];
        tcp_listener_address(l, text, sizeof(text));
        return text;
    }
    void connect()
    {
        const sockaddr_storage at = parsed(address());
        const auto *to = reinterpret_cast<const sockaddr *>(&at);
        clients.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        REQUIRE(::connect(clients.back(), to, sockaddr_len(to)) == 0);
    }
};

} // namespace

TEST_CASE("tcp_listener: port 0 selects a free port, the address contains it, peers are accepted")
{
    rig r("127.0.0.1:0");
    REQUIRE(r.l);
    CHECK(r.address().find("127.0.0.1:") == 0);
    CHECK(r.address() != "127.0.0.1:0");
    for (int i = 0; i < 20; i++)
        r.connect();
    while (r.accepted.size() < 20)
        uv_run(&r.loop, UV_RUN_ONCE);
    for (size_t i = 0; i < 20; i++) {
        CHECK(r.peers[i].find("127.0.0.1:") == 0);
        CHECK((fcntl(r.accepted[i], F_GETFL) & O_NONBLOCK) != 0);
    }
    tcp_listener_stop(r.l);
    r.connect();
    uv_run(&r.loop, UV_RUN_NOWAIT);
    CHECK(r.accepted.size() == 20);
}

TEST_CASE("tcp_listener: an unavailable address, and the option that chooses another")
{
    temp_folder t;
    rig first("127.0.0.1:0");
    const std::string taken = first.address();
    CHECK(rig(taken).l == nullptr);
    CHECK(temp_folder::logged() == "cannot listen on " + taken +
                                       ": Address already in use; choose another port with "
                                       "--listen ADDR:PORT\n");
    temp_folder::forget_logged();
    CHECK(rig("192.0.2.1:8554").l == nullptr); // RFC 5737: nobody's
    CHECK(temp_folder::logged() ==
          "cannot listen on 192.0.2.1:8554: Cannot assign requested address; it is not this "
          "machine's: choose another with --listen ADDR:PORT\n");
}

// That it tries again: tests/e2e/test_sender_limits.py.
TEST_CASE("tcp_listener: without a descriptor they wait, and the loop sleeps")
{
    temp_folder t;
    rig r("127.0.0.1:0");
    r.connect();
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit none = {0, before.rlim_max}; // no new ones
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    for (int i = 0; i < 5; i++)
        uv_run(&r.loop, UV_RUN_NOWAIT);
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(r.accepted.empty());
    CHECK(temp_folder::logged() ==
          "cannot accept a guest: Too many open files; raise the limit with ulimit -n\n");
}
