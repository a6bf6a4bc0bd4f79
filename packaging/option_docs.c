// SPDX-License-Identifier: GPL-2.0-or-later
// Run while building: prints a template with its line @OPTIONS@ replaced by what the table of one
// program says. TABLE is the table's name.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/options/option_docs.h"

extern const struct option_table TABLE;

static const struct {
    const char *name;
    void (*print)(const struct option_table *t, struct put *out);
} kinds[] = {{"man", option_docs_man}, {"bash", option_docs_bash}, {"zsh", option_docs_zsh}};

static int print_filled(FILE *template, const char *options)
{
    char line[1024];
    while (fgets(line, sizeof(line), template))
        fputs(strcmp(line, "@OPTIONS@\n") == 0 ? options : line, stdout);
    return ferror(template) || fflush(stdout) != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    static char options[128 * 1024];
    struct put out = put_into(options, sizeof(options));
    for (size_t i = 0; argc == 3 && i < sizeof(kinds) / sizeof(*kinds); i++)
        if (strcmp(argv[1], kinds[i].name) == 0)
            kinds[i].print(&TABLE, &out);
    FILE *template = out.len && !out.full ? fopen(argv[2], "re") : NULL;
    int code = template ? print_filled(template, options) : EXIT_FAILURE;
    if (code != EXIT_SUCCESS)
        fprintf(stderr, "usage: option_docs man|bash|zsh TEMPLATE\n");
    if (template)
        fclose(template);
    return code;
}
