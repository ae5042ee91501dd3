// Package duckdb proves that another program reads aqmlab's Parquet files: it
// runs a lab and asks DuckDB, which has a reader of its own, for the figures that
// aqmlab prints. It is a module of its own, so that aqmlab does not require
// DuckDB.
package duckdb
