// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "common/base/err.h"
#include "common/program/private_path.h"
#include "tests/unit/temp_folder.hpp"

namespace
{

struct folder { // below the temporary one
    const char *name;
    mode_t mode;
    int owner = -1; // -1: the test's user. Others need root
};

struct link {
    const char *name;
    const char *to; // '@': the temporary folder
    int owner = -1;
};

struct row {
    const char *what;
    std::vector<folder> folders;
    std::vector<link> links;
    const char *path;
    const char *reason; // '@': the temporary folder; nullptr: it is opened
};

std::string expand(const std::string &text, const temp_folder &t)
{
    std::string out;
    for (char c : text)
        out += c == '@' ? t.path : std::string(1, c);
    return out;
}

// Returns false if this user may not make it.
bool make(const row &r, const temp_folder &t)
{
    for (const auto &f : r.folders) {
        const std::string path = t / f.name;
        if (f.owner >= 0 && geteuid() != 0)
            return false;
        REQUIRE(mkdir(path.c_str(), 0700) == 0);
        REQUIRE(chmod(path.c_str(), f.mode) == 0);
        if (f.owner >= 0 && chown(path.c_str(), static_cast<uid_t>(f.owner), 54321) != 0)
            return false; // a user namespace has no other users
    }
    for (const auto &l : r.links) {
        if (l.owner >= 0 && geteuid() != 0)
            return false;
        REQUIRE(symlink(expand(l.to, t).c_str(), (t / l.name).c_str()) == 0);
        if (l.owner >= 0 && lchown((t / l.name).c_str(), static_cast<uid_t>(l.owner), 54321) != 0)
            return false;
    }
    return true;
}

} // namespace

TEST_CASE("private_path: who may own a folder on the way, and who may write into it")
{
    struct {
        mode_t mode;
        unsigned owner;   // the program's user is 1000
        unsigned machine; // the owner of "/"
        bool is_group_alone;
        const char *reason; // nullptr: it is used
    } const table[] = {
        {S_IFDIR | 0755, 0, 0, false, nullptr},
        {S_IFDIR | 0755, 1000, 0, false, nullptr},
        {S_IFDIR | 0711, 1000, 0, false, nullptr},
        {S_IFDIR | 0755, 1001, 0, false, "another user (1001) owns /a on the way to it"},
        {S_IFDIR | 0755, 65534, 65534, false, nullptr}, // root, outside of a user namespace
        {S_IFDIR | 0755, 65534, 0, false, "another user (65534)"},
        {S_IFDIR | 01777, 0, 0, false, nullptr}, // "/tmp"
        {S_IFDIR | 01777, 1001, 0, false, "another user (1001)"},
        {S_IFDIR | 0777, 0, 0, false, "other users may write into /a on the way to it (chmod go-w"},
        {S_IFDIR | 0777, 1000, 0, true, "other users may write into /a"},
        {S_IFDIR | 0702, 1000, 0, false, "other users may write into /a"},
        {S_IFDIR | 0775, 1000, 0, false,
         "other users may write into /a on the way to it (chmod g-w"},
        {S_IFDIR | 0775, 1000, 0, true, nullptr}, // "user private groups"
        {S_IFDIR | 02775, 0, 0, false, "other users may write into /a"},
        {S_IFDIR | 01775, 0, 0, false, nullptr},
        {S_IFLNK | 0777, 0, 0, false, nullptr}, // all links have this mode
        {S_IFLNK | 0777, 1000, 0, false, nullptr},
        {S_IFLNK | 0777, 1001, 0, false, "another user (1001)"},
    };
    for (const auto &row : table) {
        CAPTURE(row.mode, row.owner, row.machine, row.is_group_alone);
        struct stat st = {};
        char reason[256] = "";
        st.st_mode = row.mode;
        st.st_uid = row.owner;
        const private_judge judge = {1000, row.machine, row.is_group_alone};
        int err = private_path_judge(&judge, &st, "/a", reason, sizeof(reason));
        CHECK(err == (row.reason ? ERR_UNTRUSTED : 0));
        CHECK(std::string(reason).find(row.reason ? row.reason : "") == 0);
    }
}

TEST_CASE("private_path: each folder on the way, and each link")
{
    const row table[] = {
        {"an own one", {{"a", 0755}, {"a/b", 0755}}, {}, "a/b", nullptr},
        {"the last one is the caller's", {{"a", 0755}, {"a/b", 0777}}, {}, "a/b", nullptr},
        {"a slash at the end", {{"a", 0755}, {"a/b", 0755}}, {}, "a//b///", nullptr},
        {"sticky", {{"a", 01777}, {"a/b", 0755}}, {}, "a/b", nullptr},
        {"open to all",
         {{"a", 0777}, {"a/b", 0755}},
         {},
         "a/b",
         "@/a/b is not used: other users may write into @/a on the way to it (chmod go-w @/a, or "
         "use another directory)\n"},
        {"open to all, further up",
         {{"a", 0757}, {"a/b", 0700}, {"a/b/c", 0700}},
         {},
         "a/b/c",
         "@/a/b/c is not used: other users may write into @/a on the way"},
        {"named with dots",
         {{"a", 0777}, {"a/b", 0755}, {"c", 0700}},
         {},
         "a/b/../../c",
         "@/a/b/../../c is not used: other users may write into @/a on"},
        {"open to a group of others", // of this number there is none
         {{"a", 0775, 0}, {"a/b", 0755}},
         {},
         "a/b",
         "@/a/b is not used: other users may write into @/a on the way to it (chmod g-w @/a"},
        {"of another user",
         {{"a", 0755, 1001}, {"a/b", 0755}},
         {},
         "a/b",
         "@/a/b is not used: another user (1001) owns @/a on the way"},
        {"a link", {{"a", 0755}, {"a/b", 0755}}, {{"l", "a"}}, "l/b", nullptr},
        {"a link at the end", {{"a", 0755}, {"a/b", 0755}}, {{"l", "a/b"}}, "l", nullptr},
        {"an absolute link", {{"a", 0755}, {"a/b", 0755}}, {{"l", "@/a"}}, "l/b", nullptr},
        {"a link to the folder itself", {{"a", 0755}}, {{"a/l", "."}}, "a/l", nullptr},
        {"a link to where all may write",
         {{"a", 0777}, {"a/b", 0755}},
         {{"l", "@/a/b"}},
         "l",
         "@/l is not used: other users may write into @/a on the way"},
        {"a link where all may write",
         {{"a", 0777}, {"b", 0755}},
         {{"a/l", "../b"}},
         "a/l",
         "@/a/l is not used: other users may write into @/a on the way"},
        {"a link of another user, in a sticky folder",
         {{"a", 01777}, {"b", 0755}},
         {{"a/l", "../b", 1001}},
         "a/l",
         "@/a/l is not used: another user (1001) owns @/a/l on the way"},
    };
    for (const auto &r : table) {
        CAPTURE(r.what);
        temp_folder t;
        if (!make(r, t))
            continue;
        const std::string path = t / r.path;
        int fd = private_path_open(AT_FDCWD, path.c_str(), path.c_str(), O_DIRECTORY);
        CHECK((fd >= 0 ? 0 : fd) == (r.reason ? ERR_UNTRUSTED : 0));
        CHECK(temp_folder::logged().find(r.reason ? expand(r.reason, t) : "") == 0);
        CHECK(temp_folder::logged().empty() == !r.reason);
        struct stat there = {}, opened = {};
        if (fd < 0)
            continue;
        CHECK((stat(path.c_str(), &there) == 0 && fstat(fd, &opened) == 0));
        CHECK(there.st_ino == opened.st_ino);
        close(fd);
    }
}

TEST_CASE("private_path: what cannot be opened")
{
    temp_folder t;
    const std::string file = t.write("file", "x");
    REQUIRE(symlink("b", (t / "a").c_str()) == 0);
    REQUIRE(symlink("a", (t / "b").c_str()) == 0);
    struct {
        std::string path;
        int flags, reason;
    } const table[] = {
        {t / "none", 0, ENOENT},
        {t / "none/below", 0, ENOENT},
        {t / "file/below", 0, ENOTDIR},
        {file, O_DIRECTORY, ENOTDIR},
        {t / "a", 0, ELOOP},
        {t / "a/below", 0, ELOOP},
        {t / std::string(300, 'x'), 0, ENAMETOOLONG},
        {std::string(5000, '/') + file, 0, ENAMETOOLONG},
    };
    for (const auto &row : table) {
        CAPTURE(row.path, row.flags);
        errno = 0;
        CHECK(private_path_open(AT_FDCWD, row.path.c_str(), row.path.c_str(), row.flags) == ERR_IO);
        CHECK(errno == row.reason);
    }
    CHECK(temp_folder::logged().empty());
}

TEST_CASE("private_path: folders that do not exist are made for their owner")
{
    temp_folder t;
    int fd = private_path_make((t / "a/b/c").c_str());
    REQUIRE(fd >= 0);
    close(fd);
    for (const char *name : {"a", "a/b", "a/b/c"}) {
        struct stat st = {};
        REQUIRE(stat((t / name).c_str(), &st) == 0);
        CHECK((st.st_mode & 07777) == 0700);
    }
    fd = private_path_make((t / "a/b/c").c_str());
    CHECK(fd >= 0);
    close(fd);
    REQUIRE(mkdir((t / "open").c_str(), 0700) == 0);
    REQUIRE(chmod((t / "open").c_str(), 0777) == 0);
    CHECK(private_path_make((t / "open/b/c").c_str()) == ERR_UNTRUSTED);
    CHECK_FALSE(std::filesystem::exists(t / "open/b"));
}

TEST_CASE("private_path: relative paths, and those of the kernel")
{
    temp_folder t;
    const auto before = std::filesystem::current_path();
    REQUIRE(mkdir((t / "open").c_str(), 0700) == 0);
    t.write("open/file", "x");
    int folder = open((t / "open").c_str(), O_RDONLY | O_DIRECTORY);
    std::filesystem::current_path(t.path);
    int fds[2];
    REQUIRE(pipe(fds) == 0);
    const std::string own = "/dev/fd/" + std::to_string(fds[0]); // of a shell: <(command)
    int relative = private_path_open(AT_FDCWD, "open/file", "open/file", 0);
    int below = private_path_open(folder, "file", "f/file", 0);
    int end = private_path_open(AT_FDCWD, own.c_str(), own.c_str(), 0);
    REQUIRE(chmod((t / "open").c_str(), 0777) == 0);
    CHECK(private_path_open(AT_FDCWD, "open/file", "open/file", 0) == ERR_UNTRUSTED);
    CHECK(temp_folder::logged().find("open/file is not used: other users may write into " +
                                     (t / "open")) == 0);
    std::filesystem::current_path(before);
    struct stat st = {};
    CHECK((end >= 0 && fstat(end, &st) == 0 && S_ISFIFO(st.st_mode)));
    CHECK(relative >= 0);
    CHECK(below >= 0);
    for (int fd : {relative, below, end, folder, fds[0], fds[1]})
        close(fd);
}
