// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of a stored ladder while it is made: a folder next to the output file, with a file for
// each group of frames and one for each audio track. A part is complete or does not exist, so that
// an interrupted run can continue. `plan` identifies the input and the options; parts of another
// plan are deleted.
#ifndef WEIR_MEDIA_STORED_STORED_PARTS_H
#define WEIR_MEDIA_STORED_STORED_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/decls.h"

DECLS_BEGIN

// In place of a group's number: the audio; STORED_AUDIO - N is its further track N.
enum { STORED_AUDIO = -1 };
// In place of a size: the last record of a group, the SSIM of each level (stored_quality.h) in
// 65535ths, 16 bits each, big endian.
enum { STORED_QUALITY = 0xffff };

struct stored_record { // header before `bytes` bytes of data
    uint32_t bytes;
    uint32_t track; // size id; 0 for audio; STORED_QUALITY
    int64_t at;     // source frame number; for audio, samples of 48 kHz
};

// Work files are in the film's folder, where other users may write too. So a symbolic link in place
// of a work file or of the parts' folder is refused and never followed.

// Opens a work file for reading, or creates or truncates it for writing. Returns NULL on failure,
// which it logs.
FILE *stored_work_open(const char *name, bool write);
// Makes the folder, or continues one of the same plan. Returns a descriptor that locks the folder
// until it is closed; ERR_IO (logged), also if another program holds the lock.
int stored_parts_open(const char *folder, const char *plan);
bool stored_parts_has(const char *folder, int64_t part);
// Creates a part; it has a temporary name until stored_part_end. Returns NULL on failure, which it
// logs.
FILE *stored_part_begin(const char *folder, int64_t part);
// Writes a record. Returns 0 or ERR_IO (logged).
int stored_part_put(FILE *f, const struct stored_record *r, const void *data);
// Closes the part; with `good` it gets its final name, else it is deleted. Returns 0 or ERR_IO
// (logged).
int stored_part_end(FILE *f, const char *folder, int64_t part, bool good);
FILE *stored_part_read(const char *folder, int64_t part); // returns NULL on failure, logged
// Reads the next record; the caller owns *data. Returns 0, ERR_END, ERR_IO (also if the part is
// truncated) or ERR_NO_MEMORY.
int stored_part_next(FILE *f, struct stored_record *r, uint8_t **data);
// Deletes all parts and the plan, and the folder if it is empty then.
void stored_parts_remove(const char *folder);

DECLS_END
#endif
