// SPDX-License-Identifier: GPL-2.0-or-later
// A session with a third party's server over the loopback, which sends media in its RTSP
// connection.
#include "client/session/remote_stream.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/net/clock.h"
#include "common/transport/transport_list.h"
#include "common/wire/rtcp.h"

namespace
{

// Answers each request as a camera does; what it got stays in `seen`.
struct camera {
    uv_tcp_t listener, peer;
    bool has_peer = false, is_over = false;
    char buffer[4096];
    std::string pending, seen;
    int port = 0;
    int rtcp = 0;

    explicit camera(uv_loop_t *loop)
    {
        sockaddr_in at;
        int len = sizeof(at);
        REQUIRE(uv_tcp_init(loop, &listener) == 0);
        listener.data = this;
        REQUIRE(uv_ip4_addr("127.0.0.1", 0, &at) == 0);
        REQUIRE(uv_tcp_bind(&listener, reinterpret_cast<sockaddr *>(&at), 0) == 0);
        REQUIRE(uv_listen(reinterpret_cast<uv_stream_t *>(&listener), 4, on_connection) == 0);
        REQUIRE(uv_tcp_getsockname(&listener, reinterpret_cast<sockaddr *>(&at), &len) == 0);
        port = ntohs(at.sin_port);
    }
    void close()
    {
        uv_close(reinterpret_cast<uv_handle_t *>(&listener), nullptr);
        if (has_peer)
            uv_close(reinterpret_cast<uv_handle_t *>(&peer), nullptr);
    }
    static void on_connection(uv_stream_t *s, int)
    {
        auto *c = static_cast<camera *>(s->data);
        REQUIRE_FALSE(c->has_peer);
        REQUIRE(uv_tcp_init(s->loop, &c->peer) == 0);
        c->has_peer = true;
        c->peer.data = c;
        REQUIRE(uv_accept(s, reinterpret_cast<uv_stream_t *>(&c->peer)) == 0);
        uv_read_start(
            reinterpret_cast<uv_stream_t *>(&c->peer),
            [](uv_handle_t *h, size_t, uv_buf_t *out) {
                auto *of = static_cast<camera *>(h->data);
                *out = uv_buf_init(of->buffer, sizeof(of->buffer));
            },
            on_read);
    }
    static void on_read(uv_stream_t *s, ssize_t len, const uv_buf_t *)
    {
        auto *c = static_cast<camera *>(s->data);
        if (len <= 0) {
            c->is_over = true;
            uv_read_stop(s);
            return;
        }
        c->pending.append(c->buffer, (size_t)len);
        while (c->take())
            ;
    }
    void send(const std::string &bytes)
    {
        std::string copy = bytes;
        uv_buf_t out = uv_buf_init(copy.data(), (unsigned)copy.size());
        REQUIRE(uv_try_write(reinterpret_cast<uv_stream_t *>(&peer), &out, 1) == (int)copy.size());
    }
    void send_media(int channel, const std::vector<uint8_t> &data)
    {
        std::string frame = {'$', (char)channel, (char)(data.size() >> 8), (char)data.size()};
        send(frame.append(data.begin(), data.end()));
    }
    // Takes a request, or a frame of RTCP. Returns false if there is no whole one.
    bool take()
    {
        if (pending.size() >= 4 && pending[0] == '$') {
            size_t len = 4 + (size_t)(uint8_t)pending[2] * 256 + (uint8_t)pending[3];
            if (pending.size() < len)
                return false;
            rtcp++;
            pending.erase(0, len);
            return true;
        }
        size_t end = pending.find("\r\n\r\n");
        if (end == std::string::npos)
            return false;
        const std::string request = pending.substr(0, end);
        pending.erase(0, end + 4);
        const std::string method = request.substr(0, request.find(' '));
        seen += method + "\n";
        std::string more, body;
        if (method == "DESCRIBE") {
            body = "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\na=control:*\r\n"
                   "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:v\r\n"
                   "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 opus/48000/2\r\na=control:a\r\n";
            more =
                "Content-Type: application/sdp\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\n";
        } else if (method == "SETUP") {
            const bool audio = request.find("/a RTSP") != std::string::npos;
            more = std::string("Session: 7\r\nTransport: RTP/AVP/TCP;unicast;interleaved=") +
                   (audio ? "2-3" : "0-1") + "\r\n";
        } else {
            more = "Session: 7\r\n";
        }
        const size_t cseq = request.find("CSeq: ") + 6;
        send("RTSP/1.0 200 OK\r\nCSeq: " + request.substr(cseq, request.find("\r\n", cseq) - cseq) +
             "\r\n" + more + "\r\n" + body);
        return true;
    }
};

struct viewer {
    uv_loop_t loop;
    camera at;
    remote_stream *r = nullptr;
    sdp described;
    std::string log;
    int frames = 0, audio = 0, descriptions = 0;
    bool refuses = false;

    viewer() : at(init(&loop)) {}
    ~viewer()
    {
        remote_stream_free(r, clock_now());
        at.close();
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    viewer(const viewer &) = delete;
    viewer &operator=(const viewer &) = delete;

    static uv_loop_t *init(uv_loop_t *loop)
    {
        REQUIRE(uv_loop_init(loop) == 0);
        return loop;
    }
    static viewer *of(void *ctx)
    {
        return static_cast<viewer *>(ctx);
    }
    bool describe(const sdp *s)
    {
        static const stream_receiver_ops ops = make_media();
        described = *s;
        descriptions++;
        stream_receiver_config config = {};
        config.video.sdp = &described;
        config.ops = &ops;
        config.ctx = this;
        return remote_stream_describe(r, &config) && remote_stream_describe(r, &config);
    }
    static stream_receiver_ops make_media()
    {
        stream_receiver_ops o = {};
        o.video.on_frame = [](void *ctx, received_frame *f, usec_t) {
            of(ctx)->frames++;
            received_frame_free(f);
        };
        o.on_audio = [](void *ctx, const received_audio *, usec_t) { of(ctx)->audio++; };
        return o;
    }
    static rtsp_link_ops make_session()
    {
        rtsp_link_ops o = {};
        o.rtsp.on_described = [](void *ctx, const sdp *s, const char **why, usec_t) {
            *why = "it does not suit";
            return !of(ctx)->refuses && of(ctx)->describe(s);
        };
        o.rtsp.on_setup = [](void *ctx, const rtsp_client_setup *s, usec_t now) {
            const remote_repair repair = {true, USEC_PER_SEC};
            of(ctx)->log += std::string("setup ") + s->transport + "\n";
            CHECK(remote_stream_set_up(of(ctx)->r, s, &repair, now) == 0);
        };
        o.rtsp.on_audio = [](void *ctx) {
            CHECK(stream_receiver_add_audio(remote_stream_media(of(ctx)->r)) == 0);
        };
        o.rtsp.on_playing = [](void *ctx, const rtsp_client_place *, usec_t) {
            of(ctx)->log += "playing\n";
        };
        o.rtsp.on_end = [](void *ctx, rtsp_client_end, const char *text, usec_t) {
            of(ctx)->log += std::string("end ") + text + "\n";
        };
        return o;
    }
    void begin()
    {
        static const rtsp_link_ops ops = make_session();
        rtsp_client_config config = {};
        const char *why;
        const std::string url = "rtsp://127.0.0.1:" + std::to_string(at.port) + "/cam";
        REQUIRE(url_parse(url.c_str(), &config.url, &why) == 0);
        REQUIRE(transport_list_split("tcp", &config.transports) == 0);
        config.adapt = "none";
        config.has_audio = true;
        rtsp_link_config link = {};
        link.loop = &loop;
        link.rtsp = &config;
        link.cc = "";
        link.ops = &ops;
        link.ctx = this;
        r = remote_stream_new(&link, clock_now());
        REQUIRE(r);
        CHECK_FALSE(remote_stream_media(r));
    }
    // Only a hang reaches the limit.
    template <class Done> void run(Done done)
    {
        const usec_t limit = clock_now() + 600 * USEC_PER_SEC;
        while (!done() && clock_now() < limit)
            uv_run(&loop, UV_RUN_ONCE);
        REQUIRE(done());
    }
    bool has(const char *line) const
    {
        return log.find(line) != std::string::npos;
    }
};

std::vector<uint8_t> picture(uint8_t seq)
{
    return {0x80, 0xe0, 0, seq, 0, 0, 0x23, (uint8_t)(seq * 40), 0, 0, 0, 7, 0x65, 0x88, 1, 2, 3};
}

} // namespace

TEST_CASE("remote_stream: from the description to the media and the TEARDOWN")
{
    viewer v;
    v.begin();
    v.run([&] { return v.has("playing"); });
    CHECK(v.log == "setup tcp\nplaying\n");
    CHECK(v.descriptions == 1);
    REQUIRE(remote_stream_media(v.r));
    v.at.send_media(0, picture(1));
    v.at.send_media(0, picture(2));
    v.run([&] { return v.frames > 0; });
    // The audio's packets reach the audio's receiver, and RTCP of both goes back on the connection.
    v.at.send_media(2, {0x80, 97, 0, 1, 0, 0, 0, 5, 0, 0, 0, 8, 0xf8, 0xff, 0xfe});
    const usec_t now = clock_now();
    stream_receiver_relate(remote_stream_media(v.r), 0, 0, now);
    v.at.send_media(2, {0x80, 97, 0, 2, 0, 0, 0, 5, 0, 0, 0, 8, 0xf8, 0xff, 0xfe});
    v.run([&] { return v.audio > 0; });
    video_receiver_stats stats;
    stream_receiver_second(remote_stream_media(v.r), &stats, now);
    v.run([&] { return v.at.rtcp >= 2; });
    remote_stream_free(v.r, clock_now());
    v.r = nullptr;
    v.run([&] { return v.at.is_over; });
    CHECK(v.at.seen.find("TEARDOWN") != std::string::npos);
}

TEST_CASE("remote_stream: what was received outlives the link")
{
    viewer v;
    v.begin();
    v.run([&] { return v.has("playing"); });
    v.at.send_media(0, picture(1));
    v.at.send_media(0, picture(2));
    v.run([&] { return v.frames > 0; });
    remote_stream_stop(v.r);
    const int frames = v.frames;
    v.at.send_media(0, picture(3));
    v.at.send_media(0, picture(4));
    for (int i = 0; i < 3; i++)
        uv_run(&v.loop, UV_RUN_NOWAIT);
    CHECK(v.frames == frames);
    remote_stream_hang_up(v.r);
    CHECK_FALSE(remote_stream_link(v.r));
    video_receiver_stats stats;
    stream_receiver_second(remote_stream_media(v.r), &stats, clock_now());
    CHECK(video_receiver_packets(stream_receiver_video(remote_stream_media(v.r))) >= 2);
    v.run([&] { return v.at.is_over; });
    CHECK(v.at.seen.find("TEARDOWN") == std::string::npos);
}

TEST_CASE("remote_stream: a description that does not suit ends it, and makes no receivers")
{
    viewer v;
    v.refuses = true;
    v.begin();
    v.run([&] { return v.has("end"); });
    CHECK(v.has("end it does not suit"));
    CHECK_FALSE(remote_stream_media(v.r));
    CHECK(v.at.seen.find("SETUP") == std::string::npos);
}
