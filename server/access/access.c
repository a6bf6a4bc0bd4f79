// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/access/access.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/random.h"
#include "common/net/udp_socket.h"
#include "common/program/private_file.h"
#include "common/program/private_path.h"
#include "common/program/state_dir.h"
#include "common/wire/request_path.h"
#include "server/access/access_parts.h"
#include "server/http/peer_key.h"
#include "server/policy/login_failures.h"

enum { FILE_MAX = 64 * 1024 };

struct access {
    uint8_t secret[ACCESS_SECRET_BYTES];
    char *file;                     // owned; NULL: none, nor are there rules and logins
    struct access_rules *rules;     // owned
    struct access_logins *logins;   // owned
    struct access_service *service; // owned; NULL: none
    pthread_mutex_t lock; // guards the rules and the following; held only to read or write them
    struct login_failures failures;
    struct login_sessions sessions;
    bool insecure; // as struct access_config has it
};

// ---- Life

static int make_secret(void *ctx, uint8_t *out, size_t cap, size_t *len)
{
    (void)ctx;
    *len = ACCESS_SECRET_BYTES;
    if (cap >= *len && random_fill(out, *len))
        return 0;
    log_error("the system has no randomness");
    return ERR_IO;
}

static int read_secret(struct access *a, const char *state_dir)
{
    char dir[STATE_PATH_MAX];
    size_t len;
    int err = state_dir_find(state_dir, dir);
    if (!err)
        err = state_file_create_once(dir, "secret", make_secret, NULL, a->secret, sizeof(a->secret),
                                     &len);
    if (err || len == sizeof(a->secret))
        return err;
    log_error("%s/secret is damaged: expected 32 bytes (delete it: a new one is made, and keys "
              "that were given out become invalid)",
              dir);
    return ERR_MALFORMED;
}

static int read_rules(struct access_rules *rules, const char *name)
{
    char error[256];
    struct stat st;
    int fd = private_path_open(AT_FDCWD, name, name, 0);
    if (fd == ERR_UNTRUSTED)
        return ERR_IO;
    FILE *file = fd < 0 ? NULL : fdopen(fd, "rb");
    if (file && private_check(fileno(file), name, PRIVATE_OWN) != 0) {
        fclose(file);
        return ERR_IO;
    }
    char *text = file ? malloc(FILE_MAX + 1) : NULL;
    size_t len = text ? fread(text, 1, FILE_MAX + 1, file) : 0;
    int err = 0;
    if (!text || ferror(file) || len > FILE_MAX) {
        err = ERR_IO;
        log_error("cannot read --access %s: %s", name,
                  len > FILE_MAX ? "it is larger than 64 KiB" : strerror(errno));
    } else {
        err = access_rules_read(rules, text, len, error, sizeof(error));
        if (err)
            log_error("--access %s: %s", name, error);
        else if (!access_logins_supports(rules))
            err = ERR_IO;
    }
    if (!err && fstat(fileno(file), &st) == 0 && st.st_mode & S_IROTH)
        log_warn("--access %s: other users of this machine may read it (chmod 640 it)", name);
    if (file)
        fclose(file);
    free(text);
    return err;
}

struct access *access_new(const struct access_config *config)
{
    struct siphash_key key;
    struct access *a = calloc(1, sizeof(*a));
    if (!a)
        return NULL;
    pthread_mutex_init(&a->lock, NULL);
    if (!random_fill(&key, sizeof(key)) || read_secret(a, config->state_dir) != 0)
        goto free_access;
    a->insecure = config->insecure;
    login_failures_init(&a->failures, key);
    login_sessions_init(&a->sessions);
    if (config->service && !(a->service = access_service_new(config->loop, config->service)))
        goto free_access;
    if (!config->file)
        return a;
    a->file = strdup(config->file);
    a->rules = calloc(1, sizeof(*a->rules));
    if (!a->file || !a->rules || read_rules(a->rules, a->file) != 0)
        goto free_access;
    a->logins = access_logins_new(config->loop, a->rules, &a->lock);
    if (a->logins)
        return a;

free_access:
    access_free(a);
    return NULL;
}

void access_free(struct access *a)
{
    if (!a)
        return;
    access_logins_free(a->logins);
    access_service_free(a->service);
    free(a->rules);
    free(a->file);
    pthread_mutex_destroy(&a->lock);
    explicit_bzero(a, sizeof(*a));
    free(a);
}

int access_reload(struct access *a)
{
    struct access_rules *next = a->file ? calloc(1, sizeof(*next)) : NULL;
    if (!a->file)
        return 0;
    if (next)
        next->generation = (a->rules->generation + 1) % ACCESS_GENERATIONS;
    int err = next ? read_rules(next, a->file) : ERR_IO;
    if (!err) {
        pthread_mutex_lock(&a->lock);
        for (int i = 0; i < a->rules->user_count; i++) {
            const struct access_user *user = &a->rules->users[i];
            int to = access_rules_find(next, user->name);
            bool stays = to >= 0 && strcmp(access_rules_hash(next, to), user->hash) == 0;
            login_sessions_move(&a->sessions, access_rules_number(a->rules, i), stays ? to : -1);
        }
        *a->rules = *next;
        access_logins_forget(a->logins);
        pthread_mutex_unlock(&a->lock);
    } else {
        log_error("--access %s: the users and rights stay as they were", a->file);
    }
    free(next);
    return err ? ERR_IO : 0;
}

int access_invite(const struct access *a, const char *url_path, unsigned rights, int64_t seconds,
                  char out[ACCESS_KEY_TEXT])
{
    char path[REQUEST_PATH_MAX];
    int64_t expires = seconds ? clock_wall() / USEC_PER_SEC + seconds : 0;
    if (request_path_decode(url_path, path, sizeof(path)) != 0)
        return ERR_MALFORMED;
    if (seconds < 0 || expires > UINT32_MAX)
        return ERR_RANGE;
    struct access_key key = {.rights = rights, .expires = (uint32_t)expires};
    return access_key_make(a->secret, &key, path, out);
}

// ---- Answers

struct access_logins *access_logins_of(struct access *a)
{
    pthread_mutex_lock(&a->lock);
    bool has_users = a->rules && a->rules->user_count;
    pthread_mutex_unlock(&a->lock);
    return has_users ? a->logins : NULL;
}

bool access_is_open_to(const struct access *a, bool is_local)
{
    return is_local && !a->rules && !a->service;
}

struct access_service *access_service_of(const struct access *a)
{
    return a->service;
}

bool access_question_make(const struct access_request *r, const char *path,
                          const struct sockaddr *peer, struct access_question *out)
{
    char basic[ACCESS_BASIC_MAX], address[SOCKADDR_TEXT];
    const char *password;
    memset(out, 0, sizeof(*out)); // also the padding: it is hashed
    out->right = r->right;
    snprintf(out->path, sizeof(out->path), "%s", path);
    sockaddr_text(peer, address, sizeof(address));
    char *colon = strrchr(address, ':');
    size_t bracket = address[0] == '[';
    if (colon)
        snprintf(out->address, sizeof(out->address), "%.*s",
                 (int)(colon - address - 2 * (ptrdiff_t)bracket), address + bracket);
    if (r->key.len >= sizeof(out->key))
        return false;
    text_copy(r->key, out->key, sizeof(out->key));
    if (r->key.len || !r->authorization.at)
        return true;
    bool good = access_basic_read(r->authorization, basic, &password) > 0 && *basic;
    if (good) {
        snprintf(out->user, sizeof(out->user), "%s", basic);
        snprintf(out->password, sizeof(out->password), "%s", password);
    }
    explicit_bzero(basic, sizeof(basic));
    return good;
}

bool access_requires_tls(const struct access *a)
{
    return !a->insecure;
}

bool access_must_wait(struct access *a, struct place_key address, usec_t now)
{
    pthread_mutex_lock(&a->lock);
    bool waits = login_failures_must_wait(&a->failures, address, now);
    pthread_mutex_unlock(&a->lock);
    return waits;
}

usec_t access_turn(struct access *a, struct place_key address, usec_t limit, usec_t now)
{
    pthread_mutex_lock(&a->lock);
    usec_t turn = login_failures_turn(&a->failures, address, limit, now);
    pthread_mutex_unlock(&a->lock);
    return turn;
}

bool access_note_failure(struct access *a, struct place_key address, usec_t now)
{
    pthread_mutex_lock(&a->lock);
    login_failures_add(&a->failures, address, now);
    bool waits = login_failures_must_wait(&a->failures, address, now);
    pthread_mutex_unlock(&a->lock);
    return waits;
}

bool access_session_add(struct access *a, int user, usec_t now, char out[LOGIN_TOKEN_TEXT])
{
    uint8_t random[LOGIN_TOKEN_BYTES];
    if (!random_fill(random, sizeof(random)))
        return false;
    pthread_mutex_lock(&a->lock);
    bool exists = access_rules_hash(a->rules, user) != NULL;
    if (exists)
        login_sessions_add(&a->sessions, random, user, now, out);
    pthread_mutex_unlock(&a->lock);
    return exists;
}

int access_session_find(struct access *a, struct text token, usec_t now)
{
    pthread_mutex_lock(&a->lock);
    int user = login_sessions_find(&a->sessions, token, now);
    pthread_mutex_unlock(&a->lock);
    return user;
}

void access_log_out(struct access *a, struct text token)
{
    pthread_mutex_lock(&a->lock);
    login_sessions_end(&a->sessions, token);
    pthread_mutex_unlock(&a->lock);
}

const char *access_needed(struct access *a, bool may_log_in)
{
    return may_log_in && (access_logins_of(a) || a->service) ? ACCESS_USER_TEXT
                                                             : ACCESS_NEEDED_TEXT;
}

const char *access_service_says(struct access *a, bool may_log_in, int result)
{
    return result == 503   ? ACCESS_SERVICE_TEXT
           : result == 403 ? ACCESS_DENIED_TEXT
                           : access_needed(a, may_log_in);
}

enum access_answer access_refuse(struct access *a, bool may_log_in, int status, const char *text,
                                 struct access_refusal *why)
{
    *why = (struct access_refusal){.status = status, .text = text};
    // RFC 2616, 10.4.2: the header must be there; a key is no scheme that a client could use.
    if (status == 401)
        snprintf(why->challenge, sizeof(why->challenge), "%s realm=\"weir\"",
                 may_log_in && (access_logins_of(a) || a->service) ? "Basic" : "Weir-Key");
    return ACCESS_REFUSED;
}

const char *access_check_key(const struct access *a, const char *path, struct text text,
                             unsigned right, char *scope)
{
    struct access_key key;
    size_t len;
    if (access_key_read(a->secret, text, path, &key, &len) != 0)
        return "the key is not valid for this path: ask the owner of the server for another one "
               "(--invite PATH)";
    if (key.expires && clock_wall() / USEC_PER_SEC >= key.expires)
        return "the key has expired: ask the owner of the server for a new one (--invite PATH)";
    if ((key.rights & right) != right)
        return "the key is not for this: ask the owner of the server for another one";
    memcpy(scope, path, len);
    scope[len] = '\0';
    return NULL;
}

bool access_allows(struct access *a, int user, const char *path, unsigned right)
{
    pthread_mutex_lock(&a->lock);
    unsigned rights = a->rules ? access_rules_rights(a->rules, user, path) : 0;
    pthread_mutex_unlock(&a->lock);
    return (rights & right) == right;
}

// For access_http().
static enum access_answer ask_service(struct access *a, const struct sockaddr *peer,
                                      const struct access_request *r, const char *path,
                                      struct access_refusal *why, usec_t now)
{
    struct access_question q;
    bool may_log_in = sockaddr_is_loopback(peer) || r->is_secure;
    bool has_secret = r->key.len || r->authorization.at;
    if (!r->key.len && r->authorization.at && !may_log_in)
        return access_refuse(a, may_log_in, 401, ACCESS_PLAIN_TEXT, why);
    int result =
        access_question_make(r, path, peer, &q) ? access_service_known(a->service, &q, now) : 401;
    if (result != 200 && has_secret && access_must_wait(a, peer_key(peer), now)) {
        explicit_bzero(&q, sizeof(q));
        return access_refuse(a, may_log_in, 429, ACCESS_BUSY_TEXT, why);
    }
    if (result == ERR_AGAIN)
        result = access_service_ask(a->service, &q);
    explicit_bzero(&q, sizeof(q));
    if (result == 200)
        return ACCESS_GRANTED;
    if (result == 401 && has_secret)
        access_note_failure(a, peer_key(peer), now);
    return access_refuse(a, may_log_in, result, access_service_says(a, may_log_in, result), why);
}

enum access_answer access_http(struct access *a, const struct sockaddr *peer,
                               const struct access_request *r, struct access_refusal *why,
                               usec_t now)
{
    char path[REQUEST_PATH_MAX], text[REQUEST_PATH_MAX], scope[REQUEST_PATH_MAX];
    bool is_local = sockaddr_is_loopback(peer);
    bool may_log_in = is_local || r->is_secure;
    if (access_is_open_to(a, is_local) && !r->is_strict)
        return ACCESS_GRANTED;
    text_copy(r->path, text, sizeof(text));
    if (r->path.len >= sizeof(text) || request_path_decode(text, path, sizeof(path)) != 0)
        return access_refuse(a, may_log_in, 401, access_needed(a, may_log_in), why);
    if (access_allows(a, ACCESS_EVERYBODY, path, r->right) && !r->is_strict)
        return ACCESS_GRANTED;
    const char *reason = access_needed(a, may_log_in);
    struct access_logins *logins = access_logins_of(a);
    if (r->key.len) {
        reason = access_check_key(a, path, r->key, r->right, scope);
        if (!reason)
            return ACCESS_GRANTED;
        if (a->service)
            return ask_service(a, peer, r, path, why, now);
        if (access_must_wait(a, peer_key(peer), now))
            return access_refuse(a, may_log_in, 429, ACCESS_BUSY_TEXT, why);
    } else if (a->service && (r->authorization.at || !r->is_strict)) {
        return ask_service(a, peer, r, path, why, now);
    } else if (!r->authorization.at || !logins) {
        return access_refuse(a, may_log_in, 401, reason, why);
    } else if (!may_log_in) {
        return access_refuse(a, may_log_in, 401, ACCESS_PLAIN_TEXT, why);
    } else {
        int user = access_logins_known(logins, r->authorization);
        if (user < 0 && access_must_wait(a, peer_key(peer), now))
            return access_refuse(a, may_log_in, 429, ACCESS_BUSY_TEXT, why);
        if (user == ERR_AGAIN)
            user = access_logins_verify(logins, r->authorization);
        if (user >= 0)
            return access_allows(a, user, path, r->right)
                       ? ACCESS_GRANTED
                       : access_refuse(a, may_log_in, 403, ACCESS_RIGHT_TEXT, why);
        reason = ACCESS_WRONG_TEXT;
    }
    access_note_failure(a, peer_key(peer), now);
    return access_refuse(a, may_log_in, 401, reason, why);
}
