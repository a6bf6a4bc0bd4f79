// SPDX-License-Identifier: GPL-2.0-or-later
// What a session and its connection do to a transport, in every order: permission that one call
// gives must not be used after another call has taken away its ground.
#include <catch2/catch.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/mtp/mtp_receive_flow.h"
#include "common/mtp/mtp_udp_ack.h"
#include "common/net/tcp_conn.h"
#include "tests/support/sanitized.hpp"
#include "tests/unit/common/transport/path.hpp"

namespace
{

// r: room is asked for, and nothing is sent. q: a request is answered. p: a report leaves. f: a
// frame. w: the loop has a turn. t: teardown, which ends an order.
const char OPERATIONS[] = "rqpfwt";

const size_t LONGEST = SANITIZED ? 5 : 7, LONG = SANITIZED ? 5 : 6;

// Every order of the longest length, or that ends in a teardown; the shorter ones are their
// beginnings.
void for_each_order(size_t longest, const std::function<void(const std::string &)> &run,
                    const std::string &order = "")
{
    if (order.size() == longest || (!order.empty() && order.back() == 't')) {
        run(order);
        return;
    }
    for (const char *o = OPERATIONS; *o; o++)
        for_each_order(longest, run, order + *o);
}

const size_t LARGE = 14000;      // of an answer that the kernel's buffers do not take at once
const size_t SMALL = 100;        // of one that they take
const size_t PACKET = 500;       // with its RTP header
const int PACKETS = 3;           // of a frame: two of video, one of sound
const int VIDEO = 0, AUDIO = 2;  // channels of media; RTCP has the next ones
const int SEGMENT = 1000;        // so that one fits the send buffer
const int SEND_BUFFER = 1;       // the kernel rounds it up to a few KB
const int RECEIVE_BUFFER = 4000; // the kernel doubles it

// RTSP connection over the loopback, its transport, and the viewer at the other end.
struct connection {
    uv_loop_t loop;
    int other = -1;
    tcp_conn *conn = nullptr;
    transport *t = nullptr;
    bool reads = false;      // the viewer, at each operation
    bool late_flush = false; // a frame's packets stay in the batch until the next operation `f`,
                             // `p` or `w`
    int waiting = 0;         // packets of media that were refused so far
    uint16_t packets = 0, reports = 0, answers = 0; // taken from us
    int backlogs = 0;                               // that an answer left
    size_t taken = 0;                               // bytes, framing included
    std::string received;

    static int on_input(void *, const uint8_t *, size_t len, usec_t)
    {
        return static_cast<int>(len);
    }
    static void on_writable(void *ctx, usec_t now)
    {
        auto *c = static_cast<connection *>(ctx);
        if (c->t && c->t->ops->on_writable)
            c->t->ops->on_writable(c->t, now);
        else
            tcp_conn_want_room(c->conn, false);
    }
    static void on_close(void *, int, usec_t)
    {
        FAIL("the connection ended");
    }
    static void on_room(void *ctx, usec_t now)
    {
        static_cast<connection *>(ctx)->pump(now);
    }

    connection()
    {
        static const tcp_conn_ops ops = {nullptr, on_input, on_writable, on_close};
        uv_loop_init(&loop);
        int listener = socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t len = sizeof(at);
        setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &RECEIVE_BUFFER, sizeof(RECEIVE_BUFFER));
        setsockopt(listener, IPPROTO_TCP, TCP_MAXSEG, &SEGMENT, sizeof(SEGMENT));
        REQUIRE(bind(listener, reinterpret_cast<sockaddr *>(&at), len) == 0);
        REQUIRE(listen(listener, 1) == 0);
        REQUIRE(getsockname(listener, reinterpret_cast<sockaddr *>(&at), &len) == 0);
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &SEND_BUFFER, sizeof(SEND_BUFFER));
        REQUIRE(connect(fd, reinterpret_cast<sockaddr *>(&at), len) == 0);
        other = accept(listener, nullptr, nullptr);
        close(listener);
        REQUIRE(other >= 0);
        conn = tcp_conn_new(&loop, fd, 1024, &ops, this);
        REQUIRE(conn);
    }

    connection(const connection &) = delete;
    connection &operator=(const connection &) = delete;

    ~connection()
    {
        if (t)
            t->ops->free(t);
        tcp_conn_free(conn);
        close(other);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }

    void open(const char *name)
    {
        transport_path path{};
        path.control = conn;
        path.channel[0] = VIDEO;
        path.channel[1] = VIDEO + 1;
        path.loop = &loop;
        path.on_room = on_room;
        path.ctx = this;
        t = transport_open(name, &path, 0);
        REQUIRE(t);
        t->tracks[TRACK_AUDIO].channel[0] = AUDIO;
        t->tracks[TRACK_AUDIO].channel[1] = AUDIO + 1;
    }

    void flush(usec_t now)
    {
        if (t->media.ops->flush)
            t->media.ops->flush(&t->media, now);
    }

    // As stream_sender does. Payloads outlive a late flush.
    void pump(usec_t now)
    {
        static const std::vector<uint8_t> payload(PACKET, 'p');
        bool accepted = true;
        while (accepted && waiting > 0 && t->media.ops->room(&t->media, now)) {
            bool waited = tcp_conn_has_backlog(conn);
            uint8_t head[12] = {};
            store_be16(head + 2, packets);
            const media_packet p = {head, sizeof(head), payload.data(), PACKET - sizeof(head), 0,
                                    0};
            media_track track = packets % PACKETS == 2 ? TRACK_AUDIO : TRACK_VIDEO;
            int err = t->media.ops->send(&t->media, track, &p, now);
            accepted = err == 0;
            if (accepted) { // media adds to no backlog, so the backlog is bounded
                if (waited)
                    FAIL("media was taken behind a backlog");
                packets++;
                taken += 4 + PACKET;
                waiting--;
            } else if (err != ERR_AGAIN || t->media.ops->room(&t->media, now)) {
                FAIL("there is room, and no packet is taken: " << err);
            }
        }
        if (!late_flush)
            flush(now);
    }

    void answer(size_t len)
    {
        std::string text = "RTSP/1.0 200 OK\r\nCSeq: " + std::to_string(answers) +
                           "\r\nContent-Length: " + std::to_string(len) + "\r\n\r\n";
        text.append(len, 'a');
        if (tcp_conn_send(conn, text.data(), text.size()) == 0) {
            answers++;
            taken += text.size();
        }
        backlogs += tcp_conn_has_backlog(conn);
    }

    void report(usec_t now)
    {
        uint8_t data[8] = {0x80, 200};
        store_be16(data + 2, 1);
        store_be16(data + 4, reports);
        if (t->ops->send_rtcp(t, TRACK_VIDEO, data, sizeof(data), now) == 0) {
            reports++;
            taken += 4 + sizeof(data);
        }
    }

    void read()
    {
        static char chunk[65536];
        ssize_t n;
        while ((n = recv(other, chunk, sizeof(chunk), MSG_DONTWAIT)) > 0)
            received.append(chunk, static_cast<size_t>(n));
    }

    void step(char operation, usec_t now)
    {
        switch (operation) {
        case 'r':
            (void)t->media.ops->room(&t->media, now);
            break;
        case 'q':
            answer(answers % 2 ? SMALL : LARGE);
            break;
        case 'p':
            report(now);
            break;
        case 'f':
            if (late_flush)
                flush(now);
            waiting = PACKETS;
            pump(now);
            break;
        case 'w':
            flush(now);
            uv_run(&loop, UV_RUN_NOWAIT);
            break;
        case 't': // as session_free: BYE, then the answer
            report(now);
            t->ops->free(t);
            t = nullptr;
            answer(SMALL);
            break;
        }
        if (reads)
            read();
    }

    // Reads until all that was taken has come.
    void drain()
    {
        const int PATIENCE_MS = 600000;
        pollfd p = {other, POLLIN, 0};
        bool more = true;
        while (more) {
            uv_run(&loop, UV_RUN_NOWAIT);
            read();
            more = tcp_conn_has_backlog(conn) || received.size() < taken;
            if (more && !tcp_conn_has_backlog(conn) && poll(&p, 1, PATIENCE_MS) <= 0)
                FAIL(received.size() << " of " << taken << " bytes came");
        }
        CHECK(received.size() == taken);
    }

    // Items come whole, each kind complete and in the order in which it was taken.
    void check_received()
    {
        uint16_t got_packets = 0, got_reports = 0, got_answers = 0;
        size_t at = 0;
        bool ok = true;
        while (ok && at < received.size()) {
            if (received[at] == '$') {
                size_t len = load_be16(reinterpret_cast<const uint8_t *>(&received[at + 2]));
                const auto *data = reinterpret_cast<const uint8_t *>(&received[at + 4]);
                int channel = received[at + 1];
                if (channel == VIDEO + 1) {
                    ok = len == 8 && load_be16(data + 4) == got_reports++;
                } else {
                    int wanted = got_packets % PACKETS == 2 ? AUDIO : VIDEO;
                    ok = channel == wanted && len == PACKET &&
                         load_be16(data + 2) == got_packets++ &&
                         std::all_of(data + 12, data + len, [](uint8_t b) { return b == 'p'; });
                }
                at += 4 + len;
            } else {
                int number = -1, len = -1, head = -1;
                ok = sscanf(received.c_str() + at,
                            "RTSP/1.0 200 OK\r\nCSeq: %d\r\nContent-Length: %d\r\n\r\n%n", &number,
                            &len, &head) == 2 &&
                     head > 0 && number == got_answers++;
                // scanf takes any white space for the end of the line
                size_t body = received.find("\r\n\r\n", at) + 4;
                ok = ok && received.find_first_not_of('a', body) >= body + static_cast<size_t>(len);
                at = body + static_cast<size_t>(ok ? len : 0);
            }
            ok = ok && at <= received.size();
        }
        if (!ok)
            FAIL("the stream is broken before byte " << at);
        if (got_packets != packets || got_reports != reports || got_answers != answers)
            FAIL("packets " << got_packets << " of " << packets << ", reports " << got_reports
                            << " of " << reports << ", answers " << got_answers << " of "
                            << answers);
    }

    void run(const char *name, const std::string &order)
    {
        open(name);
        waiting = packets = reports = answers = 0;
        taken = 0;
        received.clear();
        usec_t now = 0;
        for (char operation : order)
            step(operation, now += USEC_PER_MSEC);
        if (t) {
            flush(now);
            waiting = 0;
            t->ops->free(t);
            t = nullptr;
        }
        drain();
        check_received();
        if (order.back() == 't') { // the last item is the answer to the teardown
            std::string end = "\r\n\r\n" + std::string(SMALL, 'a');
            if (received.compare(received.size() - end.size(), end.size(), end) != 0)
                FAIL("something was sent after the teardown");
        }
    }
};

const uint64_t TOKEN = 0x1122334455667788;

// Transport in datagrams. `w` proves the viewer's address, has the loop take a turn, and brings
// MTP's acknowledgement if the viewer reads. An answer is no matter of such a transport.
struct datagrams : test::path {
    mtp_receive_flow sink;
    bool mtp, reads;
    uint16_t packets = 0;
    size_t datagrams_here = 0;

    void on_near(const datagram &, usec_t) override {}
    void on_far(const datagram &d) override
    {
        const uint8_t *payload = d.data;
        size_t len = d.len;
        datagrams_here++;
        bool media = mtp ? mtp_receive_flow_record(&sink, d.data, d.len, 0, &payload, &len, 0) ==
                               MTP_RECEIVE_FLOW_RTP
                         : d.len == PACKET;
        if (media)
            came.push_back(load_be16(payload + 2));
    }

    datagrams(const char *name, bool viewer_reads)
        : mtp(std::string(name).compare(0, 3, "mtp") == 0), reads(viewer_reads)
    {
    }

    void frame(usec_t now)
    {
        static const std::vector<uint8_t> payload(PACKET, 'p');
        for (int i = 0; i < PACKETS && t->media.ops->room(&t->media, now); i++) {
            uint8_t head[12] = {};
            store_be16(head + 2, packets);
            const media_packet p = {head, sizeof(head), payload.data(), PACKET - sizeof(head), 0,
                                    0};
            if (t->media.ops->send(&t->media, TRACK_VIDEO, &p, now) != 0)
                FAIL("there is room, and no packet is taken");
            packets++;
        }
        t->media.ops->flush(&t->media, now);
    }

    void acknowledge(usec_t now)
    {
        mtp_ack a;
        uint8_t out[MTP_UDP_ACK_MAX];
        mtp_receiver_ack(&sink.receiver, &a);
        t->ops->on_media(t, out, mtp_udp_ack_encode(&a, TOKEN, out), now);
    }

    void step(char operation, usec_t now)
    {
        uint8_t report[8] = {0x80, 200, 0, 1};
        switch (operation) {
        case 'r':
            (void)t->media.ops->room(&t->media, now);
            break;
        case 'p':
            (void)t->ops->send_rtcp(t, TRACK_VIDEO, report, sizeof(report), now);
            break;
        case 'f':
            frame(now);
            break;
        case 'w':
            prove();
            t->ops->on_writable(t, now);
            uv_run(&loop, UV_RUN_NOWAIT);
            if (reads && mtp)
                acknowledge(now);
            break;
        }
    }

    void run(const char *name, const std::string &order)
    {
        if (t)
            t->ops->free(t);
        for (auto &address : to)
            address = {};
        came.clear();
        packets = 0;
        mtp_receive_flow_init(&sink, TOKEN);
        transport_path lent{};
        lent.token = TOKEN;
        open(name, lent, false);
        const usec_t begun = clock_now();
        usec_t now = begun;
        for (char operation : order)
            step(operation, now += USEC_PER_MSEC);
        if (order.back() == 't') {
            t->ops->free(t);
            t = nullptr;
            uv_run(&loop, UV_RUN_NOWAIT);
            size_t before = datagrams_here;
            uv_run(&loop, UV_RUN_NOWAIT);
            if (datagrams_here != before)
                FAIL("something was sent after the teardown");
        }
        uv_run(&loop, UV_RUN_NOWAIT);
        for (size_t i = 0; i < came.size(); i++)
            if (came[i] != i || came[i] >= packets)
                FAIL("packet " << came[i] << " came in the place of " << i);
        if (!t)
            open(name, lent, false); // for the destructor
    }
};

void run_connection(const char *name, size_t longest, bool late_flush)
{
    for (bool reads : {true, false}) {
        connection c;
        c.reads = reads;
        c.late_flush = late_flush;
        for_each_order(longest, [&](const std::string &order) {
            INFO(name << (reads ? ", read" : ", not read") << ": " << order);
            c.run(name, order);
        });
        CHECK(c.backlogs > 0);
    }
}

void run_datagrams(size_t longest)
{
    for (const char *name : {"mtp", "udp"})
        for (bool reads : {true, false}) {
            datagrams d(name, reads);
            for_each_order(longest, [&](const std::string &order) {
                if (order.find('q') != std::string::npos)
                    return;
                INFO(name << (reads ? ", read: " : ", not read: ") << order);
                d.run(name, order);
            });
        }
}

} // namespace

TEST_CASE("transport orders: minbuf")
{
    run_connection("minbuf", LONG, false);
}

TEST_CASE("transport orders: minbuf whose batch leaves late")
{
    run_connection("minbuf", LONG - 1, true);
}

TEST_CASE("transport orders: tcp")
{
    run_connection("tcp", LONG, false);
}

TEST_CASE("transport orders: datagrams")
{
    run_datagrams(LONG);
}

TEST_CASE("all transport orders: minbuf", "[.]")
{
    run_connection("minbuf", LONGEST, false);
    run_connection("minbuf", LONGEST - 1, true);
}

TEST_CASE("all transport orders: tcp", "[.]")
{
    run_connection("tcp", LONGEST, false);
}

TEST_CASE("all transport orders: datagrams", "[.]")
{
    run_datagrams(LONGEST);
}

TEST_CASE("transport orders: a packet is taken only while there is room")
{
    for (const char *name : {"mtp", "udp"}) {
        datagrams d(name, false);
        transport_path lent{};
        d.open(name, lent, false); // the address is not proved
        uint8_t bytes[PACKET] = {};
        const media_packet p = {nullptr, 0, bytes, sizeof(bytes), 0, 0};
        CHECK_FALSE(d.t->media.ops->room(&d.t->media, clock_now()));
        CHECK(d.t->media.ops->send(&d.t->media, TRACK_VIDEO, &p, clock_now()) == ERR_AGAIN);
    }
}
