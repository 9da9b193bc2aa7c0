package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

const acceptPause = 50 * time.Millisecond

// AcceptAll leads every connection of a listener on the machine to an address inside the node. A connection that is
// refused there is reset here, as the caller would see it on the node itself. Where no file is left for a connection, it
// accepts again after a moment.
func acceptAll(listener net.Listener, target string) {
	for {
		outside, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "forward to %s: %v\n", target, err)
			time.Sleep(acceptPause)
			continue
		}
		go lead(outside.(*net.TCPConn), target)
	}
}

func lead(outside *net.TCPConn, target string) {
	defer outside.Close()
	connected, err := net.Dial("tcp4", target)
	if err != nil {
		_ = outside.SetLinger(0)
		return
	}
	inside := connected.(*net.TCPConn)
	defer inside.Close()
	ended := make(chan struct{})
	go func() {
		copyThenClose(inside, outside)
		close(ended)
	}()
	copyThenClose(outside, inside)
	<-ended
}

// Each direction ends on its own, so that a caller may close its half and still read the answer.
func copyThenClose(to, from *net.TCPConn) {
	if _, err := io.Copy(to, from); err != nil {
		_ = from.SetLinger(0)
		_ = to.SetLinger(0)
		_ = from.Close()
		_ = to.Close()
		return
	}
	_ = to.CloseWrite()
}
