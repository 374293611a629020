"""Rescores an evaluation run with scorers that the service runs, and one that it cannot run.

Prints the run and its status, as JSON.
"""

import json
import sys
import time

import weave

[project, source, code_scorer] = sys.argv[1:]
client = weave.init(project)


class ExactMatchScorer(weave.Object):
    column_map: dict[str, str]
    ignore_case: bool = False


class EditDistanceScorer(weave.Object):
    column_map: dict[str, str]
    ignore_case: bool = False


columns = {"output": "output.text", "target": "capital"}
exact = weave.publish(ExactMatchScorer(name="exact-match", column_map=columns))
distance = weave.publish(EditDistanceScorer(name="distance", column_map=columns))
client.flush()

rescored = client.server.rescore(
    {
        "project_id": project,
        "source_evaluation_run_id": source,
        "scorer_refs": [exact.uri, distance.uri, code_scorer],
    }
)
request = {"project_id": project, "call_id": rescored.call_id}
deadline = time.monotonic() + 120
while (status := client.server.evaluation_status(request).status).code == "running":
    if time.monotonic() > deadline:
        sys.exit("the run did not end")
    time.sleep(0.1)

print(json.dumps({"run": rescored.evaluation_run_id, "status": status.model_dump()}))
