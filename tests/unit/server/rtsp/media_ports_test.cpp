// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/media_ports.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "common/net/udp_socket.h"
#include "common/srtp/srtp_guard.h"
#include "common/wire/capacity_pair.h"
#include "common/wire/path_token.h"

namespace
{

// A server's ports, and two sockets of a viewer that keep received datagrams.
struct world {
    uv_loop_t loop;
    sockaddr_storage host;
    udp_socket *viewer[2] = {};
    std::vector<std::string> came[2]; // to the viewer
    media_ports *ports = nullptr;
    srtp_guard *srtp = nullptr; // borrowed
    int validated[2] = {};
    bool may_change = true, is_doubted = false;
    std::vector<std::string> answered;    // "port of before > port"
    std::vector<std::string> media, rtcp; // handed on by the ports

    world()
    {
        uv_loop_init(&loop);
        sockaddr_parse("127.0.0.1:0", &host);
        REQUIRE(udp_socket_pair(
                    &loop, reinterpret_cast<sockaddr *>(&host),
                    [](void *w, const datagram *d, usec_t) { static_cast<world *>(w)->keep(0, d); },
                    [](void *w, const datagram *d, usec_t) { static_cast<world *>(w)->keep(1, d); },
                    this, viewer) == 0);
    }
    ~world()
    {
        media_ports_free(ports);
        for (udp_socket *s : viewer)
            udp_socket_free(s);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }

    void keep(int which, const datagram *d)
    {
        came[which].emplace_back(reinterpret_cast<const char *>(d->data), d->len);
    }
    static std::string text_of(const uint8_t *data, size_t len)
    {
        return {reinterpret_cast<const char *>(data), len};
    }

    void open(const int *client_port)
    {
        static const media_ports_ops ops = {
            [](void *w, int which, const sockaddr *, usec_t) {
                static_cast<world *>(w)->validated[which]++;
            },
            [](void *w, int, usec_t) { return static_cast<world *>(w)->may_change; },
            [](void *w, usec_t) { return static_cast<world *>(w)->is_doubted; },
            [](void *w, const sockaddr *before, const sockaddr *address, usec_t) {
                static_cast<world *>(w)->answered.push_back(std::to_string(sockaddr_port(before)) +
                                                            " > " +
                                                            std::to_string(sockaddr_port(address)));
            },
            [](void *w, const uint8_t *data, size_t len, usec_t) {
                static_cast<world *>(w)->media.push_back(text_of(data, len));
            },
            [](void *w, const uint8_t *data, size_t len, usec_t) {
                static_cast<world *>(w)->rtcp.push_back(text_of(data, len));
            }};
        media_ports_config config = {&loop, &host, &host, client_port, &ops, this, srtp};
        ports = media_ports_new(&config);
        REQUIRE(ports);
    }

    // Sends from the viewer's port `from` to the server's port `which`.
    void send(int from, int which, const std::string &text)
    {
        sockaddr_storage to = host;
        sockaddr_set_port(reinterpret_cast<sockaddr *>(&to), media_ports_number(ports, which));
        iovec part = {const_cast<char *>(text.data()), text.size()};
        REQUIRE(udp_socket_send(viewer[from], reinterpret_cast<sockaddr *>(&to), &part, 1) == 0);
    }
    std::string token() const
    {
        uint8_t packet[PATH_TOKEN_BYTES];
        path_token_encode(1, media_ports_validation(ports)->token, packet);
        return text_of(packet, sizeof(packet));
    }
    template <typename F> void until(F done)
    {
        while (!done())
            uv_run(&loop, UV_RUN_ONCE);
    }
};

bool is_pair(const std::string &text, uint32_t number)
{
    capacity_packet p;
    return capacity_pair_decode(reinterpret_cast<const uint8_t *>(text.data()), text.size(), &p) &&
           p.pair == number && p.ssrc == 7;
}

} // namespace

TEST_CASE("media_ports: a response validates its port, is sent back, and lets the waiting pair out")
{
    world w;
    w.open(nullptr);
    track_path path{};
    media_ports_fill(w.ports, &path);
    CHECK(path.peer[0]->sa_family == AF_UNSPEC);
    const media_pair old = {7, 1, 200}, pair = {7, 2, 200};
    media_ports_send_pair(w.ports, &old);
    media_ports_send_pair(w.ports, &pair); // in the place of the first
    w.send(0, 0, w.token());
    w.until([&] { return w.came[0].size() == 3; });
    CHECK(w.validated[0] == 1);
    CHECK(w.validated[1] == 0);
    CHECK(w.came[0][0] == w.token());
    CHECK(is_pair(w.came[0][1], 2));
    CHECK(is_pair(w.came[0][2], 2));
    CHECK(w.came[0][1].size() == 200);
    CHECK(sockaddr_port(path.peer[0]) == udp_socket_port(w.viewer[0]));
    CHECK(path.peer[1]->sa_family == AF_UNSPEC);

    const media_pair next = {7, 3, 200};
    media_ports_send_pair(w.ports, &next); // at once
    w.until([&] { return w.came[0].size() == 5; });
    CHECK(is_pair(w.came[0][4], 3));

    w.send(0, 0, w.token()); // again: sent back, but nothing new
    w.until([&] { return w.came[0].size() == 6; });
    CHECK(w.validated[0] == 1);
}

TEST_CASE("media_ports: RTCP is handed on from the validated address alone, media from anywhere")
{
    world w;
    w.open(nullptr);
    w.send(1, 1, "too early");
    w.send(1, 1, w.token());
    w.until([&] { return w.validated[1] == 1; });
    w.send(0, 1, "from another port");
    w.send(0, 0, "media");
    w.send(1, 1, "report");
    w.until([&] { return w.rtcp.size() == 1 && w.media.size() == 1; });
    CHECK(w.rtcp[0] == "report");
    CHECK(w.media[0] == "media");
}

TEST_CASE("media_ports: another address of the viewer is challenged before it is taken")
{
    world w;
    w.open(nullptr);
    const std::string first = std::to_string(udp_socket_port(w.viewer[0]));
    const std::string other = std::to_string(udp_socket_port(w.viewer[1]));
    track_path path{};
    media_ports_fill(w.ports, &path);
    auto port = [&] { return std::to_string(sockaddr_port(path.peer[0])); };
    auto response = [](const std::string &challenge) {
        uint64_t value;
        uint8_t packet[PATH_TOKEN_BYTES];
        REQUIRE(path_challenge_decode(reinterpret_cast<const uint8_t *>(challenge.data()),
                                      challenge.size(), &value));
        path_response_encode(1, value, packet);
        return world::text_of(packet, sizeof(packet));
    };
    w.send(0, 0, w.token());
    w.until([&] { return w.came[0].size() == 1; });

    w.send(1, 0, w.token());
    w.until([&] { return w.came[1].size() == 1; });
    const std::string right = response(w.came[1][0]);
    w.may_change = false; // reports come from the address before
    w.send(1, 0, right);
    w.send(0, 0, right); // from where it was not asked for
    w.send(0, 0, w.token());
    w.until([&] { return w.came[0].size() == 2; });
    CHECK(port() == first);
    CHECK(w.answered.empty());
    CHECK(media_ports_validation(w.ports)->wrong_tokens == 1);

    w.may_change = true;
    w.send(1, 0, right);
    w.until([&] { return w.came[1].size() == 2; });
    CHECK(w.came[1][1] == w.token()); // the viewer learns of it
    CHECK(port() == other);
    CHECK(w.answered == std::vector<std::string>{first + " > " + other});
    CHECK(w.validated[0] == 1);

    w.is_doubted = true; // the known address gets an echo and a challenge
    w.send(1, 0, w.token());
    w.until([&] { return w.came[1].size() == 4; });
    CHECK(w.came[1][2] == w.token());
    w.send(1, 0, response(w.came[1][3]));
    w.until([&] { return w.answered.size() == 2; });
    CHECK(w.answered[1] == other + " > " + other);
    CHECK(w.media.empty());
}

TEST_CASE("media_ports: a viewer without a token is valid where it says")
{
    world w;
    const int port[2] = {udp_socket_port(w.viewer[0]), -1};
    w.open(port);
    CHECK_FALSE(media_ports_validation(w.ports)->by_token);
    const media_pair pair = {7, 1, 100};
    media_ports_send_pair(w.ports, &pair);
    w.send(0, 1, "report from RTP's port");
    w.send(1, 1, "report");
    w.until([&] { return w.came[0].size() == 2 && w.rtcp.size() == 2; });
    CHECK(w.validated[0] == 0); // it was all along
}

TEST_CASE("media_ports: as SRTP, plain and forged RTCP is dropped, tokens and pairs are encrypted")
{
    const uint8_t a[SRTP_KEY_BYTES] = {1}, b[SRTP_KEY_BYTES] = {2};
    srtp_guard *near = srtp_guard_new(a, b), *far = srtp_guard_new(b, a);
    {
        world w;
        w.srtp = near;
        w.open(nullptr);
        auto sealed = [&](std::string text) {
            size_t len = text.size();
            text.resize(len + SRTCP_TAIL_BYTES);
            REQUIRE(srtp_guard_seal_rtcp(far, reinterpret_cast<uint8_t *>(&text[0]), &len,
                                         text.size()) == 0);
            return text;
        };
        auto opened = [&](const std::string &text) {
            size_t len = text.size();
            const uint8_t *plain =
                srtp_guard_open_rtcp(far, reinterpret_cast<const uint8_t *>(text.data()), &len);
            return plain ? world::text_of(plain, len) : "";
        };
        const media_pair pair = {7, 1, 200};
        media_ports_send_pair(w.ports, &pair);
        w.send(0, 0, w.token()); // plain: a token that was read on the RTSP connection's path
        w.send(1, 1, w.token());
        w.send(0, 0, sealed(w.token()));
        w.send(1, 1, sealed(w.token()));
        w.until([&] { return w.validated[1] == 1 && w.came[0].size() == 3; });
        CHECK(w.validated[0] == 1);
        CHECK(srtp_guard_dropped(near).forged == 2);
        CHECK(w.came[0][0].size() == size_t{PATH_TOKEN_BYTES} + SRTCP_TAIL_BYTES);
        CHECK(opened(w.came[0][0]) == w.token());
        CHECK(is_pair(opened(w.came[0][1]), 1));
        CHECK(w.came[0][1].size() == 200 + SRTP_TAG_BYTES);

        const std::string report("\x80\xc9\0\1\0\0\0\1", 8), again = sealed(report + report);
        w.send(1, 1, report);
        w.send(1, 1, again);
        w.send(1, 1, again);
        w.send(1, 1, sealed(report));
        w.send(0, 0, "Q: an acknowledgement of MTP"); // has a token of its own
        w.until([&] { return w.rtcp.size() == 2 && w.media.size() == 1; });
        CHECK(w.rtcp[0] == report + report);
        CHECK(w.rtcp[1] == report);
        CHECK(w.media[0][0] == 'Q');
        CHECK(srtp_guard_dropped(near).replayed == 1);
    }
    srtp_guard_free(near);
    srtp_guard_free(far);
}
