// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/record_clip.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
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
void record(const std::string &folder, int64_t from, int frames)
{
    ladder l = one_size(64, 48, 30, 1, {{0, 100000}});
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
        usec_t ahead = time + 60 * USEC_PER_MSEC; // a file ends with audio
        recording_audio(r, ahead, ahead, opus, sizeof(opus));
        coded_frame_unref(f);
    }
    CHECK(recording_end(r, 60 * USEC_PER_SEC) == 0);
}

struct clip {
    int err = 0;
    int pieces = 0;
    std::string bytes;

    // Of the frames `from` to `to`.
    clip(const std::string &folder, int64_t from, int64_t to)
    {
        std::string pattern = folder + PATTERN;
        record_clip *c = record_clip_new(pattern.c_str(), wall_of(from), wall_of(to));
        REQUIRE(c);
        uint8_t *data = nullptr;
        size_t len = 0;
        for (; (err = record_clip_next(c, &data, &len)) == 0; pieces++) {
            bytes.append(reinterpret_cast<char *>(data), len);
            free(data);
        }
        CHECK(record_clip_next(c, &data, &len) == err);
        record_clip_free(c);
    }

    reread_file read(const std::string &folder) const
    {
        std::string path = folder + "/clip.mp4";
        std::ofstream(path, std::ios::binary) << bytes;
        return reread_file(path);
    }
};

void check_ascending(const std::vector<reread_file::packet> &packets)
{
    for (size_t i = 1; i < packets.size(); i++)
        CHECK(packets[i].msec > packets[i - 1].msec);
}

} // namespace

TEST_CASE("record clip: what was recorded between two times, from key frame to key frame")
{
    scratch_folder folder;
    record(folder.path, 0, 200);
    clip all(folder.path, 0, 1000);
    CHECK(all.err == ERR_END);
    CHECK(all.pieces >= 6); // never more than a group at a time
    reread_file whole = all.read(folder.path);
    CHECK(whole.video.size() == 200);
    CHECK(whole.decoded == 200);
    CHECK(whole.has_audio);
    CHECK(whole.audio.size() > 190);
    CHECK(whole.width == 64);
    CHECK(whole.tags["creation_time"] == "2023-11-14T22:13:20.000000Z");
    check_ascending(whole.video);
    check_ascending(whole.audio);

    for (int64_t from : {0, 40, 95}) {
        clip part(folder.path, from, from + 60);
        CHECK(part.err == ERR_END);
        reread_file file = part.read(folder.path);
        CHECK(file.video[0].key);
        CHECK(file.decoded == file.video.size());
        CHECK(file.video.size() > 55);      // both ends lie at a key frame
        CHECK(file.video.size() < 60 + 66); // of at most 33 frames away
        check_ascending(file.video);
    }
}

TEST_CASE("record clip: a gap is cut out, and nothing is an error")
{
    scratch_folder folder;
    record(folder.path, 0, 60);
    record(folder.path, 30000, 60);
    clip both(folder.path, 0, 40000);
    CHECK(both.err == ERR_END);
    reread_file file = both.read(folder.path);
    CHECK(file.decoded == 120);
    CHECK(file.video.back().msec * 30 > 118 * 1000);
    CHECK(file.video.back().msec * 30 < 125 * 1000);
    check_ascending(file.video);
    CHECK(clip(folder.path, 10000, 20000).err == ERR_NOT_FOUND);
    CHECK(clip(folder.path, 50000, 60000).err == ERR_NOT_FOUND);
    scratch_folder empty;
    CHECK(clip(empty.path, 0, 100).err == ERR_NOT_FOUND);
}
