/* DDS by Eclipse Cyclone: a topic for each direction, reliable, over UDP on loopback. */
#include "middleware.h"
#include "message.h"
#include <dds/dds.h>
#include <dds/version.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Only loopback and no multicast; the peer is found by its address. */
static const char configuration[] =
    "<Domain><General><Interfaces><NetworkInterface name='lo' multicast='false'/></Interfaces>"
    "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
    "<MaxAutoParticipantIndex>20</MaxAutoParticipantIndex><Peers><Peer address='127.0.0.1'/></Peers></Discovery></Domain>";

#define COMMON "'family':'library','carrier':'udp','boundaries':['process'],'waits':['block']," \
    "'wakes':'the kernel wakes a receive thread, and that the thread that waits'," \
    "'copies':'into and out of the kernel, and into and out of the encoded message','parameters':[" \
    "{'name':'receive','values':['waitset','listener'],'default':'waitset'," \
    "'about':'by a waitset, or by a listener on the receive thread, which signals a condition'}"
#define WRITE_AND_TAKE "'about':'dds_write and dds_take of a sequence of bytes, by Eclipse Cyclone"
#define LIMITS "'limits':'fragments of 64 KiB; a domain number of this trial"

const char *describe(void) {
    return "'runtime':'c+dds','version':'1','libraries':{'Cyclone DDS':'" DDS_VERSION "'},'mechanisms':["
           "{'name':'dds'," WRITE_AND_TAKE "','workloads':['roundtrip','load','stream'],"
           "'payload':{'min':1,'max':1048576,'default':64},'senders':{'whole_bytes':1048576}," LIMITS "'," COMMON "]},"
           "{'name':'dds-dropping'," WRITE_AND_TAKE ", which keeps the last ones','workloads':['roundtrip','load'],"
           "'payload':{'min':8,'max':1048576,'default':64},'loses':true,"
           LIMITS "; the oldest message of a full history is dropped, and neither end learns of it'," COMMON
           ",{'name':'queue','values':['256','1'],'default':'256',"
           "'about':'messages that a writer and a reader keep (KEEP_LAST); the default of DDS is 1'}]}]";
}

struct link {
    dds_entity_t writer, reader, waitset;
    int listens, came; /* came: by the listener */
    int others;        /* ends that this one exchanges messages with */
    int is_numbered;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
};

static dds_entity_t checked(dds_entity_t entity, const char *what) {
    if (entity < 0) give_up("%s: %s", what, dds_strretcode(-entity));
    return entity;
}

static void came(dds_entity_t reader, void *argument) {
    (void)reader;
    struct link *link = argument;
    pthread_mutex_lock(&link->mutex);
    link->came = 1;
    pthread_cond_signal(&link->cond);
    pthread_mutex_unlock(&link->mutex);
}

void *open_end(const struct ask *ask) {
    setenv("CYCLONEDDS_URI", configuration, 1);
    struct link *link = calloc(1, sizeof *link);
    pthread_mutex_init(&link->mutex, NULL);
    pthread_cond_init(&link->cond, NULL);
    link->listens = !strcmp(value(ask, "receive"), "listener");
    link->others = ask->is_caller ? 1 : ask->senders;
    int queue = atoi(value(ask, "queue")); /* 0: what is full holds up the writer */
    link->is_numbered = queue || ask->senders > 1;
    /* A domain has ports of its own, 250 for each. */
    dds_entity_t participant = checked(dds_create_participant(ask->port % 200 + 1, NULL, NULL), "dds_create_participant");
    dds_entity_t topics[2];
    for (int at = 0; at < 2; at++)
        topics[at] = checked(dds_create_topic(participant, &hopcost_Message_desc, at ? "to_caller" : "to_callee", NULL, NULL),
                             "dds_create_topic");
    dds_qos_t *qos = dds_create_qos();
    dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_SECS(10));
    dds_qset_history(qos, queue ? DDS_HISTORY_KEEP_LAST : DDS_HISTORY_KEEP_ALL, queue);
    dds_listener_t *listener = dds_create_listener(link);
    dds_lset_data_available(listener, came);
    link->writer = checked(dds_create_writer(participant, topics[!ask->is_caller], qos, NULL), "dds_create_writer");
    link->reader = checked(dds_create_reader(participant, topics[ask->is_caller], qos, link->listens ? listener : NULL),
                           "dds_create_reader");
    dds_delete_qos(qos);
    link->waitset = checked(dds_create_waitset(participant), "dds_create_waitset");
    dds_entity_t condition = checked(dds_create_readcondition(link->reader, DDS_ANY_STATE), "dds_create_readcondition");
    checked(dds_waitset_attach(link->waitset, condition, 0), "dds_waitset_attach");
    return link;
}

/* What is written before the other end's reader is matched would be lost. */
void meet(void *end) {
    struct link *link = end;
    for (int i = 0; i < 10000; i++) {
        dds_publication_matched_status_t sent = {0};
        dds_subscription_matched_status_t received = {0};
        checked(dds_get_publication_matched_status(link->writer, &sent), "dds_get_publication_matched_status");
        checked(dds_get_subscription_matched_status(link->reader, &received), "dds_get_subscription_matched_status");
        if ((int)sent.current_count == link->others && (int)received.current_count == link->others) return;
        dds_sleepfor(DDS_MSECS(1));
    }
    give_up("the other end was not found within 10 s");
}

int is_there(void *end, int milliseconds) {
    struct link *link = end;
    if (!link->is_numbered) return -1;
    return checked(dds_waitset_wait(link->waitset, NULL, 0, DDS_MSECS(milliseconds)), "dds_waitset_wait") > 0;
}

void send_message(void *end, const void *message, size_t size) {
    struct link *link = end;
    hopcost_Message sample = {.body = {._maximum = (uint32_t)size, ._length = (uint32_t)size, ._buffer = (uint8_t *)message}};
    checked(dds_write(link->writer, &sample), "dds_write");
}

size_t receive_message(void *end, void *to, size_t room) {
    struct link *link = end;
    void *samples[1] = {NULL};
    dds_sample_info_t infos[1];
    for (;;) {
        if (checked(dds_take(link->reader, samples, infos, 1, 1), "dds_take") > 0) {
            const hopcost_Message *sample = samples[0];
            size_t got = infos[0].valid_data ? sample->body._length : 0;
            if (got > room) give_up("a message of %zu bytes came", got);
            if (got > 0) memcpy(to, sample->body._buffer, got);
            dds_return_loan(link->reader, samples, 1);
            if (got > 0) return got;
        } else if (link->listens) {
            pthread_mutex_lock(&link->mutex);
            while (!link->came) pthread_cond_wait(&link->cond, &link->mutex);
            link->came = 0;
            pthread_mutex_unlock(&link->mutex);
        } else {
            checked(dds_waitset_wait(link->waitset, NULL, 0, DDS_INFINITY), "dds_waitset_wait");
        }
    }
}
