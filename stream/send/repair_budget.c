// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/repair_budget.h"

#include <assert.h>
#include <math.h>

#define KEYS         4.0 // key frames for starting viewers
#define KEYS_PER_SEC 1.0

// A viewer that loses packets permanently leaves a quarter of the encode's repairs to the others.
#define VIEWER_REPAIRS         3.0
#define VIEWER_REPAIRS_PER_SEC 1.5
#define REPAIRS                4.0
#define REPAIRS_PER_SEC        2.0

static double tokens_at(const struct repair_tokens *t, double most, double per_sec, usec_t now)
{
    return fmin(most, t->count + usec_to_sec(now - t->at) * per_sec);
}

static void refill(struct repair_tokens *t, double most, double per_sec, usec_t now)
{
    *t = (struct repair_tokens){.count = tokens_at(t, most, per_sec, now), .at = now};
}

void repair_budget_init(struct repair_budget *b, usec_t now)
{
    *b = (struct repair_budget){
        .shared_until = now,
        .key_number = -1,
        .key_at = now - REPAIR_KEY_SPACING,
        .key_tokens = {KEYS, now},
        .repairs = {REPAIRS, now},
    };
    for (int i = 0; i < REPAIR_VIEWERS; i++)
        b->accounts[i] = (struct repair_account){.repairs = {VIEWER_REPAIRS, now},
                                                 .repaired_at = now - REPAIR_SERVES};
}

static bool is_shared(const struct repair_budget *b, usec_t now)
{
    return now < b->shared_until;
}

// A viewer counts as alone only after a delay, so another one that leaves and returns does not
// matter.
void repair_budget_viewers(struct repair_budget *b, int viewers, usec_t now)
{
    if (viewers > 1)
        b->shared_until = USEC_NEVER;
    else if (b->shared_until == USEC_NEVER)
        b->shared_until = now + REPAIR_KEY_SPACING;
}

static void need_key(struct repair_budget *b, int64_t from)
{
    if (from > 0 && b->key_number >= from)
        return;
    b->from = b->begins && b->from > from ? b->from : from;
    b->begins = true;
}

void repair_budget_begin(struct repair_budget *b, int account, int64_t from, usec_t now)
{
    assert(account >= 0 && account < REPAIR_VIEWERS);
    bool is_planned = account == 0 && from > 0; // by somebody without an account, again and again
    if (!is_planned) {
        b->accounts[account].begun_at = now;
        b->accounts[account].again = REPAIR_BEGIN_AGAIN;
    }
    need_key(b, from);
}

static bool may_begin_again(const struct repair_account *a, usec_t now)
{
    return a->again > 0 && now - a->begun_at < REPAIR_BEGINNING;
}

// A viewer whose first key frame was lost has seen nothing yet and would wait longest, so it may
// start again.
bool repair_budget_wait(struct repair_budget *b, int account, usec_t now)
{
    assert(account >= 0 && account < REPAIR_VIEWERS);
    struct repair_account *a = &b->accounts[account];
    if (a->waits)
        return false;
    a->waits = true;
    if (may_begin_again(a, now)) {
        a->again--;
        need_key(b, 0);
    }
    return true;
}

bool repair_budget_pli(struct repair_budget *b, int account, usec_t now)
{
    assert(account >= 0 && account < REPAIR_VIEWERS);
    const struct repair_account *a = &b->accounts[account];
    bool patient = is_shared(b, now) && !may_begin_again(a, now);
    if (now - usec_max(b->key_at, a->repaired_at) < (patient ? REPAIR_SERVES : REPAIR_KEY_NEAREST))
        return false;
    return repair_budget_wait(b, account, now);
}

bool repair_budget_take(struct repair_budget *b, int account, usec_t now)
{
    assert(account >= 0 && account < REPAIR_VIEWERS);
    if (!is_shared(b, now))
        return true;
    if (b->accounts[account].waits) // it cannot decode a repair before the key frame
        return false;
    struct repair_tokens *own = &b->accounts[account].repairs;
    refill(own, VIEWER_REPAIRS, VIEWER_REPAIRS_PER_SEC, now);
    refill(&b->repairs, REPAIRS, REPAIRS_PER_SEC, now);
    if (own->count < 1 || b->repairs.count < 1)
        return false;
    own->count--;
    b->repairs.count--;
    b->accounts[account].repaired_at = now;
    return true;
}

static bool begin_is_due(const struct repair_budget *b, int64_t number, usec_t now)
{
    if (!b->begins || number < b->from)
        return false;
    usec_t since = now - b->key_at;
    if (!is_shared(b, now))
        return b->from > 0 || since >= REPAIR_KEY_NEAREST;
    return since >= REPAIR_KEY_SPACING ||
           (since >= REPAIR_KEY_NEAREST && tokens_at(&b->key_tokens, KEYS, KEYS_PER_SEC, now) >= 1);
}

static bool loss_is_due(const struct repair_budget *b, usec_t now)
{
    if (is_shared(b, now) && now - b->key_at < REPAIR_KEY_SPACING)
        return false;
    for (int i = 0; i < REPAIR_VIEWERS; i++)
        if (b->accounts[i].waits)
            return true;
    return false;
}

bool repair_budget_key_is_due(const struct repair_budget *b, int64_t number, usec_t now)
{
    return begin_is_due(b, number, now) || loss_is_due(b, now);
}

void repair_budget_key_made(struct repair_budget *b, int64_t number, usec_t now)
{
    b->counts.keys += !begin_is_due(b, number, now) && loss_is_due(b, now);
    for (int i = 0; i < REPAIR_VIEWERS; i++)
        b->accounts[i].waits = false;
    if (number >= b->from)
        b->begins = false;
    b->key_number = number;
    b->key_at = now;
    if (!is_shared(b, now))
        return;
    refill(&b->key_tokens, KEYS, KEYS_PER_SEC, now);
    b->key_tokens.count = fmax(b->key_tokens.count - 1, 0);
}
