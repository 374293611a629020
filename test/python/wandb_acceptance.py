"""Checks a service with the unmodified package wandb: runs, artifacts, registries, reads.

  TALLYTREE_URL=http://127.0.0.1:PORT TALLYTREE_API_KEY=tt_... python wandb_acceptance.py

With EVENTS=1 it also checks the messages of webhooks; the service needs TALLYTREE_WEBHOOK_ALLOW_CIDRS=127.0.0.0/8 then. Needs
numpy and pillow. Uses the default entity of the key.
"""
import base64, http.server, json, math, os, pathlib, tempfile, threading, time, urllib.request, uuid

URL, KEY, EVENTS = os.environ["TALLYTREE_URL"].rstrip("/"), os.environ["TALLYTREE_API_KEY"], os.environ.get("EVENTS") == "1"
TMP = pathlib.Path(tempfile.mkdtemp())
os.environ.update(WANDB_BASE_URL=URL, WANDB_API_KEY=KEY, WANDB_DIR=str(TMP), WANDB_CACHE_DIR=str(TMP / "cache"), WANDB_DATA_DIR=str(TMP / "data"),
                  WANDB_CONFIG_DIR=str(TMP / "config"), WANDB_ARTIFACT_DIR=str(TMP / "artifacts"), WANDB_SILENT="true", WANDB_ERROR_REPORTING="false")
import numpy, wandb
from wandb.errors import CommError

PROJECT, REGISTRY = "acc-" + uuid.uuid4().hex[:8], "reg" + uuid.uuid4().hex[:6]
received = []

def rest(method, path, body=None):
    auth = "Basic " + base64.b64encode(f"api:{KEY}".encode()).decode()
    request = urllib.request.Request(URL + path, json.dumps(body).encode() if body is not None else None, {"Authorization": auth, "Content-Type": "application/json"}, method=method)
    return json.loads(urllib.request.urlopen(request).read() or "{}")

def raises(kind, do, text=""):
    try: do()
    except kind as error: assert text.lower() in str(error).lower(), error; return
    raise AssertionError(f"{kind} expected")

def files_below(root): return {str(p.relative_to(root)): p.read_bytes() for p in pathlib.Path(root).rglob("*") if p.is_file()}
def init(**given): return wandb.init(project=PROJECT, settings=wandb.Settings(x_disable_stats=True, silent=True), **given)

api = wandb.Api(); E = api.default_entity; assert E, "the key has no default entity"
here = lambda name: f"{E}/{PROJECT}/{name}"

if EVENTS:
    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))); self.send_response(200); self.end_headers()
        def log_message(self, *_): pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver); threading.Thread(target=server.serve_forever, daemon=True).start()
    hook = "acc-" + uuid.uuid4().hex[:8]
    rest("POST", f"/api/teams/{E}/webhooks", {"name": hook, "url": f"http://127.0.0.1:{server.server_port}/"})
    rest("POST", "/api/registries", {"name": REGISTRY, "team": E})
    of_project, of_registry = {"type": "project", "project": PROJECT}, {"type": "registry", "registry": REGISTRY}
    for name, scope, event, more, payload in (
        ("alias", of_project, {"type": "ADD_ARTIFACT_ALIAS", "alias_pattern": "^prod$"}, {}, '"version": "${artifact_version_string}", "rows": ${artifact_metadata.rows}'),
        ("tag", of_project, {"type": "ADD_ARTIFACT_TAG"}, {}, '"tag": "${tag}"'),
        ("link", of_registry, {"type": "LINK_ARTIFACT"}, {}, '"collection": "${artifact_collection_name}"'),
        ("metric", of_project, {"type": "RUN_METRIC", "metric": "acc", "comparison": "$gte", "threshold": 0.9}, {"run_filters": {"name_pattern": "^train"}}, '"run": "${run_name}", "value": ${metric_value}'),
        ("state", of_project, {"type": "RUN_STATE", "states": ["FAILED"]}, {}, '"run": "${run_name}"'),
    ):
        rest("POST", "/api/automations", {"team": E, "name": f"{hook}-{name}", "webhook": hook, "scope": scope, "event": event, "payload": '{"is": "%s", %s}' % (name, payload), **more})

# 1. A run: config, history, summary, media, alert, files. Values that JSON has not, nested values, gaps in steps.
run = init(name="train-1", config={"lr": 0.1, "layers": [1, 2]}, tags=["a"], group="g", notes="n")
assert (run.entity, run.project) == (E, PROJECT)
run.define_metric("loss", summary="min")
for i in range(100): run.log({"loss": 1 / (i + 1), "acc": i / 100, "nested": {"x": i}}, step=2 * i)
run.log({"loss": float("nan"), "text": "t", "image": wandb.Image(numpy.zeros((2, 2, 3), dtype=numpy.uint8)), "table": wandb.Table(columns=["a"], data=[[1]])}, step=300)
run.config["late"] = True; run.summary["best"] = 0.99; run.alert("title", "text")
(TMP / "saved.txt").write_text("saved"); run.save(str(TMP / "saved.txt"), base_path=str(TMP)); run.finish()
read = api.run(here(run.id))
assert (read.name, read.state, read.config["lr"], read.config["late"], list(read.tags)) == ("train-1", "finished", 0.1, True, ["a"]), read
assert read.summary["best"] == 0.99 and read.summary["acc"] == 0.99 and read.summary["nested"]["x"] == 99 and read.lastHistoryStep == 300
rows = list(read.scan_history(page_size=7))
assert [r["_step"] for r in rows] == [2 * i for i in range(100)] + [300] and math.isnan(rows[-1]["loss"]) and rows[5]["nested.x" if "nested.x" in rows[5] else "nested"] in (5, {"x": 5})
assert [r["acc"] for r in read.scan_history(keys=["acc"], min_step=10, max_step=13)] == [0.05, 0.06]
assert 1 <= len(read.history(samples=10, pandas=False)) <= 101 and len(read.history(keys=["loss", "acc"], samples=5, pandas=False)) >= 5
names = {f.name for f in read.files()}; assert {"saved.txt", "config.yaml", "wandb-summary.json", "wandb-metadata.json"} <= names and any(n.startswith("media/images/") for n in names), names
assert open(read.file("saved.txt").download(root=str(TMP / "files")).name).read() == "saved"

# 2. The same run again: resumed after its end, then failed. A run that is resumed by mistake is refused by the client.
with init(id=run.id, resume="must") as again: assert again.resumed; again.log({"loss": 7})
last = list(wandb.Api().run(here(run.id)).scan_history())[-1]; assert (last["_step"], last["loss"]) == (301, 7), last
bad = init(name="bad"); bad.log({"acc": 0.95}); bad.finish(exit_code=1); assert wandb.Api().run(here(bad.id)).state == "failed"
raises(Exception, lambda: init(id="never-" + uuid.uuid4().hex[:6], resume="must"), "resum")
assert {r.id for r in wandb.Api().runs(f"{E}/{PROJECT}")} == {run.id, bad.id}
assert [r.id for r in api.runs(f"{E}/{PROJECT}", filters={"display_name": {"$regex": "^train"}, "config.lr": {"$gt": 0.05}, "state": "finished"})] == [run.id]

# 3. Artifacts: versions, aliases, tags, metadata, equal content, a new latest.
data = TMP / "d"; (data / "sub").mkdir(parents=True); (data / "a.txt").write_text("hello"); (data / "empty").touch(); (data / "sub/b.bin").write_bytes(os.urandom(300_000))
run = init(name="artifacts")
def logged(name="ds", **given):
    artifact = wandb.Artifact(name, type="dataset", metadata={"rows": 3, "nested": {"a": [1]}}, description="d"); artifact.add_dir(str(data)); return run.log_artifact(artifact, **given).wait()
v0 = logged(aliases=["best", "prod"], tags=["t1"])
assert (v0.version, v0.state, set(v0.aliases), v0.tags, v0.metadata["rows"], v0.size) == ("v0", "COMMITTED", {"latest", "best", "prod"}, ["t1"], 3, 300_005)
assert logged(aliases=["again"]).version == "v0"
(data / "a.txt").write_text("changed"); v1 = logged(); assert (v1.version, v1.aliases) == ("v1", ["latest"])
raises(ValueError, lambda: run.log_artifact(wandb.Artifact("ds", type="model")).wait(), "type")
many = wandb.Artifact("many", type="dataset"); (TMP / "m").mkdir(); [(TMP / "m" / f"f{i}").write_text(str(i)) for i in range(300)]; many.add_dir(str(TMP / "m")); assert run.log_artifact(many).wait().file_count == 300

# 4. Use and download, with digests checked by the client; draft of the next version; tables in artifacts.
used = run.use_artifact("ds:prod"); assert used.version == "v0"
root = used.download(root=str(TMP / "down")); used.verify(root=root); got = files_below(root); assert got["a.txt"] == b"hello" and got["empty"] == b"" and len(got["sub/b.bin"]) == 300_000
assert open(api.artifact(here("ds:v1")).get_entry("a.txt").download(root=str(TMP / "one"))).read() == "changed"
draft = used.new_draft(); draft.remove("empty"); assert set(run.log_artifact(draft).wait().manifest.entries) == {"a.txt", "sub/b.bin"}
table = wandb.Artifact("tab", type="dataset"); table.add(wandb.Table(columns=["a"], data=[[1], [2]]), "t"); run.log_artifact(table).wait(); assert run.use_artifact("tab:latest").get("t").data == [[1], [2]]
assert [r.name for r in used.used_by()] == ["artifacts"] and used.logged_by().id == run.id

# 5. Changes of a version, and what is not there.
edit = wandb.Api().artifact(here("ds:v1")); edit.aliases.append("prod"); edit.tags.append("t2"); edit.metadata["acc"] = 0.5; edit.description = "e"; edit.save()
now = wandb.Api().artifact(here("ds:prod")); assert (now.version, now.tags, now.metadata["acc"], now.description) == ("v1", ["t2"], 0.5, "e")
assert "prod" not in wandb.Api().artifact(here("ds:v0")).aliases
raises(CommError, lambda: api.artifact(here("ds:nope")), "not found"); raises(CommError, lambda: api.run(here("nope")), "could not find"); assert not api.artifact_exists(f"{E}/none-{PROJECT}/x:v0")
assert [a.version for a in api.artifacts("dataset", here("ds"))] == ["v2", "v1", "v0"] and "ds" in [c.name for c in api.artifact_type("dataset", f"{E}/{PROJECT}").collections()]
raises(CommError, lambda: now.delete(), "alias"); now.delete(delete_aliases=True); raises(CommError, lambda: wandb.Api().artifact(here("ds:v1")), "not found")

# 6. Registry: link, read by alias, more aliases, unlink. Asked twice, linked once.
if not EVENTS: rest("POST", "/api/registries", {"name": REGISTRY, "team": E})
path = f"wandb-registry-{REGISTRY}/models"; linked = run.link_artifact(v0, path, aliases=["champion"])
assert (linked.version, linked.is_link, linked.source_qualified_name) == ("v0", True, here("ds:v0")) and {"champion", "latest"} <= set(linked.aliases), linked.aliases
assert run.link_artifact(v0, path).version == "v0"
found = wandb.Api().artifact(f"{path}:champion"); assert found.digest == v0.digest and files_below(found.download(root=str(TMP / "reg"))) == got
found.aliases.append("staging"); found.save(); assert "staging" in wandb.Api().artifact(f"{path}:v0").aliases
other = v0.link(f"wandb-registry-{REGISTRY}/other"); other.unlink(); raises(CommError, lambda: wandb.Api().artifact(f"wandb-registry-{REGISTRY}/other:v0"), "not found")
run.finish(); assert {a.name for a in wandb.Api().run(here(run.id)).logged_artifacts()} >= {"ds:v0", "ds:v2", "many:v0", "tab:v0"}

# 7. Single files with an empty cache: names, registry links, references; objects of other artifacts; equal content of two runs.
def fresh(entry): return pathlib.Path(entry.download(root=str(TMP / uuid.uuid4().hex), skip_cache=True)).read_bytes()
run = init(name="entries"); odd = wandb.Artifact("odd", type="dataset"); names = ["a b", "a#b", "100%", "größe", "sub/größe %.bin"]
for n in names:
    with odd.new_file(n, mode="w") as f: f.write(n)
run.log_artifact(odd).wait(); read = wandb.Api().artifact(here("odd:v0")); assert [fresh(read.get_entry(n)).decode() for n in names] == names
assert fresh(wandb.Api().artifact(f"{path}:champion").get_entry("a.txt")) == b"hello"
derived = wandb.Artifact("derived", type="dataset"); derived.add_reference(read.get_entry("a b").ref_url(), name="w"); run.log_artifact(derived).wait()
assert files_below(wandb.Api().artifact(here("derived:v0")).download(root=str(TMP / "derived"), skip_cache=True)) == {"w": b"a b"}
shared = wandb.Table(columns=["i"], data=[[1]]); first = wandb.Artifact("first", type="dataset"); first.add(shared, "t"); run.log_artifact(first).wait()
second = wandb.Artifact("second", type="dataset"); second.add(shared, "t2"); run.log_artifact(second).wait(); assert wandb.Api().artifact(here("second:v0")).get("t2").data == [[1]]
growing = wandb.Table(columns=["i"], log_mode="INCREMENTAL")
for i in range(3): growing.add_data(i); run.log({"grown": growing})
run.finish(); grown = wandb.Api().artifact(here(f"run-{run.id}-incr-grown:latest")); assert len(grown.manifest.entries) == 3, grown.manifest.entries
for n in "ab":
    with init(name=f"equal-{n}") as same:
        equal = wandb.Artifact("equal", type="dataset"); equal.add_dir(str(TMP / "m")); assert same.log_artifact(equal, aliases=[n]).wait().version == "v0"
    assert [a.name for a in wandb.Api().run(here(same.id)).logged_artifacts()] == ["equal:v0"]

# 8. Absent and deleted files of runs; collections.
raises(ValueError, lambda: wandb.restore("missing.bin", run_path=here(same.id), root=str(TMP / "restored")), "not found")
kept = wandb.Api().run(here(same.id)); assert "config.yaml" in {f.name for f in kept.files()}; kept.file("config.yaml").delete(); assert "config.yaml" not in {f.name for f in wandb.Api().run(here(same.id)).files()}
odd = wandb.Api().artifact_collection("dataset", here("odd")); odd.description = "names"; odd.save(); assert wandb.Api().artifact_collection("dataset", here("odd")).description == "names"
odd.delete(); assert "odd" not in [c.name for c in wandb.Api().artifact_type("dataset", f"{E}/{PROJECT}").collections()]
raises(Exception, lambda: wandb.init(project=PROJECT, entity="no-such-team", settings=wandb.Settings(silent=True)), "not found")

# 9. Events, each exactly once.
if EVENTS:
    expected = [{"is": "metric", "run": "train-1", "value": 0.9}, {"is": "state", "run": "bad"}, {"is": "alias", "version": here("ds:prod"), "rows": 3}, {"is": "alias", "version": here("ds:prod"), "rows": 3},
                {"is": "tag", "tag": "t1"}, {"is": "tag", "tag": "t2"}, {"is": "link", "collection": "models"}, {"is": "link", "collection": "other"}]
    until = time.time() + 20
    while len(received) < len(expected) and time.time() < until: time.sleep(0.2)
    time.sleep(2); order = lambda messages: sorted(json.dumps(m, sort_keys=True) for m in messages)
    assert order(received) == order(expected), received
print("all assertions hold:", wandb.__version__, f"{E}/{PROJECT}")
