// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/output_files.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <sys/stat.h>

#include "common/base/err.h"
#include "tests/support/qoe_session.hpp"
#include "tests/unit/temp_folder.hpp"

namespace
{

using picture_pointer = std::unique_ptr<picture, void (*)(picture *)>;

picture_pointer grey_picture()
{
    picture_pointer p(picture_new(64, 36), picture_unref);
    for (int i = 0; i < 3; i++) {
        for (int y = 0; y < (i ? 18 : 36); y++)
            std::fill_n(p->plane[i] + y * p->stride[i], i ? 32 : 64, (uint8_t)128);
    }
    return p;
}

} // namespace

TEST_CASE("output_files: a file that cannot be written is named before the session begins")
{
    temp_folder folder;
    std::string fifo = folder / "fifo", absent = folder / "no/where.png",
                good = folder / "good.png",
                path_too_long = folder / std::string(5000, 'x') + "/a.png";
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    struct {
        const char *play_options::*option;
        std::string path;
        std::string logged; // empty: the file can be written
    } rows[] = {
        {&play_options::report, good, ""},
        {&play_options::snapshot, good, ""},
        {&play_options::contact_sheet, good, ""},
        {&play_options::events, good, ""},
        {&play_options::report, fifo, "--report '" + fifo + "': is not a regular file"},
        {&play_options::snapshot, folder.path, "--snapshot '" + folder.path + "': is not"},
        {&play_options::contact_sheet, absent,
         "--contact-sheet '" + absent + "': cannot write in its directory"},
        {&play_options::report, path_too_long, "--report '" + folder.path},
        {&play_options::events, absent, "--events '" + absent + "': "},
    };
    for (const auto &row : rows) {
        INFO(row.path.substr(0, 100));
        temp_folder::forget_logged();
        play_options o = {};
        o.*row.option = row.path.c_str();
        FILE *events = nullptr;
        CHECK(output_files_open(&o, &events) == (row.logged.empty() ? 0 : ERR_IO));
        CHECK((events != nullptr) == (row.option == &play_options::events && row.logged.empty()));
        if (events)
            fclose(events);
        if (row.logged.empty())
            CHECK(temp_folder::logged().empty());
        else
            CHECK(temp_folder::logged().find(row.logged) != std::string::npos);
    }
}

TEST_CASE("output_files: the requested files are written, as far as there is content")
{
    temp_folder folder;
    std::string report = folder / "r.json", snapshot = folder / "s.png",
                sheet_path = folder / "c.png";
    qoe_session::pointer q = qoe_session::watched();
    qoe_json figures;
    qoe_read(q.get(), &figures, 5700 * qoe_session::ms);
    std::unique_ptr<contact_sheet, void (*)(contact_sheet *)> sheet(contact_sheet_new(),
                                                                    contact_sheet_free);
    play_options o = {};
    o.report = report.c_str();
    o.snapshot = snapshot.c_str();
    o.contact_sheet = sheet_path.c_str();

    // No picture was shown.
    CHECK(output_files_write(&o, &figures, sheet.get(), nullptr) == 0);
    CHECK(folder.read("r.json").find("weir.qoe/1") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(snapshot));
    CHECK_FALSE(std::filesystem::exists(sheet_path));

    picture_pointer p = grey_picture();
    contact_sheet_add(sheet.get(), p.get(), 0);
    CHECK(output_files_write(&o, &figures, sheet.get(), p.get()) == 0);
    CHECK(folder.read("s.png").substr(1, 3) == "PNG");
    CHECK(folder.read("c.png").substr(1, 3) == "PNG");

    // One file fails; the others are written all the same.
    std::filesystem::remove(snapshot);
    std::string nowhere = folder / "no/where.json";
    o.report = nowhere.c_str();
    CHECK(output_files_write(&o, &figures, sheet.get(), p.get()) == ERR_IO);
    CHECK(std::filesystem::exists(snapshot));

    play_options nothing = {};
    CHECK(output_files_write(&nothing, &figures, nullptr, p.get()) == 0);
}
