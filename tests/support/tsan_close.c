// SPDX-License-Identifier: GPL-2.0-or-later
// For ThreadSanitizer. libuv closes files by syscall(SYS_close), which the sanitizer does not see:
// it then takes the next file of that number for the old one, and what another thread does with it
// for a race. This syscall() stands before the C library's, and closes by close().
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARGS 6 // the most that a system call takes

long syscall(long number, ...)
{
    long arg[ARGS];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < ARGS; i++)
        arg[i] = va_arg(args, long); // what the caller did not give, the kernel does not read
    va_end(args);
    if (number == SYS_close)
        return close((int)arg[0]);
    long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return next(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}
