// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>

#include "common/net/clock.h"
#include "common/net/udp_socket.h"
#include "common/transport/path_validation.h"
#include "common/wire/path_token.h"

static sockaddr_storage at(const char *text)
{
    sockaddr_storage a;
    REQUIRE(sockaddr_parse(text, &a) == 0);
    return a;
}

static std::string text_of(const sockaddr_storage &a)
{
    if (a.ss_family == AF_UNSPEC)
        return "";
    char text[64];
    sockaddr_text(reinterpret_cast<const sockaddr *>(&a), text, sizeof(text));
    return text;
}

static path_validation_result prove(path_validation *a, int which, const char *from, uint64_t token)
{
    sockaddr_storage source = at(from);
    uint8_t packet[PATH_TOKEN_BYTES];
    path_token_encode(1, token, packet);
    datagram d{};
    d.data = packet;
    d.len = sizeof(packet);
    d.from = &source;
    return path_validation_input(a, which, &d);
}

static path_validation_result respond(path_validation *a, int which, const char *from,
                                      uint64_t response)
{
    sockaddr_storage source = at(from);
    uint8_t packet[PATH_TOKEN_BYTES];
    path_response_encode(1, response, packet);
    datagram d{};
    d.data = packet;
    d.len = sizeof(packet);
    d.from = &source;
    return path_validation_input(a, which, &d);
}

static bool is_rtcp(const path_validation *a, const char *from)
{
    sockaddr_storage source = at(from);
    datagram d{};
    d.from = &source;
    return path_validation_is_rtcp(a, &d);
}

TEST_CASE("path_validation: a player without a token is sent to on the host of its connection")
{
    sockaddr_storage host = at("192.0.2.1:40000");
    path_validation a;
    const int both[2] = {5000, 6001}, one[2] = {5000, -1};
    path_validation_on_host(&a, &host, both);
    CHECK(text_of(a.peer[0]) == "192.0.2.1:5000");
    CHECK(text_of(a.peer[1]) == "192.0.2.1:6001");
    path_validation_on_host(&a, &host, one);
    CHECK(text_of(a.peer[1]) == "192.0.2.1:5001");
    CHECK(is_rtcp(&a, "192.0.2.1:5000"));
    CHECK(is_rtcp(&a, "192.0.2.1:5001"));
    CHECK_FALSE(is_rtcp(&a, "192.0.2.1:9")); // another behind its NAT, or another of its programs
    CHECK_FALSE(is_rtcp(&a, "192.0.2.2:5001"));
    CHECK(prove(&a, 0, "192.0.2.2:5000", 0) == PATH_NO_RESPONSE); // there is no token
    CHECK(a.wrong_tokens == 0);
}

TEST_CASE("path_validation: a response with the token validates its source address")
{
    path_validation a;
    const sockaddr_storage host = at("192.0.2.1:40000");
    REQUIRE(path_validation_by_token(&a, &host) == 0);
    CHECK(text_of(a.peer[0]) == "");
    CHECK_FALSE(is_rtcp(&a, "192.0.2.1:5001"));
    CHECK(prove(&a, 0, "192.0.2.1:5000", a.token ^ 1) == PATH_WRONG);
    CHECK(a.wrong_tokens == 1);
    CHECK(text_of(a.peer[0]) == "");

    CHECK(prove(&a, 0, "192.0.2.1:5000", a.token) == PATH_VALIDATED);
    CHECK(text_of(a.peer[0]) == "192.0.2.1:5000");
    CHECK(text_of(a.peer[1]) == ""); // each port for itself
    CHECK(prove(&a, 0, "192.0.2.1:5000", a.token) == PATH_CONFIRMED);
    CHECK(prove(&a, 1, "198.51.100.7:7", a.token) ==
          PATH_WRONG); // forged: not the connection's host
    CHECK(a.wrong_tokens == 2);
    CHECK(prove(&a, 1, "192.0.2.1:7", a.token) == PATH_VALIDATED);
    CHECK(is_rtcp(&a, "192.0.2.1:7"));
    CHECK_FALSE(is_rtcp(&a, "192.0.2.1:8"));
    CHECK_FALSE(is_rtcp(&a, "198.51.100.7:7"));

    CHECK(prove(&a, 0, "192.0.2.1:5002", a.token) == PATH_UNKNOWN); // it moved, or says so
    CHECK(prove(&a, 0, "192.0.2.1:1", ~a.token) == PATH_WRONG);
    CHECK(text_of(a.peer[0]) == "192.0.2.1:5000");
    CHECK(a.wrong_tokens == 3);
}

TEST_CASE("path_validation: another address is taken when it responds to its own challenge")
{
    path_validation a, b;
    const sockaddr_storage host = at("192.0.2.1:40000");
    const sockaddr_storage old = at("192.0.2.1:5000"), moved = at("198.51.100.7:7");
    const sockaddr_storage six = at("[2001:db8::1]:7");
    REQUIRE(path_validation_by_token(&a, &host) == 0);
    REQUIRE(path_validation_by_token(&b, &host) == 0);
    const uint64_t right = path_validation_challenge(&a, 0, &moved);
    CHECK(respond(&a, 0, "198.51.100.7:7", right) == PATH_WRONG); // no address is known yet
    REQUIRE(prove(&a, 0, "192.0.2.1:5000", a.token) == PATH_VALIDATED);
    REQUIRE(prove(&a, 1, "192.0.2.1:5001", a.token) == PATH_VALIDATED);
    CHECK(prove(&a, 0, "198.51.100.7:7", a.token) == PATH_UNKNOWN);
    CHECK(text_of(a.peer[0]) == "192.0.2.1:5000");

    const struct {
        const char *from;
        int which;
        uint64_t response;
        path_validation_result result;
    } table[] = {
        {"198.51.100.7:7", 0, right, PATH_ANSWERED},
        {"198.51.100.7:7", 0, right ^ 1, PATH_WRONG},
        {"198.51.100.7:7", 1, right, PATH_WRONG},   // of the other port
        {"198.51.100.7:8", 0, right, PATH_WRONG},   // forwarded to another port,
        {"198.51.100.8:7", 0, right, PATH_WRONG},   // and to another host
        {"198.51.100.7:7", 0, a.token, PATH_WRONG}, // the token is not the response
        {"198.51.100.7:7", 0, path_validation_challenge(&b, 0, &moved), PATH_WRONG}, // a session
        {"[2001:db8::1]:7", 0, path_validation_challenge(&a, 0, &six), PATH_ANSWERED},
        {"[2001:db8::2]:7", 0, path_validation_challenge(&a, 0, &six), PATH_WRONG},
        {"192.0.2.1:5000", 0, path_validation_challenge(&a, 0, &old), PATH_ANSWERED}, // the known
    };
    uint64_t wrong = a.wrong_tokens;
    for (const auto &row : table) {
        INFO(row.from << " " << row.which);
        CHECK(respond(&a, row.which, row.from, row.response) == row.result);
        wrong += row.result == PATH_WRONG;
    }
    CHECK(a.wrong_tokens == wrong);
    CHECK(text_of(a.peer[0]) == "192.0.2.1:5000"); // the caller decides

    const uint64_t back = path_validation_challenge(&a, 0, &old);
    const uint64_t other_port = path_validation_challenge(&a, 1, &moved);
    path_validation_change(&a, 0, &moved);
    CHECK(text_of(a.peer[0]) == "198.51.100.7:7");
    CHECK(text_of(a.peer[1]) == "192.0.2.1:5001");
    CHECK(prove(&a, 0, "198.51.100.7:7", a.token) == PATH_CONFIRMED);
    CHECK(prove(&a, 0, "192.0.2.1:5000", a.token) == PATH_UNKNOWN);
    CHECK(respond(&a, 0, "192.0.2.1:5000", back) == PATH_WRONG); // recorded before the change
    CHECK(respond(&a, 1, "198.51.100.7:7", other_port) == PATH_ANSWERED);
}

namespace
{

// A viewer's two ports that respond, and a server's that validate and send responses back.
struct both_ends {
    uv_loop_t loop;
    udp_socket *viewer[2] = {}, *server[2] = {};
    sockaddr_storage to[2];
    path_validation validation;
    path_responder *responder = nullptr;
    bool answers[2] = {true, true};
    int responses[2] = {}, results[2] = {}, validated = 0;

    void on_response(int which, const datagram *d)
    {
        responses[which]++;
        if (!answers[which])
            return;
        results[which] += path_validation_input(&validation, which, d) == PATH_VALIDATED;
        iovec back = {const_cast<uint8_t *>(d->data), d->len};
        const auto *from = reinterpret_cast<const sockaddr *>(d->from);
        REQUIRE(udp_socket_send(server[which], from, &back, 1) == 0);
    }

    both_ends()
    {
        uv_loop_init(&loop);
        sockaddr_storage local = at("127.0.0.1:0");
        auto *here = reinterpret_cast<sockaddr *>(&local);
        REQUIRE(path_validation_by_token(&validation, &local) == 0);
        REQUIRE(udp_socket_pair(
                    &loop, here,
                    [](void *b, const datagram *d, usec_t now) {
                        path_responder_input(static_cast<both_ends *>(b)->responder, 0, d->data,
                                             d->len, now);
                    },
                    [](void *b, const datagram *d, usec_t now) {
                        path_responder_input(static_cast<both_ends *>(b)->responder, 1, d->data,
                                             d->len, now);
                    },
                    this, viewer) == 0);
        REQUIRE(udp_socket_pair(
                    &loop, here,
                    [](void *b, const datagram *d, usec_t) {
                        static_cast<both_ends *>(b)->on_response(0, d);
                    },
                    [](void *b, const datagram *d, usec_t) {
                        static_cast<both_ends *>(b)->on_response(1, d);
                    },
                    this, server) == 0);
        path_responder_config config{};
        config.loop = &loop;
        for (int i = 0; i < 2; i++) {
            to[i] = local;
            sockaddr_set_port(reinterpret_cast<sockaddr *>(&to[i]), udp_socket_port(server[i]));
            config.socket[i] = viewer[i];
            config.to[i] = reinterpret_cast<sockaddr *>(&to[i]);
        }
        config.ssrc = 1;
        config.token = validation.token;
        config.on_validated = [](void *b, usec_t) { static_cast<both_ends *>(b)->validated++; };
        config.ctx = this;
        responder = path_responder_new(&config, clock_now());
        REQUIRE(responder);
    }
    ~both_ends()
    {
        path_responder_free(responder);
        for (int i = 0; i < 2; i++) {
            udp_socket_free(viewer[i]);
            udp_socket_free(server[i]);
        }
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
};

} // namespace

TEST_CASE("path_validation: both ends agree, and the viewer's addresses are where it responds from")
{
    both_ends b;
    while (!b.validated)
        uv_run(&b.loop, UV_RUN_ONCE);
    for (int i = 0; i < 2; i++) {
        CHECK(b.results[i] == 1);
        CHECK(text_of(b.validation.peer[i]) ==
              "127.0.0.1:" + std::to_string(udp_socket_port(b.viewer[i])));
    }
    CHECK(b.validated == 1);
    CHECK(b.validation.wrong_tokens == 0);
}

TEST_CASE(
    "path_validation: the viewer repeats its response on the port that has not heard the server")
{
    both_ends b;
    b.answers[1] = false;
    while (b.responses[1] < 3)
        uv_run(&b.loop, UV_RUN_ONCE);
    CHECK(b.validated == 0);
    CHECK(b.responses[0] < b.responses[1]);
    b.answers[1] = true;
    while (!b.validated)
        uv_run(&b.loop, UV_RUN_ONCE);
    CHECK(b.validated == 1);
}

TEST_CASE("path_validation: an address of any host is taken once it has answered its challenge")
{
    path_validation a, other;
    REQUIRE(path_validation_by_token(&a, nullptr) == 0);
    REQUIRE(path_validation_by_token(&other, nullptr) == 0);
    const char *viewer = "192.0.2.7:4000", *thief = "192.0.2.8:4000";
    sockaddr_storage from = at(viewer);
    CHECK(prove(&a, 0, viewer, other.token) == PATH_WRONG); // another session's
    CHECK(prove(&a, 0, viewer, a.token) == PATH_UNKNOWN);   // to be challenged
    CHECK(text_of(a.peer[0]).empty());                      // nothing is sent there before
    uint64_t challenge = path_validation_challenge(&a, 0, &from);
    CHECK(respond(&a, 0, thief, challenge) == PATH_WRONG);
    CHECK(respond(&a, 1, viewer, challenge) == PATH_WRONG);
    CHECK(respond(&a, 0, viewer, path_validation_challenge(&other, 0, &from)) == PATH_WRONG);
    CHECK(respond(&a, 0, viewer, challenge) == PATH_ANSWERED);
    path_validation_change(&a, 0, &from);
    CHECK(prove(&a, 0, viewer, a.token) == PATH_CONFIRMED);
    CHECK(respond(&a, 0, viewer, challenge) == PATH_WRONG); // it was of the change before
    CHECK(a.wrong_tokens == 5);
}
