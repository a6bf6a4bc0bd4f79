// SPDX-License-Identifier: GPL-2.0-or-later
// A playlist: every channel has a URL that requests can hold, and a title for the terminal.
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "common/base/err.h"
#include "player/policy/playlist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct url server;
    const char *why;
    assert(url_parse("rtsp://user:s3cret@[fe80::1%25lo]:55/film?level=3&x#y", &server, &why) == 0);
    for (int i = 0; i < 2; i++) {
        struct playlist p = {0};
        char error[160] = "";
        int err =
            playlist_read(&p, (const char *)data, size, i ? &server : NULL, error, sizeof(error));
        assert(err == 0 || err == ERR_MALFORMED || err == ERR_TOO_BIG || err == ERR_FULL);
        assert(err ? *error && !strstr(error, "s3cret") : p.count > 0);
        assert(p.count <= PLAYLIST_MAX);
        for (int k = 0; k < p.count; k++) {
            const struct playlist_channel *c = &p.channels[k];
            assert(url_is_plain(c->url.text) && *c->url.host && c->url.port > 0);
            for (const char *t = c->title; *t; t++)
                assert((unsigned char)*t >= ' ' && *t != 0x7f);
        }
        playlist_free(&p);
    }
    return 0;
}
