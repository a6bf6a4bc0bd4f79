// SPDX-License-Identifier: GPL-2.0-or-later
// Whole sessions in virtual time. A step is a time, an input, and all reactions of the client in
// order: the requests that it sends and the calls to its owner. A deadline that is due at once
// belongs to its step; between steps no deadline may pass. The responses were recorded from
// weir-send and from GStreamer's server.
#include "common/protocol/rtsp_client.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "client/rtsp/rtsp_hash.h"
#include "common/base/err.h"
#include "common/wire/rtsp.h"

namespace
{

const usec_t T0 = 7 * USEC_PER_SEC;
const usec_t MS = USEC_PER_MSEC;
const usec_t WALL = 1700000000 * USEC_PER_SEC; // at time 0
const std::string URL = "rtsp://192.0.2.1/live";

std::string crlf(const std::string &text)
{
    std::string out;
    for (char c : text)
        out += c == '\n' ? std::string("\r\n") : std::string(1, c);
    return out;
}

// Makes a message from lines; with a `body`, adds its Content-Length.
std::string message(const std::string &head, const std::string &body = "")
{
    std::string text = crlf(body);
    std::string length =
        body.empty() ? "" : "Content-Length: " + std::to_string(text.size()) + "\r\n";
    return crlf(head) + length + "\r\n" + text;
}

std::string reply(int cseq, const std::string &status = "200 OK", const std::string &headers = "",
                  const std::string &body = "")
{
    return message("RTSP/1.0 " + status + "\nCSeq: " + std::to_string(cseq) + "\n" + headers, body);
}

std::string frame(int channel, const std::string &data)
{
    return std::string("$") + (char)channel + (char)(data.size() >> 8) + (char)data.size() + data;
}

const char WEIR_VIDEO[] = R"(v=0
o=- 1 1 IN IP4 0.0.0.0
s=test:160x120@25
c=IN IP4 0.0.0.0
t=0 0
a=control:*
a=range:npt=now-
a=x-weir-clock:11cc9d0bf661a80b-c8d02d40fc6d9f16
m=video 0 RTP/AVP 96
b=AS:120
a=rtpmap:96 H264/90000
a=fmtp:96 packetization-mode=1;profile-level-id=64000b;sprop-parameter-sets=Z2QAC6wSxMUI/LgLUBAQFAAAAwAIAAADAMo8UKiY,aO8Pyw==
a=rtcp-fb:96 nack
a=rtcp-fb:96 nack pli
a=rtcp-fb:* ack ccfb
a=extmap:1 http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time
a=extmap:2 urn:x-weir:rtp-hdrext:adu
a=extmap:3 urn:x-weir:rtp-hdrext:feedback
a=control:trackID=0
a=x-weir-source:test 160x120@25/1
a=x-weir-size:0 160x120@25/2 layers=2
a=x-weir-level:0 size=0 tid=0 rate=80000
a=x-weir-level:1 size=0 tid=1 rate=120000
)";

const char WEIR_AUDIO[] = R"(m=audio 0 RTP/AVP 98
b=AS:64
a=rtpmap:98 opus/48000/2
a=fmtp:98 sprop-stereo=1
a=ptime:20
a=extmap:2 urn:x-weir:rtp-hdrext:adu
a=extmap:3 urn:x-weir:rtp-hdrext:feedback
a=control:trackID=1
)";

const char GST_VIDEO[] = R"(v=0
o=- 355439558403129079 1 IN IP4 127.0.0.1
s=Session streamed with GStreamer
i=rtsp-server
t=0 0
a=tool:GStreamer
a=type:broadcast
a=control:*
a=range:npt=now-
m=video 0 RTP/AVP 96
c=IN IP4 0.0.0.0
b=AS:409
a=rtpmap:96 H264/90000
a=framerate:25
a=fmtp:96 packetization-mode=1;sprop-parameter-sets=Z0LADdoFB+wFqDAwNSgAAAMACAAAAwGUeKFV,aM48gA==;profile-level-id=42c00d;level-asymmetry-allowed=1
a=control:stream=0
a=ts-refclk:local
a=mediaclk:sender
a=ssrc:974092333 cname:user2804878085@host-639955aa
)";

const char GST_AUDIO[] = R"(m=audio 0 RTP/AVP 97
c=IN IP4 0.0.0.0
b=AS:64
a=rtpmap:97 OPUS/48000/2
a=fmtp:97 sprop-stereo=0;sprop-maxcapturerate=48000
a=control:stream=1
a=ts-refclk:local
a=mediaclk:sender
a=ssrc:2687815446 cname:user2804878085@host-639955aa
)";

std::string weir_description(int cseq, const std::string &sdp = WEIR_VIDEO)
{
    return reply(cseq, "200 OK",
                 "Server: weir-send\nContent-Base: " + URL + "/\nContent-Type: application/sdp\n",
                 sdp);
}

std::string weir_setup(int cseq, const std::string &transport)
{
    return reply(cseq, "200 OK",
                 "Server: weir-send\nTransport: " + transport +
                     "\nSession: 2c75d4d43d74f2d6;timeout=60\n");
}

std::string gst_description(int cseq, const std::string &sdp = GST_VIDEO)
{
    return reply(cseq, "200 OK",
                 "Content-Type: application/sdp\nContent-Base: " + URL +
                     "/\nServer: GStreamer RTSP server\nDate: Sun, 22 Nov 2026 20:28:35 GMT\n",
                 sdp);
}

std::string gst_reply(int cseq, const std::string &headers = "")
{
    return reply(cseq, "200 OK",
                 headers + "Server: GStreamer RTSP server\nSession: 7EG57UM8b.pdpIJ_\n"
                           "Date: Sun, 22 Nov 2026 20:28:35 GMT\n");
}

const char GST_TCP[] =
    "Transport: RTP/AVP/TCP;unicast;interleaved=0-1;ssrc=3A0F782D;mode=\"PLAY\"\n";
const char GROUP[] = "Transport: RTP/AVP;multicast;destination=239.0.0.1;port=5000-5001;ttl=1\n";
const char GST_PUBLIC[] =
    "Public: OPTIONS, DESCRIBE, ANNOUNCE, GET_PARAMETER, PAUSE, PLAY, RECORD, "
    "SETUP, SET_PARAMETER, TEARDOWN\n";

transport_list list_of(const std::vector<std::string> &names)
{
    transport_list list = {};
    for (const std::string &name : names)
        std::strcpy(list.names[list.count++], name.c_str());
    return list;
}

// The owner of a client: a connection that records the bytes sent, and media paths that exist only
// by name.
struct Owner {
    rtsp_client_config config = {};
    rtsp_client *client = nullptr;
    std::vector<std::string> log;
    usec_t now = T0;
    size_t piece = 0;   // bytes of input that arrive together; 0: all
    std::string unread; // input that the client has not used
    int error = 0;      // of the input
    int send_error = 0;
    int sends = -1; // how many requests can still be sent; -1: all
    bool playable = true;
    bool media_open = false;
    const char *no_raw = nullptr;
    rtsp_client_start start = {-1, 0};
    int accept_error = 0;
    int controls_ms = 0; // calls rtsp_client_control

    Owner()
    {
        const char *why;
        REQUIRE(url_parse((URL).c_str(), &config.url, &why) == 0);
        config.transports = list_of({"tcp"});
        config.standard_transports = list_of({"tcp", "udp"});
        config.live_latency_ms = 1000;
        config.stored_latency_ms = 1500;
        config.has_audio = true;
        config.hash = rtsp_hash;
    }

    ~Owner()
    {
        rtsp_client_free(client);
    }

    Owner(const Owner &) = delete;
    Owner &operator=(const Owner &) = delete;

    void set_url(const std::string &url)
    {
        const char *why;
        REQUIRE(url_parse(url.c_str(), &config.url, &why) == 0);
    }

    void receive(const std::string &bytes)
    {
        size_t step = piece ? piece : bytes.size();
        for (size_t at = 0; at < bytes.size() && !error; at += step) {
            unread += bytes.substr(at, step);
            int used = rtsp_client_input(client, (const uint8_t *)unread.data(), unread.size(),
                                         WALL + now, now);
            if (used < 0)
                error = used;
            else
                unread.erase(0, (size_t)used);
        }
    }
};

Owner *owner_of(void *ctx)
{
    return static_cast<Owner *>(ctx);
}

void note(void *ctx, const std::string &what)
{
    owner_of(ctx)->log.push_back(what);
}

std::string number(double value)
{
    std::ostringstream out;
    out << value;
    return std::isnan(value) ? "-" : out.str();
}

// "METHOD URI #CSEQ Name: value; ... [body]", without the headers that every request has.
int send(void *ctx, const char *data, size_t len, usec_t *wall)
{
    rtsp_item item;
    size_t used;
    *wall = WALL + owner_of(ctx)->now;
    if (owner_of(ctx)->send_error)
        return owner_of(ctx)->send_error;
    if (owner_of(ctx)->sends == 0)
        return ERR_CLOSED;
    owner_of(ctx)->sends -= owner_of(ctx)->sends > 0;
    REQUIRE(rtsp_decode((const uint8_t *)data, len, &item, &used) == 0);
    REQUIRE(used == len);
    if (item.kind == RTSP_RESPONSE) {
        note(ctx, "reply " + std::to_string(item.status) + " #" + std::to_string(item.cseq));
        return 0;
    }
    REQUIRE(item.kind == RTSP_REQUEST);
    std::string text = std::string(rtsp_method_name(item.method)) + " " +
                       std::string(item.uri.at, item.uri.len) + " #" + std::to_string(item.cseq);
    for (int i = 0; i < item.header_count; i++) {
        std::string name(item.headers[i].name.at, item.headers[i].name.len);
        if (name != "CSeq" && name != "User-Agent" && name.substr(0, 8) != "Content-")
            text += " " + name + ": " +
                    std::string(item.headers[i].value.at, item.headers[i].value.len);
    }
    std::string body;
    for (size_t i = 0; i < item.body.len; i++)
        body +=
            item.body.at[i] == '\n' ? "," : std::string(item.body.at[i] != '\r', item.body.at[i]);
    note(ctx, text + (body.empty() ? "" : " [" + body + "]"));
    return 0;
}

const rtsp_client_link link_ops = {
    .send = send,
    .redirect =
        [](void *ctx, const url *to, usec_t) {
            note(ctx, "redirect " + std::string(to->host) + ":" + std::to_string(to->port));
            owner_of(ctx)->unread.clear();
        },
    .impossible =
        [](void *ctx, const char *name) {
            return std::strncmp(name, "mtp-raw", 7) == 0 ? owner_of(ctx)->no_raw : nullptr;
        },
    .offer =
        [](void *, const sdp *, const transport_list *list, char *out, size_t cap) {
            std::string text;
            for (int i = 0; i < list->count; i++)
                text += std::string(i ? "," : "") + list->names[i];
            REQUIRE(text.size() < cap);
            std::strcpy(out, text.c_str());
            return 0;
        },
    // The names are those of common/transport: mtp and udp use datagrams, and weir-send's paths are
    // validated.
    .accept =
        [](void *ctx, const transport_list *list, text answer, rtsp_client_path *out, usec_t) {
            rtsp_transport t[RTSP_MAX_OFFERS];
            if (!answer.at || rtsp_transport_decode(answer, t) != 1)
                return (int)ERR_MALFORMED;
            std::string name = t[0].weir[0]     ? t[0].weir
                               : t[0].multicast ? TRANSPORT_MULTICAST
                               : t[0].tcp       ? "tcp"
                                                : "udp";
            *out = {};
            out->pairs = !t[0].tcp;
            out->datagram = out->pairs || name == "mtp-raw";
            out->validates = t[0].has_token;
            std::strcpy(out->transport, name.c_str());
            for (int i = 0; i < list->count; i++)
                if (name == list->names[i])
                    return owner_of(ctx)->accept_error;
            return (int)ERR_UNSUPPORTED;
        },
    .offer_beside =
        [](void *, const char *name, char *out, size_t) {
            std::strcpy(out, name);
            return 0;
        },
    .accept_beside = [](void *, text answer) { return std::string(answer.at, 6) == "scream"; },
    .try_beside = [](void *ctx, usec_t) { note(ctx, "try beside"); },
    .offer_second =
        [](void *, char *out, size_t) {
            std::strcpy(out, "second");
            return 0;
        },
    .accept_second = [](void *, text answer, usec_t) { return answer.at != nullptr; },
    .offer_audio =
        [](void *, char *out, size_t) {
            std::strcpy(out, "audio");
            return 0;
        },
    .accept_audio = [](void *, text answer) { return answer.at ? 0 : (int)ERR_MALFORMED; },
    .abandon = [](void *ctx, const char *why) { note(ctx, std::string("abandon: ") + why); },
    .media_is_open = [](void *ctx) { return owner_of(ctx)->media_open; },
    .on_interleaved =
        [](void *ctx, int channel, const uint8_t *data, size_t len, usec_t now) {
            bool taken = rtsp_client_media_received(owner_of(ctx)->client, now);
            note(ctx, "frame " + std::to_string(channel) + " " +
                          std::string((const char *)data, len) + (taken ? "" : ", not taken"));
        },
    .on_film_table = [](void *ctx, text body,
                        usec_t) { note(ctx, "film table: " + std::string(body.at, body.len)); },
};

const rtsp_client_events event_ops = {
    .on_connected = [](void *ctx, usec_t) { note(ctx, "connected"); },
    .on_described =
        [](void *ctx, const sdp *, const char **why, usec_t) {
            *why = "it has no levels";
            if (owner_of(ctx)->controls_ms)
                rtsp_client_control(owner_of(ctx)->client, owner_of(ctx)->controls_ms);
            return owner_of(ctx)->playable;
        },
    .on_body =
        [](void *ctx, text body, int max_age, usec_t) {
            note(ctx, "body " + std::string(body.at, body.len) + " age " + std::to_string(max_age));
        },
    .on_list = [](void *ctx, text list,
                  usec_t) { note(ctx, "list " + std::string(list.at, list.len)); },
    .on_setup =
        [](void *ctx, const rtsp_client_setup *s, usec_t) {
            note(ctx, std::string("setup ") + s->transport + (s->datagram ? " datagram" : "") +
                          (s->pairs ? " pairs" : "") + " rtt " + number((double)s->rtt / 1e3) +
                          (*s->why ? std::string(": ") + s->why : ""));
        },
    .on_moved =
        [](void *ctx, const rtsp_client_setup *s, usec_t) {
            note(ctx, std::string("moved to ") + s->transport + (s->datagram ? " datagram" : ""));
        },
    .on_audio = [](void *ctx) { note(ctx, "audio"); },
    .on_start = [](void *ctx, rtsp_client_start *out) { *out = owner_of(ctx)->start; },
    .on_ready = [](void *ctx, usec_t) { note(ctx, "ready"); },
    .on_playing =
        [](void *ctx, const rtsp_client_place *p, usec_t) {
            note(ctx, "playing from " + number(p->seconds) + " frame " + std::to_string(p->first) +
                          " shows " + std::to_string(p->show) + (p->ahead ? " ahead" : "") +
                          (p->sought ? " sought" : ""));
        },
    .on_answer =
        [](void *ctx, const rtsp_client_answer *a, usec_t) {
            note(ctx, "params level " + std::to_string(a->params.level) + " rtt " +
                          number((double)a->rtt / 1e3) + " wall " +
                          number((double)(a->received_wall - a->asked_wall) / 1e3));
        },
    .on_pair_refused = [](void *ctx, usec_t) { note(ctx, "no pair"); },
    .on_values = [](void *ctx, text body,
                    usec_t) { note(ctx, "hashes " + std::string(body.at, body.len)); },
    .on_level =
        [](void *ctx, int level, bool accepted, usec_t) {
            note(ctx, "level " + std::to_string(level) + (accepted ? "" : " refused"));
        },
    .on_pause_refused = [](void *ctx, usec_t) { note(ctx, "no pause"); },
    .on_seek_refused = [](void *ctx, usec_t) { note(ctx, "no seek"); },
    .on_end =
        [](void *ctx, rtsp_client_end end, const char *text, usec_t) {
            static const char *const names[] = {"refused", "lost", "internal", "left", "listed"};
            note(ctx, std::string("end ") + names[end] + (*text ? std::string(": ") + text : ""));
        },
};

using Action = std::function<void(Owner &)>;

struct Step {
    int at; // ms
    Action act;
    std::vector<std::string> log;
};

Action in(const std::string &bytes)
{
    return [bytes](Owner &o) { o.receive(bytes); };
}

void connected(Owner &o)
{
    rtsp_client_connected(o.client, o.now);
}

// Checks that the deadline is exactly this microsecond.
void timeout(Owner &o)
{
    CHECK(rtsp_client_next_timeout(o.client) == o.now);
    rtsp_client_on_timeout(o.client, o.now);
}

void leave(Owner &o)
{
    CHECK(rtsp_client_leave(o.client, o.now));
}

void datagram(Owner &o)
{
    CHECK(rtsp_client_media_received(o.client, o.now));
}

void media_open(Owner &o)
{
    rtsp_client_media_open(o.client, o.now);
}

Action closed(int err)
{
    return [err](Owner &o) { rtsp_client_closed(o.client, err, o.now); };
}

Action malformed(int err)
{
    return [err](Owner &o) {
        CHECK(o.error == err);
        rtsp_client_closed(o.client, err, o.now);
    };
}

void run(Owner &o, const std::vector<Step> &steps)
{
    if (!o.client)
        o.client = rtsp_client_new(&o.config, &link_ops, &o, &event_ops, &o, T0);
    REQUIRE(o.client);
    for (const Step &s : steps) {
        INFO("at " << s.at << " ms");
        usec_t at = T0 + s.at * MS;
        REQUIRE(at >= o.now);
        o.now = at;
        REQUIRE(rtsp_client_next_timeout(o.client) >= o.now);
        o.log.clear();
        s.act(o);
        for (int i = 0; i < 10 && rtsp_client_next_timeout(o.client) <= o.now; i++)
            rtsp_client_on_timeout(o.client, o.now);
        CHECK(o.log == s.log);
    }
}

const std::string DESCRIBE_1 = "DESCRIBE " + URL + " #1 Accept: application/sdp";
const std::string SESSION = " Session: 2c75d4d43d74f2d6";
const std::string GST_SESSION = " Session: 7EG57UM8b.pdpIJ_";
const std::string PARAMS = " [clock,transport,level,]";

// Up to the first picture of a live stream of weir-send without audio, 10 ms a round trip. The next
// request for parameters is due at 1020 ms.
void play_weir(Owner &o)
{
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {10, in(weir_description(1)), {"SETUP " + URL + "/trackID=0 #2 Transport: tcp"}},
            {20,
             in(weir_setup(2, "RTP/AVP/TCP;unicast;interleaved=0-1;ssrc=3D13A1C1;x-weir=tcp")),
             {"setup tcp rtt 10", "SET_PARAMETER " + URL + "/ #3" + SESSION + " [latency: 1000,]",
              "PLAY " + URL + "/ #4" + SESSION + " Range: npt=now-",
              "GET_PARAMETER " + URL + "/ #5" + SESSION + PARAMS}},
            {30,
             in(reply(3) + reply(4, "200 OK", "Range: npt=now-\n")),
             {"playing from - frame -1 shows -1"}},
            {31,
             in(reply(5, "200 OK", "", "clock: 1\nlevel: 1\n")),
             {"params level 1 rtt 11 wall 11"}}});
}

// As play_weir, of a viewer whose media may move to scream; `answer`: what the server says of that.
void play_beside(Owner &o, const std::string &answer, const std::vector<std::string> &tries)
{
    std::strcpy(o.config.transports.beside, "scream");
    std::vector<std::string> plays = {
        "setup tcp rtt 10", "SET_PARAMETER " + URL + "/ #3" + SESSION + " [latency: 1000,]",
        "PLAY " + URL + "/ #4" + SESSION + " Range: npt=now-",
        "GET_PARAMETER " + URL + "/ #5" + SESSION + PARAMS};
    plays.insert(plays.end(), tries.begin(), tries.end());
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {10,
             in(weir_description(1)),
             {"SETUP " + URL + "/trackID=0 #2 Transport: tcp X-Weir-Beside: scream"}},
            {20,
             in(reply(2, "200 OK",
                      "Transport: RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=tcp\n" + answer +
                          "Session: 2c75d4d43d74f2d6;timeout=60\n")),
             plays}});
}

} // namespace

TEST_CASE("rtsp client: live media moves beside the connection, and back")
{
    Owner o;
    auto beside_open = [](Owner &w) { rtsp_client_beside_open(w.client, w.now); };
    auto address_changed = [](Owner &w) { rtsp_client_address_changed(w.client, w.now); };
    auto moved = [](bool beside) {
        return [beside](Owner &w) { rtsp_client_media_moved(w.client, beside, w.now); };
    };
    play_beside(o, "X-Weir-Beside: scream\n", {"try beside"});
    run(o, {{28, beside_open, {}}, // the request waits for the response to PLAY
            {30,
             in(reply(3) + reply(4, "200 OK", "Range: npt=now-\n") + reply(5)),
             {"playing from - frame -1 shows -1",
              "SET_PARAMETER " + URL + "/ #6" + SESSION + " [path: beside,]",
              "params level -1 rtt 10 wall 10"}},
            {40, in(reply(6)), {}},
            {41, moved(true), {"moved to scream datagram"}},
            {42, moved(true), {}},
            {541, moved(false), {"moved to tcp"}},
            {1020, timeout, {"GET_PARAMETER " + URL + "/ #7" + SESSION + PARAMS}},
            {1030, in(reply(7)), {"params level -1 rtt 10 wall 10"}},
            {1541, timeout, {"try beside"}},
            {1550, beside_open, {"SET_PARAMETER " + URL + "/ #8" + SESSION + " [path: beside,]"}},
            {1560, in(reply(8, "451 No")), {}},
            {1565, address_changed, {}}, // media is on the connection
            {1570, moved(true), {"moved to scream datagram"}},
            {1580, address_changed, {"moved to scream datagram"}}});
}

TEST_CASE("rtsp client: media stays on the connection of a server that knows no move")
{
    for (const char *answer : {"", "X-Weir-Beside: pigeon\n"}) {
        Owner o;
        play_beside(o, answer, {});
    }
}

TEST_CASE("rtsp client: a session with weir-send, however its bytes arrive")
{
    Owner o;
    o.piece = GENERATE(0, 1, 7, 100);
    std::string tcp = "RTP/AVP/TCP;unicast;interleaved=";
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {12,
             in(weir_description(1, std::string(WEIR_VIDEO) + WEIR_AUDIO)),
             {"SETUP " + URL + "/trackID=0 #2 Transport: tcp"}},
            {20,
             in(weir_setup(2, tcp + "0-1;ssrc=3D13A1C1;x-weir=tcp")),
             // Requests that do not depend on each other leave together.
             {"setup tcp rtt 8", "SETUP " + URL + "/trackID=1 #3" + SESSION + " Transport: audio",
              "SET_PARAMETER " + URL + "/ #4" + SESSION + " [latency: 1000,]",
              "PLAY " + URL + "/ #5" + SESSION + " Range: npt=now-",
              "GET_PARAMETER " + URL + "/ #6" + SESSION + PARAMS}},
            // Media may arrive before the response to PLAY, and between two responses.
            {30,
             in(weir_setup(3, tcp + "2-3;ssrc=A5C84BFD;x-weir=tcp") + frame(0, "early") + reply(4) +
                frame(1, "report") +
                reply(5, "200 OK",
                      "Server: weir-send\nRange: npt=now-\nRTP-Info: url=" + URL +
                          "/trackID=0;seq=6825\nSession: 2c75d4d43d74f2d6\n") +
                frame(0, "") + frame(2, "audio") +
                reply(6, "200 OK", "Content-Type: text/parameters\n",
                      "clock: 1795379307379531\ntransport: rtt_ms=0.058 loss=0.00000 "
                      "unsent_bytes=0 cwnd=15 skipped=0\nlevel: 1\n")),
             {"audio", "frame 0 early", "frame 1 report", "playing from - frame -1 shows -1",
              "frame 0 ", "frame 2 audio", "params level 1 rtt 10 wall 10"}},
            {1020, timeout, {"GET_PARAMETER " + URL + "/ #7" + SESSION + PARAMS}},
            {1900, in(reply(7, "200 OK", "", "level: 0\n")), {"params level 0 rtt 880 wall 880"}},
            {2000, leave, {"TEARDOWN " + URL + "/ #8" + SESSION}},
            {2010,
             in(frame(0, "late") + reply(8) + frame(0, "later")),
             {"frame 0 late, not taken", "end left"}},
            {3000, [](Owner &w) { CHECK_FALSE(rtsp_client_leave(w.client, w.now)); }, {}}});
    CHECK(rtsp_client_next_timeout(o.client) == USEC_NEVER);
}

TEST_CASE("rtsp client: a session with GStreamer's server, one request at a time")
{
    Owner o;
    o.piece = GENERATE(0, 1, 50);
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {10,
             in(gst_description(1, std::string(GST_VIDEO) + GST_AUDIO)),
             {"SETUP " + URL + "/stream=0 #2 Transport: tcp"}},
            {20,
             in(gst_reply(2, GST_TCP)),
             {"setup tcp rtt 10",
              "SETUP " + URL + "/stream=1 #3" + GST_SESSION + " Transport: audio"}},
            {30,
             in(gst_reply(3, "Transport: RTP/AVP/TCP;unicast;interleaved=2-3;ssrc=A034CF16\n")),
             {"audio", "PLAY " + URL + "/ #4" + GST_SESSION}},
            {40,
             in(gst_reply(4, "Range: npt=now-\n")),
             {"playing from - frame -1 shows -1", "OPTIONS " + URL + "/ #5" + GST_SESSION}},
            {50, in(gst_reply(5, GST_PUBLIC) + frame(0, "media")), {"frame 0 media"}},
            // After that, GET_PARAMETER without a body, every 5 s.
            {5040, timeout, {"GET_PARAMETER " + URL + "/ #6" + GST_SESSION}},
            {5050, in(gst_reply(6)), {"params level -1 rtt 10 wall 10"}},
            {10040, timeout, {"GET_PARAMETER " + URL + "/ #7" + GST_SESSION}},
            {10050, leave, {"TEARDOWN " + URL + "/ #8" + GST_SESSION}},
            {10060, in(gst_reply(7) + gst_reply(8, "Connection: close\n")), {"end left"}}});
}

TEST_CASE("rtsp client: a folder is listed")
{
    Owner o;
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {10,
             in(reply(1, "300 Multiple Choices", "", "/a.mkv\n")),
             {"list /a.mkv\r\n", "end listed"}}});
}

TEST_CASE("rtsp client: a list in parts")
{
    const auto part = [](int cseq, const std::string &place, const std::string &lines) {
        return in(reply(cseq, "300 Multiple Choices", "X-Weir-List: " + place + "\n", lines));
    };
    const auto next = [](int cseq, int from) {
        return "DESCRIBE " + URL + " #" + std::to_string(cseq) +
               " X-Weir-List: " + std::to_string(from);
    };
    SECTION("all")
    {
        Owner o;
        run(o, {{0, connected, {"connected", DESCRIBE_1}},
                {10, part(1, "first=0;total=4", "/a\n/b\n"), {next(2, 2)}},
                {20, part(2, "first=2;total=4", "/c\n"), {next(3, 3)}},
                {30,
                 part(3, "first=3;total=4", "/d\n"),
                 {"list /a\r\n/b\r\n/c\r\n/d\r\n", "end listed"}}});
    }
    SECTION("a part that brings nothing, or is another one, is the end")
    {
        for (const auto &[place, lines] :
             {std::pair{"first=2;total=4", ""}, {"first=1;total=4", "/b\n"}, {"?", "/c\n"}}) {
            INFO(place);
            Owner o;
            run(o, {{0, connected, {"connected", DESCRIBE_1}},
                    {10, part(1, "first=0;total=4", "/a\n/b\n"), {next(2, 2)}},
                    {20, part(2, place, lines), {"list /a\r\n/b\r\n", "end listed"}}});
        }
    }
    SECTION("a server that has ever more")
    {
        Owner o;
        std::vector<Step> rows = {{0, connected, {"connected", DESCRIBE_1}}};
        std::string all;
        for (int i = 0; i < RTSP_CLIENT_LIST_PARTS; i++) {
            bool is_last = i == RTSP_CLIENT_LIST_PARTS - 1;
            all += "/x\r\n";
            std::vector<std::string> out = {next(i + 2, i + 1)};
            if (is_last)
                out = {"list " + all, "end listed"};
            rows.push_back({10 * i + 10,
                            part(i + 1, "first=" + std::to_string(i) + ";total=9999", "/x\n"),
                            out});
        }
        run(o, rows);
    }
}

TEST_CASE("rtsp client: another type than a description")
{
    const std::string request = "DESCRIBE " + URL + " #1 Accept: image/jpeg";
    struct {
        const char *status, *headers, *body;
        std::vector<std::string> out;
    } const table[] = {
        {"200 OK",
         "Content-Type: image/jpeg\nCache-Control: max-age=60\n",
         "xyz",
         {"body xyz age 60", "end listed"}},
        {"200 OK", "Content-Type: image/jpeg\n", "xyz", {"body xyz age 0", "end listed"}},
        {"200 OK",
         "Content-Type: application/sdp\n",
         "v=0",
         {"end refused: the server sends something else"}},
        {"404 Not Found", "", "", {"end refused: the server refuses DESCRIBE: 404 Not Found"}},
    };
    for (const auto &row : table) {
        INFO(row.headers);
        Owner o;
        o.config.accept = "image/jpeg";
        run(o, {{0, connected, {"connected", request}},
                {10, in(reply(1, row.status, row.headers, row.body)), row.out}});
    }
}

TEST_CASE("rtsp client: Basic and Digest")
{
    // Request, challenge and hash of a recorded session with GStreamer's server.
    Owner o;
    o.set_url("rtsp://joe:pass@127.0.0.1:46417/live");
    std::string url = "rtsp://127.0.0.1:46417/live";
    SECTION("Digest")
    {
        std::string line =
            " Authorization: Digest username=\"joe\", realm=\"GStreamer RTSP Server\", "
            "nonce=\"9bdeadbfc94fa17b\", uri=\"";
        run(o,
            {{0, connected, {"connected", "DESCRIBE " + url + " #1 Accept: application/sdp"}},
             {10,
              in(reply(1, "401 Unauthorized",
                       "WWW-Authenticate: Digest realm=\"GStreamer RTSP Server\", "
                       "nonce=\"9bdeadbfc94fa17b\"\n")),
              {"DESCRIBE " + url + " #2" + line + url +
               "\", response=\"671307b3abd7eaf5f0790f4db90f2b61\" Accept: application/sdp"}},
             {20,
              in(reply(2, "200 OK", "Content-Base: " + url + "/\n", GST_VIDEO)),
              {"SETUP " + url + "/stream=0 #3" + line + url +
               "/stream=0\", response=\"f6ded1f6010dc38509e22d5a7f52c60a\" Transport: tcp"}},
             {30,
              in(reply(3, "200 OK", std::string("Session: J.I55VVaCtqPR-94\n") + GST_TCP)),
              {"setup tcp rtt 10", "PLAY " + url + "/ #4 Session: J.I55VVaCtqPR-94" + line + url +
                                       "/\", response=\"e9a9142714b977c098090e531c04e77a\""}}});
    }
    SECTION("Basic; a second 401 ends the session")
    {
        std::string basic = "WWW-Authenticate: Basic realm=\"x\"\n";
        run(o, {{0, connected, {"connected", "DESCRIBE " + url + " #1 Accept: application/sdp"}},
                {10,
                 in(reply(1, "401 Unauthorized", basic)),
                 {"DESCRIBE " + url +
                  " #2 Authorization: Basic am9lOnBhc3M= Accept: application/sdp"}},
                {20,
                 in(reply(2, "401 Unauthorized", basic)),
                 {"end refused: the server refuses DESCRIBE: 401 Unauthorized"}}});
    }
    SECTION("a server for which each nonce is stale")
    {
        int requests = 1;
        run(o, {{0, connected, {"connected", "DESCRIBE " + url + " #1 Accept: application/sdp"}}});
        while (!rtsp_client_is_over(o.client) && requests < 100) {
            o.receive(reply(requests++, "401 U",
                            "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", stale=true\n"));
        }
        CHECK(requests - 1 == 10);
        CHECK(o.log.back() == "end refused: the server refuses DESCRIBE: 401 U");
    }
    SECTION("during the session: the same request is sent again with its content")
    {
        o.config.adapt = "sender";
        std::string ask = "WWW-Authenticate: Basic realm=\"x\"\n";
        std::string basic = " Authorization: Basic am9lOnBhc3M=";
        std::string base = "rtsp://192.0.2.1/live/";
        run(o,
            {{0, connected, {"connected", "DESCRIBE " + url + " #1 Accept: application/sdp"}},
             {10, in(weir_description(1)), {"SETUP " + base + "trackID=0 #2 Transport: tcp"}},
             {20,
              in(reply(2, "401 Unauthorized", ask)),
              {"SETUP " + base + "trackID=0 #3" + basic + " Transport: tcp"}},
             {30,
              in(weir_setup(3, "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=tcp")),
              {"setup tcp rtt 10",
               "SET_PARAMETER " + base + " #4" + SESSION + basic + " [latency: 1000,]",
               "SET_PARAMETER " + base + " #5" + SESSION + basic + " [adapt: sender,]",
               "PLAY " + base + " #6" + SESSION + basic + " Range: npt=now-",
               "GET_PARAMETER " + base + " #7" + SESSION + basic + PARAMS}},
             // A stronger scheme than before; the next requests use it, too.
             {40,
              in(reply(4) + reply(5) +
                 reply(6, "401 Unauthorized", "WWW-Authenticate: Digest realm=\"r\", nonce=n\n")),
              {"PLAY " + base + " #8" + SESSION +
               " Authorization: Digest username=\"joe\", realm=\"r\", nonce=\"n\", uri=\"" + base +
               "\", response=\"65ef7cdb5c69366dcba1633e3b03e022\" Range: npt=now-"}}});
    }
    SECTION("without credentials")
    {
        o.set_url(url);
        run(o, {{0, connected, {"connected", "DESCRIBE " + url + " #1 Accept: application/sdp"}},
                {10,
                 in(reply(1, "401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"\n")),
                 {"end refused: the server refuses DESCRIBE: 401 Unauthorized"}}});
    }
}

TEST_CASE("rtsp client: redirects")
{
    Owner o;
    o.piece = GENERATE(0, 1);
    std::string to = "Location: rtsp://192.0.2.2:8554/other\n";
    SECTION("301 and 302: the rest of the connection is not read")
    {
        std::string status = GENERATE("301 Moved Permanently", "302 Found");
        run(o, {{0, connected, {"connected", DESCRIBE_1}},
                {10, in(reply(1, status, to) + "garbage"), {"redirect 192.0.2.2:8554"}}});
        o.unread.clear();
        run(o, {{15,
                 connected,
                 {"connected", "DESCRIBE rtsp://192.0.2.2:8554/other #2 Accept: application/sdp"}},
                {20,
                 in(reply(2, "404 Not Found")),
                 {"end refused: the server refuses DESCRIBE: 404 Not Found"}}});
    }
    SECTION("to a host that the owner does not allow")
    {
        o.config.follow_ctx = &o;
        o.config.may_follow = [](const void *, const url *target) { return target->port != 8554; };
        run(o, {{0, connected, {"connected", DESCRIBE_1}},
                {10,
                 in(reply(1, "302 Found", to)),
                 {"end refused: the server redirects to a host that is not allowed"}}});
    }
    SECTION("no connection")
    {
        run(o, {{0, connected, {"connected", DESCRIBE_1}},
                {10, in(reply(1, "302 Found", to)), {"redirect 192.0.2.2:8554"}},
                {5010,
                 [](Owner &w) {
                     rtsp_client_fail(w.client, RTSP_CLIENT_REFUSED, "cannot connect", w.now);
                 },
                 {"end refused: cannot connect"}}});
    }
    SECTION("invalid targets, and schemes other than RTSP")
    {
        run(o, {{0, connected, {"connected", DESCRIBE_1}},
                {10,
                 in(reply(1, "302 Found")),
                 {"end refused: cannot follow the server's redirect: no valid Location header, or "
                  "too many redirects"}}});
        Owner http;
        run(http, {{0, connected, {"connected", DESCRIBE_1}},
                   {10,
                    in(reply(1, "302 Found", "Location: http://192.0.2.2/\n")),
                    {"end refused: cannot follow the server's redirect: it does not begin with "
                     "rtsp://"}}});
    }
    SECTION("the password stays with its origin")
    {
        o.set_url("rtsp://joe:sekret@192.0.2.1/live");
        std::string basic = "WWW-Authenticate: Basic realm=\"x\"\n";
        run(o, {{0, connected, {"connected", DESCRIBE_1}},
                {10, in(reply(1, "302 Found", to)), {"redirect 192.0.2.2:8554"}},
                {15,
                 connected,
                 {"connected", "DESCRIBE rtsp://192.0.2.2:8554/other #2 Accept: application/sdp"}},
                {20,
                 in(reply(2, "401 Unauthorized", basic)),
                 {"end refused: the server redirects to rtsp://192.0.2.2:8554/other, to which the "
                  "password is not sent: give that URL with its own password"}}});
    }
    SECTION("slow responses: the handshake has a total time limit")
    {
        run(o, {{0, connected, {"connected", DESCRIBE_1}}});
        for (int i = 0; i < 4; i++) {
            std::string url = "rtsp://192.0.2.2:8554/" + std::to_string(i);
            run(o, {{7000 * (i + 1),
                     in(reply(i + 1, "302 Found", "Location: " + url + "\n")),
                     {"redirect 192.0.2.2:8554"}},
                    {7000 * (i + 1),
                     connected,
                     {"connected", "DESCRIBE " + url + " #" + std::to_string(i + 2) +
                                       " Accept: application/sdp"}}});
        }
        run(o,
            {{32000,
              timeout,
              {"end refused: the server set up no stream within 32 s: it answers slowly, or asks "
               "for ever more (--timeout allows more)"}}});
    }
    SECTION("leaving while it connects")
    {
        run(o, {{0, connected, {"connected", DESCRIBE_1}},
                {10, in(reply(1, "302 Found", to)), {"redirect 192.0.2.2:8554"}},
                {20, leave, {"end left"}},
                {20, connected, {}}});
    }
}

TEST_CASE("rtsp client: 461 of a third-party server: the next transport")
{
    Owner o;
    std::string refused = "461 Unsupported Transport";
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {10, in(gst_description(1)), {"SETUP " + URL + "/stream=0 #2 Transport: tcp"}},
            {20,
             in(reply(2, refused)),
             {"abandon: the server does not support it",
              "SETUP " + URL + "/stream=0 #3 Transport: udp"}}});
    SECTION("udp")
    {
        run(o, {{35,
                 in(gst_reply(3, "Transport: RTP/AVP;unicast;client_port=58890-58891;"
                                 "server_port=32998-32999;ssrc=8CD65BA0;mode=\"PLAY\"\n")),
                 {"setup udp datagram pairs rtt 10: tcp: the server does not support it",
                  "PLAY " + URL + "/ #4" + GST_SESSION}}});
    }
    SECTION("none")
    {
        run(o, {{30,
                 in(reply(3, refused)),
                 {"abandon: the server does not support it",
                  "SETUP " + URL + "/stream=0 #4 Transport: multicast"}},
                {40,
                 in(reply(4, refused)),
                 {"end refused: the server refuses SETUP: 461 Unsupported Transport"}}});
    }
    SECTION("a multicast group alone")
    {
        run(o, {{30,
                 in(reply(3, refused)),
                 {"abandon: the server does not support it",
                  "SETUP " + URL + "/stream=0 #4 Transport: multicast"}},
                {40,
                 in(gst_reply(4, GROUP)),
                 {"setup multicast datagram pairs rtt 10: tcp: the server does not support it; "
                  "udp: the server does not support it",
                  "PLAY " + URL + "/ #5" + GST_SESSION}}});
    }
    SECTION("a multicast group, although it was not requested")
    {
        run(o, {{35,
                 in(gst_reply(3, GROUP)),
                 {"setup multicast datagram pairs rtt 10: tcp: the server does not support it; "
                  "udp: the server did not choose it",
                  "PLAY " + URL + "/ #4" + GST_SESSION}}});
    }
    SECTION("the list has one entry")
    {
        Owner one;
        one.config.standard_transports = list_of({"tcp"});
        run(one, {{0, connected, {"connected", DESCRIBE_1}},
                  {10, in(gst_description(1)), {"SETUP " + URL + "/stream=0 #2 Transport: tcp"}},
                  {20,
                   in(reply(2, refused)),
                   {"end refused: the server refuses SETUP: 461 Unsupported Transport"}}});
    }
}

TEST_CASE("rtsp client: the transports of a list, up to the first that works")
{
    Owner o;
    o.config.transports = list_of({"mtp", "mtp-raw", "minbuf"});
    std::string setup = "SETUP " + URL + "/trackID=0 #";
    std::string mtp = "RTP/AVP;unicast;client_port=1-2;server_port=3-4;x-weir=mtp;"
                      "x-weir-token=CF9C28601B41EDD8";
    std::string raw = "RTP/AVP/TCP;unicast;interleaved=0-1;server_port=5-6;x-weir=mtp-raw;"
                      "x-weir-token=CF9C28601B41EDD8";
    std::string minbuf = "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=minbuf";
    auto starts = [](int cseq) {
        return std::vector<std::string>{
            "SET_PARAMETER " + URL + "/ #" + std::to_string(cseq) + SESSION + " [latency: 1000,]",
            "PLAY " + URL + "/ #" + std::to_string(cseq + 1) + SESSION + " Range: npt=now-",
            "GET_PARAMETER " + URL + "/ #" + std::to_string(cseq + 2) + SESSION + PARAMS};
    };
    auto with = [](const std::string &first, std::vector<std::string> rest) {
        rest.insert(rest.begin(), first);
        return rest;
    };
    auto early = [&](int cseq) { // the clock is asked for when the media plays
        std::vector<std::string> all = starts(cseq);
        all.pop_back();
        return all;
    };
    std::string chosen = "setup mtp datagram pairs rtt 10: mtp: the server responded after 12 ms";
    std::string clock = "GET_PARAMETER " + URL + "/ #",
                playing = "playing from - frame -1 shows -1";
    SECTION("the first: PLAY leaves before the path is validated, and its response waits for that")
    {
        run(o, {{0, connected, {"connected", DESCRIBE_1}},
                {10, in(weir_description(1)), {setup + "2 Transport: mtp,mtp-raw,minbuf"}},
                {20, in(weir_setup(2, mtp)), early(3)}});
        SECTION("validated first")
        {
            run(o, {{32, media_open, {chosen}},
                    {35, in(reply(3) + reply(4)), {playing, clock + "5" + SESSION + PARAMS}},
                    {40, media_open, {}}});
        }
        SECTION("PLAY is answered first")
        {
            run(o, {{30, in(reply(3) + reply(4)), {}},
                    {32, media_open, {chosen, playing, clock + "5" + SESSION + PARAMS}}});
        }
        SECTION("PLAY is refused first")
        {
            run(o, {{30,
                     in(reply(3) + reply(4, "503 Service Unavailable")),
                     {"end refused: the server refuses PLAY: 503 Service Unavailable"}}});
        }
    }
    SECTION("silence, a refusal, then one that always passes")
    {
        std::string silent = "the server is not heard in time";
        std::string refuses = "the server's media port refuses TCP";
        run(o, {{0, connected, {"connected", DESCRIBE_1}},
                {10, in(weir_description(1)), {setup + "2 Transport: mtp,mtp-raw,minbuf"}},
                {20, in(weir_setup(2, mtp)), early(3)},
                {50, in(reply(3) + reply(4)), {}}, // the response to a PLAY of no use
                {520,
                 timeout,
                 {"TEARDOWN " + URL + "/ #5" + SESSION, "abandon: " + silent,
                  setup + "6 Transport: mtp-raw,minbuf"}},
                {530, in(reply(5) + weir_setup(6, raw)), early(7)},
                {540,
                 [&](Owner &w) { rtsp_client_media_closed(w.client, refuses.c_str(), w.now); },
                 {"TEARDOWN " + URL + "/ #9" + SESSION, "abandon: " + refuses,
                  setup + "10 Transport: minbuf"}},
                {550, in(reply(7) + reply(8) + reply(9)), {}}, // late ones, too
                {550, in(weir_setup(10, minbuf)),
                 with("setup minbuf rtt 10: mtp: " + silent + "; mtp-raw: " + refuses, starts(11))},
                {560, in(reply(11) + reply(12)), {playing}}});
    }
    SECTION("the audio track is requested of each session")
    {
        std::string sdp = WEIR_VIDEO;
        sdp.insert(sdp.find("m=video"), "a=x-weir-audio:eng\na=x-weir-audio:deu\n");
        auto begins = [](int cseq) {
            return std::vector<std::string>{
                "SET_PARAMETER " + URL + "/ #" + std::to_string(cseq) + SESSION +
                    " [latency: 1000,]",
                "SET_PARAMETER " + URL + "/ #" + std::to_string(cseq + 1) + SESSION +
                    " [audio-track: 2,]",
                "PLAY " + URL + "/ #" + std::to_string(cseq + 2) + SESSION + " Range: npt=now-"};
        };
        run(o, {{0, connected, {"connected", DESCRIBE_1}},
                {10, in(weir_description(1, sdp)), {setup + "2 Transport: mtp,mtp-raw,minbuf"}},
                {15, [](Owner &w) { rtsp_client_set_audio_track(w.client, 2, w.now); }, {}},
                {20, in(weir_setup(2, mtp)), begins(3)},
                {520,
                 timeout,
                 {"TEARDOWN " + URL + "/ #6" + SESSION, "abandon: the server is not heard in time",
                  setup + "7 Transport: mtp-raw,minbuf"}},
                {530, in(reply(6) + weir_setup(7, raw)), begins(8)}});
    }
    SECTION("transports that this machine does not support are not offered")
    {
        o.no_raw = "no capability";
        run(o,
            {{0, connected, {"connected", DESCRIBE_1}},
             {10, in(weir_description(1)), {setup + "2 Transport: mtp,minbuf"}},
             {20, in(weir_setup(2, minbuf)),
              with("setup minbuf rtt 10: mtp-raw: no capability; mtp: the server did not choose it",
                   starts(3))}});
        Owner none;
        none.no_raw = "no capability";
        none.config.transports = list_of({"mtp-raw:strict", "mtp-raw:fill"});
        run(none, {{0, connected, {"connected", DESCRIBE_1}},
                   {10,
                    in(weir_description(1)),
                    {"end refused: no transport of the list is available: mtp-raw:fill: no "
                     "capability; mtp-raw:strict: no capability"}}});
    }
    SECTION("461 of weir-send applies to all of them")
    {
        run(o, {{0, connected, {"connected", DESCRIBE_1}},
                {10, in(weir_description(1)), {setup + "2 Transport: mtp,mtp-raw,minbuf"}},
                {20,
                 in(reply(2, "461 Unsupported Transport", "", "no such algorithm\n")),
                 {"end refused: the server refuses SETUP: 461 Unsupported Transport: no such "
                  "algorithm"}}});
    }
    SECTION("the media's own connection ends, with the server's or without")
    {
        o.config.transports = list_of({"mtp-raw"});
        run(o, {{0, connected, {"connected", DESCRIBE_1}},
                {10, in(weir_description(1)), {setup + "2 Transport: mtp-raw"}},
                {20, in(weir_setup(2, raw)), with("setup mtp-raw datagram rtt 10", starts(3))},
                {30, in(reply(3) + reply(4)), {"playing from - frame -1 shows -1"}},
                {35, [](Owner &w) { rtsp_client_media_closed(w.client, nullptr, w.now); }, {}}});
        SECTION("an error")
        {
            run(o, {{40,
                     [](Owner &w) { rtsp_client_media_closed(w.client, "reset", w.now); },
                     {"end lost: reset"}}});
        }
        SECTION("TEARDOWN waits for it")
        {
            o.media_open = true;
            run(o, {{40, leave, {"TEARDOWN " + URL + "/ #6" + SESSION}},
                    {50, in(reply(5) + reply(6)), {}},
                    {60,
                     [](Owner &w) { rtsp_client_media_closed(w.client, nullptr, w.now); },
                     {"end left"}}});
        }
    }
}

TEST_CASE("rtsp client: unusable responses to SETUP")
{
    const struct {
        std::string headers, end;
    } table[] = {
        {"Transport: RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=tcp\n",
         "end refused: the SETUP response has no valid Session header"},
        {"Session: " + std::string(128, 's') + "\n",
         "end refused: the SETUP response has no valid Session header"},
        {"Session: ;timeout=60\n", "end refused: the SETUP response has no valid Session header"},
        {"Session: 1\n",
         "end refused: the server answers SETUP with a transport that was not offered"},
        {"Session: 1\nTransport: RTP/AVP;unicast;client_port=1-2\n",
         "end refused: the server answers SETUP with a transport that was not offered"},
        {"Session: 1\nTransport: RTP/AVP;multicast;destination=239.0.0.1;port=5000-5001\n",
         "end refused: the server sends this stream to a multicast group only, which it does "
         "not name, or which may not be taken (encryption, --transport)"},
        {"Session: 1\nTransport: ;;;\n",
         "end refused: the server answers SETUP with a transport that was not offered"},
    };
    for (const auto &row : table) {
        INFO(row.headers);
        Owner o;
        run(o, {{0, connected, {"connected", DESCRIBE_1}},
                {10, in(weir_description(1)), {"SETUP " + URL + "/trackID=0 #2 Transport: tcp"}},
                {20, in(reply(2, "200 OK", row.headers)), {row.end}}});
    }
    Owner o;
    o.accept_error = ERR_NO_MEMORY;
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {10, in(weir_description(1)), {"SETUP " + URL + "/trackID=0 #2 Transport: tcp"}},
            {20,
             in(weir_setup(2, "RTP/AVP/TCP;unicast;interleaved=0-1")),
             {"end internal: out of memory or timers"}}});
}

TEST_CASE("rtsp client: unusable descriptions")
{
    const struct {
        std::string sdp, end;
    } table[] = {
        {"", "end refused: the server's description of the stream cannot be used: it is empty, or "
             "has no Content-Length"},
        {"v=0\nm=video 0 RTP/AVP 96\na=rtpmap:96 H265/90000\n",
         "end refused: the server's description of the stream cannot be used: no H.264 video in "
         "it"},
        {"hello",
         "end refused: the server's description of the stream cannot be used: malformed data"},
    };
    for (const auto &row : table) {
        INFO(row.sdp);
        Owner o;
        run(o, {{0, connected, {"connected", DESCRIBE_1}},
                {10, in(reply(1, "200 OK", "", row.sdp)), {row.end}}});
    }
    Owner o;
    o.playable = false;
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {10, in(weir_description(1)), {"end refused: it has no levels"}}});
}

TEST_CASE("rtsp client: URLs of the requests, from base and control")
{
    const std::string far = "rtsp://192.0.2.7:554/x/";
    const std::string query = URL + "?channel=1&subtype=0";
    const struct {
        std::string headers, control, setup, play, url = {};
    } table[] = {
        {"Content-Base: " + URL + "/\n", "stream=0", URL + "/stream=0", URL + "/"},
        {"Content-Base: " + URL + "\n", "stream=0", URL + "/stream=0", URL},
        {"Content-Location: " + URL + "/\n", "stream=0", URL + "/stream=0", URL + "/"},
        {"", "stream=0", URL + "/stream=0", URL},
        {"Content-Base: /live/\n", "/stream=0", URL + "/stream=0", URL},
        {"Content-Base: " + URL + "/\n", "*", URL + "/", URL + "/"},
        {"Content-Base: " + far + "\n", far + "1", far + "1", far},
        {"Content-Base: rtsp://" + std::string(2000, 'x') + "\n", "1", URL + "/1", URL},
        {"Content-Base: rtsp://192.0.2.1/a b/\n", "1", URL + "/1", URL},
        {"", "stream=0", URL + "/stream=0", URL + "/", URL + "/"},
        {"Content-Base: " + query + "/\n", "stream=0", query + "/stream=0", query + "/", query},
        {"", "stream=2", query + "/stream=2", query, query},
    };
    for (const auto &row : table) {
        INFO(row.headers << row.control);
        Owner o;
        std::string sdp = GST_VIDEO;
        std::string url = row.url.empty() ? URL : row.url;
        o.set_url(url);
        sdp.replace(sdp.find("stream=0"), 8, row.control);
        run(o, {{0, connected, {"connected", "DESCRIBE " + url + " #1 Accept: application/sdp"}},
                {10,
                 in(reply(1, "200 OK", row.headers, sdp)),
                 {"SETUP " + row.setup + " #2 Transport: tcp"}},
                {20,
                 in(gst_reply(2, GST_TCP)),
                 {"setup tcp rtt 10", "PLAY " + row.play + " #3" + GST_SESSION}}});
    }
}

TEST_CASE("rtsp client: a URL that would break a request is not sent")
{
    const struct {
        std::string session, control, end;
    } table[] = {
        {"*", "a b", "the stream's control URL contains white space or control characters"},
        {"*", "a\rX: 1", ""}, // that line is skipped
        {"rtsp://h/a b", "c d",
         "the stream's control URL contains white space or control characters"},
        {"*", std::string(255, 'x'), ""},
        {"rtsp://h/a b", "1", ""}, // that base is not used
    };
    for (const auto &row : table) {
        INFO(row.session << " " << row.control);
        Owner o;
        std::string sdp = GST_VIDEO;
        sdp.replace(sdp.find("stream=0"), 8, row.control);
        sdp.replace(sdp.find("control:*") + 8, 1, row.session);
        run(o, {{0, connected, {"connected", DESCRIBE_1}},
                {10,
                 in(gst_description(1, sdp)),
                 {row.end.empty()
                      ? "SETUP " + URL + "/" + (row.control[1] == '\r' ? "" : row.control) +
                            " #2 Transport: tcp"
                      : "end refused: " + row.end}}});
    }
}

TEST_CASE("rtsp client: a full server")
{
    // weir-send responds with 503 before it has read a request, so the CSeq matches no request.
    std::string busy = "503 Service Unavailable";
    for (int cseq : {0, 1, 99}) {
        Owner o;
        run(o, {{0, connected, {"connected", DESCRIBE_1}},
                {10,
                 in(reply(cseq, busy, "Retry-After: 5\n", "no more than 8 viewers\n")),
                 {"end refused: the server refuses DESCRIBE: 503 Service Unavailable: no more than "
                  "8 viewers"}}});
    }
    Owner o; // later it is a response to nothing
    play_weir(o);
    run(o, {{40, in(reply(99, busy)), {}}});
}

TEST_CASE("rtsp client: responses without a request, and without a number")
{
    Owner o;
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {10, in(reply(1, "100 Continue")), {}},
            {20,
             in(message("RTSP/1.0 200 OK\n", WEIR_VIDEO)),
             {"SETUP " + URL + "/trackID=0 #2 Transport: tcp"}},
            {30, in(reply(1) + reply(7, "404 Not Found")), {}},
            {8020, timeout, {"end refused: the server does not answer SETUP within 8 s"}}});
    // A third party's numbers may be its own, while one request waits.
    for (int cseq : {1, 7}) {
        Owner own;
        run(own, {{0, connected, {"connected", DESCRIBE_1}},
                  {10, in(gst_description(7)), {"SETUP " + URL + "/stream=0 #2 Transport: tcp"}},
                  {20,
                   in(gst_reply(cseq, GST_TCP)),
                   {"setup tcp rtt 10", "PLAY " + URL + "/ #3" + GST_SESSION}}});
    }
}

TEST_CASE("rtsp client: a server that says 100 Continue has more time, to an end")
{
    auto go_on = [](int cseq) { return in(reply(cseq, "100 Continue")); };
    Owner falls_silent;
    run(falls_silent,
        {{0, connected, {"connected", DESCRIBE_1}},
         {5000, go_on(1), {}},
         {12000, go_on(1), {}},
         {12500, go_on(2), {}}, // of no request
         {20000, timeout, {"end refused: the server does not answer DESCRIBE within 20 s"}}});
    Owner without_end;
    std::vector<Step> steps = {{0, connected, {"connected", DESCRIBE_1}}};
    for (int ms = 5000; ms < 68000; ms += 5000)
        steps.push_back({ms, go_on(1), {}});
    steps.push_back(
        {68000, timeout, {"end refused: the server does not answer DESCRIBE within 68 s"}});
    run(without_end, steps);
    Owner late;
    run(late, {{0, connected, {"connected", DESCRIBE_1}},
               {7000, go_on(1), {}},
               {14000, go_on(1), {}},
               {20000, in(gst_description(1)), {"SETUP " + URL + "/stream=0 #2 Transport: tcp"}}});
    CHECK_FALSE(rtsp_client_is_told_to_wait(late.client));
}

TEST_CASE("rtsp client: each request has its deadline")
{
    // The limit of --timeout also applies to responses, if it is longer.
    const struct {
        int silence, response;
    } table[] = {{0, 8}, {1, 8}, {20, 20}};
    for (const auto &row : table) {
        INFO(row.silence);
        std::string within = " within " + std::to_string(row.response) + " s";
        int ms = row.response * 1000;
        auto owner = [&](Owner &w) { w.config.silence = row.silence * USEC_PER_SEC; };
        Owner describe, setup, play, audio, leaving;
        owner(describe);
        run(describe,
            {{0, connected, {"connected", DESCRIBE_1}},
             {ms, timeout, {"end refused: the server does not answer DESCRIBE" + within}}});
        owner(setup);
        run(setup,
            {{0, connected, {"connected", DESCRIBE_1}},
             {100, in(gst_description(1)), {"SETUP " + URL + "/stream=0 #2 Transport: tcp"}},
             {100 + ms, timeout, {"end refused: the server does not answer SETUP" + within}}});
        owner(play);
        run(play, {{0, connected, {"connected", DESCRIBE_1}},
                   {100, in(gst_description(1)), {"SETUP " + URL + "/stream=0 #2 Transport: tcp"}},
                   {200,
                    in(gst_reply(2, GST_TCP)),
                    {"setup tcp rtt 100", "PLAY " + URL + "/ #3" + GST_SESSION}},
                   {200 + ms, timeout, {"end refused: the server does not answer PLAY" + within}}});
        owner(audio);
        run(audio,
            {{0, connected, {"connected", DESCRIBE_1}},
             {100,
              in(gst_description(1, std::string(GST_VIDEO) + GST_AUDIO)),
              {"SETUP " + URL + "/stream=0 #2 Transport: tcp"}},
             {200,
              in(gst_reply(2, GST_TCP)),
              {"setup tcp rtt 100",
               "SETUP " + URL + "/stream=1 #3" + GST_SESSION + " Transport: audio"}},
             {200 + ms, timeout, {"end refused: the server does not answer SETUP" + within}}});
    }
    Owner leaving;
    play_weir(leaving);
    run(leaving,
        {{100, leave, {"TEARDOWN " + URL + "/ #6" + SESSION}}, {600, timeout, {"end left"}}});
    Owner before; // nothing to tear down
    run(before, {{0, connected, {"connected", DESCRIBE_1}}, {9, leave, {"end left"}}});
    Owner connecting;
    run(connecting,
        {{32000,
          timeout,
          {"end refused: the server set up no stream within 32 s: it answers slowly, or "
           "asks for ever more (--timeout allows more)"}}});
}

TEST_CASE("rtsp client: a slow response that the viewer accepts")
{
    Owner o;
    o.config.silence = 20 * USEC_PER_SEC;
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {8500,
             in(reply(1, "200 OK", "", "v=0\nm=video 0 RTP/AVP 96\na=rtpmap:96 H265/90000\n")),
             {"end refused: the server's description of the stream cannot be used: no H.264 video "
              "in it"}}});
}

TEST_CASE("rtsp client: silence while media plays")
{
    Owner o;
    auto asks = [](int at, int cseq) {
        return Step{at,
                    timeout,
                    {"GET_PARAMETER " + URL + "/ #" + std::to_string(cseq) + SESSION + PARAMS}};
    };
    auto quiet = [](int at) { return Step{at, timeout, {}}; };
    SECTION("a stream: 10 s; one request at a time")
    {
        play_weir(o);
        run(o, {asks(1020, 6),
                quiet(2020),
                quiet(3020),
                quiet(4020),
                quiet(5020),
                quiet(6020),
                quiet(7020),
                quiet(8020),
                quiet(9020),
                quiet(10020),
                {10031, timeout, {"end lost: no data from the server for 10 s"}}});
    }
    SECTION("a single byte does not count, a frame does")
    {
        o.config.silence = 2 * USEC_PER_SEC;
        play_weir(o);
        run(o, {{500, in(frame(0, "x")), {"frame 0 x"}},
                {600, in("$"), {}},
                asks(1020, 6),
                {1500, in(std::string(1, '\0')), {}},
                quiet(2020),
                {2400, in(std::string(1, '\0')), {}},
                {2500, timeout, {"end lost: no data from the server for 2 s"}}});
    }
    SECTION("datagrams: 15 s, and each of them counts")
    {
        o.config.transports = list_of({"udp"});
        run(o, {{0, connected, {"connected", DESCRIBE_1}},
                {10, in(weir_description(1)), {"SETUP " + URL + "/trackID=0 #2 Transport: udp"}},
                {20,
                 in(weir_setup(2, "RTP/AVPF;unicast;client_port=1-2;server_port=3-4;x-weir=udp;"
                                  "x-weir-token=CF9C28601B41EDD8")),
                 {"setup udp datagram pairs rtt 10",
                  "SET_PARAMETER " + URL + "/ #3" + SESSION + " [latency: 1000,]",
                  "PLAY " + URL + "/ #4" + SESSION + " Range: npt=now-",
                  "GET_PARAMETER " + URL + "/ #5" + SESSION + PARAMS}},
                {30, in(reply(3) + reply(4)), {"playing from - frame -1 shows -1"}},
                {500, datagram, {}}});
        for (int i = 1; i <= 15; i++)
            run(o, {quiet(1000 * i + 20)}); // #5 has no response
        run(o, {{15500, timeout, {"end lost: no data from the server for 15 s"}}});
    }
    SECTION("none ends the session while the viewer has media to play")
    {
        play_weir(o);
        run(o,
            {{500, [](Owner &w) { rtsp_client_set_patient(w.client, true); }, {}}, asks(1020, 6)});
        for (int i = 2; i <= 25; i++)
            run(o, {quiet(1000 * i + 20)});
        run(o, {{25500,
                 [](Owner &w) { rtsp_client_set_patient(w.client, false); },
                 {"end lost: no data from the server for 10 s"}}});
    }
    SECTION("none counts while the owner itself reads nothing")
    {
        play_weir(o);
        run(o,
            {{500, [](Owner &w) { rtsp_client_held(w.client, true, w.now); }, {}}, asks(1020, 6)});
        for (int i = 2; i <= 25; i++)
            run(o, {quiet(1000 * i + 20)});
        run(o, {{25500, [](Owner &w) { rtsp_client_held(w.client, false, w.now); }, {}}});
        for (int i = 26; i <= 35; i++)
            run(o, {quiet(1000 * i + 20)});
        run(o, {{35500, timeout, {"end lost: no data from the server for 10 s"}}});
    }
    SECTION("--timeout: keep-alives are sent well before it")
    {
        o.config.silence = 1 * USEC_PER_SEC;
        play_weir(o);
        run(o, {asks(520, 6),
                {530, in(reply(6)), {"params level -1 rtt 10 wall 10"}},
                asks(1020, 7),
                quiet(1520),
                {1530, timeout, {"end lost: no data from the server for 1 s"}}});
    }
}

TEST_CASE("rtsp client: keep-alives to a third-party server")
{
    auto play = [](Owner &o, const std::string &session) {
        run(o, {{0, connected, {"connected", DESCRIBE_1}},
                {10, in(gst_description(1)), {"SETUP " + URL + "/stream=0 #2 Transport: tcp"}},
                {20,
                 in(reply(2, "200 OK", session + GST_TCP)),
                 {"setup tcp rtt 10", "PLAY " + URL + "/ #3 Session: 1"}},
                {30,
                 in(reply(3)),
                 {"playing from - frame -1 shows -1", "OPTIONS " + URL + "/ #4 Session: 1"}}});
    };
    SECTION("three times within its time-out, and at least every 5 s")
    {
        const struct {
            const char *session;
            int interval; // ms
        } table[] = {
            {"Session: 1\n", 5000},
            {"session:  1 ; timeout=60 \n", 5000},
            {"Session: 1;timeout=15\n", 5000},
            {"Session: 1;timeout=3\n", 1000},
            {"Session: 1;timeout=0\n", 5000},
            {"Session: 1;timeout=99999999\n", 5000},
            {"Session: 1;timeout=x\n", 5000},
        };
        for (const auto &row : table) {
            INFO(row.session);
            Owner o;
            play(o, row.session);
            int at = 30 + row.interval;
            run(o, {{40, in(reply(4, "200 OK", GST_PUBLIC)), {}},
                    {at, timeout, {"GET_PARAMETER " + URL + "/ #5 Session: 1"}},
                    {at + 10, in(reply(5)), {"params level -1 rtt 10 wall 10"}},
                    {at + row.interval, timeout, {"GET_PARAMETER " + URL + "/ #6 Session: 1"}}});
        }
    }
    SECTION("OPTIONS, if it does not support GET_PARAMETER or refuses it")
    {
        Owner without, refuses;
        play(without, "Session: 1\n");
        run(without, {{40, in(reply(4, "200 OK", "Public: OPTIONS, PLAY\n")), {}},
                      {5030, timeout, {"OPTIONS " + URL + "/ #5 Session: 1"}}});
        play(refuses, "Session: 1\n");
        run(refuses, {{40, in(reply(4, "200 OK", GST_PUBLIC)), {}},
                      {5030, timeout, {"GET_PARAMETER " + URL + "/ #5 Session: 1"}},
                      {5040, in(reply(5, "400 Bad Request")), {}},
                      {10030, timeout, {"OPTIONS " + URL + "/ #6 Session: 1"}}});
    }
    SECTION("the other kind, if the server leaves one unanswered while its media comes")
    {
        Owner o, stalled;
        play(o, "Session: 1\n");
        run(o, {{4000, in(frame(0, "a")), {"frame 0 a"}},
                {5030, timeout, {"GET_PARAMETER " + URL + "/ #5 Session: 1"}},
                {9000, in(frame(0, "b")), {"frame 0 b"}},
                {10030, timeout, {"OPTIONS " + URL + "/ #6 Session: 1"}},
                {10040, in(reply(4, "200 OK", GST_PUBLIC) + reply(6)), {}},
                {15030, timeout, {"OPTIONS " + URL + "/ #7 Session: 1"}}});
        play(stalled, "Session: 1\n");
        run(stalled, {{5030, timeout, {}}});
    }
    SECTION("a session that the server has forgotten, while its media comes, and when it ends")
    {
        Owner o;
        play(o, "Session: 1\n");
        run(o, {{40, in(reply(4, "200 OK", GST_PUBLIC)), {}},
                {5030, timeout, {"GET_PARAMETER " + URL + "/ #5 Session: 1"}},
                {5040, in(frame(0, "a") + reply(5, "454 Session Not Found")), {"frame 0 a"}},
                {10030, timeout, {"OPTIONS " + URL + "/ #6 Session: 1"}}});
    }
}

TEST_CASE("rtsp client: bytes between the messages of a third-party server are skipped")
{
    Owner o;
    const std::string a = "\x80 a", b = "\x80 b";
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {10, in(gst_description(1)), {"SETUP " + URL + "/stream=0 #2 Transport: tcp"}},
            {20,
             in(reply(2, "200 OK", std::string("Session: 1\n") + GST_TCP)),
             {"setup tcp rtt 10", "PLAY " + URL + "/ #3 Session: 1"}},
            {30,
             in("odd$" + frame(0, a) + "bytes" + reply(3) + std::string(3000, '\xa5') +
                frame(0, b) + "more"),
             {"frame 0 " + a, "playing from - frame -1 shows -1", "frame 0 " + b,
              "OPTIONS " + URL + "/ #4 Session: 1"}},
            {40, in(reply(4, "200 OK", GST_PUBLIC) + "\xff"), {}},
            {50, in(frame(0, a)), {"frame 0 " + a}}});
}

TEST_CASE("rtsp client: the server ends the session")
{
    Owner o;
    SECTION("454")
    {
        play_weir(o);
        run(o, {{1020, timeout, {"GET_PARAMETER " + URL + "/ #6" + SESSION + PARAMS}},
                {1030,
                 in(reply(6, "454 Session Not Found")),
                 {"end lost: the server has ended the session"}}});
    }
    SECTION("TEARDOWN contains the reason; OPTIONS shows that the viewer runs, others are refused")
    {
        play_weir(o);
        run(o, {{40,
                 in(message("OPTIONS * RTSP/1.0\nCSeq: 9\n") +
                    message("RECORD * RTSP/1.0\nCSeq: 10\n")),
                 {"reply 200 #9", "reply 501 #10"}},
                {50,
                 in(message("TEARDOWN " + URL + " RTSP/1.0\nCSeq: 11\n", "no reports\x1b came\n")),
                 {"end lost: the server ends the session: no reports  came"}}});
    }
    SECTION("TEARDOWN before the session exists is refused")
    {
        run(o, {{0, connected, {"connected", DESCRIBE_1}},
                {10, in(message("TEARDOWN " + URL + " RTSP/1.0\nCSeq: 1\n")), {"reply 501 #1"}}});
    }
    SECTION("the connection closes")
    {
        const struct {
            int err;
            const char *text;
        } table[] = {{ERR_CLOSED, "closed by the server"},
                     {ERR_IO, "the network failed, or the server reset it"},
                     {ERR_TOO_BIG, "a message larger than the limit"},
                     {ERR_MALFORMED, "the server sent data that is not RTSP"}};
        for (const auto &row : table) {
            std::string text = std::string("the connection to the server ended: ") + row.text;
            Owner early, late, leaving;
            run(early, {{0, connected, {"connected", DESCRIBE_1}},
                        {1, closed(row.err), {"end refused: " + text}}});
            play_weir(late);
            run(late, {{40, closed(row.err), {"end lost: " + text}}, {41, closed(row.err), {}}});
            play_weir(leaving);
            run(leaving, {{40, leave, {"TEARDOWN " + URL + "/ #6" + SESSION}},
                          {41, closed(row.err), {"end left"}}});
        }
    }
}

TEST_CASE("rtsp client: malformed and over-long bytes end the connection")
{
    const struct {
        std::string bytes;
        int err;
    } table[] = {
        {"HTTP/1.1 200 OK\r\n\r\n", ERR_MALFORMED},
        {std::string(5000, '\xa5') + "\r\n\r\n", ERR_MALFORMED},
        {"RTSP/1.0 9999 OK\r\n\r\n", ERR_MALFORMED},
        {"RTSP/1.0 200 OK\r\nCSeq: 1\r\nX: " + std::string(100000, 'x'), ERR_TOO_BIG},
        {"RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 99999999\r\n\r\nv=0\r\n", ERR_TOO_BIG},
        {"RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: -1\r\n\r\n", ERR_MALFORMED},
    };
    for (const auto &row : table) {
        INFO(row.bytes.substr(0, 60));
        std::string what = row.err == ERR_TOO_BIG ? "a message larger than the limit"
                                                  : "the server sent data that is not RTSP";
        for (size_t piece : {0, 1000}) {
            Owner o;
            o.piece = piece;
            run(o, {{0, connected, {"connected", DESCRIBE_1}},
                    {10, in(row.bytes), {}},
                    {10,
                     malformed(row.err),
                     {"end refused: the connection to the server ended: " + what}}});
        }
        Owner playing;
        play_weir(playing);
        run(playing,
            {{40, in(frame(0, "good") + row.bytes), {"frame 0 good"}},
             {40, malformed(row.err), {"end lost: the connection to the server ended: " + what}}});
    }
}

TEST_CASE("rtsp client: the viewer's requests, one of each kind at a time")
{
    Owner o;
    o.start = {1, 0};
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {10, in(weir_description(1)), {"SETUP " + URL + "/trackID=0 #2 Transport: tcp"}},
            {20,
             in(weir_setup(2, "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=tcp")),
             {"setup tcp rtt 10", "SET_PARAMETER " + URL + "/ #3" + SESSION + " [latency: 1000,]",
              "SET_PARAMETER " + URL + "/ #4" + SESSION + " [level: 1,]",
              "PLAY " + URL + "/ #5" + SESSION + " Range: npt=now-",
              "GET_PARAMETER " + URL + "/ #6" + SESSION + PARAMS}}});
    SECTION("a level that the stream does not have, at the start")
    {
        run(o, {{30,
                 in(reply(3) + reply(4, "451 Parameter Not Understood", "", "level is 0 to 0\n")),
                 {"end refused: the server refuses SET_PARAMETER (level): 451 Parameter Not "
                  "Understood: level is 0 to 0"}}});
    }
    SECTION("levels, a pause, and a pause that is refused")
    {
        auto level = [](int to) {
            return [to](Owner &w) { rtsp_client_set_level(w.client, to, w.now); };
        };
        auto pause = [](Owner &w) { rtsp_client_pause(w.client, w.now); };
        auto resume = [](Owner &w) { rtsp_client_resume(w.client, w.now); };
        run(o, {{30,
                 in(reply(3, "451 Parameter Not Understood") + reply(4) + reply(5) + reply(6)),
                 {"playing from - frame -1 shows -1", "params level -1 rtt 10 wall 10"}},
                {40, level(0), {"SET_PARAMETER " + URL + "/ #7" + SESSION + " [level: 0,]"}},
                {41, level(1), {}},
                {42, level(2), {}},
                {50,
                 in(reply(7)),
                 {"level 0", "SET_PARAMETER " + URL + "/ #8" + SESSION + " [level: 2,]"}},
                {60, in(reply(8, "451 Parameter Not Understood")), {"level 2 refused"}},
                {70, pause, {"PAUSE " + URL + "/ #9" + SESSION}},
                {71, resume, {}},
                {72, pause, {}}, // as requested: nothing more to send
                {80, in(reply(9)), {}},
                {90, resume, {"PLAY " + URL + "/ #10" + SESSION + " Range: npt=now-"}},
                {95, pause, {}},
                {100,
                 in(reply(10)),
                 {"playing from - frame -1 shows -1", "PAUSE " + URL + "/ #11" + SESSION}},
                {110, in(reply(11, "455 Method Not Valid In This State")), {"no pause"}},
                {120,
                 [](Owner &w) { rtsp_client_set_latency(w.client, 300, w.now); },
                 {"SET_PARAMETER " + URL + "/ #12" + SESSION + " [latency: 300,]"}},
                {125,
                 [](Owner &w) { rtsp_client_set_adapt(w.client, "none", w.now); },
                 {"SET_PARAMETER " + URL + "/ #13" + SESSION + " [adapt: none,]"}}});
    }
}

TEST_CASE("rtsp client: what a server does not support ends nothing that plays")
{
    const struct {
        const char *body; // of the request
        Action ask;
        std::string told; // by the owner's events when the server refuses
    } table[] = {
        {"playout: 40,", [](Owner &w) { rtsp_client_set_playout(w.client, 40, w.now); }, ""},
        {"max-rate: 500000,",
         [](Owner &w) { CHECK(rtsp_client_set_max_rate(w.client, 500000, w.now)); }, ""},
        {"adapt: none,", [](Owner &w) { rtsp_client_set_adapt(w.client, "none", w.now); }, ""},
        {"latency: 300,", [](Owner &w) { rtsp_client_set_latency(w.client, 300, w.now); }, ""},
        {"capacity-probe: 3,", [](Owner &w) { rtsp_client_ask_pair(w.client, 3, w.now); },
         "no pair"},
        {"hashes: 0,",
         [](Owner &w) { CHECK(rtsp_client_ask_values(w.client, "hashes: 0\r\n", w.now)); },
         "hashes "},
    };
    for (const auto &row : table) {
        INFO(row.body);
        Owner o;
        play_weir(o);
        o.log.clear();
        row.ask(o);
        REQUIRE(o.log.size() == 1);
        CHECK(o.log[0].find(std::string("[") + row.body + "]") != std::string::npos);
        run(o,
            {{50, in(reply(6, "451 Parameter Not Understood")),
              *row.told.c_str() ? std::vector<std::string>{row.told} : std::vector<std::string>{}},
             {60, in(frame(0, "more")), {"frame 0 more"}}});
    }
}

TEST_CASE("rtsp client: frames of a film that the server does not give alone are not played")
{
    Owner o;
    o.config.only = "5-9";
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {10, in(weir_description(1)), {"SETUP " + URL + "/trackID=0 #2 Transport: tcp"}},
            {20,
             in(weir_setup(2, "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=tcp")),
             {"setup tcp rtt 10", "SET_PARAMETER " + URL + "/ #3" + SESSION + " [latency: 1000,]",
              "SET_PARAMETER " + URL + "/ #4" + SESSION + " [only: 5-9,]",
              "PLAY " + URL + "/ #5" + SESSION + " Range: npt=now-",
              "GET_PARAMETER " + URL + "/ #6" + SESSION + PARAMS}}});
    SECTION("it does")
    {
        run(o, {{30,
                 in(reply(3) + reply(4) + reply(5, "200 OK", "Range: npt=now-\n")),
                 {"playing from - frame -1 shows -1"}}});
    }
    SECTION("it does not")
    {
        run(o, {{30,
                 in(reply(3) + reply(4, "451 Parameter Not Understood")),
                 {"end refused: the server refuses SET_PARAMETER (only): 451 Parameter Not "
                  "Understood"}}});
    }
}

TEST_CASE("rtsp client: a camera's video that is not H.264")
{
    const std::string head = "v=0\no=- 1 1 IN IP4 0.0.0.0\ns=camera\nt=0 0\na=control:*\n",
                      hevc = "m=video 0 RTP/AVP 96\na=rtpmap:96 H265/90000\na=control:track1\n",
                      jpeg = "m=video 0 RTP/AVP 26\na=control:track1\n",
                      aac = "m=audio 0 RTP/AVP 97\na=rtpmap:97 MPEG4-GENERIC/48000/2\n"
                            "a=fmtp:97 streamtype=5;mode=AAC-hbr;config=1190;sizelength=13;"
                            "indexlength=3;indexdeltalength=3\na=control:track2\n",
                      none = "m=video 0 RTP/AVP 96\na=rtpmap:96 VC1/90000\na=control:track1\n",
                      setup = "SETUP " + URL + "/track1 #2 Transport: ";
    const struct {
        bool takes_other_codecs;
        std::string sdp, then;
    } table[] = {
        {true, head + hevc, setup + "tcp"},
        {true, head + jpeg, setup + "tcp"},
        {true, head + hevc + aac, setup + "tcp"},
        {true, head + none,
         "end refused: the server's description of the stream cannot be used: no H.264, H.265, "
         "VP9 or JPEG video in it"},
        {false, head + hevc,
         "end refused: the server's description of the stream cannot be used: no H.264 video in "
         "it"},
        {false, head + jpeg,
         "end refused: the server's description of the stream cannot be used: no H.264 video in "
         "it"},
    };
    for (const auto &row : table) {
        INFO(row.sdp);
        Owner o;
        o.config.takes_other_codecs = row.takes_other_codecs;
        run(o, {{0, connected, {"connected", DESCRIBE_1}},
                {10, in(reply(1, "200 OK", "Content-Base: " + URL + "/\n", row.sdp)), {row.then}}});
    }
}

TEST_CASE("rtsp client: a description that is known")
{
    Owner o;
    sdp known;
    std::string text = crlf(WEIR_VIDEO);
    REQUIRE(sdp_decode(text.c_str(), text.size(), &known) == 0);
    o.config.known = &known;
    o.config.via = "RTSP/1.0 p";
    std::string setup = "SETUP " + URL + "/trackID=0 #1 Transport: tcp Via: RTSP/1.0 p";
    SECTION("the session begins with SETUP")
    {
        run(o,
            {{0, connected, {"connected", setup}},
             {10,
              in(weir_setup(1, "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=tcp")),
              {"setup tcp rtt 10", "SET_PARAMETER " + URL + "/ #2" + SESSION + " [latency: 1000,]",
               "PLAY " + URL + "/ #3" + SESSION + " Range: npt=now-",
               "GET_PARAMETER " + URL + "/ #4" + SESSION + PARAMS}},
             {20, in(reply(2) + reply(3)), {"playing from - frame -1 shows -1"}}});
    }
    SECTION("a refused SETUP is followed by DESCRIBE, and refused once more")
    {
        run(o, {{0, connected, {"connected", setup}},
                {10,
                 in(reply(1, "455 Method Not Valid In This State")),
                 {"DESCRIBE " + URL + " #2 Accept: application/sdp Via: RTSP/1.0 p"}},
                {20, in(weir_description(2)), {"SETUP " + URL + "/trackID=0 #3 Transport: tcp"}},
                {30,
                 in(reply(3, "453 Not Enough Bandwidth")),
                 {"end refused: the server refuses SETUP: 453 Not Enough Bandwidth"}}});
    }
    SECTION("a full server")
    {
        bool numbered = GENERATE(false, true);
        run(o, {{0, connected, {"connected", setup}},
                {10,
                 in(message(std::string("RTSP/1.0 503 Service Unavailable\n") +
                                (numbered ? "CSeq: 0\n" : ""),
                            "full\n")),
                 {"end refused: the server refuses SETUP: 503 Service Unavailable: full"}}});
    }
    SECTION("a stream that cannot be played")
    {
        o.playable = false;
        run(o, {{0, connected, {"connected", "end refused: it has no levels"}}});
    }
}

TEST_CASE("rtsp client: stored media")
{
    Owner o;
    std::string sdp = WEIR_VIDEO;
    sdp.replace(sdp.find("npt=now-"), 8, "npt=0-60.000");
    o.start = {-1, 5 * USEC_PER_SEC};
    auto seek = [](double to) { return [to](Owner &w) { rtsp_client_seek(w.client, to, w.now); }; };
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {10, in(weir_description(1, sdp)), {"SETUP " + URL + "/trackID=0 #2 Transport: tcp"}},
            {20,
             in(weir_setup(2, "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=tcp")),
             {"setup tcp rtt 10", "SET_PARAMETER " + URL + "/ #3" + SESSION + " [latency: 1500,]",
              "PLAY " + URL + "/ #4" + SESSION + " Range: npt=5.000-",
              "GET_PARAMETER " + URL + "/ #5" + SESSION + PARAMS}},
            {30,
             in(reply(3) +
                reply(4, "200 OK",
                      "Range: npt=5.000-60.000\nX-Weir-Frames: first=100;show=125;ahead\n") +
                reply(5)),
             {"playing from 5 frame 100 shows 125 ahead", "params level -1 rtt 10 wall 10"}},
            {40,
             [](Owner &w) { rtsp_client_pause(w.client, w.now); },
             {"PAUSE " + URL + "/ #6" + SESSION}},
            {50, in(reply(6)), {}},
            {60, seek(10), {"PLAY " + URL + "/ #7" + SESSION + " Range: npt=10.000-"}},
            {61, seek(20), {}},
            {62, seek(30), {}},
            {70,
             in(reply(7, "457 Invalid Range")),
             {"no seek", "PLAY " + URL + "/ #8" + SESSION + " Range: npt=30.000-"}},
            {80,
             in(reply(8, "200 OK", "Range: npt=30.000-60.000\nX-Weir-Frames: nonsense\n")),
             {"playing from 30 frame -1 shows -1 sought"}}});
}

TEST_CASE("rtsp client: a viewer that learns from the description that it controls the speed")
{
    Owner o;
    o.controls_ms = 5500;
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {10, in(weir_description(1)), {"SETUP " + URL + "/trackID=0 #2 Transport: tcp"}},
            {20,
             in(weir_setup(2, "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=tcp")),
             {"setup tcp rtt 10", "SET_PARAMETER " + URL + "/ #3" + SESSION + " [latency: 5500,]",
              "SET_PARAMETER " + URL + "/ #4" + SESSION + " [adapt: none,]", "ready"}},
            {30,
             [](Owner &w) { rtsp_client_begin(w.client, 1, 1.5, w.now); },
             {"SET_PARAMETER " + URL + "/ #5" + SESSION + " [level: 1,]",
              "PLAY " + URL + "/ #6" + SESSION + " Range: npt=now- Speed: 1.500",
              "GET_PARAMETER " + URL + "/ #7" + SESSION + PARAMS}}});
}

TEST_CASE("rtsp client: a viewer that controls the speed")
{
    Owner o;
    o.config.controls_speed = true;
    o.config.adapt = "none";
    auto speed = [](double s) {
        return [s](Owner &w) { rtsp_client_set_speed(w.client, s, w.now); };
    };
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {10, in(weir_description(1)), {"SETUP " + URL + "/trackID=0 #2 Transport: tcp"}},
            {20,
             in(weir_setup(2, "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=tcp")),
             {"setup tcp rtt 10", "SET_PARAMETER " + URL + "/ #3" + SESSION + " [latency: 1000,]",
              "SET_PARAMETER " + URL + "/ #4" + SESSION + " [adapt: none,]", "ready"}},
            {30,
             [](Owner &w) { rtsp_client_ask_pair(w.client, 7, w.now); },
             {"SET_PARAMETER " + URL + "/ #5" + SESSION + " [capacity-probe: 7,]"}},
            {40,
             in(reply(3) + reply(4, "451 Parameter Not Understood") + reply(5, "461 No")),
             {"no pair"}},
            {50,
             [](Owner &w) { rtsp_client_begin(w.client, 1, 1.5, w.now); },
             {"SET_PARAMETER " + URL + "/ #6" + SESSION + " [level: 1,]",
              "PLAY " + URL + "/ #7" + SESSION + " Range: npt=now- Speed: 1.500",
              "GET_PARAMETER " + URL + "/ #8" + SESSION + PARAMS}},
            {60, in(reply(6) + reply(7)), {"playing from - frame -1 shows -1"}},
            {70, speed(1), {"PLAY " + URL + "/ #9" + SESSION + " Speed: 1.000"}},
            {71, speed(2), {}},
            {80,
             in(reply(9)),
             {"playing from - frame -1 shows -1",
              "PLAY " + URL + "/ #10" + SESSION + " Speed: 2.000"}}});
}

TEST_CASE("rtsp client: audio that the server does not provide")
{
    Owner o;
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {10,
             in(gst_description(1, std::string(GST_VIDEO) + GST_AUDIO)),
             {"SETUP " + URL + "/stream=0 #2 Transport: tcp"}},
            {20,
             in(gst_reply(2, GST_TCP)),
             {"setup tcp rtt 10",
              "SETUP " + URL + "/stream=1 #3" + GST_SESSION + " Transport: audio"}}});
    SECTION("refused")
    {
        run(o, {{30,
                 in(reply(3, "461 Unsupported Transport")),
                 {"PLAY " + URL + "/ #4" + GST_SESSION}}});
    }
    SECTION("over another transport")
    {
        run(o, {{30, in(reply(3)), {"PLAY " + URL + "/ #4" + GST_SESSION}}});
    }
    SECTION("not requested")
    {
        Owner mute;
        mute.config.has_audio = false;
        run(mute, {{0, connected, {"connected", DESCRIBE_1}},
                   {10,
                    in(gst_description(1, std::string(GST_VIDEO) + GST_AUDIO)),
                    {"SETUP " + URL + "/stream=0 #2 Transport: tcp"}},
                   {20,
                    in(gst_reply(2, GST_TCP)),
                    {"setup tcp rtt 10", "PLAY " + URL + "/ #3" + GST_SESSION}}});
    }
}

TEST_CASE("rtsp client: a connection that accepts no more bytes")
{
    Owner o;
    o.send_error = ERR_FULL;
    run(o, {{0, connected, {"connected", "end refused: cannot send DESCRIBE to the server"}}});
    Owner later;
    play_weir(later);
    later.send_error = ERR_CLOSED;
    run(later, {{1020, timeout, {"end lost: cannot send GET_PARAMETER to the server"}}});
    Owner between;
    run(between, {{0, connected, {"connected", DESCRIBE_1}},
                  {10,
                   in(weir_description(1, std::string(WEIR_VIDEO) + WEIR_AUDIO)),
                   {"SETUP " + URL + "/trackID=0 #2 Transport: tcp"}}});
    between.sends = 0;
    run(between, {{20,
                   in(weir_setup(2, "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=tcp")),
                   {"setup tcp rtt 10", "end refused: cannot send SETUP to the server"}}});
    CHECK(rtsp_client_is_over(between.client));
}

TEST_CASE("rtsp client: too many pending requests end it")
{
    // The viewer requests many pairs; the server responds to none.
    Owner o;
    o.config.controls_speed = true;
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {10, in(weir_description(1)), {"SETUP " + URL + "/trackID=0 #2 Transport: tcp"}},
            {20,
             in(weir_setup(2, "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=tcp")),
             {"setup tcp rtt 10", "SET_PARAMETER " + URL + "/ #3" + SESSION + " [latency: 1000,]",
              "ready"}}});
    for (uint32_t i = 0; i < 15; i++)
        rtsp_client_ask_pair(o.client, i, o.now);
    CHECK_FALSE(rtsp_client_is_over(o.client));
    rtsp_client_ask_pair(o.client, 15, o.now);
    CHECK(o.log.back() == "end refused: cannot send SET_PARAMETER to the server");
}

// ---- One client after the other on a connection ----

namespace
{

const std::string NEXT = "rtsp://192.0.2.1/news";
const std::string TCP_SETUP = "RTP/AVP/TCP;unicast;interleaved=0-1;ssrc=3D13A1C1;x-weir=tcp";
const std::string GROUP_1 = " Pipelined-Requests: 1", GROUP_2 = " Pipelined-Requests: 2";

std::string weir_setup_of(int cseq, const std::string &group)
{
    return reply(cseq, "200 OK",
                 "Transport: " + TCP_SETUP + "\nSession: 2c75d4d43d74f2d6;timeout=60\n" +
                     (group.empty() ? "" : "Pipelined-Requests: " + group + "\n"));
}

// Requests are answered up to SETUP; those up to #5 are pending.
void set_up_first(Owner &o, const std::string &group)
{
    o.config.may_be_followed = true;
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {10,
             in(weir_description(1)),
             {"SETUP " + URL + "/trackID=0 #2" + GROUP_1 + " Transport: tcp"}},
            {20,
             in(weir_setup_of(2, group)),
             {"setup tcp rtt 10", "SET_PARAMETER " + URL + "/ #3" + SESSION + " [latency: 1000,]",
              "PLAY " + URL + "/ #4" + SESSION + " Range: npt=now-",
              "GET_PARAMETER " + URL + "/ #5" + SESSION + PARAMS}}});
}

// The next client plays `url` on the connection of the one before.
void follow(Owner &o, rtsp_client_before *before, const std::string &url)
{
    o.log.clear();
    REQUIRE(rtsp_client_hand_over(o.client, before, o.now));
    CHECK(rtsp_client_is_over(o.client));
    CHECK(rtsp_client_next_timeout(o.client) == USEC_NEVER);
    rtsp_client_free(o.client);
    o.client = nullptr;
    o.set_url(url);
    o.config.before = before;
}

// What leaves at once for NEXT, with CSeqs from `cseq` on.
std::vector<std::string> at_once(int cseq, const std::string &group)
{
    auto n = [&] { return " #" + std::to_string(cseq++) + group; };
    return {"connected",
            "DESCRIBE " + NEXT + n() + " Accept: application/sdp",
            "SETUP " + NEXT + "/trackID=0" + n() + " Transport: tcp",
            "SETUP " + NEXT + "/trackID=1" + n() + " Transport: audio",
            "SET_PARAMETER " + NEXT + "/" + n() + " [latency: 1000,]",
            "PLAY " + NEXT + "/" + n()};
}

} // namespace

TEST_CASE("rtsp client: another stream on the connection plays after one round trip")
{
    Owner o;
    o.piece = GENERATE(0, 1, 100);
    rtsp_client_before before;
    set_up_first(o, "1");
    follow(o, &before, NEXT);
    CHECK(o.log == std::vector<std::string>{"TEARDOWN " + URL + "/ #6" + SESSION});
    CHECK(std::string(before.transport) == "tcp");
    run(o, {{30, connected, at_once(7, GROUP_2)},
            // What the server had sent for the stream before is ignored.
            {40,
             in(reply(3) + frame(0, "old") + reply(4) + reply(5) + frame(1, "bye") + reply(6)),
             {"frame 0 old, not taken", "frame 1 bye, not taken"}},
            {41,
             in(reply(7, "200 OK", "Content-Base: " + NEXT + "/\n", WEIR_VIDEO) +
                weir_setup_of(8, "2") + reply(9, "455 Method Not Valid in This State") + reply(10) +
                reply(11, "200 OK", "Range: npt=now-\n") + frame(0, "new")),
             // GET_PARAMETER not before: the response would delay the first picture.
             {"setup tcp rtt 11", "playing from - frame -1 shows -1", "frame 0 new",
              "GET_PARAMETER " + NEXT + "/ #12" + SESSION + PARAMS}},
            {50, leave, {"TEARDOWN " + NEXT + "/ #13" + SESSION}},
            {60, in(reply(13)), {"end left"}}});
}

TEST_CASE(
    "rtsp client: the film's table is asked for while media plays; a latency of 0 is not sent")
{
    Owner o;
    o.config.live_latency_ms = 0;
    auto ask = [](Owner &w) {
        const char body[] = "film-table: 0\r\n";
        note(&w, rtsp_client_ask_film_table(w.client, body, w.now) ? "asked" : "not asked");
    };
    const std::string part = "film-table: 0/3 AAAA";
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {10, in(weir_description(1)), {"SETUP " + URL + "/trackID=0 #2 Transport: tcp"}},
            {15, ask, {"not asked"}},
            {20,
             in(weir_setup(2, "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=tcp")),
             {"setup tcp rtt 10", "PLAY " + URL + "/ #3" + SESSION + " Range: npt=now-",
              "GET_PARAMETER " + URL + "/ #4" + SESSION + PARAMS}},
            {30, in(reply(3)), {"playing from - frame -1 shows -1"}},
            {40, ask, {"GET_PARAMETER " + URL + "/ #5" + SESSION + " [film-table: 0,]", "asked"}},
            {41, ask, {"not asked"}}, // one is awaited
            {50, in(reply(5, "200 OK", "", part + "\n")), {"film table: " + part + "\r\n"}},
            {60, ask, {"GET_PARAMETER " + URL + "/ #6" + SESSION + " [film-table: 0,]", "asked"}},
            {70, in(reply(6, "451 Parameter Not Understood")), {"film table: "}}});
}

TEST_CASE("rtsp client: stored media after live media gets its own latency")
{
    Owner o;
    rtsp_client_before before;
    std::string stored = WEIR_VIDEO;
    stored.replace(stored.find("npt=now-"), 8, "npt=0-60");
    set_up_first(o, "1");
    follow(o, &before, NEXT);
    run(o, {{30, connected, at_once(7, GROUP_2)},
            {40,
             in(reply(7, "200 OK", "", stored) + weir_setup_of(8, "2") + reply(9, "455 Not Valid") +
                reply(10) + reply(11, "200 OK", "Range: npt=0.000-60.000\n")),
             {"setup tcp rtt 10", "playing from 0 frame -1 shows -1",
              "SET_PARAMETER " + NEXT + "/ #12" + SESSION + " [latency: 1500,]",
              "GET_PARAMETER " + NEXT + "/ #13" + SESSION + PARAMS}}});
}

TEST_CASE("rtsp client: a stream that is not there leaves the connection to the next one")
{
    Owner o;
    rtsp_client_before before, again;
    set_up_first(o, "1");
    follow(o, &before, NEXT);
    run(o, {{30, connected, at_once(7, GROUP_2)},
            {40,
             in(reply(6) + reply(7, "404 Not Found")),
             {"end refused: the server refuses DESCRIBE: 404 Not Found"}}});
    follow(o, &again, NEXT);
    // A session might exist: the server may have found the stream at SETUP.
    CHECK(o.log == std::vector<std::string>{"TEARDOWN " + NEXT + "/ #12" + GROUP_2});
    CHECK(std::string(again.transport) == "tcp");
    run(o,
        {{50, connected, at_once(13, " Pipelined-Requests: 3")},
         {60,
          in(reply(8, "404 Not Found") + reply(11, "454 Session Not Found") + reply(12, "454 x")),
          {}}});
}

TEST_CASE("rtsp client: a stream that refuses the transport before it is set up again")
{
    Owner o;
    o.config.transports = list_of({"tcp", "udp"});
    rtsp_client_before before;
    o.config.may_be_followed = true;
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {10,
             in(weir_description(1)),
             {"SETUP " + URL + "/trackID=0 #2" + GROUP_1 + " Transport: tcp,udp"}},
            {20,
             in(weir_setup_of(2, "1")),
             {"setup tcp rtt 10", "SET_PARAMETER " + URL + "/ #3" + SESSION + " [latency: 1000,]",
              "PLAY " + URL + "/ #4" + SESSION + " Range: npt=now-",
              "GET_PARAMETER " + URL + "/ #5" + SESSION + PARAMS}}});
    follow(o, &before, NEXT);
    run(o,
        {{30, connected, at_once(7, GROUP_2)},
         {40,
          in(reply(6) + reply(7, "200 OK", "", WEIR_VIDEO) + reply(8, "461 Unsupported Transport")),
          {"abandon: the server refused it",
           "SETUP " + NEXT + "/trackID=0 #12 Pipelined-Requests: 3 Transport: tcp,udp"}},
         {41, in(reply(9, "461 x") + reply(10, "455 x") + reply(11, "454 x")), {}}});
}

TEST_CASE(
    "rtsp client: a server that does not know Pipelined-Requests gets one request after the other")
{
    Owner o;
    rtsp_client_before before;
    set_up_first(o, "");
    follow(o, &before, NEXT);
    CHECK(o.log == std::vector<std::string>{"TEARDOWN " + URL + "/ #6" + SESSION});
    run(o, {{30,
             connected,
             {"connected", "DESCRIBE " + NEXT + " #7" + GROUP_1 + " Accept: application/sdp"}},
            {40,
             in(reply(6) + reply(7, "200 OK", "Content-Base: " + NEXT + "/\n", WEIR_VIDEO)),
             {"SETUP " + NEXT + "/trackID=0 #8" + GROUP_2 + " Transport: tcp"}}});
}

TEST_CASE("rtsp client: a redirect leaves the connection that was taken over")
{
    Owner o;
    rtsp_client_before before;
    set_up_first(o, "1");
    follow(o, &before, NEXT);
    run(o, {{30, connected, at_once(7, GROUP_2)},
            {40,
             in(reply(6) + reply(7, "302 Found", "Location: rtsp://192.0.2.2:8554/other\n")),
             {"abandon: the server redirects", "redirect 192.0.2.2:8554"}}});
    std::memset(&before, 0xff, sizeof(before)); // it was borrowed until the client was connected
    run(o, {{50,
             connected,
             {"connected",
              "DESCRIBE rtsp://192.0.2.2:8554/other #12" + GROUP_2 + " Accept: application/sdp"}},
            {60,
             in(reply(12, "200 OK", "", WEIR_VIDEO)),
             {"SETUP rtsp://192.0.2.2:8554/other/trackID=0 #13 Pipelined-Requests: 3 Transport: "
              "tcp"}},
            {70,
             in(weir_setup_of(13, "3")),
             {"setup tcp rtt 10",
              "SET_PARAMETER rtsp://192.0.2.2:8554/other #14" + SESSION + " [latency: 1000,]",
              "PLAY rtsp://192.0.2.2:8554/other #15" + SESSION + " Range: npt=now-",
              "GET_PARAMETER rtsp://192.0.2.2:8554/other #16" + SESSION + PARAMS}}});
}

TEST_CASE("rtsp client: a stream that needs another transport or a choice is described first")
{
    Owner o;
    rtsp_client_before before;
    sdp known;
    std::string text = crlf(WEIR_VIDEO);
    REQUIRE(sdp_decode(text.data(), text.size(), &known) == 0);
    set_up_first(o, "1");
    follow(o, &before, NEXT);
    std::string first = "DESCRIBE " + NEXT + " #7" + GROUP_1 + " Accept: application/sdp";
    SECTION("a transport that the viewer has left out since")
    {
        o.config.transports = list_of({"udp", "mtp"});
    }
    SECTION("frames alone")
    {
        o.config.only = "5-9";
    }
    SECTION("a viewer that controls the speed")
    {
        o.config.controls_speed = true;
    }
    SECTION("a description that is known is not awaited")
    {
        o.config.known = &known;
        first = "SETUP " + NEXT + "/trackID=0 #7" + GROUP_2 + " Transport: tcp";
    }
    run(o, {{30, connected, {"connected", first}}});
}

TEST_CASE("rtsp client: requests sent together must be answered in their order")
{
    const char *end = "end refused: the server answers requests in another order";
    Owner o;
    rtsp_client_before before;
    set_up_first(o, "1");
    follow(o, &before, NEXT);
    run(o, {{30, connected, at_once(7, GROUP_2)}});
    SECTION("SETUP before DESCRIBE")
    {
        run(o, {{40, in(reply(6) + weir_setup_of(8, "2")), {end}}});
    }
    SECTION("a refused SETUP before DESCRIBE")
    {
        run(o, {{40, in(reply(8, "461 Unsupported Transport")), {end}}});
    }
    SECTION("PLAY before DESCRIBE")
    {
        run(o, {{40, in(reply(11, "200 OK", "Range: npt=now-\n")), {end}}});
    }
    SECTION("PLAY before SETUP")
    {
        run(o, {{40,
                 in(reply(7, "200 OK", "", WEIR_VIDEO) + reply(11, "200 OK", "Range: npt=now-\n")),
                 {end}}});
    }
}

TEST_CASE("rtsp client: a connection that fails after it was taken over ends the client once")
{
    Owner o;
    rtsp_client_before before;
    set_up_first(o, "1");
    follow(o, &before, NEXT);
    int requests = GENERATE(0, 1, 2, 3, 4);
    o.sends = requests;
    std::vector<std::string> log = at_once(7, GROUP_2);
    const char *const methods[] = {"DESCRIBE", "SETUP", "SETUP", "SET_PARAMETER", "PLAY"};
    log.resize((size_t)requests + 1);
    log.push_back(std::string("end refused: cannot send ") + methods[requests] + " to the server");
    run(o, {{30, connected, log}});
    CHECK(rtsp_client_is_over(o.client));
}

TEST_CASE("rtsp client: a session that is being set up is left by its group")
{
    Owner o;
    rtsp_client_before before;
    o.config.may_be_followed = true;
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {10,
             in(weir_description(1)),
             {"SETUP " + URL + "/trackID=0 #2" + GROUP_1 + " Transport: tcp"}}});
    follow(o, &before, NEXT);
    CHECK(o.log == std::vector<std::string>{"TEARDOWN " + URL + "/ #3" + GROUP_1});
    run(o, {{20,
             connected,
             {"connected", "DESCRIBE " + NEXT + " #4" + GROUP_1 + " Accept: application/sdp"}},
            {30, in(weir_setup_of(2, "1") + reply(3)), {}}});
}

TEST_CASE("rtsp client: what cannot be handed over")
{
    Owner o;
    rtsp_client_before before;
    SECTION("a session that is being set up and cannot be named")
    {
        run(o, {{0, connected, {"connected", DESCRIBE_1}},
                {10, in(weir_description(1)), {"SETUP " + URL + "/trackID=0 #2 Transport: tcp"}},
                {11,
                 [&](Owner &w) { CHECK_FALSE(rtsp_client_hand_over(w.client, &before, w.now)); },
                 {}}});
    }
    SECTION("no connection yet")
    {
        run(o, {{0,
                 [&](Owner &w) { CHECK_FALSE(rtsp_client_hand_over(w.client, &before, w.now)); },
                 {}}});
    }
    SECTION("the session is being left")
    {
        set_up_first(o, "1");
        run(o, {{30, leave, {"TEARDOWN " + URL + "/ #6" + SESSION}},
                {31,
                 [&](Owner &w) { CHECK_FALSE(rtsp_client_hand_over(w.client, &before, w.now)); },
                 {}}});
    }
    SECTION("nothing can be sent")
    {
        set_up_first(o, "1");
        o.send_error = ERR_CLOSED;
        run(o, {{30,
                 [&](Owner &w) { CHECK_FALSE(rtsp_client_hand_over(w.client, &before, w.now)); },
                 {}}});
    }
}

TEST_CASE("rtsp client: what keeps another connection to the server")
{
    Owner o;
    char ping[RTSP_CLIENT_PING];
    SECTION("OPTIONS, which belongs to no session")
    {
        set_up_first(o, "1");
        CHECK_FALSE(rtsp_client_can_be_followed(o.client));
        run(o, {{30, in(reply(3) + reply(4)), {"playing from - frame -1 shows -1"}}});
        CHECK(rtsp_client_can_be_followed(o.client));
        int len = rtsp_client_write_ping(o.client, 7, ping, o.now);
        CHECK(std::string(ping, (size_t)len) == "OPTIONS " + URL +
                                                    "/ RTSP/1.0\r\nCSeq: 7\r\n"
                                                    "User-Agent: weir-play\r\n\r\n");
        // The client's own requests know nothing of it.
        run(o, {{40, leave, {"TEARDOWN " + URL + "/ #6" + SESSION}}});
    }
    SECTION("a request that shows the key, to a server that lets in some")
    {
        o.set_url(URL + "?key=secret");
        run(o, {{0,
                 connected,
                 {"connected", "DESCRIBE " + URL + "?key=secret #1 Accept: application/sdp"}}});
        int len = rtsp_client_write_ping(o.client, 1, ping, o.now);
        CHECK(std::string(ping, (size_t)len).find("GET_PARAMETER " + URL + "?key=secret ") == 0);
    }
    SECTION("a server that does not serve requests before it has answered SETUP")
    {
        set_up_first(o, "");
        run(o, {{30, in(reply(3) + reply(4)), {"playing from - frame -1 shows -1"}}});
        CHECK_FALSE(rtsp_client_can_be_followed(o.client));
    }
}

namespace
{

const std::string SECRET = "0123456789abcdef0123456789abcdef";

// Plays, on a server that says `secret` in its response to SETUP.
void play_attached(Owner &o, const std::string &secret)
{
    o.config.attaches = true;
    run(o, {{0, connected, {"connected", DESCRIBE_1}},
            {10,
             in(weir_description(1)),
             {"SETUP " + URL + "/trackID=0 #2 Transport: tcp X-Weir-Attach: wanted"}},
            {20,
             in(reply(2, "200 OK",
                      "Transport: RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=tcp\n" +
                          (secret.empty() ? "" : "X-Weir-Attach: " + secret + "\n") +
                          "Session: 2c75d4d43d74f2d6;timeout=60\n")),
             {"setup tcp rtt 10", "SET_PARAMETER " + URL + "/ #3" + SESSION + " [latency: 1000,]",
              "PLAY " + URL + "/ #4" + SESSION + " Range: npt=now-",
              "GET_PARAMETER " + URL + "/ #5" + SESSION + PARAMS}}});
    CHECK_FALSE(rtsp_client_can_attach(o.client)); // nothing plays yet
    run(o, {{30, in(reply(3) + reply(4)), {"playing from - frame -1 shows -1"}}});
}

} // namespace

TEST_CASE("rtsp client: a session of a server that gives no secret stays on its connection")
{
    for (const std::string &none : {std::string(), SECRET.substr(1), SECRET + "0"}) {
        Owner o;
        play_attached(o, none);
        CHECK_FALSE(rtsp_client_can_attach(o.client));
    }
}

TEST_CASE("rtsp client: a session that goes on over another connection")
{
    Owner o;
    play_attached(o, SECRET);
    CHECK(rtsp_client_can_attach(o.client));
    attach_signs s;
    rtsp_client_signs(o.client, &s);
    CHECK(s.carries_media);
    CHECK(s.asked == T0 + 20 * MS);
    CHECK(s.heard == T0 + 30 * MS);
    char text[RTSP_CLIENT_PING];
    int len = rtsp_client_write_attach(o.client, text, o.now);
    CHECK(std::string(text, (size_t)len) ==
          "OPTIONS " + URL + "/ RTSP/1.0\r\nCSeq: 1\r\nUser-Agent: weir-play\r\n" +
              "Session: 2c75d4d43d74f2d6\r\nX-Weir-Attach: " + SECRET + "\r\n\r\n");
    auto pause = [](Owner &w) { rtsp_client_pause(w.client, w.now); };
    auto attached = [](Owner &w) { rtsp_client_attached(w.client, w.now); };
    run(o,
        {{50, pause, {"PAUSE " + URL + "/ #6" + SESSION}},
         // What has no response is sent once more, in its order.
         {60,
          attached,
          {"GET_PARAMETER " + URL + "/ #7" + SESSION + PARAMS, "PAUSE " + URL + "/ #8" + SESSION}},
         {70, in(reply(7, "200 OK", "", "level: 1\n")), {"params level 1 rtt 10 wall 10"}},
         {71, in(reply(8)), {}}});
    rtsp_client_signs(o.client, &s);
    CHECK(s.asked == USEC_NEVER);
    run(o, {{80, leave, {"TEARDOWN " + URL + "/ #9" + SESSION}}});
    CHECK_FALSE(rtsp_client_can_attach(o.client));
}
