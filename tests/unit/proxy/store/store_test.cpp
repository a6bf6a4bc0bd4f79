// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/store/store.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <vector>

#include "common/base/err.h"
#include "tests/unit/proxy/store/stored_copy.hpp"
#include "tests/unit/temp_folder.hpp"

namespace fs = std::filesystem;

namespace
{

const char URL[] = "rtsp://origin.example:8554/film.mp4";

struct open_store {
    uv_loop_t loop;
    store *s = nullptr;

    explicit open_store(const std::string &folder, int64_t max_bytes = 100 << 20, double prefix = 0)
    {
        uv_loop_init(&loop);
        store_config config = {&loop, folder.c_str(), max_bytes, prefix};
        s = store_new(&config);
    }
    ~open_store()
    {
        store_free(s);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    void settle(store_film *f)
    {
        while (store_film_pending(f))
            uv_run(&loop, UV_RUN_ONCE);
    }
    // Stores and verifies the whole film.
    void fill(store_film *f)
    {
        const stored_info *info = store_film_info(f);
        for (int64_t group = 0; group < store_film_groups(f); group++)
            put(f, *make_group(info, group));
        settle(f);
        for (int64_t group = 0; group < store_film_groups(f); group++)
            for (int track : {0, 1, (int)STORED_AUDIO_TRACK})
                verify(f, track, group);
    }
    void put(store_film *f, const stored_group &g)
    {
        for (int track : {0, 1, (int)STORED_AUDIO_TRACK})
            store_film_put(f, &g, track, false);
    }
    static void verify(store_film *f, int track, int64_t group)
    {
        stored_digest d = digest_of(store_film_info(f), group, track);
        store_film_verify(f, track, group, &d);
    }
};

int64_t bytes_in(const std::string &folder)
{
    int64_t sum = 0;
    for (auto &e : fs::recursive_directory_iterator(folder)) {
        struct stat st;
        if (stat(e.path().c_str(), &st) == 0)
            sum += std::max<int64_t>(st.st_blocks * 512, st.st_size);
    }
    return sum;
}

// The bytes that a source of the film gives, of one track.
std::vector<uint8_t> served(group_source *source, int64_t group, int track, unsigned sizes = ~0U)
{
    stored_group *g = nullptr;
    if (source->ops->read(source, group, sizes, &g) != 0)
        return {};
    stored_bytes b;
    REQUIRE(stored_track_write(source->ops->info(source), g, track, &b) == 0);
    std::vector<uint8_t> out(b.data, b.data + b.len);
    free(b.data);
    stored_group_free(g);
    return out;
}

std::vector<uint8_t> original(const stored_info *info, int64_t group, int track)
{
    stored_bytes b;
    REQUIRE(stored_track_write(info, make_group(info, group).get(), track, &b) == 0);
    std::vector<uint8_t> out(b.data, b.data + b.len);
    free(b.data);
    return out;
}

} // namespace

TEST_CASE("store: a film is stored, verified, and there again after a restart", "[threads]")
{
    temp_folder folder;
    sdp description = film_sdp("bytes=1 mtime=2");
    {
        open_store o(folder / "cache");
        REQUIRE(o.s);
        store_film *f = store_open(o.s, URL, &description);
        REQUIRE(f);
        CHECK(store_film_groups(f) == FILM_GROUPS);
        o.put(f, *make_group(store_film_info(f), 0));
        o.settle(f);
        CHECK(store_film_group(f, 0, 0) == GROUP_WHOLE);
        CHECK(store_film_group(f, 0, 1) == GROUP_NONE);
        o.fill(f);
        CHECK(store_film_is_complete(f, 0));
        CHECK(store_film_is_complete(f, 1));
        store_film_release(f);
    }
    open_store o(folder / "cache");
    REQUIRE(o.s);
    CHECK_FALSE(store_find(o.s, "rtsp://origin.example:8554/other.mp4"));
    store_film *f = store_find(o.s, URL);
    REQUIRE(f);
    CHECK(store_film_is_complete(f, 1));
    CHECK(store_film_stored(f, 1) == FILM_GROUPS);
    group_source *source = store_source_new(f, 3);
    REQUIRE(source);
    CHECK(std::string(source->ops->info(source)->validator) == "bytes=1 mtime=2");
    for (int64_t group = 0; group < FILM_GROUPS; group++)
        for (int track : {0, 1, (int)STORED_AUDIO_TRACK})
            CHECK(served(source, group, track) == original(store_film_info(f), group, track));
    CHECK(std::string(source->ops->info(source)->sizes[1].profile) == "64001f");
    source->ops->free(source);
    store_film_release(f);
}

TEST_CASE("store: a source has the sizes that it is asked for", "[threads]")
{
    temp_folder folder;
    sdp description = film_sdp("bytes=1 mtime=2");
    open_store o(folder / "cache");
    store_film *f = store_open(o.s, URL, &description);
    o.fill(f);
    group_source *source = store_source_new(f, 2);
    REQUIRE(source);
    const ladder &l = source->ops->info(source)->sdp.ladder;
    REQUIRE(l.size_count == 1);
    CHECK(l.sizes[0].width == 128);
    REQUIRE(l.level_count == 2);
    CHECK(l.levels[0].size_id == 0);
    // Its levels are its own, so it is another film.
    for (const char *v :
         {source->ops->info(source)->validator, source->ops->info(source)->sdp.validator})
        CHECK(std::string(v) == "bytes=1 mtime=2 sizes=2");
    CHECK(served(source, 1, 0) == original(store_film_info(f), 1, 1));
    source->ops->free(source);
    CHECK_FALSE(store_source_new(f, 4));
    store_film_release(f);
}

TEST_CASE("store: missing frames are listed, and join what is there", "[threads]")
{
    temp_folder folder;
    sdp description = film_sdp("bytes=1 mtime=2");
    open_store o(folder / "cache");
    store_film *f = store_open(o.s, URL, &description);
    auto part = make_group(store_film_info(f), 1);
    coded_frame *taken = part->at[1][3];
    part->at[1][3] = nullptr;
    store_film_put(f, part.get(), 1, false);
    o.settle(f);
    CHECK(store_film_group(f, 1, 1) == GROUP_PART);
    CHECK(store_film_stored(f, 1) == 1);
    CHECK(store_film_stored(f, 0) == 0);
    std::vector<int64_t> missing;
    store_watch watch = {[](void *, int, int64_t) {}, &missing, nullptr};
    store_film_watch(f, &watch);
    REQUIRE(store_film_missing(
        f, 1, 1,
        [](void *ctx, const int64_t *frames, int count) {
            static_cast<std::vector<int64_t> *>(ctx)->assign(frames, frames + count);
        },
        &missing));
    while (missing.empty())
        uv_run(&o.loop, UV_RUN_ONCE);
    CHECK(missing == std::vector<int64_t>{FILM_GOP + 3});
    store_film_unwatch(f, &watch);
    stored_group rest = {};
    rest.index = 1;
    rest.frames = FILM_GOP;
    rest.at[1][3] = taken;
    store_film_put(f, &rest, 1, false);
    o.settle(f);
    CHECK(store_film_group(f, 1, 1) == GROUP_WHOLE);
    o.verify(f, 1, 1);
    CHECK(store_film_group(f, 1, 1) == GROUP_VERIFIED);
    coded_frame_unref(taken);
    store_film_release(f);
}

TEST_CASE("store: what is not the origin's is removed", "[threads]")
{
    temp_folder folder;
    sdp description = film_sdp("bytes=1 mtime=2");
    open_store o(folder / "cache");
    store_film *f = store_open(o.s, URL, &description);
    o.put(f, *make_group(store_film_info(f), 0));
    o.settle(f);
    stored_digest other = {};
    CHECK(store_film_stored(f, 0) == 1);
    store_film_verify(f, 0, 0, &other);
    CHECK(store_film_group(f, 0, 0) == GROUP_NONE);
    CHECK(store_film_stored(f, 0) == 0);
    store_film_release(f);
}

TEST_CASE("store: the bound holds; the least recently used film leaves first, from its end; "
          "prefixes last",
          "[threads]")
{
    temp_folder folder;
    int64_t one;
    {
        open_store o(folder / "probe");
        sdp description = film_sdp("bytes=1 mtime=2");
        store_film *f = store_open(o.s, URL, &description);
        o.fill(f);
        store_stats stats;
        store_read_stats(o.s, &stats);
        one = stats.bytes;
        CHECK(bytes_in(folder / "probe") <= one);
        CHECK(stats.objects == 2);
        store_film_release(f);
    }
    int64_t max_bytes = 3 * one - 2 * 4096;
    open_store o(folder / "cache", max_bytes, 2);
    for (const char *name : {"a", "b", "c"}) {
        sdp description = film_sdp("bytes=1 mtime=2");
        store_film *f = store_open(o.s, name, &description);
        REQUIRE(f);
        o.fill(f);
        if (*name == 'b') {
            store_film *a = store_find(o.s, "a");
            store_film_use(a, 0); // size 1 of it is the least recently used object now
            store_film_release(a);
        }
        store_stats stats;
        store_read_stats(o.s, &stats);
        CHECK(stats.bytes <= max_bytes);
        store_film_release(f);
        CHECK(bytes_in(folder / "cache") <= max_bytes);
    }
    store_film *a = store_find(o.s, "a"), *b = store_find(o.s, "b"), *c = store_find(o.s, "c");
    CHECK(store_film_group(a, 1, FILM_GROUPS - 1) == GROUP_NONE);
    CHECK(store_film_group(a, 1, 0) == GROUP_VERIFIED);
    CHECK(store_film_is_complete(a, 0));
    CHECK(store_film_is_complete(b, 0));
    CHECK(store_film_is_complete(c, 1));
    for (store_film *f : {a, b, c})
        store_film_release(f);
}

TEST_CASE("store: what is held does not leave, so more is not stored", "[threads]")
{
    temp_folder folder;
    sdp description = film_sdp("bytes=1 mtime=2");
    open_store o(folder / "cache", 150000);
    store_film *f = store_open(o.s, "a", &description);
    o.fill(f);
    store_stats stats;
    store_read_stats(o.s, &stats);
    CHECK(stats.bytes <= 150000);
    CHECK(store_film_group(f, 0, 0) == GROUP_VERIFIED);
    CHECK_FALSE(store_film_is_complete(f, 1));
    CHECK(folder.logged().find("--cache-bytes has no room") != std::string::npos);
    CHECK(store_film_is_full(f, 1));
    store_film *b = store_open(o.s, "b", &description);
    CHECK_FALSE(store_film_is_full(b, 1)); // nothing of it was refused
    o.put(b, *make_group(store_film_info(b), 0));
    CHECK(store_film_is_full(b, 1));
    store_film_release(f); // it may leave
    CHECK_FALSE(store_film_is_full(b, 1));
    store_film_release(b);
}

TEST_CASE("store: another validator is another film, and replaces the first", "[threads]")
{
    temp_folder folder;
    open_store o(folder / "cache");
    sdp description = film_sdp("bytes=1 mtime=2");
    store_film *f = store_open(o.s, URL, &description);
    o.fill(f);
    store_film_release(f);
    description = film_sdp("bytes=1 mtime=3");
    f = store_open(o.s, URL, &description);
    REQUIRE(f);
    CHECK_FALSE(store_film_is_complete(f, 0));
    CHECK_FALSE(store_next(o.s, store_next(o.s, store_next(o.s, nullptr))));
    store_film_release(f);
    // Neither has groups: both are forgotten when the thread has removed them.
    while (store_next(o.s, nullptr))
        uv_run(&o.loop, UV_RUN_ONCE);
    for (const char *bad : {"", "live"}) {
        description = film_sdp(*bad ? "x" : "");
        description.duration = *bad ? -1 : description.duration;
        CHECK_FALSE(store_open(o.s, URL, &description));
    }
}

TEST_CASE("store: a description that contradicts the stored one of its validator", "[threads]")
{
    temp_folder folder;
    open_store o(folder / "cache");
    sdp description = film_sdp("bytes=1 mtime=2");
    store_film *f = store_open(o.s, URL, &description);
    REQUIRE(f);
    description.duration += 2;
    CHECK_FALSE(store_open(o.s, URL, &description));
    description = film_sdp("bytes=1 mtime=2");
    description.ladder.size_count = 1;
    description.ladder.level_count = 2;
    CHECK_FALSE(store_open(o.s, URL, &description));
    CHECK(store_film_sizes(f) == 2);
    store_film_release(f);
}

TEST_CASE("store: of too many films, the idle one that was not used for longest leaves",
          "[threads]")
{
    temp_folder folder;
    open_store o(folder / "cache");
    sdp description = film_sdp("bytes=1 mtime=2");
    store_film *idle = store_open(o.s, "idle", &description);
    o.put(idle, *make_group(store_film_info(idle), 0));
    o.settle(idle);
    store_film_release(idle);
    std::vector<store_film *> held;
    while (store_film *f = store_open(o.s, std::to_string(held.size()).c_str(), &description))
        held.push_back(f);
    CHECK(held.size() == 1023);
    store_film *next;
    while (!(next = store_open(o.s, "next", &description)))
        uv_run(&o.loop, UV_RUN_ONCE);
    CHECK_FALSE(store_find(o.s, "idle"));
    store_film_release(next);
    for (store_film *f : held)
        store_film_release(f);
}

TEST_CASE("store: files that were edited or cut are not served, and are removed", "[threads]")
{
    temp_folder folder;
    sdp description = film_sdp("bytes=1 mtime=2");
    {
        open_store o(folder / "cache");
        store_film *f = store_open(o.s, URL, &description);
        o.fill(f);
        store_film_release(f);
    }
    fs::path film;
    for (auto &e : fs::directory_iterator(folder / "cache"))
        if (e.is_directory())
            film = e.path();
    {
        std::fstream edited(film / "0-000000", std::ios::in | std::ios::out | std::ios::binary);
        edited.seekp(200);
        edited.put('\x55');
    }
    fs::resize_file(film / "0-000001", 300);
    fs::copy_file(film / "1-000000", film / "1-000001", fs::copy_options::overwrite_existing);
    std::ofstream(film / "8-000000.tmp") << "rest of a crash";
    std::ofstream(film / "notes.txt") << "of a person";
    fs::create_directory(folder / "cache/0123456789abcdef0123456789abcdef");
    open_store o(folder / "cache");
    store_film *f = store_find(o.s, URL);
    REQUIRE(f);
    CHECK(store_film_group(f, 0, 1) == GROUP_NONE); // cut
    CHECK(store_film_group(f, 1, 1) == GROUP_NONE); // another group's
    CHECK_FALSE(fs::exists(film / "8-000000.tmp"));
    CHECK(fs::exists(film / "notes.txt"));
    CHECK_FALSE(fs::exists(folder / "cache/0123456789abcdef0123456789abcdef"));
    CHECK(store_film_group(f, 0, 0) == GROUP_VERIFIED);
    group_source *source = store_source_new(f, 1);
    CHECK(served(source, 0, 0).empty()); // edited
    CHECK_FALSE(fs::exists(film / "0-000000"));
    while (store_film_group(f, 0, 0) != GROUP_NONE)
        uv_run(&o.loop, UV_RUN_ONCE);
    source->ops->free(source);
    store_film_release(f);
}

TEST_CASE("store: a verified file that is gone is not the film's any more", "[threads]")
{
    temp_folder folder;
    sdp description = film_sdp("bytes=1 mtime=2");
    {
        open_store o(folder / "cache");
        store_film *f = store_open(o.s, URL, &description);
        o.fill(f);
        store_film_release(f);
    }
    open_store o(folder / "cache");
    store_film *f = store_find(o.s, URL);
    REQUIRE(f);
    REQUIRE(store_film_is_complete(f, 0));
    group_source *source = store_source_new(f, 1);
    for (auto &e : fs::directory_iterator(folder / "cache"))
        if (e.is_directory())
            fs::remove(e.path() / "0-000000");
    REQUIRE(served(source, 0, 0).empty());
    while (store_film_group(f, 0, 0) != GROUP_NONE)
        uv_run(&o.loop, UV_RUN_ONCE);
    CHECK_FALSE(store_film_is_complete(f, 0));
    source->ops->free(source);
    store_film_release(f);
}

TEST_CASE("store: a film whose folder could not be made has none", "[threads]")
{
    temp_folder folder;
    sdp description = film_sdp("bytes=1 mtime=2");
    open_store o(folder / "cache");
    store_film *f = store_open(o.s, URL, &description);
    store_stats before, after;
    store_read_stats(o.s, &before);
    fs::rename(folder / "cache", folder / "away");
    o.put(f, *make_group(store_film_info(f), 0));
    o.settle(f);
    CHECK(store_film_group(f, 0, 0) == GROUP_NONE);
    store_read_stats(o.s, &after);
    CHECK(after.stopped);
    CHECK(after.bytes == before.bytes); // it has no folder
    store_film_release(f);
}

TEST_CASE("store: folders that are no cache of this version, or another proxy's", "[threads]")
{
    temp_folder folder;
    fs::create_directory(folder / "other");
    folder.write("other/file", "text");
    CHECK_FALSE(open_store(folder / "other").s);
    CHECK_FALSE(fs::exists(folder / "other/weir-cache"));
    fs::create_directory(folder / "newer");
    folder.write("newer/weir-cache", "weir-cache 2\n");
    CHECK_FALSE(open_store(folder / "newer").s);
    CHECK(folder.read("newer/weir-cache") == "weir-cache 2\n");
    open_store first(folder / "cache");
    REQUIRE(first.s);
    CHECK_FALSE(open_store(folder / "cache").s);
    CHECK(folder.logged().find("another proxy stores there") != std::string::npos);
    CHECK_FALSE(open_store(folder / "no/such/folder").s);
    std::string file = folder.write("file", "");
    CHECK_FALSE(open_store(file).s);
}

TEST_CASE("store: a source of a film that is being filled", "[threads]")
{
    temp_folder folder;
    sdp description = film_sdp("bytes=1 mtime=2");
    open_store o(folder / "cache", 100 << 20, 3);
    store_film *f = store_open(o.s, URL, &description);
    struct noting {
        std::vector<std::pair<int64_t, unsigned>> needed;
        bool comes = true;
    } notes;
    auto &needed = notes.needed;
    store_filler filler = {[](void *ctx, int64_t group, unsigned sizes) {
                               auto *n = static_cast<noting *>(ctx);
                               n->needed.push_back({group, sizes});
                               return n->comes;
                           },
                           &notes};
    group_source *source = store_source_new_filled(f, &filler);
    REQUIRE(source);
    CHECK(std::string(source->ops->info(source)->validator) == "bytes=1 mtime=2");
    unsigned sizes = 3;
    CHECK(source->ops->need(source, 1, &sizes) == 0);
    CHECK(sizes == 0);
    stored_digest d;
    CHECK(source->ops->digest(source, 1, 1, &d) == ERR_AGAIN);
    o.put(f, *make_group(store_film_info(f), 1));
    o.settle(f);
    o.verify(f, 1, 1);
    sizes = 3;
    CHECK(source->ops->need(source, 1, &sizes) == 0);
    CHECK(sizes == 0); // without its audio
    o.verify(f, STORED_AUDIO_TRACK, 1);
    sizes = 3;
    CHECK(source->ops->need(source, 1, &sizes) == 0);
    CHECK(sizes == 2); // the other one is not verified
    CHECK(needed == std::vector<std::pair<int64_t, unsigned>>{{1, 3}, {1, 3}, {1, 3}});
    CHECK(served(source, 1, 1, 2) == original(store_film_info(f), 1, 1));
    REQUIRE(source->ops->digest(source, 1, 1, &d) == 0);
    CHECK(memcmp(&d, digest_of(store_film_info(f), 1, 1).bytes, sizeof(d)) == 0);
    notes.comes = false;
    sizes = 1;
    CHECK(source->ops->need(source, 1, &sizes) == ERR_IO);
    sizes = 0; // nobody reads yet
    CHECK(source->ops->need(source, 2, &sizes) == 0);
    CHECK(needed.size() == 4);
    source->ops->free(source);
    store_film_release(f);
}

TEST_CASE("store: the prefix of a film, and the room for it", "[threads]")
{
    temp_folder folder;
    sdp description = film_sdp("bytes=1 mtime=2");
    open_store o(folder / "cache", 1 << 20, 3); // seconds: two groups of 2 s
    store_film *f = store_open(o.s, URL, &description);
    CHECK(store_film_prefix(f) == 2);
    CHECK_FALSE(store_film_has_prefix(f, 1));
    CHECK(store_room(o.s, 1) == 1 << 20);
    for (int64_t group : {0, 1}) {
        o.put(f, *make_group(store_film_info(f), group));
        o.settle(f);
        for (int track : {1, (int)STORED_AUDIO_TRACK}) {
            CHECK_FALSE(store_film_has_prefix(f, 1));
            o.verify(f, track, group);
        }
    }
    CHECK(store_film_has_prefix(f, 1));
    CHECK_FALSE(store_film_has_prefix(f, 0));
    CHECK(store_room(o.s, 1) < 1 << 20);
    store_film_release(f);
    CHECK(store_room(o.s, 1) == 1 << 20); // it may leave
}

TEST_CASE("store: the film's table is there again after a restart, and a source has its levels'",
          "[threads]")
{
    temp_folder folder;
    sdp description = film_sdp("bytes=1 mtime=2");
    const film_table *t = nullptr;
    {
        open_store o(folder / "cache");
        store_film *f = store_open(o.s, URL, &description);
        REQUIRE(f);
        CHECK(store_film_table(f, &t) == ERR_AGAIN);
        store_film_set_table(f, nullptr);
        CHECK(store_film_table(f, &t) == ERR_NOT_FOUND);
        const stored_info *info = store_film_info(f);
        const film_shape shape = {
            info->sdp.ladder.level_count, FILM_GROUPS, info->plan.gop, info->plan.gop,
            info->sdp.ladder.source_fps,  true};
        film_table *made;
        REQUIRE(film_table_new(&shape, &made) == 0);
        for (int64_t g = 0; g < FILM_GROUPS; g++)
            for (int level = 0; level < shape.levels; level++)
                REQUIRE(film_table_set(made, g, level, 4096U << level, 10 * level) == 0);
        store_film_set_table(f, made);
        CHECK(store_film_table(f, &t) == 0);
        o.fill(f); // its folder is made now
        store_film_release(f);
    }
    CHECK(bytes_in(folder / "cache") > 0);
    open_store o(folder / "cache");
    store_film *f = store_find(o.s, URL);
    REQUIRE(f);
    REQUIRE(store_film_table(f, &t) == 0);
    CHECK(film_table_bytes(t, 1, 0) == 4096);
    const ladder &whole = store_film_info(f)->sdp.ladder;
    int first = 0; // level of size 1
    while (whole.levels[first].size_id != 1)
        first++;
    REQUIRE(first > 0);
    group_source *source = store_source_new(f, 2);
    REQUIRE(source);
    const film_table *part = nullptr;
    REQUIRE(source->ops->table(source, &part) == 0);
    CHECK(film_table_shape(part)->levels == whole.level_count - first);
    CHECK(film_table_bytes(part, 1, 0) == film_table_bytes(t, 1, first));
    CHECK(film_table_quality(part, 1, 0) == 10 * first);
    source->ops->free(source);
    store_film_release(f);
}
