// SPDX-License-Identifier: GPL-2.0-or-later
// One file of a recording: Matroska with H.264 or VP9, and Opus, by libavformat. Nothing is
// encoded.
//
// The file exists from its first cluster on, never empty, and under a name that no other file had.
// Each cluster reaches the kernel before record_file_write returns, so a process that is killed
// loses later clusters only; every RECORD_FILE_SYNC the file also reaches the disk. A file without
// its end lacks the duration and the index, and every player reads it.
//
// All functions block as the disk does.
#ifndef WEIR_MEDIA_RECORD_RECORD_FILE_H
#define WEIR_MEDIA_RECORD_RECORD_FILE_H

#include "common/base/decls.h"
#include "media/record/record_packet.h"

DECLS_BEGIN

#define RECORD_FILE_SYNC (USEC_PER_SEC / 2)

struct record_file;

struct record_file_config {
    const char *pattern; // record_name.h; borrowed
    const char *title;   // borrowed; NULL: none
};

// `key`: the first frame, from which times count. Returns 0; ERR_MALFORMED: the frame has no
// parameter sets; ERR_NO_MEMORY.
int record_file_new(const struct record_file_config *config, const struct record_packet *key,
                    struct record_file **out);
// Writes a cluster. Packets before the file's begin are left out. Returns 0; ERR_IO, after which
// only record_file_free may be called: record_file_fault says why.
int record_file_write(struct record_file *f, struct record_packet *const *packets, int count,
                      usec_t now);
const char *record_file_fault(const struct record_file *f);
// Writes the index and the duration. Returns 0 or ERR_IO.
int record_file_finish(struct record_file *f);
// What was written stays. NULL is fine.
void record_file_free(struct record_file *f);

const char *record_file_path(const struct record_file *f); // "": it does not exist yet
int64_t record_file_bytes(const struct record_file *f);

DECLS_END
#endif
