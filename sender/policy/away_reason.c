// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/away_reason.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/base/utf8.h"

enum { TEXT = 1024 };

static const char HIDDEN[] = "...";

// Returns true if the word names it.
static bool names(const char *word, const char *secret)
{
    size_t len = strlen(secret);
    for (const char *at = word; len && *at; at++) {
        bool begins = at == word || !isalnum((unsigned char)at[-1]);
        if (begins && strncasecmp(at, secret, len) == 0 && !isalnum((unsigned char)at[len]))
            return true;
    }
    return false;
}

// The path of a URL without its slashes at both ends; with its query.
static void path_of(const struct url *url, char out[URL_MAX_TEXT])
{
    const char *path = strchr(url->text + url_scheme(url->text), '/');
    memcpy(out, path ? path + 1 : "", path ? strlen(path) : 1);
    size_t len = strlen(out);
    while (len && out[len - 1] == '/')
        out[--len] = '\0';
}

// Four numbers with dots between them, or two colons at least between hexadecimal digits.
static bool has_address(const char *word)
{
    static const char part[] = "0123456789abcdefABCDEF:.";
    while (*(word += strcspn(word, part))) {
        size_t digits = 0, dots = 0, colons = 0;
        for (; *word && strchr(part, *word); word++) {
            digits += isdigit((unsigned char)*word) != 0;
            dots += *word == '.';
            colons += *word == ':';
        }
        if ((dots >= 3 && digits >= 4) || colons >= 2)
            return true;
    }
    return false;
}

void away_reason(const char *why, const struct url *url, char *out, size_t cap)
{
    char text[TEXT], path[URL_MAX_TEXT], hidden[TEXT] = "", *next = text;
    size_t used = 0;
    bool after_port = false;
    utf8_copy(why, text, sizeof(text));
    path_of(url, path);
    for (char *word; (word = strsep(&next, " ")) != NULL;) {
        bool hides = strstr(word, "://") || names(word, url->host) || names(word, url->user) ||
                     names(word, url->password) || names(word, url->key) || names(word, path) ||
                     has_address(word) || (after_port && isdigit((unsigned char)*word));
        after_port = strcmp(word, "port") == 0;
        size_t len = strlen(word);
        bool keeps_sign = hides && len && strchr(":,;", word[len - 1]);
        const char *shown = hides ? HIDDEN : word;
        if (used + strlen(shown) + 3 > sizeof(hidden))
            break;
        used += (size_t)snprintf(hidden + used, sizeof(hidden) - used, "%s%s%.*s", used ? " " : "",
                                 shown, keeps_sign, word + len - keeps_sign);
    }
    utf8_copy(hidden, out, cap);
}
