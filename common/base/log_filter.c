// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/log_filter.h"

#include <string.h>

#include "common/base/err.h"
#include "common/base/scan.h"

static const char *const level_names[] = {
    [LOG_ERROR] = "error", [LOG_WARN] = "warn", [LOG_INFO] = "info", [LOG_DEBUG] = "debug"};

struct log_filter log_all(enum log_level level)
{
    struct log_filter f = {.level = level};
    return f;
}

const char *log_level_name(enum log_level level)
{
    return level_names[level];
}

static bool scan_level(struct scan s, enum log_level *out)
{
    for (int i = LOG_ERROR; i <= LOG_DEBUG; i++) {
        if (scan_is(s, level_names[i])) {
            *out = (enum log_level)i;
            return true;
        }
    }
    return false;
}

static bool is_module(struct scan s)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    size_t len = scan_left(&s);
    for (size_t i = 0; i < len; i++)
        if (!memchr(letters, s.at[i], sizeof(letters) - 1))
            return false;
    return len && len < LOG_MODULE;
}

int log_filter_parse(const char *text, struct log_filter *f)
{
    struct scan s = scan_of(text, strlen(text));
    f->count = 0;
    bool more = true; // true after a comma: another part follows
    while (more) {
        struct scan part = scan_until(&s, ',');
        more = s.at > part.end;
        if (!memchr(part.at, '=', scan_left(&part))) {
            if (!scan_level(part, &f->level))
                return ERR_MALFORMED;
            continue;
        }
        if (f->count == LOG_RULES)
            return ERR_FULL;
        struct log_rule *rule = &f->rules[f->count++];
        struct scan module = scan_until(&part, '=');
        if (!is_module(module) || !scan_level(part, &rule->level))
            return ERR_MALFORMED;
        memset(rule->module, 0, sizeof(rule->module));
        memcpy(rule->module, module.at, scan_left(&module));
    }
    return 0;
}

static void cut(const char *from, size_t len, char out[LOG_MODULE])
{
    if (len >= LOG_MODULE)
        len = LOG_MODULE - 1;
    memcpy(out, from, len);
    out[len] = '\0';
}

void log_module(const char *file, char out[LOG_MODULE])
{
    const char *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file;
    cut(name, strcspn(name, "_."), out);
}

// Returns true if one of the folders in the path `file` is named `module`.
static bool is_in_folder(const char *file, const char *module)
{
    size_t len = strlen(module);
    for (const char *at = file, *end; (end = strchr(at, '/')); at = end + 1)
        if ((size_t)(end - at) == len && memcmp(at, module, len) == 0)
            return true;
    return false;
}

bool log_filter_passes(const struct log_filter *f, enum log_level level, const char *file)
{
    char module[LOG_MODULE];
    if (!f->count)
        return level <= f->level;
    log_module(file, module);
    for (int i = f->count - 1; i >= 0; i--)
        if (strcmp(f->rules[i].module, module) == 0 || is_in_folder(file, f->rules[i].module))
            return level <= f->rules[i].level;
    return level <= f->level;
}
