// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/login_failures.h"

#include <limits.h>
#include <string.h>

void login_failures_init(struct login_failures *l, struct siphash_key key)
{
    memset(l, 0, sizeof(*l));
    l->key = key;
}

static int set_of(const struct login_failures *l, struct place_key address)
{
    struct siphash h;
    siphash_init(&h, &l->key);
    siphash_word(&h, address.high);
    siphash_word(&h, address.low);
    return (int)(siphash_finish(&h, NULL, 0) % LOGIN_FAILURES_SETS);
}

static bool is_old(const struct login_failure *f, usec_t now)
{
    return !f->count || now - f->since >= LOGIN_FAILURES_TIME;
}

static bool is_of(const struct login_failure *f, struct place_key address)
{
    return f->address.high == address.high && f->address.low == address.low;
}

void login_failures_add(struct login_failures *l, struct place_key address, usec_t now)
{
    struct login_failure *set = l->entries[set_of(l, address)];
    struct login_failure *victim = NULL;
    int fewest = INT_MAX;
    for (int i = 0; i < LOGIN_FAILURES_WAYS; i++) {
        struct login_failure *f = &set[i];
        if (!is_old(f, now) && is_of(f, address)) {
            f->count += f->count < LOGIN_FAILURES_MAX;
            return;
        }
        int count = is_old(f, now) ? 0 : f->count;
        if (count < fewest) {
            fewest = count;
            victim = f;
        }
    }
    *victim = (struct login_failure){.address = address, .since = now, .count = 1};
}

// Returns the entry of an address that has to wait; NULL: it has not.
static struct login_failure *find_waiting(struct login_failures *l, struct place_key address,
                                          usec_t now)
{
    struct login_failure *set = l->entries[set_of(l, address)];
    for (int i = 0; i < LOGIN_FAILURES_WAYS; i++)
        if (!is_old(&set[i], now) && is_of(&set[i], address))
            return set[i].count >= LOGIN_FAILURES_MAX ? &set[i] : NULL;
    return NULL;
}

bool login_failures_must_wait(struct login_failures *l, struct place_key address, usec_t now)
{
    return find_waiting(l, address, now) != NULL;
}

usec_t login_failures_turn(struct login_failures *l, struct place_key address, usec_t limit,
                           usec_t now)
{
    struct login_failure *f = find_waiting(l, address, now);
    if (!f)
        return now;
    usec_t turn = (f->turn > now ? f->turn : now) + LOGIN_DELAY;
    if (turn > limit)
        return USEC_NEVER;
    f->turn = turn;
    return turn;
}
