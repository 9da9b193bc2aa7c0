// Says of each object, one JSON document a line on the standard input, how GitOps tools judge it: what kstatus computes, and what
// the health.lua given as an argument returns in the interpreter that Argo CD uses.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

type answer struct {
	Kstatus status.Status `json:"kstatus"`
	Health  string        `json:"health"`
	Message string        `json:"message"`
}

func main() {
	if err := answerAll(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func answerAll() error {
	script, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		judged, err := judge(lines.Bytes(), string(script))
		if err != nil {
			return err
		}
		if err := answers.Encode(judged); err != nil {
			return err
		}
	}
	return lines.Err()
}

func judge(line []byte, script string) (answer, error) {
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(line); err != nil {
		return answer{}, err
	}
	computed, err := status.Compute(object)
	if err != nil {
		return answer{}, err
	}
	health, message, err := healthOf(object.Object, script)
	return answer{Kstatus: computed.Status, Health: health, Message: message}, err
}

func healthOf(object map[string]any, script string) (string, string, error) {
	state := lua.NewState()
	defer state.Close()
	state.SetGlobal("obj", toLua(state, object))
	if err := state.DoString(script); err != nil {
		return "", "", err
	}
	result, isTable := state.Get(-1).(*lua.LTable)
	if !isTable {
		return "", "", fmt.Errorf("the script returns no table")
	}
	return result.RawGetString("status").String(), result.RawGetString("message").String(), nil
}

func toLua(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case bool:
		return lua.LBool(value)
	case string:
		return lua.LString(value)
	case int64:
		return lua.LNumber(value)
	case float64:
		return lua.LNumber(value)
	case []any:
		table := state.NewTable()
		for _, item := range value {
			table.Append(toLua(state, item))
		}
		return table
	case map[string]any:
		table := state.NewTable()
		for key, item := range value {
			table.RawSetString(key, toLua(state, item))
		}
		return table
	}
	return lua.LNil
}
