// SPDX-License-Identifier: GPL-2.0-or-later
#include "client/receive/media_receiver.h"

#include <arpa/inet.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "tests/support/tcp_pair.hpp"

namespace
{

// A viewer on a connection, with the SDP of weir-send or of a third party.
struct world {
    test::tcp_pair tcp;
    sdp description{};
    media_receiver m;
    const char *repair = "";
    std::vector<std::string> came; // "track rtcp text"

    explicit world(bool third_party = false)
    {
        static const media_receiver_ops ops = {
            [](void *w, media_track track, bool rtcp, const uint8_t *data, size_t len, usec_t,
               usec_t) {
                static_cast<world *>(w)->came.push_back(
                    std::string(track == TRACK_AUDIO ? "audio " : "video ") +
                    (rtcp ? "rtcp " : "rtp ") + std::string(data, data + len));
            },
            [](void *, const capacity_packet *, size_t, usec_t, usec_t) {},
            [](void *, usec_t) {},
            nullptr,
            nullptr,
            nullptr,
            nullptr,
            [](void *, const char *, usec_t) {}};
        description.codec = SDP_H264;
        description.ccfb = !third_party;
        description.ext.adu = third_party ? 0 : 1;
        media_receiver_init(&m, &tcp.loop, tcp.conn, &description, 1, nullptr, &ops, this);
    }
    ~world()
    {
        media_receiver_destroy(&m);
    }

    std::string offer(const std::string &names)
    {
        transport_list list;
        char out[1024];
        REQUIRE(transport_list_split(names.c_str(), &list) == 0);
        REQUIRE(media_receiver_offer(&m, &list, "reno", repair, out, sizeof(out)) == 0);
        return out;
    }
    int accept(const std::string &names, const std::string &answer)
    {
        transport_list list;
        REQUIRE(transport_list_split(names.c_str(), &list) == 0);
        return media_receiver_accept(&m, &list, {answer.data(), answer.size()}, 0);
    }
    void frame(int channel, const std::string &text)
    {
        media_receiver_interleaved(&m, channel, reinterpret_cast<const uint8_t *>(text.data()),
                                   text.size(), 0);
    }
};

} // namespace

TEST_CASE("media_receiver: offers")
{
    world ours, theirs(true);
    CHECK(ours.offer("minbuf:1,3,tcp") ==
          "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=minbuf:1,3;x-cc=reno,"
          "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=tcp;x-cc=reno");
    CHECK(theirs.offer("tcp") == "RTP/AVP/TCP;unicast;interleaved=0-1");
    CHECK(ours.m.tracks[TRACK_VIDEO].path.socket[0] == nullptr);

    std::string text = ours.offer("arc,mtp"); // one pair of ports for both
    int port = udp_socket_port(ours.m.tracks[TRACK_VIDEO].path.socket[0]);
    std::string ports = std::to_string(port) + "-" + std::to_string(port + 1);
    CHECK(text == "RTP/AVPF;unicast;client_port=" + ports + ";x-weir=arc," +
                      "RTP/AVP;unicast;client_port=" + ports + ";x-weir=mtp;x-weir-ecn");
    ours.repair = "auto"; // of datagrams only
    CHECK(ours.offer("arc,tcp") == "RTP/AVPF;unicast;client_port=" + ports +
                                       ";x-weir=arc;x-weir-repair=auto," +
                                       "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=tcp;x-cc=reno");
    theirs.repair = "auto"; // of Weir's servers only
    CHECK(theirs.offer("udp").find("repair") == std::string::npos);
}

TEST_CASE("media_receiver: answers")
{
    struct {
        const char *offered, *answer;
        int result;
        const char *name;
        bool datagram, tells, receiver;
    } const table[] = {
        {"minbuf", "RTP/AVP/TCP;interleaved=0-1;x-weir=minbuf", 0, "minbuf", false, false, false},
        {"tcp", "RTP/AVP/TCP;interleaved=0-1", 0, "tcp", false, false, false},
        {"mtp", "RTP/AVP;client_port=4-5;server_port=6-7;x-weir=mtp;x-weir-token=00000000000000AB",
         0, "mtp", true, true, true},
        {"arc", "RTP/AVPF;client_port=4-5;server_port=6-7;x-weir=arc;x-weir-token=00000000000000AB",
         0, "arc", true, true, true},
        {"udp", "RTP/AVP;client_port=4-5;server_port=6-7", 0, "udp", true, false, true},
        {"mtp", "RTP/AVP;client_port=4-5;server_port=6-7;x-weir=mtp", ERR_UNSUPPORTED, nullptr,
         false, false, false}, // without a token
        {"tcp", "RTP/AVP;client_port=4-5;server_port=6-7", ERR_UNSUPPORTED, nullptr, false, false,
         false},
        {"udp", "RTP/AVP;multicast;client_port=4-5", ERR_UNSUPPORTED, nullptr, false, false, false},
        {"tcp", ";", ERR_MALFORMED, nullptr, false, false, false},
    };
    for (const auto &row : table) {
        INFO(row.offered << " " << row.answer);
        world w;
        (void)w.offer(row.offered);
        CHECK(w.accept(row.offered, row.answer) == row.result);
        if (row.result)
            continue;
        CHECK(std::string(w.m.name) == row.name);
        CHECK(w.m.datagram == row.datagram);
        CHECK(media_receiver_tells(&w.m) == row.tells);
        CHECK_FALSE(media_receiver_connects(&w.m));
        CHECK((w.m.receiver != nullptr) == row.receiver);
    }
}

TEST_CASE("media_receiver: interleaved frames go to the track whose channel they are on")
{
    for (bool third_party : {false, true}) {
        INFO(third_party);
        world w(third_party);
        char offered[256];
        (void)w.offer("tcp");
        w.frame(0, "too early");
        REQUIRE(w.accept("tcp", third_party ? "RTP/AVP/TCP;interleaved=4-5"
                                            : "RTP/AVP/TCP;interleaved=4-5;x-weir=tcp") == 0);
        REQUIRE(media_receiver_offer_audio(&w.m, offered, sizeof(offered)) == 0);
        CHECK(std::string(offered) == (third_party
                                           ? "RTP/AVP/TCP;unicast;interleaved=6-7"
                                           : "RTP/AVP/TCP;unicast;interleaved=6-7;x-weir=tcp"));
        w.frame(6, "not yet");
        const std::string answer = "RTP/AVP/TCP;interleaved=8-9";
        REQUIRE(media_receiver_accept_audio(&w.m, {answer.data(), answer.size()}) == 0);
        w.frame(0, "nobody's");
        for (int channel : {4, 5, 8, 9})
            w.frame(channel, std::to_string(channel));
        // weir-send's audio shares the video's flow.
        const std::string audio = third_party ? "audio" : "video";
        CHECK(w.came == std::vector<std::string>{"video rtp 4", "video rtcp 5", audio + " rtp 8",
                                                 audio + " rtcp 9"});
    }
}

TEST_CASE("media_receiver: the audio of a third party has ports of its own")
{
    for (bool third_party : {false, true}) {
        INFO(third_party);
        world w(third_party);
        char offered[256];
        (void)w.offer("udp");
        REQUIRE(w.accept("udp", third_party
                                    ? "RTP/AVP;client_port=4-5;server_port=6-7"
                                    : "RTP/AVP;client_port=4-5;server_port=6-7;x-weir=udp") == 0);
        REQUIRE(media_receiver_offer_audio(&w.m, offered, sizeof(offered)) == 0);
        CHECK((w.m.tracks[TRACK_AUDIO].path.socket[0] != nullptr) == third_party);
        int port =
            udp_socket_port(w.m.tracks[third_party ? TRACK_AUDIO : TRACK_VIDEO].path.socket[0]);
        CHECK(std::string(offered).find("client_port=" + std::to_string(port)) !=
              std::string::npos);
        const std::string tcp = "RTP/AVP/TCP;interleaved=8-9";
        CHECK(media_receiver_accept_audio(&w.m, {tcp.data(), tcp.size()}) == ERR_UNSUPPORTED);
    }
}

TEST_CASE("media_receiver: a third party that names a wrong port or source")
{
    for (const char *names : {"server_port=6-7", "server_port=6-7;source=192.0.2.9"}) {
        for (bool third_party : {false, true}) {
            INFO(names << third_party);
            world w(third_party);
            (void)w.offer("udp");
            REQUIRE(w.accept("udp", std::string("RTP/AVP;client_port=4-5;") + names +
                                        (third_party ? "" : ";x-weir=udp")) == 0);
            int from = socket(AF_INET, SOCK_DGRAM, 0); // of the server's host
            sockaddr_in at{};
            at.sin_family = AF_INET;
            at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            at.sin_port = htons((uint16_t)udp_socket_port(w.m.tracks[TRACK_VIDEO].path.socket[0]));
            REQUIRE(sendto(from, "media", 5, 0, reinterpret_cast<sockaddr *>(&at), sizeof(at)) ==
                    5);
            while (w.came.empty() && !w.m.third_party)
                uv_run(&w.tcp.loop, UV_RUN_ONCE);
            CHECK(w.came == (third_party ? std::vector<std::string>{"video rtp media"}
                                         : std::vector<std::string>{}));
            close(from);
        }
    }
}

TEST_CASE("media_receiver: a third party's multicast group")
{
    transport_list list = {};
    list.count = 1;
    strcpy(list.names[0], TRANSPORT_MULTICAST);
    const struct {
        const char *answer;
        int result;
    } table[] = {
        {"RTP/AVP;multicast", ERR_MALFORMED},
        {"RTP/AVP;multicast;destination=239.255.9.9", ERR_MALFORMED},
        {"RTP/AVP;multicast;destination=192.0.2.1;port=5000-5001", ERR_MALFORMED},
        {"RTP/AVP;multicast;destination=ff15::9;port=5000-5001", ERR_MALFORMED}, // not reachable
        {"RTP/AVP;client_port=4-5", ERR_UNSUPPORTED},
    };
    auto accept = [&list](world &w, const std::string &answer) {
        return media_receiver_accept(&w.m, &list, {answer.data(), answer.size()}, 0);
    };
    for (const auto &row : table) {
        INFO(row.answer);
        world w(true);
        CHECK(accept(w, row.answer) == row.result);
    }
    world w(true);
    char offered[256];
    REQUIRE(media_receiver_offer(&w.m, &list, "", "", offered, sizeof(offered)) == 0);
    CHECK(std::string(offered) == "RTP/AVP;multicast");
    int from = socket(AF_INET, SOCK_DGRAM, 0); // the camera, whose free port is the group's
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t len = sizeof(at);
    REQUIRE(bind(from, reinterpret_cast<sockaddr *>(&at), len) == 0);
    REQUIRE(getsockname(from, reinterpret_cast<sockaddr *>(&at), &len) == 0);
    REQUIRE(setsockopt(from, IPPROTO_IP, IP_MULTICAST_IF, &at.sin_addr, sizeof(at.sin_addr)) == 0);
    strcpy(w.description.group_source, "127.0.0.1");
    int port = ntohs(at.sin_port);
    REQUIRE(port < 65535);
    REQUIRE(accept(w, "RTP/AVP;multicast;destination=239.255.9.9;port=" + std::to_string(port)) ==
            0);
    CHECK(w.m.datagram);
    CHECK(std::string(w.m.name) == TRANSPORT_MULTICAST);
    const std::string rtp = std::string("\x80\x60", 2) + "media";
    REQUIRE(inet_pton(AF_INET, "239.255.9.9", &at.sin_addr) == 1);
    REQUIRE(sendto(from, rtp.data(), rtp.size(), 0, reinterpret_cast<sockaddr *>(&at), len) ==
            static_cast<ssize_t>(rtp.size()));
    while (w.came.empty())
        uv_run(&w.tcp.loop, UV_RUN_ONCE);
    CHECK(w.came == std::vector<std::string>{"video rtp " + rtp});
    close(from);
    world encrypted(true);
    encrypted.m.encrypts = true;
    CHECK(accept(encrypted, "RTP/AVP;multicast;destination=239.255.9.9;port=5000-5001") ==
          ERR_UNSUPPORTED);
}

namespace
{

std::string key_of(const std::string &offer)
{
    const std::string name = "x-weir-srtp=";
    size_t at = offer.find(name);
    return at == std::string::npos ? "" : offer.substr(at + name.size(), 40);
}

} // namespace

TEST_CASE("media_receiver: beside an encrypted connection datagrams are offered as SRTP only")
{
    world w;
    w.m.encrypts = true;
    std::string text = w.offer("udp,mtp,minbuf,mtp-raw");
    CHECK(text.find("RTP/SAVPF;unicast;client_port=") == 0);
    CHECK(text.find(",RTP/SAVP;unicast;client_port=") != std::string::npos);
    CHECK(text.find(",RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=minbuf;x-cc=reno,") !=
          std::string::npos);
    CHECK(text.find(",RTP/SAVP/TCP;unicast;interleaved=0-1;x-weir=mtp-raw") != std::string::npos);
    CHECK(key_of(text).size() == 40);
    CHECK(key_of(w.offer("udp")) == key_of(text)); // of one session
    world again;
    again.m.encrypts = true;
    CHECK(key_of(again.offer("udp")) != key_of(text));

    world theirs(true); // a third party takes no key: its media stays in the connection
    theirs.m.encrypts = true;
    CHECK(theirs.offer("udp,tcp") == "RTP/AVP/TCP;unicast;interleaved=0-1");
    transport_list list;
    char out[256];
    REQUIRE(transport_list_split("udp", &list) == 0);
    CHECK(media_receiver_offer(&theirs.m, &list, "", "", out, sizeof(out)) == ERR_UNSUPPORTED);
}

TEST_CASE("media_receiver: an answer without a key is refused beside an encrypted connection")
{
    const std::string head = "RTP/SAVPF;client_port=4-5;server_port=6-7;x-weir=udp",
                      key = ";x-weir-srtp=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwd";
    const struct {
        std::string answer;
        int result;
    } table[] = {{head + key, 0},
                 {head, ERR_UNSUPPORTED},
                 {"RTP/AVPF;client_port=4-5;server_port=6-7;x-weir=udp", ERR_UNSUPPORTED},
                 {"RTP/AVPF;client_port=4-5;server_port=6-7;x-weir=udp" + key, ERR_UNSUPPORTED},
                 {head + ";x-weir-srtp=AAEC", ERR_MALFORMED},
                 {head + ";x-weir-srtp=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGx=w", ERR_MALFORMED}};
    for (const auto &row : table) {
        INFO(row.answer);
        world w;
        w.m.encrypts = true;
        (void)w.offer("udp");
        CHECK(w.accept("udp", row.answer) == row.result);
        CHECK((w.m.srtp != nullptr) == (row.result == 0));
    }
    world tcp; // the connection itself protects what it carries
    tcp.m.encrypts = true;
    (void)tcp.offer("minbuf");
    CHECK(tcp.accept("minbuf", "RTP/AVP/TCP;interleaved=0-1;x-weir=minbuf") == 0);
    CHECK(tcp.m.srtp == nullptr);
}
