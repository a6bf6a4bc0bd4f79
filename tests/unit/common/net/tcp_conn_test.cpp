// SPDX-License-Identifier: GPL-2.0-or-later
// tcp_conn with a filter of the test: each message is one length byte and its text, changed by
// the filter's key (exclusive or). With a handshake, one byte '!' of each end comes first.
#include <catch2/catch.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "common/base/err.h"
#include "common/net/tcp_conn.h"
#include "common/net/tcp_filter.h"
#include "tests/support/tcp_pair.hpp"

namespace
{

struct letter_filter {
    tcp_filter base;
    uint8_t key;
    bool waits; // for the peer's '!'
    std::string rest;
    int *freed;

    static letter_filter *of(tcp_filter *f)
    {
        return reinterpret_cast<letter_filter *>(f);
    }
    static std::string message(uint8_t key, std::string text)
    {
        for (char &c : text)
            c = static_cast<char>(c ^ key);
        return static_cast<char>(text.size()) + text;
    }
    static int start(tcp_filter *f, bytes_out *wire)
    {
        return of(f)->waits ? bytes_out_add(wire, "!", 1) : 0;
    }
    static int decode(tcp_filter *f, const uint8_t *data, size_t len, bytes_out *plain,
                      bytes_out *wire)
    {
        letter_filter *l = of(f);
        l->rest.append(reinterpret_cast<const char *>(data), len);
        if (l->waits && !l->rest.empty()) {
            l->rest.erase(0, 1);
            l->waits = false;
        }
        while (!l->rest.empty() && l->rest.size() > static_cast<size_t>(l->rest[0])) {
            const auto size = static_cast<size_t>(l->rest[0]);
            std::string text = message(l->key, l->rest.substr(1, size)).substr(1);
            l->rest.erase(0, size + 1);
            bytes_out_add(plain, text.data(), text.size());
            if (text == "ping") {
                const std::string pong = message(l->key, "pong");
                bytes_out_add(wire, pong.data(), pong.size());
            }
            if (text == "bad")
                return ERR_MALFORMED;
        }
        return 0;
    }
    static int encode(tcp_filter *f, const iovec *parts, int count, bytes_out *wire)
    {
        std::string text;
        for (int i = 0; i < count; i++)
            text.append(static_cast<const char *>(parts[i].iov_base), parts[i].iov_len);
        const std::string all = message(of(f)->key, text);
        return bytes_out_add(wire, all.data(), all.size());
    }
    static void finish(tcp_filter *f, bytes_out *wire)
    {
        const std::string all = message(of(f)->key, "end");
        bytes_out_add(wire, all.data(), all.size());
    }
    static size_t overhead(const tcp_filter *, size_t)
    {
        return 1;
    }
    static bool ready(const tcp_filter *f)
    {
        return !reinterpret_cast<const letter_filter *>(f)->waits;
    }
    static void destroy(tcp_filter *f)
    {
        ++*of(f)->freed;
        delete of(f);
    }
};

const tcp_filter_ops letter_ops = {
    letter_filter::start,    letter_filter::decode, letter_filter::encode,  letter_filter::finish,
    letter_filter::overhead, letter_filter::ready,  letter_filter::destroy, true};

std::string letter(uint8_t key, const std::string &text)
{
    return letter_filter::message(key, text);
}

// One end is the connection, the other a plain socket.
struct rig {
    uv_loop_t loop;
    int other = -1;
    tcp_conn *conn = nullptr;
    std::vector<std::string> inputs;
    size_t takes = 4096; // max bytes that on_input consumes
    bool holds = false;
    bool detects = false; // pushes a filter when it sees '*'
    int rooms = 0;
    int closed = 0; // the error
    int freed = 0;

    static int on_input(void *ctx, const uint8_t *data, size_t len, usec_t)
    {
        rig *r = static_cast<rig *>(ctx);
        if (r->detects && data[0] == '*') {
            r->detects = false;
            r->push(7, false);
            return 1;
        }
        const size_t taken = len < r->takes ? len : r->takes;
        r->inputs.emplace_back(data, data + taken);
        if (r->holds)
            tcp_conn_hold(r->conn);
        return static_cast<int>(taken);
    }

    explicit rig(size_t in_cap = 1024)
    {
        static const tcp_conn_ops ops = {
            nullptr, on_input, [](void *ctx, usec_t) { static_cast<rig *>(ctx)->rooms++; },
            [](void *ctx, int err, usec_t) { static_cast<rig *>(ctx)->closed = err; }};
        uv_loop_init(&loop);
        int pair[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
        other = pair[1];
        conn = tcp_conn_new(&loop, pair[0], in_cap, &ops, this);
        REQUIRE(conn);
    }
    rig(const rig &) = delete;
    rig &operator=(const rig &) = delete;
    ~rig()
    {
        tcp_conn_free(conn);
        close(other);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }

    void push(uint8_t key, bool waits)
    {
        auto *f = new letter_filter{{&letter_ops}, key, waits, "", &freed};
        REQUIRE(tcp_conn_push_filter(conn, &f->base) == 0);
    }
    void receive(const std::string &bytes)
    {
        REQUIRE(write(other, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
        for (int i = 0; i < 3; i++)
            uv_run(&loop, UV_RUN_NOWAIT);
    }
    std::string sent()
    {
        char all[4096];
        ssize_t n = recv(other, all, sizeof(all), MSG_DONTWAIT);
        return std::string(all, n > 0 ? static_cast<size_t>(n) : 0);
    }
    std::string input() const
    {
        std::string all;
        for (const std::string &i : inputs)
            all += i;
        return all;
    }
};

} // namespace

TEST_CASE("tcp_conn: a cork is the kernel's, and what waited behind it leaves with it")
{
    test::tcp_pair pair;
    const auto corked = [&] {
        int value = -1;
        socklen_t len = sizeof(value);
        REQUIRE(getsockopt(tcp_conn_fd(pair.conn), IPPROTO_TCP, TCP_CORK, &value, &len) == 0);
        return value;
    };
    CHECK(corked() == 0);
    tcp_conn_cork(pair.conn, true);
    CHECK(corked() == 1);
    tcp_conn_cork(pair.conn, true); // another caller's
    tcp_conn_cork(pair.conn, false);
    CHECK(corked() == 1);
    char a[] = "ab", b[] = "c";
    const iovec first = {a, 2}, second = {b, 1};
    REQUIRE(tcp_conn_write_packets(pair.conn, &first, 1, false) == 0);
    REQUIRE(tcp_conn_write_packets(pair.conn, &second, 1, true) == 0);
    tcp_conn_cork(pair.conn, false);
    CHECK(corked() == 0);
    char got[8];
    CHECK(recv(pair.other, got, 3, MSG_WAITALL) == 3);
    CHECK(std::string(got, 3) == "abc");
}

TEST_CASE("tcp_conn: a filter translates both ways, one message a write")
{
    rig r;
    CHECK(tcp_conn_overhead(r.conn, 10) == 0);
    CHECK_FALSE(tcp_conn_is_secure(r.conn));
    r.push(1, false);
    CHECK(tcp_conn_is_secure(r.conn));
    CHECK(tcp_conn_overhead(r.conn, 10) == 1);
    r.receive(letter(1, "hel"));
    const std::string rest = letter(1, "lo");
    r.receive(rest.substr(0, 2)); // an incomplete message is kept
    CHECK(r.input() == "hel");
    r.receive(rest.substr(2));
    CHECK(r.input() == "hello");

    REQUIRE(tcp_conn_send(r.conn, "abc", 3) == 0);
    CHECK(r.sent() == letter(1, "abc"));
    char one[] = "1", two[] = "22";
    const iovec parts[] = {{one, 1}, {two, 2}};
    REQUIRE(tcp_conn_write_packets(r.conn, parts, 2, true) == 0);
    CHECK(r.sent() == letter(1, "122"));
    REQUIRE(tcp_conn_write_packet(r.conn, parts, 1) == 0);
    CHECK(r.sent() == letter(1, "1"));
    CHECK_FALSE(tcp_conn_has_backlog(r.conn));
}

TEST_CASE("tcp_conn: a part of a large write leaves, and no copy of the rest is kept")
{
    for (bool filtered : {false, true}) {
        rig r;
        if (filtered)
            r.push(1, false);
        std::string all(4 << 20, 'a');
        const iovec parts[] = {{all.data(), 3}, {all.data() + 3, all.size() - 3}};
        ssize_t n = tcp_conn_write_some(r.conn, parts, 2);
        REQUIRE(n > 3);
        REQUIRE(n < static_cast<ssize_t>(all.size()));
        CHECK(tcp_conn_has_backlog(r.conn) == false);
        size_t written = static_cast<size_t>(n);
        for (int i = 0; i < 1000 && n > 0; i++) {
            const iovec rest = {all.data() + written, all.size() - written};
            n = tcp_conn_write_some(r.conn, &rest, 1);
            written += n > 0 ? static_cast<size_t>(n) : 0;
        }
        CHECK(n == 0); // the other end does not read
        tcp_conn_want_room(r.conn, true);
        uv_run(&r.loop, UV_RUN_NOWAIT);
        CHECK(r.rooms == 0);
        size_t got = 0;
        for (std::string some; !(some = r.sent()).empty();)
            got += some.size();
        CHECK(got >= written - 32 * 1024); // of a record the rest waits
        for (int i = 0; i < 3; i++)
            uv_run(&r.loop, UV_RUN_NOWAIT);
        CHECK(r.rooms > 0);
    }
}

TEST_CASE("tcp_conn: a filter pushed inside on_input takes the input that was left")
{
    rig r;
    r.detects = true;
    r.receive("*" + letter(7, "first") + letter(7, "second").substr(0, 3));
    CHECK(r.input() == "first");
    r.receive(letter(7, "second").substr(3));
    CHECK(r.input() == "firstsecond");
    REQUIRE(tcp_conn_send(r.conn, "answer", 6) == 0);
    CHECK(r.sent() == letter(7, "answer"));
}

TEST_CASE("tcp_conn: what is sent during a handshake waits for its end")
{
    rig r;
    r.push(1, true);
    CHECK(r.sent() == "!");
    CHECK_FALSE(tcp_conn_is_secure(r.conn));
    char text[] = "packet";
    const iovec part = {text, 6};
    tcp_conn_want_room(r.conn, true);
    CHECK(tcp_conn_write_packet(r.conn, &part, 1) == ERR_AGAIN);
    REQUIRE(tcp_conn_send(r.conn, "re", 2) == 0);
    REQUIRE(tcp_conn_send(r.conn, "quest", 5) == 0);
    CHECK(tcp_conn_has_backlog(r.conn));
    const std::vector<uint8_t> large(TCP_CONN_OUT_BYTES - 6);
    CHECK(tcp_conn_send(r.conn, large.data(), large.size()) == ERR_FULL);
    uv_run(&r.loop, UV_RUN_NOWAIT);
    CHECK(r.rooms == 0);
    CHECK(r.sent().empty());

    r.receive("!" + letter(1, "hi"));
    CHECK(r.input() == "hi");
    CHECK(tcp_conn_is_secure(r.conn));
    CHECK(r.sent() == letter(1, "request"));
    CHECK(r.rooms > 0);
    CHECK(tcp_conn_write_packet(r.conn, &part, 1) == 0);
}

TEST_CASE("tcp_conn: filters stack, and end from the top to the wire")
{
    rig r;
    r.push(1, false);
    r.push(2, false);
    CHECK(tcp_conn_overhead(r.conn, 10) == 2);
    r.receive(letter(1, letter(2, "ping")));
    CHECK(r.input() == "ping");
    CHECK(r.sent() == letter(1, letter(2, "pong"))); // a filter's answer passes those below it
    REQUIRE(tcp_conn_send(r.conn, "abc", 3) == 0);
    CHECK(r.sent() == letter(1, letter(2, "abc")));
    tcp_conn_finish(r.conn, 0);
    CHECK(r.sent() == letter(1, letter(2, "end")) + letter(1, "end"));
    r.receive(letter(1, letter(2, "late")));
    CHECK(r.input() == "ping");
    tcp_conn_free(r.conn);
    uv_run(&r.loop, UV_RUN_NOWAIT);
    CHECK(r.freed == 2);
    r.conn = nullptr;
}

TEST_CASE(
    "tcp_conn: more decoded input than the buffer holds comes in pieces, and waits while held")
{
    rig r(8);
    r.push(1, false);
    r.takes = 3;
    r.receive(letter(1, "abcdefghijklmnopqrstuvwxyz"));
    CHECK(r.input().substr(0, 18) == "abcdefghijklmnopqr");
    r.takes = 8;
    r.receive(letter(1, "."));
    CHECK(r.input() == "abcdefghijklmnopqrstuvwxyz.");

    r.inputs.clear();
    r.holds = true;
    r.receive(letter(1, "0123456789"));
    CHECK(r.input() == "01234567");
    r.receive(letter(1, "later"));
    CHECK(r.input() == "01234567"); // nothing is read while it is held
    tcp_conn_resume(r.conn, 0);
    CHECK(r.input() == "0123456789");
    r.holds = false;
    tcp_conn_resume(r.conn, 0);
    r.receive("");
    CHECK(r.input() == "0123456789later");
}

TEST_CASE("tcp_conn: a peer that never reads a filter's answers is dropped")
{
    rig r;
    r.push(1, false);
    std::string pings;
    for (int i = 0; i < 1000; i++)
        pings += letter(1, "ping");
    // Each is answered by 5 bytes: the kernel takes some hundred kB, then 1 MiB may wait.
    int times = 0;
    while (!r.closed && times++ < 1000)
        r.receive(pings);
    CHECK(r.closed == ERR_FULL);
    CHECK(times * 5000 > 1 << 20);
}

TEST_CASE("tcp_conn: a filter's error is reported after what it decoded")
{
    rig r(4);
    r.push(1, false);
    r.holds = true;
    r.receive(letter(1, "last words") + letter(1, "bad") + letter(1, "more"));
    CHECK(r.closed == 0);
    CHECK(r.input() == "last");
    for (int i = 0; i < 3; i++)
        tcp_conn_resume(r.conn, 0);
    r.holds = false;
    tcp_conn_resume(r.conn, 0);
    CHECK(r.input() == "last wordsbad");
    CHECK(r.closed == ERR_MALFORMED);
    char text[] = "x";
    CHECK(tcp_conn_send(r.conn, text, 1) == ERR_CLOSED);
    auto *f = new letter_filter{{&letter_ops}, 1, false, "", &r.freed};
    CHECK(tcp_conn_push_filter(r.conn, &f->base) == ERR_CLOSED);
    CHECK(r.freed == 1);
}

TEST_CASE("tcp_conn: a connection takes so many filters")
{
    rig r;
    for (int i = 0; i < TCP_CONN_FILTERS; i++)
        r.push(1, false);
    auto *f = new letter_filter{{&letter_ops}, 1, false, "", &r.freed};
    CHECK(tcp_conn_push_filter(r.conn, &f->base) == ERR_FULL);
    CHECK(r.freed == 1);
}

namespace
{

// What the owner of a TCP connection is told. Each wait has a deadline.
struct owner {
    int rooms = 0;
    int closed = 0; // the error
    std::string input;
    bool late = false;
    uv_loop_t *loop;
    uv_timer_t timer;

    explicit owner(test::tcp_pair &pair) : loop(&pair.loop)
    {
        static const tcp_conn_ops ops = {
            nullptr,
            [](void *ctx, const uint8_t *data, size_t len, usec_t) {
                static_cast<owner *>(ctx)->input.append(data, data + len);
                return static_cast<int>(len);
            },
            [](void *ctx, usec_t) { static_cast<owner *>(ctx)->rooms++; },
            [](void *ctx, int err, usec_t) { static_cast<owner *>(ctx)->closed = err; }};
        tcp_conn_set_owner(pair.conn, &ops, this);
        uv_timer_init(loop, &timer);
        timer.data = this;
        uv_timer_start(
            &timer, [](uv_timer_t *t) { static_cast<owner *>(t->data)->late = true; }, 20000, 0);
    }
    ~owner()
    {
        uv_close(reinterpret_cast<uv_handle_t *>(&timer), nullptr);
        uv_run(loop, UV_RUN_NOWAIT);
    }
    template <typename Done> void until(Done done)
    {
        while (!done() && !late)
            uv_run(loop, UV_RUN_ONCE);
        CHECK(done());
    }
};

} // namespace

TEST_CASE("tcp_conn: acknowledgements of writes wake the owner, and end no connection")
{
    test::tcp_pair pair;
    owner o(pair);
    const char text[] = "packet";
    const iovec part = {const_cast<char *>(text), sizeof(text)};
    REQUIRE(tcp_conn_want_acks(pair.conn, true) == 0);
    for (int i = 1; i <= 5; i++) { // libuv stops the poll each time
        const int before = o.rooms;
        REQUIRE(tcp_conn_write_packet(pair.conn, &part, 1) == 0);
        o.until([&] { return o.rooms > before; });
    }
    REQUIRE(send(pair.other, "in", 2, 0) == 2);
    o.until([&] { return o.input == "in"; });
    CHECK(o.closed == 0);

    // A write of before counts no more, and a reset ends the connection all the same.
    REQUIRE(tcp_conn_write_packet(pair.conn, &part, 1) == 0);
    REQUIRE(tcp_conn_want_acks(pair.conn, false) == 0);
    const int before = o.rooms;
    const linger reset = {1, 0};
    REQUIRE(setsockopt(pair.other, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) == 0);
    close(pair.other);
    pair.other = -1;
    o.until([&] { return o.closed != 0; });
    CHECK(o.closed == ERR_IO);
    CHECK(o.rooms == before);
}

TEST_CASE("tcp_conn: two connections exchange their sockets, and what has arrived there")
{
    rig a, b; // each with a loop of its own
    const auto turn = [&] {
        for (int i = 0; i < 3; i++) {
            uv_run(&a.loop, UV_RUN_NOWAIT);
            uv_run(&b.loop, UV_RUN_NOWAIT);
        }
    };
    a.takes = 0; // its input waits for more
    a.receive("old");
    b.push(7, false);
    b.holds = true;
    b.takes = 4;
    b.receive(letter(7, "hello world"));
    REQUIRE(b.input() == "hell");
    std::swap(a.other, b.other); // each rig keeps the other end of its connection
    a.inputs.clear();
    b.inputs.clear();
    tcp_conn_want_room(a.conn, true);
    tcp_conn_exchange(a.conn, b.conn);
    CHECK(tcp_conn_wants_room(a.conn));
    CHECK_FALSE(tcp_conn_wants_room(b.conn));
    tcp_conn_want_room(a.conn, false);
    a.takes = b.takes = 1024;
    b.holds = false;
    tcp_conn_resume(a.conn, 0);
    CHECK(a.input() == "o world");
    a.receive(letter(7, "!"));
    turn();
    CHECK(a.input() == "o world!");
    b.receive(" one");
    turn();
    CHECK(b.input() == "old one");
    REQUIRE(tcp_conn_send(a.conn, "x", 1) == 0);
    REQUIRE(tcp_conn_send(b.conn, "y", 1) == 0);
    CHECK(a.sent() == letter(7, "x"));
    CHECK(b.sent() == "y");
    close(b.other); // ends one of them
    b.other = -1;
    turn();
    CHECK(b.closed == ERR_CLOSED);
    CHECK(a.closed == 0);
    tcp_conn_exchange(a.conn, b.conn); // the end belongs to its socket
    std::swap(a.other, b.other);
    CHECK(tcp_conn_send(a.conn, "x", 1) == ERR_CLOSED);
    CHECK(tcp_conn_send(b.conn, "x", 1) == 0);
}
