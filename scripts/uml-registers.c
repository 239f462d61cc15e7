/*
 * Lets user-mode Linux run on processors with wider registers than it knows (Intel's AMX), as a library that is preloaded: it sets
 * its processes' registers by ptrace in 2,696 bytes, of all that there are up to AVX-512, and Linux takes no fewer than the processor
 * has. Those that are missing stay as they are.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* More than any processor has, and the place of the mask that tells which parts are in use. */
enum { MOST = 1 << 16, PARTS = 512 };

static long set_part(pid_t pid, const struct iovec *part)
{
    static _Thread_local unsigned char whole[MOST];
    struct iovec all = { whole, sizeof whole };
    unsigned long before, after;

    if (syscall(SYS_ptrace, PTRACE_GETREGSET, pid, NT_X86_XSTATE, &all) != 0 || all.iov_len <= part->iov_len)
        return syscall(SYS_ptrace, PTRACE_SETREGSET, pid, NT_X86_XSTATE, part);
    memcpy(&before, whole + PARTS, sizeof before);
    memcpy(whole, part->iov_base, part->iov_len);
    /* Its parts beyond those are told by the process alone. */
    memcpy(&after, whole + PARTS, sizeof after);
    after = (after & 0x3ff) | (before & ~0x3ffUL);
    memcpy(whole + PARTS, &after, sizeof after);
    return syscall(SYS_ptrace, PTRACE_SETREGSET, pid, NT_X86_XSTATE, &all);
}

long ptrace(enum __ptrace_request request, ...)
{
    va_list arguments;
    pid_t pid;
    void *address, *data;
    long read, result;

    va_start(arguments, request);
    pid = va_arg(arguments, pid_t);
    address = va_arg(arguments, void *);
    data = va_arg(arguments, void *);
    va_end(arguments);
    if (request == PTRACE_SETREGSET && address == (void *)NT_X86_XSTATE)
        return set_part(pid, data);
    /* What is read comes back as the result, as in the C library's own. */
    if (request >= PTRACE_PEEKTEXT && request <= PTRACE_PEEKUSER)
        data = &read;
    result = syscall(SYS_ptrace, request, pid, address, data);
    return result == 0 && data == &read ? read : result;
}
