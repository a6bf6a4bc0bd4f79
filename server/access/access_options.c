// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/access/access_options.h"

#include <string.h>

#include "common/base/err.h"
#include "common/base/scan.h"
#include "common/net/udp_socket.h"
#include "common/wire/request_path.h"
#include "server/access/access_user.h"
#include "server/policy/access_question.h"

enum { DAY_S = 24 * 3600, DAYS_MAX = 36500 };

int64_t access_options_seconds(const char *text)
{
    struct scan s = scan_of(text, strlen(text));
    int64_t count;
    if (strcmp(text, "ever") == 0)
        return 0;
    if (!scan_int(&s, (int64_t)DAYS_MAX * DAY_S / 60, &count) || count < 1 || scan_left(&s) != 1)
        return ERR_MALFORMED;
    int64_t unit = *s.at == 'm' ? 60 : *s.at == 'h' ? 3600 : *s.at == 'd' ? DAY_S : 0;
    return unit && count <= (int64_t)DAYS_MAX * DAY_S / unit ? count * unit : ERR_MALFORMED;
}

const char *access_options_read_for(void *options, const char *value, char *reason, size_t cap)
{
    (void)options, (void)reason, (void)cap;
    return access_options_seconds(value) < 0 ? "expects 90m, 12h, 7d or ever; at most 36500d"
                                             : NULL;
}

const char *access_options_read_path(void *options, const char *value, char *reason, size_t cap)
{
    (void)options, (void)reason, (void)cap;
    char path[REQUEST_PATH_MAX];
    if (strcmp(value, ACCESS_INVITE_METRICS) == 0 || strcmp(value, ACCESS_INVITE_CONTROL) == 0)
        return NULL;
    if (strncmp(value, ACCESS_INVITE_PUBLISH, strlen(ACCESS_INVITE_PUBLISH)) == 0)
        value += strlen(ACCESS_INVITE_PUBLISH);
    return value[0] == '/' && strlen(value) < REQUEST_URL_PATH_MAX && !strpbrk(value, "?# ") &&
                   request_path_decode(value, path, sizeof(path)) == 0
               ? NULL
               : "expects the path of a URL, such as /live, / for all of them, publish:/live, or "
                 "metrics or control";
}

const char *access_options_read_user(void *options, const char *value, char *reason, size_t cap)
{
    (void)options, (void)reason, (void)cap;
    return access_user_is_name(value) ? NULL
                                      : "expects a name without colons and spaces, shorter than 64 "
                                        "bytes, other than *";
}

const char *access_options_read_service(void *options, const char *value, char *reason, size_t cap)
{
    (void)options, (void)reason, (void)cap;
    struct access_service_url url;
    return access_service_url_read(value, &url) == 0
               ? NULL
               : "expects http://127.0.0.1:PORT/PATH or http://[::1]:PORT/PATH, a service of this "
                 "machine, as passwords are sent to it in the clear";
}

const char *access_options_conflict(const struct access_options *o)
{
    if (o->file && o->service)
        return "conflicts with the option that names a file of users: give one of them";
    return o->invite_for && !o->invite ? "--for requires --invite PATH" : NULL;
}

static bool is_reachable(const struct sockaddr *at)
{
    return at->sa_family != AF_UNSPEC && !sockaddr_is_loopback(at);
}

int access_options_open(const struct access_options *o, const char *state_dir, uv_loop_t *loop,
                        const struct sockaddr *listen, const struct sockaddr *metrics,
                        struct access **out)
{
    struct access_config config = {.loop = loop,
                                   .file = o->file,
                                   .service = o->service,
                                   .state_dir = state_dir,
                                   .insecure = o->insecure};
    bool is_far = is_reachable(listen) || is_reachable(metrics);
    *out = NULL;
    if (!o->file && !o->service && (o->insecure || !is_far))
        return 0;
    *out = access_new(&config);
    return *out ? 0 : ERR_IO;
}
