// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/mtp/mtp_tcp.h"

namespace
{

constexpr uint64_t token = 0x0123456789abcdef;
constexpr uint16_t slot_bytes = 1000;
constexpr usec_t delay = 20 * USEC_PER_MSEC;
const siphash_key server_secret = {{1, 2}};

std::string flags_of(const tcp_segment &s)
{
    static const char names[] = "FSRPA";
    std::string text;
    for (int i = 0; i < 5; i++)
        if (s.flags >> i & 1)
            text += names[i];
    return text;
}

// A client and a server with a path between them, which keeps the order, drops and alters the
// packets that the test selects, and checks like a stateful firewall.
struct pair {
    struct flying {
        usec_t at;
        bool to_server;
        tcp_segment s;
        std::vector<uint8_t> data;
    };
    struct half { // what a firewall knows of a direction, as offsets from the first sequence number
        bool seen = false;
        uint32_t isn = 0;
        int64_t end = 0;
        int64_t edge = 65535;
    };

    usec_t now;
    mtp_tcp_config config = {};
    mtp_tcp client, server;
    bool accepted = false;
    std::deque<flying> path;
    std::vector<std::string> log; // "> SA 24" is to the server, with flags and bytes
    std::function<bool(int index, tcp_segment &)> passes = [](int, tcp_segment &) { return true; };
    int count = 0;
    half halves[2];
    std::vector<int64_t> slots;
    std::vector<mtp_ack> acks;
    unsigned client_news = 0, server_news = 0;

    explicit pair(siphash_key client_secret = {{3, 4}}, usec_t start = USEC_PER_SEC) : now(start)
    {
        tcp_path p = {};
        p.source = {{10, 1, 0, 1}, 50000};
        p.destination = {{10, 2, 0, 1}, 443};
        config.secret = client_secret;
        config.token = token;
        config.slot_bytes = slot_bytes;
        config.window = 1000;
        REQUIRE(mtp_tcp_connect(&client, &config, &p, now) == 0);
    }
    ~pair()
    {
        mtp_tcp_destroy(&client);
        if (accepted)
            mtp_tcp_destroy(&server);
    }
    pair(const pair &) = delete;
    pair &operator=(const pair &) = delete;

    void firewall(const tcp_segment &s, bool to_server)
    {
        half &me = halves[to_server], &other = halves[!to_server];
        if (s.flags & TCP_SEGMENT_SYN && !me.seen) {
            me.seen = true;
            me.isn = s.seq;
        }
        REQUIRE(me.seen);
        int64_t at = seq_from(me.isn, s.seq, me.end);
        bool flag = s.flags & (TCP_SEGMENT_SYN | TCP_SEGMENT_FIN);
        int64_t end = at + (int64_t)s.len + flag;
        CHECK(end <= other.edge + 1);
        if (end > me.end)
            me.end = end;
        if (!(s.flags & TCP_SEGMENT_ACK) || !other.seen)
            return;
        int64_t ack = seq_from(other.isn, s.ack, other.end);
        CHECK(ack <= other.end);
        for (int i = 0; i < s.sack_count; i++)
            CHECK(seq_from(other.isn, s.sack[i].end, other.end) <= other.end);
        int shift = s.flags & TCP_SEGMENT_SYN ? 0 : to_server ? client.scale : 0;
        int64_t edge = ack + ((int64_t)s.window << (shift > 0 ? shift : 0));
        CHECK((s.flags & TCP_SEGMENT_RST || edge >= me.edge || me.edge == 65535));
        me.edge = edge > me.edge ? edge : me.edge;
    }
    static int64_t seq_from(uint32_t isn, uint32_t seq, int64_t reference)
    {
        return reference + (int32_t)(seq - isn - (uint32_t)reference);
    }

    void launch(tcp_segment s, bool to_server)
    {
        log.push_back((to_server ? "> " : "< ") + flags_of(s) + " " + std::to_string(s.len));
        if (!passes(count++, s)) {
            log.back() += " lost";
            return;
        }
        firewall(s, to_server);
        path.push_back({now + delay, to_server, s, {s.data, s.data + s.len}});
        path.back().s.data = path.back().data.data();
    }
    void drain()
    {
        tcp_segment s;
        while (mtp_tcp_pull(&client, &s, now))
            launch(s, true);
        while (accepted && mtp_tcp_pull(&server, &s, now))
            launch(s, false);
    }
    void to_client(const tcp_segment &s)
    {
        mtp_ack unused;
        client_news |= mtp_tcp_input(&client, &s, &unused, now);
        int64_t slot;
        const uint8_t *record;
        while (mtp_tcp_next(&client, &slot, &record)) {
            CHECK(record[0] == (uint8_t)slot);
            slots.push_back(slot);
            drain();
        }
    }
    void to_server(const tcp_segment &s)
    {
        if (accepted) {
            mtp_ack ack;
            unsigned news = mtp_tcp_input(&server, &s, &ack, now);
            if (news & MTP_TCP_ACKED)
                acks.push_back(ack);
            server_news |= news;
            return;
        }
        tcp_segment reply;
        mtp_tcp_accepted a;
        switch (mtp_tcp_listen(&server_secret, &s, &reply, &a, now)) {
        case MTP_TCP_REPLY:
            launch(reply, false);
            break;
        case MTP_TCP_ACCEPT:
            accepted = mtp_tcp_accept(&server, &config, &a, now) == 0;
            break;
        default:
            break;
        }
    }
    void run_until(usec_t end)
    {
        drain();
        for (;;) {
            usec_t next = path.empty() ? USEC_NEVER : path.front().at;
            next = usec_min(next, mtp_tcp_next_timeout(&client));
            if (accepted)
                next = usec_min(next, mtp_tcp_next_timeout(&server));
            if (next > end)
                break;
            REQUIRE(next >= now);
            now = next;
            if (!path.empty() && path.front().at == now) {
                flying f = std::move(path.front());
                path.pop_front();
                f.s.data = f.data.data();
                f.to_server ? to_server(f.s) : to_client(f.s);
            } else if (mtp_tcp_next_timeout(&client) == now) {
                mtp_tcp_timeout(&client, now);
            } else {
                mtp_tcp_timeout(&server, now);
            }
            drain();
        }
        now = end;
    }
    void run(double seconds)
    {
        run_until(now + (usec_t)(seconds * 1e6));
    }
    void open()
    {
        run(0.2);
        REQUIRE(client.state == MTP_TCP_OPEN);
        REQUIRE(accepted);
    }
    int send(int64_t slot)
    {
        uint8_t record[100];
        memset(record, (uint8_t)slot, sizeof(record));
        int result = mtp_tcp_send(&server, slot, record, sizeof(record));
        drain();
        return result;
    }
    void acknowledge(int64_t cum, std::vector<mtp_range> ranges = {})
    {
        mtp_ack ack = {};
        ack.cum = cum;
        for (mtp_range r : ranges)
            ack.ranges[ack.count++] = r;
        mtp_tcp_acknowledge(&client, &ack);
        drain();
    }
    std::string text() const
    {
        std::string all;
        for (const std::string &line : log)
            all += (all.empty() ? "" : ", ") + line;
        return all;
    }
};

} // namespace

TEST_CASE("mtp_tcp: the handshake, and each packet of it lost")
{
    struct row {
        int lost; // -1: none
        const char *log;
        usec_t open_after;
    };
    const std::vector<row> table = {
        {-1, "> S 0, < SA 0, > PA 24, < A 0", 4 * delay},
        {0, "> S 0 lost, > S 0, < SA 0, > PA 24, < A 0", USEC_PER_SEC + 4 * delay},
        {1, "> S 0, < SA 0 lost, > S 0, < SA 0, > PA 24, < A 0", USEC_PER_SEC + 4 * delay},
        {2, "> S 0, < SA 0, > PA 24 lost, > PA 24, < A 0", 300000 + 4 * delay},
        {3, "> S 0, < SA 0, > PA 24, < A 0 lost, > PA 24, < A 0", 300000 + 4 * delay},
    };
    for (const row &r : table) {
        INFO("lost: " << r.lost);
        pair p;
        usec_t start = p.now;
        p.passes = [&](int i, tcp_segment &) { return i != r.lost; };
        p.run_until(start + r.open_after - 1);
        CHECK(p.client.state != MTP_TCP_OPEN);
        p.run_until(start + r.open_after);
        CHECK(p.client.state == MTP_TCP_OPEN);
        CHECK(p.client_news == MTP_TCP_IS_OPEN);
        CHECK(p.text() == r.log);
        CHECK(p.server.mss == 1360);
        CHECK(p.server.sack);
        CHECK(p.server.times);
        CHECK(p.client.scale == 4); // 1000 slots of 1000 bytes: 62500 << 4
        CHECK(p.server.peer_scale == 4);
        CHECK(p.server.edge == 25 - 24 + 1000000);
    }
}

TEST_CASE("mtp_tcp: no response, or a reset")
{
    pair nobody;
    nobody.passes = [](int, tcp_segment &) { return false; };
    nobody.run(9.9);
    CHECK(nobody.text() == "> S 0 lost, > S 0 lost, > S 0 lost, > S 0 lost"); // at 0, 1, 3, 7 s
    CHECK(nobody.client.state == MTP_TCP_SYN_SENT);
    nobody.run(0.2);
    CHECK(nobody.client.end == MTP_TCP_NO_ANSWER);

    for (bool exact : {false, true}) {
        pair p;
        p.drain();
        tcp_segment reset = {};
        reset.flags = TCP_SEGMENT_RST | TCP_SEGMENT_ACK;
        reset.ack = p.client.isn + (exact ? 1 : 2);
        p.to_client(reset);
        CHECK(p.client.state == (exact ? MTP_TCP_CLOSED : MTP_TCP_SYN_SENT));
    }
}

TEST_CASE("mtp_tcp: options that the path removed are not used")
{
    struct row {
        bool times, scale, sack;
        int window_then; // of the client
    };
    const std::vector<row> table = {
        {true, true, true, 1000000},
        {true, false, true, 65535},
        {true, true, false, 1000000},
        {false, true, true, 65535}}; // the cookie has nowhere to keep it
    for (const row &r : table) {
        pair p;
        p.passes = [&](int, tcp_segment &s) {
            s.has_times = s.has_times && r.times;
            s.scale = r.scale ? s.scale : (int8_t)TCP_SEGMENT_NO_SCALE;
            s.sack_permitted = s.sack_permitted && r.sack;
            return true;
        };
        p.open();
        CHECK(p.client.window == (uint32_t)r.window_then);
        CHECK(p.client.times == r.times);
        CHECK(p.server.times == r.times);
        CHECK(p.client.sack == (r.sack && r.times));
        CHECK(p.server.sack == (r.sack && r.times));
        CHECK(p.server.edge == 1 + r.window_then);
        CHECK(p.send(0) == 0);
        p.run(0.1);
        CHECK(p.slots == std::vector<int64_t>{0});
    }
}

TEST_CASE("mtp_tcp: a proxy that opens its window late")
{
    pair p;
    p.passes = [](int, tcp_segment &s) {
        if (s.flags & TCP_SEGMENT_SYN && s.flags & TCP_SEGMENT_ACK)
            s.window = 0;
        return true;
    };
    p.halves[1].edge = 1;
    p.run(0.1);
    CHECK(p.text() == "> S 0, < SA 0, > A 0"); // no hello
    tcp_segment update = {};
    update.seq = p.client.irs + 1;
    update.ack = p.client.isn + 1;
    update.flags = TCP_SEGMENT_ACK;
    update.window = 1000;
    update.has_times = true;
    update.time = p.client.peer_time;
    update.time_echo = mtp_tcp_time(p.client.time_offset, p.now);
    p.halves[1].edge = 1001;
    p.to_client(update);
    p.run(0.1);
    CHECK(p.client.state == MTP_TCP_OPEN);
}

TEST_CASE("mtp_tcp: slots, acknowledgements, SACK, the echo")
{
    pair p;
    p.open();
    int lost = p.count + 1;
    p.passes = [&](int i, tcp_segment &) { return i != lost; };
    for (int64_t slot : {0, 1, 2, 3})
        CHECK(p.send(slot) == 0);
    usec_t sent = p.now;
    CHECK(p.log.back() == "< PA 1000");
    p.run(0.03);
    CHECK(p.slots == std::vector<int64_t>{0, 2, 3});
    p.acknowledge(1, {{2, 4}});
    p.run(0.03);
    REQUIRE(p.acks.size() >= 1);
    mtp_ack ack = p.acks.back();
    CHECK(ack.cum == 1);
    CHECK(ack.window == 999 + 1);
    REQUIRE(ack.count == 1);
    CHECK(ack.ranges[0].begin == 2);
    CHECK(ack.ranges[0].end == 4);
    CHECK(ack.has_echo);
    CHECK(ack.echo_us == (uint32_t)(sent / 1000 * 1000));
    CHECK(p.send(1000) == 0); // the last one within the window
    CHECK(p.send(1001) == ERR_RANGE);
    p.acknowledge(4); // over the hole: the application marked it
    p.run(0.1);
    CHECK(p.acks.back().cum == 4);
    uint8_t record[slot_bytes] = {0};
    CHECK(mtp_tcp_send(&p.server, 5, record, slot_bytes - MTP_TCP_TAG + 1) == ERR_TOO_BIG);
}

TEST_CASE("mtp_tcp: only received data is acknowledged")
{
    pair p;
    p.open();
    p.send(0);
    p.run(0.1);
    p.acknowledge(7, {{8, 10}}); // `pair` checks what leaves
    p.run(0.1);
    CHECK(p.acks.back().cum == 1);
    CHECK(p.acks.back().count == 0);
}

TEST_CASE("mtp_tcp: slots larger than the path's segments are cut")
{
    pair p;
    p.passes = [](int, tcp_segment &s) {
        if (s.mss)
            s.mss = 600; // a router clamps it; the cookie's class is 536
        return true;
    };
    p.open();
    CHECK(p.server.mss == 536);
    p.log.clear();
    p.send(0);
    CHECK(p.text() == "< PA 524, < PA 476"); // 536 - 12 bytes of timestamps
    p.run(0.1);
    CHECK(p.slots == std::vector<int64_t>{0});
}

TEST_CASE("mtp_tcp: both sequence numbers wrap")
{
    siphash_key secret = {{3, 4}};
    tcp_path there = {};
    there.source = {{10, 1, 0, 1}, 50000};
    there.destination = {{10, 2, 0, 1}, 443};
    // The time at which the client's clock of 4 us gives an ISN just below 2^32.
    usec_t start_at = 4 * (usec_t)(0xfffffff0 - mtp_tcp_isn(&secret, &there, 0));
    pair p(secret, start_at);
    p.open();
    CHECK(p.server.irs + 25 < 25); // the hello is across it
    // 4.2 million slots of 1000 bytes are more than 2^32.
    int64_t start = ((int64_t)UINT32_MAX - p.server.isn) / slot_bytes - 5;
    p.server.sent = p.server.acked = p.client.received = p.client.taken = 1 + start * slot_bytes;
    p.server.edge = p.server.acked + 1000000;
    p.halves[0].end = 1 + start * slot_bytes;
    p.halves[1].edge = p.halves[0].end + 1000000;
    std::vector<int64_t> expected;
    for (int64_t slot = start; slot < start + 20; slot++) {
        p.send(slot);
        p.run(0.05);
        p.acknowledge(slot + 1);
        p.run(0.05);
        expected.push_back(slot);
        CHECK(p.acks.back().cum == slot + 1);
    }
    CHECK(p.slots == expected);
    CHECK(p.server.isn + (uint32_t)p.server.acked < 20000);
}

TEST_CASE("mtp_tcp: keep-alives, and the end of the connection without them")
{
    pair p;
    p.open();
    p.log.clear();
    usec_t silent = p.client.sent_at;
    p.run_until(silent + 20 * USEC_PER_SEC + 3 * delay);
    CHECK(p.text() == "> A 0, < A 0"); // the answer is as good as one of the server's
    CHECK(p.client.counts.keepalives == 1);
    p.run(300);
    CHECK(p.client.state == MTP_TCP_OPEN);
    CHECK(p.server.state == MTP_TCP_OPEN);
    p.passes = [](int, tcp_segment &) { return false; };
    p.run(100);
    CHECK(p.client.end == MTP_TCP_LOST);
    CHECK(p.server.end == MTP_TCP_LOST);
}

TEST_CASE("mtp_tcp: closing by either side, with each packet lost")
{
    for (bool by_server : {false, true}) {
        for (int lost = -1; lost < 4; lost++) {
            INFO("by server: " << by_server << ", lost: " << lost);
            pair p;
            p.open();
            p.send(0);
            p.run(0.1);
            p.acknowledge(1);
            p.run(0.1);
            int first = p.count;
            p.log.clear();
            p.passes = [&](int i, tcp_segment &) { return i != first + lost; };
            mtp_tcp *a = by_server ? &p.server : &p.client;
            mtp_tcp *b = by_server ? &p.client : &p.server;
            mtp_tcp_close(a, p.now);
            p.run(3);
            CHECK(b->peer_finished);
            mtp_tcp_close(b, p.now);
            p.run(3.5);
            CHECK(a->state == MTP_TCP_CLOSED);
            CHECK(b->state == MTP_TCP_CLOSED);
            CHECK(a->end == MTP_TCP_ENDED);
            if (lost == -1)
                CHECK(p.text() == (by_server ? "< FA 0, > A 0, > FA 0, < A 0"
                                             : "> FA 0, < A 0, < FA 0, > A 0"));
        }
    }
}

TEST_CASE("mtp_tcp: a reset after both FINs is the end, before them an error")
{
    // The server closes, the client too, and the acknowledgement of its FIN is lost. The server's
    // program has ended: its kernel resets what comes.
    for (bool closes : {false, true}) {
        INFO("the client closes: " << closes);
        pair p;
        p.open();
        mtp_tcp_close(&p.server, p.now);
        p.run(0.1);
        REQUIRE(p.client.peer_finished);
        p.passes = [](int, tcp_segment &) { return false; };
        if (closes)
            mtp_tcp_close(&p.client, p.now);
        p.drain();
        tcp_segment s = {};
        s.flags = TCP_SEGMENT_RST;
        s.seq = p.client.irs + (uint32_t)p.client.received;
        p.to_client(s);
        CHECK(p.client.state == MTP_TCP_CLOSED);
        CHECK(p.client.end == (closes ? MTP_TCP_ENDED : MTP_TCP_RESET));
    }
}

TEST_CASE("mtp_tcp: closing after a hole")
{
    pair p;
    p.open();
    int lost = p.count + 1;
    p.passes = [&](int i, tcp_segment &) { return i != lost; };
    p.send(0);
    p.send(1);
    mtp_tcp_close(&p.server, p.now);
    p.drain();
    CHECK(p.log.back() == "< FA 8"); // with its tag
    CHECK(p.send(2) == ERR_CLOSED);
    p.run(0.1);
    CHECK(p.client.peer_finished);
    CHECK(p.server.fin_acked);
    CHECK(p.slots == std::vector<int64_t>{0});
}

TEST_CASE("mtp_tcp: an abort ends the connection at the other side")
{
    for (bool hole : {false, true}) {
        pair p;
        p.open();
        int lost = hole ? p.count : -1;
        p.passes = [&](int i, tcp_segment &) { return i != lost; };
        p.send(0);
        p.send(1);
        mtp_tcp_abort(&p.server);
        p.run(0.1);
        CHECK(p.server.state == MTP_TCP_CLOSED);
        CHECK(p.client.end == MTP_TCP_RESET);
    }
}

TEST_CASE("mtp_tcp: a client without the token is refused")
{
    pair p;
    p.config.token ^= 1; // what the server looks up
    p.run(0.2);
    CHECK_FALSE(p.accepted);
    CHECK(p.client.state == MTP_TCP_GREETING);

    // A response to a cookie that was never sent, or that has expired.
    pair q;
    tcp_segment hello = {};
    uint8_t bytes[MTP_TCP_HELLO];
    siphash_key key = mtp_tcp_key(token), other = mtp_tcp_key(token + 1);
    mtp_tcp_hello_write(&key, slot_bytes, bytes);
    hello.flags = TCP_SEGMENT_ACK;
    hello.data = bytes;
    hello.len = sizeof(bytes);
    tcp_segment syn = {}, reply;
    syn.flags = TCP_SEGMENT_SYN;
    syn.seq = 77;
    mtp_tcp_accepted a;
    REQUIRE(mtp_tcp_listen(&server_secret, &syn, &reply, &a, 0) == MTP_TCP_REPLY);
    hello.seq = 78;
    hello.ack = reply.seq + 1;
    CHECK(mtp_tcp_listen(&server_secret, &hello, &reply, &a, 0) == MTP_TCP_ACCEPT);
    CHECK(a.id == mtp_tcp_id(&key));
    CHECK(a.id != mtp_tcp_id(&other));
    CHECK(mtp_tcp_listen(&server_secret, &hello, &reply, &a, 127 * USEC_PER_SEC) == MTP_TCP_ACCEPT);
    CHECK(mtp_tcp_listen(&server_secret, &hello, &reply, &a, 128 * USEC_PER_SEC) == MTP_TCP_IGNORE);
    hello.seq = 79;
    CHECK(mtp_tcp_listen(&server_secret, &hello, &reply, &a, 0) == MTP_TCP_IGNORE);
    hello.seq = 78;
    hello.path.source.port = 1;
    CHECK(mtp_tcp_listen(&server_secret, &hello, &reply, &a, 0) == MTP_TCP_IGNORE);
    hello.path.source.port = 0;
    hello.len--;
    CHECK(mtp_tcp_listen(&server_secret, &hello, &reply, &a, 0) == MTP_TCP_IGNORE);
}

TEST_CASE("mtp_tcp: a blind attacker can neither insert data nor end the connection")
{
    rng r = rng_seeded(7);
    pair p;
    p.open();
    for (int64_t slot = 0; slot < 10; slot++)
        p.send(slot);
    p.run(0.1);
    p.acknowledge(10);
    p.run(0.1);
    size_t delivered = p.slots.size(), acks = p.acks.size();
    int64_t client_taken = p.client.taken, server_acked = p.server.acked;
    const std::vector<uint8_t> data(2 * slot_bytes, 9);
    int out = 0;
    for (int i = 0; i < 200000; i++) {
        tcp_segment s = {};
        bool at_client = i & 1;
        mtp_tcp *victim = at_client ? &p.client : &p.server;
        s.path = tcp_path_reversed(&victim->path); // the four-tuple is right
        s.seq = (uint32_t)rng_u64(&r);
        s.ack = (uint32_t)rng_u64(&r);
        s.flags = (uint8_t)rng_below(&r, 32);
        s.window = (uint16_t)rng_u64(&r);
        s.scale = TCP_SEGMENT_NO_SCALE;
        s.has_times = i & 2;
        s.time = (uint32_t)rng_u64(&r);
        s.time_echo = (uint32_t)rng_u64(&r);
        s.data = data.data();
        s.len = rng_below(&r, data.size());
        at_client ? p.to_client(s) : p.to_server(s);
        tcp_segment answer;
        while (mtp_tcp_pull(victim, &answer, p.now))
            out++;
        p.now += 10; // 100000 a second
    }
    CHECK(p.slots.size() == delivered);
    CHECK(p.acks.size() == acks);
    CHECK(p.client.taken == client_taken);
    CHECK(p.server.acked == server_acked);
    CHECK(p.client.state == MTP_TCP_OPEN);
    CHECK(p.server.state == MTP_TCP_OPEN);
    CHECK(out <= 3 * 2 * MTP_TCP_CHALLENGES); // in 2 s
    p.send(10);
    p.run(0.1);
    CHECK(p.slots.back() == 10);
}

TEST_CASE("mtp_tcp: an attacker who knows the whole header but not the token")
{
    pair p;
    p.open();
    p.send(0);
    p.run(0.1);
    p.acknowledge(1);
    p.run(0.1);
    std::vector<uint8_t> junk(slot_bytes, 9);
    tcp_segment s = {};
    s.path = tcp_path_reversed(&p.client.path);
    s.seq = p.client.irs + (uint32_t)p.client.taken;
    s.ack = p.client.isn + 25;
    s.scale = TCP_SEGMENT_NO_SCALE;
    s.has_times = true;
    s.time = p.client.peer_time;
    s.time_echo = mtp_tcp_time(p.client.time_offset, p.now);
    s.data = junk.data();
    s.len = junk.size();
    s.flags = TCP_SEGMENT_ACK | TCP_SEGMENT_PSH;
    p.to_client(s);
    CHECK(p.client.counts.forged == 1);
    CHECK(p.slots.size() == 1);
    s.flags = TCP_SEGMENT_ACK | TCP_SEGMENT_FIN; // behind what came, and its tag is wrong
    s.seq += 5000;
    s.len = MTP_TCP_TAG;
    p.to_client(s);
    CHECK_FALSE(p.client.peer_finished);
    p.send(1); // the genuine one
    p.run(0.1);
    CHECK(p.slots == std::vector<int64_t>{0, 1});
}

TEST_CASE("mtp_tcp: resets and SYNs in the window cause a limited number of challenges")
{
    struct row {
        unsigned flags;
        int64_t from_taken;
        bool ends;
        uint64_t challenges;
    };
    const std::vector<row> table = {
        {TCP_SEGMENT_RST, 0, true, 0},
        {TCP_SEGMENT_RST, 1, false, 1},
        {TCP_SEGMENT_RST, 999999, false, 1},
        {TCP_SEGMENT_RST, 1000000, false, 0}, // beyond the window
        {TCP_SEGMENT_RST, -1, false, 0},
        {TCP_SEGMENT_SYN, 0, false, 1},
        {TCP_SEGMENT_SYN, 1 << 30, false, 1},
    };
    for (const row &r : table) {
        INFO(r.flags << " at " << r.from_taken);
        pair p;
        p.open();
        tcp_segment s = {};
        s.flags = (uint8_t)r.flags;
        s.seq = p.client.irs + (uint32_t)(p.client.taken + r.from_taken);
        p.to_client(s);
        CHECK((p.client.state == MTP_TCP_CLOSED) == r.ends);
        CHECK(p.client.counts.challenges == r.challenges);
    }
    pair p;
    p.open();
    tcp_segment s = {};
    s.flags = TCP_SEGMENT_SYN;
    for (int i = 0; i < 100; i++)
        p.to_client(s);
    CHECK(p.client.counts.challenges == MTP_TCP_CHALLENGES);
}

TEST_CASE("mtp_tcp: ECN is negotiated, and marks, their echo and CWR travel in the headers")
{
    pair p;
    std::vector<std::string> seen; // of segments with ECN's flags or codepoint
    p.passes = [&](int, tcp_segment &s) {
        std::string text = flags_of(s);
        text += s.flags & TCP_SEGMENT_ECE ? "e" : "";
        text += s.flags & TCP_SEGMENT_CWR ? "w" : "";
        text += std::to_string(s.ecn);
        if (text != flags_of(s) + "0")
            seen.push_back(text);
        return true;
    };
    p.open();
    CHECK(p.client.ecn);
    CHECK(p.server.ecn);
    CHECK(seen == std::vector<std::string>{"Sew0", "SAe0"});
    seen.clear();
    auto send = [&](int64_t slot, bool ect, bool cwr) {
        uint8_t record[100];
        memset(record, (uint8_t)slot, sizeof(record));
        REQUIRE(mtp_tcp_send(&p.server, slot, record, sizeof(record)) == 0);
        mtp_tcp_mark(&p.server, ect, cwr);
        p.drain();
        p.run(0.1);
    };
    send(0, true, false);
    send(1, false, false); // a filled slot
    mtp_ack ack = {};
    ack.cum = 2;
    ack.ece = true;
    mtp_tcp_acknowledge(&p.client, &ack);
    p.drain();
    p.run(0.1);
    REQUIRE_FALSE(p.acks.empty());
    CHECK(p.acks.back().ece);
    send(2, true, true);
    ack.cum = 3;
    ack.ece = false;
    mtp_tcp_acknowledge(&p.client, &ack);
    p.drain();
    p.run(0.1);
    CHECK_FALSE(p.acks.back().ece);
    CHECK(seen == std::vector<std::string>{"PA2", "Ae0", "PAw2"});

    // Without the SYN's flags, or after a lost SYN, nothing of it is used.
    pair q;
    q.passes = [&](int, tcp_segment &s) {
        if (s.flags & TCP_SEGMENT_SYN)
            s.flags &= (uint8_t) ~(TCP_SEGMENT_ECE | TCP_SEGMENT_CWR);
        return true;
    };
    q.open();
    CHECK_FALSE(q.client.ecn);
    CHECK_FALSE(q.server.ecn);
    uint8_t record[100] = {};
    REQUIRE(mtp_tcp_send(&q.server, 0, record, sizeof(record)) == 0);
    mtp_tcp_mark(&q.server, true, true);
    tcp_segment s;
    REQUIRE(mtp_tcp_pull(&q.server, &s, q.now));
    CHECK(s.ecn == 0);
    CHECK_FALSE(s.flags & TCP_SEGMENT_CWR);

    pair r;
    int syns = 0;
    r.passes = [&](int, tcp_segment &t) {
        if (!(t.flags & TCP_SEGMENT_SYN) || t.flags & TCP_SEGMENT_ACK)
            return true;
        CHECK(((t.flags & TCP_SEGMENT_ECE) != 0) == (syns == 0));
        return syns++ > 0;
    };
    r.run(2);
    CHECK(r.client.state == MTP_TCP_OPEN);
    CHECK_FALSE(r.client.ecn);

    // The answer to the first SYN comes after the second SYN has left: both ends agree.
    pair late;
    std::vector<tcp_segment> answers;
    late.passes = [&](int, tcp_segment &t) {
        if (!(t.flags & TCP_SEGMENT_SYN))
            return true;
        if (t.flags & TCP_SEGMENT_ACK)
            answers.push_back(t);
        return !(t.flags & TCP_SEGMENT_ACK) && answers.empty();
    };
    late.run(1.5);
    REQUIRE(late.client.tries == 1);
    REQUIRE(answers.size() == 1);
    late.firewall(answers[0], false);
    late.to_client(answers[0]);
    late.run(1);
    REQUIRE(late.accepted);
    CHECK(late.server.ecn);
    CHECK(late.client.ecn);
}
