// SPDX-License-Identifier: GPL-2.0-or-later
// Any text as the path of a request. A path that is accepted has the same meaning for a peer that
// decodes it again, that takes a backslash for a slash, or that cuts parameters off.
#include <assert.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/wire/request_path.h"

// A careless peer: decodes what it can, in place.
static bool decode_again(char *text)
{
    char *out = text;
    bool is_changed = false;
    for (const char *at = text; *at; at++) {
        if (*at == '%' && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2])) {
            char number[] = {at[1], at[2], '\0'};
            *out++ = (char)strtol(number, NULL, 16);
            at += 2;
            is_changed = true;
        } else {
            *out++ = *at;
        }
    }
    *out = '\0';
    return is_changed;
}

static int slashes(const char *text)
{
    int count = 0;
    for (; *text; text++)
        count += *text == '/' || *text == '\\';
    return count;
}

// No name between slashes of either kind is "." or "..", with parameters or without.
static void check_names(const char *text)
{
    for (const char *name = text; *name; name += *name != '\0') {
        size_t len = strcspn(name, "/\\"), bare = strcspn(name, "/\\;");
        assert(!(bare == 1 && name[0] == '.') && !(bare == 2 && memcmp(name, "..", 2) == 0));
        name += len;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[REQUEST_PATH_MAX], encoded[3 * REQUEST_PATH_MAX], again[REQUEST_PATH_MAX];
    char *text = malloc(size + 1);
    assert(text);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    int err = request_path_decode(text, path, sizeof(path));
    assert(err == 0 || err == ERR_MALFORMED || err == ERR_TOO_BIG);
    free(text);
    if (err)
        return 0;
    assert(request_path_is_good(path));
    if (request_path_encode(path, encoded, sizeof(encoded)) >= 0 &&
        !request_path_track_bytes(encoded, strlen(encoded)))
        assert(request_path_decode(encoded, again, sizeof(again)) == 0 && strcmp(again, path) == 0);
    int count = slashes(path);
    do {
        assert(slashes(path) == count);
        check_names(path);
        for (const char *at = path; *at; at++)
            assert(!iscntrl((unsigned char)*at));
    } while (decode_again(path));
    return 0;
}
