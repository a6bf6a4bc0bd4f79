// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/login_sessions.h"

#include <string.h>

#include "common/base/err.h"

enum { FREE = -1 };

static bool is_valid(const struct login_session *e, usec_t now)
{
    return e->user >= 0 && now - e->since < LOGIN_SESSION_TIME;
}

void login_sessions_init(struct login_sessions *s)
{
    memset(s, 0, sizeof(*s));
    for (int i = 0; i < LOGIN_SESSIONS; i++)
        s->entries[i].user = FREE;
}

void login_sessions_add(struct login_sessions *s, const uint8_t random[LOGIN_TOKEN_BYTES], int user,
                        usec_t now, char out[LOGIN_TOKEN_TEXT])
{
    struct login_session *free_one = NULL, *oldest = NULL, *own = NULL;
    int count = 0;
    for (int i = 0; i < LOGIN_SESSIONS; i++) {
        struct login_session *e = &s->entries[i];
        if (!is_valid(e, now)) {
            free_one = e;
            continue;
        }
        if (!oldest || e->number < oldest->number)
            oldest = e;
        if (e->user != user)
            continue;
        count++;
        if (!own || e->number < own->number)
            own = e;
    }
    struct login_session *e = count >= LOGIN_SESSIONS_OF_USER ? own : free_one ? free_one : oldest;
    *e = (struct login_session){.since = now, .number = ++s->count, .user = user};
    memcpy(e->token, random, sizeof(e->token));
    (void)base64_encode(random, LOGIN_TOKEN_BYTES, BASE64_URL, out);
}

// Returns the index of the entry with the token, expired or not, or ERR_NOT_FOUND.
static int find(const struct login_sessions *s, struct text token)
{
    uint8_t bytes[LOGIN_TOKEN_BYTES];
    int found = ERR_NOT_FOUND;
    if (token.len != LOGIN_TOKEN_TEXT - 1 ||
        base64_decode(token, BASE64_URL, bytes, sizeof(bytes)) != LOGIN_TOKEN_BYTES)
        return ERR_NOT_FOUND;
    for (int i = 0; i < LOGIN_SESSIONS; i++) {
        unsigned differs = 0;
        for (int k = 0; k < LOGIN_TOKEN_BYTES; k++)
            differs |= (unsigned)(s->entries[i].token[k] ^ bytes[k]);
        found = !differs && s->entries[i].user >= 0 ? i : found;
    }
    return found;
}

int login_sessions_find(const struct login_sessions *s, struct text token, usec_t now)
{
    int i = find(s, token);
    return i >= 0 && is_valid(&s->entries[i], now) ? s->entries[i].user : ERR_NOT_FOUND;
}

void login_sessions_end(struct login_sessions *s, struct text token)
{
    int i = find(s, token);
    if (i >= 0)
        s->entries[i] = (struct login_session){.user = FREE};
}

void login_sessions_move(struct login_sessions *s, int user, int to)
{
    for (int i = 0; i < LOGIN_SESSIONS; i++)
        if (s->entries[i].user == user)
            s->entries[i].user = to < 0 ? FREE : to;
}
