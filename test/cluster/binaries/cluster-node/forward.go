package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

const acceptPause = 50 * time.Millisecond

// Where so many ports in a row are taken, the kernel chooses one.
const mostTries = 32

// A forwarder opens connections inside the node, each from the port after that of the one before. The kernel would
// choose the port of an earlier connection again within seconds. For two minutes after an attempt that was not answered
// it leads the next one from the same port to the same pod, even when that pod is no endpoint of the service any more:
// callers with addresses of their own do not see that.
type forwarder struct {
	address net.IP
	first   uint32
	count   uint32
	opened  atomic.Uint32
}

// NewForwarder uses the ports that the kernel has for outgoing connections of this network.
func newForwarder(address net.IP) (*forwarder, error) {
	content, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return nil, err
	}
	var first, last uint32
	if _, err := fmt.Sscan(string(content), &first, &last); err != nil {
		return nil, fmt.Errorf("range of ports: %w", err)
	}
	return &forwarder{address: address, first: first, count: last - first + 1}, nil
}

func (f *forwarder) dial(target string) (net.Conn, error) {
	for range mostTries {
		port := f.first + (f.opened.Add(1)-1)%f.count
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: f.address, Port: int(port)}}
		connected, err := dialer.Dial("tcp4", target)
		if !errors.Is(err, syscall.EADDRINUSE) && !errors.Is(err, syscall.EADDRNOTAVAIL) {
			return connected, err
		}
	}
	return net.Dial("tcp4", target)
}

// AcceptAll leads every connection of a listener on the machine to an address inside the node. A connection that is
// refused there is reset here, as the caller would see it on the node itself. Where no file is left for a connection, it
// accepts again after a moment.
func (f *forwarder) acceptAll(listener net.Listener, target string) {
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
		go f.lead(outside.(*net.TCPConn), target)
	}
}

func (f *forwarder) lead(outside *net.TCPConn, target string) {
	defer outside.Close()
	connected, err := f.dial(target)
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
