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
    struct access_rules *rules;   // owned; NULL: no file
    struct access_logins *logins; // owned; NULL: no users
    pthread_mutex_t lock;         // guards `failures`; held only to read or write it
    struct login_failures failures;
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
    if (!config->file)
        return a;
    a->rules = calloc(1, sizeof(*a->rules));
    if (!a->rules || read_rules(a->rules, config->file) != 0)
        goto free_access;
    if (a->rules->user_count && !(a->logins = access_logins_new(config->loop, a->rules)))
        goto free_access;
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
    free(a->rules);
    pthread_mutex_destroy(&a->lock);
    explicit_bzero(a, sizeof(*a));
    free(a);
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
    return a->logins;
}

bool access_is_open_to(const struct access *a, bool is_local)
{
    return is_local && !a->rules;
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

enum access_answer access_refuse(const struct access *a, bool may_log_in, int status,
                                 const char *text, struct access_refusal *why)
{
    *why = (struct access_refusal){.status = status, .text = text};
    // RFC 2616, 10.4.2: the header must be there; a key is no scheme that a client could use.
    if (status == 401)
        snprintf(why->challenge, sizeof(why->challenge), "%s realm=\"weir\"",
                 a->logins && may_log_in ? "Basic" : "Weir-Key");
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

bool access_allows(const struct access *a, int user, const char *path, unsigned right)
{
    return a->rules && (access_rules_rights(a->rules, user, path) & right) == right;
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
        return access_refuse(a, may_log_in, 401, ACCESS_NEEDED_TEXT, why);
    if (access_allows(a, ACCESS_EVERYBODY, path, r->right) && !r->is_strict)
        return ACCESS_GRANTED;
    const char *reason = ACCESS_NEEDED_TEXT;
    if (r->key.len) {
        reason = access_check_key(a, path, r->key, r->right, scope);
        if (!reason)
            return ACCESS_GRANTED;
        if (access_must_wait(a, peer_key(peer), now))
            return access_refuse(a, may_log_in, 429, ACCESS_BUSY_TEXT, why);
    } else if (!r->authorization.at || !a->logins) {
        return access_refuse(a, may_log_in, 401, reason, why);
    } else if (!may_log_in) {
        return access_refuse(a, may_log_in, 401, ACCESS_PLAIN_TEXT, why);
    } else {
        int user = access_logins_known(a->logins, r->authorization);
        if (user < 0 && access_must_wait(a, peer_key(peer), now))
            return access_refuse(a, may_log_in, 429, ACCESS_BUSY_TEXT, why);
        if (user == ERR_AGAIN)
            user = access_logins_verify(a->logins, r->authorization);
        if (user >= 0)
            return access_allows(a, user, path, r->right)
                       ? ACCESS_GRANTED
                       : access_refuse(a, may_log_in, 403, ACCESS_RIGHT_TEXT, why);
        reason = ACCESS_WRONG_TEXT;
    }
    access_note_failure(a, peer_key(peer), now);
    return access_refuse(a, may_log_in, 401, reason, why);
}
