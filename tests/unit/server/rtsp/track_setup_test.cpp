// SPDX-License-Identifier: GPL-2.0-or-later
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" // functions named as their structs, which C allows
#include "sender/feed/filler_media.h"
#include "server/rtsp/track_setup.h"
#include "server/session/catalog.h"
#pragma GCC diagnostic pop

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "common/base/err.h"
#include "common/wire/rtsp_transport.h"
#include "tests/support/tcp_pair.hpp"

namespace
{

struct world {
    test::tcp_pair tcp;
    stream offered;
    catalog *served; // counts the stream's sessions
    rtsp_session state;
    track_setup *setup;
    stream_media_ops of_frames;
    static inline const stream_media_ops *filler_ops;

    // `frames`: the media has frames, of which none ever comes.
    explicit world(bool frames = false, bool srtp = false)
    {
        stream_media *media = filler_media_new(SDP_SOURCE_STEADY, 1000000);
        REQUIRE(media);
        filler_ops = media->ops;
        of_frames = *filler_ops;
        of_frames.feed_new = [](stream_media *m, const media_feed_config *config) {
            media_feed *f = filler_ops->feed_new(m, config);
            REQUIRE(f);
            f->filler = FILLER_NONE;
            return f;
        };
        media->ops = frames ? &of_frames : filler_ops;
        stream_init(&offered, media, nullptr);
        served = catalog_new_one("/live", &offered);
        REQUIRE(served);
        rtsp_session_init(&state, 0);
        track_setup_config config = {&tcp.loop,
                                     tcp.conn,
                                     nullptr,
                                     "viewer",
                                     &state,
                                     [](void *, usec_t) {},
                                     [](void *, const char *) {},
                                     [](void *, const char *, usec_t) {},
                                     nullptr,
                                     srtp};
        setup = track_setup_new(&config);
        REQUIRE(setup);
    }
    ~world()
    {
        track_setup_free(setup, 0);
        served->ops->free(served);
        stream_destroy(&offered);
    }

    int serve(const std::string &header, std::string *said, media_track track = TRACK_VIDEO,
              bool is_level_known = true)
    {
        auto a = std::make_unique<rtsp_response>();
        a->status = 200;
        track_setup_request r = {
            {header.data(), header.size()}, track, &offered, 0, is_level_known};
        track_setup_serve(setup, &r, a.get(), 0);
        *said = a->status == 200 ? a->headers : a->body;
        return a->status;
    }
};

rtsp_transport answer_of(const std::string &headers)
{
    const std::string name = "Transport: ";
    size_t from = headers.find(name) + name.size(), to = headers.find("\r\n", from);
    rtsp_transport t[RTSP_MAX_OFFERS];
    REQUIRE(rtsp_transport_decode({headers.data() + from, to - from}, t) == 1);
    return t[0];
}

} // namespace

TEST_CASE("track_setup: what each Transport header gets")
{
    struct {
        const char *header;
        int status;
        const char *said;
    } const table[] = {
        {"RTP/AVP/TCP;interleaved=0-1", 200, "interleaved=0-1"},
        {"RTP/AVP/TCP", 200, "interleaved=0-1"},
        {"RTP/AVP/TCP;interleaved=4", 200, "interleaved=4-5"},
        {"RTP/AVP/TCP;interleaved=7-7", 200, "interleaved=7-8"},
        {"RTP/AVP/TCP;interleaved=255-255", 200, "interleaved=255-0"},
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=tcp", 200, "x-weir=tcp"},
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=pigeons,RTP/AVP/TCP;x-weir=tcp", 200, "x-weir=tcp"},
        {"RTP/AVP;unicast;client_port=9-10", 200, "client_port=9-10"},
        {"RTP/AVP;unicast;client_port=9-10;x-weir=mtp", 200, "x-weir-token="},
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=mtp-raw", 461, "CAP_NET_RAW"},
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=pigeons", 461, "unknown transport \"pigeons\""},
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=tcp;x-cc=pigeons", 461,
         "\"pigeons\" is not available"},
        {"RTP/AVP;multicast", 461, "unicast UDP"},
        {"RAW/RAW/UDP;unicast", 461, "no transport in the Transport header is supported"},
        {"", 400, "RFC 2326, 12.39"},
    };
    for (const auto &row : table) {
        INFO(row.header);
        world w;
        std::string said;
        CHECK(w.serve(row.header, &said) == row.status);
        INFO(said);
        CHECK(said.find(row.said) != std::string::npos);
        CHECK((track_setup_session(w.setup) != nullptr) == (row.status == 200));
        CHECK(w.state.state == (row.status == 200 ? RTSP_READY : RTSP_INIT));
    }
}

TEST_CASE("track_setup: repair in the requested mode, where packets can be lost")
{
    struct {
        std::string header, repair; // "": the response does not have it
        bool filler;
    } const table[] = {
        {"RTP/AVPF;unicast;client_port=9-10;x-weir=tfrc;x-weir-repair=auto", "auto", false},
        {"RTP/AVPF;unicast;client_port=9-10;x-weir=udp;x-weir-repair=resend", "resend", false},
        {"RTP/AVP;unicast;client_port=9-10;x-weir=mtp;x-weir-repair=fec", "fec", false},
        {"RTP/AVPF;unicast;client_port=9-10;x-weir=tfrc;x-weir-repair=off", "", false},
        {"RTP/AVPF;unicast;client_port=9-10;x-weir=tfrc;x-weir-repair=prayer", "", false},
        {"RTP/AVPF;unicast;client_port=9-10;x-weir=tfrc", "", false},
        {"RTP/AVP;unicast;client_port=9-10;x-weir-repair=auto", "", false}, // not Weir's
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=minbuf;x-weir-repair=auto", "", false},
        {"RTP/AVPF;unicast;client_port=9-10;x-weir=tfrc;x-weir-repair=auto", "", true},
    };
    for (const auto &row : table) {
        INFO(row.header);
        world w(!row.filler);
        std::string said;
        REQUIRE(w.serve(row.header, &said) == 200);
        CHECK(answer_of(said).repair == row.repair);
    }
}

TEST_CASE("track_setup: ports, token and packet pairs of datagrams; none of a connection")
{
    world w;
    std::string said;
    CHECK(track_setup_send_pair(w.setup, 1) == ERR_UNSUPPORTED);
    REQUIRE(w.serve("RTP/AVPF;unicast;client_port=9-10;x-weir=psp", &said) == 200);
    rtsp_transport t = answer_of(said);
    CHECK(t.has_token);
    CHECK(t.server_port[0] > 0);
    CHECK(t.server_port[1] == t.server_port[0] + 1);
    CHECK(t.avpf);
    CHECK(t.has_ssrc);
    CHECK(track_setup_send_pair(w.setup, 1) == 0); // it waits for the address

    track_setup_teardown(w.setup, 0);
    rtsp_session_apply(&w.state, RTSP_TEARDOWN, 0);
    CHECK(track_setup_session(w.setup) == nullptr);
    REQUIRE(w.serve("RTP/AVP/TCP;interleaved=2-3", &said) == 200);
    t = answer_of(said);
    CHECK_FALSE(t.has_token);
    CHECK(t.server_port[0] == -1);
    CHECK(track_setup_send_pair(w.setup, 1) == ERR_UNSUPPORTED);
}

TEST_CASE("track_setup: a track is set up once, at a level that is there")
{
    world w;
    std::string said;
    CHECK(w.serve("RTP/AVP/TCP;interleaved=0-1", &said, TRACK_VIDEO, false) == 451);
    CHECK(said == "no such level: expected 0 to " +
                      std::to_string(w.offered.media->ladder.level_count - 1) + "\r\n");
    REQUIRE(w.serve("RTP/AVP/TCP;interleaved=0-1", &said) == 200);
    CHECK(w.serve("RTP/AVP/TCP;interleaved=2-3", &said) == 455);
}

TEST_CASE("track_setup: the second track takes the first one's transport, in either order")
{
    struct {
        const char *first, *second;
        int status;
        const char *said;
        bool shares_ports, token;
    } const table[] = {
        {"RTP/AVP/TCP;interleaved=0-1", "RTP/AVP/TCP;interleaved=2-3", 200, "interleaved=2-3",
         false, false},
        {"RTP/AVP/TCP;interleaved=0-1", "RTP/AVP/TCP", 200, "interleaved=2-3", false, false},
        {"RTP/AVP/TCP;interleaved=0-1", "RTP/AVP/TCP;interleaved=1-2", 461, "these channels", false,
         false},
        {"RTP/AVP/TCP;interleaved=0-1", "RTP/AVP;unicast;client_port=9-10", 461,
         "the same transport", false, false},
        {"RTP/AVP/TCP;x-weir=tcp", "RTP/AVP/TCP;interleaved=2-3;x-weir=minbuf", 461,
         "the same transport", false, false},
        {"RTP/AVP/TCP;x-weir=tcp", "RTP/AVP/TCP;interleaved=2-3;x-weir=tcp", 200, "x-weir=tcp",
         false, false},
        {"RTP/AVP;unicast;client_port=9-10", "RTP/AVP;unicast;client_port=11-12", 200,
         "client_port=11-12", false, false},
        {"RTP/AVPF;unicast;client_port=9-10;x-weir=arc",
         "RTP/AVPF;unicast;client_port=9-10;x-weir=arc", 200, "x-weir=arc", true, true},
    };
    for (const auto &row : table)
        for (media_track first : {TRACK_VIDEO, TRACK_AUDIO}) {
            INFO(row.first << " " << row.second << " " << first);
            world w;
            std::string one, two;
            REQUIRE(w.serve(row.first, &one, first) == 200);
            CHECK_FALSE(track_setup_has_both(w.setup));
            media_track second = first == TRACK_VIDEO ? TRACK_AUDIO : TRACK_VIDEO;
            CHECK(w.serve(row.second, &two, second) == row.status);
            INFO(two);
            CHECK(two.find(row.said) != std::string::npos);
            CHECK(track_setup_has_both(w.setup) == (row.status == 200));
            CHECK(answer_of(one).has_token == row.token);
            if (row.status != 200)
                continue;
            rtsp_transport a = answer_of(one), b = answer_of(two);
            CHECK(a.ssrc != b.ssrc);
            CHECK_FALSE(b.has_token); // it came with the first
            if (!a.tcp)
                CHECK((a.server_port[0] == b.server_port[0]) == row.shares_ports);
        }
}

TEST_CASE("track_setup: SRTP for a viewer that gives its key, and for no other where it must be")
{
    const std::string key = ";x-weir-srtp=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwd";
    const struct {
        std::string header;
        int plain, secure; // status without and with `srtp`
        bool has_key;
    } table[] = {
        {"RTP/AVP;unicast;client_port=9-10;x-weir=udp", 200, 461, false},
        {"RTP/AVP;unicast;client_port=9-10", 200, 461, false},
        {"RTP/SAVP;unicast;client_port=9-10;x-weir=udp" + key, 461, 200, true},
        {"RTP/SAVP;unicast;client_port=9-10;x-weir=mtp" + key, 461, 200, true},
        {"RTP/SAVPF;unicast;client_port=9-10;x-weir=tfrc" + key, 461, 200, true},
        {"RTP/SAVP;unicast;client_port=9-10;x-weir=udp", 461, 461, false},
        {"RTP/SAVP;unicast;client_port=9-10", 461, 461, false},
        {"RTP/SAVP;unicast;client_port=9-10" + key, 461, 461, false}, // not a player of ours
        {"RTP/AVP;unicast;client_port=9-10;x-weir=udp" + key, 461, 461, false},
        {"RTP/SAVP;unicast;client_port=9-10;x-weir=udp;x-weir-srtp=AAEC", 461, 461, false},
        {"RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=minbuf", 200, 200, false},
        {"RTP/SAVP/TCP;unicast;interleaved=0-1", 461, 461, false},
    };
    for (const auto &row : table)
        for (bool srtp : {false, true}) {
            INFO(row.header << (srtp ? " must be SRTP" : ""));
            world w(false, srtp);
            std::string said;
            CHECK(w.serve(row.header, &said) == (srtp ? row.secure : row.plain));
            const bool has_key = srtp && row.has_key; // never where it could be read
            CHECK((said.find("Transport: RTP/SAVP") != std::string::npos) == has_key);
            size_t at = said.find(";x-weir-srtp=");
            CHECK((at != std::string::npos && said[at + 13 + 40] == ';') == has_key);
            CHECK(said.find(key) == std::string::npos); // the server's own
        }

    world one(false, true), other(false, true); // fresh keys for each SETUP
    std::string first, second;
    CHECK(one.serve(table[2].header, &first) == 200);
    CHECK(other.serve(table[2].header, &second) == 200);
    CHECK(std::string(answer_of(first).srtp) != answer_of(second).srtp);
    track_setup_teardown(one.setup, 0);
    CHECK(one.serve(table[2].header, &second) == 200);
    CHECK(std::string(answer_of(first).srtp) != answer_of(second).srtp);
}

TEST_CASE("track_setup: a path beside the connection, for viewers of live media that name it")
{
    const std::string key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const std::string scream = "RTP/AVPF;unicast;client_port=9-10;x-weir=scream;x-weir-repair=auto";
    const struct {
        std::string first, beside;
        bool srtp, live, given;
    } table[] = {
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=minbuf", scream, false, true, true},
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=minbuf", scream, false, false, false},
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=minbuf", "", false, true, false},
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=minbuf", ";;;", false, true, false},
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=minbuf", scream + "," + scream, false, true, false},
        {"RTP/AVP/TCP;interleaved=0-1", scream, false, true, false}, // no viewer of Weir's
        {"RTP/AVPF;unicast;client_port=9-10;x-weir=scream", scream, false, true, false},
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=minbuf", "RTP/AVPF;unicast;client_port=9-10", false,
         true, false},
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=minbuf",
         "RTP/AVPF;unicast;client_port=9-10;x-weir=pigeons", false, true, false},
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=minbuf",
         "RTP/AVP;unicast;client_port=9-10;x-weir=scream", false, true, false}, // reports nothing
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=minbuf", "RTP/AVP/TCP;interleaved=2-3;x-weir=minbuf",
         false, true, false},
        // Beside an encrypted connection only SRTP.
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=minbuf", scream, true, true, false},
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=minbuf",
         "RTP/SAVPF;unicast;client_port=9-10;x-weir=scream;x-weir-srtp=" + key, true, true, true},
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=minbuf",
         "RTP/SAVPF;unicast;client_port=9-10;x-weir=scream;x-weir-srtp=" + key, false, true, false},
    };
    for (const auto &row : table) {
        INFO(row.first << " beside " << row.beside << " srtp " << row.srtp);
        world w(true, row.srtp);
        w.offered.media->duration = row.live ? -1 : 60;
        std::string said;
        REQUIRE(w.serve(row.first, &said) == 200);
        auto a = std::make_unique<rtsp_response>();
        track_setup_beside(w.setup, &w.offered, {row.beside.data(), row.beside.size()},
                           {nullptr, 0}, a.get(), 0);
        const std::string headers = a->headers;
        INFO(headers);
        CHECK((headers.find("X-Weir-Beside: ") == 0) == row.given);
        CHECK((headers.find("x-weir-token=") != std::string::npos) == row.given);
        CHECK((headers.find("x-weir-srtp=") != std::string::npos) == (row.given && row.srtp));
        CHECK(headers.find(key) == std::string::npos);
        // Nothing is sent to an address that has not answered.
        CHECK(track_setup_move(w.setup, 0) == ERR_UNSUPPORTED);
        track_setup_teardown(w.setup, 0);
        CHECK(track_setup_move(w.setup, 0) == ERR_UNSUPPORTED);
    }
}

TEST_CASE("track_setup: a second path over another network, of media in datagrams")
{
    const std::string first = "RTP/AVPF;unicast;client_port=7-8;x-weir=scream";
    const std::string second = "RTP/AVPF;unicast;client_port=9-10;x-weir=scream";
    const struct {
        std::string first, second;
        bool live, given;
    } table[] = {
        {first, second, true, true},
        {first, second, false, false}, // a film
        {first, "", true, false},
        {first, ";;;", true, false},
        {first, second + "," + second, true, false},
        {first, "RTP/AVPF;unicast;client_port=9-10;x-weir=arc", true, false},   // another transport
        {first, "RTP/AVP;unicast;client_port=9-10;x-weir=scream", true, false}, // reports nothing
        {"RTP/AVPF;unicast;client_port=7-8;x-weir=udp",
         "RTP/AVPF;unicast;client_port=9-10;x-weir=udp", true, false}, // no rate controller
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=minbuf", second, true, false},
    };
    for (const auto &row : table) {
        INFO(row.first << " and " << row.second);
        world w(true, false);
        w.offered.media->duration = row.live ? -1 : 60;
        std::string said;
        REQUIRE(w.serve(row.first, &said) == 200);
        for (int i = 0; i < 100; i++) { // once only, however often it is requested
            auto a = std::make_unique<rtsp_response>();
            track_setup_beside(w.setup, &w.offered, {nullptr, 0},
                               {row.second.data(), row.second.size()}, a.get(), 0);
            const std::string headers = a->headers;
            CHECK((headers.find("X-Weir-Second: ") == 0) == (row.given && i == 0));
            CHECK((headers.find("x-weir-token=") != std::string::npos) == (row.given && i == 0));
        }
        CHECK(track_setup_move(w.setup, 0) == ERR_UNSUPPORTED);
        track_setup_teardown(w.setup, 0);
    }
}
