"""Logs runs with the package wandb, forks one, synchronises one twice, and reads all with wandb.Api().

  python logging_history.py PROJECT

Prints what was read as JSON.
"""

import glob
import json
import os
import subprocess
import sys
import tempfile
import time

import wandb

(PROJECT,) = sys.argv[1:]
scratch = tempfile.mkdtemp()


def begin(run, **more):
    return wandb.init(
        project=PROJECT, id=run, settings=wandb.Settings(x_disable_stats=True, silent=True), dir=scratch, **more
    )


def rows(run, **more):
    return [[row["_step"], row["v"]] for row in run.scan_history(**more)]


with wandb.init(
    project=PROJECT, id="parent", settings=wandb.Settings(x_stats_sampling_interval=0.5, silent=True), dir=scratch
) as run:
    for step in range(8):
        run.log({"v": step})
    print("printed")
    print("failed", file=sys.stderr)
    time.sleep(2)
with begin("fork", fork_from="parent?_step=5") as run:
    run.log({"v": 60})
with begin("fork", resume="must") as run:
    run.log({"v": 61})
with begin("offline", mode="offline") as run:
    for step in range(5):
        run.log({"v": step, "table": wandb.Table(columns=["a"], data=[[step]])})
(folder,) = glob.glob(os.path.join(scratch, "wandb", "offline-run-*"))
api = wandb.Api()
synchronised = []
for more in [[], ["--include-synced"]]:
    command = [sys.executable, "-m", "wandb", "sync", *more, folder]
    subprocess.run(command, check=True, stdout=sys.stderr)
    synchronised.append(rows(api.run(f"{PROJECT}/offline")))

parent = api.run(f"{PROJECT}/parent")
fork = api.run(f"{PROJECT}/fork")
system = parent.history(stream="system", pandas=False)
# The oldest versions read no console.
console = [[line.level, line.content] for line in parent.console_logs()] if hasattr(parent, "console_logs") else None
try:
    wandb.restore("missing.bin", run_path=f"{PROJECT}/parent", root=scratch)
    missing = "found"
except ValueError as error:
    missing = str(error)
print(
    json.dumps(
        {
            "fork": rows(fork),
            "forkByKeys": rows(fork, keys=["v"]),
            "forkSampled": [row["v"] for row in fork.history(pandas=False)],
            "lastStep": fork.lastHistoryStep,
            "synchronised": synchronised,
            "systemRows": len(system),
            "systemMetrics": len(parent.system_metrics),
            "console": console,
            "missing": missing,
        }
    )
)
