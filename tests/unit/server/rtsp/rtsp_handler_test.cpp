// SPDX-License-Identifier: GPL-2.0-or-later
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" // functions named as their structs, which C allows
#include "sender/feed/synthetic_media.h"
#include "server/rtsp/rtsp_handler.h"
#include "server/still/still_maker.h"
#pragma GCC diagnostic pop

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "common/base/err.h"
#include "tests/support/tcp_pair.hpp"

namespace
{

// A server of one stream, whose place and whose catalog answer what the test says.
struct world {
    test::tcp_pair tcp;
    stream offered;
    stream_media_ops media_ops;
    media_feed_ops feed_ops;
    catalog_ops served_ops;
    catalog served = {};
    rtsp_handler *handler;
    int cseq = 0;
    int woken = 0;
    frame_sink *sink = nullptr; // of the viewer
    static inline const stream_media_ops *plain;
    static inline world *self;
    // The next answers.
    media_placed placed = MEDIA_NOWHERE;
    media_place place = {};
    int taken = 0;
    double sought = -1; // as the feed was asked; -1: not to seek
    double scale = 0;
    bool scales = true;
    int latency = -1;     // that the feed was told
    std::string attached; // the session and the secret of a re-attachment
    int attach_status = 200;
    still_maker *films; // small pictures

    world()
    {
        self = this;
        static synthetic layers;
        REQUIRE(synthetic_parse("layers:2,64", &layers) == 0);
        stream_media *media = synthetic_media_new(&layers);
        REQUIRE(media);
        plain = media->ops;
        media_ops = *plain;
        media_ops.feed_new = [](stream_media *m, const media_feed_config *config) {
            media_feed *f = plain->feed_new(m, config);
            REQUIRE(f);
            self->sink = config->sink;
            self->feed_ops = *f->ops;
            self->feed_ops.place = [](media_feed *, const media_seek *to, media_place *out,
                                      usec_t) {
                self->sought = to ? to->seconds : -1;
                self->scale = to ? to->scale : 0;
                *out = self->place;
                return self->placed;
            };
            self->feed_ops.set_latency = [](media_feed *, int ms) { self->latency = ms; };
            f->ops = &self->feed_ops;
            f->scales = self->scales;
            return f;
        };
        media->ops = &media_ops;
        media->duration = 60;
        stream_init(&offered, media, nullptr);
        offered.book = &served.book;
        served_ops = {};
        served_ops.take = [](catalog *, const char *, catalog_hold *h, bool, stream **out) {
            h->refusal = {404, "the origin has no such film"};
            *out = &self->offered;
            return self->taken;
        };
        served_ops.leave = [](catalog *, catalog_hold *) {};
        served.ops = &served_ops;
        films = still_maker_new(&tcp.loop, &still_film);
        REQUIRE(films);
        rtsp_handler_config config = {&tcp.loop,
                                      &served,
                                      nullptr,
                                      nullptr,
                                      tcp.conn,
                                      "viewer",
                                      [](void *ctx, usec_t) { ((world *)ctx)->woken++; },
                                      [](void *, const char *) {},
                                      [](void *, const char *, usec_t) {},
                                      this,
                                      false,
                                      [](void *ctx, text id, text secret, usec_t) {
                                          ((world *)ctx)->attached =
                                              std::string(id.at, id.len) + " " +
                                              std::string(secret.at, secret.len);
                                          return ((world *)ctx)->attach_status;
                                      },
                                      films};
        handler = rtsp_handler_new(&config, 0);
        REQUIRE(handler);
    }
    ~world()
    {
        rtsp_handler_free(handler, 0);
        still_maker_free(films);
        stream_destroy(&offered);
    }

    // Returns the status of the response, whose headers and body are `said`; 0: the request waits.
    int serve(const std::string &method, const std::string &headers, std::string *said)
    {
        std::string session = "Session: " + id() + "\r\n";
        return serve_bare(method, headers + (rtsp_handler_session(handler) ? session : ""), said);
    }
    std::string id() const
    {
        return rtsp_handler_state(handler)->id;
    }
    // The same, without a Session header.
    int serve_bare(const std::string &method, const std::string &headers, std::string *said)
    {
        std::string text = method +
                           " rtsp://host/film RTSP/1.0\r\nCSeq: " + std::to_string(++cseq) +
                           "\r\n" + headers + "\r\n";
        rtsp_item item;
        size_t used;
        REQUIRE(rtsp_decode((const uint8_t *)text.data(), text.size(), &item, &used) == 0);
        auto a = std::make_unique<rtsp_response>();
        a->status = 200;
        if (!rtsp_handler_serve(handler, &item, a.get(), 0))
            return 0;
        *said = std::string(a->headers) +
                std::string(a->body, a->body_bytes ? a->body_bytes : strlen(a->body));
        return a->status;
    }
    void set_up()
    {
        std::string said;
        REQUIRE(serve("SETUP", "Transport: RTP/AVP/TCP;interleaved=0-1;x-weir=tcp\r\n", &said) ==
                200);
    }
};

bool has(const std::string &text, const char *part)
{
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("rtsp_handler: PLAY waits until the media has its place, and asks for it again")
{
    world w;
    std::string said;
    w.set_up();
    w.placed = MEDIA_WAITS;
    const char *from_5 = "Range: npt=5-\r\n";
    CHECK(w.serve("PLAY", from_5, &said) == 0);
    CHECK(w.sought == 5);
    CHECK(rtsp_handler_state(w.handler)->state == RTSP_READY);
    CHECK(w.woken == 0);
    w.sink->ops->on_placed(w.sink, 0);
    CHECK(w.woken == 1);
    w.placed = MEDIA_SOUGHT;
    w.place.seconds = 4.8;
    w.place.frames = {100, 104, true, 0};
    w.sought = -1;
    CHECK(w.serve("PLAY", from_5, &said) == 200);
    CHECK(w.sought == 5);
    CHECK(has(said, "Range: npt=4.800-60.000\r\n"));
    CHECK(has(said, "first=100;show=104;ahead\r\n"));
    CHECK(rtsp_handler_state(w.handler)->state == RTSP_PLAYING);
}

TEST_CASE("rtsp_handler: Scale, and the one that the media plays at")
{
    const struct {
        const char *headers;
        double asked, has; // of the media; asked 0: nothing was asked
        const char *said;
    } table[] = {
        {"Scale: 4\r\nRange: npt=5-\r\n", 4, 4, "Scale: 4\r\n"},
        {"Scale: -3.2\r\n", -4, -4, "Scale: -4\r\n"}, // the nearest one
        {"Scale: 100\r\n", 8, 8, "Scale: 8\r\n"},
        {"Scale: 2\r\n", 2, 0, "Scale: 1\r\n"}, // of media that knows only 1
        {"Scale: 1.2\r\n", 0, 1, "Scale: 1\r\n"},
        {"Scale: fast\r\n", 0, 1, "Scale: 1\r\n"},
        {"", 0, 1, nullptr},
    };
    for (const auto &row : table) {
        INFO(row.headers);
        world w;
        std::string said;
        w.set_up();
        w.place.scale = row.has;
        w.placed = row.asked != 0 ? MEDIA_SOUGHT : MEDIA_CONTINUES;
        CHECK(w.serve("PLAY", row.headers, &said) == 200);
        CHECK(w.scale == row.asked);
        CHECK(has(said, row.said ? row.said : "Scale") == (row.said != nullptr));
    }
}

TEST_CASE("rtsp_handler: a file that knows only scale 1 refuses others, live media answers 1")
{
    for (const bool live : {false, true}) {
        world w;
        std::string said;
        w.scales = false;
        w.set_up();
        w.offered.media->duration = live ? -1 : 60;
        w.placed = MEDIA_CONTINUES;
        CHECK(w.serve("PLAY", "Scale: 4\r\n", &said) == (live ? 200 : 456));
        CHECK(has(said, live ? "Scale: 1\r\n" : "weir-send --prepare") == true);
        CHECK(w.serve("PLAY", "Scale: 1.2\r\n", &said) == 200); // the nearest one is 1
        CHECK(has(said, "Scale: 1\r\n"));
    }
}

TEST_CASE("rtsp_handler: a viewer that plays keeps its scale; after a pause it is 1 unless named")
{
    world w;
    std::string said;
    w.set_up();
    w.place.scale = 4;
    w.placed = MEDIA_SOUGHT;
    CHECK(w.serve("PLAY", "Scale: 4\r\n", &said) == 200);
    session_play(rtsp_handler_session(w.handler), 0);
    CHECK(w.serve("PLAY", "Range: npt=5-\r\n", &said) == 200);
    CHECK(w.scale == 4);
    CHECK(has(said, "Scale: 4\r\n"));
    w.placed = MEDIA_CONTINUES;
    CHECK(w.serve("PAUSE", "", &said) == 200);
    CHECK(w.serve("PLAY", "Scale: 4\r\n", &said) == 200);
    CHECK(w.scale == 0); // it continues
    CHECK(has(said, "Scale: 4\r\n"));
    CHECK(w.serve("PAUSE", "", &said) == 200);
    w.place.scale = 1;
    w.placed = MEDIA_SOUGHT;
    CHECK(w.serve("PLAY", "", &said) == 200);
    CHECK(w.scale == 1);
    CHECK(!has(said, "Scale"));
}

TEST_CASE("rtsp_handler: SETUP may say what the viewer buffers")
{
    struct {
        const char *header;
        int latency; // -1: as before
    } const table[] = {
        {"X-Weir-Buffer: 800\r\n", 800}, {"x-weir-buffer: 20\r\n", 20},
        {"X-Weir-Buffer: 19\r\n", -1},   {"X-Weir-Buffer: 60001\r\n", -1},
        {"X-Weir-Buffer: soon\r\n", -1}, {"", -1},
    };
    for (const auto &row : table) {
        INFO(row.header);
        world w;
        std::string said;
        std::string headers = "Transport: RTP/AVP/TCP;interleaved=0-1;x-weir=tcp\r\n";
        CHECK(w.serve("SETUP", headers + row.header, &said) == 200);
        CHECK(w.latency == row.latency);
    }
}

TEST_CASE("rtsp_handler: what each answer of the media makes of PLAY")
{
    struct {
        media_placed placed;
        int status;
        const char *said;
        rtsp_state state;
    } const table[] = {
        {MEDIA_CONTINUES, 200, "Range: npt=3.000-60.000\r\n", RTSP_PLAYING},
        {MEDIA_SOUGHT, 200, "Range: npt=3.000-60.000\r\n", RTSP_PLAYING},
        {MEDIA_NOWHERE, 200, "Range: npt=now-\r\n", RTSP_PLAYING},
        {MEDIA_REFUSED, 504, "the origin does not answer\r\n", RTSP_READY},
        {MEDIA_WAITS, 0, "", RTSP_READY},
    };
    for (const auto &row : table) {
        INFO(row.placed);
        world w;
        std::string said;
        w.set_up();
        w.placed = row.placed;
        w.place.seconds = 3;
        w.place.refusal = {504, "the origin does not answer"};
        CHECK(w.serve("PLAY", "", &said) == row.status);
        CHECK(w.sought == -1);
        CHECK(has(said, row.said));
        CHECK(rtsp_handler_state(w.handler)->state == row.state);
    }
}

TEST_CASE("rtsp_handler: a refusal of another server passes, with its status")
{
    world w;
    std::string said;
    w.taken = CATALOG_REFUSED;
    CHECK(w.serve("DESCRIBE", "", &said) == 404);
    CHECK(said == "the origin has no such film\r\n");
    w.taken = CATALOG_WAITS;
    CHECK(w.serve("DESCRIBE", "", &said) == 0);
    w.taken = 0;
    CHECK(w.serve("DESCRIBE", "", &said) == 200);
}

TEST_CASE("rtsp_handler: Speed as far as the media and its transport go")
{
    const struct {
        double max; // of the media; 0: it does not say
        const char *asked, *granted;
    } rows[] = {{0, "2", "2.000"},   {0, "9", "4.000"},       {0, "0.1", "0.250"},
                {100, "9", "9.000"}, {100, "500", "100.000"}, {100, "nan", "0.250"},
                {100, "-3", "0.250"}};
    for (const auto &row : rows) {
        CAPTURE(row.max, row.asked);
        world w;
        std::string said;
        static double max, got;
        max = row.max;
        got = 0;
        w.media_ops.feed_new = [](stream_media *m, const media_feed_config *config) {
            media_feed *f = world::plain->feed_new(m, config);
            REQUIRE(f);
            world::self->feed_ops = *f->ops;
            world::self->feed_ops.set_speed = [](media_feed *, double speed) { got = speed; };
            f->ops = &world::self->feed_ops;
            f->max_speed = max;
            return f;
        };
        w.set_up();
        REQUIRE(w.serve("PLAY", "Range: npt=0-\r\nSpeed: " + std::string(row.asked) + "\r\n",
                        &said) == 200);
        CHECK(has(said, ("Speed: " + std::string(row.granted) + "\r\n").c_str()));
        CHECK(got == Approx(atof(row.granted)));
    }
}

TEST_CASE("rtsp_handler: the film's table, part by part")
{
    static film_table *t;
    static int answer;
    world w;
    std::string said;
    const film_shape shape = {2, 8000, 60, 60, {30, 1}, true}; // 32,024 bytes: three parts
    REQUIRE(film_table_new(&shape, &t) == 0);
    w.media_ops.feed_new = [](stream_media *m, const media_feed_config *config) {
        media_feed *f = world::plain->feed_new(m, config);
        REQUIRE(f);
        world::self->feed_ops = *f->ops;
        world::self->feed_ops.film_table = [](media_feed *, const film_table **out, usec_t) {
            *out = t;
            return answer;
        };
        f->ops = &world::self->feed_ops;
        return f;
    };
    w.set_up();
    auto ask = [&](const std::string &body) {
        std::string text =
            "GET_PARAMETER rtsp://host/film RTSP/1.0\r\nCSeq: 9\r\nSession: " + w.id() +
            "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
        rtsp_item item;
        size_t used;
        REQUIRE(rtsp_decode((const uint8_t *)text.data(), text.size(), &item, &used) == 0);
        auto a = std::make_unique<rtsp_response>();
        a->status = 200;
        REQUIRE(rtsp_handler_serve(w.handler, &item, a.get(), 0));
        said = a->body;
        return a->status;
    };
    CHECK(ask("film-table: 0\r\n") == 200);
    CHECK(said.find("film-table: 0/32024 V0ZUAQ") == 0);
    CHECK(said.size() > 16384);
    CHECK(ask("film-table: 24576\r\n") == 200);
    CHECK(said.find("film-table: 24576/32024 ") == 0);
    CHECK(ask("film-table: 0\r\nfilm-table: 12288\r\n") == 200); // one has room
    CHECK_FALSE(has(said, "film-table: 12288"));
    for (const char *bad : {"film-table: 32024\r\n", "film-table: -1\r\n", "film-table\r\n"})
        CHECK(ask(bad) == 451);
    answer = ERR_AGAIN;
    CHECK(ask("film-table: 0\r\n") == 200);
    CHECK(said == "film-table: later\r\n");
    answer = ERR_NOT_FOUND;
    CHECK(ask("film-table: 0\r\n") == 451);
    answer = 0;
    film_table_free(t);
}

TEST_CASE("rtsp_handler: a long list comes in parts, which are of one list")
{
    static std::string text;
    static int made;
    world w;
    std::string said, got;
    text.clear();
    made = 0;
    for (int i = 0; i < 1000; i++)
        text += "/a%20film%20with%20a%20name%20" + std::to_string(i) + ".mkv\t12.0\t1280x720\n";
    w.taken = ERR_END;
    w.served_ops.list = [](catalog *, catalog_hold *, char *out, size_t cap, int *count) -> int {
        if (++made == 1)
            return CATALOG_WAITS;
        REQUIRE(text.size() < cap);
        memcpy(out, text.c_str(), text.size() + 1);
        *count = 1000;
        return 0;
    };
    CHECK(w.serve("DESCRIBE", "", &said) == 0);
    int parts = 0;
    for (long first = 0; first < 1000; parts++) {
        std::string header = first ? "X-Weir-List: " + std::to_string(first) + "\r\n" : "";
        REQUIRE(w.serve("DESCRIBE", header, &said) == 300);
        std::string place = "X-Weir-List: first=" + std::to_string(first) + ";total=1000\r\n";
        REQUIRE(said.find(place) == 0);
        std::string lines = said.substr(place.size());
        first += std::count(lines.begin(), lines.end(), '\n');
        got += lines;
        REQUIRE(parts < 10);
    }
    CHECK(parts > 2);
    CHECK(got == text);
    CHECK(made == 2);
    // After the last part, and beyond it, the list is made again.
    CHECK(w.serve("DESCRIBE", "X-Weir-List: 1000\r\n", &said) == 300);
    CHECK(said == "X-Weir-List: first=1000;total=1000\r\n");
    CHECK(made == 3);
    for (const char *bad : {"X-Weir-List: -1\r\n", "X-Weir-List: 1x\r\n", "X-Weir-List: \r\n"})
        CHECK(w.serve("DESCRIBE", bad, &said) == 400);
}

TEST_CASE("rtsp_handler: a small picture of a film, in place of its description")
{
    static picture_taker *taker;
    static int err;
    static std::string via;
    static const stream_media_ops ops = [] {
        stream_media_ops o{};
        o.take = [](stream_media *, picture_taker *t) { taker = t; };
        o.leave = [](stream_media *, picture_taker *) { taker = nullptr; };
        o.free = [](stream_media *) {};
        return o;
    }();
    static stream_media film{};
    film.ops = &ops;
    world w;
    std::string said;
    const std::string accept = "Accept: image/jpeg\r\nVia: RTSP/1.0 p\r\n";
    w.served_ops.still = [](catalog *, still_wish *wish, int *e) -> stream_media * {
        CHECK(std::string(wish->path) == "film");
        CHECK(wish->at == -1);
        via = wish->via;
        *e = err;
        wish->refusal = {502, "loop"};
        return err ? nullptr : &film;
    };
    err = 0;
    taker = nullptr;
    CHECK(w.serve("DESCRIBE", accept, &said) == 0);
    CHECK(via == "RTSP/1.0 p");
    REQUIRE(taker);
    const uint8_t jpeg[] = {0xff, 0xd8, 0, 'x'};
    const taken_picture taken = {nullptr, jpeg, sizeof(jpeg), 60 * USEC_PER_SEC, 0};
    taker->on_picture(taker, &taken, 0);
    CHECK(w.woken == 1);
    CHECK(w.serve("DESCRIBE", accept, &said) == 200);
    CHECK(said == "Cache-Control: max-age=60\r\n" + std::string("\xff\xd8\0x", 4));
    CHECK(rtsp_handler_session(w.handler) == nullptr);
    CHECK(w.serve("DESCRIBE", accept, &said) == 200); // it is kept
    err = CATALOG_REFUSED;
    CHECK(w.serve("DESCRIBE", accept, &said) == 502);
    err = ERR_UNSUPPORTED; // of a stream
    CHECK(w.serve("DESCRIBE", "Accept: application/sdp\r\n", &said) == 200);
    CHECK(has(said, "m=video"));
    CHECK(w.serve("DESCRIBE", accept, &said) == 404);
}

TEST_CASE("rtsp_handler: the clock is that of the media's capture times")
{
    world w;
    std::string said;
    auto clock = [&] {
        std::string body = "clock\r\n",
                    text = "GET_PARAMETER rtsp://host/film RTSP/1.0\r\nCSeq: 9\r\n"
                           "Content-Type: text/parameters\r\nContent-Length: 7\r\n";
        text += std::string("Session: ") + rtsp_handler_state(w.handler)->id + "\r\n\r\n" + body;
        rtsp_item item;
        size_t used;
        REQUIRE(rtsp_decode((const uint8_t *)text.data(), text.size(), &item, &used) == 0);
        auto a = std::make_unique<rtsp_response>();
        a->status = 200;
        REQUIRE(rtsp_handler_serve(w.handler, &item, a.get(), 0));
        long long at = 0;
        REQUIRE(sscanf(a->body, "clock: %lld", &at) == 1);
        return at;
    };
    w.media_ops.feed_new = [](stream_media *m, const media_feed_config *config) {
        media_feed *f = world::plain->feed_new(m, config);
        REQUIRE(f);
        f->wall_ahead = 1000LL * 365 * 86400 * USEC_PER_SEC; // a thousand years
        return f;
    };
    w.set_up();
    CHECK(clock() > 1000LL * 365 * 86400 * USEC_PER_SEC);
}

TEST_CASE("rtsp handler: requests of a group need no session id")
{
    world w;
    std::string said;
    const std::string setup = "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n";
    CHECK(w.serve_bare("PLAY", "Pipelined-Requests: 7\r\n", &said) == 455); // no session yet
    CHECK(w.serve_bare("SETUP", setup + "Pipelined-Requests: 7\r\n", &said) == 200);
    CHECK(said.find("Pipelined-Requests: 7\r\n") != std::string::npos);
    CHECK(w.serve_bare("PLAY", "", &said) == 454);
    CHECK(w.serve_bare("PLAY", "Pipelined-Requests: 8\r\n", &said) == 454);
    CHECK(w.serve_bare("PLAY", "Session: 0000000000000000\r\nPipelined-Requests: 7\r\n", &said) ==
          454);
    CHECK(w.serve_bare("PLAY", "Pipelined-Requests: 7\r\n", &said) == 200);
    CHECK(w.serve_bare("TEARDOWN", "Pipelined-Requests: 7\r\n", &said) == 200);
    CHECK(w.serve_bare("PLAY", "Pipelined-Requests: 7\r\n", &said) == 455);
    // Without the header nothing is said of it, and the group before is forgotten.
    CHECK(w.serve_bare("SETUP", setup, &said) == 200);
    CHECK(said.find("Pipelined") == std::string::npos);
    CHECK(w.serve_bare("PLAY", "Pipelined-Requests: 7\r\n", &said) == 454);
    // A name that is too long is no group.
    CHECK(w.serve_bare("TEARDOWN", "Session: " + w.id() + "\r\n", &said) == 200);
    std::string name(100, '7');
    CHECK(w.serve_bare("SETUP", setup + "Pipelined-Requests: " + name + "\r\n", &said) == 200);
    CHECK(w.serve_bare("PLAY", "Pipelined-Requests: " + name + "\r\n", &said) == 454);
}

TEST_CASE("rtsp_handler: the viewer that asks for it gets a secret, by which its session is found")
{
    world w;
    std::string said;
    const char *transport = "Transport: RTP/AVP/TCP;interleaved=0-1;x-weir=tcp\r\n";
    const text any = {"00000000000000000000000000000000", 32};
    SECTION("not asked for")
    {
        REQUIRE(w.serve("SETUP", transport, &said) == 200);
        CHECK_FALSE(has(said, "X-Weir-Attach"));
        CHECK_FALSE(rtsp_handler_can_be_attached(w.handler));
        const std::string id = w.id();
        CHECK(rtsp_handler_check_attach(w.handler, {id.data(), id.size()}, any, false, 0) == 454);
        return;
    }
    REQUIRE(w.serve("SETUP", std::string(transport) + "X-Weir-Attach: wanted\r\n", &said) == 200);
    CHECK(rtsp_handler_can_be_attached(w.handler));
    const std::string name = "X-Weir-Attach: ";
    const std::string secret = said.substr(said.find(name) + name.size(), 32);
    const std::string id = w.id();
    const text right = {secret.data(), secret.size()}, session = {id.data(), id.size()};
    CHECK(rtsp_handler_check_attach(w.handler, session, any, false, 0) == 454);
    CHECK(rtsp_handler_check_attach(w.handler, {"0123456789abcdef", 16}, right, false, 0) == 454);
    CHECK(rtsp_handler_check_attach(w.handler, {"", 0}, right, false, 0) == 454);
    CHECK(rtsp_handler_check_attach(w.handler, session, right, false, 0) == 200);
    rtsp_handler_reconnected(w.handler, 0, 0);
    REQUIRE(w.serve("TEARDOWN", "", &said) == 200);
    CHECK_FALSE(rtsp_handler_can_be_attached(w.handler));
    CHECK(rtsp_handler_check_attach(w.handler, session, right, false, 0) == 454);
}

TEST_CASE("rtsp_handler: a connection without a session asks for another one's")
{
    world w;
    std::string said;
    const std::string secret(32, 'a');
    const std::string headers = "Session: 0123456789abcdef\r\nX-Weir-Attach: " + secret + "\r\n";
    CHECK(w.serve_bare("OPTIONS", headers, &said) == 200);
    CHECK(w.attached == "0123456789abcdef " + secret);
    CHECK(has(said, "Session: 0123456789abcdef\r\n"));
    for (int status : {454, 503}) {
        w.attach_status = status;
        CHECK(w.serve_bare("OPTIONS", headers, &said) == status);
        CHECK_FALSE(has(said, "Session: "));
    }
    w.attached = "";
    CHECK(w.serve_bare("GET_PARAMETER", headers, &said) == 454); // it is no such request
    w.set_up();
    CHECK(w.serve_bare("OPTIONS", headers, &said) == 455);
    CHECK(w.attached == "");
}
