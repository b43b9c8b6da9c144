/* What the workers of libraries in C have in common (workers/PROTOCOL.md, ../README.md). A library's
 * program defines the five functions at the end; middleware.c has main(). */
#ifndef MIDDLEWARE_H
#define MIDDLEWARE_H
#include <stddef.h>
#include <sys/types.h>

/* What hopcost asks for in `attach`; one for each end. */
struct ask {
    int is_caller, is_thread; /* is_thread: both ends are threads of one process */
    int spins;                /* wait=spin */
    int senders, sender;      /* callers of a load to the one callee, and which of them this end is, from 0 */
    size_t size;              /* bytes of a message */
    char mechanism[64];
    char scratch[256]; /* a directory of this trial's own, for sockets and files */
    char prefix[128];  /* what names in /dev/shm have to begin with */
    int port;          /* a free loopback port, the same for both ends */
    char line[4096];   /* the command, for value() */
};

/* Copies the value of a parameter of the case, "" if it has none, and returns it. */
const char *value(const struct ask *ask, const char *key);
/* Gives up, with a reason in one line, which may hold the arguments of a format. */
_Noreturn void give_up(const char *format, ...);

/* The reply to `describe`, without `is` and `protocol`, in JSON with ' for ". */
const char *describe(void);
/* Opens an end: the callee's first, then the caller's, each in its own process or thread. */
void *open_end(const struct ask *ask);
/* Waits until the other end can be reached; both ends do so at the same time. */
void meet(void *end);
/* Sends a message; it has left when this returns. */
void send_message(void *end, const void *message, size_t size);
/* Receives a message of at most `room` bytes into `to`, and returns how many it has. */
size_t receive_message(void *end, void *to, size_t room);

/* Only of a library that may lose messages or have several senders, whose loads are numbered: whether a message is
 * there within so many milliseconds; -1 of a link without either. */
int is_there(void *end, int milliseconds);

/* Only where something else has to start the ends: starts it, and it starts two processes of this very program with
 * the scratch directory and this process's number as arguments. */
pid_t launch_ends(const struct ask *ask);
/* In such a process, before anything else: whether it is the caller. */
int join_ends(void);
#endif
