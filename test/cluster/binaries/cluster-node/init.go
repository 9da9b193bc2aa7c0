package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// The first file that start hands over after the standard ones.
const firstForward = 3

// Initialise is the first process of the node: when it ends, the kernel ends every process, mount and network device in
// it. It makes the node's view of the machine and its network, then supervises parts until it is killed.
func initialise(path string) error {
	config, err := readConfiguration(path)
	if err != nil {
		return err
	}
	if err := makeMounts(config); err != nil {
		return fmt.Errorf("mounts: %w", err)
	}
	if err := makeNetwork(config); err != nil {
		return fmt.Errorf("network: %w", err)
	}
	address, _, err := net.ParseCIDR(config.Address)
	if err != nil {
		return err
	}
	forwarder, err := newForwarder(address)
	if err != nil {
		return err
	}
	for index, port := range config.Forwards {
		file := os.NewFile(uintptr(firstForward+index), "forward")
		listener, err := net.FileListener(file)
		if err != nil {
			return err
		}
		_ = file.Close()
		go forwarder.acceptAll(listener, net.JoinHostPort(address.String(), strconv.Itoa(port.Node)))
	}
	return supervise(config.Folder)
}

// The node sees the machine's files, but has a /run and a /var of its own, where programs keep fixed paths.
func makeMounts(config configuration) error {
	kept := map[string]int{}
	for _, folder := range config.Keep {
		handle, err := syscall.Open(folder, syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
		kept[folder] = handle
	}
	own := filepath.Join(config.Folder, "var")
	for _, folder := range []string{"lib", "log", "tmp", "cache"} {
		if err := os.MkdirAll(filepath.Join(own, folder), 0o755); err != nil {
			return err
		}
	}
	if err := os.Symlink("/run", filepath.Join(own, "run")); err != nil && !os.IsExist(err) {
		return err
	}
	mounts := []struct {
		source, target, kind string
		flags                uintptr
	}{
		// Slave first: nothing mounted in the node reaches the machine. Shared then: pods may ask for it among themselves.
		{"", "/", "", syscall.MS_REC | syscall.MS_SLAVE},
		{"", "/", "", syscall.MS_REC | syscall.MS_SHARED},
		{"proc", "/proc", "proc", syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC},
		{own, "/var", "", syscall.MS_BIND},
		{"tmpfs", "/run", "tmpfs", syscall.MS_NOSUID | syscall.MS_NODEV},
	}
	for _, mount := range mounts {
		if err := syscall.Mount(mount.source, mount.target, mount.kind, mount.flags, ""); err != nil {
			return fmt.Errorf("%s: %w", mount.target, err)
		}
	}
	for folder, handle := range kept {
		if err := mountAgain(folder, handle); err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
	}
	return nil
}

func mountAgain(folder string, handle int) error {
	defer syscall.Close(handle)
	if !strings.HasPrefix(folder, "/var/") && !strings.HasPrefix(folder, "/run/") {
		return nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return syscall.Mount(fmt.Sprintf("/proc/self/fd/%d", handle), folder, "", syscall.MS_BIND, "")
}

// The node's address sits on a bridge with nothing attached: not every kernel has a dummy device. There is no route to
// anywhere else.
func makeNetwork(config configuration) error {
	if err := syscall.Sethostname([]byte(config.Hostname)); err != nil {
		return err
	}
	commands := [][]string{
		{"link", "set", "lo", "up"},
		{"link", "add", "node0", "type", "bridge"},
		{"address", "add", config.Address, "dev", "node0"},
		{"link", "set", "node0", "up"},
		{"route", "add", config.ServiceRange, "dev", "node0"},
	}
	for _, arguments := range commands {
		if output, err := exec.Command("ip", arguments...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", strings.Join(arguments, " "), err, output)
		}
	}
	for name, value := range config.Sysctls {
		if err := os.WriteFile(filepath.Join("/proc/sys", name), []byte(value), 0o644); err != nil {
			return err
		}
	}
	return nil
}
