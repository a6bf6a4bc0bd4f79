// SPDX-License-Identifier: GPL-2.0-or-later
// For tests that write files: a folder that is deleted with the test, and the log lines written
// meanwhile.
#ifndef WEIR_TESTS_TEMP_FOLDER_HPP
#define WEIR_TESTS_TEMP_FOLDER_HPP

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>

#include "common/base/log.h"

struct temp_folder {
    std::string path;

    temp_folder()
    {
        std::string name = (std::filesystem::temp_directory_path() / "weir-test-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()));
        path = name;
        forget_logged();
        log_to(
            [](const log_entry *e) {
                const std::lock_guard<std::mutex> held(lock());
                text() += std::string(e->text) + "\n";
            },
            log_all(LOG_INFO));
    }
    ~temp_folder()
    {
        log_to(nullptr, log_all(LOG_ERROR));
        std::filesystem::remove_all(path);
    }
    temp_folder(const temp_folder &) = delete;
    temp_folder &operator=(const temp_folder &) = delete;

    std::string operator/(const std::string &name) const
    {
        return path + "/" + name;
    }
    std::string read(const std::string &name) const
    {
        std::ifstream f(*this / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(f), {}};
    }
    // Returns the file's path.
    std::string write(const std::string &name, const std::string &text) const
    {
        std::ofstream(*this / name, std::ios::binary) << text;
        return *this / name;
    }
    // Any thread may log meanwhile.
    static std::string logged()
    {
        const std::lock_guard<std::mutex> held(lock());
        return text();
    }
    static void forget_logged()
    {
        const std::lock_guard<std::mutex> held(lock());
        text().clear();
    }

  private:
    static std::string &text()
    {
        static std::string lines;
        return lines;
    }
    static std::mutex &lock()
    {
        static std::mutex m;
        return m;
    }
};

#endif
