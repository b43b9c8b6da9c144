/* ZeroMQ by Debian's libzmq, over its Unix sockets (ipc) and TCP between processes, inproc between threads. */
#include "middleware.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#define PATTERN "{'name':'pattern','values':['pair','req-rep'],'default':'pair'," \
    "'about':'sockets PAIR, or REQ and REP'}"
#define COMMON "'family':'library','workloads':['roundtrip','load','stream'],'waits':['block','spin']," \
    "'payload':{'min':1,'max':16777216,'default':64}," \
    "'wakes':'the I/O thread of each end wakes the thread that waits, by an eventfd'," \
    "'limits':'1,000 messages queue (high-water mark)'"

const char *describe(void) {
    static char text[2048];
    int major, minor, patch;
    zmq_version(&major, &minor, &patch);
    snprintf(text, sizeof text,
        "'runtime':'c+zeromq','version':'1','libraries':{'libzmq':'%d.%d.%d'},'mechanisms':["
        "{'name':'zeromq','peers':'any','about':'zmq_send and zmq_recv with one I/O thread an end'," COMMON
        ",'boundaries':['process'],'parameters':["
        "{'name':'transport','values':['ipc','tcp'],'default':'ipc','about':'over a Unix socket or TCP'}," PATTERN "]},"
        "{'name':'zeromq-inproc','about':'zmq_send and zmq_recv between two threads of one context'," COMMON
        ",'boundaries':['thread'],'parameters':[" PATTERN "]}]", major, minor, patch);
    return text;
}

struct link {
    void *socket;
    int flags;
};

void *open_end(const struct ask *ask) {
    static void *shared; /* threads have one context, which the callee makes */
    void *context = shared ? shared : zmq_ctx_new();
    if (ask->is_thread) shared = context;
    int is_pair = !strcmp(value(ask, "pattern"), "pair");
    void *socket = zmq_socket(context, is_pair ? ZMQ_PAIR : ask->is_caller ? ZMQ_REQ : ZMQ_REP);
    char address[320];
    if (ask->is_thread) snprintf(address, sizeof address, "inproc://hopcost");
    else if (!strcmp(value(ask, "transport"), "tcp"))
        snprintf(address, sizeof address, "tcp://127.0.0.1:%d", ask->port);
    else snprintf(address, sizeof address, "ipc://%s/zmq", ask->scratch);
    if (!socket || (ask->is_caller ? zmq_connect(socket, address) : zmq_bind(socket, address)))
        give_up("%s: %s", address, zmq_strerror(zmq_errno()));
    struct link *link = malloc(sizeof *link);
    *link = (struct link){socket, ask->spins ? ZMQ_DONTWAIT : 0};
    return link;
}
void meet(void *end) { (void)end; } /* a message waits until the other end is there */

void send_message(void *end, const void *message, size_t size) {
    struct link *link = end;
    while (zmq_send(link->socket, message, size, link->flags) < 0)
        if (zmq_errno() != EAGAIN) give_up("zmq_send: %s", zmq_strerror(zmq_errno()));
}
size_t receive_message(void *end, void *to, size_t room) {
    struct link *link = end;
    int got;
    while ((got = zmq_recv(link->socket, to, room, link->flags)) < 0)
        if (zmq_errno() != EAGAIN) give_up("zmq_recv: %s", zmq_strerror(zmq_errno()));
    return (size_t)got;
}
