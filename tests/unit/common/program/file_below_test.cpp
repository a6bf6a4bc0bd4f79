// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/program/file_below.h"
#include "tests/unit/temp_folder.hpp"

namespace
{

// root/ has the films, next to it is what nobody shall read.
struct tree {
    temp_folder folder;
    std::string root = folder / "root";

    tree()
    {
        for (const char *name :
             {"root", "root/sub", "root/sub/deep", "root/.hidden", "outside", "root2"})
            REQUIRE(mkdir((folder / name).c_str(), 0700) == 0);
        for (const char *name : {"root/a.srt", "root/sub/deep/b.srt", "root/.hidden/c.srt",
                                 "root/.d.srt", "outside/private.srt", "root2/e.srt"})
            folder.write(name, name);
        link("root/inside.srt", "a.srt");
        link("root/sub/up.srt", "../a.srt");
        link("root/absolute.srt", folder / "root/a.srt");
        link("root/over.srt", "../root/a.srt"); // leaves the root on its way, and comes back
        link("root/other", "sub/deep");
        link("root/out.srt", "../outside/private.srt");
        link("root/out_absolute.srt", folder / "outside/private.srt");
        link("root/out_folder", "../outside");
        link("root/out_beside.srt", "../root2/e.srt");
        link("root/twice.srt", "out.srt");
        link("root/to_hidden.srt", ".d.srt");
        link("root/to_hidden_folder", ".hidden");
        link("root/device.srt", "/dev/zero");
        link("root/process.srt", "/proc/self/environ");
        link("root/descriptor", "/proc/self/cwd");
        link("root/loop.srt", "loop.srt");
        link("root/nowhere.srt", "none.srt");
        REQUIRE(mkfifo((folder / "root/fifo.srt").c_str(), 0600) == 0);
    }
    void link(const char *name, const std::string &to)
    {
        REQUIRE(symlink(to.c_str(), (folder / name).c_str()) == 0);
    }
    // The text of a file that was opened, "err -1" if it was not.
    static std::string text_of(int fd)
    {
        char text[64] = "";
        if (fd < 0)
            return "err " + std::to_string(fd);
        CHECK(read(fd, text, sizeof(text) - 1) >= 0);
        close(fd);
        return text;
    }
    std::string open(const char *path)
    {
        struct stat st = {};
        std::string text = text_of(file_below_open(root.c_str(), (folder / path).c_str(), &st));
        if (text.compare(0, 3, "err") != 0)
            CHECK(st.st_size == (off_t)text.size());
        return text;
    }
};

} // namespace

TEST_CASE("file_below: links may lead to another place below the root, not out of it")
{
    tree t;
    const std::string none = "err " + std::to_string(ERR_NOT_FOUND),
                      other = "err " + std::to_string(ERR_UNSUPPORTED);
    struct {
        const char *path;
        std::string text;
    } const table[] = {
        {"root/a.srt", "root/a.srt"},
        {"root/sub/deep/b.srt", "root/sub/deep/b.srt"},
        {"root/sub/../a.srt", "root/a.srt"},
        {"root/inside.srt", "root/a.srt"},
        {"root/sub/up.srt", "root/a.srt"},
        {"root/absolute.srt", "root/a.srt"},
        {"root/over.srt", "root/a.srt"},
        {"root/other/b.srt", "root/sub/deep/b.srt"},
        {"root/out.srt", none},
        {"root/out_absolute.srt", none},
        {"root/out_folder/private.srt", none},
        {"root/out_beside.srt", none},
        {"root/twice.srt", none},
        {"root/../outside/private.srt", none},
        {"outside/private.srt", none},
        {"root2/e.srt", none},
        {"root/.d.srt", none},
        {"root/.hidden/c.srt", none},
        {"root/to_hidden.srt", none},
        {"root/to_hidden_folder/c.srt", none},
        {"root/device.srt", none},
        {"root/process.srt", none},
        {"root/loop.srt", none},
        {"root/nowhere.srt", none},
        {"root/none.srt", none},
        {"root", none},
        {"root/sub", other},
        {"root/fifo.srt", other}, // returns: opening it would block
    };
    for (const auto &row : table) {
        INFO(row.path);
        CHECK(t.open(row.path) == row.text);
    }
}

TEST_CASE("file_below: of a file that the user named, links may lead anywhere")
{
    tree t;
    struct stat st;
    auto open = [&](const char *path) {
        return tree::text_of(file_below_open(nullptr, (t.folder / path).c_str(), &st));
    };
    CHECK(open("root/out.srt") == "outside/private.srt");
    CHECK(open("root/.d.srt") == "root/.d.srt");
    CHECK(open("root/fifo.srt") == "err " + std::to_string(ERR_UNSUPPORTED));
    CHECK(open("root/device.srt") == "err " + std::to_string(ERR_UNSUPPORTED));
    CHECK(open("root/none.srt") == "err " + std::to_string(ERR_NOT_FOUND));
}

TEST_CASE("file_below: without openat2 no link is followed, nor '..'")
{
    tree t;
    auto walk = [&](const char *below) {
        return tree::text_of(file_below_walk(t.root.c_str(), below));
    };
    CHECK(walk("a.srt") == "root/a.srt");
    CHECK(walk("sub/deep/b.srt") == "root/sub/deep/b.srt");
    // A name that was good when it was checked, and is a link when it is opened.
    for (const char *below : {"inside.srt", "absolute.srt", "out.srt", "out_folder/private.srt",
                              "other/b.srt", "descriptor/a.srt", "../outside/private.srt",
                              "sub/../a.srt", "/a.srt", "sub//deep/b.srt", "", "none.srt"}) {
        INFO(below);
        CHECK(walk(below) == "err -1");
    }
    // The root may be the root folder.
    CHECK(tree::text_of(file_below_walk("/", (t.root + "/a.srt").c_str() + 1)) == "root/a.srt");
    struct stat st;
    CHECK(tree::text_of(file_below_open("/", (t.root + "/a.srt").c_str(), &st)) == "root/a.srt");
}
