// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/capture_list.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/utf8.h"
#include "common/net/abandonable_thread.h"
#include "media/capture/capture_device.h"
#include "media/capture/v4l2_modes.h"

enum { MAX_CAMERAS = 64, MAX_DISPLAYS = 32, SCREEN_FPS = 30 };
static const usec_t PATIENCE = 2 * USEC_PER_SEC; // max. time to wait for an X server

// Writes the path of a device node; returns false past the last number. The numbers of cameras are
// not contiguous: many cameras take two nodes, one of them for metadata.
static bool camera_path(int number, char *out, size_t cap)
{
    snprintf(out, cap, "/dev/video%d", number);
    return number < MAX_CAMERAS;
}

bool capture_first_camera(char *out, size_t cap)
{
    struct capture_mode modes[CAPTURE_MAX_MODES];
    char name[64];
    int closed = -1; // first device that cannot be opened; opening it later reports the reason
    for (int i = 0; camera_path(i, out, cap); i++) {
        int count = v4l2_modes(out, name, sizeof(name), modes);
        if (count > 0)
            return true;
        if (count == ERR_IO && closed < 0)
            closed = i;
    }
    return closed >= 0 && camera_path(closed, out, cap);
}

static int print_cameras(FILE *out)
{
    struct capture_mode modes[CAPTURE_MAX_MODES];
    char path[32];
    char name[64];
    char text[4096];
    int found = 0;
    for (int i = 0; camera_path(i, path, sizeof(path)); i++) {
        int count = v4l2_modes(path, name, sizeof(name), modes);
        if (count == ERR_IO)
            fprintf(out, "camera:%s  cannot be opened (is this user in the group video?)\n", path);
        found += count > 0 || count == ERR_IO;
        if (count <= 0)
            continue;
        char clean[sizeof(name)]; // the device chooses its name, and `out` may be a terminal
        utf8_copy(name, clean, sizeof(clean));
        fprintf(out, "camera:%s  %s\n", path, clean);
        capture_modes_text(modes, count, text, sizeof(text));
        for (char *at = text, *rest; at; at = rest) {
            rest = strstr(at, "; ");
            if (rest) {
                *rest = '\0';
                rest += 2;
            }
            fprintf(out, "    %s\n", at);
        }
    }
    return found;
}

// Each display is opened in its own thread: a hung X server blocks its callers for ever.
struct display_query {
    struct capture_target target;
    char result[64];
};

static void query_display(void *arg)
{
    struct display_query *q = arg;
    struct capture_given given;
    char reason[512];
    int err;
    struct capture_device *d =
        capture_device_open(&q->target, &given, reason, sizeof(reason), &err);
    if (d)
        snprintf(q->result, sizeof(q->result), "%dx%d", given.width, given.height);
    else
        snprintf(q->result, sizeof(q->result), "cannot be read");
    capture_device_close(d);
}

static void print_display(FILE *out, const char *name)
{
    struct display_query *q = calloc(1, sizeof(*q));
    if (!q)
        return;
    q->target = (struct capture_target){.screen = true, .requested = {.fps = {SCREEN_FPS, 1}}};
    snprintf(q->target.name, sizeof(q->target.name), "%s", name);
    struct abandonable_thread *thread = abandonable_thread_new(query_display, q);
    if (thread && !abandonable_thread_end(thread, PATIENCE, free)) {
        fprintf(out, "screen:%s  does not respond\n", name);
        return;
    }
    if (!thread)
        query_display(q);
    fprintf(out, "screen:%s  %s\n", name, q->result);
    free(q);
}

// Each X server of this machine has a socket; $DISPLAY may name a server on another machine.
static int print_displays(FILE *out)
{
    const char *own = getenv("DISPLAY");
    int found = 0;
    if (own && *own) {
        print_display(out, own);
        found++;
    }
    DIR *folder = opendir("/tmp/.X11-unix");
    if (!folder)
        return found;
    for (struct dirent *e; found < MAX_DISPLAYS && (e = readdir(folder));) {
        char name[16];
        char *end;
        if (e->d_name[0] != 'X')
            continue;
        long number = strtol(e->d_name + 1, &end, 10);
        if (end == e->d_name + 1 || *end || number < 0 || number > 65535)
            continue;
        snprintf(name, sizeof(name), ":%ld", number);
        if (own && strncmp(own, name, strlen(name)) == 0 && strchr(".", own[strlen(name)]))
            continue; // printed already; strchr also finds the NUL
        print_display(out, name);
        found++;
    }
    closedir(folder);
    return found;
}

void capture_list_print(FILE *out)
{
    if (!print_cameras(out))
        fprintf(out, "no cameras (/dev/video*)\n");
    if (!print_displays(out))
        fprintf(out, "no X displays (DISPLAY is not set)\n");
}
