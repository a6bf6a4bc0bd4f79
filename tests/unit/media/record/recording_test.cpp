// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/recording.h"

#include <filesystem>
#include <fstream>

#include "tests/support/coded_stream.hpp"
#include "tests/support/reread.hpp"

namespace fs = std::filesystem;

namespace
{

const usec_t PATIENCE = 600 * USEC_PER_SEC;

// Coded frames at 30 frames/s, recorded as fast as the disk writes.
struct rig {
    scratch_folder folder;
    ladder l = one_size(64, 48, 30, 2, {{0, 60000}, {1, 100000}});
    encoder_ptr encoder = make_encoder(l);
    recording *r;
    int64_t number = 0;

    explicit rig(const char *name, usec_t segment = 0, const char *keep = nullptr)
    {
        recording_config config{};
        std::string pattern = folder.path + "/" + name;
        config.pattern = pattern.c_str();
        config.title = "a \"title\"";
        config.segment = segment;
        if (keep)
            REQUIRE(record_keep_parse(keep, &config.keep) == 0);
        r = recording_new(&config);
        REQUIRE(r);
        recording_describe(r, true, {30, 1});
    }
    ~rig()
    {
        if (r)
            recording_end(r, PATIENCE);
    }
    rig(const rig &) = delete;
    rig &operator=(const rig &) = delete;

    int end()
    {
        int err = recording_end(r, PATIENCE);
        r = nullptr;
        return err;
    }
    usec_t time() const
    {
        return usec_of_frames(number, 30, 1);
    }
    // Records a frame, and audio of the same time. Returns true if a key frame is requested.
    bool give(bool lose = false)
    {
        picture_ptr p = draw(l, 0, number);
        coded_frame *f = nullptr;
        REQUIRE(encoder_encode(encoder.get(), p.get(), &f) == 0);
        REQUIRE(f);
        const recorded_frame of = {f->number, f->depends_on,      f->size_id, f->key,  time(),
                                   time(),    1700000000000000LL, f->data,    f->bytes};
        bool wants = !lose && recording_frame(r, &of, time());
        const uint8_t opus[] = {0xfc, 0xff, 0xfe};
        recording_audio(r, time() + 1000, time() + 1000, opus, sizeof(opus));
        coded_frame_unref(f);
        number++;
        return wants;
    }
    void key()
    {
        encoder_request_key(encoder.get(), -1);
    }
    std::string path(const char *name) const
    {
        return folder.path + "/" + name;
    }
};

} // namespace

TEST_CASE("recording: frames and audio are read back as they were", "[threads]")
{
    rig s("a.mkv");
    for (int i = 0; i < 60; i++)
        s.give();
    CHECK(s.end() == 0);
    reread_file f(s.path("a.mkv"));
    CHECK(f.width == 64);
    CHECK(f.height == 48);
    CHECK(f.has_audio);
    CHECK(f.tags["title"] == "a \"title\"");
    CHECK(f.tags["creation_time"] == "2023-11-14T22:13:20.000000Z");
    REQUIRE(f.video.size() == 60);
    CHECK(f.audio.size() == 60);
    CHECK(f.video[0].key);
    CHECK(f.decoded == 60);
    for (int i = 0; i < 60; i++) {
        CHECK(f.video[(size_t)i].msec == (i * 1000 + 15) / 30);
        CHECK(f.audio[(size_t)i].msec == (i * 1000 + 15) / 30 + 1);
    }
    CHECK(f.duration == Approx(2).margin(0.05));
}

TEST_CASE("recording: a segment begins with a key frame, and the next goes on where it ended",
          "[threads]")
{
    rig s("a-%Y.mkv", USEC_PER_SEC);
    int asked = 0;
    for (int i = 0; i < 75; i++)
        if (s.give()) {
            asked++;
            s.key();
        }
    CHECK(asked == 2);
    CHECK(s.end() == 0);
    size_t frames = 0;
    for (const char *name : {"a-2023.mkv", "a-2023+2.mkv", "a-2023+3.mkv"}) {
        reread_file f(s.path(name));
        REQUIRE_FALSE(f.video.empty());
        CHECK(f.video[0].key);
        CHECK(f.video[0].msec == 0);
        CHECK(f.decoded == f.video.size());
        frames += f.video.size();
    }
    CHECK(frames == 75);
}

TEST_CASE("recording: what depends on a lost frame is left out", "[threads]")
{
    rig s("a.mkv");
    for (int i = 0; i < 10; i++)
        s.give();
    s.give(true); // T0: later frames depend on it
    bool asked = false;
    for (int i = 0; i < 40 && !asked; i++)
        asked = s.give();
    CHECK(asked);
    s.key();
    for (int i = 0; i < 10; i++)
        s.give();
    CHECK(s.end() == 0);
    reread_file f(s.path("a.mkv"));
    CHECK(f.decoded == f.video.size());
    CHECK(f.video.size() >= 18);
    CHECK(f.video.size() < 24);
}

TEST_CASE("recording: a break ends the file", "[threads]")
{
    rig s("a.mkv");
    for (int i = 0; i < 10; i++)
        s.give();
    recording_break(s.r);
    s.key();
    for (int i = 0; i < 10; i++)
        s.give();
    CHECK(s.end() == 0);
    CHECK(reread_file(s.path("a.mkv")).duration > 0);
    CHECK(reread_file(s.path("a+2.mkv")).decoded > 0);
}

TEST_CASE("recording: without a key frame there is no file", "[threads]")
{
    rig s("a.mkv");
    s.give(true);
    for (int i = 0; i < 10; i++)
        s.give();
    CHECK(s.end() == 0);
    CHECK(fs::is_empty(s.folder.path));
}

TEST_CASE("recording: names that are taken, and a folder that goes away", "[threads]")
{
    rig s("a.mkv");
    std::ofstream(s.path("a.mkv")) << "mine";
    fs::create_directory(s.path("a+2.mkv"));
    fs::create_symlink("nothing", s.path("a+3.mkv"));
    SECTION("the next free name is used")
    {
        s.give();
        CHECK(s.end() == 0);
        CHECK(fs::file_size(s.path("a.mkv")) == 4);
        CHECK(fs::is_symlink(s.path("a+3.mkv")));
        CHECK(reread_file(s.path("a+4.mkv")).video.size() == 1);
    }
    SECTION("an error")
    {
        fs::remove_all(s.folder.path);
        s.give();
        CHECK(s.end() == ERR_IO);
    }
}

TEST_CASE("recording_check: the folder must exist")
{
    scratch_folder folder;
    CHECK(recording_check("--record", (folder.path + "/a.mkv").c_str()) == 0);
    CHECK(recording_check("--record", (folder.path + "/b/a.mkv").c_str()) == ERR_IO);
    CHECK(recording_check("--record", (std::string(5000, 'a') + "/a.mkv").c_str()) == ERR_IO);
}
