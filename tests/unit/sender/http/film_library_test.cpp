// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/http/film_library.h"

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>

#include "tests/support/mp4_reader.hpp"
#include "tests/support/stored_film.hpp"

namespace
{

struct rig {
    stored_film film; // two groups of 20 frames, 10 frames/s, one level, no audio
    film_library *library;
    std::mutex lock;
    std::condition_variable changed;
    int changes = 0;
    std::vector<uint8_t> body;

    explicit rig(const char *file = nullptr)
    {
        film_library_config config{};
        config.file = file ? file : film.path.c_str();
        config.mount = "/film";
        config.has_audio = true;
        config.aac_bps = 96000;
        config.on_change = on_change;
        config.ctx = this;
        library = film_library_new(&config);
        REQUIRE(library);
    }
    ~rig()
    {
        film_library_free(library);
    }
    rig(const rig &) = delete;
    rig &operator=(const rig &) = delete;

    static void on_change(void *ctx)
    {
        rig *r = static_cast<rig *>(ctx);
        std::lock_guard<std::mutex> guard(r->lock);
        r->changes++;
        r->changed.notify_all();
    }
    int get(const std::string &path)
    {
        content_request r{};
        r.path = path.c_str();
        REQUIRE(http_target_parse(r.path, &r.target) == 0);
        REQUIRE(http_reload_parse(nullptr, nullptr, &r.reload) == 0);
        http_content *c = film_library_content(library);
        http_reply reply{};
        int err = c->ops->get(c, &r, 0, 0, &reply);
        if (err == 0) {
            body.assign(reply.body->data, reply.body->data + reply.body->bytes);
            http_body_unref(reply.body);
        }
        return err;
    }
    // Returns the first result other than HTTP_WAITS.
    int wait(const std::string &path)
    {
        std::unique_lock<std::mutex> guard(lock);
        for (;;) {
            int before = changes;
            int err = get(path);
            if (err != HTTP_WAITS)
                return err;
            changed.wait(guard, [&] { return changes > before; });
        }
    }
    std::string text() const
    {
        return std::string(body.begin(), body.end());
    }
};

} // namespace

TEST_CASE("film_library: playlists and segments of a prepared film", "[threads]")
{
    rig r;
    CHECK(r.get("/film/index.m3u8") == HTTP_WAITS); // not open yet
    REQUIRE(film_library_open(r.library) == 0);
    REQUIRE(r.wait("/film/index.m3u8") == 0);
    CHECK(r.text().find("\nv0.m3u8\n") != std::string::npos);
    CHECK(r.text().find("AUDIO") == std::string::npos);
    REQUIRE(r.wait("/film/index.mpd") == 0);
    CHECK(r.text().find("type=\"static\" mediaPresentationDuration=\"PT4.000S\"") !=
          std::string::npos);
    REQUIRE(r.wait("/film/v0.m3u8") == 0);
    std::string text = r.text();
    CHECK(text.find("#EXT-X-ENDLIST") != std::string::npos);
    size_t at = text.find("URI=\"") + 5;
    std::string token = text.substr(at, text.find('/', at) - at);
    CHECK(text.find("#EXTINF:2.00000,\n" + token + "/v0-0.m4s\n") != std::string::npos);

    REQUIRE(r.wait("/film/" + token + "/v0.mp4") == 0);
    std::vector<uint8_t> bytes = r.body;
    for (int i = 0; i < 2; i++) {
        std::string path = "/film/" + token + "/v0-" + std::to_string(i) + ".m4s";
        REQUIRE(r.wait(path) == 0);
        bytes.insert(bytes.end(), r.body.begin(), r.body.end());
        std::vector<uint8_t> once = r.body;
        REQUIRE(r.wait(path) == 0);
        CHECK(r.body == once);
    }
    mp4_file file(bytes);
    REQUIRE(file.packets.size() == stored_film::FRAMES);
    for (size_t i = 0; i < file.packets.size(); i++) {
        CHECK(file.packets[i].key == (i % 20 == 0));
        CHECK(file.packets[i].dts * 10 == static_cast<int64_t>(i) * file.time_base.den);
    }
    CHECK(file.decode().size() == stored_film::FRAMES);

    for (const std::string &path :
         {"/film/" + token + "/v0-2.m4s", "/film/" + token + "/v0-0.0.m4s",
          "/film/" + token + "/aac-0.m4s", std::string("/film/0/v0.mp4"),
          std::string("/other/index.m3u8"), std::string("/film/v1.m3u8")})
        CHECK(r.wait(path) == ERR_NOT_FOUND);
}

TEST_CASE("film_library: a file that cannot be read is not found", "[threads]")
{
    rig r("/nonexistent/film.weir.mkv");
    REQUIRE(film_library_open(r.library) == 0);
    CHECK(r.wait("/film/index.m3u8") == ERR_NOT_FOUND);
}

TEST_CASE("film_library: reads nothing more while slow readers keep much", "[threads]")
{
    rig r;
    REQUIRE(film_library_open(r.library) == 0);
    REQUIRE(r.wait("/film/v0.m3u8") == 0);
    std::string text = r.text();
    size_t at = text.find("URI=\"") + 5;
    std::string path = "/film/" + text.substr(at, text.find('/', at) - at);
    REQUIRE(r.wait(path + "/v0-0.m4s") == 0);
    auto *data = static_cast<uint8_t *>(malloc(FILM_PINNED + 1)); // of which no page is touched
    http_body *slow = http_body_new(data, FILM_PINNED + 1);
    REQUIRE(slow);
    http_body_ref(slow);
    http_body_drop(slow);
    CHECK(r.get(path + "/v0-1.m4s") == ERR_FULL);
    CHECK(r.get(path + "/v0-0.m4s") == 0); // is there
    http_body_unref(slow);
    CHECK(r.wait(path + "/v0-1.m4s") == 0);
}

TEST_CASE("film_library: stops while a request waits", "[threads]")
{
    rig r;
    REQUIRE(film_library_open(r.library) == 0);
    REQUIRE(r.wait("/film/v0.m3u8") == 0);
    std::string text = r.text();
    size_t at = text.find("URI=\"") + 5;
    std::string token = text.substr(at, text.find('/', at) - at);
    film_library_stop(r.library);
    CHECK(r.get("/film/" + token + "/v0-1.m4s") == ERR_FULL);
}
