package mechanism

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/coder/websocket"

	"hopcost-go-worker/internal/message"
)

var websocketRow = Row{
	Facts: ofDescriptors(Facts{
		Name:          "websocket",
		Family:        "websocket",
		About:         "WebSocket messages over loopback TCP (github.com/coder/websocket), without compression",
		Payload:       &Payload{0, payloadMax, 64},
		Crosses:       "one frame a message: a header of 2, 4 or 10 bytes, from the client 4 bytes of mask, the message; as TCP segments through the loopback device",
		Copies:        "four times a message: the library into its output buffer of 4 KiB (the client masks it there), the kernel in and out, the library from its input buffer of 4 KiB into the receiver's (the server unmasks it there)",
		BetweenStamps: "frame, mask (client), write with the whole way through the network stack, " + readReadySleep + ", parse, unmask (server); the same on the other side; the handshakes are over before",
		Limits:        "0 bytes to 64 KiB; client by net/http.Transport, server by net/http.Server; read by Conn.Reader into one buffer, because Conn.Read would allocate each message; contexts that are never cancelled; what the library itself allocates a message is collected in the timed loop; the connection ends without a closing handshake",
		Sources:       []string{"RFC 6455", "https://pkg.go.dev/github.com/coder/websocket", "tcp(7)", "epoll(7)"},
	}),
	attach: func(end end) (Channel, error) {
		conn, err := tcpOf(end)
		if err != nil {
			return nil, err
		}
		shakeHands := dial
		if end.callee {
			shakeHands = accept
		}
		socket, err := shakeHands(conn)
		if err != nil {
			return nil, fmt.Errorf("WebSocket handshake: %w", err)
		}
		// A message longer than it has to be is to be seen as such.
		socket.SetReadLimit(-1)
		return &webSocket{socket, context.Background(), end.contents, make([]byte, end.contents.Payload()+1)}, nil
	},
}

// dial is the client's handshake over a connection that exists.
func dial(conn net.Conn) (*websocket.Conn, error) {
	transport := &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil },
	}
	socket, _, err := websocket.Dial(context.Background(), "ws://127.0.0.1/", &websocket.DialOptions{
		HTTPClient:      &http.Client{Transport: transport},
		CompressionMode: websocket.CompressionDisabled,
	})
	return socket, err
}

// accept is the server's handshake over a connection that exists.
func accept(conn net.Conn) (*websocket.Conn, error) {
	type outcome struct {
		socket *websocket.Conn
		err    error
	}
	outcomes := make(chan outcome, 2)
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{
				CompressionMode: websocket.CompressionDisabled,
			})
			outcomes <- outcome{socket, err}
		}),
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				select {
				case outcomes <- outcome{err: ErrPeerClosed}:
				default:
				}
			}
		},
	}
	listener := &oneConnection{connections: make(chan net.Conn, 1), address: conn.LocalAddr()}
	listener.connections <- conn
	go server.Serve(listener)
	first := <-outcomes
	close(listener.connections)
	return first.socket, first.err
}

// oneConnection is a listener at which one connection arrives and then none.
type oneConnection struct {
	connections chan net.Conn
	address     net.Addr
}

func (l *oneConnection) Accept() (net.Conn, error) {
	if conn, open := <-l.connections; open {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (l *oneConnection) Close() error   { return nil }
func (l *oneConnection) Addr() net.Addr { return l.address }

type webSocket struct {
	socket   *websocket.Conn
	ctx      context.Context
	contents *message.Contents
	received []byte
}

func (w *webSocket) Send(sequence uint64) error {
	if err := w.socket.Write(w.ctx, websocket.MessageBinary, w.contents.Of(sequence)); err != nil {
		return linkError("sending", err)
	}
	return nil
}

func (w *webSocket) Receive(sequence uint64) error {
	kind, reader, err := w.socket.Reader(w.ctx)
	if err != nil {
		return linkError("receiving", err)
	}
	if kind != websocket.MessageBinary {
		return fmt.Errorf("message %d arrived as text", sequence)
	}
	// One byte more than a message is asked for, so that the end of the message is read too.
	n, err := io.ReadFull(reader, w.received)
	// These two, unwrapped, are that end; the library wraps what the connection says.
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return linkError("receiving", err)
	}
	return w.contents.Check(sequence, w.received[:n])
}
