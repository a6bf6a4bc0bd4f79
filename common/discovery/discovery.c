// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/discovery/discovery.h"

#include "common/base/err.h"
#include "common/base/log.h"

#ifdef WEIR_HAS_AVAHI
#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-client/publish.h>
#include <avahi-common/alternative.h>
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/simple-watch.h>
#include <avahi-common/timeval.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/net/abandonable_thread.h"
#include "common/net/own_addresses.h"
#include "common/net/udp_socket.h"

enum { RETRY_MS = 10000 };
#define END_LIMIT USEC_PER_SEC // max. wait for a daemon that does not respond

// All but `stop` is the thread's once it runs.
struct announcer {
    struct abandonable_thread *thread; // owned
    int stop;                          // eventfd: readable when the thread is to end
    AvahiSimplePoll *poll;             // owned
    AvahiClient *client;               // owned; NULL: none now
    AvahiEntryGroup *group;            // owned by `client`; NULL: none now
    AvahiTimeout *retry;               // owned by `poll`
    AvahiProtocol protocol;
    const char *program; // static
    char name[SERVICE_NAME_MAX], path[SERVICE_PATH_MAX];
    bool tls, said;
    uint16_t port;
};

static void try_later(struct announcer *a)
{
    struct timeval at;
    const AvahiPoll *api = avahi_simple_poll_get(a->poll);
    api->timeout_update(a->retry, avahi_elapse_time(&at, RETRY_MS, 0));
}

// Says once why nothing is announced: most machines without a daemon never get one.
static void say(struct announcer *a, const char *why)
{
    if (!a->said)
        log_debug("not announced by DNS-SD: %s", why);
    a->said = true;
}

static void add_service(struct announcer *a);

static void on_group(AvahiEntryGroup *group, AvahiEntryGroupState state, void *ctx)
{
    struct announcer *a = ctx;
    a->group = group;
    if (state == AVAHI_ENTRY_GROUP_ESTABLISHED)
        log_debug("announced by DNS-SD as \"%s\"", a->name);
    if (state != AVAHI_ENTRY_GROUP_COLLISION)
        return;
    char *other = avahi_alternative_service_name(a->name);
    if (other)
        service_name_clean(other, a->name);
    avahi_free(other);
    add_service(a);
}

static void add_service(struct announcer *a)
{
    char path[sizeof("path=") + SERVICE_PATH_MAX];
    if (!a->group && !(a->group = avahi_entry_group_new(a->client, on_group, a)))
        return say(a, avahi_strerror(avahi_client_errno(a->client)));
    (void)avahi_entry_group_reset(a->group);
    snprintf(path, sizeof(path), "path=%s", a->path);
    int err;
    // A name that this machine announces already is refused at once; another machine's, later.
    for (int tries = 0; tries < 16; tries++) {
        err = avahi_entry_group_add_service(a->group, AVAHI_IF_UNSPEC, a->protocol, 0, a->name,
                                            SERVICE_TYPE, NULL, NULL, a->port, path,
                                            a->tls ? "tls=1" : NULL, NULL);
        char *other = err == AVAHI_ERR_COLLISION ? avahi_alternative_service_name(a->name) : NULL;
        if (!other)
            break;
        service_name_clean(other, a->name);
        avahi_free(other);
    }
    if (err == 0)
        err = avahi_entry_group_commit(a->group);
    if (err != 0)
        say(a, avahi_strerror(err));
}

static void on_client(AvahiClient *client, AvahiClientState state, void *ctx)
{
    struct announcer *a = ctx;
    a->client = client;
    if (state == AVAHI_CLIENT_S_RUNNING) {
        char name[512];
        const char *host = avahi_client_get_host_name(client);
        snprintf(name, sizeof(name), "%s on %s", a->program, host ? host : "this machine");
        service_name_clean(name, a->name);
        add_service(a);
    } else if (state == AVAHI_CLIENT_FAILURE) { // the daemon or the bus is gone
        say(a, avahi_strerror(avahi_client_errno(client)));
        try_later(a);
    } else if (state == AVAHI_CLIENT_CONNECTING) {
        say(a, "no avahi-daemon");
    } else if (a->group) { // the host's name changes
        (void)avahi_entry_group_reset(a->group);
    }
}

static void drop_client(struct announcer *a)
{
    if (a->client)
        avahi_client_free(a->client);
    a->client = NULL;
    a->group = NULL;
}

// A client that failed cannot be used again, and is freed here, outside its own callback.
static void on_retry(AvahiTimeout *t, void *ctx)
{
    struct announcer *a = ctx;
    int err;
    const AvahiPoll *api = avahi_simple_poll_get(a->poll);
    api->timeout_update(t, NULL);
    drop_client(a);
    a->client = avahi_client_new(api, AVAHI_CLIENT_NO_FAIL, on_client, a, &err);
    if (a->client)
        return;
    a->group = NULL;
    say(a, avahi_strerror(err));
    try_later(a);
}

static void on_stop(AvahiWatch *w, int fd, AvahiWatchEvent event, void *ctx)
{
    (void)w, (void)fd, (void)event;
    avahi_simple_poll_quit(((struct announcer *)ctx)->poll);
}

static void run(void *arg)
{
    struct announcer *a = arg;
    if (avahi_simple_poll_loop(a->poll) < 0)
        log_debug("not announced by DNS-SD any longer");
    drop_client(a);
}

static void destroy(void *arg)
{
    struct announcer *a = arg;
    if (a->poll)
        avahi_simple_poll_free(a->poll);
    if (a->stop >= 0)
        close(a->stop);
    free(a);
}

struct announcer *announcer_new(const char *program, const struct sockaddr *at, const char *path,
                                bool tls)
{
    struct announcer *a = sockaddr_is_loopback(at) ? NULL : calloc(1, sizeof(*a));
    struct timeval now;
    if (!a)
        return NULL;
    a->program = program;
    a->port = (uint16_t)sockaddr_port(at);
    a->tls = tls;
    a->protocol = at->sa_family == AF_INET ? AVAHI_PROTO_INET
                  : address_is_any(at)     ? AVAHI_PROTO_UNSPEC
                                           : AVAHI_PROTO_INET6;
    service_path_clean(path, strlen(path), a->path);
    a->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    a->poll = avahi_simple_poll_new();
    if (a->stop < 0 || !a->poll)
        goto fail;
    const AvahiPoll *api = avahi_simple_poll_get(a->poll);
    a->retry = api->timeout_new(api, avahi_elapse_time(&now, 0, 0), on_retry, a);
    if (!a->retry || !api->watch_new(api, a->stop, AVAHI_WATCH_IN, on_stop, a))
        goto fail;
    a->thread = abandonable_thread_new(run, a);
    if (a->thread)
        return a;

fail:
    log_debug("not announced by DNS-SD: no memory or thread");
    destroy(a);
    return NULL;
}

void announcer_free(struct announcer *a)
{
    if (!a)
        return;
    (void)eventfd_write(a->stop, 1);
    if (abandonable_thread_end(a->thread, END_LIMIT, destroy))
        destroy(a);
}

// ---- Search ----

struct search {
    AvahiSimplePoll *poll;
    AvahiClient *client;
    struct found_server *found; // borrowed
    bool is_v4[DISCOVERY_SERVERS];
    int count, resolving; // at most RESOLVING_MAX at a time
    bool failed;
};
enum { RESOLVING_MAX = 4 * DISCOVERY_SERVERS }; // interfaces and protocols

static void add_found(struct search *s, const char *name, const char *url, bool is_v4)
{
    char clean[SERVICE_NAME_MAX];
    int i = 0;
    service_name_clean(name, clean);
    while (i < s->count && strcmp(s->found[i].name, clean) != 0)
        i++;
    bool is_new = i == s->count;
    if (i == DISCOVERY_SERVERS || (!is_new && (s->is_v4[i] || !is_v4)))
        return;
    s->count += is_new;
    s->is_v4[i] = is_v4;
    memcpy(s->found[i].name, clean, sizeof(clean));
    snprintf(s->found[i].url, sizeof(s->found[i].url), "%s", url);
}

static void on_resolved(AvahiServiceResolver *r, AvahiIfIndex interface, AvahiProtocol protocol,
                        AvahiResolverEvent event, const char *name, const char *type,
                        const char *domain, const char *host, const AvahiAddress *address,
                        uint16_t port, AvahiStringList *txt, AvahiLookupResultFlags flags,
                        void *ctx)
{
    (void)protocol, (void)type, (void)domain, (void)host, (void)flags;
    struct search *s = ctx;
    char text[AVAHI_ADDRESS_STR_MAX], zone[IF_NAMESIZE], url[URL_MAX_TEXT];
    struct service_text service = {.path = "/"};
    if (event == AVAHI_RESOLVER_FOUND) {
        for (AvahiStringList *i = txt; i; i = avahi_string_list_get_next(i))
            service_text_read(&service, avahi_string_list_get_text(i),
                              avahi_string_list_get_size(i));
        avahi_address_snprint(text, sizeof(text), address);
        bool is_v4 = address->proto == AVAHI_PROTO_INET;
        const uint8_t *v6 = address->data.ipv6.address;
        bool is_local = !is_v4 && v6[0] == 0xfe && (v6[1] & 0xc0) == 0x80;
        const char *in = is_local ? if_indextoname((unsigned)interface, zone) : NULL;
        if ((!is_local || in) && service_url(&service, text, in, port, url))
            add_found(s, name, url, is_v4);
    }
    avahi_service_resolver_free(r);
    s->resolving--;
}

static void on_browsed(AvahiServiceBrowser *b, AvahiIfIndex interface, AvahiProtocol protocol,
                       AvahiBrowserEvent event, const char *name, const char *type,
                       const char *domain, AvahiLookupResultFlags flags, void *ctx)
{
    (void)b, (void)flags;
    struct search *s = ctx;
    if (event == AVAHI_BROWSER_NEW && s->resolving < RESOLVING_MAX &&
        avahi_service_resolver_new(s->client, interface, protocol, name, type, domain, protocol, 0,
                                   on_resolved, s))
        s->resolving++;
}

static void on_search_client(AvahiClient *client, AvahiClientState state, void *ctx)
{
    (void)client;
    struct search *s = ctx;
    if (state != AVAHI_CLIENT_FAILURE)
        return;
    s->failed = true;
    avahi_simple_poll_quit(s->poll);
}

static void on_end(AvahiTimeout *t, void *ctx)
{
    (void)t;
    avahi_simple_poll_quit(((struct search *)ctx)->poll);
}

int discovery_find(usec_t time, struct found_server out[DISCOVERY_SERVERS])
{
    struct search s = {.found = out, .poll = avahi_simple_poll_new()};
    struct timeval at;
    int err = AVAHI_ERR_NO_MEMORY;
    if (!s.poll)
        return ERR_UNSUPPORTED;
    const AvahiPoll *api = avahi_simple_poll_get(s.poll);
    s.client = avahi_client_new(api, 0, on_search_client, &s, &err);
    if (!s.client) {
        log_debug("no search by DNS-SD: %s", avahi_strerror(err));
        s.failed = true;
    } else if (avahi_service_browser_new(s.client, AVAHI_IF_UNSPEC, AVAHI_PROTO_UNSPEC,
                                         SERVICE_TYPE, NULL, 0, on_browsed, &s) &&
               api->timeout_new(api, avahi_elapse_time(&at, (unsigned)(time / USEC_PER_MSEC), 0),
                                on_end, &s)) {
        (void)avahi_simple_poll_loop(s.poll);
    }
    if (s.client)
        avahi_client_free(s.client);
    avahi_simple_poll_free(s.poll);
    return s.failed && !s.count ? ERR_UNSUPPORTED : s.count;
}

#else

struct announcer *announcer_new(const char *program, const struct sockaddr *at, const char *path,
                                bool tls)
{
    (void)program, (void)at, (void)path, (void)tls;
    log_debug("not announced by DNS-SD: built without libavahi-client");
    return NULL;
}

void announcer_free(struct announcer *a)
{
    (void)a;
}

int discovery_find(usec_t time, struct found_server out[DISCOVERY_SERVERS])
{
    (void)time, (void)out;
    log_debug("no search by DNS-SD: built without libavahi-client");
    return ERR_UNSUPPORTED;
}
#endif
