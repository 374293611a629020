"""Logs rows and versions of an artifact with the package wandb until a file exists, and prints how many.

  python logging_until.py PROJECT FILE
"""

import json
import os
import pathlib
import sys
import tempfile
import time

import wandb

PROJECT, FILE = sys.argv[1:]
scratch = pathlib.Path(tempfile.mkdtemp())

# Short waits, so that many requests meet the ends of the service.
settings = wandb.Settings(
    x_disable_stats=True,
    silent=True,
    x_file_stream_transmit_interval=0.2,
    x_file_stream_retry_wait_min_seconds=0.2,
    x_file_stream_retry_wait_max_seconds=1,
    x_file_transfer_retry_wait_min_seconds=0.2,
    x_file_transfer_retry_wait_max_seconds=1,
    x_graphql_retry_wait_min_seconds=0.2,
    x_graphql_retry_wait_max_seconds=1,
    x_graphql_retry_max=200,
    x_file_transfer_retry_max=200,
)
run = wandb.init(project=PROJECT, id="long", settings=settings, dir=str(scratch))
rows = 0
versions = []
while not os.path.exists(FILE):
    for _ in range(50):
        run.log({"row": rows, "loss": 1 / (rows + 1)})
        rows += 1
    artifact = wandb.Artifact("data", type="dataset")
    for name in ["a", "b"]:
        with artifact.new_file(f"{name}.txt") as file:
            file.write(f"{name} {len(versions)}")
    versions.append(run.log_artifact(artifact, aliases=["newest"]))
    # As long as a step of a small model, and no more versions under way than the package sends at once.
    time.sleep(0.05)
    if len(versions) % 8 == 0:
        versions[-1].wait()
numbers = [artifact.wait().version for artifact in versions]
run.finish()
print(json.dumps({"rows": rows, "versions": numbers}))
