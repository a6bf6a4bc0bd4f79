// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <sys/stat.h>
#include <thread>
#include <vector>

#include "common/base/err.h"
#include "common/program/state_dir.h"
#include "tests/unit/temp_folder.hpp"

namespace
{

// The variables that state_dir_find reads, as they were before the test.
struct environment {
    const char *names[3] = {"STATE_DIRECTORY", "XDG_STATE_HOME", "HOME"};
    std::string old[3];
    bool had[3];
    environment()
    {
        for (int i = 0; i < 3; i++) {
            const char *value = getenv(names[i]);
            had[i] = value;
            old[i] = value ? value : "";
            unsetenv(names[i]);
        }
    }
    ~environment()
    {
        for (int i = 0; i < 3; i++)
            had[i] ? setenv(names[i], old[i].c_str(), 1) : unsetenv(names[i]);
    }
};

std::string found(const char *given)
{
    char out[STATE_PATH_MAX];
    REQUIRE(state_dir_find(given, out) == 0);
    return out;
}

int make_ctx(void *ctx, uint8_t *out, size_t cap, size_t *len)
{
    auto *text = static_cast<const char *>(ctx);
    REQUIRE(strlen(text) <= cap);
    *len = strlen(text);
    memcpy(out, text, *len);
    return 0;
}

int make_failing(void *, uint8_t *, size_t, size_t *)
{
    return ERR_IO;
}

std::string once(const std::string &dir, const char *name, const char *text)
{
    uint8_t out[64];
    size_t len;
    char copy[64];
    snprintf(copy, sizeof(copy), "%s", text);
    REQUIRE(state_file_create_once(dir.c_str(), name, make_ctx, copy, out, sizeof(out), &len) == 0);
    return {reinterpret_cast<char *>(out), len};
}

mode_t mode_of(const std::string &path)
{
    struct stat st {
    };
    REQUIRE(stat(path.c_str(), &st) == 0);
    return st.st_mode & 0777;
}

} // namespace

TEST_CASE("state dir: found in this order")
{
    environment saved;
    CHECK(found(nullptr) == "/var/lib/weir");
    setenv("HOME", "/home/anna", 1);
    CHECK(found(nullptr) == "/home/anna/.local/state/weir");
    setenv("XDG_STATE_HOME", "/state", 1);
    CHECK(found(nullptr) == "/state/weir");
    setenv("STATE_DIRECTORY", "/var/lib/weir-send:/var/lib/b", 1);
    CHECK(found(nullptr) == "/var/lib/weir-send");
    CHECK(found("here") == "here");
    setenv("STATE_DIRECTORY", "relative", 1);
    setenv("XDG_STATE_HOME", "", 1);
    CHECK(found(nullptr) == "/home/anna/.local/state/weir");
    char out[STATE_PATH_MAX];
    CHECK(state_dir_find(std::string(2000, 'x').c_str(), out) == ERR_TOO_BIG);
}

TEST_CASE("state dir: a file is made once, for its owner")
{
    temp_folder t;
    const std::string dir = t / "a/b";
    CHECK(once(dir, "secret", "first") == "first");
    CHECK(mode_of(dir) == 0700);
    CHECK(mode_of(dir + "/secret") == 0600);
    CHECK(once(dir, "secret", "second") == "first");
    REQUIRE(state_file_replace(dir.c_str(), "secret", (const uint8_t *)"third", 5) == 0);
    CHECK(mode_of(dir + "/secret") == 0600);
    CHECK(once(dir, "secret", "fourth") == "third");
    int files = 0;
    for (const auto &entry : std::filesystem::directory_iterator(dir))
        files += entry.is_regular_file();
    CHECK(files == 1); // nothing temporary is left
}

TEST_CASE("state dir: a directory into which other users may write is not used")
{
    temp_folder t;
    uint8_t out[64];
    size_t len;
    for (mode_t mode : {0777, 0770, 0707, 01777, 0720, 0702}) {
        CAPTURE(mode);
        const std::string dir = t / ("of" + std::to_string(mode));
        char text[] = "x";
        REQUIRE(once(dir, "secret", "good") == "good");
        REQUIRE(chmod(dir.c_str(), mode) == 0);
        temp_folder::forget_logged();
        CHECK(state_file_read(dir.c_str(), "secret", out, sizeof(out), &len) == ERR_IO);
        CHECK(state_file_create_once(dir.c_str(), "other", make_ctx, text, out, sizeof(out),
                                     &len) == ERR_IO);
        CHECK(state_file_replace(dir.c_str(), "secret", out, 1) == ERR_IO);
        CHECK(temp_folder::logged().find(dir + " is not used: other users may write into it "
                                               "(chmod 700 it)") != std::string::npos);
        REQUIRE(chmod(dir.c_str(), 0755) == 0);
        CHECK(once(dir, "secret", "new") == "good");
        CHECK_FALSE(std::filesystem::exists(dir + "/other"));
    }
}

TEST_CASE("state dir: the folders above it are judged, also while it is used")
{
    temp_folder t;
    const std::string dir = t / "above/state";
    uint8_t out[64];
    size_t len;
    REQUIRE(once(dir, "secret", "good") == "good");
    REQUIRE(chmod((t / "above").c_str(), 0777) == 0);
    char text[] = "x";
    CHECK(state_file_read(dir.c_str(), "secret", out, sizeof(out), &len) == ERR_IO);
    CHECK(state_file_create_once(dir.c_str(), "other", make_ctx, text, out, sizeof(out), &len) ==
          ERR_IO);
    CHECK(state_file_replace(dir.c_str(), "secret", out, 1) == ERR_IO);
    CHECK(temp_folder::logged().find(dir + " is not used: other users may write into " +
                                     (t / "above") + " on the way to it (chmod go-w ") == 0);
    // Between the reading and the writing the directory becomes a link to what others can replace.
    REQUIRE(chmod((t / "above").c_str(), 0755) == 0);
    REQUIRE(mkdir((t / "open").c_str(), 0700) == 0);
    REQUIRE(chmod((t / "open").c_str(), 0777) == 0);
    REQUIRE(mkdir((t / "open/theirs").c_str(), 0700) == 0);
    auto swap = [](void *ctx, uint8_t *, size_t, size_t *n) {
        const auto &folder = *static_cast<const temp_folder *>(ctx);
        std::filesystem::rename(folder / "above/state", folder / "above/old");
        std::filesystem::create_symlink(folder / "open/theirs", folder / "above/state");
        *n = 0;
        return 0;
    };
    CHECK(state_file_create_once(dir.c_str(), "other", swap, &t, out, sizeof(out), &len) == ERR_IO);
    CHECK(std::filesystem::is_empty(t / "open/theirs"));
}

TEST_CASE("state dir: what cannot be used is named")
{
    temp_folder t;
    uint8_t out[16];
    size_t len;
    CHECK(state_file_read(t.path.c_str(), "none", out, sizeof(out), &len) == ERR_NOT_FOUND);
    t.write("open", "x");
    chmod((t / "open").c_str(), 0640);
    CHECK(state_file_read(t.path.c_str(), "open", out, sizeof(out), &len) == ERR_IO);
    CHECK(temp_folder::logged().find("other users may read") != std::string::npos);
    t.write("large", std::string(17, 'x'));
    chmod((t / "large").c_str(), 0600);
    CHECK(state_file_read(t.path.c_str(), "large", out, sizeof(out), &len) == ERR_TOO_BIG);
    std::filesystem::create_directory(t / "folder");
    CHECK(state_file_read(t.path.c_str(), "folder", out, sizeof(out), &len) == ERR_IO);
    CHECK(state_file_create_once(t.path.c_str(), "new", make_failing, nullptr, out, sizeof(out),
                                 &len) == ERR_IO);
    CHECK_FALSE(std::filesystem::exists(t / "new"));
    CHECK(state_file_replace((t / "large/below").c_str(), "f", out, 1) == ERR_IO);
    CHECK(temp_folder::logged().find("--state-dir") != std::string::npos);
}

TEST_CASE("state dir: programs that start at once end with one file", "[threads]")
{
    temp_folder t;
    const std::string dir = t / "state";
    constexpr int count = 8;
    std::string got[count];
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++)
        threads.emplace_back([&, i] {
            uint8_t out[64];
            size_t len;
            char text[8];
            snprintf(text, sizeof(text), "by %d", i);
            int err = state_file_create_once(
                dir.c_str(), "secret",
                [](void *ctx, uint8_t *to, size_t, size_t *n) {
                    *n = strlen(static_cast<char *>(ctx));
                    memcpy(to, ctx, *n);
                    return 0;
                },
                text, out, sizeof(out), &len);
            got[i] = err ? "error" : std::string(reinterpret_cast<char *>(out), len);
        });
    for (auto &thread : threads)
        thread.join();
    for (const auto &text : got)
        CHECK(text == t.read("state/secret"));
}
