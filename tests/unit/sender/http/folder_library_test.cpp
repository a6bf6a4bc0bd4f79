// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/http/folder_library.h"

#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <string>

#include "common/base/err.h"
#include "tests/support/stored_film.hpp"

namespace
{

std::string file_name; // of the film, in the folder

// All paths but those that begin with "none" are the same film.
bool find_any(const char *root, const char *path, char real[PATH_MAX], struct stat *st)
{
    *st = {};
    st->st_mode = S_IFREG;
    std::snprintf(real, PATH_MAX, "%s/%s", root, file_name.c_str());
    return std::strncmp(path, "none", 4) != 0;
}

struct rig {
    stored_film film;
    folder_library *library;
    std::mutex lock;
    std::condition_variable changed;
    int changes = 0;

    explicit rig(size_t max_kept = 0)
    {
        folder_library_config config{};
        config.max_kept = max_kept;
        auto path = std::filesystem::canonical(film.path);
        file_name = path.filename();
        std::string root = path.parent_path();
        config.root = root.c_str();
        config.find = find_any;
        config.aac_bps = 96000;
        config.on_change = [](void *ctx) {
            rig *r = static_cast<rig *>(ctx);
            std::lock_guard<std::mutex> guard(r->lock);
            r->changes++;
            r->changed.notify_all();
        };
        config.ctx = this;
        library = folder_library_new(&config);
        REQUIRE(library);
    }
    ~rig()
    {
        folder_library_free(library);
    }
    rig(const rig &) = delete;
    rig &operator=(const rig &) = delete;

    int get(const std::string &path, usec_t now)
    {
        content_request r{};
        r.path = path.c_str();
        if (http_target_parse(r.path, &r.target) != 0)
            return ERR_NOT_FOUND; // as the server does
        REQUIRE(http_reload_parse(nullptr, nullptr, &r.reload) == 0);
        http_reply reply{};
        http_content *c = folder_library_content(library);
        int err = c->ops->get(c, &r, now, now, &reply);
        if (err == 0)
            http_body_unref(reply.body);
        return err;
    }
    // Returns the path of a segment of the film's first level, from its playlist.
    std::string segment(const std::string &name, int number)
    {
        std::string mount = "/" + name + "/", text;
        REQUIRE(wait(mount + "v0.m3u8", 1) == 0);
        content_request q{};
        std::string playlist = mount + "v0.m3u8";
        q.path = playlist.c_str();
        REQUIRE(http_target_parse(q.path, &q.target) == 0);
        REQUIRE(http_reload_parse(nullptr, nullptr, &q.reload) == 0);
        http_reply reply{};
        http_content *c = folder_library_content(library);
        REQUIRE(c->ops->get(c, &q, 1, 1, &reply) == 0);
        text.assign(reinterpret_cast<const char *>(reply.body->data), reply.body->bytes);
        http_body_unref(reply.body);
        size_t at = 0;
        for (int i = 0; i <= number; i++)
            at = text.find("\n", text.find("#EXTINF", at + 1)) + 1;
        return mount + text.substr(at, text.find("\n", at) - at);
    }
    // As the server: decides again after each change.
    int wait(const std::string &path, usec_t now)
    {
        for (;;) {
            int before;
            {
                std::lock_guard<std::mutex> guard(lock);
                before = changes;
            }
            int err = get(path, now);
            if (err != HTTP_WAITS)
                return err;
            std::unique_lock<std::mutex> guard(lock);
            changed.wait(guard, [&] { return changes > before; });
        }
    }
};

} // namespace

TEST_CASE("folder_library: each film has its path, and what is no film has none", "[threads]")
{
    rig r;
    CHECK(r.wait("/a.mkv/index.m3u8", 1) == 0);
    CHECK(r.wait("/sub/b c.mkv/v0.m3u8", 1) == 0);
    CHECK(r.wait("/a.mkv/index.mpd", 1) == 0);
    CHECK(r.wait("/none/index.m3u8", 1) == ERR_NOT_FOUND);
    for (const char *path : {"/../a.mkv/index.m3u8", "/.hidden/index.m3u8", "/a//b/index.m3u8"}) {
        INFO(path);
        CHECK(r.get(path, 1) == ERR_NOT_FOUND);
    }
}

TEST_CASE("folder_library: a film that finds no room waits until another one rests", "[threads]")
{
    rig r;
    usec_t now = USEC_PER_SEC;
    for (int i = 0; i < FOLDER_LIBRARY_FILMS; i++)
        CHECK(r.wait("/" + std::to_string(i) + "/index.m3u8", now + i) == 0);
    CHECK(r.get("/more/index.m3u8", now) == HTTP_WAITS);
    folder_library_tick(r.library, now + FOLDER_LIBRARY_BUSY - 1);
    CHECK(r.get("/more/index.m3u8", now) == HTTP_WAITS);
    folder_library_tick(r.library, now + FOLDER_LIBRARY_BUSY);
    CHECK(r.wait("/more/index.m3u8", now + FOLDER_LIBRARY_BUSY) == 0);
    CHECK(r.get("/1/index.m3u8", now + FOLDER_LIBRARY_BUSY) == 0);
    CHECK(r.get("/0/index.m3u8", now + FOLDER_LIBRARY_BUSY) == HTTP_WAITS);
}

TEST_CASE("folder_library: a film without requests is closed, and opened again", "[threads]")
{
    rig r;
    usec_t now = USEC_PER_SEC;
    CHECK(r.wait("/a/index.m3u8", now) == 0);
    folder_library_tick(r.library, now + FOLDER_LIBRARY_IDLE - 1);
    CHECK(r.get("/a/index.m3u8", now) == 0);
    folder_library_tick(r.library, now + FOLDER_LIBRARY_IDLE);
    CHECK(r.get("/a/index.m3u8", now) == HTTP_WAITS);
    CHECK(r.wait("/a/index.m3u8", now) == 0);
}

TEST_CASE("folder_library: a film that cannot be opened is tried again after a while", "[threads]")
{
    rig r;
    usec_t now = USEC_PER_SEC;
    CHECK(r.wait("/none/index.m3u8", now) == ERR_NOT_FOUND);
    CHECK(r.get("/none/index.m3u8", now + FOLDER_LIBRARY_BUSY) == ERR_NOT_FOUND);
    folder_library_tick(r.library, now + FOLDER_LIBRARY_BUSY);
    CHECK(r.get("/none/index.m3u8", now + FOLDER_LIBRARY_BUSY) == HTTP_WAITS);
}

TEST_CASE("folder_library: films that cannot be opened make room at once", "[threads]")
{
    rig r;
    usec_t now = USEC_PER_SEC;
    CHECK(r.wait("/a/index.m3u8", now) == 0);
    for (int i = 1; i < FOLDER_LIBRARY_FILMS; i++)
        CHECK(r.wait("/none" + std::to_string(i) + "/index.m3u8", now) == ERR_NOT_FOUND);
    CHECK(r.get("/more/index.m3u8", now) == HTTP_WAITS);
    folder_library_tick(r.library, now + FOLDER_LIBRARY_BUSY);
    CHECK(r.get("/a/index.m3u8", now) == 0); // it was not closed
    CHECK(r.wait("/more/index.m3u8", now) == 0);
}

TEST_CASE("folder_library: all films together keep a bounded number of bytes", "[threads]")
{
    const int films = 4;
    size_t one;
    {
        rig alone;
        REQUIRE(film_library_kept() == 0);
        CHECK(alone.wait(alone.segment("a", 0), 1) == 0);
        one = film_library_kept();
        REQUIRE(one > 0);
        CHECK(alone.wait(alone.segment("a", 1), 2) == 0);
        CHECK(film_library_kept() > one);
    }
    CHECK(film_library_kept() == 0);
    rig r(2 * one);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < films; i++) {
            std::string name = std::to_string(i);
            for (int group : {0, 1}) {
                CHECK(r.wait(r.segment(name, group), 10 + round * films + i) == 0);
                CHECK(film_library_kept() <= 2 * one + 2 * one * films);
            }
            CHECK(r.get(r.segment(name, 1), 10 + round * films + i) == 0); // the newest one is kept
            // The film that was just requested pushed the others' out.
            CHECK(film_library_kept() <= 4 * one);
        }
    folder_library_free(r.library);
    r.library = nullptr;
    CHECK(film_library_kept() == 0);
}

TEST_CASE("folder_library: once stopped, it opens nothing")
{
    rig r;
    folder_library_stop(r.library);
    CHECK(r.get("/a/index.m3u8", 1) == ERR_FULL);
}
