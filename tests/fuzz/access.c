// SPDX-License-Identifier: GPL-2.0-or-later
// Any text as a file of --access, as a path and as a key: what is read stays within its bounds, and
// no text is a key of a path that it was not made for.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire/request_path.h"
#include "common/wire/url.h"
#include "server/access/access_key.h"
#include "server/policy/access_rules.h"

enum { SIZE_MAX_ = 4096 };

static void check_rules(const char *text, size_t size)
{
    char error[256];
    struct access_rules *r = calloc(1, sizeof(*r));
    assert(r);
    int err = access_rules_read(r, text, size, error, sizeof(error));
    assert(!err || strncmp(error, "line ", 5) == 0);
    for (int i = 0; i < r->rule_count; i++) {
        const struct access_rule *rule = &r->rules[i];
        assert(rule->user >= ACCESS_EVERYBODY && rule->user < r->user_count && rule->rights);
        unsigned rights = access_rules_rights(r, rule->user, rule->path);
        assert((rights & rule->rights) == rule->rights);
    }
    for (int i = 0; i < r->user_count; i++)
        assert(access_rules_find(r, r->users[i].name) == i);
    free(r);
}

static void check_path(const char *text)
{
    char path[REQUEST_PATH_MAX];
    if (request_path_decode(text, path, sizeof(path)) == 0)
        assert(access_path_is_below("", path) && access_path_is_below(path, path));
}

static void check_key(const char *text, size_t size)
{
    static const uint8_t secret[ACCESS_SECRET_BYTES] = {7};
    struct access_key key;
    size_t scope;
    char made[ACCESS_KEY_TEXT], url[SIZE_MAX_ + 64], value[URL_MAX_KEY];
    if (access_key_read(secret, (struct text){text, size}, "live", &key, &scope) == 0) {
        // Only one that was made with the secret: then it is the same text.
        assert(access_key_make(secret, &key, scope ? "live" : "", made) == 0);
        assert(size == strlen(made) && memcmp(made, text, size) == 0);
    }
    strcpy(url, "rtsp://h/live?");
    strncat(url, text, SIZE_MAX_);
    (void)url_take_parameter(url, "key", value, sizeof(value));
    assert(!url_take_parameter(url, "key", value, sizeof(value)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > SIZE_MAX_)
        return 0;
    char *text = malloc(size + 1);
    assert(text);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    check_rules(text, size);
    check_path(text);
    check_key(text, size);
    free(text);
    return 0;
}
