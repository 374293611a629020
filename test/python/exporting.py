"""Reads exports of usage with the tools that people use. Prints what each of them read, as JSON."""

import csv
import io
import json
import os
import sys
import urllib.request
from base64 import b64encode

import duckdb
import openpyxl
import pandas
import polars

PROJECT, FOLDER = sys.argv[1], os.environ["TMPDIR"]
KEY = b64encode(f"api:{os.environ['WANDB_API_KEY']}".encode()).decode()


def export(form: str) -> tuple[str, str | None]:
    """The path of the export in a format, and the name that the service gives it."""
    body = {
        "project_id": PROJECT,
        "start": "2026-02-27T00:00:00Z",
        "end": "2026-03-03T00:00:00Z",
        "timezone": "Europe/Berlin",
        "group_by": ["day", "model", "attributes.team"],
        "sort_by": [{"field": "total_tokens"}],
        "limit": 4,
        "include_costs": True,
        "format": form,
    }
    request = urllib.request.Request(
        f"{os.environ['WF_TRACE_SERVER_URL']}/usage/query",
        json.dumps(body).encode(),
        {"content-type": "application/json", "authorization": f"Basic {KEY}"},
    )
    with urllib.request.urlopen(request) as answer:
        name = answer.headers.get_filename()
        path = os.path.join(FOLDER, name or "usage")
        with open(path, "wb") as file:
            file.write(answer.read())
    return path, name


csv_path, csv_name = export("csv")
parquet_path, parquet_name = export("parquet")
lines_path, _ = export("ndjson")

NUMBERS = ["groups", "calls", "total_tokens", "total_cost"]


def rows_of(frame: pandas.DataFrame) -> list:
    """Days as instants, numbers as text, None for null."""
    plain = frame.astype(object).where(frame.notna(), None)
    return [
        [
            None if row["day"] is None else pandas.Timestamp(row["day"]).tz_convert("UTC").isoformat(),
            row["model"],
            row["attributes.team"],
            *[None if row[name] is None else str(float(row[name])) for name in NUMBERS],
        ]
        for _, row in plain.iterrows()
    ]


# Empty cells are null, and quoted ones are empty text, which of these only DuckDB distinguishes.
from_csv = pandas.read_csv(csv_path, parse_dates=["day"], keep_default_na=False, na_values={"total_cost": [""], "day": [""]})
from_parquet = pandas.read_parquet(parquet_path)
polars_csv, polars_parquet = polars.read_csv(csv_path, try_parse_dates=True), polars.read_parquet(parquet_path)

sheet = openpyxl.Workbook().active
with io.open(csv_path, encoding="utf-8", newline="") as file:
    for line in csv.reader(file):
        sheet.append(line)


def duckdb_types(source: str) -> dict:
    described = duckdb.sql(f"DESCRIBE SELECT * FROM {source}").fetchall()
    return {name: kind for name, kind, *_ in described if name in ("day", "model", "calls", "total_cost")}


print(
    json.dumps(
        {
            "names": [csv_name, parquet_name],
            "pandas": [str(from_csv["day"].dtype), str(from_parquet["day"].dtype)],
            "polars": [str(polars_csv.schema["day"]), str(polars_parquet.schema["day"]), str(polars_parquet.schema["total_cost"])],
            "duckdb": [duckdb_types(f"read_csv('{csv_path}')"), duckdb_types(f"'{parquet_path}'")],
            "rows": rows_of(from_parquet),
            "csv_models": [row["model"] for row in csv.DictReader(io.open(csv_path, encoding="utf-8", newline=""))],
            "nulls": duckdb.sql(f"SELECT count(*) FROM read_csv('{csv_path}') WHERE model IS NULL").fetchall()[0][0],
            "sum_of_costs": [
                str(duckdb.sql(f"SELECT sum(total_cost)::DECIMAL(38, 12) FROM {source}").fetchall()[0][0])
                for source in (f"read_csv('{csv_path}', types={{'total_cost': 'DECIMAL(38,12)'}})", f"'{parquet_path}'")
            ],
            "formulas": [cell.value for row in sheet.iter_rows() for cell in row if cell.data_type == "f"],
            "lines": [json.loads(line) for line in open(lines_path, encoding="utf-8")],
        }
    )
)
