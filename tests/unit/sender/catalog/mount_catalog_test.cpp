// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/catalog/mount_catalog.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "sender/policy/source_name.h"

namespace
{

struct viewer {
    catalog_hold hold{};
    int calls = 0;

    viewer()
    {
        hold.ctx = this;
        hold.on_ready = [](void *ctx, usec_t) { static_cast<viewer *>(ctx)->calls++; };
    }
};

struct served {
    uv_loop_t loop;
    options o{};
    std::vector<options> sources;
    catalog *c = nullptr;
    int count = 0;

    explicit served(const std::vector<std::pair<const char *, const char *>> &list)
    {
        REQUIRE(uv_loop_init(&loop) == 0);
        for (const auto &[name, source] : list) {
            options one{};
            snprintf(one.mount, sizeof(one.mount), "/%s", name);
            one.source = source;
            one.codec = SDP_H264;
            one.encoder = "auto";
            one.audio = "none";
            one.max_viewers = 10;
            one.timeout = 20;
            sources.push_back(one);
        }
        for (auto &one : sources)
            one.path = one.mount;
        o.sources = sources.data();
        count = o.source_count = static_cast<int>(sources.size());
        c = mount_catalog_new(&loop, &o);
        REQUIRE(c);
    }
    ~served()
    {
        c->ops->free(c);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    // Reads another configuration of these sources.
    void reload(const std::vector<std::pair<const char *, const char *>> &list, int max_viewers)
    {
        auto *next = static_cast<options *>(calloc(1, sizeof(options)));
        next->sources = static_cast<options *>(calloc(list.size(), sizeof(options)));
        for (const auto &[name, source] : list) {
            options &one = next->sources[next->source_count++];
            one = sources[0];
            snprintf(one.mount, sizeof(one.mount), "/%s", name);
            one.path = one.mount;
            one.source = source;
            one.max_viewers = max_viewers;
        }
        count = next->source_count;
        REQUIRE(mount_catalog_reload(c, next, next) == 0);
    }
    int take(const char *path, viewer &v, bool only = false)
    {
        stream *out = nullptr;
        int err = c->ops->take(c, path, &v.hold, only, &out);
        CHECK((out != nullptr) == (err == 0));
        return err;
    }
    // Takes the path as a viewer does: again when it is ready.
    int wait(const char *path, viewer &v)
    {
        int err;
        while ((err = take(path, v)) == CATALOG_WAITS) {
            int calls = v.calls;
            while (v.calls == calls)
                uv_run(&loop, UV_RUN_ONCE);
        }
        return err;
    }
    void leave(viewer &v)
    {
        c->ops->leave(c, &v.hold);
    }
    std::string list()
    {
        viewer v;
        char text[512];
        int listed = 0;
        CHECK(c->ops->list(c, &v.hold, text, sizeof(text), &listed) == 0);
        CHECK(listed == count);
        return text;
    }
};

} // namespace

TEST_CASE("mount_catalog: pictures of films are taken without opening them", "[threads]")
{
    struct {
        const char *path;
        int err;
    } const table[] = {{"film", 0},
                       {"gone", 0}, // its thread will see
                       {"front", ERR_UNSUPPORTED},
                       {"cam", ERR_UNSUPPORTED},
                       {"none", ERR_UNSUPPORTED}};
    served s({{"film", "/nonexistent/a.mkv.weir.mkv"},
              {"gone", "/nonexistent.mkv"},
              {"front", "test:320x180@30"},
              {"cam", "rtsp://127.0.0.1:1/x"}});
    for (const auto &row : table) {
        INFO(row.path);
        still_wish wish = {row.path, -1, "", {}};
        int err = 0;
        stream_media *m = s.c->ops->still(s.c, &wish, &err);
        CHECK((m != nullptr) == (row.err == 0));
        if (m)
            m->ops->free(m);
        else
            CHECK(err == row.err);
    }
}

TEST_CASE("mount_catalog: sources have paths, and one that fails ends no other", "[threads]")
{
    served s(
        {{"front", "test:320x180@30"}, {"gone", "/nonexistent.mkv"}, {"fill", "test:160x90@15"}});
    CHECK(s.list() == "/front\t?\t?\r\n/gone\t?\t?\r\n/fill\t?\t?\r\n");
    viewer a, b, lost;
    CHECK(s.wait("/front", a) == 0);
    CHECK(s.wait("/front/trackID=0?level=1", b) == 0); // shares the stream
    CHECK(s.wait("/gone", lost) == CATALOG_REFUSED);
    CHECK(lost.hold.refusal.status == 503);
    CHECK_THAT(lost.hold.refusal.text, Catch::Contains("/gone is not available: not found"));
    CHECK(s.take("/gone", lost) == CATALOG_REFUSED); // not tried again at once
    CHECK(lost.hold.film == nullptr);
    CHECK(s.take("/nothing", lost) == ERR_NOT_FOUND);
    CHECK(s.take("/front/x", lost) == ERR_NOT_FOUND);
    CHECK(s.take("/../front", lost) == ERR_NOT_FOUND);
    CHECK(s.take("/", lost) == ERR_END);
    CHECK(s.take("/fill", a, true) == ERR_NOT_FOUND); // a session keeps its source
    CHECK(s.take("/front", a, true) == 0);
    CHECK(s.wait("/fill", a) == 0); // without a session it may take another one
    CHECK(s.list() == "/front\tlive\t320x180,256x144\r\n/gone\tfailed\t?\r\n"
                      "/fill\tlive\t160x90\r\n");
    s.leave(a);
    s.leave(b);
    s.leave(b);
}

TEST_CASE("mount_catalog: it can be freed while sources are being opened", "[threads]")
{
    served s({{"a", "test:320x180@30"}, {"b", "/nonexistent.mkv"}});
    viewer v;
    CHECK(s.take("/a", v) == CATALOG_WAITS);
    s.leave(v);
    CHECK(v.calls == 0);
}

TEST_CASE("mount_catalog: a reload keeps the viewers' streams", "[threads]")
{
    served s({{"same", "test:160x90@15"}, {"other", "test:160x90@15"}, {"gone", "test:160x90@15"}});
    viewer same, other, gone;
    REQUIRE(s.wait("/same", same) == 0);
    REQUIRE(s.wait("/other", other) == 0);
    REQUIRE(s.wait("/gone", gone) == 0);
    stream *before[3];
    viewer *viewers[] = {&same, &other, &gone};
    const char *paths[] = {"/same", "/other", "/gone"};
    for (int i = 0; i < 3; i++)
        REQUIRE(s.c->ops->take(s.c, paths[i], &viewers[i]->hold, true, &before[i]) == 0);

    s.reload({{"same", "test:160x90@15"}, {"other", "test:320x180@15"}, {"new", "test:160x90@15"}},
             77);
    viewer a, b;
    CHECK(s.wait("/new", a) == 0);
    CHECK(s.wait("/other", b) == 0);
    CHECK(s.list() == "/same\tlive\t160x90\r\n/other\tlive\t320x180,256x144\r\n"
                      "/new\tlive\t160x90\r\n");
    for (int i = 0; i < 3; i++) { // in a session they keep what they have
        stream *now = nullptr;
        CHECK(s.c->ops->take(s.c, paths[i], &viewers[i]->hold, true, &now) == 0);
        CHECK(now == before[i]);
    }
    CHECK(before[0]->max_viewers == 77); // it is the same stream for new viewers, too
    stats out{};
    s.c->ops->stats(
        s.c, &out, [](void *, const stats *, const session_stats *) {}, nullptr, 0);
    CHECK(out.stream_count == 5);
    std::string labels;
    for (int i = 0; i < out.stream_count; i++)
        labels += std::string(out.streams[i].path) + " ";
    CHECK_THAT(labels, Catch::StartsWith("/same /other /new /"));
    CHECK_THAT(labels, Catch::Contains("/other?old=") && Catch::Contains("/gone?old="));

    CHECK(s.take("/gone", gone) == ERR_NOT_FOUND); // without a session it is gone
    CHECK(s.take("/other", other) == 0);           // and this one is the new one
    CHECK(other.hold.film == b.hold.film);
    s.c->ops->stats(
        s.c, &out, [](void *, const stats *, const session_stats *) {}, nullptr, 0);
    CHECK(out.stream_count == 3);
    for (auto *v : {&same, &other, &gone, &a, &b})
        s.leave(*v);
}

TEST_CASE("mount_catalog: a reload while sources are being opened", "[threads]")
{
    served s({{"a", "test:160x90@15"}, {"b", "test:160x90@15"}, {"c", "/nonexistent.mkv"}});
    viewer a, b, c;
    CHECK(s.take("/a", a) == CATALOG_WAITS);
    CHECK(s.take("/b", b) == CATALOG_WAITS);
    s.reload({{"a", "test:320x180@15"}, {"c", "test:160x90@15"}}, 5);
    s.reload({{"c", "test:160x90@15"}, {"a", "test:320x180@15"}}, 6);
    CHECK(b.calls > 0);
    CHECK(s.take("/b", b) == ERR_NOT_FOUND);
    CHECK(s.wait("/a", a) == 0);
    CHECK(s.wait("/c", c) == 0);
    CHECK(s.list() == "/c\tlive\t160x90\r\n/a\tlive\t320x180,256x144\r\n");
    s.leave(a);
    s.leave(c);
}

namespace
{

// A client that publishes to a path, without media.
struct client {
    publication *p = nullptr;
    bool begun = false;
    std::string over;
    media_refusal refusal{};

    int publish(served &s, const char *path)
    {
        static const publication_events events = {
            [](void *ctx, usec_t) { static_cast<client *>(ctx)->begun = true; },
            [](void *ctx, const char *why, usec_t) { static_cast<client *>(ctx)->over = why; },
            [](void *, media_track, const uint8_t *, size_t) {}};
        static const char text[] = "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\nm=video 0 "
                                   "RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n";
        sdp description;
        REQUIRE(sdp_decode(text, strlen(text), &description) == 0);
        publication_config config = {&description, &events, this};
        return s.c->ops->publish(s.c, path, &config, &p, &refusal);
    }
    void end(const char *why = nullptr)
    {
        p->ops->end(p, why, clock_now());
        p = nullptr;
    }
    void begin(served &s)
    {
        p->ops->begin(p, false, clock_now());
        while (!begun && over.empty())
            uv_run(&s.loop, UV_RUN_ONCE);
    }
};

} // namespace

TEST_CASE("mount_catalog: clients publish to paths, one to each", "[threads]")
{
    served s({{"cam", SOURCE_PUBLISHED}, {"cams/*", SOURCE_PUBLISHED}, {"pic", "test:160x90@15"}});
    s.count = 2; // a pattern is not listed
    CHECK(s.list().find("/cam\taway\t?\r\n/pic\t") == 0);
    viewer v;
    CHECK(s.take("/cam", v) == CATALOG_REFUSED);
    CHECK(v.hold.refusal.status == 404);
    CHECK(s.take("/cams/*", v) == ERR_NOT_FOUND);
    client a, b, c;
    for (const char *path : {"/pic", "/other", "/cams", "/cams/*", "/cams/a/b", "/"}) {
        CHECK(a.publish(s, path) == CATALOG_REFUSED);
        CHECK(a.refusal.status == 404);
    }
    REQUIRE(a.publish(s, "/cam") == 0);
    CHECK(b.publish(s, "/cam") == CATALOG_REFUSED);
    CHECK(b.refusal.status == 503);
    CHECK(s.take("/cam", v) == CATALOG_REFUSED); // it does not record yet
    REQUIRE(b.publish(s, "/cams/front") == 0);
    CHECK(c.publish(s, "/cams/front/") == CATALOG_REFUSED);
    a.begin(s);
    b.begin(s);
    CHECK(s.take("/cams/front", v) == CATALOG_WAITS); // for pictures
    s.count = 3;
    CHECK(s.list().find("/cam\t?\t?\r\n/pic\t") == 0);
    CHECK(s.list().find("\r\n/cams/front\t?\t?\r\n") != std::string::npos);
    b.end("its connection has ended");
    CHECK(v.calls == 1); // the viewer is woken
    CHECK(s.take("/cams/front", v) == ERR_NOT_FOUND);
    a.end();
    s.count = 2;
    CHECK(s.list().find("/cam\taway\t?\r\n/pic\t") == 0);
    REQUIRE(a.publish(s, "/cam") == 0); // free at once
    a.end();
}

TEST_CASE("mount_catalog: a reload keeps the clients of the paths that stay", "[threads]")
{
    served s(
        {{"cam", SOURCE_PUBLISHED}, {"cams/*", SOURCE_PUBLISHED}, {"old/*", SOURCE_PUBLISHED}});
    client a, b, c;
    REQUIRE(a.publish(s, "/cam") == 0);
    REQUIRE(b.publish(s, "/cams/x") == 0);
    REQUIRE(c.publish(s, "/old/x") == 0);
    b.begin(s);
    s.reload({{"cam", SOURCE_PUBLISHED}, {"cams/*", SOURCE_PUBLISHED}}, 5);
    CHECK(a.over.empty());
    CHECK(b.over.empty());
    CHECK_FALSE(c.over.empty());
    s.count = 2;
    CHECK(s.list() == "/cam\taway\t?\r\n/cams/x\t?\t?\r\n");
    c.p->ops->begin(c.p, false, clock_now()); // of no effect
    c.end();
    s.reload({{"cam", "test:160x90@15"}}, 5); // another kind
    CHECK_FALSE(a.over.empty());
    CHECK_FALSE(b.over.empty());
    a.end();
    b.end();
    CHECK(a.publish(s, "/cam") == CATALOG_REFUSED);
}

TEST_CASE("mount_catalog: the paths of clients are bounded", "[threads]")
{
    const std::vector<std::pair<const char *, const char *>> only = {{"*", SOURCE_PUBLISHED}};
    served s(only);
    std::vector<client> all(100);
    int count = 0;
    for (auto &one : all)
        count += one.publish(s, ("/c" + std::to_string(&one - all.data())).c_str()) == 0;
    CHECK(count == 63);
    CHECK(all.back().refusal.status == 503);
    for (auto &one : all)
        if (one.p)
            one.end();
    s.count = 0;
    CHECK(s.list().empty());
}

TEST_CASE("mount_catalog: a client takes over when it sends, if it may", "[threads]")
{
    served s({{"cam", SOURCE_PUBLISHED}, {"cams/*", SOURCE_PUBLISHED}});
    for (auto &one : s.sources)
        one.take_over = true;
    for (const char *path : {"/cam", "/cams/front"}) {
        client a, b, c;
        REQUIRE(a.publish(s, path) == 0);
        a.begin(s);
        REQUIRE(b.publish(s, path) == 0);
        REQUIRE(c.publish(s, path) == 0);
        CHECK(a.over.empty()); // both wait
        c.end();
        CHECK(a.over.empty());
        b.begin(s);
        CHECK(b.begun);
        CHECK(a.over == "another client publishes to the path now");
        a.end(); // it has the path no longer
        viewer v;
        CHECK(s.take(path, v) == CATALOG_WAITS); // for the pictures of b
        b.end();
        CHECK(s.take(path, v) != CATALOG_WAITS);
        s.leave(v);
    }
    s.count = 1;
    CHECK(s.list() == "/cam\taway\t?\r\n");
}

TEST_CASE("mount_catalog: options that borrow of those that were read", "[threads]")
{
    served s({{"a", "test:160x90@15"}, {"b", "test:160x90@15"}});
    viewer v;
    s.o.path = "/live"; // as options_parse leaves them
    for (auto &one : s.sources)
        one.push_level = -1;
    REQUIRE(s.wait("/a", v) == 0);
    for (int i = 0; i < 3; i++) {
        source_changes changes{};
        int err = 0;
        char error[128] = "";
        if (i % 2 == 0)
            REQUIRE(source_changes_set(&changes, "/a", nullptr, true) == 0);
        options *next = options_change(&s.o, &changes, &err, error, sizeof(error));
        INFO(error);
        REQUIRE(next);
        REQUIRE(mount_catalog_reload(s.c, next, nullptr) == 0);
        CHECK(mount_catalog_has(s.c, "/a") == (i % 2 == 1));
        CHECK(mount_catalog_has(s.c, "/b"));
        CHECK_FALSE(mount_catalog_is_busy(s.c));
    }
    CHECK(mount_catalog_record(s.c, "/b", true) == ERR_UNSUPPORTED); // no --record
    CHECK(mount_catalog_record(s.c, "/a", true) == ERR_NOT_FOUND);
    s.leave(v);
}
