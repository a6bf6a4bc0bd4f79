// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/record_past.h"

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>

#include "common/base/err.h"
#include "media/record/recording.h"
#include "tests/support/coded_stream.hpp"
#include "tests/support/reread.hpp"

namespace
{

const usec_t BEGIN = 1700000000500000LL; // wall clock of the first frame
const char PATTERN[] = "/%Y-%m-%d_%H-%M-%S.mkv";

usec_t wall_of(int64_t number)
{
    return BEGIN + usec_of_frames(number, 30, 1);
}

// Records frames at 30 frames/s in files of two seconds, with a key frame each second.
void record(const std::string &folder, int64_t from, int frames, usec_t audio_ahead = 0)
{
    ladder l = one_size(64, 48, 30, 2, {{0, 60000}, {1, 100000}});
    encoder_ptr encoder = make_encoder(l);
    std::string pattern = folder + PATTERN;
    recording_config config{};
    config.pattern = pattern.c_str();
    config.segment = 2 * USEC_PER_SEC;
    config.key_every = USEC_PER_SEC;
    recording *r = recording_new(&config);
    REQUIRE(r);
    recording_describe(r, true, {30, 1});
    for (int i = 0; i < frames; i++) {
        picture_ptr p = draw(l, 0, i);
        coded_frame *f = nullptr;
        REQUIRE(encoder_encode(encoder.get(), p.get(), &f) == 0);
        usec_t time = usec_of_frames(i, 30, 1);
        const recorded_frame of = {f->number, f->depends_on,     f->size_id, f->key,  time,
                                   time,      wall_of(from + i), f->data,    f->bytes};
        if (recording_frame(r, &of, time))
            encoder_request_key(encoder.get(), -1);
        const uint8_t opus[] = {0xfc, 0xff, 0xfe};
        usec_t heard = time + audio_ahead;
        recording_audio(r, heard, heard, opus, sizeof(opus));
        coded_frame_unref(f);
    }
    CHECK(recording_end(r, 60 * USEC_PER_SEC) == 0);
}

struct reader {
    std::string pattern;
    record_past *p;

    explicit reader(const std::string &folder) : pattern(folder + PATTERN)
    {
        p = record_past_new(pattern.c_str());
        REQUIRE(p);
    }
    ~reader()
    {
        record_past_free(p);
    }
    reader(const reader &) = delete;
    reader &operator=(const reader &) = delete;

    // Returns the number of the first frame; -1: none.
    int64_t find(usec_t wall)
    {
        record_group *g;
        if (record_past_find(p, wall) != 0)
            return -1;
        REQUIRE(record_past_read(p, &g) == 0);
        REQUIRE(g->count > 0);
        int first = 0; // audio may come before the key frame
        while (g->items[first].is_audio)
            REQUIRE(++first < g->count);
        CHECK(g->items[first].key);
        int64_t number = (g->items[first].wall - BEGIN + 1000) * 30 / USEC_PER_SEC;
        record_group_free(g);
        return number;
    }
};

} // namespace

TEST_CASE("record past: finds the key frame up to a time, and reads on over the ends of files",
          "[threads]")
{
    scratch_folder folder;
    record(folder.path, 0, 200);
    reader r(folder.path);
    for (int64_t target = 0; target < 200; target += 7) {
        int64_t found = r.find(wall_of(target) + 2000);
        CHECK(found <= target);
        CHECK(found > target - 35); // a second, and the frame of the request
    }
    CHECK(r.find(0) == 0); // older than all
    CHECK(r.find(wall_of(1000000)) > 160);

    CHECK(r.find(wall_of(35)) <= 35);
    REQUIRE(record_past_find(r.p, 0) == 0);
    int frames = 0, audio = 0, groups = 0;
    usec_t last = 0;
    record_group *g;
    while (record_past_read(r.p, &g) == 0) {
        groups++;
        bool is_first = true;
        for (int i = 0; i < g->count; i++) {
            const record_past_item &item = g->items[i];
            (item.is_audio ? audio : frames)++;
            if (item.is_audio)
                continue;
            CHECK(item.key == is_first);
            is_first = false;
            CHECK(item.wall > last);
            CHECK(std::abs(item.wall - wall_of(frames - 1)) <= 1000); // times are in milliseconds
            CHECK(std::string((const char *)item.data, 4) == std::string("\0\0\0\1", 4));
            last = item.wall;
        }
        record_group_free(g);
    }
    CHECK(frames == 200);
    CHECK(audio > 190);
    CHECK(groups >= 6);
    CHECK(record_past_read(r.p, &g) == ERR_AGAIN);
}

TEST_CASE("record past: the file follows whose first picture is before this one's last audio",
          "[threads]")
{
    scratch_folder folder;
    record(folder.path, 0, 200, 60 * USEC_PER_MSEC);
    reader r(folder.path);
    REQUIRE(record_past_find(r.p, 0) == 0);
    int frames = 0;
    record_group *g;
    while (record_past_read(r.p, &g) == 0) {
        for (int i = 0; i < g->count; i++)
            frames += !g->items[i].is_audio;
        record_group_free(g);
    }
    CHECK(frames == 200);
}

namespace
{

struct span {
    usec_t from, to;
};

std::vector<span> spans(const std::string &folder, usec_t from, usec_t to, usec_t apart)
{
    std::vector<span> out;
    reader r(folder);
    CHECK(record_past_spans(
              r.p, from, to, apart,
              [](void *ctx, usec_t a, usec_t b) {
                  static_cast<std::vector<span> *>(ctx)->push_back({a, b});
                  return true;
              },
              &out) == 0);
    return out;
}

} // namespace

TEST_CASE("record past: spans without a gap, within two times", "[threads]")
{
    scratch_folder folder;
    CHECK(spans(folder.path, 0, wall_of(100000), 0).empty());
    record(folder.path, 0, 200);
    record(folder.path, 300, 100);   // a gap of 3 s
    record(folder.path, 30000, 100); // one of 16 minutes
    std::vector<span> all = spans(folder.path, 0, wall_of(100000), 0);
    REQUIRE(all.size() == 3);
    const int64_t want[][2] = {{0, 200}, {300, 400}, {30000, 30100}}; // frames
    for (size_t i = 0; i < 3; i++) {
        CHECK(std::abs(all[i].from - wall_of(want[i][0])) <= 1000);
        CHECK(all[i].to <= wall_of(want[i][1]));
        CHECK(all[i].to > wall_of(want[i][1]) - USEC_PER_SEC / 2);
    }
    std::vector<span> some = spans(folder.path, wall_of(100), wall_of(350), 0);
    REQUIRE(some.size() == 2);
    CHECK(some[0].from == wall_of(100));
    CHECK(some[1].to == wall_of(350));
    // Short gaps are not looked for.
    CHECK(spans(folder.path, 0, wall_of(100000), 600 * USEC_PER_SEC).size() == 2);
    CHECK(spans(folder.path, wall_of(10000), wall_of(20000), 0).empty());
    reader r(folder.path);
    CHECK(record_past_spans(
              r.p, 0, wall_of(100000), 0, [](void *, usec_t, usec_t) { return false; }, nullptr) ==
          ERR_END);
}

TEST_CASE("record past: a file that was cut off, a gap, and files that are no recordings",
          "[threads]")
{
    scratch_folder folder;
    record(folder.path, 0, 50);
    for (const auto &e : std::filesystem::directory_iterator(folder.path)) {
        std::filesystem::resize_file(e.path(), std::filesystem::file_size(e.path()) * 4 / 5);
        auto written = std::filesystem::last_write_time(e.path()); // else it may grow
        std::filesystem::last_write_time(e.path(), written - std::chrono::minutes(1));
    }
    record(folder.path, 30000, 50);
    for (const char *name : {"/2001-01-01_00-00-00.mkv", "/2100-01-01_00-00-00.mkv"})
        std::ofstream(folder.path + name) << std::string(1000, 'x');
    reader r(folder.path);
    CHECK(r.find(0) == 0);
    CHECK(r.find(wall_of(15000)) <= 50);
    record_group *g = nullptr;
    int64_t newest = 0;
    while (record_past_read(r.p, &g) == 0) {
        newest = (g->items[g->count - 1].wall - BEGIN) * 30 / USEC_PER_SEC;
        record_group_free(g);
    }
    CHECK(newest >= 30030);
    CHECK(r.find(wall_of(1000000000)) >= 30000);
}

TEST_CASE("record past: no recording")
{
    scratch_folder folder;
    record_group *g;
    reader r(folder.path);
    CHECK(record_past_find(r.p, BEGIN) == ERR_NOT_FOUND);
    CHECK(record_past_read(r.p, &g) == ERR_NOT_FOUND);
    std::ofstream(folder.path + "/2001-01-01_00-00-00.mkv") << "x";
    CHECK(record_past_find(r.p, BEGIN) == ERR_NOT_FOUND);
    reader none(folder.path + "/missing");
    CHECK(record_past_find(none.p, BEGIN) == ERR_NOT_FOUND);
}

namespace
{

// A time zone for the rest of the test.
struct zone {
    std::string before = getenv("TZ") ? getenv("TZ") : "";
    bool had = getenv("TZ");
    explicit zone(const char *name)
    {
        set(name);
    }
    ~zone()
    {
        if (had)
            setenv("TZ", before.c_str(), 1);
        else
            unsetenv("TZ");
        tzset();
    }
    static void set(const char *name)
    {
        setenv("TZ", name, 1);
        tzset();
    }
};

// Reads from a frame on to the end. Returns how many came; each is later than the one before.
int read_ascending(reader &r, int64_t from)
{
    record_group *g;
    int frames = 0;
    usec_t last = wall_of(from) - 2 * USEC_PER_SEC;
    REQUIRE(record_past_find(r.p, wall_of(from) + 2000) == 0);
    while (record_past_read(r.p, &g) == 0) {
        for (int i = 0; i < g->count; i++) {
            if (g->items[i].is_audio)
                continue;
            CHECK(g->items[i].wall > last);
            last = g->items[i].wall;
            frames++;
        }
        record_group_free(g);
    }
    return frames;
}

const int64_t HOUR = 3600 * 30; // frames

} // namespace

TEST_CASE("record past: an hour that the clocks show twice is two hours", "[threads]")
{
    // Central Europe, whose last summer hour ends at 01:00 UTC.
    zone berlin("CET-1CEST,M3.5.0,M10.5.0/3");
    scratch_folder folder;
    const int64_t first = (1792886400 - BEGIN / USEC_PER_SEC) * 30; // 2026-10-25 00:00 UTC
    record(folder.path, first, 200);
    record(folder.path, first + HOUR, 200);
    reader r(folder.path);
    CHECK(read_ascending(r, first) == 400);
    CHECK(read_ascending(r, first + HOUR) == 200);
    CHECK(r.find(wall_of(first + HOUR / 2)) < first + 200);
    CHECK(r.find(wall_of(first + HOUR + 100) + 2000) > first + HOUR);
}

TEST_CASE("record past: a machine that moved to another time zone", "[threads]")
{
    zone east("EAST-9");
    scratch_folder folder;
    record(folder.path, 0, 200);
    zone::set("UTC0"); // so the names of what follows are of eight hours before
    record(folder.path, HOUR, 200);
    reader r(folder.path);
    CHECK(read_ascending(r, 0) == 400);
    CHECK(read_ascending(r, HOUR) == 200);
}

TEST_CASE("record past: after a clock that was set back no time is played twice", "[threads]")
{
    scratch_folder folder;
    record(folder.path, 0, 300);   // 10 s
    record(folder.path, 150, 300); // again from its middle on
    reader r(folder.path);
    int frames = read_ascending(r, 0);
    CHECK(frames >= 400);
    CHECK(frames <= 450);
    CHECK(r.find(wall_of(440) + 2000) > 400);
}

TEST_CASE("record past: a clock that was set forward leaves a gap", "[threads]")
{
    scratch_folder folder;
    record(folder.path, 0, 100);
    record(folder.path, 24 * HOUR, 100);
    reader r(folder.path);
    CHECK(read_ascending(r, 0) == 200);
    CHECK(r.find(wall_of(HOUR)) < 100);
}
