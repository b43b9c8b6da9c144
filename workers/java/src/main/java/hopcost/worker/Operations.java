package hopcost.worker;

import hopcost.worker.Links.Ends;
import hopcost.worker.Loops.Call;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.concurrent.locks.ReentrantLock;

/** The operations of one thread. */
final class Operations {
    /** Datagrams sent beforehand: far more than fit a receive buffer of the least size. */
    private static final int FILL = 256;

    private Operations() {}

    /** {@code mutex-uncontended}: lock and unlock a ReentrantLock that nobody else wants. */
    static Call mutex(int payload) {
        ReentrantLock lock = new ReentrantLock();
        return x -> {
            lock.lock();
            try {
                return x + 1;
            } finally {
                lock.unlock();
            }
        };
    }

    /** What a thread is given, and what it gives back. */
    private static final class Task implements Runnable {
        long x;

        @Override
        public void run() {
            x++;
        }
    }

    /** {@code thread-start}: start a thread that does nothing, and join it. */
    static Call threadStart(int payload) {
        Task task = new Task();
        return x -> {
            task.x = x;
            Thread thread = new Thread(task);
            thread.start();
            thread.join();
            return task.x;
        };
    }

    /** {@code virtual-thread-start}: start a virtual thread that does nothing, and join it. */
    static Call virtualThreadStart(int payload) {
        Task task = new Task();
        return x -> {
            task.x = x;
            Threads.startVirtual(task).join();
            return task.x;
        };
    }

    /**
     * {@code udp-send}: send a datagram to a socket that nobody reads and whose receive buffer is full
     * before the first operation, so that the kernel drops every one of them at the same place.
     */
    static Call udpSend(int payload) throws Exception {
        Ends<DatagramChannel> ends = Links.udpPair();
        // The kernel raises this to its least.
        ends.callee().setOption(StandardSocketOptions.SO_RCVBUF, 1);
        Call send = new Sending(ends, new Messages(payload).message(1));
        for (int sent = 0; sent < FILL; sent++) {
            send.call(0);
        }
        return send;
    }

    /** Holds on to the receiver, so that its port stays bound. */
    private record Sending(Ends<DatagramChannel> ends, ByteBuffer message) implements Call {
        @Override
        public long call(long x) throws Exception {
            return x + ends.caller().write(message.clear());
        }
    }
}
