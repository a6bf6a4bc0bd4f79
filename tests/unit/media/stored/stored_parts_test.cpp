// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <unistd.h>
#include <vector>

#include "common/base/err.h"
#include "media/stored/stored_parts.h"
#include "tests/unit/temp_folder.hpp"

namespace
{

struct parts {
    temp_folder around;
    std::string folder = around.path + "/film.weir.part";
    int lock = -1;

    ~parts()
    {
        close(lock);
    }
    int open(const char *plan)
    {
        close(lock);
        lock = stored_parts_open(folder.c_str(), plan);
        return lock < 0 ? lock : 0;
    }
    bool has(int64_t part)
    {
        return stored_parts_has(folder.c_str(), part);
    }
    int make(int64_t part, const std::vector<std::string> &records, bool good = true)
    {
        FILE *f = stored_part_begin(folder.c_str(), part);
        REQUIRE(f);
        CHECK_FALSE(has(part)); // not before its end
        int64_t at = 100;
        for (const std::string &text : records) {
            stored_record r = {static_cast<uint32_t>(text.size()), 1, at++};
            REQUIRE(stored_part_put(f, &r, text.data()) == 0);
        }
        return stored_part_end(f, folder.c_str(), part, good);
    }
    size_t files()
    {
        auto all = std::filesystem::directory_iterator(folder);
        return static_cast<size_t>(std::distance(begin(all), end(all)));
    }
};

} // namespace

TEST_CASE("stored_parts: a part is read as it was written")
{
    parts p;
    REQUIRE(p.open("a plan") == 0);
    for (int64_t part : {int64_t{7}, int64_t{STORED_AUDIO}}) {
        REQUIRE(p.make(part, {"first", "", "third"}) == 0);
        CHECK(p.has(part));
        FILE *f = stored_part_read(p.folder.c_str(), part);
        REQUIRE(f);
        int64_t at = 100;
        for (const std::string text : {"first", "", "third"}) {
            stored_record r;
            uint8_t *data;
            REQUIRE(stored_part_next(f, &r, &data) == 0);
            CHECK(r.track == 1);
            CHECK(r.at == at++);
            CHECK(std::string(data, data + r.bytes) == text);
            free(data);
        }
        stored_record r;
        uint8_t *data;
        CHECK(stored_part_next(f, &r, &data) == ERR_END);
        fclose(f);
    }
}

TEST_CASE("stored_parts: a truncated part is reported, and a failed part does not exist")
{
    parts p;
    REQUIRE(p.open("a plan") == 0);
    REQUIRE(p.make(0, {"whole"}) == 0);
    std::filesystem::resize_file(p.folder + "/000000", sizeof(stored_record) + 3);
    FILE *f = stored_part_read(p.folder.c_str(), 0);
    REQUIRE(f);
    stored_record r;
    uint8_t *data;
    CHECK(stored_part_next(f, &r, &data) == ERR_IO);
    fclose(f);

    CHECK(p.make(1, {"of no use"}, false) == ERR_IO);
    CHECK_FALSE(p.has(1));
    CHECK(p.files() == 2); // the plan and part 0
}

TEST_CASE("stored_parts: parts of the same plan are reused, those of another deleted")
{
    parts p;
    REQUIRE(p.open("a plan") == 0);
    for (int64_t part : {int64_t{0}, int64_t{2}, int64_t{1234567}, int64_t{STORED_AUDIO}})
        REQUIRE(p.make(part, {"x"}) == 0); // 1 was not finished
    fclose(stored_part_begin(p.folder.c_str(), 1));
    std::ofstream(p.folder + "/notes.txt") << "somebody else's";

    REQUIRE(p.open("a plan") == 0);
    CHECK((p.has(0) && p.has(2) && p.has(1234567) && p.has(STORED_AUDIO)));
    CHECK_FALSE(p.has(1));

    REQUIRE(p.open("another plan") == 0);
    CHECK_FALSE((p.has(0) || p.has(2) || p.has(1234567) || p.has(STORED_AUDIO)));
    CHECK(p.files() == 2); // the plan and the notes

    stored_parts_remove(p.folder.c_str());
    CHECK(p.files() == 1);
    std::filesystem::remove(p.folder + "/notes.txt");
    stored_parts_remove(p.folder.c_str());
    CHECK_FALSE(std::filesystem::exists(p.folder));
}

TEST_CASE("stored_parts: only one program at a time")
{
    parts first, second;
    second.folder = first.folder;
    REQUIRE(first.open("a plan") == 0);
    REQUIRE(first.make(0, {"x"}) == 0);
    for (const char *plan : {"a plan", "another plan"}) {
        CHECK(second.open(plan) == ERR_IO);
        CHECK(temp_folder::logged().find("another weir-send --prepare") != std::string::npos);
    }
    CHECK(first.has(0));
    close(first.lock);
    first.lock = -1;
    CHECK(second.open("another plan") == 0);
    CHECK_FALSE(first.has(0));
}

TEST_CASE("stored_parts: a symbolic link is refused, not followed")
{
    temp_folder elsewhere;
    const std::string target = elsewhere / "target";
    std::ofstream(target) << "mine";
    auto is_whole = [&] { return elsewhere.read("target") == "mine"; };
    SECTION("the folder")
    {
        parts p;
        std::filesystem::create_symlink(elsewhere.path, p.folder);
        CHECK(p.open("a plan") == ERR_IO);
        CHECK(temp_folder::logged().find("the work file is a symbolic link") != std::string::npos);
    }
    SECTION("the plan")
    {
        parts p;
        std::filesystem::create_directory(p.folder);
        std::filesystem::create_symlink(target, p.folder + "/plan");
        CHECK(p.open("mine") == 0); // the link was removed, as one of another plan's
        CHECK(
            std::filesystem::is_regular_file(std::filesystem::symlink_status(p.folder + "/plan")));
    }
    SECTION("a part")
    {
        parts p;
        REQUIRE(p.open("a plan") == 0);
        std::filesystem::create_symlink(target, p.folder + "/000003.new");
        CHECK_FALSE(stored_part_begin(p.folder.c_str(), 3));
        std::filesystem::create_symlink(target, p.folder + "/000004");
        CHECK_FALSE(stored_part_read(p.folder.c_str(), 4));
        CHECK(temp_folder::logged().find("(remove it)") != std::string::npos);
    }
    CHECK(is_whole());
}
