// SPDX-License-Identifier: GPL-2.0-or-later
// Any text: it is refused with a reason, or what was read is printed and read back the same.
#include "common/options/option_file.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/options/option_print.h"

static const struct option_row rows[] = {
    {.name = "source", .operand = true, .argument = "SOURCE", .help = "what"},
    {.name = "level", .argument = "LEVEL", .repeats = true, .in_section = true, .help = "which"},
    {.name = "loop", .in_section = true, .help = "again"},
    OPTION_ROWS_CONFIG,
    OPTION_ROWS_HELP,
};

// The file's reader only asks whether there is one.
static void *section(void *options, const char *name, char *reason, size_t cap)
{
    (void)name, (void)reason, (void)cap;
    return options;
}

static const struct option_table table = {.program = "weir-send", .rows = rows, .section = section};

static void read_back(const struct option_settings *said)
{
    static char text[8 * OPTION_FILE_MAX];
    char error[512];
    struct put out = put_into(text, sizeof(text));
    option_print_config(&table, said, &out);
    assert(!out.full);
    struct option_settings back;
    int err = option_file_read(&table, "printed", text, out.len, &back, error, sizeof(error));
    assert(err == 0 && back.count == said->count);
    bool met[OPTION_SETTINGS_MAX] = {false}; // printed in the table's order
    for (int i = 0; i < said->count; i++) {
        int j = 0;
        while (j < back.count &&
               (met[j] ||
                !option_setting_is_of(&back.items[j], said->items[i].row, said->items[i].section)))
            j++;
        assert(j < back.count && strcmp(back.items[j].value, said->items[i].value) == 0);
        met[j] = true;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > OPTION_FILE_MAX)
        return 0;
    char *text = malloc(size + 1);
    char error[512] = "";
    struct option_settings said;
    assert(text);
    if (size)
        memcpy(text, data, size);
    if (option_file_read(&table, "f", text, size, &said, error, sizeof(error)) == 0)
        read_back(&said);
    else
        assert(strncmp(error, "f:", 2) == 0);
    free(text);
    return 0;
}
