"""Logs a run of many rows and a version of an artifact with the package wandb.

  python logging_rows.py PROJECT ROWS [offline]

Offline, what was logged is sent by `wandb sync` afterwards. Prints how long the program took, as JSON.
"""

import glob
import json
import os
import subprocess
import sys
import tempfile
import time

import wandb

PROJECT, ROWS, *mode = sys.argv[1:]
scratch = tempfile.mkdtemp()
settings = wandb.Settings(x_disable_stats=True, silent=True)
began = time.monotonic()
with wandb.init(
    project=PROJECT, id="long", name="long", mode=mode[0] if mode else "online", settings=settings, dir=scratch
) as run:
    for row in range(int(ROWS)):
        run.log({"loss": 1 / (row + 1), "accuracy": row / int(ROWS), "lr": 0.1, "norm": row % 7, "epoch": row // 1000})
    artifact = wandb.Artifact("data", type="dataset", metadata={"rows": int(ROWS)})
    with artifact.new_file("a.txt") as file:
        file.write("hello")
    run.log_artifact(artifact, aliases=["newest"])
if mode:
    for folder in glob.glob(os.path.join(scratch, "wandb", "offline-run-*")):
        subprocess.run([sys.executable, "-m", "wandb", "sync", folder], check=True, stdout=sys.stderr)
print(json.dumps({"seconds": time.monotonic() - began}))
