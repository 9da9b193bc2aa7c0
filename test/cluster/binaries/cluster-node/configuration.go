package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// Configuration is what the file given to start and init holds.
type configuration struct {
	// Hostname inside the node.
	Hostname string `json:"hostname"`
	// Folder of the cluster: the node's /var, its log and its socket lie there.
	Folder string `json:"folder"`
	// Keep names folders that stay reachable where they are, even beneath /var and /run.
	Keep []string `json:"keep"`
	// Address of the node, with its prefix length.
	Address string `json:"address"`
	// ServiceRange is where services have addresses, which the node must have a way to before they are translated.
	ServiceRange string `json:"serviceRange"`
	// Sysctls of the node's network, by their path below /proc/sys.
	Sysctls map[string]string `json:"sysctls"`
	// Forwards lead from a port of 127.0.0.1 on the machine to one inside the node.
	Forwards []forward `json:"forwards"`
}

type forward struct {
	Machine int `json:"machine"`
	Node    int `json:"node"`
}

func readConfiguration(path string) (configuration, error) {
	var parsed configuration
	content, err := os.ReadFile(path)
	if err != nil {
		return parsed, err
	}
	if err := json.Unmarshal(content, &parsed); err != nil {
		return parsed, fmt.Errorf("%s: %w", path, err)
	}
	return parsed, nil
}
