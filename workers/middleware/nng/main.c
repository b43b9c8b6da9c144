/* NNG by Debian's libnng, over its Unix sockets (ipc) and TCP between processes, inproc between threads. */
#include "middleware.h"
#include <nng/nng.h>
#include <nng/protocol/pair0/pair.h>
#include <nng/protocol/reqrep0/rep.h>
#include <nng/protocol/reqrep0/req.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN "{'name':'pattern','values':['pair','req-rep'],'default':'pair'," \
    "'about':'protocol pair0, or req0 and rep0'}"
#define COMMON "'family':'library','workloads':['roundtrip','load','stream'],'waits':['block']," \
    "'payload':{'min':1,'max':16777216,'default':64}," \
    "'wakes':'threads of a pool wake each other and the thread that waits; their number grows with the CPUs'"

const char *describe(void) {
    static char text[2048];
    snprintf(text, sizeof text,
        "'runtime':'c+nng','version':'1','libraries':{'libnng':'%s'},'mechanisms':["
        "{'name':'nng','about':'nng_send and nng_recv'," COMMON ",'boundaries':['process'],'parameters':["
        "{'name':'transport','values':['ipc','tcp'],'default':'ipc','about':'over a Unix socket or TCP'}," PATTERN "]},"
        "{'name':'nng-inproc','about':'nng_send and nng_recv between two threads'," COMMON
        ",'boundaries':['thread'],'parameters':[" PATTERN "]}]", nng_version());
    return text;
}
static void check(const char *what, int error) {
    if (error) give_up("%s: %s", what, nng_strerror(error));
}

void *open_end(const struct ask *ask) {
    nng_socket *socket = malloc(sizeof *socket);
    int is_pair = !strcmp(value(ask, "pattern"), "pair");
    int (*open)(nng_socket *) = is_pair ? nng_pair0_open : ask->is_caller ? nng_req0_open : nng_rep0_open;
    check("nng_open", open(socket));
    check("nng_setopt", nng_setopt_size(*socket, NNG_OPT_RECVMAXSZ, 0)); /* without its limit of 1 MiB */
    if (ask->is_caller && !is_pair) /* no answer is late enough to ask again */
        check("nng_setopt", nng_setopt_ms(*socket, NNG_OPT_REQ_RESENDTIME, NNG_DURATION_INFINITE));
    char address[320];
    if (ask->is_thread) snprintf(address, sizeof address, "inproc://hopcost");
    else if (!strcmp(value(ask, "transport"), "tcp"))
        snprintf(address, sizeof address, "tcp://127.0.0.1:%d", ask->port);
    else snprintf(address, sizeof address, "ipc://%s/nng", ask->scratch);
    check(address, ask->is_caller ? nng_dial(*socket, address, NULL, 0) : nng_listen(*socket, address, NULL, 0));
    return socket;
}
void meet(void *end) { (void)end; } /* nng_dial has returned, and so both are connected */

void send_message(void *end, const void *message, size_t size) {
    check("nng_send", nng_send(*(nng_socket *)end, (void *)message, size, 0));
}
size_t receive_message(void *end, void *to, size_t room) {
    check("nng_recv", nng_recv(*(nng_socket *)end, to, &room, 0));
    return room;
}
