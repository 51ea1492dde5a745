"""Runs the statements of a JSON list on stdin and prints one JSON line for each: {"rows": [[text]]} or {"error": text}."""

import json
import sys

import duckdb

connection = duckdb.connect(":memory:", config={"allow_unsigned_extensions": "true"})
for sql in json.load(sys.stdin):
    try:
        result = connection.execute(sql)
        rows = [] if result.description is None else result.fetchall()
        told = {"rows": [[None if value is None else str(value) for value in row] for row in rows]}
    except Exception as error:
        told = {"error": str(error)}
    print(json.dumps(told), flush=True)
