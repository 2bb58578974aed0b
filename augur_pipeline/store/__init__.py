"""The DuckDB warehouse as a Dagster resource: lock, connection, SQL, table shapes, publishing."""
