// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/access_rules.h"

#include <string.h>
#include <strings.h>

#include "common/base/err.h"
#include "common/base/scan.h"
#include "common/wire/request_path.h"
#include "common/wire/text.h"

bool access_path_is_below(const char *scope, const char *path)
{
    size_t len = strlen(scope);
    return !len || (strncmp(scope, path, len) == 0 && (!path[len] || path[len] == '/'));
}

int access_rules_find(const struct access_rules *r, const char *name)
{
    for (int i = 0; i < r->user_count; i++)
        if (strcmp(r->users[i].name, name) == 0)
            return access_rules_number(r, i);
    return ERR_NOT_FOUND;
}

int access_rules_number(const struct access_rules *r, int index)
{
    return r->generation * ACCESS_USERS + index;
}

const char *access_rules_hash(const struct access_rules *r, int user)
{
    int index = user - r->generation * ACCESS_USERS;
    return index >= 0 && index < r->user_count ? r->users[index].hash : NULL;
}

unsigned access_rules_rights(const struct access_rules *r, int user, const char *path)
{
    unsigned rights = 0;
    for (int i = 0; i < r->rule_count; i++) {
        const struct access_rule *rule = &r->rules[i];
        if ((rule->user == user || rule->user == ACCESS_EVERYBODY) &&
            access_path_is_below(rule->path, path))
            rights |= rule->rights;
    }
    return rights;
}

// Takes a word that ends at white space; empty: there is none.
static struct text take_word(struct scan *s)
{
    while (scan_char(s, ' ') || scan_char(s, '\t'))
        continue;
    struct text word = {s->at, 0};
    while (s->at < s->end && *s->at != ' ' && *s->at != '\t')
        s->at++;
    word.len = (size_t)(s->at - word.at);
    return word;
}

static const char *read_user(struct access_rules *r, struct scan value)
{
    struct text name = text_of_scan(scan_until(&value, ':'));
    struct text hash = text_of_scan(value);
    if (r->user_count == ACCESS_USERS)
        return "at most 256 users";
    struct access_user *user = &r->users[r->user_count];
    if (!name.len || name.len >= sizeof(user->name) || !hash.len ||
        hash.len >= sizeof(user->hash) || hash.at[0] != '$' || memchr(hash.at, ' ', hash.len) ||
        memchr(name.at, ' ', name.len) || text_is(name, "*"))
        return "expects user = NAME:HASH, the line that weir-send --user NAME prints";
    text_copy(name, user->name, sizeof(user->name));
    text_copy(hash, user->hash, sizeof(user->hash));
    if (access_rules_find(r, user->name) >= 0)
        return "the user is there already";
    r->user_count++;
    return NULL;
}

static bool read_rights(struct text words, unsigned *rights)
{
    struct scan s = text_scan(words);
    *rights = 0;
    while (!scan_end(&s)) {
        struct text word = text_of_scan(scan_until(&s, ','));
        unsigned right = text_is(word, "watch")     ? ACCESS_WATCH
                         : text_is(word, "metrics") ? ACCESS_METRICS
                         : text_is(word, "control") ? ACCESS_CONTROL
                         : text_is(word, "publish") ? ACCESS_PUBLISH
                                                    : 0;
        if (!right)
            return false;
        *rights |= right;
    }
    return *rights != 0;
}

static const char *read_allow(struct access_rules *r, struct scan value)
{
    char name[ACCESS_NAME_MAX], path[REQUEST_PATH_MAX];
    struct text user = take_word(&value), where = take_word(&value), rights = take_word(&value);
    if (r->rule_count == ACCESS_RULES)
        return "at most 1024 lines with allow";
    struct access_rule *rule = &r->rules[r->rule_count];
    if (take_word(&value).len || !read_rights(rights, &rule->rights))
        return "expects allow = USER PATH RIGHTS; RIGHTS is watch, publish, metrics, control, or "
               "several with commas";
    if (user.len >= sizeof(name) || where.len >= sizeof(path))
        return "a name or a path is too long";
    text_copy(user, name, sizeof(name));
    text_copy(where, path, sizeof(path));
    if (path[0] != '/' || strchr(path, '?') ||
        request_path_decode(path, rule->path, sizeof(rule->path)) != 0)
        return "the path must be that of a URL, such as /live, shorter than 256 bytes";
    if ((rule->rights & ACCESS_METRICS) && rule->path[0])
        return "the right metrics requires the path /";
    if ((rule->rights & ACCESS_CONTROL) && (rule->path[0] || strcmp(name, "*") == 0))
        return "the right control requires the path / and a user";
    rule->user = strcmp(name, "*") == 0 ? ACCESS_EVERYBODY : access_rules_find(r, name);
    if (rule->user == ERR_NOT_FOUND)
        return "there is no such user (its line must stand before)";
    r->rule_count++;
    return NULL;
}

static const char *read_line(struct access_rules *r, struct scan line)
{
    line = scan_trimmed(line);
    if (scan_end(&line) || *line.at == '#')
        return NULL;
    struct text name = text_of_scan(scan_trimmed(scan_until(&line, '=')));
    struct scan value = scan_trimmed(line);
    if (!text_is_clean(value))
        return "contains control characters";
    if (text_is(name, "user"))
        return read_user(r, value);
    if (text_is(name, "allow"))
        return read_allow(r, value);
    return "expects a line user = ... or allow = ...";
}

int access_rules_read(struct access_rules *r, const char *text, size_t len, char *error, size_t cap)
{
    struct scan s = scan_of(text, len), line;
    for (int number = 1; scan_line(&s, &line); number++) {
        const char *reason = read_line(r, line);
        if (reason)
            return err_say(error, cap, ERR_MALFORMED, "line %d: %s", number, reason);
    }
    return 0;
}
