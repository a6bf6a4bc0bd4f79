// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/path_guest.h"

#include <stdio.h>
#include <string.h>

#include "common/base/log.h"
#include "common/wire/request_path.h"
#include "common/wire/url.h"

enum access_answer path_guest_ask(struct access_guest *guest, const struct path_query *q,
                                  const char *name, struct access_refusal *why, usec_t now)
{
    char query[REQUEST_URL_PATH_MAX], key[URL_MAX_KEY] = "";
    if (!guest)
        return ACCESS_GRANTED;
    if (snprintf(query, sizeof(query), "/?%.*s", (int)q->query.len, q->query.at) <
        (int)sizeof(query))
        (void)url_take_parameter(query, "key", key, sizeof(key));
    struct access_request r = {.path = q->path,
                               .key = {key, strlen(key)},
                               .authorization = q->authorization,
                               .token = q->token,
                               .right = ACCESS_WATCH,
                               .is_secure = q->is_secure};
    enum access_answer answer = access_guest_ask(guest, &r, why, now);
    if (answer == ACCESS_REFUSED && (r.key.len || r.authorization.at))
        log_of(LOG_INFO, "viewer", name, "viewer %s is not let in: %s", name, why->text);
    return answer;
}
