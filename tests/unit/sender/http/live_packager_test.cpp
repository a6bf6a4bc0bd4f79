// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/http/live_packager.h"

#include <string>

#include "common/net/clock.h"
#include "sender/feed/live_media.h"
#include "tests/support/film.hpp"
#include "tests/support/mp4_reader.hpp"

namespace
{

struct rig {
    uv_loop_t loop;
    stream_media *media;
    live_packager *packager = nullptr;
    int changes = 0;
    std::vector<uint8_t> body;

    explicit rig(double duration)
    {
        uv_loop_init(&loop);
        ladder l = film::levels();
        media = live_media_new(film::make(duration), &l, SDP_H264, video_engine_at(0));
        REQUIRE(media);
        REQUIRE(media->ops->start(media, &loop) == 0);
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

// Returns the name behind `before`, up to a quote or the end of the line.
std::string name_after(const std::string &text, const std::string &before)
{
    size_t at = text.find(before);
    REQUIRE(at != std::string::npos);
    at += before.size();
    return text.substr(at, text.find_first_of("\"\n", at) - at);
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
    r.wait("/live/v0.m3u8");
    live_packager_tick(r.packager, clock_now() + LIVE_PACKAGER_IDLE / 2);
    CHECK(r.get("/live/v0.m3u8") == 0);
    int before = r.changes;
    live_packager_tick(r.packager, clock_now() + 2 * LIVE_PACKAGER_IDLE);
    CHECK(r.changes == before + 1);
    CHECK(r.get("/live/v0.m3u8") == HTTP_WAITS); // starts it again
    std::string text = r.wait("/live/v0.m3u8");
    CHECK(text.find("#EXT-X-DISCONTINUITY-SEQUENCE:1") != std::string::npos);
}
