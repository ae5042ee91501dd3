// Package duckdb proves that another program reads aqmlab's Parquet files: it
// runs a lab and asks DuckDB, which has a reader of its own, for the figures that
// aqmlab prints. With it the scripts of examples/figures read a run, and must find them,
// too. It is a module of its own, so that aqmlab does not require DuckDB.
package duckdb
