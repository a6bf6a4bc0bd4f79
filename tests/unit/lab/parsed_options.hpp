// SPDX-License-Identifier: GPL-2.0-or-later
// Parses a command line as a program of the lab does.
#ifndef WEIR_TESTS_LAB_PARSED_OPTIONS_HPP
#define WEIR_TESTS_LAB_PARSED_OPTIONS_HPP

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "common/options/option_table.h"

using words = std::vector<std::string>;

using options_parser = options_result (*)(int argc, char **argv, void *options, FILE *out,
                                          char *error, size_t cap);

template <class Options, options_parser parse> struct parsed_options {
    Options o{};
    options_result result;
    std::string out, err;
    words argv; // o borrows from it

    explicit parsed_options(words args) : argv(std::move(args))
    {
        argv.insert(argv.begin(), "weir");
        std::vector<char *> pointers;
        for (std::string &a : argv)
            pointers.push_back(a.data());
        pointers.push_back(nullptr);
        char *text;
        size_t size;
        FILE *file = open_memstream(&text, &size);
        char error[1024] = "";
        result =
            parse(static_cast<int>(argv.size()), pointers.data(), &o, file, error, sizeof(error));
        fclose(file);
        out = text;
        free(text);
        err = error;
    }
    parsed_options(const parsed_options &) = delete;
    parsed_options &operator=(const parsed_options &) = delete;
};

#endif
