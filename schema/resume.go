package schema

// Resume is what an interrupted calibration needs to be continued and what its results
// do not tell. A whole profile has none.
type Resume struct {
	DTypes      []DType         `json:"dtypes" jsonschema:"minItems=1" jsonschema_description:"Element types of the run."`
	Threads     int             `json:"threads,omitempty" jsonschema:"minimum=1" jsonschema_description:"Number of threads that the run uses at most; absent for a device that is not divided into threads."`
	Patterns    []string        `json:"fusion_patterns" jsonschema_description:"Fusion patterns of the run."`
	Plan        string          `json:"plan" jsonschema:"pattern=^[0-9a-f]{64}$" jsonschema_description:"SHA-256 of the steps of the run and of the kernels of the device."`
	Spent       float64         `json:"spent_seconds" jsonschema:"minimum=0" jsonschema_description:"What the device has taken of the budget so far, in seconds."`
	FlatFrom    int64           `json:"flat_from_bytes,omitempty" jsonschema:"minimum=1" jsonschema_description:"Working set in bytes from which on the curve of bandwidth is flat; absent before it was measured."`
	Warnings    int             `json:"warnings" jsonschema:"minimum=0" jsonschema_description:"Number of the first warnings of the device that stem from steps; those behind them and those of compute are derived anew."`
	Unavailable int             `json:"unavailable" jsonschema:"minimum=0" jsonschema_description:"Number of the first entries of unavailable that stem from steps; those behind them name the steps to come, and what the summary lacks."`
	Compute     []ResumeSamples `json:"compute" jsonschema_description:"What later samples of the same case are pooled with: one entry for each of compute."`
}

// ResumeSamples are the samples behind an entry of compute.
type ResumeSamples struct {
	Seconds []float64 `json:"samples_seconds" jsonschema:"minItems=1" jsonschema_description:"Time of one execution in seconds, one a sample."`
	TopMHz  float64   `json:"highest_mhz,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Highest clock read around the case in MHz."`
}
