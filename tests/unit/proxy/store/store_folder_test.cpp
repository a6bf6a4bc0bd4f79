// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/store/store_folder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <set>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tuple>
#include <unistd.h>
#include <vector>

#include "common/base/err.h"
#include "tests/unit/proxy/store/stored_copy.hpp"
#include "tests/unit/temp_folder.hpp"

namespace
{

using place = std::tuple<std::string, int, int64_t>; // key, track, group

struct entry {
    folder_film film;
    explicit entry(int number)
    {
        sdp description = film_sdp("bytes=1 mtime=2");
        REQUIRE(folder_film_init(&film, ("rtsp://a/" + std::to_string(number)).c_str(),
                                 &description) == 0);
    }
    ~entry()
    {
        folder_film_destroy(&film);
    }
    entry(const entry &) = delete;
    entry &operator=(const entry &) = delete;
};

// All films have the same bytes: made once, and kept.
stored_bytes bytes_of_track(const stored_info &info, int64_t group, int track)
{
    static stored_bytes all[FILM_GROUPS][STORED_TRACKS];
    stored_bytes &b = all[group][track];
    if (!b.len)
        REQUIRE(stored_track_write(&info, make_group(&info, group).get(), track, &b) == 0);
    return b;
}

// Stores film after film, until the process is killed: each group in two parts, then verified.
[[noreturn]] void store_films(const std::string &path, int first)
{
    static stored_info info = film_info();
    store_folder *s;
    if (store_folder_open(path.c_str(), true, &s) != 0)
        _exit(1);
    for (int number = first;; number++) {
        entry e(number);
        (void)store_folder_add(s, &e.film);
        for (int64_t group = 0; group < FILM_GROUPS; group++)
            for (int track : {0, 1, (int)STORED_AUDIO_TRACK}) {
                stored_bytes whole = bytes_of_track(info, group, track);
                group_ptr g = make_group(&info, group);
                if (track < 2) {
                    coded_frame_unref(g->at[track][1]);
                    g->at[track][1] = nullptr;
                }
                stored_bytes part;
                (void)stored_track_write(&info, g.get(), track, &part);
                folder_group after = {};
                int err = store_folder_put(s, e.film.key, &info, track, group, part, false, &after);
                if (!err && after.state == GROUP_PART)
                    err =
                        store_folder_put(s, e.film.key, &info, track, group, whole, false, &after);
                if (err || after.state != GROUP_WHOLE ||
                    store_folder_verified(s, e.film.key, track, group) != 0)
                    _exit(2);
                free(part.data);
            }
    }
}

// Stops the child at each system call, begin and end, and kills it at one of these stops.
void kill_after(pid_t child, unsigned stops)
{
    int status;
    REQUIRE(waitpid(child, &status, 0) == child); // it has stopped itself
    for (unsigned i = 0; i < stops && WIFSTOPPED(status); i++) {
        REQUIRE(ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) == 0);
        REQUIRE(waitpid(child, &status, 0) == child);
    }
    REQUIRE(WIFSTOPPED(status)); // it was still storing
    kill(child, SIGKILL);
}

struct found {
    store_folder *s;
    std::set<place> verified;
    int films = 0;
};

void look(void *ctx, folder_film *f)
{
    static stored_info info = film_info();
    auto *all = static_cast<found *>(ctx);
    all->films++;
    for (int track = 0; track < STORED_TRACKS; track++)
        for (int64_t group = 0; f->tracks[track].of && group < f->groups; group++) {
            group_state state = f->tracks[track].of[group].state;
            if (state == GROUP_NONE)
                continue;
            stored_bytes b, whole = bytes_of_track(info, group, track);
            // No damaged file.
            if (store_folder_read(all->s, f->key, track, group, state, &b) != 0)
                FAIL(f->key << " " << track << " " << group);
            if (state != GROUP_PART &&
                (b.len != whole.len || memcmp(b.data, whole.data, b.len) != 0))
                FAIL("a wrong byte: " << f->key << " " << track << " " << group);
            if (state == GROUP_VERIFIED)
                all->verified.insert({f->key, track, group});
            free(b.data);
        }
    folder_film_destroy(f);
}

} // namespace

// WEIR_KILLS=1000 is the whole test.
TEST_CASE("store_folder: killed at any instant, no byte is wrong and nothing complete is lost")
{
    temp_folder folder;
    const char *kills = getenv("WEIR_KILLS");
    std::mt19937 random(19);
    std::set<place> before;
    int films = 0;
    for (int i = 0; i < (kills ? atoi(kills) : 20); i++) {
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0)
                _exit(3);
            raise(SIGSTOP);
            store_films(folder / "cache", films);
        }
        // A number of its system calls decides when it is killed, not this machine's clock.
        kill_after(child, 20 + random() % 600);
        int status;
        REQUIRE(waitpid(child, &status, 0) == child);
        REQUIRE(WIFSIGNALED(status));
        found now = {};
        int err = store_folder_open((folder / "cache").c_str(), true, &now.s);
        REQUIRE(err == 0);
        store_folder_scan(now.s, true, look, &now);
        store_folder_free(now.s);
        CHECK(std::includes(now.verified.begin(), now.verified.end(), before.begin(),
                            before.end())); // what was there stays
        before = now.verified;
        films = now.films;
        bool is_clean = true;
        for (auto &e : std::filesystem::recursive_directory_iterator(folder / "cache"))
            is_clean &= e.path().extension() != ".tmp";
        CHECK(is_clean);
        if (before.size() > 300) { // begin again
            std::filesystem::remove_all(folder / "cache");
            before.clear();
            films = 0;
        }
    }
    CHECK(folder.logged().find("is damaged") == std::string::npos);
}

TEST_CASE("store_folder: a description that cannot be stored is refused")
{
    folder_film film;
    sdp good = film_sdp("v"), s = good;
    CHECK(folder_film_init(&film, "rtsp://a/b", &s) == 0);
    CHECK(film.groups == FILM_GROUPS);
    CHECK(strlen(film.key) == FOLDER_KEY - 1);
    folder_film_destroy(&film);
    auto refused = [&](auto change) {
        s = good;
        change();
        return folder_film_init(&film, "rtsp://a/b", &s) == ERR_UNSUPPORTED;
    };
    CHECK(refused([&] { *s.validator = 0; }));
    CHECK(refused([&] { s.duration = -1; }));
    CHECK(refused([&] { s.duration = 1e9; }));
    CHECK(refused([&] { s.codec = SDP_VP9; }));
    CHECK(refused([&] { s.source = SDP_SOURCE_TEST; }));
    CHECK(refused([&] { s.reorders = false; }));
    CHECK(refused([&] { s.ladder.level_count = 0; }));
    CHECK(refused([&] { // times of so many frames overflow
        s.ladder.source_fps = {1000000000, 999999999};
        s.duration = 1e6;
        for (int i = 0; i < 2; i++) {
            s.ladder.sizes[i].fps = s.ladder.source_fps;
            s.ladder.sizes[i].layers = 1;
        }
        s.ladder.level_count = 2;
        s.ladder.levels[0] = {0, 0, 100000};
        s.ladder.levels[1] = {1, 0, 200000};
    }));
}

TEST_CASE("store_folder: the plan is that of the description as it is kept, in milliseconds")
{
    folder_film film;
    sdp s = film_sdp("v");
    s.duration = 20.0208; // 480 frames; as kept 481, one group more
    s.ladder.source_fps = {24, 1};
    s.ladder.size_count = 1;
    s.ladder.sizes[0] = {64, 48, {24, 1}, 1};
    s.ladder.level_count = 1;
    s.ladder.levels[0] = {0, 0, 100000};
    REQUIRE(folder_film_init(&film, "rtsp://a/b", &s) == 0);
    auto info = std::make_unique<stored_info>();
    REQUIRE(folder_film_info(&film, info.get()) == 0);
    CHECK(film.groups == stored_info_groups(info.get()));
    CHECK(film.groups == 11);
    folder_film_destroy(&film);
}

TEST_CASE("store_folder: a part that comes late leaves a whole group as it is")
{
    temp_folder folder;
    stored_info info = film_info();
    store_folder *s;
    REQUIRE(store_folder_open((folder / "cache").c_str(), true, &s) == 0);
    entry e(1);
    REQUIRE(store_folder_add(s, &e.film) == 0);
    stored_bytes whole = bytes_of_track(info, 0, 1), part, got;
    group_ptr g = make_group(&info, 0);
    coded_frame_unref(g->at[1][1]);
    g->at[1][1] = nullptr;
    REQUIRE(stored_track_write(&info, g.get(), 1, &part) == 0);
    folder_group first = {}, after = {};
    REQUIRE(store_folder_put(s, e.film.key, &info, 1, 0, whole, false, &first) == 0);
    REQUIRE(store_folder_put(s, e.film.key, &info, 1, 0, part, false, &after) == 0);
    CHECK(after.state == GROUP_WHOLE);
    CHECK(after.bytes == first.bytes);
    CHECK(memcmp(&after.digest, &first.digest, sizeof(first.digest)) == 0);
    CHECK(store_folder_read(s, e.film.key, 1, 0, GROUP_PART, &got) == ERR_NOT_FOUND);
    free(part.data);
    store_folder_free(s);
}

TEST_CASE("store_folder: what is no film of its own is left alone, and nothing blocks")
{
    namespace fs = std::filesystem;
    temp_folder folder;
    store_folder *s;
    REQUIRE(store_folder_open((folder / "cache").c_str(), true, &s) == 0);
    fs::create_directory(folder / "mine");
    folder.write("mine/film", "of a person");
    folder.write("mine/0-000000", "of a person");
    fs::create_directory_symlink(folder / "mine",
                                 folder / "cache/0123456789abcdef0123456789abcdef");
    std::string pipe = folder / "cache/fedcba9876543210fedcba9876543210";
    fs::create_directory(pipe);
    REQUIRE(mkfifo((pipe + "/film").c_str(), 0600) == 0);
    std::string odd = folder / "cache/00000000000000000000000000000000";
    fs::create_directories(odd + "/film"); // reading it fails: it may be a film some time
    store_folder_scan(
        s, true, [](void *, folder_film *) { FAIL(); }, nullptr);
    CHECK(folder.read("mine/film") == "of a person");
    CHECK(folder.read("mine/0-000000") == "of a person");
    CHECK_FALSE(fs::exists(pipe));
    CHECK(fs::exists(odd));
    store_folder_free(s);
}
