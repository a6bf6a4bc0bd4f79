// SPDX-License-Identifier: GPL-2.0-or-later
// The files of a proxy's store. All functions block; call them on one thread at a time.
//
//   DIR/weir-cache          "weir-cache 1": the version. The proxy that stores has it locked
//   DIR/KEY/film            URL, validator and description of a film; KEY: of their SHA-256
//   DIR/KEY/T-000017        group 17 of track T (0 .. 7: the size, 8: the audio), verified
//   DIR/KEY/T-000017.new    whole, not verified yet
//   DIR/KEY/T-000017.part   lacks frames
//   DIR/KEY/T.sets          profile and parameter sets of the size, for the SDP
//   DIR/KEY/T.used          its time of change is the object's last use
//   DIR/KEY/table           the film's table, as it is encoded (film_table.h); missing: not known
//   DIR/KEY/*.tmp           is being written; removed when the folder is opened
//
// A group's file begins with a head of 80 bytes, big endian: "WEIRGRP1", KEY (16), group (i64),
// track (u32), 0 (u32), length of the body (i64), its SHA-256 (32); the body is that of
// stored_track.h. A file whose head or body is wrong is removed when it is read.
#ifndef WEIR_PROXY_STORE_STORE_FOLDER_H
#define WEIR_PROXY_STORE_STORE_FOLDER_H

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/wire/url.h"
#include "media/stored/stored_track.h"
#include "proxy/store/store.h"
#include "stream/abr/film_table_parts.h"

DECLS_BEGIN

enum {
    FOLDER_KEY = 33, // bytes of a key, with NUL
    FOLDER_MAX_FILMS = 1024,
    FOLDER_MAX_GROUPS = 1 << 16, // of a film: 36 h
    FOLDER_HEAD = 80,
    FOLDER_SETS = 1100, // bytes of the text in T.sets, with NUL
};

struct store_folder;

struct folder_group {
    enum group_state state;
    int64_t bytes;               // of its file
    struct stored_digest digest; // GROUP_WHOLE, GROUP_VERIFIED
};

struct folder_track {
    usec_t used;             // wall clock; 0: never
    struct folder_group *of; // owned array of `groups`; NULL: nothing is stored
    char sets[FOLDER_SETS];  // "PROFILE SPROP"; empty: unknown
};

struct folder_film {
    char key[FOLDER_KEY];
    char url[URL_MAX_TEXT];
    char validator[SDP_MAX_VALIDATOR];
    char *sdp;                // owned
    struct film_table *table; // owned; NULL: not known
    int64_t groups;
    int sizes;
    bool audio;
    struct folder_track tracks[STORED_TRACKS];
};

// Opens or makes the folder. `locks`: no other proxy may have it. Returns 0; ERR_AGAIN: another
// has; ERR_UNSUPPORTED: another version, or the folder has other things in it; ERR_UNTRUSTED
// (logged): others can change it (private_file.h); ERR_IO: errno says why; ERR_NO_MEMORY.
int store_folder_open(const char *path, bool locks, struct store_folder **out);
void store_folder_free(struct store_folder *s); // NULL is fine
// Calls `film` for each film; that takes over its owned parts. `cleans`: removes what is left over.
void store_folder_scan(struct store_folder *s, bool cleans,
                       void (*film)(void *ctx, struct folder_film *f), void *ctx);

// Makes the entry of a film without groups. Returns 0; ERR_UNSUPPORTED: it is of no kind that can
// be stored; ERR_NO_MEMORY.
int folder_film_init(struct folder_film *f, const char *url, const struct sdp *sdp);
void folder_film_destroy(struct folder_film *f);
// Fills in what a film's description says, and `f->tracks[].sets`. Returns 0 or ERR_UNSUPPORTED.
int folder_film_info(const struct folder_film *f, struct stored_info *out);
// The bytes that a file of this length takes at most, with its name in the folder; those of a film
// without groups.
int64_t folder_file_cost(int64_t bytes);
int64_t folder_film_cost(void);

// These return 0, or ERR_IO with errno.
int store_folder_add(struct store_folder *s, const struct folder_film *f);
int store_folder_remove_film(struct store_folder *s, const char *key);
int store_folder_remove(struct store_folder *s, const char *key, int track, int64_t group);
int store_folder_touch(struct store_folder *s, const char *key, int track, usec_t wall);
int store_folder_verified(struct store_folder *s, const char *key, int track, int64_t group);
int store_folder_sets(struct store_folder *s, const char *key, int track, const char *text);
int store_folder_table(struct store_folder *s, const char *key, struct stored_bytes table);
// Reads a group's body. Returns 0; ERR_NOT_FOUND; ERR_MALFORMED: the file was damaged, and is
// removed now; ERR_IO with errno; ERR_NO_MEMORY.
int store_folder_read(struct store_folder *s, const char *key, int track, int64_t group,
                      enum group_state state, struct stored_bytes *out);
// Joins `b` with what is stored and writes it; a group that is GROUP_WHOLE already stays. `whole`:
// nothing is missing. *out: the group's new state, size and digest. Returns 0; ERR_MALFORMED;
// ERR_IO with errno; ERR_NO_MEMORY.
int store_folder_put(struct store_folder *s, const char *key, const struct stored_info *info,
                     int track, int64_t group, struct stored_bytes b, bool whole,
                     struct folder_group *out);

DECLS_END
#endif
