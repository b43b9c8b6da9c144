package hopcost.worker;

import hopcost.worker.Links.Ends;
import hopcost.worker.Links.Link;
import hopcost.worker.Loops.Channel;
import hopcost.worker.Task.Role;
import java.io.IOException;
import java.net.PortUnreachableException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.FileChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.json.JSONArray;
import org.json.JSONObject;

/** Channels over the kernel's byte streams and datagrams, which block. */
final class Sockets {
    private Sockets() {}

    /** One end of two pipes, one per direction. */
    record Pipes(ReadableByteChannel incoming, WritableByteChannel outgoing) {}

    static Ends<Pipes> pipePair() throws IOException {
        Pipe requests = Pipe.open();
        Pipe replies = Pipe.open();
        return new Ends<>(
                new Pipes(replies.source(), requests.sink()), new Pipes(requests.source(), replies.sink()));
    }

    /**
     * An inherited descriptor is opened anew by its name under /proc/self/fd, which for a pipe gives
     * the same pipe (proc(5)).
     */
    static Link<Pipes> pipe(JSONObject half) throws IOException {
        JSONArray descriptors = half.getJSONArray("fds");
        Path incoming = Path.of("/proc/self/fd/" + descriptors.getInt(0));
        Path outgoing = Path.of("/proc/self/fd/" + descriptors.getInt(1));
        return Link.open(new Pipes(
                FileChannel.open(incoming, StandardOpenOption.READ),
                FileChannel.open(outgoing, StandardOpenOption.WRITE)));
    }

    static Channel stream(Pipes pipes, Role role, Messages messages, JSONObject parameters) {
        return new ByteStream(pipes.incoming(), pipes.outgoing(), messages);
    }

    /** Of Unix or TCP. */
    static Channel stream(SocketChannel socket, Role role, Messages messages, JSONObject parameters)
            throws IOException {
        if (parameters.has("nodelay")) {
            setNodelay(socket, parameters.getString("nodelay").equals("on"));
        }
        return new ByteStream(socket, socket, messages);
    }

    static Channel datagrams(DatagramChannel socket, Role role, Messages messages, JSONObject parameters) {
        return new Datagrams(socket, role, messages);
    }

    /** Sets TCP_NODELAY, and sees that it is set. */
    static void setNodelay(SocketChannel socket, boolean isOn) throws IOException {
        socket.setOption(StandardSocketOptions.TCP_NODELAY, isOn);
        if (socket.getOption(StandardSocketOptions.TCP_NODELAY) != isOn) {
            throw new WorkerFailure("the kernel did not take the setting of TCP_NODELAY");
        }
    }

    /** Messages over byte streams: as many bytes in as out, no framing. */
    static final class ByteStream implements Channel {
        private final ReadableByteChannel incoming;
        private final WritableByteChannel outgoing;
        private final Messages messages;
        private final ByteBuffer received;

        ByteStream(ReadableByteChannel incoming, WritableByteChannel outgoing, Messages messages) {
            this.incoming = incoming;
            this.outgoing = outgoing;
            this.messages = messages;
            received = ByteBuffer.allocateDirect(messages.payload());
        }

        @Override
        public void send(long sequence) throws WorkerFailure {
            ByteBuffer message = messages.message(sequence);
            try {
                while (message.hasRemaining()) {
                    outgoing.write(message);
                }
            } catch (IOException error) {
                throw WorkerFailure.linkLost(error);
            }
        }

        @Override
        public void receive(long sequence) throws WorkerFailure {
            ByteBuffer message = received.clear();
            try {
                while (message.hasRemaining()) {
                    if (incoming.read(message) < 0) {
                        throw WorkerFailure.peerGone();
                    }
                }
            } catch (WorkerFailure gone) {
                throw gone;
            } catch (IOException error) {
                throw WorkerFailure.linkLost(error);
            }
            if (!messages.matches(message.flip(), sequence)) {
                throw WorkerFailure.corrupted(sequence);
            }
        }
    }

    /** Messages as datagrams, which may be lost. */
    static final class Datagrams implements Channel {
        /** Messages of the past in a row after which there is something wrong. */
        private static final int STALE_MAX = 10_000;

        private final DatagramChannel socket;
        private final Role role;
        private final Messages messages;
        private final ByteBuffer received;

        Datagrams(DatagramChannel socket, Role role, Messages messages) {
            this.socket = socket;
            this.role = role;
            this.messages = messages;
            // One byte more, so that a longer datagram is not taken for a message.
            received = ByteBuffer.allocateDirect(messages.payload() + 1);
        }

        @Override
        public void send(long sequence) throws IOException {
            try {
                socket.write(messages.message(sequence));
            } catch (PortUnreachableException gone) {
                throw WorkerFailure.peerGone();
            }
        }

        @Override
        public void receive(long sequence) throws IOException {
            next();
            if (!messages.matches(received, sequence)) {
                despiteOldOnes(sequence);
            }
        }

        private void next() throws IOException {
            try {
                socket.read(received.clear());
                received.flip();
            } catch (PortUnreachableException gone) {
                throw WorkerFailure.peerGone();
            }
        }

        /** What has been answered already is answered again, an answer that comes again skipped. */
        private void despiteOldOnes(long sequence) throws IOException {
            for (int old = 0; old < STALE_MAX && messages.matches(received, sequence - 2); old++) {
                if (role == Role.CALLEE) {
                    send(sequence - 1);
                }
                next();
                if (messages.matches(received, sequence)) {
                    return;
                }
            }
            throw WorkerFailure.corrupted(sequence);
        }
    }
}
