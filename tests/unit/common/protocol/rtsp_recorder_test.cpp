// SPDX-License-Identifier: GPL-2.0-or-later
// Whole sessions in virtual time. A step is a time, an input, and all reactions of the recorder in
// order: the requests that it sends and the calls to its owner. The responses were recorded from
// ffmpeg's and GStreamer's servers.
#include "common/protocol/rtsp_recorder.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "client/rtsp/rtsp_hash.h"
#include "common/base/err.h"
#include "tests/support/failing_alloc.hpp"

namespace
{

const usec_t T0 = 7 * USEC_PER_SEC;
const usec_t MS = USEC_PER_MSEC;
const std::string URL = "rtsp://192.0.2.1/live";
const std::string BOTH = "v=0\r\nm=video\r\nm=audio\r\n";
const std::string AAC = "v=0\r\nm=video\r\nm=audio aac\r\n";
const std::string VIDEO = "v=0\r\nm=video\r\n";

struct Owner {
    rtsp_recorder_config config = {};
    rtsp_recorder *recorder = nullptr;
    std::vector<std::string> log;
    usec_t now = T0;
    size_t piece = 0; // bytes of input that arrive together; 0: all
    std::string unread;
    int error = 0; // of the input
    int send_error = 0;

    explicit Owner(const std::string &url = URL, const std::vector<std::string> &names = {"minbuf"},
                   bool has_audio = true)
    {
        const char *why;
        REQUIRE(url_parse(url.c_str(), &config.url, &why) == 0);
        for (const std::string &name : names)
            std::strcpy(config.transports.names[config.transports.count++], name.c_str());
        config.agent = "weir-send";
        if (has_audio)
            config.offers[config.offer_count++] = {BOTH.c_str(), "Opus"};
        config.offers[config.offer_count++] = {VIDEO.c_str(), nullptr};
        config.control[TRACK_VIDEO] = "trackID=0";
        config.control[TRACK_AUDIO] = "trackID=1";
        config.hash = rtsp_hash;
    }

    ~Owner()
    {
        rtsp_recorder_free(recorder);
    }

    Owner(const Owner &) = delete;
    Owner &operator=(const Owner &) = delete;

    void add_aac()
    {
        config.offers[config.offer_count] = config.offers[config.offer_count - 1];
        config.offers[config.offer_count++ - 1] = {AAC.c_str(), "AAC"};
    }

    void receive(const std::string &bytes)
    {
        size_t step = piece ? piece : bytes.size();
        for (size_t at = 0; at < bytes.size() && !error; at += step) {
            unread += bytes.substr(at, step);
            int used =
                rtsp_recorder_input(recorder, (const uint8_t *)unread.data(), unread.size(), now);
            if (used < 0)
                error = used;
            else
                unread.erase(0, (size_t)used);
        }
    }
};

Owner &of(void *ctx)
{
    return *static_cast<Owner *>(ctx);
}

// "METHOD URI #CSEQ; Name: value ... [body]", without the headers that every request has.
int send(void *ctx, const char *data, size_t len)
{
    if (of(ctx).send_error)
        return of(ctx).send_error;
    std::string text(data, len), out, line;
    size_t end = text.find("\r\n\r\n");
    REQUIRE(end != std::string::npos);
    std::string head = text.substr(0, end + 2), body = text.substr(end + 4);
    for (size_t at = 0; at < head.size(); at = head.find("\r\n", at) + 2) {
        line = head.substr(at, head.find("\r\n", at) - at);
        if (at == 0)
            out = line.substr(0, line.rfind(" RTSP/1.0"));
        else if (line.rfind("CSeq: ", 0) == 0)
            out += " #" + line.substr(6);
        else if (line.rfind("User-Agent: ", 0) == 0)
            CHECK(line == "User-Agent: weir-send");
        else if (line.rfind("Authorization: Digest", 0) == 0)
            out += "; Digest";
        else if (line.rfind("Content-Length: ", 0) == 0)
            CHECK(line == "Content-Length: " + std::to_string(body.size()));
        else
            out += "; " + line;
    }
    of(ctx).log.push_back(out + (body.empty()   ? ""
                                 : body == BOTH ? " [both]"
                                 : body == AAC  ? " [aac]"
                                                : " [video]"));
    return 0;
}

const rtsp_recorder_link link_ops = {
    .send = send,
    .offer =
        [](void *, const char *transport, media_track track, char *out, size_t cap) {
            std::string text = std::string(transport) + (track == TRACK_AUDIO ? "-2" : "-0");
            REQUIRE(text.size() < cap);
            std::strcpy(out, text.c_str());
            return 0;
        },
    .accept =
        [](void *, const char *transport, media_track, text answer) {
            bool same = answer.at && std::string(answer.at, answer.len).rfind(transport, 0) == 0;
            return same ? 0 : (int)ERR_MALFORMED;
        },
    .abandon =
        [](void *ctx, media_track track) {
            of(ctx).log.push_back(track == TRACK_AUDIO ? "abandon audio" : "abandon video");
        },
    .on_interleaved =
        [](void *ctx, int channel, const uint8_t *data, size_t len, usec_t) {
            of(ctx).log.push_back("frame " + std::to_string(channel) + " " +
                                  std::string((const char *)data, len));
        },
};

const rtsp_recorder_events event_ops = {
    .on_recording =
        [](void *ctx, const rtsp_recorder_start *s, usec_t) {
            of(ctx).log.push_back(std::string("recording ") + s->transport +
                                  (s->audio ? std::string(" ") + s->audio : " video"));
        },
    .on_end =
        [](void *ctx, rtsp_recorder_end end, const char *text, usec_t) {
            static const char *const names[] = {"refused",  "failed",      "lost",
                                                "internal", "other audio", "left"};
            of(ctx).log.push_back(std::string("end ") + names[end] +
                                  (*text ? std::string(": ") + text : ""));
        },
};

using Action = std::function<void(Owner &)>;

struct Step {
    int at; // ms
    Action act;
    std::vector<std::string> log;
};

void play(Owner &o, const std::vector<Step> &steps)
{
    o.recorder = rtsp_recorder_new(&o.config, &link_ops, &event_ops, &o);
    REQUIRE(o.recorder);
    for (const Step &step : steps) {
        o.now = T0 + step.at * MS;
        INFO("at " << step.at << " ms");
        CHECK(rtsp_recorder_next_timeout(o.recorder) >= o.now); // none was missed
        o.log.clear();
        step.act(o);
        CHECK(o.log == step.log);
    }
}

Action in(const std::string &bytes)
{
    return [bytes](Owner &o) { o.receive(bytes); };
}

std::string reply(int cseq, const std::string &status = "200 OK", const std::string &headers = "")
{
    return "RTSP/1.0 " + status + "\r\nCSeq: " + std::to_string(cseq) + "\r\n" + headers + "\r\n";
}

Action ok(int cseq, const std::string &headers = "")
{
    return in(reply(cseq, "200 OK", headers));
}

Action set_up(int cseq, const std::string &transport)
{
    return ok(cseq, "Session: 42;timeout=60\r\nTransport: " + transport + "\r\n");
}

Action refuse(int cseq, const std::string &status)
{
    return in(reply(cseq, status));
}

void connected(Owner &o)
{
    rtsp_recorder_connected(o.recorder, o.now);
}

void timeout(Owner &o)
{
    CHECK(rtsp_recorder_next_timeout(o.recorder) == o.now);
    rtsp_recorder_on_timeout(o.recorder, o.now);
}

void leave(Owner &o)
{
    CHECK(rtsp_recorder_leave(o.recorder, o.now));
}

Action closed(int err)
{
    return [err](Owner &o) { rtsp_recorder_closed(o.recorder, err, o.now); };
}

const std::string PUBLIC = "Public: ANNOUNCE, PAUSE, SETUP, TEARDOWN, RECORD\r\n"; // ffmpeg's
const std::string OPTIONS = "OPTIONS " + URL;
const std::string ANNOUNCE = "ANNOUNCE " + URL;
const std::string SETUP = "SETUP " + URL + "/trackID=";
const std::string SDP = "; Content-Type: application/sdp";
const std::string RECORD = "RECORD " + URL;
const std::string FROM_NOW = "; Session: 42; Range: npt=0.000-";

// The steps until the server records both tracks, with the last request #5.
std::vector<Step> recording()
{
    return {{0, connected, {OPTIONS + " #1"}},
            {10, ok(1, PUBLIC), {ANNOUNCE + " #2" + SDP + " [both]"}},
            {20, ok(2), {SETUP + "0 #3; Transport: minbuf-0"}},
            {30, set_up(3, "minbuf"), {SETUP + "1 #4; Session: 42; Transport: minbuf-2"}},
            {40, set_up(4, "minbuf"), {RECORD + " #5" + FROM_NOW}},
            {50, ok(5), {"recording minbuf Opus"}}};
}

std::vector<Step> operator+(std::vector<Step> a, const std::vector<Step> &b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

} // namespace

TEST_CASE("rtsp_recorder: announces, sets up, records, keeps the session, and leaves")
{
    Owner o;
    o.piece = GENERATE(0, 1);
    play(o,
         recording() + std::vector<Step>{{50, timeout, {OPTIONS + " #6; Session: 42"}},
                                         {60, in(std::string("$\1\0\3abc", 7)), {"frame 1 abc"}},
                                         {70, ok(6), {}},
                                         {5050, timeout, {OPTIONS + " #7; Session: 42"}},
                                         {10050, timeout, {}}, // the last has no response yet
                                         {11000, ok(7), {}},
                                         {12000, leave, {"TEARDOWN " + URL + " #8; Session: 42"}},
                                         {12010, ok(8), {"end left"}}});
    CHECK(rtsp_recorder_is_over(o.recorder));
    CHECK_FALSE(rtsp_recorder_leave(o.recorder, o.now));
    CHECK(rtsp_recorder_next_timeout(o.recorder) == USEC_NEVER);
}

TEST_CASE("rtsp_recorder: a server with GET_PARAMETER is pinged with it, until it refuses one")
{
    Owner o(URL, {"tcp"}, false);
    play(o,
         {{0, connected, {OPTIONS + " #1"}},
          {1, ok(1, "Public: ANNOUNCE, GET_PARAMETER\r\n"), {ANNOUNCE + " #2" + SDP + " [video]"}},
          {2, ok(2), {SETUP + "0 #3; Transport: tcp-0"}},
          {3, set_up(3, "tcp"), {RECORD + " #4" + FROM_NOW}},
          {4, ok(4), {"recording tcp video"}},
          {4, timeout, {"GET_PARAMETER " + URL + " #5; Session: 42"}},
          {5, refuse(5, "451 No"), {}},
          {5004, timeout, {OPTIONS + " #6; Session: 42"}},
          {5005, ok(6), {}},
          {10004, timeout, {OPTIONS + " #7; Session: 42"}},
          {10005,
           in("TEARDOWN * RTSP/1.0\r\nCSeq: 1\r\nContent-Length: 4\r\n\r\nfull"),
           {"end lost: the server ends the session: full"}}});
}

TEST_CASE("rtsp_recorder: a challenge is answered once, for each request that gets one")
{
    const std::string digest = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n";
    Owner o("rtsp://joe:secret@192.0.2.1/live", {"tcp"}, false);
    play(o, {{0, connected, {OPTIONS + " #1"}},
             {1, ok(1, PUBLIC), {ANNOUNCE + " #2" + SDP + " [video]"}},
             {2,
              in(reply(2, "401 Unauthorized", digest)),
              {ANNOUNCE + " #3; Digest" + SDP + " [video]"}},
             {3, ok(3), {SETUP + "0 #4; Digest; Transport: tcp-0"}},
             {4,
              in(reply(4, "401 Unauthorized", digest)),
              {"end refused: the server refuses SETUP: 401 Unauthorized (wrong user name or "
               "password)"}}});
    for (const std::string &line : o.log)
        CHECK(line.find("secret") == std::string::npos);
}

TEST_CASE("rtsp_recorder: what a refusal of each request leads to")
{
    struct {
        int step; // of the four requests: OPTIONS, ANNOUNCE, SETUP, RECORD
        const char *status, *log;
    } const table[] = {
        {0, "401 Unauthorized",
         "end refused: the server refuses OPTIONS: 401 Unauthorized (it requires "
         "rtsp://USER:PASSWORD@...)"},
        {0, "403 Forbidden",
         "end refused: the server refuses OPTIONS: 403 Forbidden (no permission to publish here)"},
        {1, "302 Moved",
         "end refused: the server refuses ANNOUNCE: 302 Moved (a redirect is not followed: give "
         "the URL of the other server)"},
        {1, "403 Forbidden",
         "end refused: the server refuses ANNOUNCE: 403 Forbidden (no permission to publish here)"},
        {1, "404 Not Found",
         "end failed: the server refuses ANNOUNCE: 404 Not Found (no such path)"},
        {1, "405 Method Not Allowed",
         "end refused: the server refuses ANNOUNCE: 405 Method Not Allowed (it takes no streams)"},
        {1, "501 Not Implemented",
         "end refused: the server refuses ANNOUNCE: 501 Not Implemented (it takes no streams)"},
        {1, "415 Unsupported Media Type",
         "end refused: the server refuses ANNOUNCE: 415 Unsupported Media Type (it does not take "
         "this codec)"},
        {1, "406 Not Acceptable",
         "end refused: the server refuses ANNOUNCE: 406 Not Acceptable (it does not take this "
         "codec)"},
        {1, "488 Not Here",
         "end refused: the server refuses ANNOUNCE: 488 Not Here (it does not take this codec)"},
        {1, "551 Option Not Supported",
         "end refused: the server refuses ANNOUNCE: 551 Option Not Supported"},
        {2, "405 Method Not Allowed",
         "end refused: the server refuses SETUP: 405 Method Not Allowed"},
        {2, "415 Unsupported Media Type",
         "end refused: the server refuses SETUP: 415 Unsupported Media Type"},
        {1, "400 Bad Request", "end failed: the server refuses ANNOUNCE: 400 Bad Request"},
        {2, "453 Not Enough Bandwidth",
         "end failed: the server refuses SETUP: 453 Not Enough Bandwidth"},
        {2, "461 Unsupported Transport",
         "end refused: the server refuses SETUP: 461 Unsupported Transport (see --push-transport)"},
        {3, "503 Service Unavailable",
         "end failed: the server refuses RECORD: 503 Service Unavailable"},
    };
    for (const auto &row : table) {
        INFO(row.step << " " << row.status);
        Owner o(URL, {"tcp"}, false);
        std::vector<Step> steps = {{0, connected, {OPTIONS + " #1"}},
                                   {1, ok(1), {ANNOUNCE + " #2" + SDP + " [video]"}},
                                   {2, ok(2), {SETUP + "0 #3; Transport: tcp-0"}},
                                   {3, set_up(3, "tcp"), {RECORD + " #4" + FROM_NOW}}};
        steps.resize((size_t)row.step + 1);
        steps.push_back({5, refuse(row.step + 1, row.status), {row.log}});
        play(o, steps);
    }
}

TEST_CASE("rtsp_recorder: OPTIONS may be refused, for any other reason")
{
    Owner o;
    play(o, {{0, connected, {OPTIONS + " #1"}},
             {1, refuse(1, "501 Not Implemented"), {ANNOUNCE + " #2" + SDP + " [both]"}}});
}

TEST_CASE("rtsp_recorder: audio that is refused is left out")
{
    Owner by_type;
    play(by_type,
         {{0, connected, {OPTIONS + " #1"}},
          {1, ok(1), {ANNOUNCE + " #2" + SDP + " [both]"}},
          {2, refuse(2, "415 Unsupported Media Type"), {ANNOUNCE + " #3" + SDP + " [video]"}},
          {3, ok(3), {SETUP + "0 #4; Transport: minbuf-0"}},
          {4, set_up(4, "minbuf"), {RECORD + " #5" + FROM_NOW}},
          {5, ok(5), {"recording minbuf video"}}});
    Owner by_track;
    play(by_track, {{0, connected, {OPTIONS + " #1"}},
                    {1, ok(1), {ANNOUNCE + " #2" + SDP + " [both]"}},
                    {2, ok(2), {SETUP + "0 #3; Transport: minbuf-0"}},
                    {3, set_up(3, "minbuf"), {SETUP + "1 #4; Session: 42; Transport: minbuf-2"}},
                    {4, refuse(4, "404 Not Found"), {"abandon audio", RECORD + " #5" + FROM_NOW}},
                    {5, ok(5), {"recording minbuf video"}}});
}

TEST_CASE("rtsp_recorder: other audio follows a refused one")
{
    Owner by_type;
    by_type.add_aac();
    play(by_type,
         {{0, connected, {OPTIONS + " #1"}},
          {1, ok(1), {ANNOUNCE + " #2" + SDP + " [both]"}},
          {2, refuse(2, "415 Unsupported Media Type"), {ANNOUNCE + " #3" + SDP + " [aac]"}},
          {3, ok(3), {SETUP + "0 #4; Transport: minbuf-0"}},
          {4, set_up(4, "minbuf"), {SETUP + "1 #5; Session: 42; Transport: minbuf-2"}},
          {5, set_up(5, "minbuf"), {RECORD + " #6" + FROM_NOW}},
          {6, ok(6), {"recording minbuf AAC"}}});
    Owner neither;
    neither.add_aac();
    play(neither,
         {{0, connected, {OPTIONS + " #1"}},
          {1, ok(1), {ANNOUNCE + " #2" + SDP + " [both]"}},
          {2, refuse(2, "415 Unsupported Media Type"), {ANNOUNCE + " #3" + SDP + " [aac]"}},
          {3, refuse(3, "415 Unsupported Media Type"), {ANNOUNCE + " #4" + SDP + " [video]"}},
          {4,
           refuse(4, "415 Unsupported Media Type"),
           {"end refused: the server refuses ANNOUNCE: 415 Unsupported Media Type (it does not "
            "take this codec)"}}});
}

TEST_CASE(
    "rtsp_recorder: a track of audio that is refused ends the session if there is other audio")
{
    const std::vector<Step> refused = {
        {0, connected, {OPTIONS + " #1"}},
        {1, ok(1), {ANNOUNCE + " #2" + SDP + " [both]"}},
        {2, ok(2), {SETUP + "0 #3; Transport: minbuf-0"}},
        {3, set_up(3, "minbuf"), {SETUP + "1 #4; Session: 42; Transport: minbuf-2"}},
        {4, refuse(4, "461 Unsupported Transport"), {"TEARDOWN " + URL + " #5; Session: 42"}}};
    const std::string end = "end other audio: the server refuses audio in Opus (461)";
    Owner answered;
    answered.add_aac();
    play(answered, refused + std::vector<Step>{{5, ok(5), {end}}});
    Owner gone;
    gone.add_aac();
    play(gone, refused + std::vector<Step>{{5, closed(ERR_CLOSED), {end}}});
    Owner silent;
    silent.add_aac();
    play(silent, refused + std::vector<Step>{{504, timeout, {end}}});
    Owner leaving;
    leaving.add_aac();
    play(leaving, refused + std::vector<Step>{{5, leave, {}}, {6, ok(5), {"end left"}}});
}

TEST_CASE("rtsp_recorder: the next transport follows a refused one")
{
    Owner o(URL, {"minbuf", "udp"}, false);
    play(o, {{0, connected, {OPTIONS + " #1"}},
             {1, ok(1), {ANNOUNCE + " #2" + SDP + " [video]"}},
             {2, ok(2), {SETUP + "0 #3; Transport: minbuf-0"}},
             {3,
              refuse(3, "461 Unsupported Transport"),
              {"abandon video", SETUP + "0 #4; Transport: udp-0"}},
             {4,
              set_up(4, "minbuf"),
              {"end failed: the server answers SETUP with a transport that was not offered"}}});
}

TEST_CASE("rtsp_recorder: a session without an id is none")
{
    Owner o;
    play(o, {{0, connected, {OPTIONS + " #1"}},
             {1, ok(1), {ANNOUNCE + " #2" + SDP + " [both]"}},
             {2, ok(2), {SETUP + "0 #3; Transport: minbuf-0"}},
             {3,
              ok(3, "Transport: minbuf\r\n"),
              {"end failed: the SETUP response has no valid Session header"}}});
}

TEST_CASE("rtsp_recorder: a server that does not answer, or answers for ever")
{
    Owner silent;
    play(silent, {{0, connected, {OPTIONS + " #1"}},
                  {10, in("RTSP/1.0 100 Continue\r\nCSeq: 1\r\n\r\n"), {}},
                  {20, in(reply(77)), {}},
                  {8000, timeout, {"end failed: the server does not answer OPTIONS within 8 s"}}});
    Owner slow("rtsp://joe:secret@192.0.2.1/live");
    const auto stale = [](int cseq) {
        return in(reply(cseq, "401 U",
                        "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", stale=true\r\n"));
    };
    play(slow, {{0, connected, {OPTIONS + " #1"}},
                {7000, stale(1), {OPTIONS + " #2; Digest"}},
                {14000, stale(2), {OPTIONS + " #3; Digest"}},
                {21000, stale(3), {OPTIONS + " #4; Digest"}},
                {28000, stale(4), {OPTIONS + " #5; Digest"}},
                {32000,
                 timeout,
                 {"end failed: the server does not record within 32 s: it answers slowly, or asks "
                  "for ever more"}}});
    Owner quiet;
    play(quiet,
         recording() +
             std::vector<Step>{{50, timeout, {OPTIONS + " #6; Session: 42"}},
                               {60, ok(6), {}},
                               {5050, timeout, {OPTIONS + " #7; Session: 42"}},
                               {10050, timeout, {}},
                               {15050, timeout, {}},
                               {20050, timeout, {}},
                               {20060, timeout, {"end lost: no word from the server for 20 s"}}});
}

TEST_CASE("rtsp_recorder: the connection ends, at each step")
{
    const std::string text = ": the connection to the server ended: closed by the server";
    const std::vector<Step> all = recording();
    for (size_t count = 1; count <= all.size(); count++) {
        Owner o;
        std::vector<Step> steps(all.begin(), all.begin() + (long)count);
        std::string end = count == all.size() ? "end lost" : "end failed";
        steps.push_back({50, closed(ERR_CLOSED), {end + text}});
        play(o, steps);
    }
    const struct {
        int err;
        const char *text;
    } table[] = {{ERR_IO, "the network failed, or the server reset it"},
                 {ERR_TOO_BIG, "a message larger than the limit"},
                 {ERR_MALFORMED, "the server sent data that is not RTSP"}};
    for (const auto &row : table) {
        Owner o;
        play(o, {{0, connected, {OPTIONS + " #1"}},
                 {1,
                  closed(row.err),
                  {std::string("end failed: the connection to the server ended: ") + row.text}},
                 {2, closed(row.err), {}}, // it is over
                 {3, ok(1), {}}});
    }
    Owner leaving;
    play(leaving, {{0, leave, {}}, {0, timeout, {"end left"}}});
    Owner gone;
    play(gone,
         recording() + std::vector<Step>{{50, timeout, {OPTIONS + " #6; Session: 42"}},
                                         {60, leave, {"TEARDOWN " + URL + " #7; Session: 42"}},
                                         {70, closed(ERR_IO), {"end left"}}});
    Owner deaf;
    play(deaf,
         recording() + std::vector<Step>{{50, leave, {"TEARDOWN " + URL + " #6; Session: 42"}},
                                         {550, timeout, {"end left"}}});
}

TEST_CASE("rtsp_recorder: input that is not RTSP, and a connection that takes nothing")
{
    Owner o;
    play(o, {{0, connected, {OPTIONS + " #1"}}, {1, in("HTTP/1.1 200 OK\r\n\r\n"), {}}});
    CHECK(o.error == ERR_MALFORMED);
    Owner full;
    full.send_error = ERR_FULL;
    play(full, {{0, connected, {"end failed: cannot send OPTIONS to the server"}}});
}

TEST_CASE("rtsp_recorder: before its time a timeout does nothing; after the end nothing does")
{
    Owner o;
    const auto early = [](Owner &of) { rtsp_recorder_on_timeout(of.recorder, of.now); };
    play(o, {{0, early, {}},
             {0, connected, {OPTIONS + " #1"}},
             {5, early, {}},
             {8000, timeout, {"end failed: the server does not answer OPTIONS within 8 s"}},
             {9000, early, {}},
             {9001, ok(1), {}},
             {9002, closed(ERR_CLOSED), {}}});
    CHECK(rtsp_recorder_is_over(o.recorder));
}

TEST_CASE("rtsp_recorder: a session that the server has forgotten is lost")
{
    Owner o(URL, {"tcp"}, false);
    play(o,
         {{0, connected, {OPTIONS + " #1"}},
          {1, ok(1, "Public: ANNOUNCE, GET_PARAMETER\r\n"), {ANNOUNCE + " #2" + SDP + " [video]"}},
          {2, ok(2), {SETUP + "0 #3; Transport: tcp-0"}},
          {3, set_up(3, "tcp"), {RECORD + " #4" + FROM_NOW}},
          {4, ok(4), {"recording tcp video"}},
          {4, timeout, {"GET_PARAMETER " + URL + " #5; Session: 42"}},
          {5, refuse(5, "454 Session Not Found"), {"end lost: the server has ended the session"}}});
}

TEST_CASE("rtsp_recorder: without memory there is none")
{
    const Owner o;
    CHECK(each_allocation_fails(
              [&o] { return rtsp_recorder_new(&o.config, &link_ops, &event_ops, nullptr); },
              rtsp_recorder_free) == 1);
    rtsp_recorder_free(nullptr);
}

TEST_CASE("rtsp_recorder: requests of the server")
{
    Owner o;
    o.recorder = nullptr;
    play(
        o,
        {{0, connected, {OPTIONS + " #1"}},
         {1, in("OPTIONS * RTSP/1.0\r\nCSeq: 9\r\n\r\n"), {"RTSP/1.0 200 OK #9"}},
         {2, in("DESCRIBE * RTSP/1.0\r\nCSeq: 10\r\n\r\n"), {"RTSP/1.0 501 Not Implemented #10"}}});
}
