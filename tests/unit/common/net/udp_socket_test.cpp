// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "common/net/udp_socket.h"

TEST_CASE("sockaddr: addresses from text and back")
{
    for (const char *good :
         {"127.0.0.1:8554", "0.0.0.0:0", "[::1]:8554", "[::]:65535", "192.168.1.20:1"}) {
        sockaddr_storage a;
        REQUIRE(sockaddr_parse(good, &a) == 0);
        char text[64];
        sockaddr_text(reinterpret_cast<sockaddr *>(&a), text, sizeof(text));
        CHECK(std::string(text) == good);
    }
    for (const char *bad : {"",
                            ":",
                            "[fe80::1]:80",
                            "[fe80::1%]:80",
                            "[fe80::1%nosuch]:80",
                            "fe80::1%lo:80",
                            "127.0.0.1",
                            "127.0.0.1:",
                            "127.0.0.1:65536",
                            "127.0.0.1:-1",
                            "127.0.0.1:80x",
                            "::1:80",
                            "[::1]",
                            "[127.0.0.1]:80",
                            "localhost:80",
                            ":8554",
                            "[]:1",
                            "256.0.0.1:1",
                            "127.0.0.1:+80",
                            "127.0.0.1: 80",
                            "127.0.0.1:0x50",
                            "127.0.0.1:99999999999999999999"}) {
        sockaddr_storage a;
        INFO(bad);
        CHECK(sockaddr_parse(bad, &a) == ERR_MALFORMED);
    }
}

TEST_CASE("sockaddr: a link-local address has its interface, in URLs after %25")
{
    sockaddr_storage a, b;
    for (const char *text : {"[fe80::1%lo]:80", "[fe80::1%25lo]:80", "[fe80::1%1]:80"}) {
        INFO(text);
        REQUIRE(sockaddr_parse(text, &a) == 0);
        CHECK(reinterpret_cast<sockaddr_in6 *>(&a)->sin6_scope_id == 1);
        char out[SOCKADDR_TEXT];
        sockaddr_text(reinterpret_cast<sockaddr *>(&a), out, sizeof(out));
        CHECK(std::string(out) == "[fe80::1%lo]:80");
        sockaddr_url_text(reinterpret_cast<sockaddr *>(&a), out, sizeof(out));
        CHECK(std::string(out) == "[fe80::1%25lo]:80");
    }
    REQUIRE(sockaddr_parse("[fe80::1%2]:80", &b) == 0);
    CHECK_FALSE(
        sockaddr_same_host(reinterpret_cast<sockaddr *>(&a), reinterpret_cast<sockaddr *>(&b)));
    const char *why = nullptr;
    CHECK(sockaddr_read("[fe80::1]:80", &a, &why) == ERR_MALFORMED);
    CHECK(std::string(why).find("requires its network interface") != std::string::npos);
    CHECK(sockaddr_read("[fe80::1%nosuch]:80", &a, &why) == ERR_MALFORMED);
    CHECK(std::string(why).find("no such network interface") != std::string::npos);
    CHECK(sockaddr_read("localhost:80", &a, &why) == ERR_MALFORMED);
    CHECK(why == nullptr); // the form is wrong
}

namespace
{

struct inbox {
    uv_loop_t loop;
    std::string text;
    int count = 0;
};

void on_datagram(void *ctx, const datagram *d, usec_t now)
{
    inbox *box = static_cast<inbox *>(ctx);
    box->text.append(reinterpret_cast<const char *>(d->data), d->len);
    CHECK(d->arrived <= now);
    if (++box->count == 3)
        uv_stop(&box->loop);
}

} // namespace

TEST_CASE("udp_socket: an even port and the next one, and datagrams of two parts")
{
    inbox box;
    uv_loop_init(&box.loop);
    sockaddr_storage local;
    sockaddr_parse("127.0.0.1:0", &local);
    udp_socket *pair[2];
    REQUIRE(udp_socket_pair(&box.loop, reinterpret_cast<sockaddr *>(&local), on_datagram,
                            on_datagram, &box, pair) == 0);
    CHECK(udp_socket_port(pair[0]) % 2 == 0);
    CHECK(udp_socket_port(pair[1]) == udp_socket_port(pair[0]) + 1);
    sockaddr_set_port(reinterpret_cast<sockaddr *>(&local), udp_socket_port(pair[1]));
    char a[] = "ab", b[] = "c";
    iovec parts[2] = {{a, 2}, {b, 1}};
    for (int i = 0; i < 3; i++)
        CHECK(udp_socket_send(pair[0], reinterpret_cast<sockaddr *>(&local), parts, 2) == 0);
    uv_run(&box.loop, UV_RUN_DEFAULT);
    CHECK(box.text == "abcabcabc");
    udp_socket_free(pair[0]);
    udp_socket_free(pair[1]);
    uv_run(&box.loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&box.loop) == 0);
}

TEST_CASE("udp_socket: while reading is stopped 64 KB are kept, and more is lost")
{
    inbox box;
    uv_loop_init(&box.loop);
    sockaddr_storage local;
    REQUIRE(sockaddr_parse("127.0.0.1:0", &local) == 0);
    const sockaddr *at = reinterpret_cast<sockaddr *>(&local);
    udp_socket *u = udp_socket_new(&box.loop, at, on_datagram, &box);
    REQUIRE(u);
    sockaddr_set_port(reinterpret_cast<sockaddr *>(&local), udp_socket_port(u));
    auto send = [&](char letter, int count) {
        std::vector<char> data(1000, letter);
        iovec part = {data.data(), data.size()};
        for (int i = 0; i < count; i++)
            CHECK(udp_socket_send(u, at, &part, 1) == 0);
    };
    auto run = [&] { // until nothing is left
        for (int i = 0; i < 20; i++)
            uv_run(&box.loop, UV_RUN_NOWAIT);
    };
    udp_socket_hold(u, true);
    send('a', 200);
    run();
    CHECK(box.text.empty());
    udp_socket_hold(u, false);
    run();
    CHECK(box.text.size() >= 1000 * 8);
    CHECK(box.text.size() <= 1000 * 64);
    box.text.clear();
    send('b', 200); // the usual buffer holds them
    run();
    CHECK(box.text == std::string(200 * 1000, 'b'));
    udp_socket_free(u);
    run();
    CHECK(uv_loop_close(&box.loop) == 0);
}

namespace
{

struct arrivals {
    uv_loop_t loop;
    std::vector<size_t> sizes;
    std::vector<int> marks;
    size_t wanted = 0;
};

void on_arrival(void *ctx, const datagram *d, usec_t)
{
    arrivals *a = static_cast<arrivals *>(ctx);
    a->sizes.push_back(d->len);
    a->marks.push_back(d->ecn);
    for (size_t i = 0; i < d->len; i++) // each has its own bytes, whoever cut them apart
        CHECK(d->data[i] == static_cast<uint8_t>(a->sizes.size()));
    if (a->sizes.size() == a->wanted)
        uv_stop(&a->loop);
}

// Sends datagrams of these sizes, of `each` parts, as a batch with this ECN mark, and checks that
// they arrive unchanged.
void pass_batch(const char *address, const std::vector<size_t> &sizes, uint8_t ecn, int each)
{
    arrivals a;
    a.wanted = sizes.size();
    uv_loop_init(&a.loop);
    sockaddr_storage local;
    REQUIRE(sockaddr_parse(address, &local) == 0);
    udp_socket *from =
        udp_socket_new(&a.loop, reinterpret_cast<sockaddr *>(&local), on_arrival, &a);
    udp_socket *to = udp_socket_new(&a.loop, reinterpret_cast<sockaddr *>(&local), on_arrival, &a);
    REQUIRE((from && to));
    udp_socket_set_ecn(from, ecn);
    sockaddr_set_port(reinterpret_cast<sockaddr *>(&local), udp_socket_port(to));
    std::vector<std::vector<uint8_t>> bytes;
    std::vector<iovec> parts;
    for (size_t size : sizes)
        bytes.emplace_back(size, static_cast<uint8_t>(bytes.size() + 1));
    for (auto &b : bytes) {
        size_t head = each == 2 ? b.size() / 3 : 0;
        if (each == 2)
            parts.push_back({b.data(), head});
        parts.push_back({b.data() + head, b.size() - head});
    }
    CHECK(udp_socket_send_batch(from, reinterpret_cast<sockaddr *>(&local), parts.data(), each,
                                static_cast<int>(sizes.size())) == static_cast<int>(sizes.size()));
    uv_run(&a.loop, UV_RUN_DEFAULT);
    CHECK(a.sizes == sizes);
    CHECK(a.marks == std::vector<int>(sizes.size(), ecn));
    udp_socket_free(from);
    udp_socket_free(to);
    uv_run(&a.loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&a.loop) == 0);
}

} // namespace

TEST_CASE("udp_socket: batches keep datagrams, order and mark")
{
    const std::vector<std::vector<size_t>> table = {
        {100},
        {1200, 1200, 1200},
        {1200, 1200, 300},                 // a frame's last packet is shorter
        {300, 1200, 1200, 17, 1200, 1, 1}, // several runs
        std::vector<size_t>(UDP_SOCKET_BATCH, 1200),
        std::vector<size_t>(UDP_SOCKET_BATCH, 1),
    };
    for (const auto &sizes : table)
        for (int each : {1, 2})
            pass_batch("127.0.0.1:0", sizes, 2, each);
    for (uint8_t ecn = 0; ecn < 4; ecn++)
        pass_batch("127.0.0.1:0", {10, 10, 5}, ecn, 1);
}

namespace
{

// The callbacks in order: "d" a datagram, "i" idle.
struct batch {
    uv_loop_t loop;
    udp_socket *socket = nullptr;
    std::string told;
};

void on_batched(void *ctx, const datagram *, usec_t)
{
    batch *b = static_cast<batch *>(ctx);
    CHECK(udp_socket_is_receiving(b->socket));
    b->told += 'd';
}

void on_batch_end(void *ctx, usec_t)
{
    batch *b = static_cast<batch *>(ctx);
    CHECK_FALSE(udp_socket_is_receiving(b->socket));
    b->told += 'i';
    uv_stop(&b->loop);
}

} // namespace

TEST_CASE("udp_socket: idle is called after all datagrams of a receive call")
{
    batch b;
    uv_loop_init(&b.loop);
    sockaddr_storage at;
    REQUIRE(sockaddr_parse("127.0.0.1:0", &at) == 0);
    b.socket = udp_socket_new(&b.loop, reinterpret_cast<sockaddr *>(&at), on_batched, &b);
    REQUIRE(b.socket);
    sockaddr_set_port(reinterpret_cast<sockaddr *>(&at), udp_socket_port(b.socket));
    udp_socket_set_idle(b.socket, on_batch_end, &b);
    CHECK_FALSE(udp_socket_is_receiving(b.socket));
    char byte = 0;
    iovec part = {&byte, 1};
    for (int i = 0; i < 3; i++) // to itself
        CHECK(udp_socket_send(b.socket, reinterpret_cast<sockaddr *>(&at), &part, 1) == 0);
    uv_run(&b.loop, UV_RUN_DEFAULT);
    CHECK(b.told == "dddi");
    udp_socket_set_idle(b.socket, nullptr, nullptr);
    CHECK(udp_socket_send(b.socket, reinterpret_cast<sockaddr *>(&at), &part, 1) == 0);
    uv_run(&b.loop, UV_RUN_ONCE);
    CHECK(b.told == "dddid");
    udp_socket_free(b.socket);
    uv_run(&b.loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&b.loop) == 0);
}

TEST_CASE("udp_socket: batches and marks over IPv6")
{
    pass_batch("[::1]:0", {1200, 1200, 300, 5}, 2, 2);
    pass_batch("[::1]:0", {9}, 3, 1);
}

TEST_CASE("udp_socket: loopback addresses")
{
    struct sockaddr_storage a;
    for (const char *text : {"127.0.0.1:1", "127.9.8.7:0", "[::1]:5", "[::ffff:127.0.0.1]:5"}) {
        REQUIRE(sockaddr_parse(text, &a) == 0);
        CHECK(sockaddr_is_loopback(reinterpret_cast<struct sockaddr *>(&a)));
    }
    for (const char *text :
         {"128.0.0.1:1", "0.0.0.0:1", "[::]:1", "[::2]:5", "[::ffff:10.0.0.1]:5"}) {
        REQUIRE(sockaddr_parse(text, &a) == 0);
        CHECK_FALSE(sockaddr_is_loopback(reinterpret_cast<struct sockaddr *>(&a)));
    }
}
