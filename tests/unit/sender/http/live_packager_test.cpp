// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/http/live_packager.h"

#include <cstring>
#include <string>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "media/coded/coded_audio.h"
#include "sender/feed/live_media.h"
#include "sender/http/live_library.h"
#include "tests/support/film.hpp"
#include "tests/support/mp4_reader.hpp"

namespace
{

// Media that is passed on: the test gives its frames, 25 a second.
struct passed_media {
    stream_media base{}; // first
    media_feed feed{};
    frame_sink *sink = nullptr;
    bool is_over = false;
    int64_t number = 0;
    usec_t time = 0;
    uint8_t pps = 3;             // the last byte of its parameter set
    static inline int watched{}; // sizes, a bit each

    static passed_media *of(const stream_media *m)
    {
        return reinterpret_cast<passed_media *>(const_cast<stream_media *>(m));
    }
    passed_media()
    {
        static stream_media_ops ops{};
        static media_feed_ops feed_ops{};
        watched = 0;
        feed_ops.watch = [](media_feed *, int size_id, int) { watched ^= 1 << size_id; };
        feed_ops.watch_audio = [](media_feed *, int) {};
        feed_ops.play = [](media_feed *, bool) {};
        feed_ops.request_key = [](media_feed *, int, usec_t) {};
        feed_ops.free = [](media_feed *) {};
        ops.feed_new = [](stream_media *m, const media_feed_config *config) {
            of(m)->sink = config->sink;
            of(m)->feed.ops = &feed_ops;
            return &of(m)->feed;
        };
        ops.describe = [](const stream_media *, int, sdp *out) {
            strcpy(out->profile_level_id, "42001e");
        };
        ops.is_over = [](const stream_media *m) { return of(m)->is_over; };
        ops.free = [](stream_media *) {};
        base.ops = &ops;
        base.kind = SDP_SOURCE_CAMERA;
        base.codec = SDP_H264;
        base.duration = -1;
        base.ladder.source_fps = {25, 1};
        base.ladder.size_count = base.ladder.level_count = 1;
        base.ladder.sizes[0] = {64, 48, {25, 1}, 1};
    }
    // Gives a frame with so many bytes of picture.
    void give(bool key, size_t bytes = 100)
    {
        const std::vector<uint8_t> sets = {0x67, 66, 0, 30, 0xf4, 0x68, 1, 2, pps};
        const size_t before = key ? sets.size() : 0;
        coded_frame *f = coded_frame_new(before + bytes);
        REQUIRE(f);
        std::copy_n(sets.begin(), before, f->data);
        if (key) {
            f->nals[f->nal_count++] = {0, 5};
            f->nals[f->nal_count++] = {5, 4};
        }
        f->nals[f->nal_count++] = {static_cast<uint32_t>(before), static_cast<uint32_t>(bytes)};
        memset(f->data + before, 1, bytes);
        f->data[before] = key ? 0x65 : 0x41;
        f->key = key;
        f->depends_on = key ? -1 : number - 1;
        f->number = number++;
        f->pts = time;
        f->capture_wall = 1700000000 * USEC_PER_SEC + time;
        time += 40 * USEC_PER_MSEC;
        sink->ops->on_frame(sink, f, clock_now());
        coded_frame_unref(f);
    }
    // Gives a second of silence, before the video's time.
    void give_audio()
    {
        const uint8_t silence[] = {0xfc, 0xff, 0xfe}; // RFC 6716: 20 ms of CELT
        for (int i = 0; i < 50; i++) {
            coded_audio *c = coded_audio_new();
            REQUIRE(c);
            c->position = (time / USEC_PER_MSEC - 1000 + i * 20) * AUDIO_RATE / 1000;
            c->capture_wall = 1700000000 * USEC_PER_SEC + time;
            c->bytes = sizeof(silence);
            memcpy(c->data, silence, sizeof(silence));
            sink->ops->on_audio(sink, c, clock_now());
            coded_audio_unref(c);
        }
    }
    void give_groups(int count, int frames)
    {
        for (int i = 0; i < count * frames; i++)
            give(i % frames == 0);
    }
};

struct rig {
    uv_loop_t loop;
    stream_media *media;
    live_packager *packager = nullptr;
    int changes = 0;
    std::vector<uint8_t> body;

    explicit rig(double duration) : rig(encoded(duration)) {}
    explicit rig(stream_media *of) : media(of)
    {
        REQUIRE(media);
        uv_loop_init(&loop);
        REQUIRE((!media->ops->start || media->ops->start(media, &loop) == 0));
        const live_packager_config config = {media, "/live", USEC_PER_SEC, on_change, this};
        packager = live_packager_new(&loop, &config);
        REQUIRE(packager);
    }
    ~rig()
    {
        live_packager_free(packager);
        media->ops->free(media);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    rig(const rig &) = delete;
    rig &operator=(const rig &) = delete;

    static stream_media *encoded(double duration)
    {
        ladder l = film::levels();
        return live_media_new(film::make(duration), &l, SDP_H264, video_engine_at(0));
    }
    static void on_change(void *ctx)
    {
        static_cast<rig *>(ctx)->changes++;
    }
    int get(const std::string &path)
    {
        content_request r{};
        r.path = path.c_str();
        REQUIRE(http_target_parse(r.path, &r.target) == 0);
        REQUIRE(http_reload_parse(nullptr, nullptr, &r.reload) == 0);
        http_content *c = live_packager_content(packager);
        http_reply reply{};
        int err = c->ops->get(c, &r, clock_now(), clock_now(), &reply);
        if (err)
            return err;
        body.assign(reply.body->data, reply.body->data + reply.body->bytes);
        http_body_unref(reply.body);
        return 0;
    }
    // Runs the loop until the file is there. A film that began within 0.25 s of the last key frame
    // ends without one, and is played again.
    std::string wait(const std::string &path)
    {
        for (int err; (err = get(path)) != 0;)
            if (err == HTTP_WAITS)
                uv_run(&loop, UV_RUN_ONCE);
            else
                live_packager_tick(packager, clock_now() + 2 * LIVE_PACKAGER_IDLE);
        return std::string(body.begin(), body.end());
    }
};

// Makes the first request, which begins a run.
void begin(rig &r, passed_media &m)
{
    m.sink = nullptr;
    CHECK(r.get("/live/v0.m3u8") == HTTP_WAITS);
    while (!m.sink)
        uv_run(&r.loop, UV_RUN_ONCE);
}

bool has(const std::string &text, const std::string &what)
{
    return text.find(what) != std::string::npos;
}

// Returns the name behind `before`, up to a quote or the end of the line.
std::string name_after(const std::string &text, const std::string &before)
{
    size_t at = text.find(before);
    REQUIRE(at != std::string::npos);
    at += before.size();
    return text.substr(at, text.find_first_of("\"\n", at) - at);
}

// Returns the number of discontinuities before a playlist.
int64_t discontinuities(const std::string &text)
{
    return std::stoll(name_after(text, "#EXT-X-DISCONTINUITY-SEQUENCE:"));
}

} // namespace

TEST_CASE("live_packager: a film that ends becomes a playlist that ends, with all its frames",
          "[threads]")
{
    rig r(usec_to_sec(film::END));
    std::string text = r.wait("/live/v0.m3u8");
    while (text.find("#EXT-X-ENDLIST") == std::string::npos) {
        uv_run(&r.loop, UV_RUN_ONCE);
        text = r.wait("/live/v0.m3u8");
    }
    CHECK(r.changes > 0);
    std::vector<uint8_t> bytes;
    r.wait("/live/" + name_after(text, "#EXT-X-MAP:URI=\""));
    bytes = r.body;
    r.wait("/live/" + name_after(text, ",\n"));
    bytes.insert(bytes.end(), r.body.begin(), r.body.end());
    mp4_file file(bytes);
    CHECK(file.parameters->width == 64);
    REQUIRE_FALSE(file.packets.empty());
    CHECK(file.packets[0].key);
    CHECK(file.packets.size() <= film::FRAMES); // a busy machine drops pictures
    CHECK(file.decode().size() == file.packets.size());
}

TEST_CASE("live_packager: stops after the last request, and begins again with the next",
          "[threads]")
{
    rig r(-1);
    r.wait("/live/index.m3u8");
    const int64_t first = discontinuities(r.wait("/live/v0.m3u8"));
    live_packager_tick(r.packager, clock_now() + LIVE_PACKAGER_IDLE / 2);
    CHECK(r.get("/live/v0.m3u8") == 0);
    int before = r.changes;
    live_packager_tick(r.packager, clock_now() + 2 * LIVE_PACKAGER_IDLE);
    CHECK(r.changes == before + 1);
    CHECK(r.get("/live/v0.m3u8") == HTTP_WAITS); // starts it again
    std::string text = r.wait("/live/v0.m3u8");
    CHECK(discontinuities(text) > first);
}

TEST_CASE("live_packager: the target duration of media that is passed on stays, from run to run")
{
    passed_media m;
    rig r(&m.base);
    REQUIRE(live_packager_can(&m.base));
    begin(r, m);
    m.give_groups(3, 75);
    const std::string before = r.wait("/live/v0.m3u8");
    CHECK(has(before, "#EXT-X-TARGETDURATION:3\n"));
    live_packager_tick(r.packager, clock_now() + LIVE_PACKAGER_IDLE / 2);
    CHECK(r.get("/live/v0.m3u8") == 0);
    live_packager_tick(r.packager, clock_now() + 2 * LIVE_PACKAGER_IDLE);
    CHECK_FALSE(live_packager_is_over(r.packager));
    begin(r, m);
    m.give_groups(4, 25);
    const std::string text = r.wait("/live/v0.m3u8");
    CHECK(has(text, "#EXT-X-TARGETDURATION:3\n"));
    CHECK(discontinuities(text) > discontinuities(before)); // the run before has left
    CHECK_FALSE(has(text, "#EXT-X-DISCONTINUITY\n"));
}

TEST_CASE("live_packager: a player of long segments need not ask more often than it reloads")
{
    passed_media m;
    rig r(&m.base);
    begin(r, m);
    m.give_groups(2, 15 * 25);
    CHECK(has(r.wait("/live/v0.m3u8"), "#EXT-X-TARGETDURATION:15\n"));
    live_packager_tick(r.packager, clock_now() + 15 * USEC_PER_SEC);
    CHECK(r.get("/live/v0.m3u8") == 0);
}

TEST_CASE("live_packager: of media that is passed on at two levels it takes the top one")
{
    passed_media m;
    m.base.ladder.size_count = m.base.ladder.level_count = 2;
    m.base.ladder.sizes[1] = {128, 96, {25, 1}, 1};
    m.base.ladder.levels[1].size_id = 1;
    rig r(&m.base);
    begin(r, m);
    CHECK(passed_media::watched == 2);
    const std::string text = r.wait("/live/index.m3u8");
    CHECK(has(text, "RESOLUTION=128x96"));
    CHECK(has(text, "/v0.m3u8") + has(text, "\nv0.m3u8") > 0);
    CHECK_FALSE(has(text, "v1.m3u8"));
}

TEST_CASE("live_packager: parameter sets that change with each picture begin few runs")
{
    passed_media m;
    rig r(&m.base);
    begin(r, m);
    m.give_groups(2, 25);
    for (int i = 0; i < 100; i++) {
        m.pps ^= 4;
        m.give(true);
    }
    m.give_groups(2, 25);
    const std::string text = r.wait("/live/v0.m3u8");
    int runs = 0;
    for (size_t at = 0; (at = text.find("#EXT-X-DISCONTINUITY\n", at)) != std::string::npos; at++)
        runs++;
    CHECK(runs >= 1);
    CHECK(runs <= 5);
}

TEST_CASE("live_packager: a stream is served without audio that does not come, and with it after",
          "[threads]")
{
    passed_media m;
    m.base.audio_bps = 64000;
    rig r(&m.base);
    begin(r, m);
    m.give_groups(2, 25);
    CHECK(r.get("/live/v0.m3u8") == 0);
    CHECK(r.get("/live/index.m3u8") == HTTP_WAITS); // it may still come
    CHECK(r.get("/live/index.mpd") == HTTP_WAITS);
    m.give_groups(1, 25);
    m.give(true);
    CHECK_FALSE(has(r.wait("/live/index.m3u8"), "AUDIO"));
    CHECK_FALSE(has(r.wait("/live/index.mpd"), "audio"));
    CHECK(r.get("/live/aac.m3u8") == ERR_NOT_FOUND);
    while (r.get("/live/aac.m3u8") != 0) { // AAC is made on a thread
        m.give_groups(1, 25);
        m.give_audio();
        uv_run(&r.loop, UV_RUN_NOWAIT);
    }
    const std::string text = r.wait("/live/index.m3u8");
    CHECK(has(text, "opus.m3u8"));
    CHECK(has(text, "aac.m3u8"));
    CHECK(has(r.wait("/live/index.mpd"), "<Representation id=\"aac\""));
    // It stops: when no playlist has any of it, it is left out.
    const std::string audio = r.wait("/live/opus.m3u8");
    m.give_groups(2, 25);
    CHECK(r.get("/live/opus.m3u8") == 0);
    m.give_groups(LIVE_WINDOW + 1, 50);
    CHECK(r.get("/live/opus.m3u8") == ERR_NOT_FOUND);
    CHECK_FALSE(has(r.wait("/live/index.m3u8"), "AUDIO"));
}

TEST_CASE("live_packager: media that was passed on ends, and after a while is not found")
{
    passed_media m;
    rig r(&m.base);
    begin(r, m);
    m.give_groups(2, 25);
    m.give(true);
    m.is_over = true;
    m.sink->ops->on_end(m.sink, nullptr, clock_now());
    const std::string text = r.wait("/live/v0.m3u8");
    CHECK(has(text, "#EXT-X-ENDLIST\n"));
    CHECK(has(text, "#EXTINF:0.04000,\n")); // the last frame
    uv_run(&r.loop, UV_RUN_NOWAIT);
    live_packager_tick(r.packager, clock_now() + LIVE_PACKAGER_IDLE / 2);
    CHECK(r.get("/live/v0.m3u8") == 0);
    CHECK_FALSE(live_packager_is_over(r.packager));
    live_packager_tick(r.packager, clock_now() + 2 * LIVE_PACKAGER_IDLE);
    CHECK(live_packager_is_over(r.packager));
    CHECK(r.get("/live/v0.m3u8") == ERR_NOT_FOUND);
    CHECK(r.get("/live/index.m3u8") == ERR_NOT_FOUND);
}

TEST_CASE("live_packager: a segment of large pictures ends before it has 16 MiB")
{
    constexpr size_t MIB = 1 << 20;
    passed_media m;
    rig r(&m.base);
    begin(r, m);
    for (int i = 0; i < 70; i++)
        m.give(i == 0, MIB);
    std::string text = r.wait("/live/v0.m3u8");
    int count = 0;
    for (size_t at; (at = text.find(",\n")) != std::string::npos; count++) {
        text.erase(0, at);
        CHECK(r.get("/live/" + name_after(text, ",\n")) == 0);
        CHECK(r.body.size() <= 16 * MIB + 4096);
        CHECK(r.body.size() > 15 * MIB);
        text.erase(0, 2);
    }
    CHECK(count == 4);
}
