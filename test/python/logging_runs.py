"""Logs runs and artifacts with the package wandb, reads them back, and prints what it read as JSON.

  python logging_runs.py PROJECT REGISTRY
"""

import json
import math
import pathlib
import sys
import tempfile

import numpy
import wandb

PROJECT, REGISTRY = sys.argv[1:3]
scratch = pathlib.Path(tempfile.mkdtemp())


def start(**more):
    # The package keeps the id of a run in the settings that it was given.
    settings = wandb.Settings(x_disable_stats=True, silent=True)
    return wandb.init(project=PROJECT, settings=settings, dir=str(scratch), **more)


def read(root):
    return {str(path.relative_to(root)): path.read_text() for path in pathlib.Path(root).rglob("*") if path.is_file()}


# A run with everything that it may have.
run = start(name="train-1", config={"lr": 0.1}, tags=["a"], group="g")
run.define_metric("loss", summary="min")
for step in range(50):
    run.log({"loss": 1 / (step + 1), "acc": step / 50, "nested": {"x": step}}, step=2 * step)
run.log({"loss": float("nan"), "image": wandb.Image(numpy.zeros((2, 2, 3), dtype=numpy.uint8))}, step=200)
run.config["late"] = True
run.summary["best"] = 0.98
(scratch / "saved.txt").write_text("saved")
run.save(str(scratch / "saved.txt"), base_path=str(scratch))
run.finish()

# Resumed, and then failed.
with start(id=run.id, resume="must") as again:
    again.log({"loss": 7})
bad = start(name="bad")
bad.log({"acc": 0.99})
bad.finish(exit_code=1)

# Artifacts.
data = scratch / "data"
(data / "sub").mkdir(parents=True)
(data / "a.txt").write_text("hello")
(data / "sub/ü %.txt").write_text("")
maker = start(name="maker")


def log(**more):
    artifact = wandb.Artifact("digits", type="dataset", metadata={"rows": 3})
    artifact.add_dir(str(data))
    return maker.log_artifact(artifact, **more).wait()


first = log(aliases=["best"])
same = log(aliases=["again"])
(data / "a.txt").write_text("changed")
second = log()
used = maker.use_artifact("digits:best")
downloaded = read(used.download(root=str(scratch / "down")))
draft = used.new_draft()
draft.remove("sub/ü %.txt")
third = maker.log_artifact(draft).wait()
edited = wandb.Api().artifact(f"{maker.entity}/{PROJECT}/digits:v1")
edited.aliases.append("prod")
edited.tags.append("good")
edited.metadata["acc"] = 0.5
edited.save()
linked = maker.link_artifact(first, f"wandb-registry-{REGISTRY}/models", aliases=["champion"])
maker.finish()


def refusal(work):
    try:
        work()
        return None
    except Exception as error:
        return "not supported" in str(error)


api = wandb.Api()
api.create_project("other", maker.entity)
finished = api.run(f"{maker.entity}/{PROJECT}/{run.id}")
rows = list(finished.scan_history(page_size=9))
champion = api.artifact(f"wandb-registry-{REGISTRY}/models:champion")
prod = api.artifact(f"{maker.entity}/{PROJECT}/digits:prod")
failed = list(api.runs(f"{maker.entity}/{PROJECT}", filters={"state": "failed"}))
for one in failed:
    one.delete()
sweep = {"method": "grid", "parameters": {"a": {"values": [1]}}}
refused = [
    refusal(lambda: wandb.sweep(sweep, project=PROJECT)),
    refusal(lambda: start(resume_from=f"{run.id}?_step=5")),
]
print(
    json.dumps(
        {
            "version": wandb.__version__,
            "run": [finished.name, finished.state, finished.config["lr"], finished.config["late"], finished.summary["best"]],
            "steps": [row["_step"] for row in rows],
            "nan": math.isnan(rows[50]["loss"]),
            "last": rows[-1]["loss"],
            "file": open(finished.file("saved.txt").download(root=str(scratch / "files")).name).read(),
            "failed": [one.name for one in failed],
            "left": sorted(one.name for one in wandb.Api().runs(f"{maker.entity}/{PROJECT}")),
            "found": [one.name for one in api.runs(f"{maker.entity}/{PROJECT}", filters={"config.lr": {"$gt": 0.05}})],
            "versions": [first.version, same.version, second.version, third.version],
            "downloaded": downloaded,
            "draft": sorted(third.manifest.entries),
            "prod": [prod.version, prod.tags, prod.metadata["acc"]],
            "champion": [linked.version, champion.digest == first.digest, read(champion.download(root=str(scratch / "reg")))],
            "used_by": [one.name for one in used.used_by()],
            "made_by": used.logged_by().name,
            "listed": [one.version for one in api.artifacts("dataset", f"{maker.entity}/{PROJECT}/digits")],
            "projects": [one.name for one in api.projects(maker.entity)],
            "refused": refused,
            "absent": api.artifact_exists(f"{maker.entity}/{PROJECT}/digits:nope"),
        }
    )
)
