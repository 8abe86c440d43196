"""Many attempts to one data set of Parquet tables, on this machine or on an engine that users have."""
