// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/login_visit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/wire/base64.h"
#include "server/access/access_guest.h"
#include "server/web/web_login.h"

enum { PAIR_MAX = WEB_USER_MAX + WEB_PASSWORD_MAX };

struct login_visit {
    struct login_visit_config config;
    struct access_guest *guest; // owned
    struct access_refusal refusal;
    char token[LOGIN_TOKEN_TEXT];
};

struct login_visit *login_visit_new(const struct login_visit_config *config)
{
    struct login_visit *v = calloc(1, sizeof(*v));
    if (!v)
        return NULL;
    v->config = *config;
    struct access_guest_config guest = {.access = config->access,
                                        .loop = config->loop,
                                        .peer = config->peer,
                                        .on_ready = config->on_ready,
                                        .ctx = config->ctx,
                                        .forgets = true};
    v->config.peer = NULL; // it is no longer needed
    v->guest = access_guest_new(&guest);
    if (v->guest)
        return v;
    free(v);
    return NULL;
}

void login_visit_free(struct login_visit *v)
{
    if (!v)
        return;
    access_guest_free(v->guest);
    explicit_bzero(v, sizeof(*v));
    free(v);
}

bool login_visit_ask(struct login_visit *v, const struct login_query *q, struct web_login *out,
                     usec_t now)
{
    struct web_credentials given;
    char pair[PAIR_MAX + 1], header[BASE64_TEXT(PAIR_MAX) + 8] = "Basic ";
    int err = web_login_form(q->form, &given);
    *out =
        (struct web_login){.status = 400,
                           .reason = err == ERR_TOO_BIG ? "the user or the password is too long"
                                                        : "enter the user's name and the password"};
    if (err)
        return true;
    // The one way that passwords are verified (access_logins.h).
    int len = snprintf(pair, sizeof(pair), "%s:%s", given.user, given.password);
    size_t coded = base64_encode((const uint8_t *)pair, (size_t)len, BASE64_STANDARD, header + 6);
    struct access_request r = {.authorization = {header, 6 + coded},
                               .token = q->token,
                               .right = ACCESS_WATCH,
                               .is_secure = q->is_secure};
    enum access_answer answer = access_guest_log_in(v->guest, &r, v->token, &v->refusal, now);
    if (answer == ACCESS_GRANTED) {
        *out = (struct web_login){.status = 204, .token = v->token};
        log_of(LOG_INFO, "viewer", v->config.name, "viewer %s logs in as %s", v->config.name,
               given.user);
    } else if (answer == ACCESS_REFUSED) {
        *out = (struct web_login){.status = v->refusal.status, .reason = v->refusal.text};
        log_of(LOG_INFO, "viewer", v->config.name, "viewer %s is not let in: %s", v->config.name,
               v->refusal.text);
    }
    explicit_bzero(&given, sizeof(given));
    explicit_bzero(pair, sizeof(pair));
    explicit_bzero(header, sizeof(header));
    return answer != ACCESS_WAITS;
}
