// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/transport/transport_list.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"

static bool is_auto(const char *word, size_t len)
{
    return len == 4 && memcmp(word, "auto", len) == 0;
}

static bool is_transport(const char *word, size_t len)
{
    if (is_auto(word, len))
        return true;
    for (int i = 0; transport_kinds[i]; i++) {
        const char *name = transport_kinds[i]->name;
        if (strlen(name) == len && memcmp(name, word, len) == 0)
            return true;
    }
    return false;
}

static bool belongs_to_last(const struct transport_list *list, const char *part)
{
    if (*part >= '0' && *part <= '9')
        return true;
    if (!list->count)
        return false;
    const char *params = strchr(list->names[list->count - 1], ':');
    size_t len = strcspn(part, ":=,");
    return params && part[len] != ':' && !is_transport(part, len);
}

static int append(struct transport_list *out, const char *part, size_t len)
{
    size_t used = 0;
    if (belongs_to_last(out, part)) {
        if (!out->count)
            return ERR_MALFORMED;
        char *last = out->names[out->count - 1];
        used = strlen(last);
        if (used + 1 + len >= TRANSPORT_MAX_NAME)
            return ERR_TOO_BIG;
        last[used++] = ',';
    } else {
        if (out->count == RTSP_MAX_OFFERS || len >= TRANSPORT_MAX_NAME)
            return ERR_TOO_BIG;
        out->count++;
    }
    memcpy(out->names[out->count - 1] + used, part, len);
    return 0;
}

static int append_auto(struct transport_list *out)
{
    out->any = true;
    snprintf(out->beside, sizeof(out->beside), "%s", TRANSPORT_LIST_BESIDE);
    return append(out, TRANSPORT_LIST_FIRST, sizeof(TRANSPORT_LIST_FIRST) - 1);
}

static int append_all(struct transport_list *out, const char *text)
{
    for (const char *part = text;; part++) {
        size_t len = strcspn(part, ",");
        if (!len)
            return ERR_MALFORMED;
        int err = is_auto(part, len) ? append_auto(out) : append(out, part, len);
        if (err)
            return err;
        part += len;
        if (!*part)
            return 0;
    }
}

int transport_list_split(const char *text, struct transport_list *out)
{
    memset(out, 0, sizeof(*out));
    int err = append_all(out, text);
    for (int i = 0; i < out->count; i++)
        out->udp[i] = transport_needs_udp(out->names[i]);
    return err;
}

const char *transport_list_read(struct transport_list *list, const char *value, char *why,
                                size_t cap)
{
    char names[256];
    transport_names(names, sizeof(names));
    int err = transport_list_split(value, list);
    if (err == ERR_TOO_BIG)
        snprintf(why, cap, "at most %d transports, each shorter than %d characters",
                 RTSP_MAX_OFFERS, TRANSPORT_MAX_NAME);
    else if (err)
        snprintf(why, cap, "expects NAME[:PARAMS][,NAME...] (available: %s, auto)", names);
    for (int i = 0; !err && i < list->count; i++) {
        const struct transport_kind *kind;
        const char *params;
        err = transport_find(list->names[i], &kind, &params);
        if (err == ERR_NOT_FOUND)
            snprintf(why, cap, "unknown transport '%s' (available: %s, auto)", list->names[i],
                     names);
        else if (err)
            snprintf(why, cap, "the parameters of '%s' are %s; %s: %s", list->names[i],
                     err == ERR_RANGE ? "out of range" : "malformed", kind->name, kind->help);
    }
    return err ? why : NULL;
}

const char *transport_list_value(int i, const char **help)
{
    int count = 0;
    while (count < i && transport_kinds[count])
        count++;
    const struct transport_kind *k = transport_kinds[count];
    bool is_auto = !k && count == i; // after the last
    *help = is_auto ? TRANSPORT_LIST_FIRST ", from which live media moves to " TRANSPORT_LIST_BESIDE
                                           " where UDP passes"
            : k ? k->help
                : NULL;
    return is_auto ? "auto" : k ? k->name : NULL;
}

bool transport_list_needs_raw(const struct transport_list *list)
{
    bool needs = false;
    for (int i = 0; i < list->count; i++)
        needs |= transport_needs_raw(list->names[i]);
    return needs;
}

struct transport_list transport_list_standard(const struct transport_list *list)
{
    const struct transport_kind *kind;
    const char *params;
    bool tcp = list->any, udp = list->any;
    if (list->count == 1 && strcmp(list->names[0], TRANSPORT_MULTICAST) == 0)
        return *list;
    for (int i = 0; i < list->count; i++) {
        bool known = transport_find(list->names[i], &kind, &params) == 0 && !kind->needs_raw;
        tcp |= known && !kind->datagram;
        udp |= known && kind->datagram;
    }
    struct transport_list out = {0};
    if (tcp || !udp)
        strcpy(out.names[out.count++], "tcp");
    if (udp) {
        out.udp[out.count] = true;
        strcpy(out.names[out.count++], "udp");
    }
    return out;
}
