// Tells when a CronJob fires: by the parser of the CronJob controller, for tests that compare other parsers with it.
// Each line of the input is an expression, a time zone, an RFC 3339 time and a count, with tabs in between; each line of the
// output has that many times, or "error".
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata"

	"github.com/robfig/cron/v3"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		times, err := fires(strings.Split(lines.Text(), "\t"))
		if err != nil {
			fmt.Println("error")
			continue
		}
		fmt.Println(strings.Join(times, "\t"))
	}
}

func fires(fields []string) ([]string, error) {
	// As the controller does: https://github.com/kubernetes/kubernetes/blob/v1.34.4/pkg/controller/cronjob/utils.go
	schedule, err := cron.ParseStandard("TZ=" + fields[1] + " " + fields[0])
	if err != nil {
		return nil, err
	}
	at, err := time.Parse(time.RFC3339, fields[2])
	if err != nil {
		return nil, err
	}
	count, err := strconv.Atoi(fields[3])
	if err != nil {
		return nil, err
	}
	times := []string{}
	for range count {
		at = schedule.Next(at)
		if at.IsZero() {
			break
		}
		times = append(times, at.UTC().Format(time.RFC3339))
	}
	return times, nil
}
