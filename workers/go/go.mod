module hopcost-go-worker

go 1.23

require (
	github.com/coder/websocket v1.8.15
	golang.org/x/sys v0.30.0
)
