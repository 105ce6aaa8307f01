package main

import (
	"github.com/urfave/cli/v2"

	"hwcal/hwdetect"
	"hwcal/schema"
)

func detectCommand() *cli.Command {
	return &cli.Command{
		Name:   "detect",
		Usage:  "say what this machine is; measures nothing",
		Flags:  []cli.Flag{jsonFlag()},
		Action: detectAction,
	}
}

// detection is a machine as JSON, in the terms of a profile.
type detection struct {
	HardwareName string               `json:"hardware_name"`
	Fingerprint  string               `json:"fingerprint"`
	Host         schema.Host          `json:"host"`
	Devices      []schema.Device      `json:"devices"`
	Unavailable  []schema.Unavailable `json:"unavailable"`
}

func detectAction(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	m, err := hwdetect.This().Detect(hwdetect.Options{})
	if err != nil {
		return err
	}
	if !c.Bool("json") {
		return printMachine(c.App.Writer, m)
	}
	return writeJSON(c.App.Writer, detection{
		HardwareName: hwdetect.HardwareName(m.Devices),
		Fingerprint:  schema.Fingerprint(m.Devices),
		Host:         m.Host,
		Devices:      m.Devices,
		Unavailable:  m.Unavailable,
	})
}
