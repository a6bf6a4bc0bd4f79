// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/access/access_user.h"

#include <crypt.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "server/policy/access_rules.h"

enum { FILE_MAX = 64 * 1024, SIGNALS = 4 };

// ---- The line

// Reads a text as a file of --access. Returns as access_rules_read, and whether it has the user.
static int read_rules(const char *text, size_t len, const char *name, bool *has, char *error,
                      size_t cap)
{
    struct access_rules *rules = calloc(1, sizeof(*rules));
    int err = rules ? access_rules_read(rules, text, len, error, cap)
                    : err_say(error, cap, ERR_NO_MEMORY, "out of memory");
    *has = !err && access_rules_find(rules, name) >= 0;
    free(rules);
    return err;
}

bool access_user_is_name(const char *name)
{
    char line[ACCESS_LINE_MAX], error[128];
    bool has;
    int len = snprintf(line, sizeof(line), "user = %s:$", name);
    return len > 0 && len < (int)sizeof(line) && !strpbrk(name, ": \t\r\n") &&
           read_rules(line, (size_t)len, name, &has, error, sizeof(error)) == 0 && has;
}

int access_user_line(const char *name, const char *password, char out[ACCESS_LINE_MAX])
{
    char setting[CRYPT_GENSALT_OUTPUT_SIZE];
    struct crypt_data *data = calloc(1, sizeof(*data)); // 32 KiB
    const char *hash = NULL;
    for (const char *const *kind = (const char *const[]){"$y$", "$6$", NULL}; *kind && data; kind++)
        if (crypt_gensalt_rn(*kind, 0, NULL, 0, setting, sizeof(setting)) &&
            (hash = crypt_r(password, setting, data)) && *hash == '$')
            break;
    int len =
        hash && *hash == '$' ? snprintf(out, ACCESS_LINE_MAX, "user = %s:%s", name, hash) : -1;
    if (data)
        explicit_bzero(data, sizeof(*data));
    free(data);
    return len > 0 && len < ACCESS_LINE_MAX ? 0 : ERR_IO;
}

// ---- The file

static int append(int fd, const char *file, const char *name, const char *line, char *text)
{
    char error[256];
    bool has;
    ssize_t len = 0, n;
    while (len <= FILE_MAX && (n = read(fd, text + len, (size_t)(FILE_MAX + 1 - len))) > 0)
        len += n;
    size_t more = strlen(line) + 2;
    if (len + (ssize_t)more > FILE_MAX) {
        log_error("%s is too large: at most 64 KiB", file);
        return ERR_IO;
    }
    if (read_rules(text, (size_t)len, name, &has, error, sizeof(error)) != 0) {
        log_error("%s: %s", file, error);
        return ERR_IO;
    }
    if (has) {
        log_error("%s has a user %s already: delete that line, then make the new one", file, name);
        return ERR_IO;
    }
    const char *begin = len && text[len - 1] != '\n' ? "\n" : "";
    more = (size_t)snprintf(text, FILE_MAX, "%s%s\n", begin, line);
    if (write(fd, text, more) == (ssize_t)more && fsync(fd) == 0)
        return 0;
    log_error("cannot write %s: %s", file, strerror(errno));
    return ERR_IO;
}

int access_user_append(const char *file, const char *name, const char *line)
{
    char *text = malloc(FILE_MAX + 1);
    int fd = text ? open(file, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    int err = fd < 0 ? ERR_IO : append(fd, file, name, line, text);
    if (fd < 0)
        log_error("cannot open %s: %s", file, strerror(errno));
    else
        close(fd);
    free(text);
    return err;
}

// ---- The password

static volatile sig_atomic_t caught; // the signal that ended the question; 0: none
static int event = -1; // readable after a signal, whenever and in whichever thread it comes

static void on_signal(int number)
{
    int saved = errno;
    caught = number;
    (void)!eventfd_write(event, 1);
    errno = saved;
}

// Reads a line byte by byte, so that what follows it stays. Returns its length, or -1: there is
// none, it is too long, or a signal came.
static int read_line(int fd, char out[ACCESS_PASSWORD_MAX])
{
    struct pollfd inputs[] = {{.fd = fd, .events = POLLIN}, {.fd = event, .events = POLLIN}};
    int len = 0;
    char c = '\0';
    for (;;) {
        while (poll(inputs, 2, -1) < 0 && errno == EINTR && !caught) {
        }
        if (caught)
            return -1;
        if (read(fd, &c, 1) <= 0 || c == '\n')
            break;
        if (len == ACCESS_PASSWORD_MAX - 1 || c == '\0')
            return -1;
        out[len++] = c;
    }
    out[len] = '\0';
    return len;
}

static int ask(int fd, const char *question, char out[ACCESS_PASSWORD_MAX])
{
    (void)!write(fd, question, strlen(question));
    int len = read_line(fd, out);
    (void)!write(fd, "\n", 1);
    return len;
}

// Asks at the terminal, which shows what is typed again afterwards, whatever ends the question.
static int ask_twice(int fd, char out[ACCESS_PASSWORD_MAX])
{
    static const int numbers[SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    const struct sigaction act = {.sa_handler = on_signal};
    struct sigaction before[SIGNALS];
    struct termios shown, hidden;
    char again[ACCESS_PASSWORD_MAX];
    if (tcgetattr(fd, &shown) != 0 || (event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
        return ERR_IO;
    hidden = shown;
    hidden.c_lflag &= ~(tcflag_t)ECHO;
    for (int i = 0; i < SIGNALS; i++)
        sigaction(numbers[i], &act, &before[i]);
    tcsetattr(fd, TCSAFLUSH, &hidden);
    int len = ask(fd, "password: ", out);
    bool is_same = len > 0 && ask(fd, "again: ", again) >= 0 && strcmp(out, again) == 0;
    tcsetattr(fd, TCSAFLUSH, &shown);
    for (int i = 0; i < SIGNALS; i++)
        sigaction(numbers[i], &before[i], NULL);
    close(event);
    explicit_bzero(again, sizeof(again));
    if (caught)
        raise(caught);
    if (len > 0 && !is_same)
        log_error("the two passwords differ: try again");
    return len > 0 && !is_same ? ERR_IO : len;
}

int access_user_make(const char *name, const char *file)
{
    char password[ACCESS_PASSWORD_MAX], line[ACCESS_LINE_MAX];
    bool is_terminal = isatty(STDIN_FILENO);
    int len = is_terminal ? ask_twice(STDIN_FILENO, password) : read_line(STDIN_FILENO, password);
    if (len == 0 || len == -1)
        log_error("the password has to have 1 to %d bytes", ACCESS_PASSWORD_MAX - 1);
    int err = len > 0 ? access_user_line(name, password, line) : ERR_IO;
    explicit_bzero(password, sizeof(password));
    if (len > 0 && err)
        log_error("cannot make a hash: this machine has neither yescrypt nor SHA-512");
    if (!err && !file)
        err = printf("%s\n", line) >= 0 && fflush(stdout) == 0 ? 0 : ERR_IO;
    else if (!err)
        err = access_user_append(file, name, line);
    explicit_bzero(line, sizeof(line));
    if (err)
        return EXIT_FAILURE;
    log_info("%s has no right yet: add a line such as: allow = %s / watch", name, name);
    return EXIT_SUCCESS;
}
