// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/origin_url.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/base/err.h"
#include "common/wire/request_path.h"

// Returns the length of the path without the name of a track, which SETUP appends to the query,
// too.
static size_t path_length(const char *path)
{
    static const char *const tracks[] = {"/trackID=0", "/trackID=1"};
    size_t len = strlen(path);
    for (int i = 0; i < 2; i++) {
        size_t name = strlen(tracks[i]);
        if (len >= name && strcmp(path + len - name, tracks[i]) == 0)
            return len - name;
    }
    return len;
}

const char *origin_url_allow(struct origin_rules *rules, const char *text)
{
    static const char wrong[] =
        "expects HOST[:PORT], a host's name or address as viewers write it in the URL";
    char full[URL_MAX_TEXT];
    struct url url;
    const char *reason;
    if (rules->host_count == ORIGIN_URL_HOSTS)
        return "at most 64 hosts";
    bool is_bare_v6 = text[0] != '[' && strchr(text, ':') != strrchr(text, ':');
    int len = snprintf(full, sizeof(full), is_bare_v6 ? "rtsp://[%s]/" : "rtsp://%s/", text);
    if (!*text || strpbrk(text, "/?@") || len < 0 || (size_t)len >= sizeof(full) ||
        !url_is_plain(full) || url_parse(full, &url, &reason) != 0)
        return wrong;
    struct origin_host *host = &rules->hosts[rules->host_count++];
    memcpy(host->name, url.host, sizeof(host->name));
    host->port = url.has_port ? url.port : 0;
    return NULL;
}

static bool is_allowed(const struct origin_rules *rules, const struct url *to)
{
    for (int i = 0; i < rules->host_count; i++) {
        const struct origin_host *host = &rules->hosts[i];
        if (strcasecmp(host->name, to->host) == 0 && (!host->port || host->port == to->port))
            return true;
    }
    return false;
}

int origin_url_of(const struct origin_rules *rules, const char *path, struct url *out)
{
    char text[2 * URL_MAX_TEXT], decoded[REQUEST_PATH_MAX];
    const char *reason;
    if (path[0] != '/') // it would continue the name of the host
        return ERR_NOT_FOUND;
    // An origin could take what request_path.h refuses for a path beyond that of --origin, too.
    if (request_path_decode(path, decoded, sizeof(decoded)) != 0 ||
        path[strcspn(path, "?#")] == '#')
        return ERR_MALFORMED;
    size_t len = path_length(path);
    size_t plain = strcspn(path, "?");
    if (plain < len && strncmp(path + plain, "?level=", 7) == 0)
        len = plain;
    if (len && path[len - 1] == '/')
        len--;
    const struct url *origin = &rules->origin;
    int written;
    if (rules->has_origin) {
        size_t base = strlen(origin->text);
        base -= base && origin->text[base - 1] == '/';
        written = snprintf(text, sizeof(text), "%.*s%.*s", (int)base, origin->text, (int)len, path);
    } else {
        if (len < 2)
            return ERR_NOT_FOUND;
        written = snprintf(text, sizeof(text), "rtsp:/%.*s", (int)len, path);
    }
    if (written < 0 || (size_t)written >= sizeof(text) || !url_is_plain(text) ||
        strchr(text + 7, '@') || url_parse(text, out, &reason) != 0)
        return ERR_MALFORMED;
    if (strcmp(text, out->text) !=
        0) // a parameter was cut out: what followed may have dot segments
        return ERR_MALFORMED;
    if (!rules->has_origin && !is_allowed(rules, out))
        return ERR_UNSUPPORTED;
    if (rules->has_origin) {
        memcpy(out->user, origin->user, sizeof(out->user));
        memcpy(out->password, origin->password, sizeof(out->password));
        memcpy(out->pin, origin->pin, sizeof(out->pin));
        memcpy(out->key, origin->key, sizeof(out->key));
    }
    out->level = -1;
    return 0;
}

bool origin_url_may_follow(const void *rules, const struct url *to)
{
    const struct origin_rules *r = rules;
    return (r->has_origin && strcasecmp(r->origin.host, to->host) == 0) || is_allowed(r, to);
}

bool origin_url_is_same(const char *first, const char *path)
{
    size_t len = path_length(path), first_len = path_length(first);
    if (!memchr(path, '?', len))
        first_len = strcspn(first, "?") < first_len ? strcspn(first, "?") : first_len;
    len -= len && path[len - 1] == '/';
    first_len -= first_len && first[first_len - 1] == '/';
    return len == first_len && memcmp(first, path, len) == 0;
}
