// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/access/access_logins.h"

#include <crypt.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/mailbox.h"
#include "common/net/random.h"
#include "common/net/worker.h"

enum { SUM = 32 };

struct pair { // of a user and a password
    char name[ACCESS_BASIC_MAX];
    const char *password; // in `name`
    uint8_t sum[SUM];     // keyed hash of both, with a NUL between them
};

struct known {
    uint8_t sum[SUM];
    int user; // -1: the entry is free
};

struct access_login {
    struct access_logins *logins;
    struct place_key address;
    access_login_fn *done; // NULL: the caller has left
    void *ctx;
    struct pair pair;
    int result;
};

struct access_logins {
    const struct access_rules *rules;
    uint8_t key[SUM];
    struct worker *worker;   // owned
    struct mailbox *results; // owned
    struct access_login *waiting[LOGINS_WAITING];
    int waiting_count;
    pthread_mutex_t *lock; // borrowed; guards the rules, and the following
    struct known known[LOGINS_KNOWN];
    int next_known;
};

static void wipe_pair(struct pair *p)
{
    gnutls_memset(p, 0, sizeof(*p));
}

// ---- The header

int access_basic_read(struct text header, char out[ACCESS_BASIC_MAX], const char **password)
{
    struct scan s = scan_trimmed(text_scan(header));
    struct text scheme = text_of_scan(text_take_token(&s));
    struct text coded = text_of_scan(scan_trimmed(s));
    gnutls_datum_t from = {(unsigned char *)(uintptr_t)coded.at, (unsigned)coded.len}, plain;
    if (!text_is_nocase(scheme, "Basic") || !coded.len || coded.len > 2 * ACCESS_BASIC_MAX ||
        gnutls_base64_decode2(&from, &plain) < 0)
        return ERR_MALFORMED;
    int len = (int)plain.size;
    char *colon = memchr(plain.data, ':', plain.size);
    bool good = colon && len < ACCESS_BASIC_MAX && !memchr(plain.data, '\0', plain.size);
    if (good) {
        size_t user = (size_t)(colon - (char *)plain.data);
        memcpy(out, plain.data, plain.size);
        out[user] = out[len] = '\0';
        *password = out + user + 1;
    }
    gnutls_memset(plain.data, 0, plain.size);
    gnutls_free(plain.data);
    return good ? len : ERR_MALFORMED;
}

static int read_pair(const struct access_logins *l, struct text header, struct pair *out)
{
    int len = access_basic_read(header, out->name, &out->password);
    return len >= 0 && gnutls_hmac_fast(GNUTLS_MAC_SHA256, l->key, SUM, out->name, (size_t)len,
                                        out->sum) == 0
               ? 0
               : ERR_MALFORMED;
}

// ---- Verified pairs

static int look_up(struct access_logins *l, const struct pair *p)
{
    int user = ERR_AGAIN;
    pthread_mutex_lock(l->lock);
    for (int i = 0; i < LOGINS_KNOWN; i++)
        if (l->known[i].user >= 0 && gnutls_memcmp(l->known[i].sum, p->sum, SUM) == 0)
            user = l->known[i].user;
    pthread_mutex_unlock(l->lock);
    return user;
}

static void remember(struct access_logins *l, const struct pair *p, int user)
{
    pthread_mutex_lock(l->lock);
    if (access_rules_hash(l->rules, user)) { // otherwise the rules have changed meanwhile
        struct known *k = &l->known[l->next_known++ % LOGINS_KNOWN];
        memcpy(k->sum, p->sum, SUM);
        k->user = user;
    }
    pthread_mutex_unlock(l->lock);
}

// An unknown user takes as long as a known one: the time does not tell who exists.
static int verify(struct access_logins *l, const struct pair *p)
{
    char hash[ACCESS_HASH_MAX];
    pthread_mutex_lock(l->lock);
    int user = access_rules_find(l->rules, p->name);
    memcpy(hash, user < 0 ? l->rules->users[0].hash : access_rules_hash(l->rules, user),
           sizeof(hash));
    pthread_mutex_unlock(l->lock);
    struct crypt_data *data = calloc(1, sizeof(*data)); // 32 KiB
    const char *made = data ? crypt_r(p->password, hash, data) : NULL;
    size_t len = strlen(hash);
    bool good = made && strlen(made) == len && gnutls_memcmp(made, hash, len) == 0 && user >= 0;
    if (data)
        gnutls_memset(data, 0, sizeof(*data));
    gnutls_memset(hash, 0, sizeof(hash));
    free(data);
    if (good)
        remember(l, p, user);
    return good ? user : ERR_NOT_FOUND;
}

int access_logins_known(struct access_logins *l, struct text authorization)
{
    struct pair pair;
    int err = read_pair(l, authorization, &pair);
    int user = err ? err : look_up(l, &pair);
    wipe_pair(&pair);
    return user;
}

int access_logins_verify(struct access_logins *l, struct text authorization)
{
    struct pair pair;
    int user = read_pair(l, authorization, &pair);
    if (!user)
        user = look_up(l, &pair);
    if (user == ERR_AGAIN)
        user = verify(l, &pair);
    wipe_pair(&pair);
    return user >= 0 ? user : ERR_NOT_FOUND;
}

// ---- The thread

static void free_login(void *item)
{
    struct access_login *login = item;
    wipe_pair(&login->pair);
    free(login);
}

static void on_job(void *ctx, void *job)
{
    struct access_logins *l = ctx;
    struct access_login *login = job;
    login->result = verify(l, &login->pair);
    if (!mailbox_post(l->results, login))
        free_login(login); // not reached: it has room for all that wait
}

static void on_result(void *ctx, void *item, usec_t now)
{
    struct access_logins *l = ctx;
    struct access_login *login = item;
    int i = 0;
    while (l->waiting[i] != login)
        i++;
    l->waiting[i] = l->waiting[--l->waiting_count];
    if (login->done)
        login->done(login->ctx, login->result, now);
    free_login(login);
}

struct access_login *access_logins_begin(struct access_logins *l, struct place_key address,
                                         struct text authorization, access_login_fn *done,
                                         void *ctx)
{
    int same = 0;
    for (int i = 0; i < l->waiting_count; i++)
        same += l->waiting[i]->address.high == address.high &&
                l->waiting[i]->address.low == address.low;
    if (l->waiting_count == LOGINS_WAITING || same >= LOGINS_OF_ADDRESS)
        return NULL;
    struct access_login *login = calloc(1, sizeof(*login));
    if (!login || read_pair(l, authorization, &login->pair) != 0)
        goto free_memory;
    login->logins = l;
    login->address = address;
    login->done = done;
    login->ctx = ctx;
    if (!worker_push(l->worker, login))
        goto free_memory;
    l->waiting[l->waiting_count++] = login;
    return login;

free_memory:
    if (login)
        free_login(login);
    return NULL;
}

void access_logins_leave(struct access_login *login)
{
    if (login)
        login->done = NULL;
}

// ---- Life

bool access_logins_supports(const struct access_rules *rules)
{
    for (int i = 0; i < rules->user_count; i++) {
        int kind = crypt_checksalt(rules->users[i].hash);
        if (kind == CRYPT_SALT_OK || kind == CRYPT_SALT_TOO_CHEAP)
            continue;
        log_error("--access: the hash of user %s is not supported: make one with weir-send "
                  "--user %s",
                  rules->users[i].name, rules->users[i].name);
        return false;
    }
    return true;
}

void access_logins_forget(struct access_logins *l)
{
    gnutls_memset(l->known, 0, sizeof(l->known));
    for (int i = 0; i < LOGINS_KNOWN; i++)
        l->known[i].user = -1;
}

struct access_logins *access_logins_new(uv_loop_t *loop, const struct access_rules *rules,
                                        pthread_mutex_t *lock)
{
    static const struct worker_ops ops = {.run = on_job, .free_job = free_login};
    struct access_logins *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    l->rules = rules;
    l->lock = lock;
    access_logins_forget(l);
    l->results = mailbox_new(loop, LOGINS_WAITING, on_result, free_login, l);
    l->worker = worker_new(&ops, LOGINS_WAITING, l);
    if (random_fill(l->key, sizeof(l->key)) && l->results && l->worker)
        return l;
    log_error("--access: out of memory");
    access_logins_free(l);
    return NULL;
}

void access_logins_free(struct access_logins *l)
{
    if (!l)
        return;
    worker_free(l->worker);
    if (l->results)
        mailbox_free(l->results);
    gnutls_memset(l, 0, sizeof(*l));
    free(l);
}
