// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/access/access_service.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/mailbox.h"
#include "common/net/random.h"
#include "common/net/worker.h"

enum { SUM = 32 };

struct access_inquiry {
    struct access_service *service;
    struct place_key address;
    access_inquiry_fn *done; // NULL: the caller has left
    void *ctx;
    struct access_question question;
    int result;
};

struct known {
    uint8_t sum[SUM];
    int result;
    usec_t until; // 0: the entry is free
};

struct access_service {
    struct access_service_url url;
    struct sockaddr_storage at;
    socklen_t at_len;
    uint8_t key[SUM];
    struct mailbox *results;                       // owned
    struct worker *workers[SERVICE_AT_ONCE];       // owned; one job each
    struct access_inquiry *asked[SERVICE_AT_ONCE]; // what they do; NULL: nothing
    pthread_mutex_t lock;                          // guards the following
    struct known known[SERVICE_KNOWN];
    int next_known;
    usec_t paused; // until then
    bool is_away;  // the log has said so
};

// ---- What is remembered

// The question's parts cannot run into each other: each is hashed with its NUL and the rest of its
// array, which is zero.
static bool sum_of(const struct access_service *s, const struct access_question *q,
                   uint8_t out[SUM])
{
    return gnutls_hmac_fast(GNUTLS_MAC_SHA256, s->key, SUM, q, sizeof(*q), out) == 0;
}

int access_service_known(struct access_service *s, const struct access_question *q, usec_t now)
{
    uint8_t sum[SUM];
    int result = ERR_AGAIN;
    if (!sum_of(s, q, sum))
        return 503;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < SERVICE_KNOWN && result == ERR_AGAIN; i++)
        if (s->known[i].until > now && gnutls_memcmp(s->known[i].sum, sum, SUM) == 0)
            result = s->known[i].result;
    if (result == ERR_AGAIN && s->paused > now)
        result = 503;
    pthread_mutex_unlock(&s->lock);
    return result;
}

static void remember(struct access_service *s, const struct access_question *q, int result,
                     usec_t now)
{
    uint8_t sum[SUM];
    bool good = sum_of(s, q, sum);
    pthread_mutex_lock(&s->lock);
    bool says_away = result == 503 && !s->is_away, says_back = result != 503 && s->is_away;
    s->is_away = result == 503;
    if (result == 503) {
        s->paused = now + SERVICE_PAUSE;
    } else if (good) {
        struct known *k = &s->known[s->next_known++ % SERVICE_KNOWN];
        memcpy(k->sum, sum, SUM);
        k->result = result;
        k->until = now + (result == 200 ? SERVICE_GRANTED : SERVICE_REFUSED);
    }
    pthread_mutex_unlock(&s->lock);
    if (says_away)
        log_warn("the access service does not answer: requests get 503");
    else if (says_back)
        log_info("the access service answers again");
}

// ---- One question

// Waits until the socket is ready. Returns false at the deadline.
static bool await(int fd, short events, usec_t deadline)
{
    struct pollfd p = {.fd = fd, .events = events};
    for (;;) {
        usec_t left = deadline - clock_now();
        if (left <= 0)
            return false;
        int n = poll(&p, 1, (int)(left / USEC_PER_MSEC) + 1);
        if (n > 0)
            return true;
        if (n < 0 && errno != EINTR)
            return false;
    }
}

// Returns the status of the response, or an error.
static int exchange(const struct access_service *s, int fd, const char *request, size_t len,
                    usec_t deadline)
{
    char answer[ACCESS_ANSWER_BYTES];
    size_t got = 0, sent = 0;
    int status = ERR_AGAIN;
    if (connect(fd, (const struct sockaddr *)&s->at, s->at_len) != 0 && errno != EINPROGRESS)
        return ERR_IO;
    while (sent < len) {
        if (!await(fd, POLLOUT, deadline))
            return ERR_TIMED_OUT;
        ssize_t n = send(fd, request + sent, len - sent, MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return ERR_IO;
        sent += n > 0 ? (size_t)n : 0;
    }
    while (status == ERR_AGAIN && got < sizeof(answer)) {
        if (!await(fd, POLLIN, deadline))
            return ERR_TIMED_OUT;
        ssize_t n = recv(fd, answer + got, sizeof(answer) - got, 0);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return ERR_IO;
        got += n > 0 ? (size_t)n : 0;
        status = access_answer_read(answer, got);
    }
    return status;
}

int access_service_ask(struct access_service *s, const struct access_question *q)
{
    int known = access_service_known(s, q, clock_now()), status = ERR_NO_MEMORY;
    if (known != ERR_AGAIN)
        return known; // another one was asked meanwhile
    char *request = malloc(ACCESS_QUESTION_BYTES);
    int len = request ? access_question_write(&s->url, q, request, ACCESS_QUESTION_BYTES) : -1;
    int fd = len < 0 ? -1 : socket(s->at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        status = exchange(s, fd, request, (size_t)len, clock_now() + SERVICE_DEADLINE);
        close(fd);
    }
    if (request)
        gnutls_memset(request, 0, ACCESS_QUESTION_BYTES);
    free(request);
    if (len == ERR_MALFORMED)
        return 401; // the service has no such user
    bool is_good = status >= 200 && status < 300;
    int result = is_good ? 200 : status == 401 || status == 403 ? status : 503;
    // Another status is an answer, too, to this question alone: the service is there.
    bool is_there = status >= 400 && status < 500;
    if (result != 503 || !is_there)
        remember(s, q, result, clock_now());
    return result;
}

// ---- The threads

static void free_inquiry(void *item)
{
    struct access_inquiry *i = item;
    gnutls_memset(i, 0, sizeof(*i));
    free(i);
}

static void on_job(void *ctx, void *job)
{
    struct access_service *s = ctx;
    struct access_inquiry *i = job;
    i->result = access_service_ask(s, &i->question);
    if (!mailbox_post(s->results, i))
        free_inquiry(i); // not reached: it has room for all that are asked
}

static void on_result(void *ctx, void *item, usec_t now)
{
    struct access_service *s = ctx;
    struct access_inquiry *i = item;
    for (int k = 0; k < SERVICE_AT_ONCE; k++)
        if (s->asked[k] == i)
            s->asked[k] = NULL;
    if (i->done)
        i->done(i->ctx, i->result, now);
    free_inquiry(i);
}

struct access_inquiry *access_service_begin(struct access_service *s, struct place_key address,
                                            const struct access_question *q,
                                            access_inquiry_fn *done, void *ctx)
{
    int same = 0, place = -1;
    for (int k = 0; k < SERVICE_AT_ONCE; k++) {
        const struct access_inquiry *other = s->asked[k];
        same += other && other->address.high == address.high && other->address.low == address.low;
        place = other ? place : k;
    }
    if (place < 0 || same >= SERVICE_OF_ADDRESS)
        return NULL;
    struct access_inquiry *i = calloc(1, sizeof(*i));
    if (!i)
        return NULL;
    i->service = s;
    i->address = address;
    i->done = done;
    i->ctx = ctx;
    memcpy(&i->question, q, sizeof(*q)); // with its padding, as it is hashed
    if (worker_push(s->workers[place], i))
        return s->asked[place] = i;
    free_inquiry(i);
    return NULL;
}

void access_service_leave(struct access_inquiry *i)
{
    if (i)
        i->done = NULL;
}

// ---- Life

struct access_service *access_service_new(uv_loop_t *loop, const char *url)
{
    static const struct worker_ops ops = {.run = on_job, .free_job = free_inquiry};
    struct access_service *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    bool good = access_service_url_read(url, &s->url) == 0 && random_fill(s->key, sizeof(s->key));
    struct sockaddr_in *v4 = (struct sockaddr_in *)&s->at;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&s->at;
    bool is_v6 = strchr(s->url.host, ':');
    s->at.ss_family = is_v6 ? AF_INET6 : AF_INET;
    s->at_len = is_v6 ? sizeof(*v6) : sizeof(*v4);
    if (is_v6) {
        v6->sin6_port = htons((uint16_t)s->url.port);
        v6->sin6_addr = in6addr_loopback;
    } else {
        v4->sin_port = htons((uint16_t)s->url.port);
        v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    s->results = good ? mailbox_new(loop, SERVICE_AT_ONCE, on_result, free_inquiry, s) : NULL;
    good = s->results;
    for (int k = 0; k < SERVICE_AT_ONCE && good; k++)
        good = (s->workers[k] = worker_new(&ops, 1, s)) != NULL;
    if (good)
        return s;
    log_error("the access service: out of memory");
    access_service_free(s);
    return NULL;
}

void access_service_free(struct access_service *s)
{
    if (!s)
        return;
    for (int k = 0; k < SERVICE_AT_ONCE; k++)
        worker_free(s->workers[k]); // waits for SERVICE_DEADLINE at most
    if (s->results)
        mailbox_free(s->results);
    pthread_mutex_destroy(&s->lock);
    gnutls_memset(s, 0, sizeof(*s));
    free(s);
}
