/* ZeroMQ by Debian's libzmq, over its Unix sockets (ipc) and TCP between processes, inproc between threads. */
#include "middleware.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#define PATTERN "{'name':'pattern','values':['pair','req-rep'],'default':'pair'," \
    "'about':'sockets PAIR, or REQ and REP'}"
#define COMMON "'family':'library','waits':['block','spin']," \
    "'wakes':'the I/O thread of each end wakes the thread that waits, by an eventfd',"
#define LOSSLESS COMMON "'workloads':['roundtrip','load','stream'],'payload':{'min':1,'max':16777216,'default':64}," \
    "'limits':'1,000 messages queue (high-water mark)'"

#define ONE_WAY COMMON "'workloads':['roundtrip','load'],'boundaries':['process'],'senders':{'whole_bytes':16777216}," \
    "'payload':{'min':8,'max':16777216,'default':64},'parameters':[{'name':'queue','values':['1000','10']," \
    "'default':'1000','about':'messages of a load that may queue at each end (high-water mark)'}],"

const char *describe(void) {
    static char text[4096];
    int major, minor, patch;
    zmq_version(&major, &minor, &patch);
    snprintf(text, sizeof text,
        "'runtime':'c+zeromq','version':'1','libraries':{'libzmq':'%d.%d.%d'},'mechanisms':["
        "{'name':'zeromq','peers':'any','about':'zmq_send and zmq_recv with one I/O thread an end'," LOSSLESS
        ",'boundaries':['process'],'parameters':["
        "{'name':'transport','values':['ipc','tcp'],'default':'ipc','about':'over a Unix socket or TCP'}," PATTERN "]},"
        "{'name':'zeromq-inproc','about':'zmq_send and zmq_recv between two threads of one context'," LOSSLESS
        ",'boundaries':['thread'],'parameters':[" PATTERN "]},"
        "{'name':'zeromq-push-pull','about':'zmq_send by PUSH and zmq_recv by PULL; answers by XPUB and SUB'," ONE_WAY
        "'limits':'zmq_send waits for room in the queue'},"
        "{'name':'zeromq-pub-sub','about':'zmq_send by XPUB and zmq_recv by SUB','loses':true," ONE_WAY
        "'limits':'a message for which a queue has no room is dropped, and neither end learns of it'}]", major, minor, patch);
    return text;
}

struct link {
    void *to, *from; /* one socket, but where messages go one way */
    int flags, publishes, senders; /* senders: to this end */
};

/* Several senders have one receiver, whose answers all of them get. */
static void *one_way(const struct ask *ask, int forth[2], int back[2]) {
    void *context = zmq_ctx_new();
    /* Not of round trips and answers: libzmq counts what has left a queue once a millisecond, and would drop these. */
    int most = strstr(ask->line, "\"workload\":\"load\"") ? atoi(value(ask, "queue")) : 1000, yes = 1;
    struct link *link = malloc(sizeof *link);
    *link = (struct link){.flags = ask->spins ? ZMQ_DONTWAIT : 0, .senders = ask->is_caller ? 0 : ask->senders};
    for (int is_back = 0; is_back < 2; is_back++) {
        char address[320];
        int is_to = is_back != ask->is_caller, type = (is_back ? back : forth)[!is_to];
        void *socket = zmq_socket(context, type);
        *(is_to ? &link->to : &link->from) = socket;
        snprintf(address, sizeof address, "ipc://%s/zmq-%s", ask->scratch, is_back ? "back" : "forth");
        if (!socket || (!is_back && zmq_setsockopt(socket, is_to ? ZMQ_SNDHWM : ZMQ_RCVHWM, &most, sizeof most))
            || (type == ZMQ_XPUB && zmq_setsockopt(socket, ZMQ_XPUB_VERBOSE, &yes, sizeof yes))
            || (ask->is_caller ? zmq_connect(socket, address) : zmq_bind(socket, address))
            || (type == ZMQ_SUB && zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0)))
            give_up("%s: %s", address, zmq_strerror(zmq_errno()));
        link->publishes |= type == ZMQ_XPUB;
    }
    return link;
}
void *open_end(const struct ask *ask) {
    int pub_sub[] = {ZMQ_XPUB, ZMQ_SUB}, push_pull[] = {ZMQ_PUSH, ZMQ_PULL};
    if (!strcmp(ask->mechanism, "zeromq-pub-sub")) return one_way(ask, pub_sub, pub_sub);
    if (!strcmp(ask->mechanism, "zeromq-push-pull")) return one_way(ask, push_pull, pub_sub);
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
    *link = (struct link){socket, socket, ask->spins ? ZMQ_DONTWAIT : 0, 0, 0};
    return link;
}
/* A message waits until the other end is there. But a publisher has to wait for those who subscribe, and these do so
 * while they look at their sockets. So each sender says that it is ready, and their receiver looks at both until then. */
void meet(void *end) {
    struct link *link = end;
    char one = 0;
    if (link->to == link->from) return;
    if (!link->senders) {
        if ((link->publishes && zmq_recv(link->to, &one, 1, 0) < 0) || zmq_send(link->to, &one, 1, 0) < 0)
            give_up("meeting: %s", zmq_strerror(zmq_errno()));
    }
    for (int subscribed = 0, ready = 0; subscribed < link->senders || ready < link->senders;) {
        zmq_pollitem_t both[] = {{.socket = link->to, .events = ZMQ_POLLIN}, {.socket = link->from, .events = ZMQ_POLLIN}};
        if (zmq_poll(both, 2, -1) < 0) give_up("meeting: %s", zmq_strerror(zmq_errno()));
        subscribed += both[0].revents && zmq_recv(link->to, &one, 1, 0) >= 0;
        ready += both[1].revents && zmq_recv(link->from, &one, 1, 0) >= 0;
    }
}
int is_there(void *end, int milliseconds) {
    struct link *link = end;
    zmq_pollitem_t item = {.socket = link->from, .events = ZMQ_POLLIN};
    return link->to == link->from ? -1 : zmq_poll(&item, 1, milliseconds) > 0;
}

void send_message(void *end, const void *message, size_t size) {
    struct link *link = end;
    while (zmq_send(link->to, message, size, link->flags) < 0)
        if (zmq_errno() != EAGAIN) give_up("zmq_send: %s", zmq_strerror(zmq_errno()));
}
size_t receive_message(void *end, void *to, size_t room) {
    struct link *link = end;
    int got;
    while ((got = zmq_recv(link->from, to, room, link->flags)) < 0)
        if (zmq_errno() != EAGAIN) give_up("zmq_recv: %s", zmq_strerror(zmq_errno()));
    return (size_t)got;
}
