package main

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// A part is one program of the cluster. It is started when asked for, and never by itself again: that is left to
// the caller, so that a test can keep a part away.
type part struct {
	Command []string  `json:"command"`
	Process int       `json:"process"`
	Running bool      `json:"running"`
	Exit    string    `json:"exit,omitempty"`
	Since   time.Time `json:"since"`
	ended   chan struct{}
}

type supervisor struct {
	folder string
	lock   sync.Mutex
	parts  map[string]*part
}

// Supervise answers on FOLDER/node.sock: GET /parts, PUT /parts/{name} with a command line as JSON (starts it, or
// leaves it alone when it runs with the same one), DELETE /parts/{name}?grace=5s, and GET /probe?url=…: the answer's
// status of a URL inside the node.
func supervise(folder string) error {
	supervisor := &supervisor{folder: folder, parts: map[string]*part{}}
	go supervisor.reap()
	path := filepath.Join(folder, "node.sock")
	_ = os.Remove(path)
	listener, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /parts", supervisor.list)
	routes.HandleFunc("PUT /parts/{name}", supervisor.put)
	routes.HandleFunc("DELETE /parts/{name}", supervisor.delete)
	routes.HandleFunc("GET /probe", probe)
	return http.Serve(listener, routes)
}

func (s *supervisor) list(response http.ResponseWriter, _ *http.Request) {
	s.lock.Lock()
	defer s.lock.Unlock()
	response.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(response).Encode(s.parts)
}

func (s *supervisor) put(response http.ResponseWriter, request *http.Request) {
	name := request.PathValue("name")
	var command []string
	if err := json.NewDecoder(request.Body).Decode(&command); err != nil || len(command) == 0 {
		http.Error(response, "the body must be a command line: a JSON list of strings", http.StatusBadRequest)
		return
	}
	s.lock.Lock()
	known := s.parts[name]
	s.lock.Unlock()
	if known != nil {
		if slices.Equal(known.Command, command) && s.isRunning(known) {
			response.WriteHeader(http.StatusNoContent)
			return
		}
		s.stop(known, 5*time.Second)
	}
	if err := s.start(name, command); err != nil {
		http.Error(response, err.Error(), http.StatusInternalServerError)
		return
	}
	response.WriteHeader(http.StatusCreated)
}

func (s *supervisor) delete(response http.ResponseWriter, request *http.Request) {
	grace, err := time.ParseDuration(request.URL.Query().Get("grace"))
	if err != nil {
		http.Error(response, "grace must be a duration such as 5s", http.StatusBadRequest)
		return
	}
	s.lock.Lock()
	known := s.parts[request.PathValue("name")]
	s.lock.Unlock()
	if known != nil {
		s.stop(known, grace)
	}
	response.WriteHeader(http.StatusNoContent)
}

// The lock is held until the process is in the list, so that reap never sees one that it does not know.
func (s *supervisor) start(name string, command []string) error {
	log, err := os.OpenFile(filepath.Join(s.folder, "logs", name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	s.lock.Lock()
	defer s.lock.Unlock()
	process, err := os.StartProcess(command[0], command, &os.ProcAttr{
		Dir:   "/",
		Files: []*os.File{nil, log, log},
		Env:   os.Environ(),
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return err
	}
	s.parts[name] = &part{Command: command, Process: process.Pid, Running: true, Since: time.Now(), ended: make(chan struct{})}
	return process.Release()
}

func (s *supervisor) stop(known *part, grace time.Duration) {
	if !s.isRunning(known) {
		return
	}
	_ = syscall.Kill(known.Process, syscall.SIGTERM)
	select {
	case <-known.ended:
	case <-time.After(grace):
		_ = syscall.Kill(known.Process, syscall.SIGKILL)
		<-known.ended
	}
}

func (s *supervisor) isRunning(known *part) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	return known.Running
}

// Reap collects every process that ends in the node: parts, and the orphans that the first process is handed.
func (s *supervisor) reap() {
	for {
		var status syscall.WaitStatus
		process, err := syscall.Wait4(-1, &status, 0, nil)
		if err != nil {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		s.lock.Lock()
		for _, known := range s.parts {
			if known.Process == process && known.Running {
				known.Running = false
				known.Exit = describe(status)
				known.Since = time.Now()
				close(known.ended)
			}
		}
		s.lock.Unlock()
	}
}

func describe(status syscall.WaitStatus) string {
	if status.Signaled() {
		return "signal " + status.Signal().String()
	}
	return "exit status " + strconv.Itoa(status.ExitStatus())
}
