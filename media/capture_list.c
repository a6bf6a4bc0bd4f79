// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture_list.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "media/capture_device.h"
#include "media/v4l2_modes.h"

enum { MAX_CAMERAS = 64, MAX_DISPLAYS = 32, SCREEN_FPS = 30 };

// Their numbers are not dense: many cameras take two, one of them for metadata.
static bool camera_path(int number, char *out, size_t cap)
{
    snprintf(out, cap, "/dev/video%d", number);
    return number < MAX_CAMERAS;
}

bool capture_first_camera(char *out, size_t cap)
{
    struct capture_mode modes[CAPTURE_MAX_MODES];
    char name[64];
    int closed = -1; // what cannot be opened: whoever tries to learns why
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
            fprintf(out, "camera:%s  cannot be opened: is this user in the group video?\n", path);
        found += count > 0 || count == ERR_IO;
        if (count <= 0)
            continue;
        fprintf(out, "camera:%s  %s\n", path, name);
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

static void print_display(FILE *out, const char *name)
{
    struct capture_target target = {.screen = true, .asked = {.fps = {SCREEN_FPS, 1}}};
    struct capture_given given;
    char why[512];
    int err;
    snprintf(target.name, sizeof(target.name), "%s", name);
    struct capture_device *d = capture_device_open(&target, &given, why, sizeof(why), &err);
    if (d)
        fprintf(out, "screen:%s  %dx%d\n", name, given.width, given.height);
    else
        fprintf(out, "screen:%s  cannot be read\n", name);
    capture_device_close(d);
}

// X servers of this machine have a socket each; $DISPLAY may name one elsewhere.
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
            continue; // told already; strchr finds the NUL, too
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
