// Package profiles handles a profile once it exists: it loads, validates and
// saves it. A profile may come from anywhere, so loading trusts nothing: input
// is limited in size, depth and number of values, and whatever is wrong comes
// back as findings with a path, both values, and the line and column.
//
// Loading asks that a profile follows the schema; validating asks in addition
// that its figures agree with each other. The reference profiles of real
// machines lie beside the code as JSON files.
package profiles
