// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the parts of a recording (record_file.h) that going back in it needs: where the first
// cluster is, when the recording began, and the blocks of a cluster. Matroska of others is read if
// it has the same shape: clusters of known size, SimpleBlocks or block groups without lacing, track
// 1 H.264 and track 2 Opus (RFC 9559). Pure.
//
// All functions take the bytes that were read, from the part's begin. They return 0;
// ERR_AGAIN: more bytes are needed; ERR_MALFORMED.
#ifndef WEIR_MEDIA_RECORD_POLICY_RECORD_PARSE_H
#define WEIR_MEDIA_RECORD_POLICY_RECORD_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum {
    RECORD_VIDEO_TRACK = 1,
    RECORD_AUDIO_TRACK = 2,
    RECORD_HEAD_MAX = 1 << 20,     // bytes before the first cluster
    RECORD_CLUSTER_MAX = 64 << 20, // bytes of a cluster
    // Bytes that record_cluster_parse needs at most: three sizes of 8 bytes, ids of 4, 1 and 1, a
    // CRC of 4 and a time of 6.
    RECORD_CLUSTER_HEAD = 40,
};

struct record_head {
    size_t bytes; // offset of the first cluster
    usec_t wall;  // since 1970, when the first frame was captured
};
int record_head_parse(const uint8_t *data, size_t len, struct record_head *out);

struct record_cluster_head {
    size_t head;  // offset of the first block
    size_t bytes; // of the cluster with its head, at most RECORD_CLUSTER_MAX
    usec_t time;  // since the recording's begin
};
// ERR_MALFORMED also if something else than a cluster begins here, such as the file's index.
int record_cluster_parse(const uint8_t *data, size_t len, struct record_cluster_head *out);
// Returns true if the cluster's first frame is a key frame; `data`: at least its first bytes up to
// there, otherwise false. `head`: as record_cluster_parse gave it.
bool record_cluster_is_key(const uint8_t *data, size_t len, const struct record_cluster_head *head);
// Returns the offset of the next bytes that may be the begin of a cluster; `len` if there are none.
size_t record_cluster_search(const uint8_t *data, size_t len, size_t from);

struct record_block {
    int track;
    bool key;
    usec_t time; // since the cluster's
    const uint8_t *data;
    size_t len;
};
// Gets the next block of a whole cluster. `at`: initially its `head`. Returns 1, 0 at the end, or
// ERR_MALFORMED.
int record_block_next(const uint8_t *cluster, size_t len, size_t *at, struct record_block *out);

DECLS_END
#endif
