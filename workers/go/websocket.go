package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/coder/websocket"
)

func attachWebSocket(half half) (channel, error) {
	conn, err := inheritedSocket(half)
	if err != nil {
		return nil, err
	}
	shakeHands := dial
	if half.isCallee {
		shakeHands = accept
	}
	socket, err := shakeHands(conn)
	if err != nil {
		return nil, fmt.Errorf("WebSocket handshake: %w", err)
	}
	// A message longer than it has to be is to be seen as such.
	socket.SetReadLimit(-1)
	return &webSocket{socket, context.Background(), half.messages, make([]byte, half.messages.payload+1)}, nil
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
				case outcomes <- outcome{err: errPeerClosed}:
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
	messages *messages
	received []byte
}

func (w *webSocket) send(sequence uint64) error {
	if err := w.socket.Write(w.ctx, websocket.MessageBinary, w.messages.of(sequence)); err != nil {
		return linkError("sending", err)
	}
	return nil
}

func (w *webSocket) receive(sequence uint64) error {
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
	return w.messages.check(sequence, w.received[:n])
}
