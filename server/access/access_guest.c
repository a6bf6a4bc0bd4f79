// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/access/access_guest.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"
#include "common/wire/request_path.h"
#include "server/access/access_parts.h"
#include "server/http/peer_key.h"
#include "server/policy/login_failures.h"

#define RETRY (200 * USEC_PER_MSEC) // until there may be room for a password

// What a request waits for. It is asked again, and continues from here.
enum step {
    STEP_NEW,
    STEP_DELAYED,  // before a password is verified: the address has failed too often
    STEP_QUEUE,    // for room in the queue of passwords
    STEP_VERIFY,   // for the result
    STEP_VERIFIED, // `user` is the result
    STEP_REFUSED,  // `reason` is answered now
    STEP_SERVICE,  // for the service's result
    STEP_ANSWERED, // `user` is that
};

struct access_guest {
    struct access_guest_config config;
    struct place_key address;
    struct sockaddr_storage peer;
    bool is_local;
    struct timer *timer; // owned
    enum step step;
    usec_t since;  // of the first of these steps
    bool has_turn; // the address has failed too often, and this attempt has waited for its turn
    int user;      // or the result of the service
    const char *reason;             // static
    struct access_inquiry *inquiry; // STEP_SERVICE; its owner is access_service
    struct access_login *login;     // STEP_VERIFY; its owner is access_logins
    bool has_scope;                 // the connection was let in for this path and this right:
    bool is_exact;                  // not for what is below it: the service let it in
    unsigned right;
    char scope[REQUEST_PATH_MAX];
};

static void on_timer(void *ctx, usec_t now)
{
    struct access_guest *g = ctx;
    g->config.on_ready(g->config.ctx, now);
}

static void on_login(void *ctx, int user, usec_t now)
{
    struct access_guest *g = ctx;
    g->login = NULL;
    g->user = user;
    g->step = STEP_VERIFIED;
    g->config.on_ready(g->config.ctx, now);
}

static void on_inquiry(void *ctx, int result, usec_t now)
{
    struct access_guest *g = ctx;
    g->inquiry = NULL;
    g->user = result;
    g->step = STEP_ANSWERED;
    g->config.on_ready(g->config.ctx, now);
}

struct access_guest *access_guest_new(const struct access_guest_config *config)
{
    struct access_guest *g = calloc(1, sizeof(*g));
    if (!g)
        return NULL;
    g->config = *config;
    g->is_local = sockaddr_is_loopback(config->peer);
    g->address = peer_key(config->peer);
    memcpy(&g->peer, config->peer,
           config->peer->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                               : sizeof(struct sockaddr_in));
    g->config.peer = NULL; // it is not needed any more
    g->timer = timer_new(config->loop, on_timer, g);
    if (!g->timer) {
        free(g);
        return NULL;
    }
    return g;
}

void access_guest_free(struct access_guest *g)
{
    if (!g)
        return;
    access_logins_leave(g->login);
    access_service_leave(g->inquiry);
    timer_free(g->timer);
    free(g);
}

static enum access_answer wait_for(struct access_guest *g, enum step step, usec_t until, usec_t now)
{
    if (g->step == STEP_NEW)
        g->since = now;
    g->step = step;
    timer_set(g->timer, until);
    return ACCESS_WAITS;
}

static enum access_answer grant(struct access_guest *g, const char *scope, unsigned right)
{
    g->step = STEP_NEW;
    g->has_turn = false;
    g->has_scope = true;
    g->is_exact = false;
    g->right = right;
    memmove(g->scope, scope, strlen(scope) + 1);
    return ACCESS_GRANTED;
}

static enum access_answer refuse(struct access_guest *g, const struct access_request *r, int status,
                                 const char *text, struct access_refusal *why)
{
    g->step = STEP_NEW;
    g->has_turn = false;
    return access_refuse(g->config.access, g->is_local || r->is_secure, status, text, why);
}

// A key or a password was wrong.
static enum access_answer fail(struct access_guest *g, const struct access_request *r,
                               const char *reason, struct access_refusal *why, usec_t now)
{
    bool was_delayed = g->step != STEP_NEW && now - g->since >= LOGIN_DELAY;
    bool is_delayed = access_note_failure(g->config.access, g->address, now);
    if (!is_delayed || was_delayed)
        return refuse(g, r, 401, reason, why);
    g->reason = reason;
    return wait_for(g, STEP_REFUSED, now + LOGIN_DELAY, now);
}

// Continues with the header of a user, who is *user if the password is right.
static enum access_answer identify(struct access_guest *g, const struct access_request *r,
                                   int *user, struct access_refusal *why, usec_t now)
{
    struct access *a = g->config.access;
    struct access_logins *logins = access_logins_of(a);
    if (!logins)
        return refuse(g, r, 401, access_needed(a, false), why);
    if (!g->is_local && !r->is_secure)
        return refuse(g, r, 401, ACCESS_PLAIN_TEXT, why);
    *user = g->step == STEP_VERIFIED ? g->user : access_logins_known(logins, r->authorization);
    if (*user >= 0)
        return ACCESS_GRANTED;
    if (*user == ERR_MALFORMED)
        return refuse(g, r, 401, access_needed(a, true), why);
    if (*user == ERR_NOT_FOUND)
        return fail(g, r, ACCESS_WRONG_TEXT, why, now);
    usec_t limit = (g->step == STEP_NEW ? now : g->since) + ACCESS_GUEST_LIMIT;
    // Asked again after each wait for the queue: others of the address may have failed meanwhile.
    usec_t turn = g->has_turn ? now : access_turn(a, g->address, limit, now);
    if (turn > limit)
        return refuse(g, r, 429, ACCESS_BUSY_TEXT, why);
    if (turn > now) {
        g->has_turn = true;
        return wait_for(g, STEP_DELAYED, turn, now);
    }
    g->login = access_logins_begin(logins, g->address, r->authorization, on_login, g);
    if (g->login)
        return wait_for(g, STEP_VERIFY, USEC_NEVER, now);
    if (g->step != STEP_NEW && now - g->since > ACCESS_GUEST_LIMIT)
        return refuse(g, r, 503, "busy verifying passwords: try again", why);
    return wait_for(g, STEP_QUEUE, now + RETRY, now);
}

// Continues with a request to `path` that the service decides.
static enum access_answer ask_service(struct access_guest *g, const struct access_request *r,
                                      const char *path, struct access_refusal *why, usec_t now)
{
    struct access *a = g->config.access;
    struct access_service *s = access_service_of(a);
    struct access_question q;
    bool may_log_in = g->is_local || r->is_secure;
    bool has_secret = r->key.len || r->authorization.at;
    bool was_asked = g->step == STEP_ANSWERED;
    if (!r->key.len && r->authorization.at && !may_log_in)
        return refuse(g, r, 401, ACCESS_PLAIN_TEXT, why);
    bool good = access_question_make(r, path, (const struct sockaddr *)&g->peer, &q);
    int result = !good ? 401 : was_asked ? g->user : access_service_known(s, &q, now);
    usec_t limit = (g->step == STEP_NEW ? now : g->since) + ACCESS_GUEST_LIMIT;
    usec_t turn = result != ERR_AGAIN || g->has_turn || !has_secret
                      ? now
                      : access_turn(a, g->address, limit, now);
    if (result == ERR_AGAIN && turn == now)
        g->inquiry = access_service_begin(s, g->address, &q, on_inquiry, g);
    explicit_bzero(&q, sizeof(q));
    if (result == 200) {
        grant(g, path, r->right);
        g->is_exact = true;
        return ACCESS_GRANTED;
    }
    if (result == 401 && has_secret)
        return fail(g, r, access_service_says(a, may_log_in, 401), why, now);
    if (result != ERR_AGAIN)
        return refuse(g, r, result, access_service_says(a, may_log_in, result), why);
    if (turn > limit)
        return refuse(g, r, 429, ACCESS_BUSY_TEXT, why);
    if (turn > now) {
        g->has_turn = true;
        return wait_for(g, STEP_DELAYED, turn, now);
    }
    if (g->inquiry)
        return wait_for(g, STEP_SERVICE, USEC_NEVER, now);
    if (g->step != STEP_NEW && now - g->since > ACCESS_GUEST_LIMIT)
        return refuse(g, r, 503, ACCESS_SERVICE_TEXT, why);
    return wait_for(g, STEP_QUEUE, now + RETRY, now);
}

static bool is_let_in(const struct access_guest *g, const struct access_request *r,
                      const char *path)
{
    if (!g->has_scope || (g->right & r->right) != r->right || !access_path_is_below(g->scope, path))
        return false;
    const char *rest = path + strlen(g->scope);
    return !g->is_exact || r->in_session || !*rest || strcmp(rest, "/") == 0 ||
           strncmp(rest, "/trackID=", 9) == 0;
}

bool access_guest_is_open(const struct access_guest *g)
{
    return access_is_open_to(g->config.access, g->is_local);
}

enum access_answer access_guest_ask(struct access_guest *g, const struct access_request *r,
                                    struct access_refusal *why, usec_t now)
{
    struct access *a = g->config.access;
    char path[REQUEST_PATH_MAX], text[REQUEST_PATH_MAX], scope[REQUEST_PATH_MAX];
    if (g->step == STEP_VERIFY || g->step == STEP_SERVICE)
        return ACCESS_WAITS;
    if (g->step == STEP_REFUSED)
        return refuse(g, r, 401, g->reason, why);
    if (access_is_open_to(a, g->is_local))
        return ACCESS_GRANTED;
    if (!g->is_local && !r->is_secure && access_requires_tls(a))
        return refuse(g, r, 403, ACCESS_TLS_TEXT, why);
    text_copy(r->path, text, sizeof(text));
    bool may_log_in = g->is_local || r->is_secure;
    if (r->path.len >= sizeof(text) || request_path_decode(text, path, sizeof(path)) != 0)
        return refuse(g, r, 401, access_needed(a, may_log_in), why);
    bool is_plain = !r->key.len && !r->authorization.at;
    if ((is_plain || r->in_session) && !g->config.forgets && is_let_in(g, r, path))
        return ACCESS_GRANTED;
    if (access_allows(a, ACCESS_EVERYBODY, path, r->right))
        return ACCESS_GRANTED;
    const char *reason = r->key.len ? access_check_key(a, path, r->key, r->right, scope) : "";
    if (!reason)
        return grant(g, scope, r->right);
    if (access_service_of(a))
        return ask_service(g, r, path, why, now);
    if (r->key.len)
        return fail(g, r, reason, why, now);
    int user = may_log_in && r->token.len ? access_session_find(a, r->token, now) : ERR_NOT_FOUND;
    bool is_logged_in = user >= 0;
    if (is_logged_in && access_allows(a, user, path, r->right))
        return grant(g, path, r->right);
    if (!r->authorization.at)
        return refuse(g, r, is_logged_in ? 403 : 401,
                      is_logged_in ? ACCESS_RIGHT_TEXT : access_needed(a, may_log_in), why);
    enum access_answer answer = identify(g, r, &user, why, now);
    if (answer != ACCESS_GRANTED)
        return answer;
    return access_allows(a, user, path, r->right) ? grant(g, path, r->right)
                                                  : refuse(g, r, 403, ACCESS_RIGHT_TEXT, why);
}

enum access_answer access_guest_log_in(struct access_guest *g, const struct access_request *r,
                                       char out[LOGIN_TOKEN_TEXT], struct access_refusal *why,
                                       usec_t now)
{
    struct access *a = g->config.access;
    int user;
    if (g->step == STEP_VERIFY)
        return ACCESS_WAITS;
    if (g->step == STEP_REFUSED)
        return refuse(g, r, 401, g->reason, why);
    if (!access_logins_of(a))
        return refuse(g, r, 403, ACCESS_NO_USERS_TEXT, why);
    enum access_answer answer = identify(g, r, &user, why, now);
    if (answer != ACCESS_GRANTED)
        return answer;
    g->step = STEP_NEW;
    g->has_turn = false;
    if (!access_session_add(a, user, now, out))
        return refuse(g, r, 503, "the users have changed meanwhile: try again", why);
    access_log_out(a, r->token);
    return ACCESS_GRANTED;
}
