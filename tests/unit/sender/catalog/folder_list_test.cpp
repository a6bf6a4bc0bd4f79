// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "sender/catalog/folder_list.h"

#include "common/base/usec.h"
#include "tests/support/clip.h"

namespace
{

struct folder {
    clip_folder dir;
    folder_list *list = nullptr;
    media_guard *guard = media_guard_new(USEC_NEVER);
    char text[4096];

    void put(const char *name)
    {
        clip c;
        c.pts = steady(25);
        clip_write(c, dir / "clip.mkv");
        std::filesystem::rename(dir / "clip.mkv", dir / name);
    }
    std::string make(usec_t budget = 60 * USEC_PER_SEC, usec_t each = 60 * USEC_PER_SEC)
    {
        if (!list)
            list = folder_list_new(std::filesystem::canonical(dir.path).c_str());
        folder_list_make(list, text, sizeof(text), budget, each, guard);
        return text;
    }
    ~folder()
    {
        folder_list_free(list);
        media_guard_unref(guard);
    }
};

} // namespace

TEST_CASE("folder_list: films with their properties; files that cannot be requested are omitted")
{
    folder f;
    f.put("a.mkv");
    f.put("new\nline.mkv");
    f.put(".hidden.mkv");
    f.put("other.txt");
    std::filesystem::create_symlink(".hidden.mkv", f.dir / "b.mkv");
    std::filesystem::create_symlink("a.mkv", f.dir / "c.mkv");
    std::ofstream(f.dir / "text.mp4") << "#EXTM3U\n";
    CHECK(f.make() == "/a.mkv\t1.0\t96x64\r\n/c.mkv\t1.0\t96x64\r\n");
}

TEST_CASE("folder_list: a walk has the films that may be offered, in order, until its end")
{
    folder f;
    const std::filesystem::path dir = f.dir.path;
    std::filesystem::create_directories(dir / "b" / ".c");
    std::filesystem::create_directories(dir / "x.mkv.weir.part");
    for (const char *name : {"z.mp4", "a.mkv", "a.mkv.weir.mkv", "alone.mkv.weir.mkv", "b/2.ts",
                             ".h.mkv", "n.txt", "b/.c/d.mkv", "x.mkv.weir.part/e.mkv"})
        std::ofstream(dir / name) << "x";
    std::filesystem::create_symlink("/etc", dir / "out");
    struct seen {
        std::vector<std::string> paths;
        size_t most;
    };
    auto fn = [](void *ctx, const char *path, const char *real, const struct stat *st) {
        auto *s = static_cast<seen *>(ctx);
        CHECK(std::string(real).find(path) != std::string::npos);
        CHECK(st->st_size == 1);
        s->paths.push_back(path);
        return s->paths.size() < s->most;
    };
    std::string root = std::filesystem::canonical(dir);
    for (size_t most : {100, 2}) {
        seen s{{}, most};
        folder_list_walk(root.c_str(), fn, &s);
        std::vector<std::string> all = {"a.mkv", "alone.mkv.weir.mkv", "b/2.ts", "z.mp4"};
        all.resize(std::min(all.size(), most));
        CHECK(s.paths == all);
    }
}

TEST_CASE("folder_list: files that there was no time to open are unknown, and opened later")
{
    folder f;
    f.put("a.mkv");
    f.put("b.mkv");
    CHECK(f.make(0) == "/a.mkv\t?\t?\r\n/b.mkv\t?\t?\r\n");
    CHECK(f.make() == "/a.mkv\t1.0\t96x64\r\n/b.mkv\t1.0\t96x64\r\n");
}

TEST_CASE("folder_list: a slow file is tried again a limited number of times")
{
    folder f;
    f.put("a.mkv");
    CHECK(f.make(60 * USEC_PER_SEC, -1) == "/a.mkv\t?\t?\r\n");
    CHECK(f.make() == "/a.mkv\t1.0\t96x64\r\n");
    folder g;
    g.put("a.mkv");
    for (int i = 0; i < 3; i++)
        CHECK(g.make(60 * USEC_PER_SEC, -1) == "/a.mkv\t?\t?\r\n");
    CHECK(g.make() == "/a.mkv\t?\t?\r\n");
}
