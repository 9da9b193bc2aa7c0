package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Start opens the ports on the machine, then runs init in new namespaces with them: a socket keeps the network that it
// was opened in, so that init accepts on the machine and connects inside the node. The process number goes to a file.
func start(path string) error {
	config, err := readConfiguration(path)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(config.Folder, "logs", "node.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	files := []*os.File{nil, log, log}
	for _, port := range config.Forwards {
		listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port.Machine)))
		if err != nil {
			return fmt.Errorf("a port of the cluster is taken: %w", err)
		}
		file, err := listener.(*net.TCPListener).File()
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	process, err := os.StartProcess("/proc/self/exe", []string{"cluster-node", "init", path}, &os.ProcAttr{
		Dir:   "/",
		Files: files,
		Env:   []string{"PATH=" + os.Getenv("PATH")},
		Sys: &syscall.SysProcAttr{
			Setsid: true,
			Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET |
				syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
		},
	})
	if err != nil {
		return fmt.Errorf("the namespaces of the node could not be made (root is needed): %w", err)
	}
	return process.Release()
}
