// SPDX-License-Identifier: GPL-2.0-or-later
// The path of a viewer's URL: what the proxy connects to is the origin, with its password, or a
// host that is allowed, without.
#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "common/base/err.h"
#include "proxy/policy/origin_url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct origin_rules rules_of(const char *origin)
{
    struct origin_rules rules = {
        .has_origin = origin, .host_count = 2, .hosts = {{"camera", 0}, {"192.0.2.1", 554}}};
    const char *reason;
    if (origin)
        assert(url_parse(origin, &rules.origin, &reason) == 0);
    strcpy(rules.origin.user, "user");
    strcpy(rules.origin.password, "password");
    return rules;
}

static void check(const struct origin_rules *rules, const char *path)
{
    struct url to;
    int err = origin_url_of(rules, path, &to);
    assert(err == 0 || err == ERR_NOT_FOUND || err == ERR_UNSUPPORTED || err == ERR_MALFORMED);
    if (err)
        return;
    assert(url_is_plain(to.text) && !strchr(to.text + 7, '@') && to.level == -1);
    assert(origin_url_may_follow(rules, &to) && origin_url_is_same(path, path));
    if (!rules->has_origin) {
        assert(strcasecmp(to.host, "camera") == 0 ||
               (strcmp(to.host, "192.0.2.1") == 0 && to.port == 554));
        assert(!*to.user && !*to.password);
        return;
    }
    size_t base = strlen(rules->origin.text);
    assert(strcmp(to.host, rules->origin.host) == 0 && to.port == rules->origin.port);
    assert(strncmp(to.text, rules->origin.text, base) == 0);
    assert(!to.text[base] || to.text[base] == '/' || to.text[base] == '?');
    assert(!strstr(to.text + base, "/../") || strchr(to.text + base, '?'));
    assert(strcmp(to.password, "password") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct origin_rules rules[3];
    char path[2 * URL_MAX_TEXT] = "";
    if (!rules[0].has_origin) {
        rules[0] = rules_of("rtsp://origin");
        rules[1] = rules_of("rtsp://[::1]:55/public");
        rules[2] = rules_of(NULL);
    }
    memcpy(path, data, size < sizeof(path) ? size : sizeof(path) - 1);
    for (int i = 0; i < 3; i++)
        check(&rules[i], path);
    return 0;
}
