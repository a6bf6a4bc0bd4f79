// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/export/control_body.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "common/wire/request_path.h"
#include "server/access/access_options.h"

enum { DAY_S = 24 * 3600 };

bool control_body_is_read(enum control_task task)
{
    return task == CONTROL_SET_LEVEL || task == CONTROL_SET_SOURCE_LEVEL || task == CONTROL_INVITE;
}

// Copies a text without control characters. Returns false if there is none, or it is too long.
static bool copy_text(const json_t *value, char *out, size_t cap)
{
    const char *text = json_string_value(value);
    size_t len = text ? json_string_length(value) : 0;
    if (!len || len >= cap)
        return false;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f)
            return false;
    memcpy(out, text, len + 1);
    return true;
}

static const char *read_level(const json_t *value, struct control_request *r)
{
    bool ends = r->task == CONTROL_SET_SOURCE_LEVEL && json_is_null(value);
    if (!ends && (!json_is_integer(value) || json_integer_value(value) < 0 ||
                  json_integer_value(value) >= CONTROL_NO_LEVEL))
        return "expects {\"level\": NUMBER}\n";
    r->level = ends ? CONTROL_NO_LEVEL : (int)json_integer_value(value);
    return NULL;
}

// Reads the one member that says what is done with a source.
static const char *read_source(const json_t *o, struct control_request *r)
{
    const json_t *source = json_object_get(o, "source"), *record = json_object_get(o, "record");
    static const char expected[] = "expects one of {\"level\": NUMBER or null}, {\"source\": TEXT} "
                                   "without spaces and {\"record\": true or false}\n";
    if (json_object_size(o) != 1)
        return expected;
    if (source) {
        r->task = CONTROL_SET_SOURCE;
        return copy_text(source, r->source, sizeof(r->source)) ? NULL : expected;
    }
    if (record) {
        r->task = CONTROL_RECORD_SOURCE;
        r->record = json_is_true(record);
        return json_is_boolean(record) ? NULL : expected;
    }
    return read_level(json_object_get(o, "level"), r) ? expected : NULL;
}

static const char *read_invite(const json_t *o, struct control_request *r)
{
    static const char expected[] =
        "expects {\"path\": PATH}, and may have \"right\": \"watch\" or \"publish\", and \"for\": "
        "90m, 12h or 7d, at most 31d\n";
    const json_t *right = json_object_get(o, "right"), *time = json_object_get(o, "for");
    char path[REQUEST_PATH_MAX];
    const char *wants = right ? json_string_value(right) : "watch";
    r->seconds = (int64_t)CONTROL_INVITE_DAYS * DAY_S;
    if (time)
        r->seconds = json_string_value(time) ? access_options_seconds(json_string_value(time)) : -1;
    bool good = json_object_size(o) == 1u + (right != NULL) + (time != NULL) &&
                copy_text(json_object_get(o, "path"), r->path, sizeof(r->path)) &&
                r->path[0] == '/' && !strpbrk(r->path, "?#") &&
                request_path_decode(r->path, path, sizeof(path)) == 0 && wants && r->seconds > 0 &&
                r->seconds <= (int64_t)CONTROL_INVITE_DAYS_MAX * DAY_S;
    r->publish = wants && strcmp(wants, "publish") == 0;
    return good && (r->publish || strcmp(wants, "watch") == 0) ? NULL : expected;
}

const char *control_body_read(const void *body, size_t len, struct control_request *r)
{
    json_t *o = json_loadb(body, len, JSON_REJECT_DUPLICATES, NULL);
    const char *wrong = r->task == CONTROL_INVITE             ? read_invite(o, r)
                        : r->task == CONTROL_SET_SOURCE_LEVEL ? read_source(o, r)
                        : json_object_size(o) != 1            ? "expects {\"level\": NUMBER}\n"
                                                   : read_level(json_object_get(o, "level"), r);
    json_decref(o);
    return wrong;
}
