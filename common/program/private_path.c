// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/program/private_path.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"

enum {
    MAX_LINKS = 40,     // as the kernel's (path_resolution(7))
    NAMES_BYTES = 4096, // for an entry of passwd(5) or group(5)
};

int private_path_judge(const struct private_judge *judge, const struct stat *st, const char *name,
                       char *reason, size_t cap)
{
    bool is_link = S_ISLNK(st->st_mode);
    bool others_write = st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && !judge->is_group_alone);
    if (st->st_uid != judge->user && st->st_uid != 0 && st->st_uid != judge->machine)
        return err_say(reason, cap, ERR_UNTRUSTED,
                       "another user (%u) owns %s on the way to it, and can put another one there "
                       "(chown %s, or use another directory)",
                       (unsigned)st->st_uid, name, name);
    if (is_link || !others_write || st->st_mode & S_ISVTX)
        return 0;
    return err_say(reason, cap, ERR_UNTRUSTED,
                   "other users may write into %s on the way to it (chmod %s %s, or use another "
                   "directory)",
                   name, st->st_mode & S_IWOTH ? "go-w" : "g-w", name);
}

// Returns true if no user but `owner` is in the group.
static bool is_group_alone(uid_t owner, gid_t group)
{
    char user_names[NAMES_BYTES], group_names[NAMES_BYTES];
    struct passwd user, *found_user;
    struct group of, *found_group;
    if (getpwuid_r(owner, &user, user_names, sizeof(user_names), &found_user) != 0 || !found_user ||
        getgrgid_r(group, &of, group_names, sizeof(group_names), &found_group) != 0 || !found_group)
        return false;
    bool alone = user.pw_gid == group && strcmp(user.pw_name, of.gr_name) == 0;
    for (char **member = of.gr_mem; *member && alone; member++)
        alone = strcmp(*member, user.pw_name) == 0;
    return alone;
}

struct walk {
    int fd;              // the folder that was reached; owned. AT_FDCWD: none
    char rest[PATH_MAX]; // names that are left
    char at[PATH_MAX];   // what was reached, for messages
    const char *shown;   // borrowed
    struct private_judge judge;
    int links;
};

static int judge(struct walk *w, const struct stat *st)
{
    char reason[2 * PATH_MAX + 200];
    w->judge.is_group_alone = (st->st_mode & (S_IWGRP | S_IWOTH | S_ISVTX)) == S_IWGRP &&
                              is_group_alone(st->st_uid, st->st_gid);
    int err = private_path_judge(&w->judge, st, w->at, reason, sizeof(reason));
    if (err)
        log_error("%s is not used: %s", w->shown, reason);
    return err;
}

// Takes over the descriptor of the folder that was reached, if it is one.
static int step(struct walk *w, int fd, bool is_judged)
{
    struct stat st;
    if (fd < 0)
        return ERR_IO;
    if (w->fd != AT_FDCWD)
        close(w->fd);
    w->fd = fd;
    if (!is_judged)
        return 0;
    return fstat(fd, &st) != 0 ? ERR_IO : judge(w, &st);
}

static int begin(struct walk *w)
{
    struct stat st;
    strcpy(w->at, "/");
    int err = step(w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), false);
    if (err || fstat(w->fd, &st) != 0)
        return ERR_IO;
    w->judge.machine = st.st_uid;
    return judge(w, &st);
}

// Puts `head` before the names that are left.
static int prepend(struct walk *w, const char *head)
{
    char all[PATH_MAX];
    if (snprintf(all, sizeof(all), "%s/%s", head, w->rest) >= (int)sizeof(all)) {
        errno = ENAMETOOLONG;
        return ERR_IO;
    }
    strcpy(w->rest, all);
    return 0;
}

static bool is_procfs(int fd)
{
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

static int follow(struct walk *w, const char *name, const struct stat *st)
{
    char target[PATH_MAX];
    if (++w->links > MAX_LINKS) {
        errno = ELOOP;
        return ERR_IO;
    }
    ssize_t len = readlinkat(w->fd, name, target, sizeof(target) - 1);
    if (len < 0)
        return ERR_IO;
    target[len] = '\0';
    int err = judge(w, st);
    if (!err)
        err = prepend(w, target);
    if (err)
        return err;
    *strrchr(w->at, '/') = '\0';
    return target[0] == '/' ? begin(w) : 0;
}

// Takes the next name off those that are left. Returns its length; 0: there is none, or ERR_IO.
static int cut(struct walk *w, char name[NAME_MAX + 1], bool *is_last)
{
    const char *from = w->rest + strspn(w->rest, "/");
    size_t len = strcspn(from, "/");
    if (len > NAME_MAX) {
        errno = ENAMETOOLONG;
        return ERR_IO;
    }
    memcpy(name, from, len);
    name[len] = '\0';
    from += len;
    memmove(w->rest, from, strlen(from) + 1);
    *is_last = w->rest[strspn(w->rest, "/")] == '\0';
    return (int)len;
}

// Adds a name to what was reached.
static int enter(struct walk *w, const char *name)
{
    size_t used = strlen(w->at);
    const char *slash = used && w->at[used - 1] == '/' ? "" : "/";
    if (snprintf(w->at + used, sizeof(w->at) - used, "%s%s", slash, name) <
        (int)(sizeof(w->at) - used))
        return 0;
    errno = ENAMETOOLONG;
    return ERR_IO;
}

static int walk(struct walk *w, int flags, bool makes)
{
    char name[NAME_MAX + 1];
    bool is_last;
    struct stat st;
    int len;
    flags |= O_RDONLY | O_NOCTTY | O_CLOEXEC;
    while ((len = cut(w, name, &is_last)) > 0) {
        if (enter(w, name) != 0)
            return ERR_IO;
        bool is_there = fstatat(w->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
        if (!is_there && errno == ENOENT && makes)
            is_there = (mkdirat(w->fd, name, 0700) == 0 || errno == EEXIST) &&
                       fstatat(w->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
        if (!is_there)
            return ERR_IO;
        bool is_link = S_ISLNK(st.st_mode), is_kernels = is_link && is_procfs(w->fd);
        int no_follow = is_kernels ? 0 : O_NOFOLLOW;
        if (is_last && (!is_link || is_kernels)) {
            int fd = openat(w->fd, name, flags | no_follow);
            return fd < 0 ? ERR_IO : fd;
        }
        int err =
            is_link && !is_kernels
                ? follow(w, name, &st)
                : step(w, openat(w->fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC | no_follow), true);
        if (err)
            return err;
    }
    if (len < 0)
        return len;
    int fd = openat(w->fd, ".", flags); // "/", or what a link to "." or ".." leads to
    return fd < 0 ? ERR_IO : fd;
}

static int open_path(int folder, const char *path, const char *shown, int flags, bool makes)
{
    struct walk w = {.fd = AT_FDCWD, .shown = shown, .judge = {.user = geteuid()}};
    char here[PATH_MAX] = "";
    size_t above = strlen(shown) - strlen(path); // the bytes of `folder`
    bool is_relative = path[0] != '/';
    if (snprintf(w.rest, sizeof(w.rest), "%s", path) >= (int)sizeof(w.rest)) {
        errno = ENAMETOOLONG;
        return ERR_IO;
    }
    int fd = begin(&w);
    if (!fd && is_relative && folder != AT_FDCWD) {
        snprintf(w.at, sizeof(w.at), "%.*s", (int)above, shown);
        fd = step(&w, fcntl(folder, F_DUPFD_CLOEXEC, 0), false);
    } else if (!fd && is_relative) {
        fd = getcwd(here, sizeof(here)) ? prepend(&w, here) : ERR_IO;
    }
    if (!fd)
        fd = walk(&w, flags, makes);
    int reason = errno;
    if (w.fd != AT_FDCWD)
        close(w.fd);
    errno = reason;
    return fd;
}

int private_path_open(int folder, const char *path, const char *shown, int flags)
{
    return open_path(folder, path, shown, flags, false);
}

int private_path_make(const char *path)
{
    return open_path(AT_FDCWD, path, path, O_DIRECTORY, true);
}
