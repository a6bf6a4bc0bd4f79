// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/output_files.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/record/recording.h"
#include "player/report/qoe_json.h"

// Files are replaced as a whole by rename(2), which requires write access to the directory, and
// must not replace a device.
static int check_replaceable(const char *option, const char *path)
{
    if (!path)
        return 0;
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        log_error("%s '%s': is not a regular file", option, path);
        return ERR_IO;
    }
    char directory[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) : 0;
    if (len >= sizeof(directory)) {
        log_error("%s '%s': the name is too long", option, path);
        return ERR_IO;
    }
    snprintf(directory, sizeof(directory), "%.*s", (int)len, path);
    const char *in = !slash ? "." : len ? directory : "/";
    if (access(in, W_OK | X_OK) != 0) {
        log_error("%s '%s': cannot write in its directory: %s", option, path, strerror(errno));
        return ERR_IO;
    }
    return 0;
}

int output_files_open(const struct play_options *o, FILE **events)
{
    *events = NULL;
    if (check_replaceable("--report", o->report) || check_replaceable("--snapshot", o->snapshot) ||
        check_replaceable("--contact-sheet", o->contact_sheet) ||
        (o->record && recording_check("--record", o->record)))
        return ERR_IO;
    if (!o->events)
        return 0;
    *events = fopen(o->events, "we");
    if (*events)
        return 0;
    log_error("--events '%s': %s", o->events, strerror(errno));
    return ERR_IO;
}

int output_files_write(const struct play_options *o, const struct qoe_json *report,
                       const struct contact_sheet *sheet, const struct picture *last_shown)
{
    int err = 0;
    if (o->report && qoe_json_write(report, o->report) != 0)
        err = ERR_IO;
    // Without a picture there is nothing to write; the summary shows that none was shown.
    if (o->snapshot && last_shown && picture_write_png(last_shown, o->snapshot) != 0)
        err = ERR_IO;
    if (o->contact_sheet && sheet) {
        int failed = contact_sheet_write(sheet, o->contact_sheet);
        if (failed && failed != ERR_NOT_FOUND)
            err = ERR_IO;
    }
    return err;
}
