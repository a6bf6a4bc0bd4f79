// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/http/film_library.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>

#include "media/stored/stored_file.h"
#include "stream/abr/film_table.h"
#include "tests/support/mp4_reader.hpp"
#include "tests/support/stored_film.hpp"

namespace
{

struct rig {
    stored_film film; // groups of 20 frames, 10 frames/s, one level, no audio
    film_library *library;
    std::mutex lock;
    std::condition_variable changed;
    int changes = 0;
    std::vector<uint8_t> body;

    explicit rig(const char *file = nullptr, int groups = 2, int layers = 1,
                 const std::vector<uint8_t> &table = {})
        : film(groups, layers, table)
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

// The table that --prepare would attach to the film.
std::vector<uint8_t> table_of(const stored_film &film, int64_t groups)
{
    int err = 0;
    media_guard *guard = media_guard_new(USEC_NEVER);
    stored_file *f = stored_file_open(film.path.c_str(), guard, &err);
    REQUIRE(f);
    const film_shape shape = {1, groups, stored_film::GROUP, stored_film::GROUP, {10, 1}, false};
    film_table *t = nullptr;
    REQUIRE(film_table_new(&shape, &t) == 0);
    for (int64_t i = 0; i < groups; i++) {
        stored_group *g = nullptr;
        REQUIRE(stored_file_read(f, i, &g) == 0);
        uint64_t bytes = 0;
        for (int at = 0; at < g->frames; at++)
            bytes += g->at[0][at]->bytes;
        REQUIRE(film_table_set(t, i, 0, bytes, 0) == 0);
        stored_group_free(g);
    }
    std::vector<uint8_t> out(film_table_encoded_bytes(t));
    film_table_encode(t, out.data());
    film_table_free(t);
    stored_file_free(f);
    media_guard_unref(guard);
    return out;
}

int number_after(const std::string &text, const std::string &name)
{
    size_t at = text.find(name);
    REQUIRE(at != std::string::npos);
    return atoi(text.c_str() + at + name.size());
}

} // namespace

TEST_CASE("film_library: the stated rates are those of the segments", "[threads]")
{
    const int groups = 5;
    rig r(nullptr, groups, 1, table_of(stored_film(groups), groups));
    REQUIRE(film_library_open(r.library) == 0);
    REQUIRE(r.wait("/film/index.m3u8") == 0);
    double peak = number_after(r.text(), ":BANDWIDTH=");
    double average = number_after(r.text(), ",AVERAGE-BANDWIDTH=");
    REQUIRE(r.wait("/film/index.mpd") == 0);
    CHECK(number_after(r.text(), " bandwidth=\"") == peak);
    REQUIRE(r.wait("/film/v0.m3u8") == 0);
    std::string text = r.text();
    size_t at = text.find("URI=\"") + 5;
    std::string token = text.substr(at, text.find('/', at) - at);
    double most = 0, sum = 0;
    for (int i = 0; i < groups; i++) {
        REQUIRE(r.wait("/film/" + token + "/v0-" + std::to_string(i) + ".m4s") == 0);
        double bps = 8. * static_cast<double>(r.body.size()) / 2; // of 2 s
        most = std::max(most, bps);
        sum += bps;
    }
    CHECK(peak >= most);
    CHECK(peak == Approx(most).epsilon(0.05));
    CHECK(average == Approx(sum / groups).epsilon(0.03));
}

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
