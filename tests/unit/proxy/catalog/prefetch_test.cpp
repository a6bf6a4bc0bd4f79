// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/catalog/prefetch.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/proxy/store/stored_copy.hpp"
#include "tests/unit/temp_folder.hpp"

namespace
{

// A catalog that answers at once, and puts its films into a store.
struct listed {
    catalog base = {}; // first
    temp_folder folder;
    uv_loop_t loop;
    store *s = nullptr;
    std::unique_ptr<origin_rules> rules = std::make_unique<origin_rules>();
    std::vector<std::string> taken;
    std::vector<store_film *> films;
    int left = 0;
    prefetch *p = nullptr;

    static int take(catalog *c, const char *path, catalog_hold *h, bool, struct stream **)
    {
        auto *x = reinterpret_cast<listed *>(c);
        x->taken.push_back(path);
        if (strcmp(path, "/a/none") == 0) {
            strcpy(h->refusal.text, "no such film");
            return CATALOG_REFUSED;
        }
        sdp description = film_sdp("v");
        auto at = std::make_unique<url>();
        REQUIRE(origin_url_of(x->rules.get(), path, at.get()) == 0);
        store_film *f = store_open(x->s, at->text, &description);
        REQUIRE(f);
        x->films.push_back(f);
        return 0;
    }
    static void leave(catalog *c, catalog_hold *)
    {
        reinterpret_cast<listed *>(c)->left++;
    }
    explicit listed(const std::string &text, int64_t room = 100 << 20,
                    usec_t again = PREFETCH_AGAIN)
    {
        static const catalog_ops ops = [] {
            catalog_ops of = {};
            of.take = take;
            of.leave = leave;
            return of;
        }();
        base.ops = &ops;
        uv_loop_init(&loop);
        std::string path = folder / "cache", file = folder / "list";
        store_config config = {&loop, path.c_str(), room, 0};
        s = store_new(&config);
        REQUIRE(s);
        REQUIRE(origin_url_allow(rules.get(), "a") == nullptr);
        std::ofstream(file) << text;
        prefetch_config of = {&loop, file.c_str(), &base, s, rules.get(), again};
        p = prefetch_new(&of);
        REQUIRE(p);
    }
    // film_fetcher has stored all of it.
    void put_all(store_film *f)
    {
        const stored_info *info = store_film_info(f);
        for (int64_t group = 0; group < store_film_groups(f); group++)
            for (int track : {1, (int)STORED_AUDIO_TRACK}) {
                store_film_put(f, make_group(info, group).get(), track, false);
                while (store_film_pending(f))
                    uv_run(&loop, UV_RUN_ONCE);
                stored_digest d = digest_of(info, group, track);
                store_film_verify(f, track, group, &d);
            }
        REQUIRE(store_film_is_complete(f, 1));
    }
    void wait_taken(size_t count)
    {
        while (taken.size() < count)
            uv_run(&loop, UV_RUN_ONCE);
    }
    ~listed()
    {
        prefetch_free(p);
        for (store_film *f : films)
            store_film_release(f);
        store_free(s);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
};

} // namespace

TEST_CASE("prefetch: one film after the other", "[threads]")
{
    listed x("# these\n\n/a/none\r\n/a/one\n/a/two");
    x.wait_taken(2);
    CHECK(x.taken == std::vector<std::string>{"/a/none", "/a/one"});
    REQUIRE(x.films.size() == 1);
    CHECK(store_film_fetch(x.films[0])->is_wanted);
    store_film_fetch(x.films[0])->tries = 2; // film_fetcher has tried in vain
    x.wait_taken(3);
    CHECK_FALSE(store_film_fetch(x.films[0])->is_wanted);
    CHECK(x.taken.back() == "/a/two");
    CHECK(x.left >= 3);
}

TEST_CASE("prefetch: what failed is named once, and it alone is tried again", "[threads]")
{
    listed x("/a/none\nno path\n\n/evil/film\r\n/a/one\n", 100 << 20, USEC_PER_SEC / 10);
    x.wait_taken(2); // none, one
    x.put_all(x.films[0]);
    x.wait_taken(5); // none, three times more
    CHECK(x.taken ==
          std::vector<std::string>{"/a/none", "/a/one", "/a/none", "/a/none", "/a/none"});
    std::string log = x.folder.logged();
    for (const char *said : {"line 1: /a/none is not stored in advance: no such film",
                             "line 2: no path is not stored", "line 4: /evil/film is not stored"}) {
        size_t first = log.find(said);
        CAPTURE(said, log);
        REQUIRE(first != std::string::npos);
        CHECK(log.find(said, first + 1) == std::string::npos);
    }
}

TEST_CASE("prefetch: a film that did not come is fetched again", "[threads]")
{
    listed x("/a/one\n", 100 << 20, USEC_PER_SEC / 10);
    x.wait_taken(1);
    store_fetch *fetch = store_film_fetch(x.films[0]);
    fetch->tries = 2;
    fetch->after = USEC_NEVER;
    x.wait_taken(2);
    CHECK(fetch->is_wanted);
    CHECK(fetch->tries == 0);
    CHECK(fetch->after == 0);
}

TEST_CASE("prefetch: a film that is larger than the cache", "[threads]")
{
    listed x("/a/one\n/a/two\n", 100000);
    x.wait_taken(2);
    for (store_film *f : x.films)
        CHECK_FALSE(store_film_fetch(f)->is_wanted);
}

TEST_CASE("prefetch: a file that cannot be read")
{
    temp_folder folder;
    std::string file = folder / "none";
    prefetch_config of = {nullptr, file.c_str(), nullptr, nullptr, nullptr, 0};
    CHECK(prefetch_new(&of) == nullptr);
}
