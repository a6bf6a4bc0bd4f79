// SPDX-License-Identifier: GPL-2.0-or-later
// What a program of the lab makes of a command line.
#ifndef WEIR_TESTS_LAB_PARSED_OPTIONS_HPP
#define WEIR_TESTS_LAB_PARSED_OPTIONS_HPP

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "common/options/option_table.h"

using words = std::vector<std::string>;

template <class Options>
using options_parser = options_result (*)(int argc, char **argv, Options *, FILE *out, FILE *err);

template <class Options, options_parser<Options> parse> struct parsed_options {
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
        char *texts[2];
        size_t sizes[2];
        FILE *files[2] = {open_memstream(&texts[0], &sizes[0]),
                          open_memstream(&texts[1], &sizes[1])};
        result = parse(static_cast<int>(argv.size()), pointers.data(), &o, files[0], files[1]);
        for (int i = 0; i < 2; i++) {
            fclose(files[i]);
            (i ? err : out) = texts[i];
            free(texts[i]);
        }
    }
    parsed_options(const parsed_options &) = delete;
    parsed_options &operator=(const parsed_options &) = delete;
};

#endif
