// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/wire/rtsp.h"

static struct text text_from(const char *s)
{
    return {s, strlen(s)};
}

static std::string string(struct text t)
{
    return t.at ? std::string(t.at, t.len) : "(none)";
}

// In an allocation of its own, so that an overread shows; kept until the next call, because items
// borrow from it.
static int decode(const std::string &bytes, struct rtsp_item *item, size_t *used)
{
    static std::vector<uint8_t> copy;
    copy = std::vector<uint8_t>(bytes.begin(), bytes.end());
    return rtsp_decode(copy.data(), copy.size(), item, used);
}

static const char describe[] = // RFC 2326, 10.2
    "DESCRIBE rtsp://server.example.com/fizzle/foo RTSP/1.0\r\n"
    "CSeq: 312\r\n"
    "Accept: application/sdp, application/rtsl, application/mheg\r\n"
    "\r\n";

static const char set_parameter[] = // RFC 2326, 10.9
    "SET_PARAMETER rtsp://example.com/fizzle/foo RTSP/1.0\r\n"
    "CSeq: 421\r\n"
    "content-length:  20 \r\n"
    "Content-type: text/parameters\r\n"
    "\r\n"
    "barparam: barstuff\r\n";

static const char response[] = // RFC 2326, 10.9
    "RTSP/1.0 451 Invalid Parameter\r\n"
    "CSeq: 421\r\n"
    "Content-length: 10\r\n"
    "Content-type: text/parameters\r\n"
    "\r\n"
    "barparam\r\n";

TEST_CASE("rtsp: requests and responses of the RFC")
{
    struct rtsp_item item;
    size_t used;
    REQUIRE(decode(describe, &item, &used) == 0);
    CHECK(used == strlen(describe));
    CHECK(item.kind == RTSP_REQUEST);
    CHECK(item.method == RTSP_DESCRIBE);
    CHECK(string(item.uri) == "rtsp://server.example.com/fizzle/foo");
    CHECK(item.cseq == 312);
    CHECK(item.header_count == 2);
    CHECK(string(rtsp_header(&item, "accept")) ==
          "application/sdp, application/rtsl, application/mheg");
    CHECK(rtsp_header(&item, "Session").at == nullptr);
    CHECK(item.body.len == 0);

    REQUIRE(decode(set_parameter, &item, &used) == 0);
    CHECK(item.method == RTSP_SET_PARAMETER);
    CHECK(string(item.body) == "barparam: barstuff\r\n");

    REQUIRE(decode(response, &item, &used) == 0);
    CHECK(item.kind == RTSP_RESPONSE);
    CHECK(item.status == 451);
    CHECK(string(item.reason) == "Invalid Parameter");
    CHECK(item.cseq == 421);
    CHECK(string(item.body) == "barparam\r\n");
}

TEST_CASE("rtsp: the head of an interleaved frame, written and read")
{
    for (size_t len : {size_t{0}, size_t{1}, size_t{258}, size_t{65535}}) {
        std::vector<uint8_t> frame(RTSP_INTERLEAVED_HEAD + len, 'x');
        rtsp_interleaved_encode(frame.data(), 255, len);
        struct rtsp_item item;
        size_t used;
        REQUIRE(rtsp_decode(frame.data(), frame.size(), &item, &used) == 0);
        CHECK(item.kind == RTSP_INTERLEAVED);
        CHECK(item.channel == 255);
        CHECK(item.data_len == len);
        CHECK(used == frame.size());
    }
}

TEST_CASE("rtsp: requests, interleaved frames and stray line ends in one stream")
{
    std::string stream = std::string("\r\n\r\n") + describe + std::string("$\x01\x00\x03xyz", 7) +
                         "\n" + set_parameter + std::string("$\x00\x00\x00", 4) + response;
    std::string kinds;
    size_t at = 0, used;
    struct rtsp_item item;
    int err;
    while ((err = decode(stream.substr(at), &item, &used)) == 0) {
        kinds += "qr$"[item.kind];
        if (item.kind == RTSP_INTERLEAVED && item.channel == 1)
            CHECK(std::string((const char *)item.data, item.data_len) == "xyz");
        at += used;
    }
    CHECK(err == ERR_AGAIN);
    CHECK(at == stream.size());
    CHECK(kinds == "q$q$r");
}

TEST_CASE("rtsp: a keep-alive of line ends may be dropped")
{
    struct rtsp_item item;
    size_t used;
    CHECK(decode("\r\n\r\n", &item, &used) == ERR_AGAIN);
    CHECK(used == 4);
    CHECK(decode("\r\nOPT", &item, &used) == ERR_AGAIN);
    CHECK(used == 2);
    CHECK(decode("", &item, &used) == ERR_AGAIN);
    CHECK(used == 0);
}

TEST_CASE("rtsp: malformed messages")
{
    const struct {
        const char *bytes;
        int result;
    } cases[] = {
        {"OPTIONS * RTSP/1.0\r\n\r\n", 0},
        {"OPTIONS * RTSP/1.0\n\n", 0}, // bare LF, RFC 2326, 4
        {"OPTIONS * RTSP/1.0\nCSeq: 1\n\r\n", 0},
        {"ANNOUNCE * RTSP/1.0\r\n\r\n", 0}, // RTSP_UNKNOWN
        {"RTSP/1.0 200\r\n\r\n", 0},        // no reason
        {"OPTIONS * RTSP/2.0\r\n\r\n", ERR_MALFORMED},
        {"OPTIONS * HTTP/1.1\r\n\r\n", ERR_MALFORMED},
        {"OPTIONS *\r\n\r\n", ERR_MALFORMED},
        {"OPTIONS  RTSP/1.0\r\n\r\n", ERR_MALFORMED},
        {"OPTIONS\r\n\r\n", ERR_MALFORMED},
        {"OPTIONS * RTSP/1.0 \r\n\r\n", ERR_MALFORMED},
        {"OPT(IONS * RTSP/1.0\r\n\r\n", ERR_MALFORMED},
        {"\x16\x03\x01", ERR_MALFORMED}, // TLS: at once
        {" OPTIONS * RTSP/1.0\r\n\r\n", ERR_MALFORMED},
        {"OPTIONS * RTSP/1.0\r\nno colon\r\n\r\n", ERR_MALFORMED},
        {"OPTIONS * RTSP/1.0\r\n: no name\r\n\r\n", ERR_MALFORMED},
        {"OPTIONS * RTSP/1.0\r\nA: b\r\n c\r\n\r\n", ERR_MALFORMED}, // continuation
        {"OPTIONS * RTSP/1.0\r\nA: b\rc\r\n\r\n", ERR_MALFORMED},
        {"OPTIONS * RTSP/1.0\r\nA: \x01\r\n\r\n", ERR_MALFORMED},
        {"OPTIONS * RTSP/1.0\r\nContent-Length: x\r\n\r\n", ERR_MALFORMED},
        {"OPTIONS * RTSP/1.0\r\nContent-Length:\r\n\r\n", ERR_MALFORMED},
        {"OPTIONS * RTSP/1.0\r\nContent-Length: -1\r\n\r\n", ERR_MALFORMED},
        {"OPTIONS * RTSP/1.0\r\nContent-Length: 0\r\nContent-Length: 1\r\n\r\n", ERR_MALFORMED},
        {"OPTIONS * RTSP/1.0\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n", 0},
        {"OPTIONS * RTSP/1.0\r\nContent-Length: 32768\r\n\r\n", ERR_AGAIN},
        {"OPTIONS * RTSP/1.0\r\nContent-Length: 32769\r\n\r\n", ERR_TOO_BIG},
        {"OPTIONS * RTSP/1.0\r\nContent-Length: 99999999999999999999\r\n\r\n", ERR_TOO_BIG},
        {"RTSP/1.0 200 OK\r\nContent-Length: \r\n\r\n", 0}, // of cameras
        {"RTSP/1.0 200 OK\r\nContent-Length \t: 2\r\n\r\n", ERR_AGAIN},
        {"OPTIONS * RTSP/1.0\r\nContent-Length : 0\r\n\r\n", ERR_MALFORMED},
        {"RTSP/1.0 099 Low\r\n\r\n", ERR_MALFORMED},
        {"RTSP/1.0 600 High\r\n\r\n", ERR_MALFORMED},
        {"RTSP/1.0 20 Short\r\n\r\n", ERR_MALFORMED},
        {"RTSP/1.0 2000 Long\r\n\r\n", ERR_MALFORMED},
        {"RTSP/2.0 200 OK\r\n\r\n", 0}, // cameras answer with it
        {"RTSP/2 200 OK\r\n\r\n", ERR_MALFORMED},
        {"RTSP/1.0\r\n\r\n", ERR_MALFORMED},
    };
    for (const auto &c : cases) {
        INFO(c.bytes);
        struct rtsp_item item;
        size_t used;
        CHECK(decode(c.bytes, &item, &used) == c.result);
        if (c.result == 0)
            CHECK(used == strlen(c.bytes));
    }
}

TEST_CASE("rtsp: header lines of responses that cameras send")
{
    const struct {
        const char *lines, *value; // of the header X
    } table[] = {
        {"X: a\r\n b\r\n", "a b"},       {"X: a\r\n\t b \r\n  c\r\nY: d\r\n", "a b c"},
        {"X: a\r\nY: b\r\n c\r\n", "a"}, {"Y: b\r\n c\r\nX: a\r\n d\r\n", "a d"},
        {"X:\r\n a\r\n", " a"},          {"X: a\r\n \r\n", "a"},
        {" b\r\nX: a\r\n", "a"},         {"no colon\r\nX: a\r\n", "a"},
        {": no name\r\nX: a\r\n", "a"},
    };
    for (const auto &row : table) {
        INFO(row.lines);
        struct rtsp_item item;
        size_t used;
        std::string bytes = std::string("RTSP/1.0 200 OK\r\n") + row.lines + "CSeq: 3\r\n\r\n";
        REQUIRE(decode(bytes, &item, &used) == 0);
        CHECK(used == bytes.size());
        CHECK(item.cseq == 3);
        CHECK(string(rtsp_header(&item, "X")) == row.value);
    }
    struct rtsp_item item;
    size_t used;
    std::string longest = "RTSP/1.0 200 OK\r\nX: a\r\n " + std::string(RTSP_MAX_UNFOLDED - 2, 'b');
    CHECK(decode(longest + "\r\n\r\n", &item, &used) == 0);
    CHECK(decode(longest + "b\r\n\r\n", &item, &used) == ERR_TOO_BIG);
}

TEST_CASE("rtsp: bytes between items")
{
    const std::string packet("$\0\0\2\x80\x60", 6);
    const struct {
        std::string bytes;
        size_t stray;
    } table[] = {
        {"", 0},
        {packet, 0},
        {"$", 0},
        {"\r\n", 0},
        {"RTSP/1.0 200 OK", 0},
        {"R", 0},
        {"SET_PARAMETER * RTSP/1.0", 0},
        {"TEARD", 0},
        {"garbage!" + packet, 8},
        {"gar$\x40"
         "bage" +
             packet,
         9}, // no packet of version 2
        {"\xff\xff"
         "RTSP/1.0 200 OK",
         2},
        {"xyzTEARDOWN", 3},
        {"REDIRECT rtsp://x/ RTSP/1.0\r\nCSeq: 5\r\n\r\n" + packet, 40}, // an unknown method
        {"xyzRTSP/2.0 200 OK", 3},
        {"xyzRTS", 3}, // with more input it may be a response
        {"xyz$", 3},
        {"xyzRTZ", 6},
        {std::string(5000, 'x'), 5000},
    };
    for (const auto &row : table) {
        INFO(row.bytes.substr(0, 20));
        std::vector<uint8_t> copy(row.bytes.begin(), row.bytes.end());
        CHECK(rtsp_stray_bytes(copy.data(), copy.size(), false) == row.stray);
    }
    // After skipped bytes, what looked like the beginning of a packet must have one's version.
    const std::vector<uint8_t> not_yet = {'$', 0, 0, 12}, no_packet = {'$', 44, 0x69, 0xf1, '$', 0};
    CHECK(rtsp_stray_bytes(not_yet.data(), not_yet.size(), true) == 0);
    CHECK(rtsp_stray_bytes(no_packet.data(), no_packet.size(), true) == 4);
    CHECK(rtsp_stray_bytes(no_packet.data(), no_packet.size(), false) == 0);
}

TEST_CASE("rtsp: CSeq")
{
    const struct {
        const char *header;
        int cseq;
    } cases[] = {{"CSeq: 0", 0},           {"cseq:7", 7},    {"CSeq: 2147483647", INT32_MAX},
                 {"CSeq: 2147483648", -1}, {"CSeq: 7x", -1}, {"CSeq:", -1},
                 {"CSeq: -1", -1},         {"X: 1", -1}};
    for (const auto &c : cases) {
        struct rtsp_item item;
        size_t used;
        REQUIRE(decode(std::string("PLAY * RTSP/1.0\r\n") + c.header + "\r\n\r\n", &item, &used) ==
                0);
        CHECK(item.cseq == c.cseq);
    }
}

TEST_CASE("rtsp: limits")
{
    struct rtsp_item item;
    size_t used;
    std::string head = "OPTIONS * RTSP/1.0\r\n";
    std::string full = head;
    for (int i = 0; i < RTSP_MAX_HEADERS; i++)
        full += "A: b\r\n";
    CHECK(decode(full + "\r\n", &item, &used) == 0);
    CHECK(item.header_count == RTSP_MAX_HEADERS);
    CHECK(decode(full + "A: b\r\n\r\n", &item, &used) == ERR_TOO_BIG);

    std::string longest = head + "A: ";
    longest += std::string(RTSP_MAX_HEAD - longest.size() - 4, 'x') + "\r\n\r\n";
    REQUIRE(longest.size() == RTSP_MAX_HEAD);
    CHECK(decode(longest, &item, &used) == 0);
    longest.insert(longest.size() - 4, "x");
    CHECK(decode(longest, &item, &used) == ERR_TOO_BIG);
    CHECK(decode(std::string(RTSP_MAX_HEAD - 1, 'A'), &item, &used) == ERR_AGAIN);
    CHECK(decode(std::string(RTSP_MAX_HEAD, 'A'), &item, &used) == ERR_TOO_BIG);
    // 300 line ends before it do not count towards the head
    longest.erase(longest.size() - 5, 1);
    CHECK(decode(std::string(300, '\n') + longest, &item, &used) == 0);

    std::string frame = std::string("$\x07\xff\xff", 4) + std::string(65535, 'd');
    CHECK(frame.size() == RTSP_MAX_ITEM);
    CHECK(decode(frame, &item, &used) == 0);
    CHECK(item.data_len == 65535);
    CHECK(item.channel == 7);
}

TEST_CASE("rtsp: every truncation requires more input")
{
    const std::string frame("$\x01\x00\x03xyz", 7);
    for (const std::string &whole :
         {std::string(describe), std::string(set_parameter), std::string(response), frame}) {
        for (size_t len = 0; len < whole.size(); len++) {
            struct rtsp_item item;
            size_t used;
            CHECK(decode(whole.substr(0, len), &item, &used) == ERR_AGAIN);
            CHECK(used == 0);
        }
    }
}

TEST_CASE("rtsp: random mutations do no harm")
{
    struct rng rng = rng_seeded(6);
    for (int i = 0; i < 20000; i++) {
        std::string bytes = set_parameter;
        for (uint64_t k = 1 + rng_below(&rng, 4); k-- > 0;)
            bytes[rng_below(&rng, bytes.size())] = (char)rng_u64(&rng);
        struct rtsp_item item;
        size_t used;
        int err = decode(bytes, &item, &used);
        REQUIRE(err <= 0);
        REQUIRE(used <= bytes.size());
        if (err == 0)
            REQUIRE(used > 0);
    }
}

TEST_CASE("rtsp: Range")
{
    const struct {
        const char *value;
        int result;
        double from;
        double to;
    } cases[] = {
        {"npt=now-", 0, -1, -1}, // RFC 2326, 3.6
        {"npt=12:05:35.3-", 0, 43535.3, -1},
        {"npt=123.45-125", 0, 123.45, 125},
        {"npt=0-", 0, 0, -1},
        {"npt=0.000-30.500", 0, 0, 30.5},
        {"npt=-20", 0, -1, 20},
        {" npt=10-15;time=19970123T143720Z", 0, 10, 15},
        {"npt=1.-2.", 0, 1, 2},
        {"clock=19961108T142300Z-19961108T143520Z", 0, 847462980, 847463720}, // RFC 2326, 3.7
        {"clock=20261124T113000.5Z-", 0, 1795519800.5, -1},
        {"npt=-60-", 0, 60, -1},
        {"npt=-0:01:00.5-", 0, 60.5, -1},
        {"npt=-60-70", ERR_MALFORMED, 0, 0},
        {"npt=-60-now", ERR_MALFORMED, 0, 0},
        {"npt=-now-", ERR_MALFORMED, 0, 0},
        {"clock=20261124T113000Z", ERR_MALFORMED, 0, 0},
        {"clock=-20261124T113000Z", ERR_MALFORMED, 0, 0},
        {"clock=20261124T113000Z-now", ERR_MALFORMED, 0, 0},
        {"clock=20261124-", ERR_MALFORMED, 0, 0},
        {"smpte=10:12:33:20-", ERR_UNSUPPORTED, 0, 0},
        {"smpte-25=10:07:00-10:07:33:05.01", ERR_UNSUPPORTED, 0, 0},
        {"", ERR_MALFORMED, 0, 0},
        {"npt=", ERR_MALFORMED, 0, 0},
        {"npt=-", ERR_MALFORMED, 0, 0},
        {"npt=5", ERR_MALFORMED, 0, 0},
        {"npt=5-now", ERR_MALFORMED, 0, 0},
        {"npt=--5", ERR_MALFORMED, 0, 0},
        {"npt=1:2-", ERR_MALFORMED, 0, 0},
        {"npt=1:60:00-", ERR_MALFORMED, 0, 0},
        {"npt=1e5-", ERR_MALFORMED, 0, 0},
        {"npt=nan-", ERR_MALFORMED, 0, 0},
        {"npt=10000000000-", ERR_MALFORMED, 0, 0},
        {"npt=1000000:00:00-", ERR_MALFORMED, 0, 0},
        {"npt=1-2x", ERR_MALFORMED, 0, 0},
        {"bytes=1-2", ERR_MALFORMED, 0, 0},
    };
    for (const auto &c : cases) {
        INFO(c.value);
        struct rtsp_range r;
        REQUIRE(rtsp_range_decode(text_from(c.value), &r) == c.result);
        if (c.result == 0) {
            CHECK(r.from == Approx(c.from));
            CHECK(r.to == Approx(c.to));
        }
    }
}

TEST_CASE("rtsp: Range says what its times count from")
{
    const struct {
        const char *value;
        enum rtsp_range_kind kind;
    } cases[] = {{"npt=60-", RTSP_RANGE_NPT},
                 {"npt=-60", RTSP_RANGE_NPT},
                 {"npt=now-", RTSP_RANGE_NPT},
                 {"npt=-60-", RTSP_RANGE_BACK},
                 {"clock=20261124T113000Z-", RTSP_RANGE_CLOCK}};
    for (const auto &c : cases) {
        INFO(c.value);
        struct rtsp_range r;
        REQUIRE(rtsp_range_decode(text_from(c.value), &r) == 0);
        CHECK(r.kind == c.kind);
    }
}

TEST_CASE("rtsp: X-Weir-Rewind")
{
    struct rtsp_rewind r = {12.3456, 60}, back = {};
    char text[64];
    REQUIRE(rtsp_rewind_encode(&r, text, sizeof(text)) == 21);
    CHECK(std::string(text) == "behind=12.346;back=60");
    REQUIRE(rtsp_rewind_decode(text_from(text), &back) == 0);
    CHECK(back.behind == Approx(12.346));
    CHECK(back.back == 60);
    CHECK(rtsp_rewind_encode(&r, text, 10) == ERR_FULL);
    for (const char *bad : {"", "behind=", "behind=1", "behind=1;back=", "behind=-1;back=2",
                            "behind=1;back=2x", "back=2;behind=1"})
        CHECK(rtsp_rewind_decode(text_from(bad), &back) == ERR_MALFORMED);
}

TEST_CASE("rtsp: Scale")
{
    const struct {
        const char *text;
        double scale;
    } good[] = {{"1", 1},       {" 2.0 ", 2},   {"-4", -4},         {"-8.000", -8},
                {"0.25", 0.25}, {"-0.5", -0.5}, {"1000.000", 1000}, {"0", 0}};
    for (const auto &c : good) {
        INFO(c.text);
        double scale = 77;
        REQUIRE(rtsp_scale_decode(text_from(c.text), &scale) == 0);
        CHECK(scale == Approx(c.scale));
    }
    for (const char *text : {"", "-", "fast", "2x", "--2", "1e3", "1001", "1000.5", "nan", "2 4"}) {
        INFO(text);
        double scale = 77;
        CHECK(rtsp_scale_decode(text_from(text), &scale) == ERR_MALFORMED);
        CHECK(scale == 77);
    }
}

TEST_CASE("rtsp: the frames in a response to PLAY")
{
    struct {
        struct rtsp_frames frames;
        const char *text;
    } good[] = {
        {{0, 0, false, 0}, "first=0;show=0"},
        {{360, 377, true, 0}, "first=360;show=377;ahead"},
        {{360, 377, true, 420}, "first=360;show=377;ahead;until=420"},
        {{0, 0, false, 60}, "first=0;show=0;until=60"},
        {{1099511627776, 1099511627776, false, 0}, "first=1099511627776;show=1099511627776"},
    };
    for (const auto &c : good) {
        char text[96];
        REQUIRE(rtsp_frames_encode(&c.frames, text, sizeof(text)) == (int)strlen(c.text));
        CHECK(std::string(text) == c.text);
        struct rtsp_frames f;
        REQUIRE(rtsp_frames_decode(text_from(text), &f) == 0);
        CHECK(f.first == c.frames.first);
        CHECK(f.show == c.frames.show);
        CHECK(f.ahead == c.frames.ahead);
        CHECK(f.until == c.frames.until);
    }
    char small[14];
    CHECK(rtsp_frames_encode(&good[0].frames, small, sizeof(small)) == ERR_FULL);
    for (const char *text :
         {"", "first=1", "first=2;show=1", "first=-1;show=0", "show=1;first=0", "first=0;show=1;",
          "first=0;show=1;aheadx", "first=0;show=1;until=1", "first=0;show=1;until=-9",
          "first=0;show=1;until=9;ahead", "first=0;show=1;until=9x", "first=0;show=1099511627777",
          "first=0;show=1 ;ahead"}) {
        INFO(text);
        struct rtsp_frames f;
        CHECK(rtsp_frames_decode(text_from(text), &f) == ERR_MALFORMED);
    }
}

TEST_CASE("rtsp: parameters of a body")
{
    struct text body = text_from("level: 3\r\n\r\n  packets_received  \n x : a: b \r\nlast:");
    const char *expected[][2] = {
        {"level", "3"}, {"packets_received", ""}, {"x", "a: b"}, {"last", ""}};
    size_t at = 0;
    struct text name, value;
    for (auto &e : expected) {
        REQUIRE(rtsp_parameter_next(body, &at, &name, &value) == 1);
        CHECK(string(name) == e[0]);
        CHECK(string(value) == e[1]);
    }
    CHECK(rtsp_parameter_next(body, &at, &name, &value) == 0);
    CHECK(rtsp_parameter_next({nullptr, 0}, &(at = 0), &name, &value) == 0);
    for (const char *bad : {": value", "two words", "a\x01: b", "a: b\rc", "a: \x7f"}) {
        at = 0;
        CHECK(rtsp_parameter_next(text_from(bad), &at, &name, &value) == ERR_MALFORMED);
    }
}

TEST_CASE("rtsp: names and reasons")
{
    CHECK(std::string(rtsp_method_name(RTSP_GET_PARAMETER)) == "GET_PARAMETER");
    CHECK(std::string(rtsp_reason(454)) == "Session Not Found");
    for (int status : {200, 400, 404, 405, 406, 408, 413, 414, 415, 451, 452, 453, 454, 455,
                       456, 457, 458, 459, 460, 461, 462, 463, 500, 501, 503, 505, 551})
        CHECK(std::string(rtsp_reason(status)) != "Unknown");
    CHECK(std::string(rtsp_reason(999)) == "Unknown");
}
